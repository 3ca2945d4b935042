"""The scales of columns that were learned elsewhere: from all rows, for a block of them.

What two rows are apart depends on the rows that a column's scale is learned from. Rows that are
grouped block by block need one scale for all blocks, and it is a few numbers for each column:
categories are numbered anew in each block, since no distance depends on their numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from kanon_sql.encode.attributes import Attribute, Categorical, Numeric
from kanon_sql.errors import DataError

OF_CATEGORIES = ("squared", "present", "distinct")


def scale_json(attribute: Attribute) -> dict[str, Any]:
    """The scale of a column in values that JSON has."""
    if isinstance(attribute, Numeric):
        return asdict(attribute)
    scale = {name: getattr(attribute, name) for name in OF_CATEGORIES}
    return {name: getattr(value, "tolist", lambda v=value: v)() for name, value in scale.items()}


def scaled(attribute: Attribute, scale: Mapping[str, Any]) -> Attribute:
    """A column with a scale that ``scale_json`` gave, after its way through JSON.

    Raises:
        DataError: the scale is one of a column of another kind.
    """
    if isinstance(attribute, Numeric) and "factor" in scale:
        return Numeric(**scale)
    if isinstance(attribute, Categorical) and "squared" in scale:
        squared, distinct = (np.asarray(scale[n], np.float64) for n in ("squared", "distinct"))
        if len(squared) == attribute.nodes.shape[1]:
            return replace(
                attribute, squared=squared, present=int(scale["present"]), distinct=distinct
            )
    raise DataError(
        f"The scale of the column {attribute.name!r} was learned from another kind of column. "
        "Learn the scales from rows with the same columns and hierarchies."
    )
