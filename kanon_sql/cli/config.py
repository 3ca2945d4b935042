"""kanon.toml: roles, hierarchies, options and outputs of each table, so that a job is a file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from kanon_sql.call.declarations import ROLES, read_role
from kanon_sql.call.option_aliases import option_hint
from kanon_sql.call.options import OPTIONS
from kanon_sql.cli.lines import NoToml, line_of, parse
from kanon_sql.cli.targets import FORMATS
from kanon_sql.errors import KanonError, OptionError, did_you_mean
from kanon_sql.explore.choices import as_spec, first_choices
from kanon_sql.output.toml import toml_key, toml_value

OF_FILE = {
    "database": "A DuckDB file in which the inputs are tables.",
    "options": "Options of all tables; those of a table win.",
    "tables": "The releases, by a name of one's own for each.",
}
"""What stands on top of the file."""

OF_TABLE = {
    "input": "A file, a pattern, a list of files, or a table (db.duckdb::table).",
    "output": "The file, the folder or the table (db.duckdb::table) to write.",
    "database": "A DuckDB file in which the input is a table.",
    "format": "The format of the output, where its ending doesn't determine it.",
    "partition_by": "Released columns by which the files of a folder are parted.",
    "manifest": "Whether the output is a Parquet file with a manifest, as kanon release writes it.",
    "private": "Where the private part of a release with a manifest goes; a file that ends in "
    ".json.",
    "ledger_to": "The Parquet file that receives what a folder of files adds to its ledger.",
    "roles": "The role of each column, or a relation that has them.",
    "hierarchies": "The hierarchy of each of some columns: a kind, a kind with options, or a "
    "relation; or 'suggested'.",
    "options": "Options of this table.",
}
"""What stands in each table."""

BY_ROLE = {
    "quasi_identifier": "quasi_identifiers", "sensitive": "sensitive", "identifier": "identifiers",
}
"""The options that name the columns of a role."""

OF_RELEASE = tuple(name for name, option in OPTIONS.items() if "anonymize" in option.calls)


@dataclass(frozen=True)
class ReleaseJob:
    """One release.

    Attributes:
        name: what the file calls it.
        input: the words that name the table to read.
        output: where to.
        database, format, partition_by, manifest, private, ledger_to: as OF_TABLE says.
        roles: the role of each column that the file names.
        options: all else that the call is given.
    """

    name: str
    input: tuple[str, ...]
    output: str
    database: str | None = None
    format: str | None = None
    partition_by: tuple[str, ...] = ()
    manifest: bool = False
    private: str | None = None
    ledger_to: str | None = None
    roles: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


class Config:
    """A file kanon.toml, read and checked."""

    def __init__(self, path: Path) -> None:
        """Reads it. Raises OptionError, which names the line."""
        self.path = path
        try:
            self.text = path.read_text(encoding="utf-8-sig")  # some editors write a mark
            document = parse(self.text)
        except NoToml as error:
            raise OptionError(_unread(path, str(error))) from None
        except UnicodeDecodeError:
            raise OptionError(f"{str(path)!r} is not UTF-8 text. Check the path.") from None
        except OSError:
            raise OptionError(f"There is no file {str(path)!r}. Check the path.") from None
        self.jobs = tuple(self._jobs(document))

    def refuse(self, keys: Sequence[str], sentence: str) -> NoReturn:
        """Raises OptionError for what stands at these keys."""
        raise OptionError(f"{self._at(keys)}: {sentence}")

    def located(self, job: ReleaseJob, refusal: KanonError) -> KanonError:
        """A refusal of a release, with the line that it speaks of."""
        table: tuple[str, ...] = ("tables", job.name)
        keys, places = table, list[tuple[str, ...]]()
        said = str(refusal)
        if said.startswith(f"{self.path}, line "):
            return refusal
        for name in job.options:
            if re.match(rf"(?:The )?{name}\b", said):
                places = [(*table, "options", name), (*table, name), ("options", name)]
                keys = next(filter(self._has, places), table)
                break
        column = re.match(
            r"(?:The column|The hierarchy of|The kind .* of the hierarchy of|\w+ names the column)"
            " '(.*?)'", said
        )
        if column:
            places = [(*keys, column[1]), (*table, "hierarchies", column[1]),
                      (*table, "roles", column[1])]
            keys = next(filter(self._has, places), keys)
        return type(refusal)(f"{self._at(keys)}: {said}")

    def _at(self, keys: Sequence[str]) -> str:
        return f"{self.path}, line {line_of(self.text, keys)}"

    def _has(self, keys: Sequence[str]) -> bool:
        node: Any = parse(self.text)
        for key in keys:
            if not isinstance(node, dict) or key not in node:
                return False
            node = node[key]
        return True

    def _jobs(self, document: Mapping[str, Any]) -> list[ReleaseJob]:
        self._refuse_unknown((), document, OF_FILE)
        shared = self._options(("options",), document.get("options", {}))
        tables = self._table(("tables",), document.get("tables", {}))
        if not tables:
            self.refuse((), "There is no table to release. Add one as [tables.patients].")
        database = self._text(("database",), document.get("database"))
        return [
            self._job(name, self._table(("tables", name), table), shared, database)
            for name, table in tables.items()
        ]

    def _job(
        self, name: str, table: Mapping[str, Any], shared: Mapping[str, Any], database: str | None
    ) -> ReleaseJob:
        place = ("tables", name)
        self._refuse_unknown(place, table, OF_TABLE)
        for needed in ("input", "output"):
            if needed not in table:
                self.refuse(place, f"The table {name!r} has no {needed}. Add one.")
        if not all(word.strip() for word in self._texts((*place, "input"), table["input"])):
            self.refuse((*place, "input"), "input is empty. Name a file, or a table of a database.")
        own = self._options((*place, "options"), table.get("options", {}))
        for key in ("hierarchies", "roles"):
            # roles by column are held against every option that names roles; see _roles
            by_column = key == "roles" and isinstance(table.get(key), dict)
            if key in own and key in table and not by_column:
                self.refuse(
                    (*place, "options", key),
                    f"{key} is in the table and in its options. Leave one out.",
                )
        options = {**shared, **own}
        roles = self._roles(place, table.get("roles", {}), options)
        if "hierarchies" in table:
            self._check((*place, "hierarchies"), "hierarchies", table["hierarchies"])
            options["hierarchies"] = table["hierarchies"]
        manifest = table.get("manifest", "private" in table)
        if not isinstance(manifest, bool):
            self.refuse((*place, "manifest"), "manifest must be true or false.")
        form = self._text((*place, "format"), table.get("format"))
        if form is not None and form not in FORMATS:
            self.refuse(
                (*place, "format"),
                f"The format {form!r} is not known. {did_you_mean(form, FORMATS)}",
            )
        return ReleaseJob(
            name, self._texts((*place, "input"), table["input"]),
            self._text((*place, "output"), table["output"]) or "",
            self._text((*place, "database"), table.get("database", database)), form,
            self._texts((*place, "partition_by"), table.get("partition_by", [])), manifest,
            self._text((*place, "private"), table.get("private")),
            self._text((*place, "ledger_to"), table.get("ledger_to")), roles, options,
        )

    def _roles(
        self, place: tuple[str, ...], raw: Any, options: dict[str, Any]
    ) -> dict[str, str]:
        """The role of each column; a relation of roles becomes an option."""
        if isinstance(raw, str):
            options["roles"] = raw
            return {}
        roles = {}
        for column, text in self._table((*place, "roles"), raw).items():
            role = read_role(text) if isinstance(text, str) else None
            if role is None:
                hint = did_you_mean(str(text), ROLES)
                self.refuse((*place, "roles", column), f"There is no role {text!r}. {hint}")
            roles[column] = role
        for name in ("roles", "entity", *BY_ROLE.values()):
            if roles and name in options:
                self.refuse(
                    (*place, "options", name),
                    f"Roles are given by column, and by the option {name}. Leave one out.",
                )
        return roles

    def _options(self, place: tuple[str, ...], raw: Any) -> dict[str, Any]:
        options = self._table(place, raw)
        self._refuse_unknown(place, options, OF_RELEASE)
        for name, value in options.items():
            self._check((*place, name), name, value)
        return options

    def _check(self, keys: tuple[str, ...], name: str, value: Any) -> None:
        try:
            OPTIONS[name].read(value)
        except OptionError as refusal:
            self.refuse(keys, str(refusal))

    def _table(self, keys: tuple[str, ...], raw: Any) -> dict[str, Any]:
        if not isinstance(raw, dict):
            self.refuse(keys, f"{keys[-1]} must be a table, such as [{'.'.join(keys)}].")
        return raw

    def _text(self, keys: tuple[str, ...], raw: Any) -> str | None:
        if raw is not None and not isinstance(raw, str):
            self.refuse(keys, f"{keys[-1]} must be a string in quotes.")
        if raw is not None and (not raw.strip() or "\0" in raw):
            self.refuse(keys, f"{keys[-1]} is empty, or has the character NUL. Write a name.")
        return raw

    def _texts(self, keys: tuple[str, ...], raw: Any) -> tuple[str, ...]:
        texts = [raw] if isinstance(raw, str) else raw
        if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
            self.refuse(keys, f"{keys[-1]} must be a string in quotes, or a list of strings.")
        return tuple(texts)

    def _refuse_unknown(
        self, place: tuple[str, ...], entries: Mapping[str, Any], known: Any
    ) -> None:
        for name in entries:
            if name not in known:
                where = f" in {'.'.join(place)}" if place else ""
                hint = (option_hint if place[-1:] == ("options",) else did_you_mean)(name, known)
                if name in OF_RELEASE and "options" in known:
                    hint = f"It is an option: write it as options.{name}."
                self.refuse((*place, name), f"There is no {name!r}{where}. {hint}")


    def job_of(self, source: Sequence[str]) -> ReleaseJob:
        """The release of whose output, or else input, words of a command line speak; the only one
        where they speak of none. Raises OptionError."""
        named = [Path(word).resolve() for word in source]
        folder = self.path.resolve().parent
        for words in (lambda job: (job.output,), lambda job: job.input):
            for job in self.jobs:
                if named and [(folder / word).resolve() for word in words(job)] == named:
                    return job
        if len(self.jobs) == 1:
            return self.jobs[0]
        raise OptionError(
            f"{self.path} has {len(self.jobs)} tables, and IN is the output of none. Name one: "
            f"{', '.join(job.output for job in self.jobs)}."
        )


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Paths are those from that folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _unread(path: Path, said: str) -> str:
    """What the parser says of broken syntax, as a sentence with its line."""
    match = re.search(r"^(.*) \(at (?:line (\d+), column (\d+)|end of document)\)$", said)
    if match is None:
        return f"{path} is not valid TOML: {said.rstrip('.')}. Correct it."
    line = f"line {match[2]}, column {match[3]}" if match[2] else "its last line"
    return f"{path}, {line}: {match[1]}. Correct it; it is not valid TOML."


def first_config(
    source: Sequence[str], database: str | None, table: str | None, columns: Sequence[Any]
) -> str:
    """A kanon.toml to begin with; ``columns``: what anonymize_roles tells of each."""
    place = source[0] if source else str(database)
    name = table or re.sub(r"\W+", "_", Path(place.rpartition("::")[2]).stem).strip("_") or "table"
    whole = f"{place}::{table}" if table and "::" not in place else place
    lines = [
        "# Each column's role is your decision. These roles are suggested by the values, which",
        "# don't say what is sensitive. " + ", ".join(ROLES) + ".",
        "", f"[tables.{toml_key(name)}]",
        f"input = {toml_value(list(source) if len(source) > 1 else whole)}",
        f"output = {toml_value(f'{name}_released.parquet')}",
        "", f"[tables.{toml_key(name)}.options]", "k = 5",
        "", f"[tables.{toml_key(name)}.roles]",
    ]
    roles = first_choices(columns).roles
    lines += [f"{toml_key(column)} = {toml_value(role)}" for column, role in roles.items()]
    trees = [
        each for each in columns if each["hierarchy_reason"] is not None
        and roles[each["column_name"]] == "quasi_identifier"
    ]
    if trees:
        lines += ["", "# These columns hold codes or dates, whose mean says little.",
                  f"[tables.{toml_key(name)}.hierarchies]"]
    for each in trees:
        spec = as_spec(each["suggested_hierarchy"])
        lines.append(f"{toml_key(each['column_name'])} = {toml_value(spec)}")
    return "\n".join(lines) + "\n"
