"""Judges what came of a case: whether a refusal is one clear sentence, and whether a release keeps
what its options ask for. Written from the documentation, in plain SQL and fractions: nothing of the
package takes part."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor
from typing import Any

import duckdb

from tests.fuzz import models
from tests.fuzz.case import Case, quoted

Connection = duckdb.DuckDBPyConnection

INTERNAL = re.compile(
    r"__kanon(?!_row\b|_not_given\b)|Traceback|UDF|NoneType|<class|object at 0x|kanon_sql/|numba|"
    r"site-packages|\bassert|INTERNAL|please report|can't read the data|KeyError|IndexError"
)
"""What no sentence for a user may have."""

A_NUMBER = (
    r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE|DECIMAL\([^)]*\)"
)
ORDERED = re.compile(
    rf"^({A_NUMBER}|DATE|TIMESTAMP( WITH TIME ZONE|_S|_MS|_NS)?|TIME)$"
)
NUMBERS = re.compile(rf"^({A_NUMBER})$")
OF_RECORDS = ("mdav", "mdav_plus", "v_mdav", "mdav_star", "k_member", "nearest", "mondrian",
              "forest", "best", "auto", "pairs", "triples", "optimal_1d")
"""Methods whose classes release what their rows allow."""


def refusal_fault(case: Case, kind: str, said: str, ours: bool) -> str | None:
    """What is wrong with a refusal; None where it is one clear sentence without a value."""
    if not ours:
        return f"refused with {kind}: {said[:300]}"
    if INTERNAL.search(said):
        return f"the refusal has a word of ours inside: {said[:300]}"
    if "\n" in said or not said.rstrip().endswith((".", "?", "!")):
        return f"the refusal is no sentence: {said[:300]!r}"
    typed = repr(case.options) + repr([column.name for column in case.columns])
    for column in case.columns:
        for value in column.values:
            if value and len(value) > 5 and value in said and value not in typed:
                return f"the refusal has a value of {column.name!r}: {said[:300]}"
    if case.sound:
        return f"nothing is a reason to refuse it: {said[:300]}"
    return None


def seen_as(name: str, of: str = "") -> str:
    """SQL: how a value is seen, with NULL told apart from its name."""
    return f"coalesce('=' || ({of}{quoted(name)})::VARCHAR, 'NULL')"


@dataclass
class Release:
    """A released table beside its source.

    Attributes:
        con: has both as tables.
        case: what was asked.
        source, table: the names of the tables.
        metrics: what anonymize_metrics says; None where nobody asked.
    """

    con: Connection
    case: Case
    table: str
    metrics: Mapping[str, Any] | None = None
    source: str = "t"

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        """Rows of a query."""
        return self.con.execute(query).fetchall()

    def types(self, table: str) -> dict[str, str]:
        """The columns of a table, and their types."""
        return {name: str(kind) for name, kind, *_ in self.ask(f"DESCRIBE {table}")}

    @cached_property
    def released(self) -> dict[str, str]:
        return self.types(self.table)

    @cached_property
    def before(self) -> dict[str, str]:
        return self.types(self.source)

    def option(self, name: str, default: Any = None) -> Any:
        """The value of an option."""
        found = self.case.options.get(name)
        return default if found is None else found

    def columns(self, option: str) -> list[str]:
        """The columns that an option names, as the table spells them."""
        found = self.option(option, [])
        named = [found] if isinstance(found, str) else found
        spelled = {name.lower(): name for name in self.before}
        return [spelled[name.lower()] for name in named if name.lower() in spelled]

    @cached_property
    def quasi(self) -> list[str]:
        """The quasi-identifiers."""
        named = self.columns("quasi_identifiers")
        if named and self.option("others") != "quasi_identifier":
            return named
        taken = {n for o in ("sensitive", "identifiers", "entity", "within", "class_label",
                             "sampling_weight") for n in self.columns(o)}
        return [name for name in self.before if name not in taken]

    @cached_property
    def passing(self) -> list[str]:
        """Columns that are released unchanged."""
        return list(dict.fromkeys(
            n for o in ("sensitive", "class_label", "sampling_weight") for n in self.columns(o)
        ))

    @property
    def k(self) -> int:
        """The k that was asked for."""
        if self.option("max_risk") is not None:
            return ceil(1 / models.exact(self.option("max_risk")))
        return int(self.option("k"))

    @property
    def seen(self) -> list[str]:
        """What a combination is made of: the released quasi-identifiers and the parts."""
        return [*self.quasi, *self.columns("within")]

    def faults(self) -> Iterator[str]:
        """All that is wrong without knowing which row is which."""
        yield from self._columns()
        yield from self._rows()
        yield from self._classes()
        yield from self._unchanged()

    def _columns(self) -> Iterator[str]:
        gone = [*self.columns("identifiers"), *self.columns("entity")]
        for name in gone:
            if name in self.released and name not in self.passing:
                yield f"the column {name!r} came out"
        for name in (*self.quasi, *self.passing, *self.columns("within")):
            if name not in self.released:
                yield f"the column {name!r} is missing"
        known = {*self.before, "wkt"} | ({"class_id", "class_id_1"} if self.option("class_id")
                                         else set())
        for name in set(self.released) - known:
            yield f"the column {name!r} was added"
        if self.option("others") == "drop":
            named = {*self.seen, *self.passing}
            for name in set(self.released) & set(self.before) - named:
                yield f"the column {name!r} has no role and came out"

    def count(self, table: str) -> int:
        """Rows of a table."""
        return int(self.ask(f"SELECT count(*) FROM {table}")[0][0])

    @cached_property
    def incomplete(self) -> int:
        """Rows with a NULL or NaN in a quasi-identifier."""
        missing = " OR ".join(
            f"{quoted(n)} IS NULL" + (f" OR isnan({quoted(n)})" if self.before[n] in
                                      ("DOUBLE", "FLOAT") else "") for n in self.quasi
        )
        return self.count(f"(FROM {self.source} WHERE {missing})")

    def _rows(self) -> Iterator[str]:
        rows, out = self.count(self.source), self.count(self.table)
        left = rows - out
        least = self.incomplete if self.option("nulls") == "suppress" else 0
        free = self.option("small_parts") == "suppress" or self.option("islands") == "suppress"
        share = max(self.option("suppress", 0), self.option("epsilon", 0))
        free = free or (self.option("entity") is not None and share > 0)  # a share of the persons
        most = rows if free else least + floor(share * (rows - least))
        if not least <= left <= most:
            yield f"{left} of {rows} rows are left out, and {least} to {most} may be"
        if self.metrics is not None:
            said = tuple(self.metrics.get(n) for n in ("rows", "rows_released", "rows_suppressed"))
            if said != (rows, out, left):
                yield f"metrics say {said} of {(rows, out, left)} rows"

    @cached_property
    def sizes(self) -> list[int]:
        """The rows of each combination of released values."""
        by = ", ".join(seen_as(name) for name in self.seen)
        return [n for (n,) in self.ask(f"SELECT count(*) FROM {self.table} GROUP BY {by}")]

    def _classes(self) -> Iterator[str]:
        sizes = self.sizes
        if not sizes:
            yield "the release has no rows"
            return
        if min(sizes) < self.k:
            yield f"a class has {min(sizes)} rows, and k is {self.k}"
        limit = self.option("max_average_risk")
        if limit is not None and self.option("entity") is None and (
            len(sizes) > models.exact(limit) * sum(sizes)
        ):
            yield f"{len(sizes)} classes of {sum(sizes)} rows are more than {limit} allows"
        if self.metrics is None:
            return
        told = {"k": min(sizes), "classes": len(sizes), "class_size_max": max(sizes)}
        for name, value in told.items():
            if name in self.metrics and self.metrics[name] != value:
                yield f"metrics say {name} = {self.metrics[name]}, and it is {value}"
        mean = self.metrics.get("prosecutor_risk_mean")
        if mean is not None and abs(mean - len(sizes) / sum(sizes)) > 1e-9:
            yield f"metrics say prosecutor_risk_mean = {mean}"

    def _unchanged(self) -> Iterator[str]:
        """What passes is what came in; all of it where no row is left out."""
        joined = self.option("small_parts") == "join"
        names = [*self.passing, *(() if joined else self.columns("within"))]
        names = [name for name in names if name in self.released]
        if not names:
            return
        values = ", ".join(seen_as(name) for name in names)
        before, after = (
            Counter(self.ask(f"SELECT {values} FROM {table}"))
            for table in (self.source, self.table)
        )
        if after - before:
            yield f"values of {names} came out that did not come in"
        for name in names if self.case.door == "query" else ():
            kinds = self.before[name], self.released[name]
            if kinds[0] != kinds[1] and not kinds[0].startswith("ENUM"):
                yield f"{name!r} changed its type from {kinds[0]} to {kinds[1]}"
