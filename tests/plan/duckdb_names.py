"""What each version of DuckDB adds to the one before: functions, macros, settings, reserved words.

    python -m tests.plan.duckdb_names            what the DuckDB here has that the list has not
    python -m tests.plan.duckdb_names --write    adds this version to duckdb_names.txt

A new function may show what a release hides, as ``stats()`` did, and a new macro or reserved word
may change what our SQL means. Read each new name before it is added. Exits with 1 if there is one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

import duckdb

LIST = Path(__file__).with_suffix(".txt")

ASKED = {
    "function": "SELECT function_name FROM duckdb_functions() WHERE internal "
                "AND function_type NOT IN ('macro', 'table_macro')",
    "macro": "SELECT function_name FROM duckdb_functions() WHERE internal "
             "AND function_type IN ('macro', 'table_macro')",
    "setting": "SELECT name FROM duckdb_settings()",
    "word": "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'",
}
"""SQL of the names of each kind. What an operator is called has no letter, and is one of them."""

COLLATIONS = re.compile("^(icu_)?collate_")
"""Hundreds of functions that no one reads about."""

Name = tuple[str, str]
"""Kind and name."""


@dataclass(frozen=True)
class Change:
    """What a version of DuckDB adds and takes away.

    Attributes:
        version: such as '2.0.1'.
        added: sorted.
        gone: sorted.
    """

    version: str
    added: tuple[Name, ...]
    gone: tuple[Name, ...]


def numbers(version: str) -> list[int]:
    """The parts of a version, to be compared; of a pre-release those of what it becomes."""
    return [int(number) for number in re.findall(r"\d+", version)[:3]]


def here() -> set[Name]:
    """The names that the installed DuckDB has, without extensions that are not built in."""
    with duckdb.connect() as con:
        return {
            (kind, name.replace(" ", "_")) for kind, query in ASKED.items()
            for (name,) in con.execute(query).fetchall()
            if not COLLATIONS.match(name)
        }


def listed() -> list[Change]:
    """The versions of the list, oldest first."""
    changes = []
    for part in LIST.read_text(encoding="utf-8").split("== ")[1:]:
        version, *lines = part.splitlines()
        found: dict[str, list[Name]] = {"+": [], "-": []}
        sign = kind = ""
        for line in filter(None, lines):
            if not line.startswith("    "):
                sign, kind = line.split()
                continue
            found[sign] += [(kind, name) for name in line.split()]
        changes.append(Change(version, tuple(found["+"]), tuple(found["-"])))
    return changes


def names_of(version: str) -> set[Name]:
    """The names of a version by the list; of one that isn't listed those of the last one before."""
    names: set[Name] = set()
    for change in listed():
        if numbers(change.version) <= numbers(version):
            names = (names | set(change.added)) - set(change.gone)
    return names


def change_here() -> Change:
    """What the installed DuckDB adds to the list."""
    names, known = here(), names_of(duckdb.__version__)
    return Change(
        duckdb.__version__, tuple(sorted(names - known)), tuple(sorted(known - names))
    )


def lines_of(change: Change) -> str:
    """A change as it stands in the list."""
    text = f"== {change.version}\n"
    for sign, names in (("+", change.added), ("-", change.gone)):
        for kind in ASKED:
            some = [name for one, name in names if one == kind]
            if some:
                text += f"{sign} {kind}\n{_wrapped(some)}\n"
    return text


def _wrapped(names: Iterable[str]) -> str:
    return fill(
        " ".join(names), 100, initial_indent="    ", subsequent_indent="    ",
        break_long_words=False, break_on_hyphens=False,
    )


def main() -> int:
    """Tells what is new; the exit status."""
    change = change_here()
    is_listed = any(each.version == change.version for each in listed())
    print(lines_of(change), end="")
    print(f"{len(change.added)} new names, {len(change.gone)} gone")
    if "--write" in sys.argv[1:] and not is_listed:
        with LIST.open("a", encoding="utf-8") as file:
            file.write(lines_of(change))
        return 0
    return 1 if change.added or change.gone else 0


if __name__ == "__main__":
    sys.exit(main())
