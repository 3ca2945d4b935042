"""The options about parts: releases of their own inside of one."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_sql.option import GROUPING_CALLS, option
from kanon_sql.validators import flag, names, one_of

SMALL_PARTS = {
    "error": "rejects the call and reports how many there are",
    "suppress": "leaves their rows out, in addition to those that suppress allows",
    "join": "merges them into one part, in which the columns of within are released as '*' (NULL "
    "if not of type text), and adds more parts, the smallest first, until it is large enough",
}
PART_CALLS = tuple(call for call in GROUPING_CALLS if call != "anonymize_clusters")


@dataclass(frozen=True)
class PartOptions:
    """What parts there are, and what becomes of small ones."""

    within: tuple[str, ...] = option(
        (), names,
        "The columns that divide the rows into parts, such as the day and the site. Each "
        "combination of their values is a release of its own, and no class crosses parts. They are "
        "released unchanged, and count as columns of every released combination.",
        type="VARCHAR[]", default_text="declared, else none",
        calls=(*PART_CALLS, "k_anonymity"), columns=True, common=True, topic="roles",
        proven=True,
    )
    small_parts: str = option(
        "error", one_of(SMALL_PARTS),
        "How parts with too few rows for a class (with entity, too few persons) are treated: "
        + "; ".join(f"'{name}' {text}" for name, text in SMALL_PARTS.items()) + ".",
        calls=PART_CALLS,
    )
    by_part: bool = option(
        False, flag,
        "Returns the result once for each part, with the columns of within first.",
        type="BOOLEAN", calls=("anonymize_metrics", "k_anonymity"),
    )
