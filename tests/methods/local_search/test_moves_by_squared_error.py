"""What a change does to the squared error, against the loss before and after."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from kanon_sql.methods.local_search import moves_by_squared_error as costs
from kanon_sql.points.losses import sse
from tests.methods.local_search.test_refine import Task, tasks
from tests.support.thoroughness import often


@njit(nogil=True)
def _weigh(data: Any, labels: Any, i: int, j: int) -> Any:
    """What record i gains its group when it leaves, costs that of j when it joins, and costs both
    when the two change places."""
    groups = costs.hold_groups(data, 2, len(labels))
    for p in range(len(labels)):
        costs.join(data, p, labels[p], groups)
    b = groups.labels[j]
    relief, growth = costs.relief(data, i, groups), costs.growth(data, i, b, groups)
    return relief, growth, costs.exchange(data, i, j, groups, np.inf)


@pytest.mark.parametrize("tallied", [True, False])
@often(100)
@given(tasks(), st.data())
def test_costs_are_differences_of_the_loss(tallied: bool, task: Task, data: Any) -> None:
    points, n = task.points, len(task.points)
    labels = np.arange(n) % 3 % 2
    # both groups keep a record when one leaves
    if n < 5:
        return
    i = data.draw(st.sampled_from(np.flatnonzero(labels == 0).tolist()))
    j = data.draw(st.sampled_from(np.flatnonzero(labels == 1).tolist()))
    with pytest.MonkeyPatch.context() as patch:
        if not tallied:
            patch.setattr(costs, "TALLIED", 0)
        records = costs.squared_records(points)
    relief, growth, exchange = _weigh(records, labels, i, j)
    moved, swapped = labels.copy(), labels.copy()
    moved[i], swapped[i], swapped[j] = 1, 1, 0
    error = 1e-9 + 1e-12 * float((points.numeric**2).sum())
    before = sse(points, labels)
    assert growth - relief == pytest.approx(sse(points, moved) - before, rel=1e-9, abs=error)
    assert exchange == pytest.approx(sse(points, swapped) - before, rel=1e-9, abs=error)
