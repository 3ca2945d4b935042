"""The audit without Python: SQL macros in one file, made of the SQL of the calls.

Who receives a release measures it with them, and verifies its manifest, in any client of DuckDB.
"""

from __future__ import annotations

from dataclasses import replace
from string import Template

from kanon_sql.call.models import measured_models
from kanon_sql.measure.metrics import METRICS
from kanon_sql.measure.model_metrics import REACHED
from kanon_sql.measure.risk_metrics import RISK
from kanon_sql.names import literal, quoted
from kanon_sql.plan.fragments import one_empty_row, seen
from kanon_sql.plan.k_anonymity import measured_sql, stages_of_models
from kanon_sql.plan.macros import helper_macros
from kanon_sql.plan.manifest import FORMAT, KEY, SECTIONS, digest_of
from kanon_sql.plan.models import Checked, checked, model_stages, stages_of
from kanon_sql.privacy import MODELS, OF_MODEL, WHOLE, ModelOptions
from kanon_sql.sql import expression, statement
from kanon_sql.version import __version__

HEAD = (
    "-- kanon_sql's audit in plain SQL. It runs in DuckDB 1.4 and later, without Python.",
    "--",
    "--     .read kanon_audit.sql",
    "--     FROM k_anonymity('release.parquet', ['age', 'zip'], k := 5);",
    "--     FROM privacy_models('release.parquet', ['age', 'zip'], 'disease');",
    "--     FROM k_map('release.parquet', 'census', ['age', 'zip']);",
    "--     FROM verify_release('release.parquet');",
    "--",
    "-- A relation is a string: the name of a table or view, or the path of a file.",
    "-- The macros are temporary: they write nothing to the database.",
    "-- Don't read this file where kanon_sql is registered, which has its own k_anonymity.",
    "--",
    f"-- Generated from the SQL of kanon_sql {__version__}. Don't edit it.",
)
"""The comment at the top of the file."""

SENSITIVE = "__kanon_sensitive"
"""The name of the sensitive column in the SQL."""

GIVEN = "COLUMNS(quasi_identifiers)"
"""The columns that the caller lists."""

ASKED = (
    "__kanon_quasi", "__kanon_passing", "__kanon_secret", "unchanged_columns", "asked_k", "rows_in",
    "rows_suppressed", "readable",
)
"""The columns of __kanon_asked."""

SHOWN = (
    "rows_released", "k", "prosecutor_risk_max", "classes", "class_size_mean", "class_size_max",
    "k_requested", "discernibility", "c_avg", "overfull_ratio", "quadratic_penalty",
    "unchanged_columns", "unique_in_unchanged", "prosecutor_risk_mean",
)
"""The metrics that the rows of a file show, whatever the call was."""


def audit_macros() -> str:
    """The text of the file."""
    macros = [_k_anonymity(), _privacy_models(), _k_map(), _verify_release()]
    helpers = [f"{text};" for text in helper_macros(macros, [_macro("zero")])]
    return "\n\n".join(["\n".join(HEAD), *helpers, *macros]) + "\n"


def _macro(name: str, **values: object) -> str:
    return statement(f"audit_macros.{name}", **values)


def _sizes() -> str:
    return statement(
        "k_anonymity.sizes", seen=seen(GIVEN), relation="query_table(relation)", where=""
    )


def _listed() -> str:
    return _macro("listed")


def _k_anonymity() -> str:
    figures = statement("k_anonymity.figures", k="k")
    return _macro("k_anonymity", sizes=_sizes(), figures=figures, listed=_listed())


def _privacy_models() -> str:
    measured = measured_models((), ModelOptions(), SENSITIVE).values()
    places = [replace(each, only_worst=True) for each in checked(measured, [SENSITIVE])]
    sets = statement(
        "k_anonymity.sets", seen=seen(GIVEN), relation=expression("audit_macros.with_sensitive"),
        cells=expression("k_anonymity.set_values", i=0, column=quoted(SENSITIVE)), where="",
        kept="__kanon_values_0", numbered="", of_part="",
    )
    return _macro(
        "privacy_models", stages=f"{sets},\n{stages_of_models(places, [SENSITIVE], None, False)}",
        measured=measured_sql(places), listed=_listed(),
    )


def _k_map() -> str:
    people = statement(
        "risk.people_of_population", cells="list_sort([*COLUMNS(*)], 'ASC', 'NULLS FIRST')",
        population=f"({expression('audit_macros.keys', relation='population')})", where="",
    )
    facts = statement(
        "risk.facts", k="k", population_size="(SELECT sum(there)::DOUBLE FROM __kanon_everybody)",
        population_uniques="(SELECT count(*) FILTER (WHERE there = 1) FROM __kanon_everybody)",
        measured="NULL",
    )
    metrics = ",\n       ".join(
        f"{metric.of_call({'k': 'k'}).expression} AS {quoted(metric.name)}"
        for metric in RISK if not metric.by_source
    )
    return _macro(
        "k_map", sizes=_sizes(), keys=statement("audit_macros.keys", relation="relation"),
        people=people, facts=facts, metrics=metrics, listed=_listed(),
    )


def _verify_release() -> str:
    shown = {metric.name: metric.of_call({"k": "asked_k"}) for metric in METRICS
             if metric.name in SHOWN}
    places = _places()
    histogram = _macro("histogram_of_columns")
    stages = model_stages([], [SENSITIVE], lambda i, column: histogram, in_parts=True)
    stages += "\n".join(stages_of(places))
    return _macro(
        "verify_release", sections=" AND ".join(
            f"coalesce(json_type(told, '$.{name}'), '') = 'OBJECT'" for name in SECTIONS
        ), key=literal(KEY), format=FORMAT, stages=stages.rstrip(",\n"),
        columns=f"COLUMNS(* EXCLUDE ({', '.join(ASKED)}))",
        digest=digest_of("__kanon_kept"), one_row=one_empty_row("__kanon_kept"),
        metrics=",\n        ".join(
            f"{{'metric': {literal(name)}, 'value': ({metric.expression})::DOUBLE}}"
            for name, metric in shown.items()
        ),
        models="\n    UNION ALL\n    ".join(_shown(each, when) for each, when in places.items()),
        all_classes="".join(
            _macro(
                "all_classes", option=literal(kind.option),
                reached=shown[kind.reached[0]].expression,
            ) + "\n    UNION ALL\n    " for kind in WHOLE
        ),
    )


def _places() -> dict[Checked, str]:
    """What measures the classes of a file, by model and column, and when it does."""
    kept = {each: when for model in MODELS for when, each in model.by_manifest(SENSITIVE).items()}
    return dict(zip(checked(kept, [SENSITIVE], in_parts=True), kept.values(), strict=True))


def _shown(each: Checked, when: str) -> str:
    """SQL of the metric of a model, of each column where a file shows it."""
    said = {name: _limit(name) for name in OF_MODEL}
    limit = _limit(each.model.option)
    conditions = [
        f"TRY_CAST({limit} AS DOUBLE) IS NOT NULL",
        Template(when).substitute(said), _macro("by_rows"),
    ]
    if each.model.of_all_rows:
        conditions.append(_macro("whole"))
    return _macro(
        "shown_model", metric=literal(REACHED[each.model.thresholds[-1].name].name),
        limit=limit, more_is_better=str(each.model.more_is_better).lower(), worst=each.worst,
        stage=each.stage, shown=" AND\n          ".join(conditions),
    )


def _limit(name: str) -> str:
    return expression("audit_macros.limit", option=literal(name))
