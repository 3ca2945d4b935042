"""Judges a release of which it is known which row is which: persons, privacy models, and whether
each class releases what its rows allow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isinf
from typing import Any

import numpy as np

from tests.fuzz import models
from tests.fuzz.case import quoted
from tests.fuzz.models import Values
from tests.fuzz.oracle import NUMBERS, OF_RECORDS, ORDERED, Release, seen_as

FURTHEST = 10**400
"""Where infinity is: beyond all doubles."""


def _place(spot: Any) -> Fraction:
    """Where a value is among all, exactly."""
    if isinstance(spot, float) and isinf(spot):
        return Fraction(FURTHEST if spot > 0 else -FURTHEST)
    return Fraction(spot)


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
        by = ", ".join(seen_as(name, "r.") for name in self.release.seen)
        ((pairs, numbers, combinations),) = self.release.ask(
            f"SELECT count(DISTINCT (class, {by})), count(DISTINCT class), count(DISTINCT ({by}, 1)"
            ") FROM aligned"
        )
        if not pairs == numbers == combinations:
            yield f"{combinations} combinations have {numbers} numbers"

    def _passing(self) -> Iterator[str]:
        for name in self.release.passing:
            changed = f"{seen_as(name, 's.')} <> {seen_as(name, 'r.')}"
            ((count,),) = self.release.ask(f"SELECT count(*) FROM aligned WHERE {changed}")
            if count:
                yield f"{count} values of {name!r} are beside another row"

    def _persons(self) -> Iterator[str]:
        for name in self.release.columns("entity"):
            k, who = self.release.k, seen_as(name, "s.")
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
        within = ", ".join(["1", *(seen_as(name, "r.") for name in self.release.columns("within"))])
        entity = self.release.columns("entity")
        persons = entity and self.release.option("entity_rows") != "apart"
        who = seen_as(entity[0], "s.") if persons else "n"
        value = f"(s.{quoted(column)})"
        kind = self.release.before[column]
        text = f"{value}::VARCHAR"
        if kind in ("DOUBLE", "FLOAT"):
            text = f"CASE WHEN NOT isnan({value}) THEN ({value} + 0.0)::VARCHAR END"
        place = "NULL"
        if NUMBERS.match(kind):
            place = f"{value}::DOUBLE"
        elif kind == "BIGNUM":
            place = f"{value}::VARCHAR"
        elif kind == "DATE":
            place = f"({value} - DATE '1970-01-01')"
        elif ORDERED.match(kind):
            utc = f"({value} AT TIME ZONE 'UTC')" if "ZONE" in kind else value
            place = f"epoch_us({utc}{'' if kind in ('TIME', 'TIMESTAMP_NS') else '::TIMESTAMP'})"
        # a person whose rows differ has no value
        rows = self.release.ask(f"""
            SELECT part, class, CASE WHEN count(DISTINCT coalesce('=' || text, 'NULL')) = 1
                                THEN any_value(text) END AS text, any_value(place)
            FROM (SELECT ({within}) AS part, class, {text} AS text, {place} AS place, {who} AS who
                  FROM (SELECT *, row_number() OVER () AS n FROM aligned))
            GROUP BY part, class, who""")
        places = {text: _place(spot) for _, _, text, spot in rows
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
        zero = "({})::VARCHAR"
        if kind.startswith(("DOUBLE", "FLOAT")):
            zero = "replace(({})::VARCHAR, '-0.0', '0.0')"
        classes = self.release.con.execute(f"""
            SELECT count(*), count(*) FILTER (missing), any_value({zero.format('v_out')}),
                   count(DISTINCT {seen_as('v_out')}),
                   list(DISTINCT {zero.format('v_in')}) FILTER (NOT missing),
                   {zero.format('min(v_in) FILTER (NOT missing)')},
                   {zero.format('max(v_in) FILTER (NOT missing)')}
            FROM (SELECT class, {value} AS v_in, {out} AS v_out, ({missing}) AS missing
                  FROM aligned)
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
            ends = f"{{'min': {_in(low)}, 'max': {_in(high)}}}"
            return None if text.replace("-0.0", "0.0") == ends else "not the bounds"
        return None if len(known) <= text.count(",") + 1 else "values are missing"
    if form is None and not ORDERED.match(kind) and text not in known:
        return _interval(kind, text, known, low, high)
    if form is None and (text in known or (shown == "VARCHAR" and kind != "VARCHAR")):
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
        # the text of a FLOAT is the shortest that is read as it, and its mean is a DOUBLE
        read = np.float32 if kind == "FLOAT" else float
        numbers = [Fraction(float(read(value))) for value in known]
        spot, slack = Fraction(float(text)), Fraction(1, 10**9) * max(map(abs, numbers))
        if kind.startswith("DECIMAL") or form == "rounded":
            slack += 1
        if not min(numbers) - slack <= spot <= max(numbers) + slack:
            return "outside of the class"
    return None
