"""Full-domain generalization under privacy models, against every node of the lattice."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_sql.group.run import group_points
from kanon_sql.methods import task_for
from kanon_sql.points.points import LossPoints
from kanon_sql.privacy import AverageRisk
from tests.methods.recoding.reference_full_domain import (
    Attribute,
    Node,
    classes_of,
    cost_of,
    suppressed_at,
)
from tests.privacy.reference import passes
from tests.support.held import MODELS, values_of, with_sensitive
from tests.support.thoroughness import examples


def attribute(rng: np.random.Generator, n: int, height: int) -> Attribute:
    """Levels of which each joins nodes of the one before."""
    levels, nodes = [], rng.integers(0, 9, n)
    for level in range(height):
        levels.append((nodes >> level).tolist())
    return Attribute(levels, rng.random(height).tolist())


def points_of(attributes: list[Attribute], n: int) -> LossPoints:
    columns = [level for each in attributes for level in each.levels]
    heights = [len(each.levels) for each in attributes]
    first = np.repeat(np.cumsum([0, *heights[:-1]]), heights)
    scale = [charge for each in attributes for charge in each.charges]
    return LossPoints.of(np.zeros((n, 0)), np.array(columns).T, scale, first=first)


def keeps(points: LossPoints, name: str, released: list[Node]) -> bool:
    """Whether every class keeps all models, by the reference."""
    own: dict[Node, list[int]] = {}
    for i, key in enumerate(released):
        own.setdefault(key, []).append(i)
    return all(
        passes(model, values_of(points, model.column, rows), values_of(points, model.column))
        for model in MODELS[name] for rows in own.values()
    )


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    k=st.integers(1, 4), n=st.integers(6, 60), seed=st.integers(0, 10**6),
    heights=st.lists(st.integers(1, 3), min_size=1, max_size=4),
)
def test_the_cheapest_of_all_nodes_that_keep_the_models(
    name: str, k: int, n: int, seed: int, heights: list[int]
) -> None:
    rng = np.random.default_rng(seed)
    attributes = [attribute(rng, n, height) for height in heights]
    points = with_sensitive(points_of(attributes, n), seed)
    if not keeps(points, name, [()] * n):
        return  # nothing keeps them: refused before
    root = [range(len(each.levels) + 1) for each in attributes]
    found = [
        (cost_of(attributes, node), node) for node in product(*root)
        if suppressed_at(attributes, node, n, k) == 0
        and keeps(points, name, classes_of(attributes, node, n))
    ]
    node = min(found)[1]
    task = replace(task_for("full_domain", k), beside_k=MODELS[name])
    result = group_points(points, task)
    assert tuple(int(result.facts[f"level {a}"]) for a in range(len(heights))) == node
    released = classes_of(attributes, node, n)
    numbers: dict[Node, int] = {}
    assert result.labels.tolist() == [numbers.setdefault(key, len(numbers)) for key in released]
    # what is told of the release without the models
    plain = group_points(points, replace(task, beside_k=()))
    cheapest = tuple(int(plain.facts[f"level {a}"]) for a in range(len(heights)))
    assert cost_of(attributes, cheapest) <= cost_of(attributes, node)
    same = np.array_equal(plain.labels, result.labels)
    broken = sum(result.facts[f"violating {j}"] for j in range(len(MODELS[name])))
    assert (broken == 0.0) == same


@settings(max_examples=examples(80), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    k=st.integers(1, 4), n=st.integers(6, 60), seed=st.integers(0, 10**6),
    heights=st.lists(st.integers(1, 3), min_size=1, max_size=4),
    bound=st.sampled_from([0.17, 0.2, 0.4, 0.7, 1.0]), name=st.sampled_from([None, *MODELS]),
)
def test_the_cheapest_of_all_nodes_with_few_enough_classes(
    k: int, n: int, seed: int, heights: list[int], bound: float, name: str | None
) -> None:
    rng = np.random.default_rng(seed)
    attributes = [attribute(rng, n, height) for height in heights]
    points = with_sensitive(points_of(attributes, n), seed)
    if name is not None and not keeps(points, name, [()] * n):
        return
    root = [range(len(each.levels) + 1) for each in attributes]
    found = [
        (cost_of(attributes, node), node) for node in product(*root)
        if suppressed_at(attributes, node, n, k) == 0
        and len(set(classes_of(attributes, node, n))) <= n * Fraction(repr(bound))
        and (name is None or keeps(points, name, classes_of(attributes, node, n)))
    ]
    models = () if name is None else MODELS[name]
    task = replace(task_for("full_domain", k), beside_k=(*models, AverageRisk(bound)))
    facts = group_points(points, task).facts
    assert tuple(int(facts[f"level {a}"]) for a in range(len(heights))) == min(found)[1]
