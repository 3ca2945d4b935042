"""Connected regions of a map: codes generalized together with their neighbours (du2009).

The values of the attribute, zip codes for instance, are the nodes of a graph, linked where they are
adjacent. Theorem 3: regions cut from a spanning tree of degree d have at most kappa + d (k - 1)
records, kappa being the larger of k and the most records of one value, so that kappa is at most
what the best regions have.

The paper's graph is connected. Here each component of k records or more is one of its graphs; its
bounds hold for all, with the largest d. Components with fewer are islands, which have no solution
within the graph: they are refused, left out, or joined to the nearest region.
"""

from __future__ import annotations

import numpy as np

from kanon_sql.kernel.watch import DONE, Watch
from kanon_sql.methods.single_attribute import ZipRegionsOptions
from kanon_sql.methods.single_attribute.islands import join_islands, refuse_islands
from kanon_sql.methods.single_attribute.regions import cut_again, cut_forest, weights
from kanon_sql.methods.single_attribute.spanning_forest import components, low_degree_forest
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.points import Grouping, ItemPoints, Points


def _share(total: int, k: int) -> int:
    """The least that the largest of at most total // k classes can have: ceil(total / that)."""
    return -(-total // (total // k))


def zip_regions(points: Points, task: GroupTask, watch: Watch) -> Grouping:
    """Connected regions of k records or more, cut from a spanning tree of small degree.

    Groups are numbered by their lowest item. Facts: spanning_degree (d), islands and island_rows
    (components with records, but fewer than k), lower_bound, and guaranteed_ratio, unless islands
    were joined to regions: joined ones can make a region larger than the theorem says.

    Args:
        points: ItemPoints; ``links`` are the graph, ``place`` is used for islands 'nearest' only.
        task: k, 1 or more; islands: 'error', 'suppress' or 'nearest'.
        watch: told of the records; may stop the work.

    Raises:
        DataError: no component has k records, there are islands that no option deals with, or it
            isn't known where they lie.
        StoppedError: the watch was told to stop.

    Source: du2009, section 2.2, theorem 3.
    """
    own = task.own
    assert isinstance(own, ZipRegionsOptions)
    k = task.k
    assert isinstance(points, ItemPoints)
    size, islands, beat = points.size, own.islands, watch.beat()
    part = components(points.links, len(size))
    weight = weights(size, part)
    light = weight[part] < k
    alone = light & (weight[part] > 0)
    refuse_islands(size, light, k, islands)

    # islands are dealt with at the end; both ends of a link are in the same component
    links = points.links[~light[points.links[:, 0]]]
    tree = low_degree_forest(links, len(size), beat)
    watch.check()
    labels = cut_forest(size, tree, k, beat)
    watch.check()
    labels = cut_again(size, links, labels, k, beat)
    watch.check()
    labels[light] = -1
    joins = islands == "nearest" and bool(alone.any())
    if joins:
        labels = join_islands(labels, part, alone, points.place)
    beat[DONE] += len(points)

    degree = int(np.bincount(tree.ravel(), minlength=1).max())
    kappa = max(k, int(size.max()))
    # an island that is joined may be what a region lacks, so that only the sum of all counts then
    sums = [int(size.sum())] if joins else weight[weight >= k].tolist()
    facts = {
        "lower_bound": float(max(kappa, *(_share(total, k) for total in sums))),
        "spanning_degree": float(degree),
        "islands": float(len(np.unique(part[alone]))),
        "island_rows": float(size[alone].sum()),
    }
    if not joins:
        facts["guaranteed_ratio"] = (kappa + degree * (k - 1)) / kappa
    return points.grouping(labels, facts)
