"""Judges what came of a case: whether a refusal is one clear sentence, and whether a release keeps
what its options ask for. Written from the documentation, in plain SQL and fractions: nothing of the
package takes part."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import Any

import duckdb

from tests.fuzz import models
from tests.fuzz.case import Case, quoted
from tests.fuzz.models import Values

Connection = duckdb.DuckDBPyConnection

INTERNAL = re.compile(
    r"__kanon(?!_row\b|_not_given\b)|Traceback|UDF|NoneType|<class|object at 0x|kanon_sql/|numba|"
    r"site-packages|\bassert|INTERNAL|please report|can't read the data|KeyError|IndexError"
)
"""What no sentence for a user may have."""

ORDERED = re.compile(
    r"^(U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE|DECIMAL\([^)]*\)|DATE|TIMESTAMP( WITH TIME ZONE|_S|_MS|_NS)?|TIME)$"
)
NUMBERS = re.compile(r"^(U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE|DECIMAL\([^)]*\))$")
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


def _text(name: str, of: str = "") -> str:
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
        free = free or self.option("entity") is not None and self.option("suppress", 0) > 0
        share = max(self.option("suppress", 0), self.option("epsilon", 0))
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
        by = ", ".join(_text(name) for name in self.seen)
        return [n for (n,) in self.ask(f"SELECT count(*) FROM {self.table} GROUP BY {by}")]

    def _classes(self) -> Iterator[str]:
        sizes = self.sizes
        if not sizes:
            yield "the release has no rows"
            return
        if min(sizes) < self.k:
            yield f"a class has {min(sizes)} rows, and k is {self.k}"
        limit = self.option("max_average_risk")
        if limit is not None and self.option("entity") is None:
            if len(sizes) > models.exact(limit) * sum(sizes):
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
        values = ", ".join(_text(name) for name in names)
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


# --- row by row ---------------------------------------------------------------------------------


@dataclass
class Aligned:
    """A release of which it is known which row is which.

    Attributes:
        release: its table has the rows in the order of the source, and the column class_id.
        left_out: the numbers of the rows that are left out, from 1.
    """

    release: Release
    left_out: Sequence[int]
    number: str = "class_id"

    def __post_init__(self) -> None:
        release, con = self.release, self.release.con
        gone = ", ".join(map(str, self.left_out)) or "0"
        con.execute(f"""
            CREATE OR REPLACE TABLE aligned AS
            SELECT s, r, r.{quoted(self.number)} AS class FROM (
                SELECT __x AS s, row_number() OVER () AS n FROM (
                    SELECT __x, row_number() OVER () AS __n FROM {release.source} AS __x
                ) WHERE __n NOT IN ({gone})
            ) FULL JOIN (
                SELECT __y AS r, row_number() OVER () AS n FROM {release.table} AS __y
            ) USING (n)""")

    def faults(self) -> Iterator[str]:
        """All that is wrong."""
        unmatched = self.release.ask("SELECT count(*) FROM aligned WHERE s IS NULL OR r IS NULL")
        if unmatched[0][0]:
            yield f"{unmatched[0][0]} rows are released that are not left, or the other way round"
            return
        yield from self._numbers()
        yield from self._passing()
        yield from self._persons()
        yield from self._models()
        for name in self.release.quasi:
            yield from self._values(name)

    def _numbers(self) -> Iterator[str]:
        """One number for each combination."""
        by = ", ".join(_text(name, "r.") for name in self.release.seen)
        ((pairs, numbers, combinations),) = self.release.ask(
            f"SELECT count(DISTINCT (class, {by})), count(DISTINCT class), count(DISTINCT ({by}, 1)"
            ") FROM aligned"
        )
        if not pairs == numbers == combinations:
            yield f"{combinations} combinations have {numbers} numbers"

    def _passing(self) -> Iterator[str]:
        for name in self.release.passing:
            changed = f"{_text(name, 's.')} <> {_text(name, 'r.')}"
            ((count,),) = self.release.ask(f"SELECT count(*) FROM aligned WHERE {changed}")
            if count:
                yield f"{count} values of {name!r} are beside another row"

    def _persons(self) -> Iterator[str]:
        for name in self.release.columns("entity"):
            k, who = self.release.k, _text(name, "s.")
            apart = self.release.option("entity_rows") == "apart"
            classes = self.release.ask(
                "SELECT count(DISTINCT who), max(n), sum(n) FROM (SELECT class, who, count(*) AS n "
                f"FROM (SELECT class, {who} AS who FROM aligned) GROUP BY ALL) GROUP BY class"
            )
            if min(persons for persons, *_ in classes) < k:
                yield f"a class has {min(persons for persons, *_ in classes)} persons"
            if apart and any(most * k > rows for _, most, rows in classes):
                yield "a person has more than one k-th of the rows of a class"
            if not apart and self.release.columns("within") == []:
                yield from self._together(who)
            limit = self.release.option("max_average_risk")
            ((persons,),) = self.release.ask(f"SELECT count(DISTINCT {who}) FROM aligned")
            if limit is not None and not apart and len(classes) > models.exact(limit) * persons:
                yield f"{len(classes)} classes of {persons} persons are more than {limit} allows"
            said = (self.release.metrics or {}).get("k_persons")
            if said is not None and said != min(persons for persons, *_ in classes):
                yield f"metrics say k_persons = {said}"

    def _together(self, who: str) -> Iterator[str]:
        ((several,),) = self.release.ask(
            f"SELECT count(*) FROM (SELECT 1 FROM aligned GROUP BY {who} "
            "HAVING count(DISTINCT class) > 1)"
        )
        if several:
            yield f"{several} persons are in several classes"

    # --- models ---------------------------------------------------------------------------------

    def _models(self) -> Iterator[str]:
        asked = [name for name in ("l", "t", "alpha", "delta", "beta")
                 if self.release.option(name) is not None]
        for column in self.release.columns("sensitive") if asked else ():
            classes, parts = self._sensitive(column)
            for option in asked:
                limit = self._of_column(option, column)
                if limit is None:
                    continue
                broken = sum(
                    self._broken(option, limit, column, own, parts[part])
                    for (part, _), own in classes.items()
                )
                if broken:
                    yield f"{broken} classes break {option} = {limit} of {column!r}"

    def _of_column(self, option: str, column: str, default: Any = None) -> Any:
        found = self.release.option(option, default)
        if not isinstance(found, Mapping):
            return found
        spelled = {str(name).lower(): value for name, value in found.items()}
        if column.lower() in spelled:
            return spelled[column.lower()]
        by_value = option == "alpha" and not set(spelled) & {
            name.lower() for name in self.release.columns("sensitive")
        }
        return found if by_value else default if not isinstance(default, Mapping) else None

    def _sensitive(self, column: str) -> tuple[dict[Any, Values], dict[Any, Values]]:
        """The values of each class, and of all rows of each part: one for each row or person."""
        within = ", ".join(["1", *(_text(name, "r.") for name in self.release.columns("within"))])
        entity = self.release.columns("entity")
        persons = entity and self.release.option("entity_rows") != "apart"
        who = _text(entity[0], "s.") if persons else "n"
        value = f"(s.{quoted(column)})"
        kind = self.release.before[column]
        text = f"{value}::VARCHAR"
        if kind in ("DOUBLE", "FLOAT"):
            text = f"CASE WHEN NOT isnan({value}) THEN ({value} + 0.0)::VARCHAR END"
        place = "NULL"
        if NUMBERS.match(kind):
            place = f"{value}::DOUBLE"
        elif ORDERED.match(kind):
            place = f"({value} - DATE '1970-01-01')" if kind == "DATE" else f"epoch_us({value})"
        # a person whose rows differ has no value
        rows = self.release.ask(f"""
            SELECT part, class, CASE WHEN count(DISTINCT coalesce('=' || text, 'NULL')) = 1
                                THEN any_value(text) END AS text, any_value(place)
            FROM (SELECT ({within}) AS part, class, {text} AS text, {place} AS place, {who} AS who
                  FROM (SELECT *, row_number() OVER () AS n FROM aligned))
            GROUP BY part, class, who""")
        places = {text: Fraction(spot) for _, _, text, spot in rows
                  if text is not None and spot is not None}
        found: tuple[dict[Any, list[Any]], dict[Any, list[Any]]] = defaultdict(list), \
            defaultdict(list)
        for part, number, text, _ in rows:
            found[0][(part, number)].append(text)
            found[1][part].append(text)
        return (
            {key: Values(tuple(texts), places) for key, texts in found[0].items()},
            {key: Values(tuple(texts), places) for key, texts in found[1].items()},
        )

    def _broken(self, option: str, limit: Any, column: str, own: Values, whole: Values) -> bool:
        nulls = self.release.option("sensitive_nulls", "worst")
        if column in self.release.option("hierarchies", {}) and option in ("l", "t"):
            return False  # its values are nodes of a hierarchy
        if option == "l":
            kind = self._of_column("diversity_kind", column, "distinct")
            return models.l_broken(own, limit, kind, self._of_column("c", column), nulls)
        if option == "alpha":
            values = self.release.option("sensitive_values", ())
            return models.alpha_broken(own, limit, values, nulls)
        if option == "delta":
            return models.delta_broken(own, whole, limit)
        if option == "beta":
            kind = self._of_column("beta_kind", column, "enhanced")
            return models.beta_broken(own, whole, limit, kind)
        kind = self._of_column("closeness", column, "ordered" if whole.place else "equal")
        return models.t_broken(own, whole, limit, kind, nulls)

    # --- released values ------------------------------------------------------------------------

    def _values(self, name: str) -> Iterator[str]:
        """Whether each class releases what its rows allow."""
        if self.release.option("method", "auto") not in OF_RECORDS:
            return
        hierarchies = self.release.option("hierarchies", {})
        if hierarchies == "suggested" or name.lower() in {str(n).lower() for n in hierarchies}:
            return
        kind, shown = self.release.before[name], self.release.released[name]
        if name in self.release.columns("categorical"):
            kind = f"{kind} as a category"
        value, out = f"s.{quoted(name)}", f"r.{quoted(name)}"
        missing = f"{value} IS NULL" + (
            f" OR isnan({value})" if kind.startswith(("DOUBLE", "FLOAT")) else ""
        )
        zero = "replace(({})::VARCHAR, '-0.0', '0.0')" if kind.startswith(("DOUBLE", "FLOAT")) else (
            "({})::VARCHAR"
        )
        classes = self.release.con.execute(f"""
            SELECT count(*), count(*) FILTER (missing), any_value({zero.format('v_out')}),
                   count(DISTINCT {_text('v_out')}),
                   list(DISTINCT {zero.format('v_in')}) FILTER (NOT missing),
                   {zero.format('min(v_in) FILTER (NOT missing)')},
                   {zero.format('max(v_in) FILTER (NOT missing)')}
            FROM (SELECT class, {value} AS v_in, {out} AS v_out, ({missing}) AS missing FROM aligned)
            GROUP BY class""").fetchall()
        form = self._form(name)
        for rows, without, text, kinds, known, low, high in classes:
            if kinds != 1:
                yield f"a class has {kinds} values of {name!r}"
                return
            fault = _released(form, kind, shown, rows, without, text, known or [], low, high)
            if fault:
                yield f"a class of {rows} rows with {known} releases {text!r} for {name!r}: {fault}"
                return

    def _form(self, name: str) -> str | None:
        found = self.release.option("representation")
        if not isinstance(found, Mapping):
            return str(found) if found else None
        spelled = {str(column).lower(): form for column, form in found.items()}
        return spelled.get(name.lower(), spelled.get("*"))


def _released(
    form: str | None, kind: str, shown: str, rows: int, without: int, text: str | None,
    known: list[str], low: str | None, high: str | None,
) -> str | None:
    """What is wrong with a released value."""
    if not known:
        return None if text is None or (form == "suppress" and text == "*") else "it is missing"
    if form in ("suppress",) or (form is None and text in (None, "*")):
        agree = len(known) == 1 and not without
        return None if (text == known[0] if agree else text in (None, "*")) else "no agreement"
    if text is None:
        return "it is NULL"
    if form == "interval":
        return _interval(kind, text, known, low, high)
    if form == "bounds" or (form is None and shown.startswith("STRUCT")):
        if shown.startswith("STRUCT"):
            return None if text.replace("-0.0", "0.0") == f"{{'min': {_in(low)}, 'max': {_in(high)}}}" \
                else "not the bounds"
        return None if len(known) <= text.count(",") + 1 else "values are missing"
    if form is None and not ORDERED.match(kind) and text not in known:
        return _interval(kind, text, known, low, high)
    if form is None and (text in known or shown == "VARCHAR" and kind != "VARCHAR"):
        return None if text in known else _interval(kind, text, known, low, high)
    return _point(form, kind, text, known)


def _in(text: str | None) -> str:
    """A value as it stands inside of a STRUCT."""
    return f"'{text}'" if text and (":" in text or " " in text) else str(text)


def _interval(
    kind: str, text: str, known: list[str], low: str | None, high: str | None
) -> str | None:
    if len(known) == 1:
        return None if text == known[0] else "not the value"
    if ORDERED.match(kind):
        return None if text == f"[{low}, {high}]" else f"not [{low}, {high}]"
    size = len(text) == sum(map(len, known)) + 2 * len(known)
    return None if size and all(value in text for value in known) else "not the set"


def _point(form: str | None, kind: str, text: str, known: list[str]) -> str | None:
    if form == "median" or not ORDERED.match(kind):
        return None if text in known else "not a value of the class"
    if NUMBERS.match(kind):
        numbers = [Fraction(float(value)) for value in known]
        spot, slack = Fraction(float(text)), Fraction(1, 10**9) * max(map(abs, numbers))
        if kind.startswith("DECIMAL") or form == "rounded":
            slack += 1
        if not min(numbers) - slack <= spot <= max(numbers) + slack:
            return "outside of the class"
    return None
