"""From what a user calls a relation to what stands in FROM."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from kanon_sql.call.catalog import Catalog, CatalogEntry
from kanon_sql.errors import OptionError
from kanon_sql.names import caseless, literal, quoted

PART = r'"(?:[^"]|"")+"|[^".]+'
QUALIFIED = re.compile(rf"(?:{PART})(?:\.(?:{PART})){{0,2}}")


@dataclass(frozen=True)
class Relation:
    """A relation of the caller.

    Attributes:
        sql: its name as it stands in FROM.
        parts: its name, part by part: (table,), (schema, table) or (database, schema, table).
        entry: what the catalog knows of it: None for files, variables, CTEs, temporary and
            uncommitted tables.
        lacking: what is said of each column that the call names and the catalog doesn't show, by
            name.
    """

    sql: str
    parts: tuple[str, ...]
    entry: CatalogEntry | None = None
    lacking: Mapping[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> Mapping[str, str | None] | None:
        """Column names and their comments, as far as the catalog shows them."""
        return None if self.entry is None else self.entry.columns


def _parts(name: str) -> tuple[str, ...] | None:
    if not QUALIFIED.fullmatch(name):
        return None
    parts = re.findall(PART, name)
    return tuple(p[1:-1].replace('""', '"') if p.startswith('"') else p for p in parts)


PREFIX = "__kanon_"
"""What every name of ours starts with: stages, helper columns, functions."""

TAKEN = (
    "The relation {!r} has a name that starts with '__kanon_', as the names inside the query do. "
    "Rename it, or read it through a view."
)


READERS = {
    "parquet": "read_parquet", "csv": "read_csv", "tsv": "read_csv", "txt": "read_csv",
    "json": "read_json", "ndjson": "read_json", "jsonl": "read_json",
}
"""The function that reads several files, by how their names end."""

ENDING = re.compile(rf"\.({'|'.join(READERS)})(\.\w+)?$", re.IGNORECASE)


def _find_files(names: Sequence[object]) -> Relation:
    """Several files as one relation, as DuckDB reads a list of them."""
    endings = [ENDING.search(name) if isinstance(name, str) else None for name in names]
    readers = {READERS[match[1].lower()] if match else None for match in endings}
    reader = readers.pop() if len(readers) == 1 else None
    if reader is None:
        raise OptionError(
            "A list as the relation must name files of one kind. Write it as ['a.parquet', "
            "'b.parquet'], or give one table, view or file."
        )
    files = [str(name) for name in names]
    if len(files) > 1:
        _refuse_twice(files)
    return Relation(f"{reader}([{', '.join(map(literal, files))}])", (files[0],))


def _matched(path: Path) -> list[Path]:
    """The files that a name or a pattern leads to, about as DuckDB finds them."""
    if not re.search(r"[*?\[]", str(path)):
        return [path]
    start = Path(path.anchor or ".")
    with suppress(ValueError):  # such as a**, which is no pattern of Python's
        pattern = str(path.relative_to(path.anchor))
        return [found for found in start.glob(pattern) if found.is_file()]
    return []


TWICE = (
    "The list of files names one file twice, by {!r} and by {!r}, and its rows would count twice. "
    "Name each file once."
)


def _refuse_twice(names: Sequence[str]) -> None:
    """Raises OptionError where two names, or two patterns, lead to one file: the classes would have
    fewer persons than it seems."""
    seen: dict[str, int] = {}
    for number, name in enumerate(names):
        matched = [name]
        if not is_url(name):
            found = _matched(Path(name).expanduser())
            matched = list(dict.fromkeys(str(path.resolve()) for path in found))
        for file in matched:
            # the words of the call, since what a pattern matches may hold a value
            if seen.setdefault(file, number) != number:
                raise OptionError(TWICE.format(names[seen[file]], name))


def is_file(name: str) -> bool:
    """Whether a name reads as that of a file, or of files."""
    return bool(re.search(r"[/\\*?]", name) or ENDING.search(name))


def is_url(name: str) -> bool:
    """Whether a name reads as that of a file of another machine, such as s3://bucket/a.parquet."""
    return bool(re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", name))


QUERY = re.compile(r"\s*\(*\s*((SELECT|FROM|WITH|VALUES)\b|\w+\(['\"\[])", re.IGNORECASE)
NO_NAME = (
    "The relation is given as a query, and a call takes the name of one. Make it a view or a CTE, "
    "for example by CREATE TEMP VIEW chosen AS SELECT ..., and give its name."
)


def _is_query(name: str) -> bool:
    """Whether a text reads as a query, or as what stands in FROM and is no name."""
    match = QUERY.match(name)
    return bool(match and name.strip() != match[0].strip() and not ENDING.search(name))


def find_relation(name: object, catalog: Catalog) -> Relation:
    """The relation that a user means by a name, or by a list of the names of files.

    A name reads as SQL reads it (``t``, ``s.t``, ``"my schema"."t"``) or, where that isn't in the
    catalog, as one identifier with dots and quotes in it, or as a qualified name whose outer
    quotes are missing. What the catalog doesn't know (files, variables, CTEs, temporary tables)
    is left for DuckDB to find.

    Raises:
        OptionError: no name was given, a query in its place, one of those that the query uses
            itself, or a list of anything but files of one kind.
    """
    if isinstance(name, Relation):
        return name
    if isinstance(name, (list, tuple)) and name:
        return _find_files(name)
    if not isinstance(name, str) or not name.strip():
        raise OptionError(
            "The relation is missing. Give a table, view, file or variable first, for example "
            "'patients'."
        )
    readings = dict.fromkeys(filter(None, (_parts(name), (name,), _parts(f'"{name}"'))))
    if any(caseless(parts[-1]).startswith(PREFIX) for parts in readings):
        raise OptionError(TAKEN.format(name))
    if is_file(name):
        readings = {(name,): None, **readings}
    for parts in readings:
        entry = catalog.entry(parts)
        if entry is not None:
            return Relation(".".join(map(quoted, parts)), parts, entry)
    if _is_query(name):
        raise OptionError(NO_NAME)
    parts = next(iter(readings))
    return Relation(".".join(map(quoted, parts)), parts)
