"""The columns of a DataFrame."""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as F  # noqa: N812


def column(name: str) -> Any:
    """A column of a DataFrame by its name, whatever is in it."""
    return F.col("`" + name.replace("`", "``") + "`")


def cell(i: int) -> str:
    """The name of the column that holds the cells of a quasi-identifier."""
    return f"__kanon_c{i}"
