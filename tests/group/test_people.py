"""Classes that cover enough people of a population, against mergers that are tried one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kanon_sql.errors import DataError
from kanon_sql.group.people import keep_people
from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.methods import task_for
from kanon_sql.points.losses import sse
from kanon_sql.points.people import Population
from kanon_sql.points.points import Grouping, Points
from kanon_sql.privacy.k_map import KMap


def case(seed: int, n: int = 40) -> tuple[Points, Population, Any]:
    """Records on a line, a population around them, and classes of neighbours; some left out."""
    rng = np.random.default_rng(seed)
    own = np.sort(rng.integers(0, 60, n))
    labels = np.cumsum(rng.random(n) < 0.3).astype(np.int64)
    labels[rng.random(n) < 0.1] = -1
    used = np.unique(labels[labels >= 0])
    labels = np.where(labels < 0, -1, np.searchsorted(used, labels))
    people = Population(
        own[:, None], np.arange(60)[:, None], rng.integers(0, 4, 60), (True,)
    )
    return Points.of(own[:, None] + rng.random((n, 1)) / 100), people, labels


def by_hand(points: Points, people: Population, labels: Any, least: int) -> set[frozenset[int]]:
    """The smallest class that covers too few joins the one with which it loses least."""
    classes = [set(np.flatnonzero(labels == group).tolist()) for group in range(labels.max() + 1)]

    def lost(rows: set[int]) -> float:
        return sse(points.part(np.array(sorted(rows))), np.zeros(len(rows), np.int64))

    while True:
        lacking = [own for own in classes if people.covered(np.array(sorted(own))) < least]
        if not lacking:
            return set(map(frozenset, classes))
        group = min(lacking, key=len)
        others = [own for own in classes if own is not group]
        into = min(others, key=lambda own: lost(group | own) - lost(group) - lost(own))
        classes.remove(group)
        into |= group


def asked(*least: int) -> Any:
    return replace(task_for("mdav", 2), beside_k=tuple(KMap(k_map=each) for each in least))


@pytest.mark.parametrize("seed", range(12))
def test_classes_are_merged_until_each_covers_enough(seed: int) -> None:
    points, people, labels = case(seed)
    before, facts = labels.copy(), {"lower_bound": 2.0, "guaranteed_ratio": 3.0, "tried": 1.0}
    centers = np.array([np.flatnonzero(labels == group)[0] for group in range(labels.max() + 1)])
    grouping = Grouping(labels, facts, centers)
    for least in (1, 8, 20):
        found = keep_people(points, grouping, asked(least, least - 1), people, Watch())
        kept = found.labels
        assert (kept < 0).tolist() == (before < 0).tolist()
        groups = [frozenset(np.flatnonzero(kept == group)) for group in range(kept.max() + 1)]
        assert set(groups) == by_hand(points, people, before, least)
        assert found.centers is not None and len(found.centers) == len(groups)
        assert all(center in own for center, own in zip(found.centers, groups, strict=True))
        merged = len(groups) <= before.max()
        assert (found is grouping) == (not merged)
        expected = {"lower_bound": 2.0, "tried": 1.0} if merged else facts
        assert found.facts == expected
    assert labels.tolist() == before.tolist()
    plain = keep_people(points, Grouping(labels, {}), asked(20), people, Watch())
    assert plain.centers is None


def test_where_nothing_is_asked_or_nobody_is_known_nothing_happens() -> None:
    points, people, labels = case(1)
    grouping = Grouping(labels, {})
    assert keep_people(points, grouping, task_for("mdav", 2), people, Watch()) is grouping
    assert keep_people(points, grouping, asked(50), None, Watch()) is grouping


def test_too_few_people_are_refused_those_who_are_left_out_covering_nobody() -> None:
    points, _, labels = case(1)
    own = np.arange(40)[:, None]
    people = Population(own, own, np.ones(40, np.int64), (False,))
    kept = int((labels >= 0).sum())
    assert kept < 40
    grouping = Grouping(labels, {})
    found = keep_people(points, grouping, asked(kept), people, Watch())
    assert set(found.labels.tolist()) == {-1, 0}
    for least in (asked(kept + 1), asked(1, kept + 1), asked(kept + 1, 1)):
        with pytest.raises(DataError, match=f"{kept} people"):
            keep_people(points, grouping, least, people, Watch())


def test_a_stopped_watch_ends_it() -> None:
    points, people, labels = case(1)
    watch = Watch()
    keep_people(points, Grouping(labels, {}), asked(20), people, watch)
    assert watch.stage == "merging" and 0 < watch.total <= labels.max()
    watch = Watch()
    watch.stop()
    with pytest.raises(StoppedError):
        keep_people(points, Grouping(labels, {}), asked(20), people, watch)


def test_a_watch_that_is_stopped_between_two_mergers_ends_it() -> None:
    points, people, labels = case(1)

    class Stopped(Watch):
        """Is stopped by whoever looks while classes are merged."""

        def begin(self, stage: str, total: int) -> None:
            super().begin(stage, total)
            self.stop()

    with pytest.raises(StoppedError):
        keep_people(points, Grouping(labels, {}), asked(20), people, Stopped())
