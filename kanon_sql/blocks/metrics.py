"""What a release in blocks is as a whole: refused where it isn't what it should be, then told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kanon_sql.blocks.group import BlockFacts
from kanon_sql.blocks.learn import Common, Learned
from kanon_sql.blocks.request import Request
from kanon_sql.encode.attributes import Attribute, Categorical
from kanon_sql.errors import ReleaseError

SMALL = (
    "The release was stopped: a combination of released values has {} rows, fewer than k = {}. "
    "Nothing was released; please report this as a bug of the method {}."
)
LOST = (
    "The release was stopped: {} rows take part, {} were left out, and {} are in the output. "
    "Nothing was released; please report this as a bug."
)


class Output(NamedTuple):
    """Released rows as they were counted where they lie.

    Attributes:
        rows: how many there are.
        classes: how many combinations of released values.
        least: the rows of the smallest of them; None without rows.
    """

    rows: int
    classes: int
    least: int | None


def release_metrics(
    request: Request, common: Common, parts: Sequence[Learned], sizes: Sequence[int],
    facts: Sequence[BlockFacts], output: Output,
) -> dict[str, Any]:
    """What was asked and reached, by name.

    Args:
        request: what was asked.
        common: of all rows.
        parts: what was learned of them, or of each of their parts.
        sizes: the rows of each block.
        facts: of each block, in an order that doesn't depend on who was first.
        output: all that came out.

    Raises:
        ReleaseError: rows are lost, or a combination of released values has fewer than k.
    """
    task, taking = parts[0].call.task, sum(each.rows for each in parts)
    released = sum(block.rows_released for block in facts)
    if output.rows != released or sum(block.rows for block in facts) != taking:
        raise ReleaseError(LOST.format(taking, taking - released, output.rows))
    if output.least is not None and output.least < task.k:
        raise ReleaseError(SMALL.format(output.least, task.k, task.method.name))
    for each in task.whole:  # of persons the query of each block has made sure
        if request.entity is None and output.classes > each.most_classes(released):
            said = each.sentence("rows", task.method.name)
            raise ReleaseError(said.format(output.classes, released))
    metrics: dict[str, Any] = {
        "k_requested": task.k, "k": output.least, "method": task.method.name,
        "rows": common.rows_in, "rows_released": released,
        "rows_suppressed": common.rows_in - released,
        "classes": output.classes, "blocks": len(sizes), "block_rows_min": min(sizes),
        "block_rows_max": max(sizes),
    }
    chosen = dict.fromkeys(each.chosen for each in parts if each.chosen is not None)
    if chosen:
        metrics["notices"] = list(chosen)
    suggested = {
        spec.column: spec.as_used for spec in request.call.hierarchies if spec.suggested
    }
    if suggested:
        metrics["suggested_hierarchies"] = suggested
    metrics |= {each.requested.name: each.limit for each in task.whole}
    for name in ("sse", "total_il"):
        losses = [getattr(block, name) for block in facts]
        if None not in losses and not request.within:  # each part has scales of its own
            metrics[name] = float(sum(losses))
    if request.entity is not None:
        metrics["persons"] = int(sum(block.records for block in facts))
    elif "sse" in metrics and released == taking:
        total = released * sum(a.weight for a in parts[0].attributes if _varies(a))
        metrics["information_loss"] = 100.0 * metrics["sse"] / total if total else 0.0
    return metrics


def _varies(attribute: Attribute) -> bool:
    """Whether a column has a part in the squared errors."""
    if isinstance(attribute, Categorical):
        return bool(attribute.squared.any())
    return bool(attribute.factor > 0.0 or attribute.indicator > 0.0)
