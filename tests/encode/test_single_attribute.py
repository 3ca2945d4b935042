"""Cells to items, for methods of one attribute: against counts that anyone can take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.encode.arrow import CellColumns, Column, Rows, SideTable
from kanon_sql.encode.single_attribute import Items, read_items
from kanon_sql.errors import DataError, OptionError
from kanon_sql.methods import task_for
from kanon_sql.points.points import Grouping, ItemPoints
from kanon_sql.points.sensitive import SensitiveColumn

WORDS = st.lists(st.sampled_from(("", "a", "B", "b", "\u00e4", None)), min_size=1, max_size=20)
NUMBERS = st.lists(st.sampled_from((None, 10.0, 9.0, -1.5, 100.0)), min_size=1, max_size=20)
COORDINATES = st.sampled_from((-3.0, 0.0, 0.5, 80.0))
Place = tuple[float | None, float | None]


def words_of(values: Sequence[Any]) -> Rows:
    return Rows({"cells": CellColumns({}, {0: pa.array(values, pa.string())})}, len(values))


def numbers_of(values: Sequence[float | None], **fields: Any) -> Rows:
    numbers = np.array([np.nan if value is None else value for value in values])
    texts = pa.array([None if value is None else repr(value) for value in values], pa.string())
    cells = CellColumns({0: numbers}, {0: texts.dictionary_encode()})
    return Rows({"cells": cells, **fields}, len(values))


def check_items(items: Items, keys: Sequence[Any], known: Sequence[Any]) -> None:
    """Items in this order, missing ones last, each with its rows."""
    ordered = [*known, *([None] if None in keys else [])]
    assert items.points.item.tolist() == [ordered.index(key) for key in keys]
    assert items.points.size.tolist() == [Counter(keys)[key] for key in ordered]
    assert items.points.place.shape == (len(ordered), 0)
    assert items.placed.tolist() == [True] * len(keys)
    assert items.facts == {}


@given(values=WORDS)
def test_labels_stand_in_the_order_of_their_bytes(values: list[str | None]) -> None:
    items = read_items(words_of(values), [Column("a", "VARCHAR")], task_for("fold", 2), {})
    known = sorted({value for value in values if value is not None}, key=str.encode)
    check_items(items, values, known)


@given(values=NUMBERS)
def test_ordered_values_stand_in_the_order_of_their_ranks(values: list[float | None]) -> None:
    """Not of their texts; a missing value has a rank, too, and counts for nothing."""
    ranks = np.array([7.0 if value is None else value for value in values])
    items = read_items(
        numbers_of(values, extra=ranks), [Column("a", "DOUBLE")], task_for("ordered", 2), {}
    )
    check_items(items, values, sorted({value for value in values if value is not None}))


def test_numbers_as_labels_stand_in_the_order_of_their_texts() -> None:
    values = [9.0, 10.0, None, 9.0]
    items = read_items(numbers_of(values), [Column("a", "DOUBLE")], task_for("fold", 2), {})
    check_items(items, values, [10.0, 9.0])


def test_what_an_item_can_not_be_is_refused() -> None:
    fold = task_for("fold", 2)
    with pytest.raises(DataError, match="'a' has 1 infinite values"):
        read_items(numbers_of([1.0, np.inf]), [Column("a", "DOUBLE")], fold, {})
    with pytest.raises(DataError, match="'a' has 2 rows with NULL or NaN"):
        read_items(
            words_of(["x", None, None]), [Column("a", "VARCHAR")],
            task_for("fold", 2, nulls="error"), {},
        )
    with pytest.raises(DataError, match=r"'a' has the type INTEGER\[\]"):
        read_items(words_of(["x"]), [Column("a", "INTEGER[]")], fold, {})
    with pytest.raises(OptionError, match="one quasi-identifier, and there are 2: a, b"):
        read_items(words_of(["x"]), [Column("a", "VARCHAR"), Column("b", "VARCHAR")], fold, {})


def adjacency(*pairs: tuple[str, str]) -> Mapping[str, SideTable]:
    columns = tuple(pa.array(column, pa.string()) for column in zip(*pairs, strict=True))
    return {"adjacency": SideTable(("a", "b"), columns)}


@pytest.mark.parametrize("null", [True, False])
def test_nodes_are_the_codes_of_the_graph_and_of_the_data(null: bool) -> None:
    """NULL comes after all of them, has no neighbours, and is as unknown as a strange code."""
    codes = ["c", "x", "c", "y", "x", *([None] if null else [])]
    items = read_items(
        words_of(codes), [Column("zip", "VARCHAR")],
        task_for("zip_regions", 2), adjacency(("c", "b"), ("b", "a")),
    )
    # a, b, c, x, y, NULL
    assert items.points.size.tolist() == [0, 0, 2, 2, 1, *([1] if null else [])]
    assert items.points.item.tolist() == [2, 3, 2, 4, 3, *([5] if null else [])]
    assert items.points.links.tolist() == [[0, 1], [1, 2]]
    assert items.points.place.shape == (6 if null else 5, 0)
    assert items.facts == {"codes_unknown": 3.0 if null else 2.0}
    assert items.placed.tolist() == [True] * len(codes)


def test_nodes_lie_where_places_say() -> None:
    columns = (pa.array(["a", "b"]), pa.array(["1", "3"]), pa.array(["2", "4"]))
    items = read_items(
        words_of(["b", None, "a"]), [Column("zip", "VARCHAR")], task_for("zip_regions", 2),
        {"places": SideTable(("code", "x", "y"), columns)},
    )
    assert items.points.place[:2].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert items.points.place.shape == (3, 2) and np.isnan(items.points.place[2]).all()
    assert items.points.links.tolist() == [[0, 1]]


def placed(
    places: Sequence[Place], names: tuple[str, str] = ("x", "y"), k: int = 1,
    types: tuple[str, str] = ("DOUBLE", "DOUBLE"), **options: Any,
) -> Items:
    numbers = np.array([[np.nan if v is None else v for v in place] for place in places])
    rows = Rows({"cells": CellColumns({0: numbers[:, 0], 1: numbers[:, 1]}, {})}, len(places))
    columns = [Column(*column) for column in zip(names, types, strict=True)]
    return read_items(rows, columns, task_for("gps_rectangles", k, **options), {})


@given(places=st.lists(
    st.tuples(st.none() | COORDINATES, st.none() | COORDINATES), min_size=1, max_size=20
))
def test_places_are_distinct_pairs_of_numbers(places: list[Place]) -> None:
    items = placed(places)
    whole = [place for place in places if None not in place]
    distinct = sorted(set(whole))
    assert items.placed.tolist() == [None not in place for place in places]
    assert [tuple(place) for place in items.points.place.tolist()] == distinct
    assert items.points.item.tolist() == [distinct.index(place) for place in whole]
    assert items.points.size.tolist() == [whole.count(place) for place in distinct]
    assert items.facts == {"rows_without_place": float(len(places) - len(whole))}
    assert items.points.aspect == 1.0
    assert items.points.extent.shape == (0, 2)


@pytest.mark.parametrize(("names", "aspect"), [
    (("lat", "lon"), 2.0), (("lon", "lat"), 0.5), (("lon", "y"), 1.0)
])
def test_a_degree_of_longitude_is_shorter_than_one_of_latitude(
    names: tuple[str, str], aspect: float
) -> None:
    """By the cosine of the middle latitude, which here is 60 degrees."""
    spot = {"lat": (50.0, 70.0, 51.0), "lon": (3.0, -1.0, 150.0), "y": (3.0, -1.0, 150.0)}
    items = placed([*zip(spot[names[0]], spot[names[1]], strict=True), (None, None)], names)
    assert items.points.aspect == pytest.approx(aspect)


def test_at_a_pole_a_degree_of_longitude_is_not_nothing() -> None:
    assert placed([(90.0, 1.0)], ("lat", "lon")).points.aspect == pytest.approx(1e6)


def test_degrees_of_nobody_are_not_looked_at() -> None:
    items = placed([(None, 1.0), (91.0, None)], ("lat", "lon"), 2)
    assert items.points.aspect == 1.0 and not items.placed.any()
    with pytest.raises(DataError, match="The longitude 'lon' has 1 rows beyond 180 degrees"):
        placed([(181.0, 1.0), (91.0, 1.0)], ("lon", "lat"))


def test_an_extent_is_told_by_column() -> None:
    items = placed([(1.0, 2.0)], extent={"Y": (0.0, 3.0), "X": (-1.0, 5.0)})
    assert items.points.extent.tolist() == [[-1.0, 5.0], [0.0, 3.0]]
    whole = placed([(1.0, 2.0)], ("lon", "lat"), extent={"lon": (-180, 180), "lat": (-90, 90)})
    assert whole.points.extent.tolist() == [[-180.0, 180.0], [-90.0, 90.0]]
    far = placed([(1.0, 2.0)], extent={"x": (-400, 400), "y": (-400, 400)})
    assert far.points.extent.tolist() == [[-400.0, 400.0]] * 2


@pytest.mark.parametrize("extent", [
    {"lon": (-180, 180), "lat": (-91, 90)}, {"lon": (-180, 181), "lat": (-90, 90)},
])
def test_an_extent_beyond_the_earth_is_refused(extent: Any) -> None:
    with pytest.raises(OptionError, match="beyond 90 degrees of latitude or 180 of longitude"):
        placed([(1.0, 2.0)], ("lon", "lat"), extent=extent)


def test_an_extent_of_another_column_is_refused() -> None:
    with pytest.raises(OptionError, match="the column 'z', which is not a quasi-identifier"):
        placed([(1.0, 2.0)], extent={"x": (0, 3), "z": (0, 5)})


def test_places_that_can_not_be_are_refused() -> None:
    for types in (("DOUBLE", "VARCHAR"), ("DATE", "DOUBLE")):
        with pytest.raises(DataError, match="needs two columns of numbers, and x and y are not"):
            placed([(1.0, 2.0)], types=types)
    with pytest.raises(DataError, match="'y' has 1 infinite values"):
        placed([(1.0, 2.0), (1.0, np.inf)])
    with pytest.raises(DataError, match="'x' has 1 rows with NULL"):
        placed([(1.0, 2.0), (None, 3.0)], nulls="error")


@pytest.mark.parametrize(("own", "away"), [(2, 3), (3, 2), (1, 3), (3, 1), (0, 2), (2, 0)])
def test_rows_without_a_place_are_a_class_and_need_k_as_others_do(own: int, away: int) -> None:
    said = f"There are {own} rows with a place and {away} without, .* needs k = 3 rows"
    with pytest.raises(DataError, match=said):
        placed([(1.0, 1.0)] * own + [(None, 1.0)] * away, k=3)


@pytest.mark.parametrize(("own", "away"), [(3, 3), (0, 3), (3, 0), (4, 5)])
def test_enough_rows_with_and_without_a_place_pass(own: int, away: int) -> None:
    items = placed([(1.0, 1.0)] * own + [(None, 1.0)] * away, k=3)
    assert int(items.placed.sum()) == own


def test_secrets_are_enforced_on_classes_of_places_alone() -> None:
    columns = (SensitiveColumn("ill", ("flu", "gout")),)

    def read(xs: Sequence[float], words: Sequence[str]) -> Items:
        secrets = CellColumns({}, {0: pa.array(words)})
        numbers = {0: np.array(xs), 1: np.zeros(len(xs))}
        rows = Rows({"cells": CellColumns(numbers, {}), "secrets": secrets}, len(xs))
        return read_items(
            rows, [Column("x", "DOUBLE"), Column("y", "DOUBLE")], task_for("gps_rectangles", 1), {},
            columns,
        )

    items = read([1.0, 0.0, 1.0], ["gout", "flu", "flu"])
    assert items.points.sensitive.tolist() == [[1], [0], [0]]
    assert items.points.sensitive_columns == columns
    with pytest.raises(DataError, match=r"^2 rows have no place .* no model of privacy is"):
        read([np.nan, 1.0, np.nan], ["gout", "flu", "flu"])


def items_of(placed: Sequence[bool], facts: dict[str, float] | None = None) -> Items:
    count = sum(placed)
    return Items(ItemPoints.of([count], np.zeros((1, 2)), (), [0] * count), np.array(placed),
                 facts or {})


def test_rows_without_a_place_are_the_last_class() -> None:
    items = items_of([False, True, True, False, True])
    cells = np.arange(8.0).reshape(2, 2, 2)
    facts: dict[str, float] = {"tried": 4.0}
    found = items.whole(Grouping(np.array([1, 0, 1]), facts, None, cells))
    assert found.labels.tolist() == [2, 1, 0, 2, 1]
    assert found.facts == {"tried": 4.0, "lower_bound": 2.0, "guaranteed_ratio": 1.0}
    assert facts == {"tried": 4.0}
    assert found.cells is not None and found.cells.shape == (3, 2, 2)
    assert found.cells[:2].tolist() == cells.tolist() and np.isnan(found.cells[2]).all()
    nothing = items_of([False] * 3).whole(Grouping(np.zeros(0, np.int64), {}))
    assert nothing.labels.tolist() == [0, 0, 0] and nothing.cells is None


@pytest.mark.parametrize(("away", "bound", "ratio"), [
    (2, 10.0, 1.5), (12, 12.0, 15 / 12), (20, 20.0, 1.0),
])
def test_the_class_without_a_place_may_be_the_largest(
    away: int, bound: float, ratio: float
) -> None:
    """Nothing is below 10 rows, and the largest has 15 at most: or all that have no place."""
    items = items_of([True, *[False] * away])
    found = items.whole(Grouping(np.zeros(1, np.int64), {
        "lower_bound": 10.0, "guaranteed_ratio": 1.5,
    }))
    assert found.facts == {"lower_bound": bound, "guaranteed_ratio": pytest.approx(ratio)}


def test_where_all_rows_have_a_place_nothing_is_added() -> None:
    grouping = Grouping(np.array([0, 0]), {"tried": 1.0})
    assert items_of([True, True]).whole(grouping) is grouping
    assert items_of([True], {"codes_unknown": 2.0}).named({"tried": 1.0}) == {
        "tried": 1.0, "codes_unknown": 2.0,
    }
