"""What is told of a run: the facts of its grouping, and how long it took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanon_sql.stages.prepare import Prepared
from kanon_sql.stages.remembered import Recalled

OF_RECORDS = ("guaranteed_ratio", "lower_bound")
"""Facts of the records that say nothing of rows where these are persons with several."""


def facts_of(
    prepared: Prepared, found: Mapping[str, Any], recalled: Recalled
) -> dict[str, Any]:
    """The facts of a run by name, as metrics tell them.

    Args:
        prepared: the rows that were grouped.
        found: what the grouping, and what stands beside it, tells of them.
        recalled: where the grouping is from.
    """
    told = dict(found)
    if prepared.persons is not None and not prepared.persons.alone:
        told = {name: value for name, value in told.items() if name not in OF_RECORDS}
    if prepared.chosen is not None:
        told["method"] = prepared.task.method.name
    return {
        **told,
        "grouping_cache": "hit" if recalled.remembered else "miss",
        "seconds_encode": prepared.seconds,
        "seconds_group": recalled.seconds,
        "seconds_remembered": recalled.seconds if recalled.remembered else 0.0,
    }
