"""Options in, SQL text out. Nothing here touches data or a connection.

The whole of kanon_sql is one SQL query; this module writes it. The stages are in
sql/pipeline.sql, in the order in which they run: source, cells, begun, waited, grouped, labels,
classes, released, sizes, check. What stands around them depends on the call.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from kanon_sql.call.choices import POINTS
from kanon_sql.call.options import GROUPING_CALLS, read_options
from kanon_sql.call.relation import Catalog, find_relation, literal, quoted
from kanon_sql.call.roles import resolve_roles
from kanon_sql.errors import OptionError
from kanon_sql.methods import METHODS
from kanon_sql.plan.centers import centers_sql
from kanon_sql.plan.fragments import ROW, UNDECLARED, Call, declared, listed, quasi, where
from kanon_sql.plan.hierarchies import Hierarchies, all_hierarchies, hierarchy_sql, outside
from kanon_sql.plan.measure import audit_sql, k_anonymity_sql, metrics_sql
from kanon_sql.plan.single_attribute import check_width, item_classes, tables_sql
from kanon_sql.sql import statement

SMALL = (
    "The release was stopped: a class of released values has {{}} rows, fewer than k = {k}. "
    "Nothing came out; please report this as a bug of the method {method}."
)
LOST = (
    "The release was stopped: it has {} rows of {} to be released, {} of them once. Nothing came "
    "out; please report this as a bug."
)
MANY = (
    "The release was stopped: it leaves out {{}} rows, more than {option} = {share} allows. "
    "Nothing came out; please report this as a bug of the method {method}."
)
ALONE = (
    "A cluster has {} row. Publish it with allow_small := true, or use the method r_cellular, "
    "which promises a class size."
)
TAKEN = (
    "The relation has a column '{}', a name that the query needs for itself. Rename it first."
)
HIERARCHY = "hierarchy"


def _added(options: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns that a release gets beside those of the relation."""
    return tuple(name for name in ("class_id", "wkt") if options.get(name))


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
            name.lower() in _added(options)
        ):
            raise OptionError(TAKEN.format(name))
    roles = resolve_roles(options, source.columns)
    if call == "k_anonymity":
        return k_anonymity_sql(source, options, roles)
    if options.get("diversity") and len(roles.sensitive) != 1:
        raise OptionError(
            f"diversity needs one sensitive column, and there are {len(roles.sensitive)}. Name it "
            "in sensitive := [...]."
        )
    if call in GROUPING_CALLS:
        check_width(options, roles, source)
    found = all_hierarchies(options, roles, source)
    hierarchies = Hierarchies(found, catalog, options["show_values"], "_kept")
    if call == "anonymize_audit":
        other = outside(options["release"], catalog)
        return audit_sql(Call(source, options, roles, hierarchies), other)
    return CALLS[call](
        Call(source, options, roles, hierarchies, tables_sql(options, catalog))
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


def _publishes_centers(call: Call) -> bool:
    """Whether the method has centers, and they are what its classes release."""
    method = METHODS[call.options["method"]]
    return method.has_centers and call.options["representation"] == "centroid"


def _released_classes(call: Call) -> str:
    """What each class releases."""
    options, trees = call.options, call.hierarchies
    if METHODS[options["method"]].items:
        return item_classes(call)
    labelled = quasi(call.roles, ("__kanon_class", *ROW))
    if not (trees and options["by_hierarchy"]):
        if _publishes_centers(call):
            return "FROM _published"
        return _classes(options["representation"], labelled)
    plain = _classes(options["representation"], labelled, trees.emptied("_labelled"))
    return trees.classes(plain, options["recoding"] == "global")


def _quasi_released(call: Call) -> str:
    """The quasi-identifiers of _released."""
    options, roles = call.options, call.roles
    hidden = ("__kanon_row",) if options["keep_order"] else ()
    away = quasi(roles, hidden, dropped=roles.identifiers)
    return ", ".join([away, *_added(options)]) if roles.quasi_identifiers else away


def _small(method: str, k: int) -> str:
    """What is said of a class that is too small."""
    return SMALL.format(k=k, method=method) if METHODS[method].promises_k else ALONE


def _leaving_out(options: Mapping[str, Any]) -> tuple[str, float]:
    """The option by which rows may be left out, and the largest share of them."""
    if options.get("islands") == "suppress":
        return "islands", 1.0
    method = METHODS[options["method"]]
    if method.has_centers and options.get("epsilon") is not None:
        return "epsilon", options["epsilon"]
    return "suppress", options["suppress"]


def _cell(call: Call) -> str:
    """A cell of the encoding. Where values are generalized as they are, its category tells them
    apart, also where they are numbers."""
    column = quasi(call.roles, ROW)
    if METHODS[call.options["method"]].items in ("", "places"):
        return f"__kanon_cell({column})"
    return f"{{'number': (__kanon_cell({column})).number, 'category': __kanon_key({column})}}"


def _extra(call: Call) -> str:
    """The number that some methods need of each row: a facility cost, or the rank of its value."""
    if METHODS[call.options["method"]].items == "values":
        return f"dense_rank() OVER (ORDER BY row(*{quasi(call.roles, ROW)}))"
    facility = call.options["facility_cost"]
    return quoted(facility) if isinstance(facility, str) else "NULL"


def _key(column: str | None) -> str:
    """A column as text; NULL without one."""
    return "NULL" if column is None else f"__kanon_key({quoted(column)})"


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
        passing = f", _labelled.* EXCLUDE ({listed(away)})"
    else:
        passing = "".join(f", _labelled.{quoted(n)}" for n in (*roles.sensitive, *roles.other))
    if options["keep_order"]:
        passing += ", _labelled.__kanon_row"
    k, method = options["k"], options["method"]
    left_out = _leaving_out(options)
    return statement(
        "stages/pipeline",
        seed=seed,
        k=k,
        relation=source.sql,
        clock=clock,
        where=where(roles),
        trees=trees.stages(),
        keyed=trees.keyed("_kept"),
        keyed_source=trees.keyed("_source"),
        hierarchies=trees.argument(),
        tables=call.tables,
        label=_key(options["class_label"]),
        secret=_key(roles.sensitive[0] if options["diversity"] else None),
        cell=_cell(call),
        extra=_extra(call),
        centers=(
            centers_sql(call, _run_options(options)) + "\n" if METHODS[method].has_centers else ""
        ),
        suppressed=left_out[1],
        out_error=literal(MANY.format(option=left_out[0], share=left_out[1], method=method)),
        quasi=quasi(roles, ROW),
        reserved="".join(f" OR lower(name) = '{name}'" for name in _added(options)),
        taken_error=literal(TAKEN),
        suppress=(
            f" WHERE __kanon_value({quasi(roles, ROW)}) IS NOT NULL"
            if options["nulls"] == "suppress"
            else ""
        ),
        options=_run_options(options),
        classes=classes,
        dropped=listed((*ROW, *roles.identifiers)),
        passing=passing,
        quasi_released=_quasi_released(call),
        declared=declared(source),
        declared_error=literal(UNDECLARED.format(relation=source.sql)),
        small_error=literal(_small(method, k)),
        lost_error=literal(LOST),
    )


def _measured(call: Call) -> str:
    representation = call.options["representation"]
    point = representation if representation in POINTS else "centroid"
    labelled = quasi(call.roles, ("__kanon_class", *ROW))
    centers = _classes(point, labelled, call.hierarchies.keyed("_labelled"))
    if METHODS[call.options["method"]].has_centers and point == "centroid":
        centers = f"FROM {call.hierarchies.keyed('_published')}"
    return statement(
        "stages/measured",
        quasi_classes="COLUMNS(* EXCLUDE (__kanon_class))",
        centers=centers,
        options=_run_options(call.options),
        hierarchies=call.hierarchies.argument(),
    )


def _release(call: Call) -> str:
    keep, seed = call.options["keep_order"], call.options["seed"]
    hash_order = f"md5(concat('{seed} ', row(*COLUMNS(__kanon.*))::VARCHAR))"
    return statement(
        "calls/release",
        pipeline=_pipeline(call),
        hidden=" EXCLUDE (__kanon_row)" if keep else "",
        order="__kanon_row ASC" if keep else f"{hash_order} ASC",
    )


def _clusters(call: Call) -> str:
    k, listed = call.options["k"], ", ".join(map(literal, call.roles.sensitive))
    return statement(
        "calls/clusters",
        pipeline=_pipeline(call),
        measured=_measured(call),
        multisets=f",\n           __kanon_multiset(COLUMNS([{listed}]))" if listed else "",
        k=k,
        seed=call.options["seed"],
        small_error=literal(_small(call.options["method"], k)),
    )


def _suppressed(call: Call) -> str:
    shown = ", _source.* EXCLUDE (__kanon_row, __kanon_hash)"
    return statement(
        "calls/suppressed",
        pipeline=_pipeline(call),
        values=shown if call.options["show_values"] else "",
    )


def _sql(call: Call) -> str:
    return f"SELECT {literal(_release(call))} AS sql"


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
    "anonymize_metrics": lambda call: metrics_sql(
        call, _pipeline(call, clock=", __kanon_started"), _measured(call), _quasi_released(call)
    ),
    "anonymize_suppressed": _suppressed,
    "anonymize_sql": _sql,
}
