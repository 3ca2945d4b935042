"""The pages that list the calls, made from what the functions and classes say of themselves."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

import duckdb

import kanon_sql
from kanon_sql.api.documented import CON, DATA, RETURNS
from kanon_sql.api.result import TableRelease
from kanon_sql.call.options import ALL_CALLS, GROUPS, OPTIONS
from kanon_sql.files.released import FilesRelease
from kanon_sql.hierarchies.kinds import KINDS
from kanon_sql.option import LEDGER_CHECK, options_of
from kanon_sql.spark.released import SparkRelease

CLASSES = ("Release", "Report", "Verification", "Finding")
RELEASES = {
    "release": TableRelease, "anonymize_files": FilesRelease,
    "kanon_sql.spark.release": SparkRelease,
}
"""By the function, what it returns, each a Release."""

ERRORS = ("KanonError", "OptionError", "DataError", "ReleaseError")
ONCE = {text.partition(": ")[2] for text in (DATA, CON)} | {RETURNS}
"""What the page says once, above all functions."""

WHERE = {
    "roles": "options.md#roles",
    "grouping": "options.md#the-grouping",
    "models": "options.md#privacy-models",
    "all classes": "options.md#all-classes-together",
    "people": "risk.md#a-limit-against-a-population",
    "release": "options.md#the-release",
    "measuring": "options.md#measuring",
    "risk": "risk.md#how-much-is-allowed",
    "running": "options.md#running",
    "releases": "releases.md#all-options",
    "parts": "parts.md#what-within-means",
}
"""Where the options of each group are described."""

BY_TABLE = {
    "anonymize": "the columns of the relation, except identifiers and `entity`",
    "anonymize_clusters": "the quasi-identifiers, `num_points`, `radius`, and for each sensitive "
    "column a list of its values and their counts",
    "hierarchy": "`level0` (the values) to the last level, which is `'*'`",
}
"""The columns of calls that have those of the relation."""

MORE = {
    "k_anonymity": "; more with [`entity`](persons.md#persons-with-several-rows) and "
    "[`within`](parts.md#what-within-means), fewer without `sensitive`",
}
"""What a call has besides, or hasn't, by its options."""

IN_SQL = (*ALL_CALLS, LEDGER_CHECK, "hierarchy", "anonymize_methods")
"""The calls that the page of SQL functions describes."""

OF_KINDS = "Options: those of the [kinds](hierarchies.md#kinds)."
SECTION = re.compile(r"^(Args|Attributes|Returns|Raises):\n", re.M)
ENTRY = re.compile(r"^ {4}([\w, ]+): (.*?)(?=^ {4}\S|\Z)", re.DOTALL | re.M)


def _flowing(text: str) -> str:
    """A text on one line, with the code of RST as that of Markdown."""
    text = text.replace("``", "`").replace("*", r"\*").replace("|", r"\|")
    return " ".join(text.split())


def _parts(thing: Any) -> dict[str, str]:
    """A docstring by its sections; what stands before the first is called ''."""
    found = SECTION.split(inspect.getdoc(thing) or "")
    return {"": found[0].strip(), **dict(zip(found[1::2], found[2::2], strict=True))}


def _entries(text: str) -> dict[str, str]:
    return {name: _flowing(said) for name, said in ENTRY.findall(text)}


def _paragraphs(text: str) -> str:
    return "\n\n".join(_flowing(each) for each in text.split("\n\n"))


def _table(head: str, rows: Mapping[str, str]) -> list[str]:
    if not rows:
        return []
    lines = [f"| `{name}` | {said} |" for name, said in rows.items()]
    return [f"| {head} | meaning |", "|---|---|", *lines, ""]


def _options(taken_by: Iterable[str]) -> str:
    """The options that a call takes, by their groups."""
    left, complete, said = set(taken_by), [], []
    for group, holder in GROUPS.items():
        known = tuple(options_of(holder))
        taken = [name for name in known if name in left]
        left -= set(taken)
        if len(taken) == len(known):
            complete.append(f"[{group}]({WHERE[group]})")
        elif taken:
            names = ", ".join(f"`{name}`" for name in taken)
            said.append(f"From [{group}]({WHERE[group]}): {names}.")
    if any(name in left for name in OPTIONS):
        complete.append("[single methods](methods.md)")
    shown = " ".join([f"All of {', '.join(complete)}."] * bool(complete) + said)
    return f"Options: {shown[0].lower()}{shown[1:]}"


def function(name: str) -> str:
    """A function: how it is called, what it takes beside the options of the registry, and which of
    those."""
    face = getattr(kanon_sql, name)
    parts, parameters = _parts(face), inspect.signature(face).parameters
    kinds = {option for kind in KINDS.values() for option in kind.options}
    of_registry = kinds if name == "hierarchy" else set(OPTIONS)
    if not hasattr(face, "__signature__"):  # written by hand, and so are its arguments
        of_registry = set()
    of_registry = {p.name for p in parameters.values() if p.name in of_registry and not p.default}
    own = [p for p in parameters.values() if p.name not in of_registry]
    shown = [
        p.replace(annotation=p.empty) for p in own if p.kind is not p.VAR_KEYWORD
    ]
    call = str(inspect.Signature(shown)).removesuffix(")").removesuffix(", /").removesuffix(", *")
    taken = [option for option in parameters if option in of_registry]
    more = taken or "options" in parameters
    told = _entries(parts.get("Args", ""))
    head = [
        f"### {name}", "", "```text", f"{name}{call}{', **options)' if more else ')'}", "```", "",
    ]
    if name in IN_SQL:
        return "\n".join([*head, f"The same as [in SQL](sql-reference.md#{name}).", ""])
    lines = [
        *head, _paragraphs(parts[""]), "",
        *_table("argument", {
            p.name: told[p.name] for p in own if p.name in told and told[p.name] not in ONCE
        }),
    ]
    if name == "hierarchy":
        lines += [OF_KINDS, ""]
    elif taken:
        lines += [_options(taken), ""]
    returns = parts.get("Returns")
    if returns and _flowing(returns) not in ONCE:
        lines += [f"Returns: {_flowing(returns)}", ""]
    return "\n".join(lines)


def _members(kept: type) -> dict[str, str]:
    """The public properties and methods of a class, with the first sentence of each."""
    found = {}
    for name, member in vars(kept).items():
        if not name.startswith("_") and inspect.getdoc(member) and (
            callable(member) or isinstance(member, property | cached_property)
        ):
            first = _flowing(_parts(member)[""].split("\n\n")[0])
            found[f"{name}()" if callable(member) else name] = first
    return found


def one_class(name: str) -> str:
    """A class: its attributes, properties and methods."""
    kept = getattr(kanon_sql, name)
    parts = _parts(kept)
    rows = {**_entries(parts.get("Attributes", "")), **_members(kept)}
    lines = [f"### {name}", "", _paragraphs(parts[""]), "", *_table("part", rows)]
    for place, more in (RELEASES if name == "Release" else {}).items():
        parts, common = _parts(more), rows
        own = {**_entries(parts.get("Attributes", "")), **_members(more)}
        own = {part: said for part, said in own.items() if part not in common}
        _, _, said = parts[""].partition("\n\n")
        lines += [f"In addition, a release by `{place}` has:", "", *_table("part", own)]
        lines += [_paragraphs(said), ""] if said else []
    return "\n".join(lines)


def common() -> str:
    """What most functions take and give."""
    rows = dict(text.split(": ", 1) for text in (DATA, CON))
    return "\n".join([
        *_table("argument", {name: _flowing(said) for name, said in rows.items()}),
        f"Most functions return {RETURNS[0].lower()}{_flowing(RETURNS)[1:]}",
    ])


def functions() -> str:
    """All functions, in the order of their names but for the first."""
    names = [n for n in kanon_sql.__all__ if inspect.isfunction(getattr(kanon_sql, n))]
    return "\n".join(map(function, names)).rstrip()


def classes() -> str:
    """What the functions give, beside frames."""
    return "\n".join(map(one_class, CLASSES)).rstrip()


def errors() -> str:
    """The errors, with what each is."""
    return "\n".join(_table("error", {
        name: _flowing(_parts(getattr(kanon_sql, name))[""]) for name in ERRORS
    })).rstrip()


def _columns() -> dict[str, list[str]]:
    """What each call of SQL gives, of a small table."""
    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")
    con.execute("CREATE TABLE people AS SELECT i AS id, i % 4 AS age, 1 AS ill FROM range(8) r(i)")
    roles = "quasi_identifiers := ['age'], sensitive := ['ill'], method := 'mdav'"
    audited = "quasi_identifiers := ['age'], sensitive := ['ill']"
    given = dict.fromkeys(ALL_CALLS, f"'people', k := 2, entity := 'id', {roles}") | {
        "anonymize_audit": f"'people', release := 'people', {audited}",
        "anonymize_methods": "",
        "anonymize_risk": f"'people', {audited}",
        "k_anonymity": f"'people', {audited}",
        "hierarchy": "'people', 'age', kind := 'bins'",
    }
    made = given["anonymize_ledger"]
    con.execute(f"CREATE TABLE releases AS FROM anonymize_ledger({made})")
    given["ledger_check"] = "'releases', k := 2"
    return {
        call: [name for name, *_ in con.execute(f"DESCRIBE FROM {call}({text})").fetchall()]
        for call, text in given.items()
    }


def sql_functions() -> str:
    """All calls of SQL: how each is called, what it gives and which options it takes."""
    lines = []
    for call, columns in _columns().items():
        taken = [name for name, option in OPTIONS.items() if call in option.calls]
        if call == "ledger_check":
            taken = ["k"]
        relation = {"anonymize_methods": "", "ledger_check": "ledger", "hierarchy":
                    "relation, column_name, kind := ..."}.get(call, "relation")
        named = ", ".join(f"`{name}`" for name in columns)
        more = ", option := ..." if taken or call == "hierarchy" else ""
        lines += [
            f"## {call}", "", "```text", f"FROM {call}({relation}{more})", "```", "",
            _paragraphs(_parts(getattr(kanon_sql, call))[""]), "",
            f"Columns: {BY_TABLE.get(call, named)}{MORE.get(call, '')}.", "",
        ]
        if taken:
            lines += [_options(taken), ""]
        elif call == "hierarchy":
            lines += [OF_KINDS, ""]
    return "\n".join(lines).rstrip()


BLOCKS: dict[str, Callable[[], str]] = {
    "sql functions": sql_functions,
    "arguments": common,
    "functions": functions,
    "classes": classes,
    "errors": errors,
}
"""What stands between the marks of docs/sql-reference.md and docs/python-reference.md."""
