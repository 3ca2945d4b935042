"""What an encoded relation makes of its rows: points for information loss, against its
definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from kanon_sql.encode.arrow import CellColumns, Column, Rows
from kanon_sql.encode.encoded import Encoded
from kanon_sql.encode.encoding import Words, encode
from kanon_sql.errors import DataError, OptionError
from kanon_sql.methods import task_for
from kanon_sql.points.losses import class_losses
from tests.encode.cities import COLUMNS, SOURCE, WEIGHTS, Tree, cells_of, height

ROWS = SOURCE
AGES = 40.0
"""From 30 to 70."""


def encoded(**options: Any) -> Encoded:
    options = {"weights": WEIGHTS, **options}
    task = task_for("nearest", 2, **options)
    return encode(Rows({"cells": cells_of(ROWS)}, len(ROWS)), COLUMNS, task, {"city": Tree()})


def loss(points: Any, order: Any, members: list[int]) -> float:
    """What a class of these rows loses."""
    spots = np.array([list(order).index(i) for i in members])
    return float(class_losses(points.part(spots), np.zeros(len(spots), np.int64))[0])


def expected(members: list[int], weights: tuple[float, float, float], distinct: bool) -> float:
    rows = [ROWS[i] for i in members]
    ages, cities, jobs = ({row[0] for row in rows}, {row[1] for row in rows},
                          {row[2] for row in rows})
    known = [age for age in ages if age is not None]
    number = 1.0 if None in ages and known else (max(known) - min(known)) / AGES if known else 0.0
    job = (len(jobs) - 1) / 3 if distinct else float(len(jobs) > 1)
    up = max(height(a, b) for a in cities for b in cities)
    if distinct:
        # leaves at each level: Rome, Milan, Lima, Cusco 1, 2, .; Bonn 1, 1, .; NULL 1, 1, 1
        means = np.array([1, (2 + 2 + 2 + 1 + 2 + 1 + 1) / 7, (3 + 3 + 2 + 3 + 2 + 1 + 1) / 7, 5.0])
        place = float((means[up] - 1) / 4)
    else:
        place = up / 3
    return float(np.dot(weights, [number, place, job]))


CLASSES = [
    [0, 1], [0, 3], [0, 2], [1, 4, 5], [2, 4], [0, 1, 3], [5, 6], [0, 6], [2, 5], [3], [1, 3],
    [0, 1, 2, 3, 4, 5, 6],
]


@pytest.mark.parametrize("members", CLASSES)
def test_a_class_loses_what_its_values_span(members: list[int]) -> None:
    points = encoded()
    weights = (3.0, 0.5, 1.0)
    for loss_of, distinct in (("range_flat", False), ("range_distinct", True)):
        for weighted, by in ((True, weights), (False, (1.0, 1.0, 1.0))):
            found = loss(points.losses(loss_of, weighted), points.order, members)
            assert found == pytest.approx(expected(members, by, distinct))
    plain = loss(points.losses(), points.order, members)
    assert plain == pytest.approx(expected(members, weights, False))


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("members", CLASSES)
def test_generalized_cells_cost_their_level(members: list[int], flat: bool) -> None:
    """Of numbers and of flat categories each that isn't the same in the whole class costs all."""
    points = encoded()
    rows = [ROWS[i] for i in members]
    ages, cities, jobs = ({row[0] for row in rows}, {row[1] for row in rows},
                          {row[2] for row in rows})
    up = max(height(a, b) for a in cities for b in cities)
    place = float(up > 0) if flat else up / 3
    cost = 3.0 * (len(ages) > 1) + 0.5 * place + float(len(jobs) > 1)
    assert loss(points.cells(flat), points.order, members) == pytest.approx(cost)
    if not flat:
        assert points.cells().scale.tolist() == points.cells(flat).scale.tolist()


def test_columns_of_one_value_lose_nothing() -> None:
    rows = Rows({"cells": CellColumns({0: np.ones(3)}, {1: pa.array(["a"] * 3)})}, 3)
    columns = [Column("x", "DOUBLE"), Column("y", "VARCHAR")]
    points = encode(rows, columns, task_for("nearest", 2), {})
    for kind in ("range_flat", "range_distinct"):
        assert loss(points.losses(kind), points.order, [0, 1, 2]) == 0.0
    plain = encode(rows, columns, task_for("mdav", 2), {}).squared()
    assert plain.numeric.shape == plain.codes.shape == (3, 0)


def test_categories_alone_have_no_numbers() -> None:
    rows = Rows({"cells": CellColumns({}, {0: pa.array(["a", "b", "c"])})}, 3)
    points = encode(rows, [Column("x", "VARCHAR")], task_for("nearest", 2), {})
    for found in (points.losses(), points.cells(), points.squared()):
        assert found.numeric.shape == (3, 0) and found.codes.shape == (3, 1)
    assert loss(points.losses("range_distinct"), points.order, [0, 1]) == 0.5
    assert points.extra.shape == (0,) and points.protected.tolist() == [False]


def test_squared_distances_are_those_of_the_geometry() -> None:
    """Standardized, also for methods that have distances of their own, or over the range."""
    rows = Rows({"cells": CellColumns({0: np.array([1.0, 3.0, 5.0, 7.0])}, {})}, 4)
    column = [Column("x", "DOUBLE")]
    for method, width in (("mdav", 6 / np.sqrt(5)), ("r_gather", 6 / np.sqrt(5)), ("nearest", 1)):
        points = encode(rows, column, task_for(method, 2), {}).squared()
        assert float(np.ptp(points.numeric)) == pytest.approx(width)


def test_columns_without_weight_are_left_out_of_squared_distances() -> None:
    points = encoded(weights={"age": 0.0, "city": 0.0}).squared()
    assert points.numeric.shape == (7, 0) and points.codes.shape == (7, 1)
    nulls = Rows({"cells": CellColumns({0: np.array([1.0, np.nan])}, {})}, 2)
    only = encode(nulls, [Column("x", "DOUBLE")], task_for("mdav", 2), {}).squared()
    assert only.numeric.shape == (2, 2) and len(set(only.numeric[:, 1])) == 2


def test_levels_are_told_by_the_names_of_their_columns() -> None:
    """Numbers have none."""
    points = encoded()
    facts = {"level 0": 2.0, "level 1": 0.0, "level 2": 5.0, "tried": 3.0}
    assert points.named(facts) == {
        "level city": 2.0, "level job": 0.0, "level 2": 5.0, "tried": 3.0
    }
    assert points.facts == {}


def test_bare_points_know_no_row() -> None:
    bare = encoded().bare()
    assert bare.attributes == encoded().attributes[:0] + bare.attributes
    parts = (bare.order, bare.missing, bare.label, bare.sensitive, bare.extra)
    assert [len(part) for part in (*parts, bare.columns, bare.sensitive_columns)] == [0] * 7
    assert bare.missing.shape == (0, 0) and bare.sensitive.shape == (0, 1)


def test_names_are_found_whatever_their_case_and_others_are_refused() -> None:
    assert encoded(weights={"AGE": 3.0}).attributes[0].weight == 3.0
    rows = Rows({"cells": cells_of(ROWS)}, len(ROWS))
    upper = encode(rows, COLUMNS, task_for("nearest", 2), {"CITY": Tree()})
    assert upper.columns[1].shape == (7, 3)
    with pytest.raises(OptionError, match=r"column_weights names the column 'jb', .* mean 'job'"):
        encoded(weights={"jb": 1.0})
    with pytest.raises(DataError, match=r"'job' has the type INTEGER\[\]"):
        encode(rows, [*COLUMNS[:2], Column("job", "INTEGER[]")], task_for("nearest", 2), {})
    with pytest.raises(OptionError, match="hierarchies names the column 'town', which is not"):
        encode(rows, COLUMNS, task_for("nearest", 2), {"town": Tree()})


def test_words_are_numbered_in_their_order_and_null_last() -> None:
    words = Words.fit(pa.array(["b", None, "a", "b"]))
    assert words.known == ("a", "b", None)
    codes = words.codes(pa.array(["b", "a", None]), 3)
    assert codes.tolist() == [1, 0, 2] and codes.dtype == np.int32
    assert Words.fit(None).codes(None, 4).tolist() == [0] * 4
    assert Words.fit(pa.array([None], pa.string())).known == (None,)


def labelled(**options: Any) -> Encoded:
    """Rows with a label, a number beside them and two secrets."""
    secrets = CellColumns({}, {
        0: pa.array(["flu", None, "gout", "flu"]), 1: pa.array(["x", "y", "y", "x"]),
    })
    fields = {
        "cells": CellColumns({0: np.array([3.0, 1.0, 2.0, 0.0])}, {}), "secrets": secrets,
        "label": pa.array(["no", "yes", None, "no"]), "extra": np.array([7.0, 8.0, 9.0, 6.0]),
        "hash": np.arange(4, dtype=np.uint64),
    }
    return encode(
        Rows(fields, 4), [Column("a", "DOUBLE")], task_for("nearest", 2, **options), {},
        [Column("ill", "VARCHAR"), Column("s", "VARCHAR")],
    )


def test_what_stands_beside_the_cells_follows_their_order() -> None:
    found = labelled(class_label="label", sensitive_values=("gout", None))
    assert found.order.tolist() == [3, 1, 2, 0]
    assert found.label.tolist() == [0, 1, 2, 0]
    assert found.extra.tolist() == [6.0, 8.0, 9.0, 7.0]
    assert found.sensitive.tolist() == [[0, 0], [2, 1], [1, 1], [0, 0]]
    assert [column.name for column in found.sensitive_columns] == ["ill", "s"]
    assert found.protected.tolist() == [False, True, True]  # flu, gout, NULL
    assert found.in_order(np.array([10, 11, 12, 13])).tolist() == [13, 11, 12, 10]
    points = found.squared()
    assert points.sensitive.tolist() == found.sensitive.tolist()
    assert points.sensitive_columns == found.sensitive_columns
    assert labelled().label.tolist() == [0] * 4
    assert labelled().protected.tolist() == [False] * 3


def test_one_label_and_none_are_two() -> None:
    fields = {"cells": CellColumns({0: np.arange(3.0)}, {}), "label": pa.array(["a", None, "a"])}
    task = task_for("nearest", 2, class_label="label")
    assert encode(Rows(fields, 3), [Column("a", "DOUBLE")], task, {}).label.tolist() == [0, 1, 0]


def test_sensitive_values_that_nobody_has_are_refused_where_a_method_asks_for_them() -> None:
    fields = {
        "cells": CellColumns({0: np.array([1.0, 2.0])}, {}),
        "secrets": CellColumns({}, {0: pa.array(["flu", "gout"])}),
    }

    def read(*values: str) -> Encoded:
        task = task_for("k_member", 2, diversity_preference="sensitive", sensitive_values=values)
        return encode(Rows(fields, 2), [Column("a", "DOUBLE")], task, {}, [Column("i", "VARCHAR")])

    assert read("flu").protected.tolist() == [True, False, False]
    with pytest.raises(DataError, match=r"^None of the 2 sensitive_values is a value of the"):
        read("Flu", "mumps")


def test_missing_cells_are_noted_in_canonical_order() -> None:
    points = encoded()
    expected = [[value is None for value in ROWS[i]] for i in points.order]
    assert points.missing.tolist() == expected
    assert points.label.tolist() == [0] * 7
