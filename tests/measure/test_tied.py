"""What is measured of rows of which many are equal doesn't depend on their order, to the last bit:
of equal rows some are in one class and some in another."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from kanon_sql.encode.arrow import Column, Rows
from kanon_sql.methods import METHODS, GroupTask
from kanon_sql.stages.measure import PublishedForm, measure_rows

COLUMNS = [Column("a", "DOUBLE"), Column("b", "DOUBLE")]


def cells(values: np.ndarray) -> pa.StructArray:
    flat = values.reshape(-1)
    words = pa.array([f"{value:g}" for value in flat])
    return pa.StructArray.from_arrays([pa.array(flat), words], ["number", "category"])


def test_equal_rows_in_different_classes_are_measured_alike_in_any_order() -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 5, (600, 2)) / np.array([3.0, 7.0])
    classes = rng.integers(0, 40, 600)
    centers = np.stack([values[classes == c].mean(axis=0) for c in range(40)])[classes]
    method = METHODS["mdav"]
    task = GroupTask(method, 2, method.own())
    published = PublishedForm("range", "range", {}, {}, None, ["DOUBLE"] * 2, pa.array(
        [], pa.struct([("number", pa.float64()), ("category", pa.string())])
    ))
    found = set()
    for _ in range(30):
        order = rng.permutation(600)
        rows = Rows({
            "row": order, "hash": pa.array(np.zeros(600, np.uint64)), "class": classes[order],
            "alike": classes[order],
            "cells": cells(values[order]), "center": cells(centers[order]),
        }, 600)
        facts, _, radii = measure_rows(rows, COLUMNS, task, published)
        found.add(repr((facts["sse"], facts["sse_released"], facts["total_il"], radii.tolist())))
    assert len(found) == 1
