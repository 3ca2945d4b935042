"""Distances along one quasi-identifier, in both geometries, against the definitions."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement

import numpy as np
import pyarrow as pa
import pytest

from kanon_sql.encode.attributes import Categorical, Numeric
from kanon_sql.points.losses import class_losses, total_il
from kanon_sql.points.points import LossPoints

# byun2006, figures 5 to 7; the country taxonomy is worked out from the heights of example 2
AGES = np.array([41.0, 57.0, 40.0, 38.0, 24.0, 45.0])
COUNTRIES = ["USA", "India", "Canada", "Iran", "Brazil", "Greece"]
OCCUPATIONS = [
    "Armed-Forces", "Tech-support", "Teacher", "Tech-support", "Doctor", "Salesman"
]
PATHS = {
    "USA": ("North America", "America", "*"),
    "Canada": ("North America", "America", "*"),
    "Brazil": ("South America", "America", "*"),
    "India": ("South Asia", "Asia", "*"),
    "Iran": ("West Asia", "Asia", "*"),
    "Greece": ("South Europe", "Europe", "*"),
}


def taxonomy() -> list[pa.Array]:
    """The country taxonomy, level by level, leaves in depth-first order."""
    rows = sorted(((name, *path) for name, path in PATHS.items()), key=lambda row: row[::-1])
    return [pa.array(level) for level in zip(*rows, strict=True)]


def height(a: str, b: str) -> int:
    """The height of the lowest common ancestor, read off the paths."""
    return next(h for h, (x, y) in enumerate(
        zip((a, *PATHS[a]), (b, *PATHS[b]), strict=True)) if x == y)


def figure_5() -> LossPoints:
    country = Categorical.fit("country", 1.0, pa.array(COUNTRIES), taxonomy())
    work = Categorical.fit("occupation", 1.0, pa.array(OCCUPATIONS))
    age = Numeric.fit("age", 1.0, AGES)
    return LossPoints.of(
        age.place(AGES)[:, None],
        np.column_stack([country.codes(pa.array(COUNTRIES)), work.codes(pa.array(OCCUPATIONS))]),
        [1 / 3, 1 / 3, 1 / 3, 1.0], [1.0], [1, 1, 1, 1], [0, 0, 0, 3],
    )


def test_the_distances_of_figure_5() -> None:
    def distance(i: int, j: int) -> float:
        return float(class_losses(figure_5().part(np.array([i, j])), np.zeros(2, np.int64))[0])

    assert distance(0, 1) == pytest.approx(16 / 33 + 3 / 3 + 1)
    assert round(distance(0, 1), 4) == 2.4848
    assert distance(0, 2) == pytest.approx(1 / 33 + 1 / 3 + 1)
    assert round(distance(0, 2), 4) == 1.3636
    assert distance(1, 3) == pytest.approx(19 / 33 + 2 / 3 + 0)


def test_information_loss_of_clusters_of_figure_5() -> None:
    # {1, 3, 5}: ages 24..41, USA, Canada and Brazil, three occupations; {2, 4, 6}: ages 38..57
    labels = np.array([0, 1, 0, 1, 0, 1])
    first, second = 17 / 33 + 2 / 3 + 1, 19 / 33 + 3 / 3 + 1
    assert class_losses(figure_5(), labels) == pytest.approx([first, second])
    assert total_il(figure_5(), labels) == pytest.approx(3 * first + 3 * second)


@pytest.mark.parametrize("distance", ["sse", "loss"])
def test_two_categories_are_as_far_apart_as_their_common_ancestor_is_high(distance: str) -> None:
    country = Categorical.fit("country", 2.0, pa.array(COUNTRIES), taxonomy(), distance)
    unit = None
    for a, b in combinations(COUNTRIES, 2):
        differs = country.codes(pa.array([a])) != country.codes(pa.array([b]))
        apart = float(np.sqrt(np.sum(np.where(differs, 2.0 * country.squared, 0.0))))
        share = height(a, b) / 3
        unit = unit or apart / share
        assert apart == pytest.approx(unit * share)
    if distance == "loss":
        assert unit == pytest.approx(np.sqrt(2.0))  # the weight, on squared distances


def test_in_squared_distances_a_column_has_its_weight_as_variance() -> None:
    country = Categorical.fit("country", 2.0, pa.array([*COUNTRIES, None, "USA"]), taxonomy())
    codes = country.codes(pa.array([*COUNTRIES, None, "USA"]))
    pairs = combinations_with_replacement(range(8), 2)
    total = sum(
        (2 if i != j else 1) * float(np.sum((codes[i] != codes[j]) * 2.0 * country.squared))
        for i, j in pairs
    )
    assert total / 2 / 64 == pytest.approx(2.0)


def test_null_is_a_leaf_directly_below_the_root() -> None:
    country = Categorical.fit("country", 1.0, pa.array([*COUNTRIES, None]), taxonomy())
    null = country.codes(pa.array([None], pa.string()))
    assert all((country.codes(pa.array([name])) != null).all() for name in COUNTRIES)
    assert (country.codes(pa.array([None, None], pa.string()))[0] == null).all()
    assert (country.codes(pa.array(["Atlantis"])) == -1).all()


def test_a_missing_number_is_as_far_as_the_whole_range() -> None:
    values = np.array([1.0, 5.0, np.nan, 3.0])
    column = Numeric.fit("a", 2.0, values)
    places = column.place(values)
    assert places[[0, 1, 3]].tolist() == [0.0, 2.0, 1.0]
    assert places[2] - 2.0 >= 2.0
    points = LossPoints.of(places[:, None], cap=[2.0])
    assert class_losses(points, np.array([0, 1, 0, 1])).tolist() == [2.0, 1.0]
    assert class_losses(points, np.array([0, 1, 2, 1])).tolist() == [0.0, 1.0, 0.0]


def test_numbers_in_squared_distances_of_loss_span_their_weight() -> None:
    values = np.array([10.0, 20.0, 50.0])
    column = Numeric.fit("a", 4.0, values, "loss")
    place = column.coordinates(values)[:, 0]
    assert (place[2] - place[0]) ** 2 == pytest.approx(4.0)


def test_levels_by_the_leaves_below_their_nodes() -> None:
    values = pa.array(["USA", "USA", "India", None])
    country = Categorical.fit("country", 1.0, values, taxonomy())
    # leaves at each level: USA 1, 2, 3, 6; India 1, 1, 2, 6; NULL 1, 1, 1, 6
    means = [1.0, (2 + 2 + 1 + 1) / 4, (3 + 3 + 2 + 1) / 4, 6.0]
    assert country.distinct == pytest.approx(np.diff(means) / 5)
    flat = Categorical.fit("job", 1.0, values)
    assert flat.distinct.tolist() == [1.0]


def test_a_missing_number_costs_the_whole_weight_whatever_that_is() -> None:
    values = np.array([1.0, 5.0, np.nan])
    for weight in (0.25, 1.0, 40.0):
        column = Numeric.fit("a", weight, values)
        points = LossPoints.of(column.place(values)[:, None], cap=[weight])
        assert class_losses(points, np.array([0, 0, 0])).tolist() == [weight]
        assert class_losses(points, np.array([0, 1, 1])).tolist() == [0.0, weight]


def test_equal_numbers_lie_at_one_place() -> None:
    column = Numeric.fit("a", 2.0, np.array([7.0, 7.0]))
    assert column.place(np.array([7.0, 7.0])).tolist() == [0.0, 0.0]
    assert not column.missing and Numeric.fit("a", 2.0, np.array([7.0, np.nan])).missing


def test_two_categories_have_the_variance_of_their_weight() -> None:
    column = Categorical.fit("a", 3.0, pa.array(["x", "y", "y", "y"]))
    assert column.squared * 2 * (1 / 4) * (3 / 4) == pytest.approx(3.0)
    assert column.present == 2
    assert Categorical.fit("a", 3.0, pa.array(["x", "x"])).squared.tolist() == [0.0]
    none = Categorical.fit("a", 3.0, pa.array([None, None], pa.string()))
    assert none.squared.tolist() == [0.0]
    assert none.codes(pa.array(["x", None])).tolist() == [[-1], [0]]


def test_a_hierarchy_without_leaves_has_no_categories() -> None:
    empty = pa.array([], pa.string())
    column = Categorical.fit("a", 1.0, pa.array([None], pa.string()), [empty, empty, empty])
    found = column.codes(pa.array([None, "x"], pa.string())).tolist()
    assert found[1] == [-1, -1] != found[0]


@pytest.mark.parametrize("distance", ["sse", "loss"])
@pytest.mark.parametrize("levels", [None, taxonomy()])
def test_counts_of_values_give_the_scale_of_the_rows_they_count(
    levels: list[pa.Array] | None, distance: str
) -> None:
    values, counts = pa.array(["India", "USA", None, "Iran"]), [5, 1, 2, 4]
    rows = pa.array([v for v, n in zip(values.to_pylist(), counts, strict=True) for _ in range(n)])
    whole = Categorical.fit("country", 2.0, rows, levels, distance)
    found = Categorical.fit("country", 2.0, values, levels).counted(
        values, np.array(counts), distance
    )
    assert found.squared == pytest.approx(whole.squared)
    assert found.distinct == pytest.approx(whole.distinct)
    assert found.present == whole.present == 4


def test_what_a_level_adds_is_counted_in_small_hierarchies() -> None:
    """Two leaves below one node: it has both, and the root no more. One leaf: both levels alike."""
    values = pa.array(["a", "b", "a"])
    levels = [pa.array(["a", "b"]), pa.array(["n", "n"]), pa.array(["*", "*"])]
    assert Categorical.fit("c", 1.0, values, levels).distinct.tolist() == [1.0, 0.0]
    apart = [levels[0], pa.array(["m", "n"]), levels[2]]
    assert Categorical.fit("c", 1.0, values, apart).distinct.tolist() == [0.0, 1.0]
    one = [level[:1] for level in levels]
    assert Categorical.fit("c", 1.0, values[:1], one).distinct.tolist() == [0.5, 0.5]


def test_where_all_numbers_are_equal_a_missing_one_has_all_the_variance() -> None:
    for values in ([7.0, 7.0, np.nan], [7.0, np.nan, np.nan, np.nan]):
        column = Numeric.fit("a", 3.0, np.array(values))
        places = column.coordinates(np.array(values))
        assert float(np.var(places, axis=0).sum()) == pytest.approx(3.0)
