"""Full-domain generalization against every node of the lattice, and on Adult."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kanon_sql.data import adult
from kanon_sql.errors import DataError
from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.methods import task_for
from kanon_sql.methods.recoding import class_counts
from kanon_sql.methods.recoding import full_domain as module
from kanon_sql.methods.recoding.full_domain import full_domain
from kanon_sql.points.points import Grouping, LossPoints
from tests.methods.recoding import reference_full_domain as reference
from tests.methods.recoding.reference_full_domain import Attribute, Node
from tests.support.thoroughness import often

Draw = Callable[[st.SearchStrategy[Any]], Any]
HIERARCHIES = Path(__file__).parents[2] / "data" / "hierarchies"
NAMES = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass",
    "occupation",
)


@dataclass(frozen=True)
class Task:
    """Records by their attributes, and what is asked."""

    attributes: list[Attribute]
    n: int
    k: int
    suppress: float

    @property
    def points(self) -> LossPoints:
        columns = [level for each in self.attributes for level in each.levels]
        heights = [len(each.levels) for each in self.attributes]
        first = np.repeat(np.cumsum([0, *heights[:-1]]), heights)
        scale = [charge for each in self.attributes for charge in each.charges]
        return LossPoints.of(np.zeros((self.n, 0)), np.array(columns).T, scale, first=first)

    def solved(self) -> Grouping:
        return task_for("full_domain", self.k, suppress=self.suppress).group(self.points)

    def expected(self) -> tuple[Node, list[int]]:
        return reference.full_domain(self.attributes, self.n, self.k, self.suppress)


def levels_of(result: Grouping) -> Node:
    chosen = [fact for name, fact in result.facts.items() if name.startswith("level ")]
    assert [f"level {a}" for a in range(len(chosen))] == list(result.facts)[: len(chosen)]
    return tuple(int(level) for level in chosen)


def random_attribute(rng: np.random.Generator, n: int, height: int, even: bool) -> Attribute:
    """A random tree, by random parents of random leaves; some levels merge nothing."""
    leaves = int(rng.integers(1, 7))
    weights = np.ones(leaves) if even else 0.3 ** np.arange(leaves)
    codes = rng.choice(leaves, n, p=weights / weights.sum())
    levels = [codes]
    for _ in range(height - 1):
        width = int(levels[-1].max()) + 1
        parents = rng.integers(0, int(rng.integers(1, width + 1)), width)
        levels.append(parents[levels[-1]])
    weight = rng.choice([0.0, 0.5, 1.0, 1.0, 1.0])
    charges = rng.choice([0.1, 0.3, 0.7, 0.0], height) if rng.random() < 0.3 else None
    even_charges = np.full(height, weight / height)
    return Attribute(
        [level.tolist() for level in levels],
        (even_charges if charges is None else charges).tolist(),
    )


@st.composite
def tasks(draw: Draw) -> Task:
    k = draw(st.integers(1, 4))
    n = draw(st.integers(k, 40))
    heights = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    suppress = draw(st.sampled_from([0.0, 0.0, 0.05, 0.1, 0.25, 0.5]))
    even = draw(st.booleans())
    return Task([random_attribute(rng, n, height, even) for height in heights], n, k, suppress)


THIRDS = Task(
    [Attribute([[1, 4, 2, 0, 2, 2, 0, 3, 0], [0] * 9, [0] * 9], [1 / 3] * 3)], 9, 2, 0.5
)
"""Three charges whose sum is below 1, and is 1 where it is rounded."""


@often(250)
@example(THIRDS)
@given(tasks())
def test_the_best_of_all_nodes(task: Task) -> None:
    node, labels = task.expected()
    result = task.solved()
    assert levels_of(result) == node
    assert result.labels.tolist() == labels
    nodes = np.prod([len(each.levels) + 1 for each in task.attributes])
    assert result.facts["lattice_nodes"] == nodes
    assert result.facts["lattice_checked"] <= nodes


@often(120)
@given(tasks())
def test_small_keys_and_small_tables_change_nothing(task: Task) -> None:
    """Keys that have to be ranked on the way, and tables of boxes from the first check on."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "WIDEST", 12)
        patched.setattr(module, "SMALL_ROWS", 0)
        patched.setattr(module, "TRIES", 0)
        result = task.solved()
    node, labels = task.expected()
    assert (levels_of(result), result.labels.tolist()) == (node, labels)


@often(40)
@given(tasks(), st.randoms(use_true_random=False))
def test_the_order_of_records_decides_nothing_but_numbers(task: Task, random: Any) -> None:
    order = list(range(task.n))
    random.shuffle(order)
    points = task.points
    moved = task_for("full_domain", task.k, suppress=task.suppress).group(points.part(order))
    result = task.solved()
    assert moved.facts == result.facts
    assert ((result.labels[order] < 0) == (moved.labels < 0)).all()
    pairs = {*zip(result.labels[order].tolist(), moved.labels.tolist(), strict=True)}
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def table_of(*levels: list[list[int]], k: int = 2, suppress: float = 0.0) -> Task:
    """Attributes by their levels; every attribute weighs 1."""
    attributes = [Attribute(each, [1 / len(each)] * len(each)) for each in levels]
    return Task(attributes, len(levels[0][0]), k, suppress)


def test_root_only() -> None:
    task = table_of([[0, 1, 2, 3], [0, 0, 0, 1]], [[0, 1, 2, 3]])
    result = task.solved()
    assert levels_of(result) == (2, 1)
    assert result.labels.tolist() == [0, 0, 0, 0]


def test_a_suppressed_record_spares_the_others_a_level() -> None:
    task = table_of([[0, 0, 0, 1, 1, 1, 2]], k=3, suppress=0.2)
    result = task.solved()
    assert levels_of(result) == (0,)
    assert result.labels.tolist() == [0, 0, 0, 1, 1, 1, -1]
    assert levels_of(table_of([[0, 0, 0, 1, 1, 1, 2]], k=3, suppress=0.1).solved()) == (1,)


def test_one_more_level_may_cost_less_than_what_it_would_suppress() -> None:
    """Level 0 would be allowed, with half of the records left out; level 1 loses less."""
    levels = [[0, 0, 0, 0, 1, 2, 3, 4], [0, 0, 0, 0, 1, 1, 1, 1], [0] * 8, [0] * 8]
    assert levels_of(table_of(levels, k=4, suppress=0.5).solved()) == (1,)


def test_ties_go_to_the_lowest_levels_of_the_first_attribute() -> None:
    codes = [[0, 0, 1, 1], [0, 1, 0, 1]]
    assert levels_of(table_of([codes[0]], [codes[1]]).solved()) == (0, 1)
    assert levels_of(table_of([codes[1]], [codes[0]]).solved()) == (0, 1)


def test_sums_that_differ_by_rounding_are_ties() -> None:
    """0.1 + 0.2 is above 0.3 in floating point; the second attribute alone is no better."""
    a, b = [0, 0, 1, 1], [0, 1, 0, 1]
    task = Task([Attribute([a, a, a], [0.1, 0.2, 0.0]), Attribute([b], [0.3])], 4, 2, 0.0)
    assert 0.1 + 0.2 > 0.3
    assert levels_of(task.solved()) == task.expected()[0] == (0, 1)


def test_a_column_that_charges_every_distinct_value_costs_them_all() -> None:
    """Two nominal attributes, each 1 in all: five values of 1/4, and two of 1/1."""
    codes = np.array([[0, 0], [1, 0], [2, 0], [3, 0], [4, 1], [4, 1], [0, 1]])
    points = LossPoints.of(np.zeros((7, 0)), codes, [0.25, 0.5], limit=[4, 1])
    result = task_for("full_domain", 3, suppress=0.0).group(points)
    assert levels_of(result) == (1, 0)
    points = LossPoints.of(np.zeros((4, 0)), [[0, 0], [0, 1], [1, 0], [1, 1]], [0.25, 0.5],
                           limit=[4, 1])
    assert levels_of(task_for("full_domain", 2).group(points)) == (0, 1)


def test_more_rows_than_one_hash_table_takes() -> None:
    """Counting in parts agrees with sorting."""
    rng = np.random.default_rng(3)
    for width in (7, 30_000, 2**40):
        keys = rng.integers(0, width, 60_000) // 3 * 3
        counts = rng.integers(1, 4, len(keys)).astype(np.int32)
        owner, first = np.full((2, len(keys)), -1, np.int32)
        sizes = np.zeros(len(keys), np.int64)
        classes, small = class_counts.count_classes(
            keys, counts, width, 5, len(keys), owner, first, sizes
        )
        distinct, of_key = np.unique(keys, return_inverse=True)
        weights = np.bincount(of_key, counts).astype(int)
        assert classes == len(distinct)
        assert small == weights[weights < 5].sum()
        assert (keys[first[:classes]][owner] == keys).all()
        assert (sizes[:classes][owner] == weights[of_key]).all()


def test_attributes_without_a_hierarchy_are_refused() -> None:
    with pytest.raises(DataError, match="without a hierarchy"):
        task_for("full_domain", 2).group(LossPoints.of(np.zeros((4, 1)), np.zeros((4, 1))))


def test_a_level_that_does_not_refine_the_next_is_refused() -> None:
    for levels in ([[0, 0, 1, 1], [0, 1, 1, 1]], [[0, 1, 2, 3], [0, 0, 1, 1], [0, 1, 0, 1]]):
        with pytest.raises(DataError, match="does not refine"):
            table_of(levels).solved()


def test_a_huge_lattice_is_refused() -> None:
    levels = [[[0, 0]] * 9] * 8
    with pytest.raises(DataError, match="100,000,000 combinations"):
        table_of(*levels).solved()


def test_a_large_lattice() -> None:
    """Ten attributes of four levels: a million nodes, some of them checked."""
    rng = np.random.default_rng(0)
    leaves = (rng.random((400, 10)) ** 3 * 8).astype(int)
    levels = [[(leaf >> up).tolist() for up in range(3)] for leaf in leaves.T]
    result = table_of(*levels, k=3, suppress=0.05).solved()
    assert result.facts["lattice_nodes"] == 4**10
    sizes = np.bincount(result.labels[result.labels >= 0])
    assert sizes.min() >= 3
    assert np.count_nonzero(result.labels < 0) <= 20


def test_stop() -> None:
    watch = Watch()
    watch.begin("grouping", 4)
    watch.stop()
    with pytest.raises(StoppedError):
        points = table_of([[0, 0, 1, 1]], [[0, 1, 0, 1]]).points
        task_for("full_domain", 2).group(points, watch)


def adult_levels() -> tuple[pl.DataFrame, list[list[str]]]:
    """Adult with a column for each level of each attribute, roots included."""
    table, names = pl.read_parquet(adult()).select(NAMES), []
    for name in NAMES:
        tree = pl.read_parquet(HIERARCHIES / f"adult_hierarchy_{name}.parquet")
        names.append([f"{name} {level}" for level in tree.columns])
        tree = tree.rename({level: f"{name} {level}" for level in tree.columns})
        leaf = pl.col(name).cast(pl.String)
        table = table.join(
            tree, left_on=leaf, right_on=f"{name} level0", how="left", coalesce=False,
            maintain_order="left",
        )
    return table, names


@pytest.mark.parametrize(
    ("suppress", "levels", "left_out", "loss"),
    [
        (0.0, (0, 4, 0, 1, 3, 2, 2, 2), 0, 0.687500),
        (0.01, (0, 4, 0, 1, 3, 2, 0, 1), 207, 0.503431),
        (0.05, (0, 4, 0, 0, 1, 1, 0, 2), 1231, 0.380525),
    ],
)
def test_adult(suppress: float, levels: Node, left_out: int, loss: float) -> None:
    table, names = adult_levels()
    below = [name for each in names for name in each[:-1]]
    codes = table.select(pl.col(below).rank("dense") - 1).to_numpy()
    heights = [len(each) - 1 for each in names]
    first = np.repeat(np.cumsum([0, *heights[:-1]]), heights)
    scale = np.repeat([1 / height for height in heights], heights)
    points = LossPoints.of(np.zeros((len(table), 0)), codes, scale, first=first)
    watch = Watch()
    watch.begin("grouping", len(table))
    result = full_domain(points, task_for("full_domain", 5, suppress=suppress), watch)
    assert levels_of(result) == levels
    assert watch.done == len(table)

    released = [each[level] for each, level in zip(names, levels, strict=True)]
    sizes = table.select(pl.len().over(released)).to_series().to_numpy()
    assert ((result.labels < 0) == (sizes < 5)).all()
    assert np.count_nonzero(sizes < 5) == left_out <= suppress * len(table)
    numbers, records = np.unique(result.labels[result.labels >= 0], return_index=True)
    assert numbers.tolist() == list(range(len(numbers)))
    assert (np.diff(records) > 0).all()
    by_label = table.with_columns(label=result.labels).filter(pl.col("label") >= 0)
    classes = by_label.group_by(released).agg(pl.col("label").n_unique(), size=pl.len())
    assert classes["label"].to_list() == [1] * len(classes)
    assert by_label["label"].n_unique() == len(classes)
    assert classes["size"].min() >= 5  # type: ignore[operator]

    shares = [level / height for level, height in zip(levels, heights, strict=True)]
    lost = (len(by_label) * sum(shares) + left_out * len(NAMES)) / len(NAMES) / len(table)
    assert lost == pytest.approx(loss, abs=1e-6)
