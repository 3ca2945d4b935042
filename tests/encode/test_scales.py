"""Scales of columns that were learned elsewhere."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from kanon_sql.encode.arrow import CellColumns, Column, Rows
from kanon_sql.encode.attributes import Attribute, Categorical, Numeric
from kanon_sql.encode.encoding import encode
from kanon_sql.encode.scales import scale_json, scaled
from kanon_sql.errors import DataError
from kanon_sql.methods import task_for

LEVELS = [pa.array(level) for level in (["a", "b", "c"], ["x", "x", "y"], ["*"] * 3)]
WORDS = pa.array(["a", "b", "c", "a", None])


def through_json(attribute: Attribute) -> Any:
    return json.loads(json.dumps(scale_json(attribute)))


@pytest.mark.parametrize("levels", [None, LEVELS])
def test_a_block_has_the_scale_of_all_rows(levels: list[pa.Array] | None) -> None:
    whole = Categorical.fit("A", 2.0, WORDS, levels)
    block = Categorical.fit("A", 2.0, WORDS[:2], levels)
    found = scaled(block, through_json(whole))
    assert isinstance(found, Categorical)
    assert found.squared.tolist() == whole.squared.tolist() != block.squared.tolist()
    assert found.distinct.tolist() == whole.distinct.tolist()
    assert found.present == whole.present != block.present
    assert found.leaves.equals(block.leaves) and np.array_equal(found.nodes, block.nodes)


def test_numbers_of_a_block_have_the_scale_of_all_rows() -> None:
    whole = Numeric.fit("a", 2.0, np.array([1.0, 5.0, np.nan, 0.1]))
    block = Numeric.fit("a", 2.0, np.array([1.0, 2.0]))
    assert scaled(block, through_json(whole)) == whole


def test_a_scale_of_another_kind_of_column_is_refused() -> None:
    number = Numeric.fit("a", 1.0, np.array([1.0, 5.0]))
    flat, tree = (Categorical.fit("a", 1.0, WORDS, levels) for levels in (None, LEVELS))
    for one, other in ((number, flat), (flat, number), (flat, tree), (tree, flat)):
        with pytest.raises(DataError, match="scale of the column 'a' was learned from another"):
            scaled(one, through_json(other))


def test_rows_are_encoded_by_the_scales_of_a_task() -> None:
    columns = [Column("Age", "DOUBLE"), Column("Job", "VARCHAR")]

    def rows(count: int) -> Rows:
        ages = np.array([1.0, 5.0, 2.0, 9.0, np.nan])[:count]
        return Rows({"cells": CellColumns({0: ages}, {1: WORDS[:count]})}, count)

    whole = encode(rows(5), columns, task_for("mdav", 2), {})
    scales = {a.name.lower(): through_json(a) for a in whole.attributes}
    block = encode(rows(3), columns, task_for("mdav", 2, scales=scales), {})
    assert block.attributes[0] == whole.attributes[0]
    assert scale_json(block.attributes[1]) == scale_json(whole.attributes[1])
    # the rows of the block are as far apart as they are among all rows
    own, plain = block.squared(), whole.squared()
    assert sorted(own.numeric[:, 0]) == sorted(
        plain.numeric[list(whole.order).index(i), 0] for i in range(3)
    )
