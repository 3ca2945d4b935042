"""Greedy k-member clustering (byun2006, figure 8), with its variants for labels and diversity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.k_member.greedy import EQUAL, SENSITIVE, Rules, gather
from kanon_sql.points.content_order import content_order
from kanon_sql.points.points import Grouping, LossPoints

CLASS_PENALTY = 1.0
"""In cells: a record whose label is in the minority weighs as much as one cell that is lost."""

DIVERSITY_PENALTY = 1.0
"""In cells: a record that leaves a class of one secret weighs as much as one cell that is lost."""

_DIVERSITY = {None: 0, "equal": EQUAL, "sensitive": SENSITIVE}


def k_member(points: LossPoints, k: int, options: Mapping[str, Any], watch: Watch) -> Grouping:
    """Groups of k records; each starts far from the one before and takes in, one at a time, the
    record that adds the least loss. Leftovers join the group whose loss grows least.

    What figure 8 leaves open: the "randomly picked" record is the first of those left in the
    seeded content order, ties go to the lowest record and to the group made first. A record is
    judged by the loss of the group with it, in cells: (s+1) D(group and record), plus penalties.

    With ``class_label`` (section 5.2) a record is penalized whose label is not a majority label of
    the group; where several labels are equally frequent, all of them are. So the penalty falls on
    each record that raises the number of records in the minority.

    With ``diversity`` (section 5.1) a group whose records all have the same secret penalizes
    records with that secret; ``'sensitive'`` only where that secret is truly sensitive. This
    follows the text, "explicitly penalizes records that have the same sensitive value"; the
    pseudo-code printed above it penalizes the others, which would make groups uniform.
    Penalties count where a group takes in a record, not where leftovers find a group.

    Source: byun2006, sections 4.3, 5.1 and 5.2. Every group has k to 2k-1 records (theorem 2); at
    most k records are one group. Time O(n^2) at most (theorem 3). Needs k >= 1.

    Options:
        seed: of the content order; 0 by default.
        start: ``'last'`` (default), the next start is the record furthest from the last one added,
            as figure 8 prints it; ``'seed'``, from the start before, as the text says.
        class_label: whether labels count; then class_penalty, in cells, 1.0 by default.
        diversity: None, ``'equal'`` or ``'sensitive'``; then diversity_penalty, in cells, 1.0 by
            default.
    """
    rules = Rules(
        grow=True,
        furthest=True,
        by_start=options.get("start", "last") == "seed",
        label_due=_penalty(options, "class_penalty", CLASS_PENALTY),
        secret_due=_penalty(options, "diversity_penalty", DIVERSITY_PENALTY),
        by_label=bool(options.get("class_label")),
        diversity=_DIVERSITY[options.get("diversity")],
    )
    order = content_order(points, int(options.get("seed") or 0))
    return Grouping(gather(points, k, order, rules, watch), {})


def _penalty(options: Mapping[str, Any], name: str, otherwise: float) -> float:
    given = options.get(name)
    return otherwise if given is None else float(given)
