"""What is told of a run: the facts of its grouping, and how long it took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanon_sql.stages.prepare import Prepared
from kanon_sql.stages.remembered import Recalled

OF_RECORDS = ("guaranteed_ratio", "lower_bound")
"""Facts of the records that say nothing of rows where these are persons with several."""


def facts_of(
    prepared: Prepared, measured: Mapping[str, Any], recalled: Recalled
) -> dict[str, Any]:
    """The facts of a run by name, as metrics tell them.

    Args:
        prepared: the rows that were grouped.
        measured: what the grouping, and what stands beside it, tells of them.
        recalled: where the grouping is from.
    """
    facts = dict(measured)
    if prepared.persons is not None and not prepared.persons.alone:
        facts = {name: value for name, value in facts.items() if name not in OF_RECORDS}
    if prepared.chosen is not None:
        facts["method"] = prepared.task.method.name
    return {
        **facts,
        "grouping_cache": "hit" if recalled.remembered else "miss",
        "seconds_encode": prepared.seconds,
        "seconds_group": recalled.seconds,
        "seconds_remembered": recalled.seconds if recalled.remembered else 0.0,
    }
