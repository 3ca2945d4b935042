"""The SQL of the calls that measure: anonymize_metrics, anonymize_audit and k_anonymity."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from kanon_sql.call.choices import POINTS
from kanon_sql.call.relation import Relation, literal, quoted
from kanon_sql.call.roles import Roles
from kanon_sql.call.rules import SPECIAL
from kanon_sql.measure.metrics import ATTRIBUTE, AUDIT, COST, DIVERSITY, METRICS, UNITS, Metric
from kanon_sql.methods import METHODS
from kanon_sql.plan.fragments import UNDECLARED, Call, declared, quasi, where
from kanon_sql.sql import statement
from kanon_sql.version import __version__

PLACE = re.compile(r"\$\{\w+\}")


def _rows(metrics: Iterable[Metric], values: Mapping[str, str]) -> str:
    """One struct per metric; ``values`` stand in for parts of expressions."""
    rows = []
    for metric in metrics:
        value, unit = (
            PLACE.sub(lambda found: values.get(found[0], found[0]), text)
            for text in (metric.expression, metric.unit)
        )
        number, text = ("NULL", value) if metric.is_text else (f"({value})::DOUBLE", "NULL")
        rows.append(
            f"{{'metric': {literal(metric.name)}, 'value': {number}::DOUBLE, "
            f"'text': {text}::VARCHAR, 'unit': {literal(unit)}, "
            f"'description': {literal(metric.description)}}}"
        )
    return ",\n    ".join(rows)


def _diversity(options: Mapping[str, Any], roles: Roles) -> tuple[list[Metric], str, str]:
    """The metrics of each sensitive column, SQL of what they need of each class, and of all."""
    label, grave = options["class_label"], ", ".join(map(literal, options["sensitive_values"]))
    metrics, per_class, total = [], [], ["sum(NULL::BIGINT) AS strangers"]
    if label is not None:
        per_class.append(f"__kanon_majority({quoted(label)}) AS __kanon_most")
        total = ["sum(__kanon_size - __kanon_most) AS strangers"]
    for i, column in enumerate(roles.sensitive):
        alike = f"__kanon_alike({quoted(column)})"
        per_class.append(f"{alike} AS __kanon_alike_{i}")
        per_class.append(
            f"{alike} AND bool_or(__kanon_key({quoted(column)}) IN ({grave})) AS __kanon_grave_{i}"
            if grave else f"NULL::BOOLEAN AS __kanon_grave_{i}"
        )
        for metric, kind in zip(DIVERSITY, ("alike", "grave"), strict=True):
            total.append(
                f"coalesce(sum(__kanon_size) FILTER (WHERE __kanon_{kind}_{i}), 0) AS {kind}_{i}"
            )
            known = kind == "alike" or grave
            metrics.append(replace(
                metric,
                name=metric.name + (f" ({column})" if len(roles.sensitive) > 1 else ""),
                expression=f"{kind}_{i}" if known else "NULL",
            ))
    return metrics, "".join(f", {part}" for part in per_class), ", ".join(total)


def _objective_unit(options: Mapping[str, Any], distance: str) -> str:
    """The unit of what the method's guarantee is about."""
    method = METHODS[options["method"]]
    if method.has_centers:
        return distance
    size = "rows squared" if options["objective"] == "quadratic" else "rows"
    return {"cells": "cells", "size": size}.get(method.objective, "")


def _cost(options: Mapping[str, Any]) -> str:
    """SQL of what the method's guarantee is about; sizes are those of the released classes."""
    if METHODS[options["method"]].objective != "size":
        return COST
    if options["objective"] == "quadratic":
        return f"(coalesce(squares, 0) - {options['k']} * rows_released::DOUBLE)"
    return "largest::DOUBLE"


def metrics_sql(call: Call, pipeline: str, measured: str, quasi_released: str) -> str:
    """The SQL of anonymize_metrics(), around the stages of the release."""
    options, roles = call.options, call.roles
    shown = call.hierarchies and options["by_hierarchy"]
    used = {**options, "quasi_identifiers": list(roles.quasi_identifiers) or "all other columns",
            "sensitive": list(roles.sensitive), "identifiers": list(roles.identifiers)}
    for name in {*SPECIAL, "by_hierarchy"} - set(METHODS[options["method"]].options):
        del used[name]
    diverse, aggregates, alike = _diversity(options, roles)
    if shown:
        used["representation"] = f"hierarchy, else {options['representation']}"
    used["hierarchies"] = call.hierarchies.told()
    hidden = () if options["representation"] in POINTS and not shown else ("sse_released",)
    known = [replace(m, expression="NULL") if m.name in hidden else m for m in METRICS]
    method = METHODS[options["method"]]
    distance = UNITS[options["metric"] or "euclidean"]
    k = options["k"] if method.promises_k else None
    used["k"] = k
    values = {
        "${k}": "NULL" if k is None else str(k),
        "${distance}": distance,
        "${objective}": _objective_unit(options, distance),
        "${cost}": _cost(options),
        "${as_grouped}": (
            f"{_cost(options)} = (measured ->> 'cost')::DOUBLE" if method.items else "true"
        ),
        "${method}": literal(options["method"]),
        "${options}": literal(json.dumps(used, sort_keys=True, default=str)),
        "${seed}": literal(str(options["seed"])),
        "${version}": literal(f"kanon_sql {__version__}, DuckDB ") + " || version()",
    }
    return statement(
        "calls/metrics",
        pipeline=pipeline,
        measured=measured,
        rows=_rows([*known, *diverse], values),
        aggregates=aggregates,
        alike=alike,
        quasi_released=quasi_released,
        attribute_unit=literal(ATTRIBUTE.unit),
        attribute_text=literal(ATTRIBUTE.description),
    )


def audit_sql(call: Call, release: Relation) -> str:
    """The SQL of anonymize_audit(): a release held against its source."""
    source, options, roles, trees = call.source, call.options, call.roles, call.hierarchies
    diverse, aggregates, alike = _diversity(options, roles)
    k = "NULL" if options["k"] is None else str(options["k"])
    told = {"weights": options["weights"]}
    published = replace(roles, identifiers=())
    return statement(
        "calls/audit",
        relation=source.sql,
        release=release.sql,
        where=where(roles),
        released_where=where(published),
        quasi_released=quasi(roles, (), dropped=roles.identifiers),
        trees=trees.stages(),
        keyed=trees.keyed("_kept"),
        hierarchies=trees.argument(),
        quasi=quasi(roles, ()),
        options=literal(json.dumps(told, sort_keys=True)),
        k=k,
        aggregates=aggregates,
        alike=alike,
        rows=_rows([*AUDIT, *diverse], {"${k}": k}),
        attribute_unit=literal(ATTRIBUTE.unit),
        attribute_text=literal(ATTRIBUTE.description),
        declared=declared(source),
        declared_error=literal(UNDECLARED.format(relation=source.sql)),
    )


def k_anonymity_sql(source: Relation, options: Mapping[str, Any], roles: Roles) -> str:
    """The SQL of k_anonymity()."""
    return statement(
        "calls/k_anonymity",
        quasi=quasi(roles, ()),
        relation=source.sql,
        where=where(roles),
        k="NULL" if options["k"] is None else options["k"],
        declared=declared(source),
        declared_error=literal(UNDECLARED.format(relation=source.sql)),
    )
