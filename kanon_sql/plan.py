"""Options in, SQL text out. Nothing here touches data or a connection.

The whole of kanon_sql is one SQL query; this module writes it. The stages are in
sql/pipeline.sql, in the order in which they run: source, cells, begun, waited, grouped, labels,
classes, released, sizes, check. What stands around them depends on the call.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kanon_sql.errors import OptionError
from kanon_sql.grouping import METHODS
from kanon_sql.metrics import METRICS
from kanon_sql.options import POINTS, SPECIAL, read_options
from kanon_sql.plan_hierarchies import Hierarchies, all_hierarchies, hierarchy_sql
from kanon_sql.relation import Catalog, Relation, find_relation, literal, quoted
from kanon_sql.roles import Roles, resolve_roles
from kanon_sql.sql import statement
from kanon_sql.version import __version__

SMALL = (
    "The release was stopped: a class of released values has {{}} rows, fewer than k = {k}. "
    "Nothing came out; please report this as a bug of the method {method}."
)
LOST = (
    "The release was stopped: it has {} rows of {} to be released, {} of them once. Nothing came "
    "out; please report this as a bug."
)
MANY = (
    "The release was stopped: it leaves out {{}} rows, more than suppress = {share} allows. "
    "Nothing came out; please report this as a bug of the method {method}."
)
TAKEN = (
    "The relation has a column '{}', a name that the query needs for itself. Rename it first."
)
UNDECLARED = (
    "The column comments of {relation} declare roles that are not committed yet. Commit first, or "
    "give the roles in the call."
)

ROW = ("__kanon_row", "__kanon_hash")
HIERARCHY = "hierarchy"


def plan(call: str, relation: object, given: Mapping[str, Any], catalog: Catalog) -> str:
    """The SQL text that one call runs.

    Args:
        call: one of CALLS, such as 'anonymize'.
        relation: what the user calls the relation.
        given: raw option values by name.
        catalog: finds the columns and comments of a committed table or view.

    Raises:
        OptionError: anything about the call that can't be used as given.
    """
    source = find_relation(relation, catalog)
    if call == HIERARCHY:
        return hierarchy_sql(source, given, catalog)
    options = read_options(call, given)
    for name in source.columns or ():
        if name.lower().startswith("__kanon_") or (
            name.lower() == "class_id" and options.get("class_id")
        ):
            raise OptionError(TAKEN.format(name))
    roles = resolve_roles(options, source.columns)
    if call == "k_anonymity":
        return _audit(source, options, roles)
    found = all_hierarchies(options, roles, source)
    hierarchies = Hierarchies(found, catalog, options["show_values"], "_kept")
    return CALLS[call](Call(source, options, roles, hierarchies))


@dataclass(frozen=True)
class Call:
    """What one call asks for: its relation, options, roles and hierarchies."""

    source: Relation
    options: Mapping[str, Any]
    roles: Roles
    hierarchies: Hierarchies


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(map(quoted, names))


def _quasi(roles: Roles, helpers: tuple[str, ...], dropped: tuple[str, ...] = ()) -> str:
    """The quasi-identifiers, as a COLUMNS expression over a stage with these helper columns,
    where the columns ``dropped`` are gone."""
    if roles.quasi_identifiers:
        return f"COLUMNS([{', '.join(map(literal, roles.quasi_identifiers))}])"
    others = (*roles.sensitive, *roles.identifiers, *roles.other)
    away = (*helpers, *(name for name in others if name not in dropped))
    return f"COLUMNS(* EXCLUDE ({_names(away)}))" if away else "COLUMNS(*)"


def _where(roles: Roles) -> str:
    """Names every column that has a role, so that a missing one is refused by its name."""
    checks = " AND ".join(f"__kanon_has({quoted(name)})" for name in roles.named)
    return f"\n    WHERE {checks}" if checks else ""


def _declared(source: Relation) -> str:
    """True where the roles that the planner saw are those that the query sees."""
    database, schema, table = ("", "", *source.parts)[-3:]
    seen = sorted(
        f"{column} {comment}"
        for column, comment in (source.columns or {}).items()
        if "kanon:" in (comment or "")
    )
    here = {
        "table_name": literal(table),
        "schema_name": literal(schema) if schema else "current_schema()",
        "database_name": literal(database) if database else "current_database()",
    }
    place = " AND ".join(f"lower({column}) = lower({name})" for column, name in here.items())
    return (
        "(SELECT list_sort(coalesce(list(concat(column_name, ' ', comment)), [])) "
        f"FROM duckdb_columns() WHERE comment LIKE '%kanon:%' AND {place})"
        f" = [{', '.join(map(literal, seen))}]::VARCHAR[]"
    )


def _run_options(options: Mapping[str, Any]) -> str:
    """The options that the functions inside the query need, as a JSON literal."""
    names = [
        "k", "method", "weights", "nulls", "seed", "refine", "refine_steps", "refine_seconds",
        "block_rows", "progress", "distance", "loss", "suppress", "class_label", "diversity",
        "sensitive_values",
    ]
    names += [name for name in METHODS[options["method"]].options if name not in names]
    kept = {name: options[name] for name in names}
    return literal(json.dumps(kept, sort_keys=True))


def _classes(representation: str, quasi: str, stage: str = "_labelled") -> str:
    return (
        f"SELECT __kanon_class, __kanon_{representation}({quasi})"
        f" FROM {stage} GROUP BY __kanon_class"
    )


def _released_classes(call: Call) -> str:
    """What each class releases."""
    options, trees = call.options, call.hierarchies
    labelled = _quasi(call.roles, ("__kanon_class", *ROW))
    if not (trees and options["by_hierarchy"]):
        return _classes(options["representation"], labelled)
    plain = _classes(options["representation"], labelled, trees.emptied("_labelled"))
    return trees.classes(plain, options["recoding"] == "global")


def _pipeline(call: Call, clock: str = "") -> str:
    source, options, roles, trees = call.source, call.options, call.roles, call.hierarchies
    seed, classes = options["seed"], _released_classes(call)
    if options["class_id"]:
        classes = (
            "SELECT *, dense_rank() OVER (ORDER BY md5(concat("
            f"'{seed} ', row(*COLUMNS(* EXCLUDE (__kanon_class)))::VARCHAR)) ASC) AS class_id\n"
            f"    FROM ({classes})"
        )
    if roles.quasi_identifiers:
        away = ("__kanon_class", *ROW, *roles.quasi_identifiers, *roles.identifiers)
        passing = f", _labelled.* EXCLUDE ({_names(away)})"
    else:
        passing = "".join(f", _labelled.{quoted(n)}" for n in (*roles.sensitive, *roles.other))
    if options["keep_order"]:
        passing += ", _labelled.__kanon_row"
    hidden = ("__kanon_row",) if options["keep_order"] else ()
    quasi_released = _quasi(roles, hidden, dropped=roles.identifiers)
    if options["class_id"] and roles.quasi_identifiers:
        quasi_released += ", class_id"
    k, method = options["k"], options["method"]
    return statement(
        "pipeline",
        seed=seed,
        k=k,
        relation=source.sql,
        clock=clock,
        where=_where(roles),
        trees=trees.stages(),
        keyed=trees.keyed("_kept"),
        keyed_source=trees.keyed("_source"),
        hierarchies=trees.argument(),
        label=quoted(options["class_label"]) if options["class_label"] else "NULL",
        secret=quoted(roles.sensitive[0]) if options["diversity"] else "NULL",
        suppressed=options["suppress"],
        out_error=literal(MANY.format(share=options["suppress"], method=method)),
        quasi=_quasi(roles, ROW),
        class_id=" OR lower(name) = 'class_id'" if options["class_id"] else "",
        taken_error=literal(TAKEN),
        suppress=(
            f" WHERE __kanon_value({_quasi(roles, ROW)}) IS NOT NULL"
            if options["nulls"] == "suppress"
            else ""
        ),
        options=_run_options(options),
        classes=classes,
        dropped=_names((*ROW, *roles.identifiers)),
        passing=passing,
        quasi_released=quasi_released,
        declared=_declared(source),
        declared_error=literal(UNDECLARED.format(relation=source.sql)),
        small_error=literal(SMALL.format(k=k, method=method)),
        lost_error=literal(LOST),
    )


def _measured(call: Call) -> str:
    representation = call.options["representation"]
    point = representation if representation in POINTS else "centroid"
    labelled = _quasi(call.roles, ("__kanon_class", *ROW))
    return statement(
        "measured",
        quasi_classes="COLUMNS(* EXCLUDE (__kanon_class))",
        centers=_classes(point, labelled, call.hierarchies.keyed("_labelled")),
        options=_run_options(call.options),
        hierarchies=call.hierarchies.argument(),
    )


def _release(call: Call) -> str:
    keep, seed = call.options["keep_order"], call.options["seed"]
    hash_order = f"md5(concat('{seed} ', row(*COLUMNS(__kanon.*))::VARCHAR))"
    return statement(
        "release",
        pipeline=_pipeline(call),
        hidden=" EXCLUDE (__kanon_row)" if keep else "",
        order="__kanon_row ASC" if keep else f"{hash_order} ASC",
    )


def _clusters(call: Call) -> str:
    k, listed = call.options["k"], ", ".join(map(literal, call.roles.sensitive))
    return statement(
        "clusters",
        pipeline=_pipeline(call),
        measured=_measured(call),
        multisets=f",\n           __kanon_multiset(COLUMNS([{listed}]))" if listed else "",
        k=k,
        seed=call.options["seed"],
        small_error=literal(SMALL.format(k=k, method=call.options["method"])),
    )


def _suppressed(call: Call) -> str:
    shown = ", _source.* EXCLUDE (__kanon_row, __kanon_hash)"
    return statement(
        "suppressed",
        pipeline=_pipeline(call),
        values=shown if call.options["show_values"] else "",
    )


def _metrics(call: Call) -> str:
    options, roles = call.options, call.roles
    used = {**options, "quasi_identifiers": list(roles.quasi_identifiers) or "all other columns",
            "sensitive": list(roles.sensitive), "identifiers": list(roles.identifiers)}
    for name in {*SPECIAL, "by_hierarchy"} - set(METHODS[options["method"]].options):
        del used[name]
    values = {
        "${k}": str(options["k"]),
        "${method}": literal(options["method"]),
        "${options}": literal(json.dumps(used, sort_keys=True)),
        "${seed}": str(options["seed"]),
        "${version}": literal(f"kanon_sql {__version__}, DuckDB ") + " || version()",
    }
    rows = []
    for metric in METRICS:
        value = values.get(metric.expression, metric.expression)
        number, text = ("NULL", value) if metric.is_text else (f"({value})::DOUBLE", "NULL")
        point = options["representation"] in POINTS
        if metric.name == "sse_released" and not point:
            number = "NULL"
        rows.append(
            f"{{'metric': {literal(metric.name)}, 'value': {number}::DOUBLE, "
            f"'text': {text}::VARCHAR, 'unit': {literal(metric.unit)}, "
            f"'description': {literal(metric.description)}}}"
        )
    return statement(
        "metrics",
        pipeline=_pipeline(call, clock=", __kanon_started"),
        measured=_measured(call),
        rows=",\n    ".join(rows),
    )


def _sql(call: Call) -> str:
    return f"SELECT {literal(_release(call))} AS sql"


def _audit(source: Relation, options: Mapping[str, Any], roles: Roles) -> str:
    return statement(
        "k_anonymity",
        quasi=_quasi(roles, ()),
        relation=source.sql,
        where=_where(roles),
        k="NULL" if options["k"] is None else options["k"],
        declared=_declared(source),
        declared_error=literal(UNDECLARED.format(relation=source.sql)),
    )


def methods_sql() -> str:
    """The SQL of anonymize_methods(): the dictionary of methods as a table."""
    rows = ",\n    ".join(
        f"({literal(m.name)}, {literal(m.summary)}, {literal(m.guarantee)}, {literal(m.cost)}, "
        f"[{', '.join(map(literal, m.options))}]::VARCHAR[], {literal(m.representation)}, "
        f"{literal(m.source)})"
        for m in METHODS.values()
    )
    return (
        f"SELECT * FROM (VALUES\n    {rows}\n) AS methods"
        "(method, summary, guarantee, cost, options, representation, source)"
    )


CALLS: dict[str, Callable[[Call], str]] = {
    "anonymize": _release,
    "anonymize_clusters": _clusters,
    "anonymize_metrics": _metrics,
    "anonymize_suppressed": _suppressed,
    "anonymize_sql": _sql,
}
