"""The numbers of a manifest that no release has, and those that don't go together."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from kanon_sql.measure.ledger_metrics import LEDGER, OF_HEADROOM
from kanon_sql.measure.metrics import ATTRIBUTE, DIVERSITY, METRICS, OF_GROUPING
from kanon_sql.measure.model_metrics import REACHED
from kanon_sql.measure.part_metrics import PARTS
from kanon_sql.measure.person_metrics import PERSONS
from kanon_sql.names import caseless
from kanon_sql.plan.entries import Json, is_number

THREE_DIGITS = 0.02
"""How far a number may be from what follows from two others, all of three digits."""

OF_WHOLE = {
    metric.name for metric in (*METRICS, ATTRIBUTE, OF_GROUPING) if metric.public == "whole"
}
COUNTED = ("rows", "classes", "columns", "persons", "parts", "blocks", "steps", "neighbours")
"""The units of what is counted."""

THRESHOLDS_REACHED = {metric.name for metric in REACHED.values()}


def impossible_numbers(manifest: Json) -> Iterator[tuple[str, str]]:
    """Entries of metrics that no release has, and that don't go together, and what is wrong."""
    metrics = manifest["metrics"]
    units = {
        metric.name: metric.unit
        for metric in (
            *METRICS, *DIVERSITY, *PERSONS, *PARTS, *LEDGER, *OF_HEADROOM, *REACHED.values(),
        )
    }
    for name, value in metrics.items():
        plain = name.partition(" (")[0]
        if value is not None and not _may_be(plain, units.get(plain, ""), value):
            yield f"metrics.{name}", f"The manifest says a {name} that no release has."
    numbers = {name: value for name, value in metrics.items() if is_number(value)}
    counts = [numbers.get(name) for name in ("rows", "rows_released", "rows_suppressed")]
    if None in counts or counts[0] != counts[1] + counts[2]:  # type: ignore[operator]
        for name in ("rows", "rows_suppressed"):
            yield (
                f"metrics.{name}",
                "The counts of the manifest don't add up: rows is not rows_released and "
                "rows_suppressed together.",
            )
        return
    rows_in, rows, out = (int(count or 0) for count in counts)
    follows = {
        "information_loss": _times(100, numbers.get("sse"), numbers.get("sst")),
        "rows_per_person_mean": _times(rows, 1, numbers.get("persons")),
        "prosecutor_risk_max_persons": _times(1, 1, numbers.get("k_persons")),
        "total_il_grouping": _times(_cells(manifest, rows_in), numbers.get("ncp_grouping"), 1),
    }
    for name, number in follows.items():
        value = numbers.get(name)
        if number is not None and value is not None and not math.isclose(
            value, number, rel_tol=THREE_DIGITS, abs_tol=1e-9
        ):
            yield f"metrics.{name}", f"The manifest says another {name} than its numbers give."
    for name, most in {
        "sse": numbers.get("sst"), "persons": rows, "persons_suppressed": out,
        "k_persons": numbers.get("k"), "parts_joined": rows_in, "blocks": rows_in,
        "ncp_grouping": max(_of_columns(metrics, "ncp_grouping"), default=None),
    }.items():
        value = numbers.get(name)
        if most is not None and value is not None and value > most * (1 + THREE_DIGITS):
            yield f"metrics.{name}", f"The manifest says more {name} than its numbers allow."
    for name, least in {
        "guaranteed_ratio": 1.0,
        "ncp_grouping": min(_of_columns(metrics, "ncp_grouping"), default=None),
    }.items():
        value = numbers.get(name)
        if least is not None and value is not None and value < least * (1 - THREE_DIGITS):
            yield f"metrics.{name}", f"The manifest says less {name} than its numbers allow."
    for name, value in metrics.items():
        whole = name.partition(" (")[0] in OF_WHOLE
        if whole and out and value is not None:
            yield f"metrics.{name}", f"The manifest says {name}, although rows were left out."


def _of_columns(metrics: Json, metric: str) -> list[float]:
    """What a metric of all columns is of each of them; nothing where it isn't told of each."""
    told = [value for name, value in metrics.items() if name.startswith(f"{metric} (")]
    return told if all(map(is_number, told)) else []


def _cells(manifest: Json, rows: int) -> float:
    """The cells of quasi-identifiers in so many rows, each by the weight of its column."""
    weights = manifest["options"].get("column_weights") or {}
    by_name = {caseless(name): weight for name, weight in weights.items()}
    quasi = [name for name, role in manifest["roles"].items() if role == "quasi_identifier"]
    return rows * sum(float(by_name.get(caseless(name), 1.0)) for name in quasi)


def _times(factor: float, over: float | None, under: float | None) -> float | None:
    return None if over is None or not under else factor * over / under


def _may_be(name: str, unit: str, value: Any) -> bool:
    """Whether a metric may have a value."""
    if value in ("inf", "Infinity", "nan", "NaN", "-inf"):
        return not name.endswith("_requested")
    if not is_number(value) or value < 0:
        return False
    if unit in COUNTED and not name.endswith("_mean"):
        return float(value).is_integer()
    if unit in ("share", "probability") and name not in THRESHOLDS_REACHED:
        return bool(value <= 1 + 1e-9)
    return not (unit == "percent" and value > 100 * (1 + THREE_DIGITS))
