"""The SQL of anonymize_risk()."""

from __future__ import annotations

import json

from kanon_sql.call.call import Call
from kanon_sql.measure.risk_metrics import BY_SUBSET, DRIVES, RISK
from kanon_sql.names import literal, quoted
from kanon_sql.plan.bind_checks import refusals
from kanon_sql.plan.fragments import one_empty_row, quasi, rows_of, seen, source_rows, where
from kanon_sql.plan.macro_shadowing import unshadowed_sql
from kanon_sql.plan.metric_rows import metric_rows
from kanon_sql.sql import expression, statement

WEIGHTLESS = (
    "The weight column {!r} must hold a number above 0 in every row. Fill or leave out the rows "
    "without one, or name another column."
)


def _people(call: Call) -> tuple[str, str, str]:
    """The stage with the people of each class, and SQL of how many there are in all and how many
    of them are alone in theirs."""
    unknown, size = "NULL::BIGINT", call.risk.population_size
    if call.risk.sampling_weight is not None:
        stage = statement("risk.people_by_weight")
        return stage, "(SELECT __kanon_added(__kanon_people) FROM __kanon_sizes)", unknown
    if call.population is None:
        total = "NULL::DOUBLE" if size is None else f"{size}::DOUBLE"
        return statement("risk.people_of_nobody"), total, unknown
    names = call.roles.known_columns(call.source)
    stage = statement(
        "risk.people_of_population",
        cells=", ".join(f"__kanon_key({quoted(name)})" for name in names),
        population=rows_of(call.population, names),
        where=f"\n    WHERE {' AND '.join(f'__kanon_has({quoted(name)})' for name in names)}",
    )
    return (
        stage,
        "(SELECT sum(there)::DOUBLE FROM __kanon_everybody)",
        "(SELECT count(*) FILTER (WHERE there = 1) FROM __kanon_everybody)",
    )


def _weightless(call: Call) -> str:
    """What is refused of a weight column."""
    if call.risk.sampling_weight is None:
        return ""
    return expression(
        "risk.weightless", weight=quoted(call.risk.sampling_weight),
        said=literal(WEIGHTLESS.format(call.risk.sampling_weight)),
    ) + "\n"


def risk_sql(call: Call) -> str:
    """The SQL of anonymize_risk()."""
    source, roles, risk = call.source, call.roles, call.risk
    columns = quasi(roles, ())
    k = "NULL" if call.k is None else str(call.k)
    people, size, uniques = _people(call)
    options = {
        "k": call.k, "weighted": risk.sampling_weight is not None, "msu_columns": risk.msu_columns,
        "subset_columns": risk.subset_columns,
    }
    looks = risk.msu_columns != 0 or risk.subset_columns > 0
    distinctness, separation = BY_SUBSET
    return statement(
        "risk.call",
        unshadowed=unshadowed_sql(),
        relation=source_rows(call),
        where=where(source, roles, call.checked),
        quasi=columns,
        one_kept=one_empty_row("__kanon_kept"),
        seen=seen(columns),
        values=f"any_value({columns}) AS '__kanon_value_\\0',\n           " if looks else "",
        cells=expression("risk.measured_columns") if looks else "NULL",
        weight=(
            "NULL::DOUBLE" if risk.sampling_weight is None
            else f"__kanon_total({quoted(risk.sampling_weight)})"
        ),
        people=people + "\n",
        population_size=size,
        facts=statement(
            "risk.facts", k=k, population_size=size, population_uniques=uniques,
            measured="(SELECT facts FROM __kanon_measured)",
        ),
        options=literal(json.dumps(options, sort_keys=True)),
        rows=metric_rows(RISK, {"k": k}),
        column_name=literal(DRIVES.name),
        column_unit=literal(DRIVES.unit),
        column_text=literal(DRIVES.description),
        distinctness_name=literal("distinctness"),
        distinctness_unit=literal(distinctness.unit),
        distinctness_text=literal(distinctness.description),
        separation_name=literal("separation"),
        separation_unit=literal(separation.unit),
        separation_text=literal(separation.description),
        refusals=refusals(call) + _weightless(call),
    )
