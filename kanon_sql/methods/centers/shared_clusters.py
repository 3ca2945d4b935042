"""Clusters of r or more records that may share records (aggarwal2006, section 3.1, steps 1 and 2).

The paper opens clusters by procedure 1 at the cost r * d, and shares the r records nearest to each
center. That these pay no more than r * d is not so: procedure 1 also assigns records up to three
times alpha away, alpha may be (r + 1) * d, and in a cell all pay the radius. On a line, let r
records lie at 0, one at 1, one at r + 1, r at r + 2.01. The cluster (0, 1) opens for the one at 1
at time r + 1, and gets the one at r + 1 too, which is within r of the one at 1. That cluster costs
about r^2, while the optimum is near 2 r. No constant bounds it.

So here no cluster is shut down while alpha grows (``grow`` without sweep). This keeps alpha
feasible, and what follows keeps to the paper's constants. Say that w has paid when it opens, at
t_w, and freezes its unassigned members i: alpha_i = t_w, and its other members froze earlier. Call
p a contributor of w if d(p, v_w) <= d_w < alpha_p. Then:

- Clusters that paid are chosen by decreasing radius, if they have no contributor in common with a
  chosen one. So if w isn't chosen, it shares a contributor p with a chosen c, and d_c >= d_w.
- For i frozen by w, d_c < alpha_p <= t_w = alpha_i, and d(i, v_c) <= 2 d_w + d_c <= 3 d_c. If w is
  chosen itself, d_w <= alpha_i and d(i, v_w) <= d_w.
- So each record may go to any chosen c with d(i, v_c) <= 3 d_c and d_c <= alpha_i; a contributor of
  a chosen c* only if d_c <= d_c* as well, as c* itself is. Of these it goes to the one with the
  least max(d_c, d(i, v_c)).
- Each center's r nearest records are within d_c, as clusters of fewer than r are not allowed. So
  with them, all radii are 3 d_c at most, and cluster C costs (|C| + r) * 3 d_c at most. The r * d_c
  are the sum of alpha_p - d_c over its contributors, which no other chosen cluster has. A
  contributor pays 3 d_c* + 3 (alpha_p - d_c*), any other 3 alpha_i at most: the shared clusters
  cost no more than 3 times the sum of alpha. That is 6 OPT_r at most, as any clustering into
  classes of r or more costs at most twice as much with the opening costs r * d.

With records left out (after Charikar, Khuller, Mount and Narasimhan 2001) alpha grows until at most
``out`` are unassigned, at time T. Of what the last cluster froze, the farthest from its center are
left out too, so that ``out`` are in all; these have alpha = T. The n - out smallest alpha sum to a
feasible dual value: the program has a variable z_i per record that is left out, and the sum of z
bounded by ``out``; in the dual that is alpha_i <= q and the sum of alpha less out * q, q = T. Only
the last cluster has contributors that are left out. What they paid for it, at most r * d, is
``unpaid``. So the shared clusters cost no more than 3 times the dual value and 3 unpaid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kanon_sql.kernel.jit import kernel
from kanon_sql.kernel.watch import STOP, Watch
from kanon_sql.methods.centers.primal_dual import Growth, grow
from kanon_sql.points.distances import distances_between
from kanon_sql.points.points import Floats, Labels, MetricPoints
from kanon_sql.search.threshold_tree import (
    ThresholdTree,
    members_within,
    new_ball,
    new_threshold_tree,
)


@kernel
def _choose(
    threshold_tree: ThresholdTree, centers: Any, radii: Any, order: Any, alpha: Any, owner: Any,
    chosen: Any, beat: Any,
) -> None:
    """Chooses clusters in this order, if no contributor has an owner; each is theirs then."""
    ball = new_ball(len(alpha))
    records = ball.records
    for c in order:
        if beat[STOP] != 0:
            return
        d, count, alone = radii[c], 0, True
        around = members_within(threshold_tree, centers[c], d, -np.inf, ball)
        for p in range(around):
            i = records[p]
            if d < alpha[i]:
                alone = alone and owner[i] < 0
                # the contributors take the places of members that were read before
                records[count] = i
                count += 1
        if alone:
            # what it has is its own from now on: later clusters with one of these are not chosen
            chosen[c] = True
            for p in range(count):
                owner[records[p]] = c


@kernel
def _assign(
    threshold_tree: ThresholdTree, centers: Any, radii: Any, order: Any, budget: Any, home: Any,
    beat: Any,
) -> None:
    """Brings each record to the cluster with the least max(radius, distance) of those within three
    radii that its budget allows; ties by (distance, order). No budget is below 0."""
    ball = new_ball(len(budget))
    least, nearest = np.full(len(budget), np.inf), np.full(len(budget), np.inf)
    for c in order:
        if beat[STOP] != 0:
            return
        d = radii[c]
        wide = 3.0 * d * (1.0 + 1e-9) + 1e-150  # what rounding may make of 3 d
        around = members_within(threshold_tree, centers[c], wide, -np.inf, ball)
        for p in range(around):
            i, distance = ball.records[p], ball.distances[p]
            # what the record has paid would not pay for so large a radius
            if d > budget[i]:
                continue
            value = max(d, distance)
            if value < least[i] or (value == least[i] and distance < nearest[i]):
                least[i], nearest[i], home[i] = value, distance, c


@dataclass(frozen=True)
class SharedClusters:
    """Clusters that share records.

    Attributes:
        centers: int64, shape (clusters,).
        members: of each cluster, ascending, k or more.
        bound: a lower bound of the cost of all clusterings whose radii are allowed.
        unpaid: what records that are left out paid for a cluster that is here.
        widest: the largest radius that a cluster was opened with.
    """

    centers: Labels
    members: list[Labels]
    bound: float
    unpaid: float
    widest: float


def _left_out(points: MetricPoints, growth: Growth, out: int) -> Any:
    """Which records are left out: those unassigned, and the last cluster's farthest."""
    gone = growth.cluster < 0
    if growth.left < out:
        last = np.flatnonzero(growth.cluster == len(growth.centers) - 1)
        away = distances_between(points, growth.centers[-1], last)
        gone[last[np.lexsort((last, away))][len(last) - (out - growth.left) :]] = True
    return gone


def share(
    points: MetricPoints, k: int, lists: Any, least: Floats, most: float, out: int, watch: Watch
) -> SharedClusters | None:
    """Clusters of k or more records that share records; None where none can hold all but ``out``.

    Args:
        points: n records; n is k or more.
        lists: the k-1 nearest to each record, int32, shape (n, k - 1).
        least: the distance to the last of them, float64, shape (n,).
        most: the largest radius that a cluster may have before it gets more records.
        out: how many records may be left out.
        watch: told of the records frozen; its stop raises StoppedError.
    """
    n = len(points)
    growth = grow(points, least, np.zeros(n), float(k), most, out, False, watch)
    if growth.left > out:
        return None
    alpha, centers, radii = growth.alpha, growth.centers, growth.radii
    threshold_tree, beat = new_threshold_tree(points), watch.beat()
    gone = _left_out(points, growth, out)
    order = np.argsort(-radii, kind="stable")
    owner, home = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    chosen = np.zeros(len(centers), np.bool_)
    _choose(threshold_tree, centers, radii, order, alpha, owner, chosen, beat)
    watch.check()
    # a contributor may go to no larger cluster than its own, all others as far as alpha pays
    budget = np.where(owner < 0, alpha, radii[owner])
    budget[gone] = -1.0
    _assign(threshold_tree, centers, radii, order[chosen[order]], budget, home, beat)
    watch.check()
    unpaid = math.fsum(alpha[i] - radii[owner[i]] for i in np.flatnonzero(gone & (owner >= 0)))
    taken = np.argsort(home, kind="stable")[int(np.sum(home < 0)) :]
    clusters, starts = np.unique(home[taken], return_index=True)
    return SharedClusters(
        centers[clusters],
        [
            np.unique(np.concatenate([own, [centers[c]], lists[centers[c]]])).astype(np.int64)
            for c, own in zip(clusters, np.split(taken, starts[1:]), strict=True)
        ],
        math.fsum(np.sort(alpha)[: n - out]) / 2.0,
        unpaid,
        float(radii.max()),
    )
