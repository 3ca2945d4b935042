"""A call in, SQL text out. Nothing here touches data or a connection.

The whole of kanon_sql is one SQL query; this folder writes it. The stages are in
sql/pipeline.sql, in the order in which they run: unshadowed, source, cells, begun, waited,
grouped, labels, classes, sizes, check. What stands around them depends on the call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kanon_sql.call.call import Call, GroupingCall, read_call
from kanon_sql.call.catalog import Catalog
from kanon_sql.call.referenced_columns import ReferencedColumns, unsure_columns
from kanon_sql.call.referenced_relations import (
    ReferencedRelation,
    relations_of,
    relations_of_hierarchy,
    relations_of_ledger,
)
from kanon_sql.call.relation import find_relation
from kanon_sql.methods import METHODS
from kanon_sql.names import literal
from kanon_sql.option import LEDGER_CHECK
from kanon_sql.plan.fragments import helpers, listed
from kanon_sql.plan.hierarchies import hierarchy_spec, hierarchy_sql
from kanon_sql.plan.k_anonymity import k_anonymity_sql
from kanon_sql.plan.ledger import goes_on, ledger_check_sql, ledger_sql
from kanon_sql.plan.manifest import manifest_sql, without_seed, written_sql
from kanon_sql.plan.measure import audit_sql, metrics_sql
from kanon_sql.plan.pipeline import measured_sql, passing, pipeline_sql
from kanon_sql.plan.risk import risk_sql
from kanon_sql.plan.roles import roles_sql
from kanon_sql.plan.verify import too_small
from kanon_sql.sql import statement

HIERARCHY = "hierarchy"


@dataclass(frozen=True)
class Plan:
    """What a call becomes.

    Attributes:
        text: the SQL that it runs.
        relations: those that it names.
        columns: those that it names, and of which only DuckDB knows whether they exist.
    """

    text: str
    relations: tuple[ReferencedRelation, ...]
    columns: ReferencedColumns | None = None


def plan(name: str, relation: object, options: Mapping[str, Any], catalog: Catalog) -> Plan:
    """The SQL text that one call runs.

    Args:
        name: the call: one of GROUPING_CALLS or AUDITS, 'ledger_check', or 'hierarchy'.
        relation: what the user calls the relation.
        options: raw option values by name.
        catalog: finds the columns and comments of a committed table or view.

    Raises:
        OptionError: anything about the call that can't be used as given.
    """
    if name == HIERARCHY:
        source = find_relation(relation, catalog)
        spec = hierarchy_spec(options, catalog)
        return Plan(
            hierarchy_sql(source, spec), relations_of_hierarchy(source, spec),
            unsure_columns(source, options),
        )
    if name == LEDGER_CHECK:
        ledger = find_relation(relation, catalog)
        return Plan(ledger_check_sql(ledger, options), relations_of_ledger(ledger))
    call = read_call(name, relation, options, catalog)
    text = GROUPING[name](call) if isinstance(call, GroupingCall) else AUDITING[name](call)
    return Plan(text, relations_of(call), unsure_columns(call.source, options))


def measured_manifest(relation: object, options: Mapping[str, Any], catalog: Catalog) -> Plan:
    """The plan of anonymize_manifest, where a column more holds all metrics: what a report needs
    of both calls, from one run. The rest as of ``plan``."""
    call = read_call("anonymize_manifest", relation, options, catalog)
    assert isinstance(call, GroupingCall)
    call = replace(call, measure=replace(call.measure, detail=True))
    text = manifest_sql(call, _release(without_seed(call)), measured=True)
    return Plan(text, relations_of(call), unsure_columns(call.source, options))


def written(relation: object, options: Mapping[str, Any], catalog: Catalog) -> Plan:
    """The plan of a release that a file gets, with its manifest: see ``written_sql``. The rest as
    of ``plan``."""
    call = read_call("anonymize_manifest", relation, options, catalog)
    assert isinstance(call, GroupingCall)
    text = written_sql(call, _release(without_seed(call)), *_released(call))
    return Plan(text, relations_of(call), unsure_columns(call.source, options))


def _release(call: GroupingCall) -> str:
    stages, rows = _released(call)
    return statement("query.release", pipeline=pipeline_sql(call), stages=stages, rows=rows)


def _released(call: GroupingCall) -> tuple[str, str]:
    """The stages behind the pipeline of a release, and the query of its rows, in their order."""
    keep, sets, seed = call.release.keep_order, call.release.holds_sets, call.task.seed
    dropped = listed((*helpers(call.roles), *call.roles.identifiers))
    if not passing(call):
        values = "*COLUMNS(__kanon.* EXCLUDE (__kanon_rows))"
        if sets:
            values = f"'', md5(__kanon_row_text(row('', {values})))"
        order = f"md5(concat('{seed} ', __kanon_row_text(row({values}))))"
        return (
            statement("query.stages_of_classes", dropped=dropped),
            statement("query.rows_of_classes", order=order),
        )
    values = "'', *COLUMNS(__kanon.* EXCLUDE (__kanon_place))" if sets else "*COLUMNS(__kanon.*)"
    hash_order = f"md5(concat('{seed} ', __kanon_row_text(row({values}))))"
    order = "__kanon_row ASC" if keep else f"{hash_order} ASC"
    hidden = " EXCLUDE (__kanon_row)" if keep else ""
    given = {"dropped": dropped, "passing": passing(call)}
    if sets:
        return (
            statement("query.stages_of_sets", order=order, **given),
            statement("query.rows_of_sets", hidden=hidden),
        )
    return (
        statement("query.stages_of_rows", **given),
        statement("query.rows", order=order, hidden=hidden),
    )


def _clusters(call: GroupingCall) -> str:
    sensitive = ", ".join(map(literal, call.roles.sensitive))
    kind, small = too_small(call.task)
    return statement(
        "query.clusters",
        pipeline=pipeline_sql(call, measured=True),
        measured=measured_sql(call, only_radii=True),
        multisets=f",\n           __kanon_multiset(COLUMNS([{sensitive}]))" if sensitive else "",
        k=call.task.k,
        seed=call.task.seed,
        small_kind=literal(kind),
        small_error=literal(small),
    )


def _suppressed(call: GroupingCall) -> str:
    away = ", ".join(helpers(call.roles))
    shown = f", __kanon_source.* EXCLUDE ({away})" if call.show_values else ""
    return statement(
        "query.suppressed",
        pipeline=pipeline_sql(call),
        values=(", reason" if goes_on(call) else "") + shown,
        reasons=",\n" + statement("ledger.reasons") if goes_on(call) else "",
        joined=" JOIN __kanon_reasons USING (__kanon_row)" if goes_on(call) else "",
    )


def _ledger(call: GroupingCall) -> str:
    return ledger_sql(call, pipeline_sql(call))


def _sql(call: GroupingCall) -> str:
    return f"SELECT {literal(_release(call))} AS sql"


def methods_sql() -> str:
    """The SQL of anonymize_methods(): the dictionary of methods as a table."""
    rows = ",\n    ".join(
        f"({literal(m.name)}, {literal(m.use)}, {literal(m.summary)}, {literal(m.guarantee)}, "
        f"{literal(m.cost)}, "
        f"system.main.list_value({', '.join(map(literal, m.options))})::VARCHAR[], "
        f"{literal(m.representation)}, "
        f"{literal(m.source)})"
        for m in METHODS.values()
    )
    return (
        f"SELECT * FROM (VALUES\n    {rows}\n) AS methods"
        "(method, use, summary, guarantee, cost, options, representation, source)"
    )


GROUPING: dict[str, Callable[[GroupingCall], str]] = {
    "anonymize": _release,
    "anonymize_clusters": _clusters,
    "anonymize_metrics": metrics_sql,
    "suppressed_rows": _suppressed,
    "anonymize_sql": _sql,
    "anonymize_roles": roles_sql,
    "anonymize_ledger": _ledger,
    "anonymize_manifest": lambda call: manifest_sql(call, _release(without_seed(call))),
}

AUDITING: dict[str, Callable[[Call], str]] = {
    "k_anonymity": k_anonymity_sql,
    "anonymize_audit": audit_sql,
    "anonymize_risk": risk_sql,
}
