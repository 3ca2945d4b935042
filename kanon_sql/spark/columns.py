"""The columns of a DataFrame."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    ArrayType,
    ByteType,
    DateType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructField,
    StructType,
    VariantType,
)

from kanon_sql.names import caseless

WHOLE = (ByteType, ShortType, IntegerType, LongType)
NESTED = (ArrayType, MapType, StructType, VariantType)
BITS = 60
"""So many columns say in one number which of them are missing."""

SIZE = "__kanon_size"
"""How many rows a row of a table that Spark counted stands for."""

BLOCK = "__kanon_block"
"""The number of the block of a row, see ``number_of_block``."""

KEY, PACK, JOINED = "__kanon_part_key", "__kanon_pack", "__kanon_joined"
"""Of a row in parts: a text by which its part is told from others, the number of the parts that lie
side by side with it, and whether its part is put together with others."""

PERSON, DIGEST = "__kanon_ledger_person", "__kanon_ledger_digest"
"""Of a row beside a ledger: the text by which its person is known there, and a digest of what may
identify the person."""

SIGN = "__kanon_sign"
"""Before the number of a column: see ``signs``."""

LEAVING = "__kanon_leaving"
"""The person of a row that is left out after all."""

SHIFT = 32
"""The bits of the number of a block among those of what is cut by itself."""


def number_of_block(part: int, i: int) -> int:
    """The number of a block, of what is cut by itself and of its place among all blocks."""
    return (part << SHIFT) + i


def part_of_block(number: int) -> int:
    """The number of what is cut by itself, of that of a block."""
    return number >> SHIFT


def place_of_block(number: Any) -> Any:
    """The place among all blocks, of the number of a block or of a column of such numbers."""
    return number % (1 << SHIFT)


def column(name: str) -> Any:
    """A column of a DataFrame by its name, whatever is in it."""
    return F.col("`" + name.replace("`", "``") + "`")


def signs(frame: Any, names: Sequence[str]) -> list[Any]:
    """What tells apart values that look different and that Spark counts as equal: -0.0 and 0.0."""
    kinds, found = {caseless(field.name): field.dataType for field in frame.schema}, []
    for i, name in enumerate(names):
        kind = kinds[caseless(name)]
        if "double" in kind.simpleString() or "float" in kind.simpleString():
            text = column(name).cast("string")
            # to write a number as text takes longer than to count it
            sign = text if isinstance(kind, NESTED) else (column(name) == 0.0) & (text == "-0.0")
            found.append(sign.alias(f"{SIGN}_{i}"))
    return found


def cell(i: int) -> str:
    """The name of the column that holds the cells of a quasi-identifier."""
    return f"__kanon_c{i}"


def own_cell(field: StructField, is_number: bool) -> Any | None:
    """The cell of a column, where Spark works it out as DuckDB would, so that it need not come from
    Python: whole numbers, doubles, days, and texts."""
    value = column(field.name)
    if is_number and isinstance(field.dataType, (DoubleType, FloatType)):
        return F.when(~F.isnan(value), value.cast("double"))
    if is_number and isinstance(field.dataType, WHOLE):
        return value.cast("double")
    if is_number and isinstance(field.dataType, DateType):
        return F.unix_date(value).cast("double")
    return value if not is_number and type(field.dataType) is StringType else None


def own_hash(fields: Sequence[StructField]) -> Any | None:
    """A hash of these columns, above 0, where Spark tells their values apart as DuckDB would; a
    value in a value that is missing is passed over there, and so is told from none."""
    if any(isinstance(field.dataType, NESTED) for field in fields):
        return None
    values = [column(field.name) for field in fields]
    # a missing value is passed over, too: which are missing is hashed beside the others
    missing = [
        reduce(add, (F.isnull(value).cast("long") * F.lit(1 << i) for i, value in enumerate(some)))
        for some in (values[i:i + BITS] for i in range(0, len(values), BITS))
    ]
    return F.shiftrightunsigned(F.xxhash64(*values, *missing), 1)
