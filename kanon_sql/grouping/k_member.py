"""Greedy k-member clustering (byun2006, figure 8), with its variants for labels and diversity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanon_sql.grouping.chance import content_order
from kanon_sql.grouping.greedy import EQUAL, SENSITIVE, Rules, gather
from kanon_sql.grouping.points import Grouping, LossPoints
from kanon_sql.grouping.watch import Watch

CLASS_PENALTY = 0.5
DIVERSITY_PENALTY = 0.5

_DIVERSITY = {None: 0, "equal": EQUAL, "sensitive": SENSITIVE}


def k_member(points: LossPoints, k: int, options: Mapping[str, Any], watch: Watch) -> Grouping:
    """TODO"""
    diversity = _DIVERSITY[options.get("diversity")]
    rules = Rules(
        grow=True,
        furthest=True,
        by_start=options.get("start", "last") == "seed",
        label_due=(
            float(options.get("class_penalty", CLASS_PENALTY)) if options.get("class_label") else 0.0
        ),
        secret_due=float(options.get("diversity_penalty", DIVERSITY_PENALTY)),
        diversity=diversity,
    )
    order = content_order(points, int(options.get("seed", 0)))
    return Grouping(gather(points, k, order, rules, watch), {})
