"""The SQL of kanon_sql.verify(): what a file alone shows of the release that it holds.

A metric of the registry is shown by the file where its SQL binds to what can be counted there; so
nobody has to say of a metric whether it is, and one that isn't can't be taken for proven.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kanon_sql.call.call import Call
from kanon_sql.call.relation import Relation
from kanon_sql.measure.metrics import METRICS
from kanon_sql.measure.model_metrics import REACHED
from kanon_sql.names import caseless, quoted
from kanon_sql.option import options_of
from kanon_sql.plan.entries import model_asked
from kanon_sql.plan.fragments import chosen, quasi, seen
from kanon_sql.plan.macro_shadowing import unshadowed_sql
from kanon_sql.plan.measure import diversity
from kanon_sql.privacy import MODEL_KINDS, MODELS, OF_MODEL, ModelOptions
from kanon_sql.sql import statement

OF_ALL_ROWS = {model.option for model in MODELS if model.of_all_rows}
"""The options of models that hold a class against all rows; in parts these are those of a part."""


def facts_sql(call: Call, passing: Sequence[str], counts: Mapping[str, int | None]) -> str:
    """A query of one row: what the file shows.

    Args:
        call: k_anonymity of the file.
        passing: its columns that passed unchanged.
        counts: what the manifest says of rows and rows_suppressed, which no file shows.
    """
    _, aggregates, alike = diversity(call)
    return statement(
        "proof.call",
        unshadowed=unshadowed_sql(),
        relation=call.source.sql,
        seen=seen(quasi(call.roles, ())),
        aggregates=aggregates,
        alike=alike,
        seen_passing=seen("COLUMNS(*)"),
        passing="".join(f", {quoted(name)}" for name in passing),
        unchanged_columns=len(passing),
        **{name: "NULL" if count is None else count for name, count in counts.items()},
    )


def numbers_sql(relation: Relation, columns: Sequence[str]) -> str:
    """A query of one value: whether class_id numbers the classes from 1 on, each of them being one
    combination of these columns."""
    return statement(
        "proof.class_id", unshadowed=unshadowed_sql(), relation=relation.sql,
        seen=seen(chosen(columns)) if columns else "NULL",
    )


def shown_metrics(call: Call) -> Iterator[tuple[str, str]]:
    """Name and SQL of each metric that the file may show, over the facts."""
    k = "NULL" if call.k is None else str(call.k)
    for metric in (*METRICS, *diversity(call)[0]):
        if metric.by_source or metric.is_text:
            continue
        try:
            yield metric.name, metric.of_call({"k": k}).expression
        except KeyError:  # it needs what only the call knew
            continue


def model_options(options: Mapping[str, Any], hidden: Sequence[str]) -> dict[str, Any]:
    """The options by which k_anonymity measures the models of a manifest, by column.

    Args:
        options: those of the manifest.
        hidden: sensitive columns that went by a hierarchy, in lower case; the file lacks it.
    """
    columns = options.get("sensitive") or []
    by_option: dict[str, Any] = {}
    for name in options_of(ModelOptions):
        option = options.get(name)
        if option is None or name == "sensitive_nulls" or (
            options.get("within") and name in OF_ALL_ROWS
        ):
            continue
        by_column = option if isinstance(option, Mapping) else dict.fromkeys(columns, option)
        kept = {
            column: value for column, value in by_column.items()
            if caseless(column) not in hidden and not isinstance(value, Mapping)
        }
        if kept:
            by_option[name] = kept
    # what is said of a model that isn't asked for would be refused
    for name, model in OF_MODEL.items():
        asked = {caseless(column) for column in by_option.get(model, ())}
        kept = {c: v for c, v in by_option.pop(name, {}).items() if caseless(c) in asked}
        if kept:
            by_option[name] = kept
    if by_option and options.get("sensitive_nulls") is not None:
        by_option["sensitive_nulls"] = options["sensitive_nulls"]
    return by_option


def reached(options: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, float]:
    """What a row of k_anonymity says of the models of a sensitive column, by metric.

    Args:
        options: of the models, by column.
        row: the row.
    """
    column, metrics = str(row["sensitive"]), {}
    for option in MODEL_KINDS:
        limits = {caseless(name): limit for name, limit in options.get(option, {}).items()}
        if caseless(column) in limits:
            model = model_asked(options, option, column)
            metric = REACHED[model.thresholds[-1].name]
            metrics[f"{metric.name} ({column})"] = row[model.audited_as]
    return metrics
