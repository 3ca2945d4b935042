"""Groups of many records are made and dissolved without a second look at the same places, and
undone without taking them apart: what comes out is the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.local_search import moves, state
from kanon_sql.methods.local_search.constrained_search import ConstrainedSearch
from kanon_sql.methods.local_search.penalty import HARD
from kanon_sql.methods.local_search.refine import Ground, data_of, load_groups, refine
from kanon_sql.methods.local_search.state import NOTED
from kanon_sql.points.points import LossPoints, Points
from tests.methods.local_search.test_constrained_search import demanded, records
from tests.support.kernels import from_python

N, K = 400, NOTED + 2

clear, join, leave = (from_python(made) for made in (moves.clear, moves.join, moves.leave))


def without_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "NOTED", N + 1)


@pytest.mark.parametrize("by_loss", [False, True])
@pytest.mark.parametrize("name", ["distinct", "two"])
def test_what_was_looked_at_needs_no_second_look_where_models_are_kept(
    monkeypatch: pytest.MonkeyPatch, name: str, by_loss: bool
) -> None:
    points, labels = records(by_loss), np.arange(N) // (2 * K)
    found = []
    for noted in (True, False):
        if not noted:
            without_notes(monkeypatch)
        ground = Ground(points, K, Watch())
        held = ConstrainedSearch(ground, labels, demanded(points, name), 3, Watch())
        assert (held._work.changes.looked.shape[0] > 0) == noted
        for price in (0.0, 0.01, HARD):
            held.cycle(price, 2_000)
        made, spent = held._work.changes.looked[-1:], held._work.changes.visited[-1:]
        assert not noted or (made[0] > 0 and spent[0] > 0)
        found.append((held.labels().tolist(), held._work.groups.members.tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("by_loss", [False, True])
def test_what_was_looked_at_needs_no_second_look_in_refine(
    monkeypatch: pytest.MonkeyPatch, by_loss: bool
) -> None:
    points, labels = records(by_loss, seed=1), np.arange(N) // K
    labels[labels == labels.max()] -= 1
    noted = refine(points, labels, K, 20_000, None, Watch()).labels
    without_notes(monkeypatch)
    assert np.array_equal(noted, refine(points, labels, K, 20_000, None, Watch()).labels)


@pytest.mark.slow
@pytest.mark.parametrize("plain", [Points, LossPoints])
def test_a_cleared_group_is_as_one_that_all_have_left(plain: Any) -> None:
    draw = np.random.default_rng(0)
    points = plain.of(
        draw.random((60, 2)), draw.integers(0, 4, (60, 2)).astype(np.int32), [0.3, 0.7]
    )
    data, labels = data_of(points), np.arange(60) // 20
    cleared, emptied = (load_groups(data, labels, 4, 70)[0] for _ in range(2))
    order = draw.permutation(np.flatnonzero(labels == 1))
    clear(data, 1, cleared)
    for i in order.tolist():
        leave(data, i, emptied)
    for groups in (cleared, emptied):
        for i in order.tolist():
            join(data, i, 2, groups)
    for field, one, other in zip(cleared._fields, cleared, emptied, strict=True):
        if field == "members":  # only the first ``sizes`` count
            one, other = one[[0, 2]], other[[0, 2]]
        assert np.array_equal(one, other), field
