"""Metrics as rows of SQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kanon_sql.measure.metrics import Metric
from kanon_sql.names import literal
from kanon_sql.sql import expression


def metric_rows(metrics: Iterable[Metric], values: Mapping[str, str]) -> str:
    """One struct per metric; ``values`` fill the holes of expressions and units."""
    rows = []
    for metric in (metric.of_call(values) for metric in metrics):
        value = metric.expression
        number, text = ("NULL", value) if metric.is_text else (
            f"({value})::DOUBLE", metric.beside
        )
        rows.append(expression(
            "measure.metric", name=literal(metric.name), number=number, text=text,
            unit=literal(metric.unit), words=metric.words, description=literal(metric.description),
        ))
    return ",\n    ".join(rows)
