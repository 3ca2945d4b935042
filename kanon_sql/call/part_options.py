"""The options about parts: releases of their own inside of one."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_sql.option import GROUPING_CALLS, option
from kanon_sql.validators import flag, names, one_of

SMALL_PARTS = {
    "error": "refuses the call and says how many",
    "suppress": "leaves their rows out, beside what suppress allows",
    "join": "puts them together: their columns of within come out as '*' (as NULL where they are "
    "no text), and parts are added, the smallest first, until that one is large enough",
}
PART_CALLS = tuple(call for call in GROUPING_CALLS if call != "anonymize_clusters")


@dataclass(frozen=True)
class PartOptions:
    """What parts there are, and what becomes of small ones."""

    within: tuple[str, ...] = option(
        (), names,
        "The columns that divide the rows into parts, such as the day and the site: each "
        "combination of their values is a release of its own, and no class crosses it. They pass "
        "unchanged, and count as columns of every combination.",
        type="VARCHAR[]", default_text="declared, else none",
        calls=(*PART_CALLS, "k_anonymity"), columns=True, common=True, topic="roles",
    )
    small_parts: str = option(
        "error", one_of(SMALL_PARTS),
        "What becomes of parts with too few rows for a class, where there is an entity with too "
        "few persons: " + "; ".join(f"'{name}' {text}" for name, text in SMALL_PARTS.items()) + ".",
        calls=PART_CALLS,
    )
    by_part: bool = option(
        False, flag,
        "Tells everything once for each part, the columns of within in front.",
        type="BOOLEAN", calls=("anonymize_metrics", "k_anonymity"),
    )
