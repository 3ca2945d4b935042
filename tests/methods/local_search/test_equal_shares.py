"""Classes that have the shares of all records, where no search would end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kanon_sql.group.run import group_points
from kanon_sql.methods import task_for
from kanon_sql.methods.local_search.equal_shares import is_hopeless, spread_ties
from kanon_sql.points.points import LossPoints, Points
from kanon_sql.points.sensitive import SensitiveColumn
from kanon_sql.privacy import Closeness, DistinctDiversity

ILL = SensitiveColumn("ill", ("a", "b"), False, np.zeros(0))


def records(kind: type[Points], n: int, ill: int) -> Points:
    """n records, of which so many have the value a."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 300, (n, 2))  # too many to be tallied
    sensitive = (np.arange(n) >= ill).astype(np.int32)[:, None]
    points = kind.of(rng.standard_normal((n, 1)), codes, [1.0, 1.0], sensitive=sensitive)
    return replace(points, sensitive_columns=(ILL,))


@pytest.mark.parametrize(("k", "classes"), [(1, 6), (20, 6), (21, 3), (41, 2), (61, 1)])
def test_each_class_has_the_shares_of_all_records(k: int, classes: int) -> None:
    values = np.repeat([0, 1, 2], [60, 42, 18])[:, None].astype(np.int32)
    given = np.random.default_rng(1).integers(0, 2, 120)
    labels = spread_ties(given, values, k)
    assert np.array_equal(np.unique(labels), np.arange(classes))
    for value, count in ((0, 60), (1, 42), (2, 18)):
        own = np.bincount(labels[values[:, 0] == value]) * 6 // count
        assert (np.bincount(labels) >= k).all() and own.sum() == 6
        assert np.array_equal(np.bincount(labels), own * 20)


def test_two_classes_that_have_the_shares_stay_as_they_are() -> None:
    given = np.random.default_rng(2).permutation(np.arange(40) % 2)
    labels = spread_ties(given, np.zeros((40, 1), np.int32), 20)
    assert np.array_equal(labels == labels[0], given == given[0])


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Points, LossPoints])
def test_two_huge_classes_are_made_without_a_search(kind: type[Points]) -> None:
    points = records(kind, 40_004, 30_002)
    assert is_hopeless(points, 20_002, 5_000, 2, 40_006)
    task = task_for("mdav_star" if kind is Points else "k_member", 5)
    task = replace(task, beside_k=(Closeness(column="ill", t=0.0),))
    found = group_points(points, task)
    assert found.facts["refine_steps"] == 0.0
    assert np.bincount(found.labels).tolist() == [20_002, 20_002]
    ill = np.bincount(found.labels[points.sensitive[:, 0] == 0])
    assert ill.tolist() == [15_001, 15_001]
    both = (*task.beside_k, DistinctDiversity(column="ill", l=2))
    assert np.array_equal(
        group_points(points, replace(task, beside_k=both)).labels, found.labels
    )


def test_of_few_records_the_search_goes_on() -> None:
    assert not is_hopeless(records(Points, 4_000, 2_000), 1_000, 40_000, 4, 4_002)
