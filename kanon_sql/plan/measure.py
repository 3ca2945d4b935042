"""The SQL of the calls that measure: anonymize_metrics and anonymize_audit."""

from __future__ import annotations

import json
from dataclasses import replace

from kanon_sql.call.call import Call, GroupingCall
from kanon_sql.call.choices import POINTS
from kanon_sql.call.roles import Roles
from kanon_sql.measure.audit_metrics import AUDIT
from kanon_sql.measure.brief import BRIEF, BRIEF_NOTICES, BRIEF_ROWS, FIRST
from kanon_sql.measure.column_metrics import OF_COLUMN
from kanon_sql.measure.ledger_metrics import LEDGER, OF_HEADROOM
from kanon_sql.measure.metrics import (
    AS_CHOSEN,
    AS_GROUPED,
    ATTRIBUTE,
    CHOSEN,
    COST,
    DIVERSITY,
    METRICS,
    NOTICE,
    OF_GROUPING,
    VERBATIM,
    Metric,
    filled,
)
from kanon_sql.measure.model_metrics import metrics_of_others, model_metrics
from kanon_sql.measure.part_metrics import OF_EACH, PARTS
from kanon_sql.measure.person_metrics import PERSONS
from kanon_sql.measure.risk_metrics import WEIGHTED
from kanon_sql.methods import GroupTask
from kanon_sql.methods.auto import AUTO
from kanon_sql.methods.centers.geometry import UNITS
from kanon_sql.methods.single_attribute.geometry import AttributeGeometry
from kanon_sql.names import caseless, literal, quoted
from kanon_sql.plan.bind_checks import refusals
from kanon_sql.plan.fragments import (
    helpers,
    listed,
    one_empty_row,
    quasi,
    rows_of,
    seen,
    source_rows,
    where,
)
from kanon_sql.plan.generalize import publishes_centers
from kanon_sql.plan.hierarchies import Hierarchies
from kanon_sql.plan.macro_shadowing import unshadowed_sql
from kanon_sql.plan.metric_rows import metric_rows
from kanon_sql.plan.parts import of_each_part, stages_by_part
from kanon_sql.plan.persons import persons_lacking
from kanon_sql.plan.pipeline import measured_sql, named_columns, pipeline_sql
from kanon_sql.plan.risk import WEIGHTLESS
from kanon_sql.sql import expression, statement
from kanon_sql.version import __version__


def diversity(call: Call) -> tuple[list[Metric], str, str]:
    """The metrics of each sensitive column, SQL of what they need of each class, and of all."""
    label, roles = call.class_label, call.roles
    grave = ", ".join(map(literal, call.measure.sensitive_values))
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


def _weighted(call: Call) -> tuple[list[Metric], str, str]:
    """The same of the column of weights, where there is one."""
    column = call.risk.sampling_weight
    if column is None:
        return [], "", ""
    name = quoted(column)
    per_class = (
        f", __kanon_total({name}) AS __kanon_people"
        f", bool_and(__kanon_weighs({name})) AS __kanon_weighed"
    )
    least = expression("measure.weighted", said=literal(WEIGHTLESS.format(column)))
    people = "__kanon_added(__kanon_size / __kanon_people)"
    total = f", {least} AS least_people, {people} AS people_found"
    return list(WEIGHTED), per_class, total


def _cost(task: GroupTask) -> str:
    """SQL of what the method's guarantee is about; sizes are those of the released classes."""
    geometry = task.geometry
    return geometry.cost_sql(task) if isinstance(geometry, AttributeGeometry) else COST


def _as_grouped(task: GroupTask) -> str:
    """SQL that says whether what the method proves is true of what is released."""
    if isinstance(task.geometry, AttributeGeometry):
        return filled(AS_GROUPED, cost=_cost(task))
    if task.geometry.has_centers:
        return filled(AS_CHOSEN, widening=str(task.own.widening))
    return "true"


def _unit(task: GroupTask) -> str:
    """The unit of what a grouping loses for a model."""
    if task.method is AUTO:
        return "percent; cells of k_member, or of best by loss"
    return "cells" if task.geometry.by_loss else "percent"


def metrics_sql(call: GroupingCall) -> str:
    """The SQL of anonymize_metrics(), around the stages of the release."""
    facts, metrics = facts_and_metrics(call)
    if not call.measure.detail:
        names = f"[{', '.join(map(literal, BRIEF))}]"
        metrics = expression(
            "measure.brief", metrics=metrics, brief=names, rows=BRIEF_ROWS,
            notices=BRIEF_NOTICES,
        )
    if call.by_part:
        return statement(
            "measure.metrics_by_part", facts=facts, metrics=metrics,
            within=listed(call.roles.within),
        )
    return statement("measure.metrics_call", facts=facts, metrics=metrics)


def facts_and_metrics(call: GroupingCall) -> tuple[str, str]:
    """The stages of a release up to __kanon_facts, and SQL of the list of all metrics over that."""
    task = call.task
    diverse, aggregates, alike = diversity(call)
    weighted, of_class, of_all = _weighted(call)
    by_hierarchy = bool(call.hierarchies) and call.release.by_hierarchy
    shown = (call.release.representation, *call.release.by_column.values())
    is_point = all(word in POINTS for word in shown) and not by_hierarchy
    hidden = () if is_point else ("sse_released",)
    if call.roles.within and not call.by_part:
        hidden = (*hidden, *OF_EACH)
    known = [replace(m, expression="NULL") if m.name in hidden else m for m in METRICS]
    known.sort(key=lambda m: FIRST.index(m.name) if m.name in FIRST else len(FIRST))
    cost = _cost(task)
    values = {
        "k": "NULL" if task.promised is None else str(task.promised),
        "distance": UNITS[task.own.in_metric],
        "objective": task.geometry.unit(task),
        "constraint_unit": _unit(task),
        "cost": cost,
        "as_grouped": _as_grouped(task),
        **of_each_part(call.by_part),
        "lacking": persons_lacking(call),
        "method": CHOSEN if task.method is AUTO else literal(task.method.name),
        "options": literal(json.dumps(call.used, sort_keys=True, default=str)),
        "seed": "NULL" if task.secret else literal(str(task.seed)),
        "version": literal(f"kanon_sql {__version__}, DuckDB ") + " || version()",
    }
    facts = statement(
        "measure.facts_by_part" if call.by_part else "measure.facts",
        pipeline=pipeline_sql(call, ", __kanon_started", measured=True),
        measured=measured_sql(call),
        aggregates=aggregates + of_class,
        alike=alike + of_all,
        seen_passing=seen("COLUMNS(*)"),
        **_columns_passing(call),
        centers_equal_to_a_row=(
            expression("measure.centers_equal_to_a_row") if publishes_centers(call)
            else "NULL::BIGINT"
        ),
        **stages_by_part(call, publishes_centers(call)),
    )
    metrics = statement(
        "measure.metrics",
        rows=metric_rows([
            *known, *diverse, *weighted, *(PERSONS if call.roles.entity is not None else ()),
            *(PARTS if call.roles.within and not call.by_part else ()),
            *model_metrics(task.models), *metrics_of_others(task.whole, task.of_population),
            *_of_ledger(call, is_point),
        ], values),
        grouping_text=literal(OF_GROUPING.description),
        attribute_unit=literal(ATTRIBUTE.unit),
        attribute_text=literal(ATTRIBUTE.description),
        notice_text=literal(NOTICE.description),
        verbatim_name=literal(VERBATIM.name),
        verbatim="attribute.verbatim" if is_point else "NULL::DOUBLE",
        verbatim_unit=literal(VERBATIM.unit),
        verbatim_text=literal(VERBATIM.description),
        of_column="".join(
            expression(
                "measure.of_column", number=fact, words=f"{fact}_words",
                metric=literal(metric.name), unit=literal(metric.unit),
                description=literal(metric.description),
            )
            for fact, metric in OF_COLUMN.items()
        ),
    )
    return facts, metrics


def _of_ledger(call: GroupingCall, is_point: bool) -> list[Metric]:
    """The metrics of a call with a ledger; one is about released points."""
    if call.ledger is None:
        return []
    *others, lost = LEDGER
    told = [] if isinstance(call.ledger.headroom, int) else OF_HEADROOM
    return [*others, lost if is_point else replace(lost, expression="NULL"), *told]


def _columns_passing(call: GroupingCall) -> dict[str, str]:
    """How many columns pass unchanged, and the released ones, each after a comma. Those of within
    are among them: whoever looks for a row reads them, too."""
    roles = call.roles
    if roles.rest != "release":
        passing = (*roles.passing, *roles.within)
        names = "".join(f", {quoted(name)}" for name in passing)
        return {"unchanged_columns": str(len(passing)), "passing": names}
    dropped = (*roles.quasi_identifiers, *roles.identifiers)
    return {
        "unchanged_columns": expression("measure.unchanged_columns", away=len(dropped)),
        "passing": f", * EXCLUDE ({listed(('__kanon_class', *helpers(roles), *dropped))})",
    }


def _passing(roles: Roles) -> str:
    """SQL of what rows of the source and of a release have in common, if a release is true: a
    number for the values of all columns that pass unchanged; NULL where none is named."""
    names = (*roles.sensitive, *roles.other)
    keys = ", ".join(f"__kanon_key({quoted(name)})" for name in names)
    return f"hash(row({keys}))::VARCHAR" if names else "NULL::VARCHAR"


def _identifiers(roles: Roles) -> str:
    """The stages that look for identifiers in a release, where any were named."""
    if not roles.identifiers:
        return ""
    named = ", ".join(literal(caseless(name)) for name in roles.identifiers)
    return statement(
        "measure.identifiers",
        identifiers=named,
        one_kept=one_empty_row("__kanon_kept"),
        one_released=one_empty_row("__kanon_released"),
    ) + "\n"


def _told_of(roles: Roles) -> dict[str, str]:
    """SQL of what those stages found, by the holes of the metrics."""
    queries = dict.fromkeys(("released", "determined"), "NULL::VARCHAR[]")
    if roles.identifiers:
        queries = {name: f"(SELECT {name} FROM __kanon_identifiers)" for name in queries}
    named = str(bool(roles.identifiers)).lower()
    return {"identifiers_named": named, **{f"identifiers_{n}": sql for n, sql in queries.items()}}


def audit_sql(call: Call) -> str:
    """The SQL of anonymize_audit(): a release held against its source."""
    roles = call.roles
    trees = Hierarchies(call.hierarchies, call.show_values, "__kanon_kept", call.categorical)
    diverse, aggregates, alike = diversity(call)
    k = "NULL" if call.k is None else str(call.k)
    options = {
        "column_weights": call.weights, "named": named_columns(call),
        "categorical": [caseless(name) for name in call.categorical],
    }
    assert call.audited is not None
    published = replace(roles, identifiers=())
    return statement(
        "audit.call",
        unshadowed=unshadowed_sql(),
        relation=source_rows(call),
        release=rows_of(call.audited, published.named),
        where=where(call.source, roles, call.checked),
        released_where=where(call.audited, published),
        quasi_released=quasi(roles, (), dropped=roles.identifiers),
        seen_released=seen(quasi(roles, (), dropped=roles.identifiers)),
        trees=trees.stages(),
        hierarchies=trees.argument(),
        one_kept=one_empty_row("__kanon_kept"),
        one_released=one_empty_row("__kanon_released"),
        quasi=quasi(roles, ()),
        options=literal(json.dumps(options, sort_keys=True)),
        k=k,
        aggregates=aggregates,
        alike=alike,
        passing=_passing(roles),
        identifiers=_identifiers(roles),
        rows=metric_rows([*AUDIT, *diverse], {"k": k, **_told_of(roles)}),
        attribute_unit=literal(ATTRIBUTE.unit),
        attribute_text=literal(ATTRIBUTE.description),
        refusals=refusals(call),
    )
