"""Clusters of k or more records, the largest radius small (aggarwal2006, section 2).

The paper's r is k here, and its k is ``max_clusters``. All comparisons go by keys (see
MetricPoints); a key x below stands for a distance of 2R between records.

Section 2.2, no record left out. Every record that no center is within x becomes a center, in
canonical order; then each center must get k records within x (see gather_flow.py). The paper's
procedure makes a center only of a record with r unmarked ones around it, "until all points are
marked". Taken by the letter it may leave records unmarked, or reject radii that lemma 2.1 promises
to accept; the flow alone decides here, as in the lemma's proof. Let d* be the largest diameter of
an optimal clustering, at most twice its radius. Each center is from another of its clusters, so
there are no more centers than clusters, and a flow exists wherever x is d* or more: the proof asks
for no more than that, of any such x. So when x is rejected, d* is larger.

Which centers the bounds are of. A diameter is at most twice a radius, whatever point the radius is
around; so where x is a key of 2R, the bound x / 2 is one for centers anywhere, and so for records,
too. That is all of section 2.2, and sections 2.3 and 2.4 but for centers 'rows': there x is a key
of a radius around records, twice as good a bound, and none for others. With centers 'rows' and all
records kept the bound is the larger of x / 2 and the least radius within which each record has a
record with k around it.

Keys below the largest that a record needs to have k around it fail condition (1). The search
begins there; see radius_search.py for how it goes on. See outliers.py for the proofs where records
may be left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from kanon_sql.kernel.watch import DONE, Watch
from kanon_sql.methods.centers import RGatherOptions
from kanon_sql.methods.centers.gather_flow import Assignment, bring_home, gather_within
from kanon_sql.methods.centers.outliers import (
    core_balls,
    disjoint_balls,
    heaviest_balls,
    heavy_cover,
    least_core,
    nearest_centers,
)
from kanon_sql.methods.centers.radius_search import RadiusTrial, least_accepted, neighbour_keys
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.points import Floats, Grouping, MetricPoints
from kanon_sql.search.build_pool import new_pool
from kanon_sql.search.marked_counts import MarkedTree, ball_sizes, new_marked_tree


@dataclass(frozen=True)
class _GatherTask:
    """What a call asks for.

    Attributes:
        marked_tree: of all records.
        needed: float64, shape (n,); the key within which each record has k, itself among them.
        out: records that may be left out.
        most: clusters at most.
        among: whether centers must be records.
    """

    points: MetricPoints
    marked_tree: MarkedTree
    needed: Floats
    k: int
    out: int
    most: int
    among: bool
    watch: Watch


def r_gather(points: MetricPoints, task: GroupTask, watch: Watch) -> Grouping:
    """Clusters of k or more around records, with a radius of a few times the least possible.

    Source: aggarwal2006, sections 2.2 to 2.4.

    Args:
        points: n records in canonical order; fewer than k are one cluster.
        task: k; epsilon (the share of the records that may be left out), max_clusters, centers
            ('anywhere' or 'means', or 'rows' if the optimum may only have records as centers, too).
        watch: told how far it is; may stop it.

    Returns:
        Clusters in the order in which their centers were chosen, with the centers. No clustering
        that the options allow has a radius below lower_bound: around any points, with 'rows' around
        records. This one's is guaranteed_ratio times that at most (with 'means', that of its
        centroids: see lower_bounds.py).

    Raises:
        DataError: a flow network would be too large.
    """
    own = task.own
    assert isinstance(own, RGatherOptions)
    k = task.k
    n, beat = len(points), watch.beat()
    if n == 0:
        none = np.zeros(0, np.int64)
        return Grouping(none, {"lower_bound": 0.0, "guaranteed_ratio": 2.0 * own.widening}, none)
    k = min(k, n)
    search = _GatherTask(
        points, new_marked_tree(points), neighbour_keys(points, k, watch), k,
        min(int(own.epsilon * n), n - k), n if own.max_clusters is None else own.max_clusters,
        own.publishes == "rows", watch,
    )
    beat[DONE] += n // 2
    if search.out == 0:
        key, assignment, ratio = *_gather(search), 2.0
    else:
        key, assignment, ratio = *_leave_out(search), 3.0 if search.among else 4.0
        if len(assignment.centers) > search.most:
            key, assignment, ratio = *_few_clusters(search, key), 3.0 if search.among else 6.0
    labels = bring_home(points, assignment, k)
    watch.check()
    beat[DONE] += n - n // 2
    # with centers among the records, and some left out, the key is of a radius, not of a diameter
    bound = float(points.distances(key)) / (1.0 if search.out > 0 and search.among else 2.0)
    if search.out == 0 and search.among:
        bound = max(bound, float(points.distances(_of_rows(search))))
    facts = {"lower_bound": bound, "guaranteed_ratio": ratio * own.widening}
    return Grouping(labels, facts, assignment.centers)


def _of_rows(task: _GatherTask) -> float:
    """A key that no radius around records is below, where all records are kept."""
    beat = task.watch.beat()
    key = float(heavy_cover(task.marked_tree, task.needed, beat).max())
    task.watch.check()
    return key


def _gather(task: _GatherTask) -> tuple[float, Assignment]:
    """Section 2.2; with max_clusters section 2.4, (k, r)-center."""
    test = partial(gather_within, task.marked_tree, k=task.k, most=task.most, watch=task.watch)
    trial = least_accepted(task.points, float(task.needed.max()), test)
    return trial.key, trial.result


def _finish(task: _GatherTask, centers: Any, owner: Any, kept: Any) -> Assignment:
    """Records kept that have no center yet get the nearest one."""
    space = task.marked_tree.space
    pool = new_pool(space, np.sort(centers))
    nearest, gaps = nearest_centers(space, pool, centers, task.watch.beat())
    task.watch.check()
    owner = np.where(kept, np.where(owner < 0, nearest, owner), -1)
    return Assignment(centers, owner, nearest, gaps)


def _leave_out(task: _GatherTask) -> tuple[float, Assignment]:
    """Section 2.3, (r, epsilon)-gather; what is in no ball joins the nearest center."""
    space, beat, n, k = task.marked_tree.space, task.watch.beat(), len(task.points), task.k
    if task.among:
        least = heavy_cover(task.marked_tree, task.needed, beat)
        key = float(np.partition(least, n - task.out - 1)[n - task.out - 1])
        kept = least <= key
        centers, owner = disjoint_balls(task.marked_tree, task.needed, key, k, beat)
    else:
        pool = new_pool(space, np.arange(n))
        key, kept = least_core(space, pool, task.needed, k, task.out, beat)
        task.watch.check()
        pool = new_pool(space, np.flatnonzero(kept))
        centers, owner = core_balls(space, pool, kept, k, key, beat)
    task.watch.check()
    return key, _finish(task, centers, owner, kept)


def _few_clusters(task: _GatherTask, start: float) -> tuple[float, Assignment]:
    """Section 2.4, (k, r, epsilon)-center. The search starts at the key that section 2.3 finds,
    since no clustering has a smaller one."""
    points, beat, n = task.points, task.watch.beat(), len(task.points)

    def test(key: float) -> RadiusTrial:
        sizes = ball_sizes(task.marked_tree, key, task.watch)
        reach = thrice(points, key)
        balls = heaviest_balls(task.marked_tree, sizes, task.k, key, reach, task.most, beat)
        task.watch.check()
        enough = balls.covered.sum() >= n - task.out
        return RadiusTrial(key, balls if enough else None, int(sizes.sum()))

    trial = least_accepted(points, start, test)
    return trial.key, _finish(task, *trial.result)


def thrice(points: MetricPoints, key: float) -> float:
    """The key of three times a key's distance, or a hair more, so that rounding loses nothing."""
    if points.form == "plain":
        return 3.0 * key * (1.0 + 1e-12)
    if points.form == "root":
        return 9.0 * key * (1.0 + 1e-12)
    # half the angle between two places on the unit sphere is the arc sine of half their chord
    half = 3.0 * float(np.arcsin(min(np.sqrt(key) / 2.0, 1.0)))
    return np.inf if half >= np.pi / 2.0 else float((2.0 * np.sin(half)) ** 2) * (1.0 + 1e-12)
