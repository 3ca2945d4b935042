"""What each column of a view shows, by DuckDB's own plan of it, or by its text.

A plan is a tree of operators; an expression names the columns of the operators below it by their
places. An operator that isn't known here, and what stands above it, shows nobody knows what. Of a
view over files DuckDB may tell no plan: then its text says which columns are named as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from kanon_sql.call.catalog import ViewColumn
from kanon_sql.names import caseless

Node = Mapping[str, Any]
Columns = Sequence[ViewColumn]
"""What an operator gives, in its order."""

UNKNOWN = ViewColumn(None, None)
NO_PLACE = ("", "", "")
"""Where the columns of files stand."""

AS_BELOW = ("FILTER", "LIMIT", "ORDER_BY", "DISTINCT", "SAMPLE")
SETS = ("UNION", "EXCEPT", "INTERSECT")
JOINS = (
    "COMPARISON_JOIN", "ANY_JOIN", "DELIM_JOIN", "ASOF_JOIN", "CROSS_PRODUCT", "POSITIONAL_JOIN"
)
BOTH = ("INNER", "LEFT", "RIGHT", "OUTER", "SINGLE")
"""The joins that give the columns of both sides; SEMI, ANTI and MARK give those of the left one."""
READERS = (
    "read_parquet", "parquet_scan", "read_csv", "read_csv_auto", "read_json", "read_json_auto",
    "read_ndjson", "read_ndjson_auto", "python_arrow_scan", "arrow_scan", "pandas_scan",
    "sqlite_scan", "postgres_scan", "mysql_scan", "delta_scan", "iceberg_scan",
)
"""Functions that give the columns of what they read as they are; frames are read by some."""
PRUNED = (
    "projection_map", "left_projection_map", "right_projection_map", "projections",
    "projection_ids", "has_pushed_projection",
)
"""What makes an operator give other columns than those below it. A plan that isn't optimized has
none of it."""


def shown_by(plan: Any, names: Sequence[str]) -> dict[str, ViewColumn]:
    """What each column of a relation shows, by name.

    Args:
        plan: of SELECT * FROM the relation, as json_serialize_plan tells it.
        names: its columns, in their order.
    """
    plans = list(plan.get("plans") or [])
    columns = _columns(plans[0], {}) if len(plans) == 1 else ()
    if len(columns) != len(names):
        return dict.fromkeys(names, UNKNOWN)
    return dict(zip(names, columns, strict=True))


def nodes(tree: Any, wanted: Callable[[Node], bool]) -> Iterator[Node]:
    """The wanted nodes of what DuckDB tells as JSON."""
    waiting = [tree]  # an expression may be nested deeper than Python lets functions be
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if wanted(part):
                yield part
            part = list(part.values())
        if isinstance(part, list):
            waiting.extend(reversed(part))


def _columns(operator: Node, ctes: dict[int, Columns]) -> Columns:
    """What an operator gives; nothing where it isn't known, or gives others than it says.

    Args:
        operator: of a plan.
        ctes: what the CTEs around it give, by their number; those within it are added.
    """
    kind = str(operator.get("type")).removeprefix("LOGICAL_")
    if any(operator.get(word) for word in PRUNED):
        return ()
    below = operator.get("children") or []
    if kind == "GET":
        return () if below else _scanned(operator)
    if kind == "CTE_REF":
        return ctes.get(operator["cte_index"], ())
    if kind == "MATERIALIZED_CTE":
        ctes[operator["table_index"]] = _columns(below[0], ctes)
        return _columns(below[1], ctes)
    inputs = [_columns(child, ctes) for child in below]
    if kind == "PROJECTION":
        return _expressed(operator["expressions"], inputs[0])
    if kind == "AGGREGATE_AND_GROUP_BY":
        return _expressed([*operator["groups"], *operator["expressions"]], inputs[0])
    if kind in ("WINDOW", "UNNEST"):
        return [*inputs[0], *_expressed(operator["expressions"], inputs[0])] if inputs[0] else ()
    if kind in AS_BELOW:
        return inputs[0]
    if kind in SETS:
        return [_merged(both) for both in zip(*inputs, strict=False)]
    if kind in JOINS:
        both = operator.get("join_type", "INNER") in BOTH
        # where the left side isn't known, nobody knows where the columns of the right one begin
        return [*inputs[0], *inputs[1]] if both and inputs[0] else inputs[0]
    return ()


def _scanned(scan: Node) -> Columns:
    """The columns of a table or a file."""
    data, names = scan.get("function_data") or {}, scan["names"]
    place = (data["catalog"], data["schema"], data["table"]) if "table" in data else NO_PLACE
    columns = []
    for column in scan["column_indexes"]:
        if column.get("child_indexes") or column["index"] >= len(names):
            columns.append(UNKNOWN)  # a part of a column, or the number of the row
        else:
            name = caseless(names[column["index"]])
            columns.append(ViewColumn(name, frozenset({(place, name)})))
    return columns


def _is_column(node: Node) -> bool:
    return node.get("expression_class") in ("BOUND_REF", "BOUND_COLUMN_REF", "BOUND_SUBQUERY")


def _expressed(expressions: Sequence[Node], below: Columns) -> Columns:
    """What expressions over some columns show."""
    def column(node: Node) -> ViewColumn:
        known = node["expression_class"] == "BOUND_REF" and node["index"] < len(below)
        return below[node["index"]] if known else UNKNOWN

    return [
        column(expression) if _is_column(expression)
        else ViewColumn(None, _sources(map(column, nodes(expression, _is_column))))
        for expression in expressions
    ]


def _merged(columns: Sequence[ViewColumn]) -> ViewColumn:
    """What a column shows that is one of several."""
    plain = {column.plain for column in columns}
    return ViewColumn(plain.pop() if len(plain) == 1 else None, _sources(columns))


def _sources(columns: Iterator[ViewColumn] | Sequence[ViewColumn]) -> frozenset[Any] | None:
    """All that some columns show; None where it isn't known of one of them."""
    sources: set[Any] = set()
    for column in columns:
        if column.of is None:
            return None
        sources |= column.of
    return frozenset(sources)


def shown_by_text(
    parsed: Any, names: Sequence[str], below: Callable[[Node], Collection[str] | None]
) -> dict[str, ViewColumn]:
    """The same by the text of a view, where no plan of it can be told: which of its columns are
    plain, and nothing of the others.

    Args:
        parsed: the text, as json_serialize_sql tells it.
        names: the columns of the view.
        below: of a relation in the text, those of its columns, in lower case, that aren't plain
            themselves; None where it isn't known.
    """
    read = [statement["node"] for statement in parsed.get("statements") or []]
    plain = _plain(read[0], set(map(caseless, names)), below) if len(read) == 1 else set()
    return {
        name: ViewColumn(caseless(name),
                         None) if caseless(name) in plain else UNKNOWN for name in names
    }


def _plain(
    select: Node, names: set[str], below: Callable[[Node], Collection[str] | None]
) -> set[str]:
    """The columns of a SELECT, in lower case, that show one of their own name as it is."""
    known = select["type"] == "SELECT_NODE" and not select["cte_map"]["map"]
    other = _others(select["from_table"], below) if known else None
    if other is None:
        return set()
    tables = {
        caseless(relation.get("alias") or relation.get("table_name") or "")
        for relation in nodes(select["from_table"], lambda node: "column_name_alias" in node)
    }
    plain: set[str] = set()
    starred, unnamed = False, False
    for item in select["select_list"]:
        words, alias = list(item.get("column_names") or ("",)), caseless(item["alias"])
        direct = len(words) == 1 or (len(words) == 2 and caseless(words[0]) in tables)
        if item["type"] == "STAR" and not any(
            item.get(word) for word in ("replace_list", "rename_list", "expr", "columns")
        ):
            starred = True
        elif item["type"] == "COLUMN_REF" and direct and alias in ("", caseless(words[-1])):
            plain.add(caseless(words[-1]))
        elif alias:
            other.add(alias)
        else:
            unnamed = True  # DuckDB names it
    if starred:
        plain = set() if unnamed else names
    return plain - other


def _others(relation: Node, below: Callable[[Node], Collection[str] | None]) -> set[str] | None:
    """The columns of what stands in FROM that aren't plain; None where it isn't known."""
    if relation.get("column_name_alias"):
        return None
    if relation["type"] == "JOIN":
        sides = [_others(relation[side], below) for side in ("left", "right")]
        return None if None in sides else set().union(*(side or () for side in sides))
    if relation["type"] == "TABLE_FUNCTION":
        return set() if relation["function"]["function_name"] in READERS else None
    columns = below(relation) if relation["type"] == "BASE_TABLE" else None
    return None if columns is None else set(map(caseless, columns))
