"""Greedy k-member clustering (byun2006, figure 8), with its variants for labels and diversity."""

from __future__ import annotations

from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.k_member import KMemberOptions
from kanon_sql.methods.k_member.greedy import EQUAL, SENSITIVE, Rules, gather
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.content_order import content_order
from kanon_sql.points.points import Grouping, LossPoints

_DIVERSITY = {None: 0, "equal": EQUAL, "sensitive": SENSITIVE}


def k_member(points: LossPoints, task: GroupTask, watch: Watch) -> Grouping:
    """Groups of k records; each starts far from the one before and takes in, one at a time, the
    record that adds the least loss. Leftovers join the group whose loss grows least.

    What figure 8 leaves open: the "randomly picked" record is the first of those left in the
    seeded content order, ties go to the lowest record and to the group made first. A record is
    judged by the loss of the group with it, in cells: (s+1) D(group and record), plus penalties.

    With ``class_label`` (section 5.2) a record is penalized whose label is not a majority label of
    the group; where several labels are equally frequent, all of them are. So the penalty falls on
    each record that raises the number of records in the minority.

    With ``diversity`` (section 5.1) a group whose records all have the same sensitive value
    penalizes records with that value; ``'sensitive'`` only where it is a protected one. This
    follows the text, "explicitly penalizes records that have the same sensitive value"; the
    pseudo-code printed above it penalizes the others, which would make groups uniform.
    Penalties count where a group takes in a record, not where leftovers find a group.

    Source: byun2006, sections 4.3, 5.1 and 5.2. Every group has k to 2k-1 records (theorem 2); at
    most k records are one group. Time O(n^2) at most (theorem 3). Needs k >= 1.

    Of the task it reads, beside k and its own options:
        seed: of the content order.
        class_label: whether labels count; then class_penalty, in cells, says how much.
    """
    own = task.own
    assert isinstance(own, KMemberOptions)
    k = task.k
    rules = Rules(
        grow=True,
        furthest=True,
        by_start=own.start == "seed",
        label_due=own.class_penalty,
        sensitive_due=own.diversity_penalty,
        by_label=task.class_label is not None,
        diversity=_DIVERSITY[own.diversity_preference],
    )
    order = content_order(points, task.seed)
    return Grouping(gather(points, k, order, rules, watch), {})
