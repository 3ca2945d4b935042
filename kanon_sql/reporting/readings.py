"""Columns as a report reads them: numbers as ranges, all else as labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import frexp
from typing import Any

import numpy as np
import numpy.typing as npt

from kanon_sql.names import quoted
from kanon_sql.plan.fragments import chosen, seen
from kanon_sql.sql import statement, statements

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

SOURCE, RELEASE = "report_source", "report_release"
"""The tables of the report's own connection."""

NUMBERS = re.compile(r"^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL.*)$")
WHOLE = re.compile(r"^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$")
TIMES = re.compile(r"^(DATE|TIMESTAMP.*)$")
LISTED = re.compile(r"\[\d*\]$")


def scaled(values: Floats, *others: Floats) -> Floats:
    """Numbers in the power of two, as a unit, that leaves none of them and of the others above 1:
    so no square of them is too large or too small."""
    largest = max(float(np.nanmax(np.abs(each), initial=0.0)) for each in (values, *others))
    return np.asarray(np.ldexp(values, -frexp(largest)[1]))


@dataclass(frozen=True)
class Ranges:
    """A column of numbers, or of times in seconds since 1970.

    Attributes:
        low, high: float64 per row, NaN where nothing is told; equal where it is one number.
        whole: whether they are whole numbers.
        times: whether they are times.
    """

    low: Floats
    high: Floats
    whole: bool = False
    times: bool = False

    @property
    def middle(self) -> Floats:
        """The middle of each range, float64 per row."""
        return self.low / 2 + self.high / 2  # their difference may be no double


@dataclass(frozen=True)
class Labels:
    """A column of texts.

    Attributes:
        codes: int64 per row, the place of its text; -1 where there is none.
        texts: the different texts, sorted.
    """

    codes: Codes
    texts: tuple[str, ...]


@dataclass(frozen=True)
class TablePair:
    """The two tables of a report.

    Attributes:
        con: a connection of nobody else that has them, and our macros.
    """

    con: Any

    def prepare(self) -> None:
        """Makes the macros that readings need."""
        for text in statements("macros/report"):
            self.con.execute(text)

    def type_of(self, table: str, column: str) -> str:
        """The type of a column."""
        relation = self.con.table(table)
        return str(dict(zip(relation.columns, relation.types, strict=True))[column])

    def ranges(self, table: str, column: str, like: str) -> Ranges | None:
        """A column as numbers or times; ``like``: the type in the source. None where it is none."""
        bounds = self._ends(column, like, table, table)
        if bounds is None:
            return None
        text = statement("report.points", low=bounds[0], high=bounds[1], relation=table)
        ends = self.con.execute(text).fetchnumpy()
        low, high = (np.ma.filled(ends[end].astype(np.float64), np.nan) for end in ("low", "high"))
        return Ranges(low, high, bool(WHOLE.match(like)), bool(TIMES.match(like)))

    def _ends(
        self, column: str, like: str, alias: str, table: str = RELEASE
    ) -> tuple[str, str] | None:
        """SQL of the two ends of a column's ranges; None where it has none."""
        if not TIMES.match(like) and not NUMBERS.match(like):
            return None
        macro = "__kanon_time" if TIMES.match(like) else "__kanon_number"
        type_, name = self.type_of(table, column), f"{alias}.{quoted(column)}"
        if NUMBERS.match(type_) or TIMES.match(type_):
            return f"{macro}({name})", f"{macro}({name})"
        if type_.startswith("STRUCT"):
            return f"{macro}({name}.min)", f"{macro}({name}.max)"
        if type_ == "VARCHAR":
            return f"{macro}(__kanon_end({name}, 1))", f"{macro}(__kanon_end({name}, 2))"
        return None

    def labels(self, table: str, column: str) -> Labels:
        """A column as texts."""
        name = quoted(column)
        listed = LISTED.search(self.type_of(table, column))
        label = f"__kanon_set_text({name})" if listed else f"{name}::VARCHAR"
        text = statement("report.labels", text=label, relation=table)
        column_ = self.con.sql(text).to_arrow_table().column("label").combine_chunks()
        coded = column_.dictionary_encode()
        texts = coded.dictionary.to_pylist()
        order = sorted(range(len(texts)), key=texts.__getitem__)
        place = np.full(len(texts) + 1, -1, np.int64)
        place[order] = np.arange(len(texts))
        codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        return Labels(place[codes], tuple(texts[i] for i in order))

    def sizes(self, table: str, columns: Sequence[str]) -> list[tuple[int, int]]:
        """Sizes of classes, and how many classes have each."""
        text = statement("report.classes", seen=seen(chosen(columns)), relation=table)
        counts: list[tuple[int, int]] = self.con.execute(text).fetchall()
        return counts

    def most_rows(self, column: str) -> int:
        """The most rows of the source that have the same value."""
        text = statement("report.most_rows", column=quoted(column), relation=SOURCE)
        return int(self.con.execute(text).fetchall()[0][0])

    def kinds(
        self, columns: Sequence[str], sensitive: str
    ) -> list[tuple[int, int, int, int]]:
        """Classes of the release by size, values of a sensitive column, and rows of the most
        frequent one; and how many classes there are of each kind."""
        text = statement(
            "report.sensitive", seen=seen(chosen(columns)), relation=RELEASE,
            column=quoted(sensitive),
        )
        classes: list[tuple[int, int, int, int]] = self.con.execute(text).fetchall()
        return classes

    def nearest(self, columns: Sequence[str], rows: int) -> list[tuple[Any, ...]]:
        """Released rows, and the rows of the source most like them: two lists of texts, how far
        they are from each other, and how many are as near."""
        released = [f"shown.{quoted(name)}" for name in columns]
        known = [f"source.{quoted(name)}" for name in columns]
        text = statement(
            "report.nearest", release=RELEASE, source=SOURCE, rows=rows, columns=len(columns),
            released=", ".join(f"{each}::VARCHAR" for each in released),
            known=", ".join(f"decode(encode({each}::VARCHAR))" for each in known),
            shown=", ".join(f"__kanon_seen({quoted(name)})" for name in columns),
            distance=" + ".join(map(self._distance, columns)),
        )
        pairs: list[tuple[Any, ...]] = self.con.execute(text).fetchall()
        return pairs

    def _distance(self, column: str) -> str:
        """SQL of how far two values of a column are from each other."""
        like = self.type_of(SOURCE, column)
        known, shown = self.ranges(SOURCE, column, like), self.ranges(RELEASE, column, like)
        if known is None or shown is None or not np.isfinite(shown.low).any():
            return statement("report.apart", column=quoted(column))
        spread = np.nanmax(known.low) - np.nanmin(known.low)
        ends, own = self._ends(column, like, "shown"), self._ends(column, like, "source", SOURCE)
        assert ends is not None and own is not None
        return statement(
            "report.far", one=f"({ends[0]} + {ends[1]}) / 2", other=own[0],
            spread=float(spread) or 1.0,
        )
