"""Random tables of mixed types, and what a release of them must be, worked out anew.

Nothing here uses the package: the representations and the embedding are written once more from
their definitions, in exact arithmetic (fractions), so that a test can hold one against the other.
"""

from __future__ import annotations

import datetime as dt
import math
import random
import struct
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

METHODS = (
    "mdav", "mdav_plus", "v_mdav", "mdav_star", "k_member", "nearest", "mondrian", "forest"
)
CENTERED = ("r_gather", "r_cellular")
"""Methods that publish centers of their own where those have a smaller radius than the centroid."""
OF_RECORDS = (*METHODS, *CENTERED)
"""Methods that take any columns, and any number of rows that is k or more."""
REPRESENTATIONS = ("centroid", "median", "interval", "bounds", "suppress")
EPOCH = dt.datetime(1970, 1, 1)
EPOCH_UTC = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)
MICROSECOND = dt.timedelta(microseconds=1)

# --- SQL --------------------------------------------------------------------------------------


def quoted(name: str) -> str:
    """An identifier in double quotes."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: Any) -> str:
    """A value as it stands in a call."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "MAP {" + ", ".join(f"{literal(k)}: {v!r}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(literal, value)) + "]"
    return repr(value)


def call(name: str, relation: str, **options: Any) -> str:
    """One SQL call with named parameters; an option that is None is left out."""
    given = [f"{key} := {literal(value)}" for key, value in options.items() if value is not None]
    return f"{name}({', '.join([literal(relation), *given])})"


def fetch(con: duckdb.DuckDBPyConnection, query: str) -> pa.Table:
    """The result of a query as an Arrow table."""
    table: pa.Table = con.sql(query).to_arrow_table()
    return table


def arrow_bytes(table: pa.Table) -> bytes:
    """A table as an Arrow IPC stream of one batch.

    Behind a NULL, Arrow leaves what happened to lie in memory; taking every row writes zeros.
    """
    table = table.combine_chunks().take(pa.array(np.arange(table.num_rows)))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def records(table: pa.Table) -> list[tuple[Any, ...]]:
    """The rows of a table as tuples."""
    columns = [column.to_pylist() for column in table.columns]
    return list(zip(*columns, strict=True)) if columns else [()] * table.num_rows


# --- values -----------------------------------------------------------------------------------


def is_missing(value: Any) -> bool:
    """NULL and NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def exact(value: Any) -> Hashable:
    """A key that tells apart whatever differs in a bit: 0.0 and -0.0, 1 and 1.0, NULL and NaN."""
    if isinstance(value, float):
        return "float", "nan" if math.isnan(value) else struct.pack("<d", value)
    if isinstance(value, dict):
        return "struct", tuple((key, exact(item)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return "list", tuple(map(exact, value))
    return type(value).__name__, value


def alike(value: Any) -> Hashable:
    """A key that is equal where GROUP BY sees one value: 0.0 is -0.0, NULL is NULL, NaN is NaN."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value + 0.0
    if isinstance(value, dict):
        return tuple((key, alike(item)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(map(alike, value))
    return value


def _microseconds(moment: dt.datetime) -> int:
    return (moment - (EPOCH_UTC if moment.tzinfo else EPOCH)) // MICROSECOND


def _time(value: dt.time) -> int:
    return (
        dt.timedelta(0, value.hour * 3600 + value.minute * 60 + value.second, value.microsecond)
        // MICROSECOND
    )


@dataclass(frozen=True)
class Kind:
    """A column type.

    Attributes:
        sql: the SQL type.
        arrow: what the values are written as, before a cast to the SQL type.
        values: draws one value that is not missing.
        number: its place on the axis, for a type that has an order; exact.
        temporal: whether a mean is rounded to the type itself.
        nan: whether NaN is a value of the type.
    """

    sql: str
    arrow: pa.DataType
    values: st.SearchStrategy[Any]
    number: Callable[[Any], int | float | Decimal] | None = None
    temporal: bool = False
    nan: bool = False

    @property
    def ordered(self) -> bool:
        """Whether it is an axis in the embedding; else its values are categories."""
        return self.number is not None

    def place(self, value: Any) -> Fraction:
        """The value as DuckDB casts it to DOUBLE, or its days or microseconds."""
        assert self.number is not None
        return Fraction(float(self.number(value)))


def _plain(value: Any) -> Any:
    return value


FLOATS = st.sampled_from((0.0, -0.0, 1.5, -2.25, 0.1, 1e300, -1e300, 1e-300, 5e-324, 1e15))
SINGLES = st.sampled_from((0.0, -0.0, 1.5, -2.25, 0.5, 3e38, 2.0**-140))
TEXTS = st.sampled_from(
    ("", "a", "A", "b", "NULL", "nan", "it's", 'say "so"', "a, b", "[1, 2]", "{a}", "\u00e4",
     "\u65e5\u672c", "\U0001f600", " a", "a\nb", "$x ${k} {}", "x" * 300)
)  # fmt: skip
MOMENTS = st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1))
ENUM = ("", "alpha", "beta, gamma", "it's", "omega")

KINDS: dict[str, Kind] = {
    "tinyint": Kind("TINYINT", pa.int8(), st.integers(-3, 3), _plain),
    "integer": Kind("INTEGER", pa.int32(), st.integers(-(2**31), 2**31 - 1), _plain),
    "bigint": Kind(
        "BIGINT", pa.int64(),
        st.sampled_from((0, 1, -1, 7, 2**53 + 1, 2**62, -(2**63), 2**63 - 1)), _plain,
    ),
    "ubigint": Kind("UBIGINT", pa.uint64(), st.sampled_from((0, 1, 9, 2**63, 2**64 - 1)), _plain),
    "hugeint": Kind(
        "HUGEINT", pa.string(), st.sampled_from((0, 1, -1, 10**20, 2**100, -(2**100))), _plain
    ),
    "double": Kind("DOUBLE", pa.float64(), FLOATS | st.floats(-100, 100), _plain, nan=True),
    "float": Kind("FLOAT", pa.float32(), SINGLES | st.floats(-9, 9, width=32), _plain, nan=True),
    "decimal": Kind(
        "DECIMAL(9,2)", pa.decimal128(9, 2), st.decimals(-9999, 9999, places=2), _plain
    ),
    "date": Kind(
        "DATE", pa.date32(), st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)),
        lambda day: (day - EPOCH.date()).days, True,
    ),
    "timestamp": Kind("TIMESTAMP", pa.timestamp("us"), MOMENTS, _microseconds, True),
    "timestamptz": Kind(
        "TIMESTAMP WITH TIME ZONE", pa.timestamp("us", tz="UTC"),
        MOMENTS.map(lambda moment: moment.replace(tzinfo=dt.timezone.utc)), _microseconds, True,
    ),
    "time": Kind("TIME", pa.time64("us"), st.times(), _time, True),
    "boolean": Kind("BOOLEAN", pa.bool_(), st.booleans()),
    "text": Kind("VARCHAR", pa.string(), TEXTS | st.text(max_size=4).filter(str.isprintable)),
    "enum": Kind(f"ENUM({', '.join(map(literal, ENUM))})", pa.string(), st.sampled_from(ENUM)),
    "uuid": Kind("UUID", pa.string(), st.uuids().map(str)),
    "blob": Kind("BLOB", pa.binary(), st.binary(max_size=3)),
}  # fmt: skip


@dataclass(frozen=True)
class Column:
    """A column by its values, as they were written."""

    name: str
    kind: str
    values: tuple[Any, ...]


NAMES = (
    "age", "Zip Code", "x", "e", "n", "value", "class", "row", "hash", "cells", "select", "it's",
    'say "so"', "${k}", "{}", "\u00fcber", "k", "method", "count", "min", "number", "category",
)  # fmt: skip


def create(con: duckdb.DuckDBPyConnection, name: str, columns: Sequence[Column]) -> None:
    """Makes a table of columns, in the order of their values."""
    raw = pa.table(
        [
            pa.array(
                [
                    str(v) if pa.types.is_string(KINDS[c.kind].arrow) and v is not None else v
                    for v in c.values
                ],
                KINDS[c.kind].arrow,
            )
            for c in columns
        ],
        names=[f"c{i}" for i in range(len(columns))],
    )
    con.register("raw_values", raw)
    casts = ", ".join(
        f"CAST(c{i} AS {KINDS[c.kind].sql}) AS {quoted(c.name)}" for i, c in enumerate(columns)
    )
    con.execute(f"CREATE OR REPLACE TABLE {quoted(name)} AS SELECT {casts} FROM raw_values")
    con.unregister("raw_values")


# --- random tables ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A table, the roles of its columns, and how to anonymize it."""

    columns: tuple[Column, ...]
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    roles: Mapping[str, Any]
    options: Mapping[str, Any]

    @property
    def rows(self) -> int:
        """Rows of the table."""
        return len(self.columns[0].values)

    @property
    def k(self) -> int:
        """The k of the options."""
        k: int = self.options["k"]
        return k


@st.composite
def columns_of(draw: st.DrawFn, name: str, rows: int, kinds: Sequence[str]) -> Column:
    """A column whose values come from a small pool, so that ties and duplicates abound.

    Only the pool is drawn by Hypothesis; which row gets which value follows from a seed.
    """
    kind = draw(st.sampled_from(kinds))
    pool = draw(st.lists(KINDS[kind].values, min_size=1, max_size=6))
    if draw(st.sampled_from((False, False, True))):
        pool += [None] * draw(st.integers(1, 3))
        if KINDS[kind].nan:
            pool += [math.nan] * draw(st.integers(0, 2))
    dice = random.Random(draw(st.integers(0, 2**16)))
    return Column(name, kind, tuple(dice.choice(pool) for _ in range(rows)))


@st.composite
def cases(
    draw: st.DrawFn,
    most_rows: int = 40,
    widths: Sequence[int] = (1, 2, 3, 4),
    methods: Sequence[str] = METHODS,
    representations: Sequence[str] = REPRESENTATIONS,
    nulls: Sequence[str] = ("value", "value", "suppress", "error"),
    kinds: Sequence[str] = tuple(KINDS),
) -> Case:
    """Tables of mixed types with 1 to ``most_rows`` rows, roles and options."""
    rows = draw(st.integers(1, most_rows))
    k = draw(st.integers(1, 6))
    width, others = draw(st.sampled_from(widths)), draw(st.integers(0, 2))
    if width + others <= len(NAMES):
        names = draw(st.permutations(NAMES))[: width + others]
    else:
        names = [f"column {i}" for i in range(width + others)]
    columns = tuple(draw(columns_of(name, rows, kinds)) for name in names)
    quasi, sensitive = tuple(names[:width]), tuple(names[width:])
    shuffled = tuple(draw(st.permutations(columns))) if width < 10 else columns
    roles = draw(
        st.sampled_from(
            (
                {"quasi_identifiers": list(quasi), "others": "release"},
                {"quasi_identifiers": list(quasi), "sensitive": list(sensitive) or None},
                {"sensitive": list(sensitive) or None},
            )
        )
    )
    weights = draw(
        st.none()
        | st.dictionaries(
            st.sampled_from(quasi), st.sampled_from((0.0, 0.5, 2.0, 100.0)), min_size=1
        )
    )
    options = {
        "k": k,
        "method": draw(st.sampled_from(methods)),
        "representation": draw(st.sampled_from(representations)),
        "nulls": draw(st.sampled_from(nulls)),
        "column_weights": weights,
        "seed": draw(st.sampled_from((0, 1, 12345))),
    }
    return Case(shuffled, quasi, sensitive, roles, options)


# --- what a class must release ----------------------------------------------------------------


def known(values: Sequence[Any]) -> list[Any]:
    """The values that are not missing."""
    return [value for value in values if not is_missing(value)]


def most_frequent(values: Sequence[Any]) -> Any:
    """The most frequent value, the smallest of those that tie."""
    counts = Counter(known(values))
    return min(counts, key=lambda value: (-counts[value], value)) if counts else None


def is_mean(kind: Kind, values: Sequence[Any], released: Any) -> bool:
    """Whether a released value is the mean of the values, as far as doubles go."""
    members = known(values)
    if not members or released is None:
        return not members and released is None
    if kind.temporal:
        assert kind.number is not None
        total = sum(int(kind.number(value)) for value in members)
        mean = round(Fraction(total, len(members)))  # halves to the even one
        return type(released) is type(members[0]) and kind.number(released) == mean
    places = [kind.place(value) for value in members]
    exact = sum(places) / len(places)
    if not isinstance(released, float) or math.isnan(released):
        return False
    if min(places) == max(places):
        return Fraction(released) == places[0]
    slack = max(map(abs, places)) * Fraction(1, 10**13) + Fraction(5e-324)
    within = min(places) <= Fraction(released) <= max(places)
    return within and abs(Fraction(released) - exact) <= slack


def is_interval(kind: Kind, values: Sequence[Any], texts: Sequence[Any], released: Any) -> bool:
    """Whether a released text names the range or the set of the values.

    Equal values may have two texts (0.0 and -0.0), so each of them is right, and so is 0.0 for
    -0.0.
    """
    pairs = [(v, t) for v, t in zip(values, texts, strict=True) if not is_missing(v)]
    pairs += [(v, "0.0") for v, t in pairs if kind.nan and t == "-0.0"]
    if not pairs:
        return released is None
    low, high = min(v for v, _ in pairs), max(v for v, _ in pairs)
    lows, highs = {t for v, t in pairs if v == low}, {t for v, t in pairs if v == high}
    if low == high:
        return released in lows
    if kind.ordered:
        return released in {f"[{a}, {b}]" for a in lows for b in highs}
    ordered = dict(sorted(dict(pairs).items()))
    return bool(released == "{" + ", ".join(ordered.values()) + "}")


def is_bounds(kind: Kind, values: Sequence[Any], released: Any) -> bool:
    """Whether a released value holds the least and greatest value, or all distinct ones."""
    members = known(values)
    if not members:
        return released is None
    ends = {"min": min(members), "max": max(members)}
    if kind.ordered or (kind.sql in ("UUID", "BLOB") and isinstance(released, dict)):
        return bool(released == ends)
    return bool(released == sorted(set(members)))


def is_median(kind: Kind, values: Sequence[Any], released: Any) -> bool:
    """Whether a released value is the lower median, or the most frequent value."""
    members = sorted(known(values))
    if not kind.ordered or not members:
        return bool(released == most_frequent(values))
    median = members[(len(members) - 1) // 2]
    return type(released) is type(median) and bool(released == median)


def is_suppressed(kind: Kind, values: Sequence[Any], released: Any) -> bool:
    """Whether a released value is the one that all agree on, else nothing."""
    members = known(values)
    if not members:
        return released is None
    if len(members) < len(values) or min(members) != max(members):
        return bool(released == ("*" if kind.sql.startswith(("VARCHAR", "ENUM")) else None))
    return released in members


def is_released(
    representation: str, kind: Kind, values: Sequence[Any], texts: Sequence[Any], released: Any
) -> bool:
    """Whether a class of these values may release this value."""
    if representation == "interval":
        return is_interval(kind, values, texts, released)
    if representation == "bounds":
        return is_bounds(kind, values, released)
    if representation == "suppress":
        return is_suppressed(kind, values, released)
    if representation == "median":
        return is_median(kind, values, released)
    if kind.ordered:
        return is_mean(kind, values, released)
    return bool(released == most_frequent(values))
