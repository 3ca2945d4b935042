"""The few statements that are answered, read from DuckDB's own parser.

An allow-list over the whole tree: each node must be one that stands here, with nothing in it that
doesn't. What a later version of DuckDB adds to a node is refused until somebody reads it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import duckdb

from kanon_sql.names import caseless

MOST_BYTES = 20_000
"""Of a statement."""

SELECT: dict[str, Any] = {
    "type": "SELECT_NODE", "cte_map": {"map": []}, "where_clause": None, "group_expressions": [],
    "group_sets": [], "aggregate_handling": "STANDARD_HANDLING", "having": None, "sample": None,
    "qualify": None,
}
STAR: dict[str, Any] = {
    "class": "STAR", "type": "STAR", "alias": "", "relation_name": "", "exclude_list": [],
    "replace_list": [], "columns": False, "expr": None, "qualified_exclude_list": [],
    "rename_list": [],
}
TABLE: dict[str, Any] = {
    "type": "BASE_TABLE", "alias": "", "sample": None, "column_name_alias": [], "at_clause": None,
}
TABLE_FUNCTION: dict[str, Any] = {
    "type": "TABLE_FUNCTION", "alias": "", "sample": None, "column_name_alias": [],
    "with_ordinality": "WITHOUT_ORDINALITY",
}
FUNCTION: dict[str, Any] = {
    "class": "FUNCTION", "type": "FUNCTION", "filter": None,
    "order_bys": {"type": "ORDER_MODIFIER", "orders": []}, "distinct": False,
    "is_operator": False, "export_state": False, "catalog": "",
}
"""What these nodes have beside what is read from them."""

CATALOG = (
    "SELECT catalog_name, schema_name FROM information_schema.schemata "
    "WHERE catalog_name NOT IN ('system', 'temp') ORDER BY ALL",
    "SELECT schema_name, sql, 'table' FROM duckdb_tables() UNION ALL "
    "SELECT schema_name, view_name, 'view' FROM duckdb_views()",
)
"""What ATTACH asks for. It is answered where there is nothing but what the client may read."""


HOW_MANY = "SELECT NULL::BOOLEAN FROM "
"""How a client that has attached a server counts rows."""


class NotAllowedError(Exception):
    """A statement that is not answered."""


@dataclass(frozen=True)
class ReadRequest:
    """Columns of a stored table.

    Attributes:
        table: its name.
    """

    table: str


@dataclass(frozen=True)
class CallRequest:
    """A call of kanon_sql.

    Attributes:
        call: its name.
        table: the relation.
        options: what is given by name.
    """

    call: str
    table: str
    options: Mapping[str, Any] = field(default_factory=dict)


_parser = threading.local()


def read_statement(text: str) -> ReadRequest | CallRequest:
    """What a statement asks for.

    Raises:
        NotAllowedError: anything but one plain SELECT of columns of a table or of a call.
    """
    if text.startswith(HOW_MANY):
        text = f"FROM {text.removeprefix(HOW_MANY)}"
    try:
        return _asked(_node(text))
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        raise NotAllowedError from None  # a tree of another shape


def _asked(node: Any) -> ReadRequest | CallRequest:
    """What a plain SELECT asks for."""
    _exactly(node, SELECT, {"modifiers", "select_list", "from_table"})
    for modifier in node["modifiers"]:
        _limit(modifier)
    if not node["select_list"]:
        raise NotAllowedError
    for each in node["select_list"]:
        _column(each)
    source = node["from_table"]
    if source.get("type") == "BASE_TABLE":
        return ReadRequest(_table(source))
    return _call(source)


def is_catalog(text: str) -> bool:
    """Whether a statement is one of those of ATTACH."""
    return " ".join(text.split()) in CATALOG


def _node(text: str) -> dict[str, Any]:
    """The only SELECT of a text, without positions."""
    if len(text.encode()) > MOST_BYTES:
        raise NotAllowedError
    if not hasattr(_parser, "con"):
        _parser.con = duckdb.connect(":memory:")
    try:
        ((said,),) = _parser.con.execute("SELECT json_serialize_sql(?)", [text]).fetchall()
        tree = json.loads(said, parse_float=Decimal)
    except duckdb.Error:
        raise NotAllowedError from None
    if tree.get("error") is not False or len(tree.get("statements", ())) != 1:
        raise NotAllowedError
    (statement,) = tree["statements"]
    _exactly(statement, {"named_param_map": []}, {"node"})
    return _plain(statement["node"])  # type: ignore[no-any-return]


def _plain(tree: Any) -> Any:
    """A tree without the positions of its nodes, in the form that DuckDB 1 has."""
    if isinstance(tree, list):
        return [_plain(part) for part in tree]
    if not isinstance(tree, dict):
        return tree
    node = {name: _plain(part) for name, part in tree.items() if name not in POSITIONS}
    return _older(node) if node.keys() & NEWER else node


POSITIONS = {"query_location", "query_location_length"}
NEWER = {"arguments", "is_legacy_function_call", "limit_type", "literal", "qualified_name"}
"""What nodes have since DuckDB 2.0."""


def _older(node: dict[str, Any]) -> dict[str, Any]:
    """A node of DuckDB 2 as DuckDB 1 has it; what can't be told there is refused."""
    if node.pop("is_legacy_function_call", False) is not False:
        raise NotAllowedError
    if node.pop("limit_type", "ROW_COUNT") != "ROW_COUNT":
        raise NotAllowedError
    if "qualified_name" in node:
        places = (("catalog", "schema", "function_name"),
                  ("catalog_name", "schema_name", "table_name"))
        named = [[node[part] for part in place if node.get(part)] for place in places]
        if node.pop("qualified_name") not in [{"path": path} for path in named]:
            raise NotAllowedError
    if "arguments" in node:
        node["children"] = [_argument(each) for each in node.pop("arguments")]
    if "literal" in node:
        node["value"] = _literal(node.pop("literal"))
    return node


def _argument(node: Any) -> Any:
    _exactly(node, {}, {"name", "expression"})
    if node["name"] != node["expression"].get("alias", ""):
        raise NotAllowedError
    return node["expression"]


LITERALS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "STRING": ("VARCHAR", str), "INTEGER": ("BIGINT", int), "NUMERIC": ("DOUBLE", Decimal),
    "BOOLEAN": ("BOOLEAN", lambda text: text == "true"),
}
"""The type and the value of a literal, by its kind."""


def _literal(node: Any) -> dict[str, Any]:
    _exactly(node, {}, {"kind", "text"})
    if node["kind"] not in LITERALS:
        raise NotAllowedError
    kind, read = LITERALS[node["kind"]]
    try:
        value = read(node["text"])
    except (ArithmeticError, ValueError):
        raise NotAllowedError from None
    return {"is_null": False, "type": {"id": kind, "type_info": None}, "value": value}


def _exactly(node: Any, rest: Mapping[str, Any], read: set[str]) -> None:
    """Refuses a node that has other parts than those that are read, and this rest."""
    if not isinstance(node, dict) or node.keys() != rest.keys() | read or any(
        node[name] != value or type(node[name]) is not type(value) for name, value in rest.items()
    ):
        raise NotAllowedError


def _limit(modifier: Any) -> None:
    _exactly(modifier, {"type": "LIMIT_MODIFIER"}, {"limit", "offset"})
    for part in (modifier["limit"], modifier["offset"]):
        if part is not None and not isinstance(_constant(part), int):
            raise NotAllowedError


def _column(node: Any) -> None:
    """A star, a name or a number of a column."""
    kind = node.get("class") if isinstance(node, dict) else None
    if kind == "COLUMN_REF":
        _exactly(node, {"class": "COLUMN_REF", "type": "COLUMN_REF"}, {"alias", "column_names"})
        if len(node["column_names"]) != 1:
            raise NotAllowedError
    elif kind == "POSITIONAL_REFERENCE":
        _exactly(
            node, {"class": "POSITIONAL_REFERENCE", "type": "POSITIONAL_REFERENCE"},
            {"alias", "index"},
        )
    else:
        _exactly(node, STAR, set())


def _table(node: Any) -> str:
    _exactly(node, TABLE, {"schema_name", "table_name", "catalog_name"})
    if node["catalog_name"] not in ("", "memory") or node["schema_name"] not in ("", "main"):
        raise NotAllowedError
    return str(node["table_name"])


def _call(node: Any) -> CallRequest:
    """A call whose arguments are constants."""
    _exactly(node, TABLE_FUNCTION, {"function"})
    function = node["function"]
    _exactly(function, FUNCTION, {"alias", "function_name", "schema", "children"})
    if function["schema"] != "kanon" or function["alias"] or not function["children"]:
        raise NotAllowedError
    first, *rest = function["children"]
    table = _constant(first)
    if not isinstance(table, str):
        raise NotAllowedError
    options: dict[str, Any] = {}
    for each in rest:
        name, value = _option(each)
        if caseless(name) in options:
            raise NotAllowedError
        options[caseless(name)] = value
    return CallRequest(caseless(function["function_name"]), table, options)


def _option(node: Any) -> tuple[str, Any]:
    """name = value, or name := value."""
    if not isinstance(node, dict):
        raise NotAllowedError
    if node.get("class") != "COMPARISON":
        return str(node.get("alias") or _none()), _value(node)
    _exactly(
        node, {"class": "COMPARISON", "type": "COMPARE_EQUAL", "alias": ""}, {"left", "right"}
    )
    left = node["left"]
    _exactly(left, {"class": "COLUMN_REF", "type": "COLUMN_REF", "alias": ""}, {"column_names"})
    if len(left["column_names"]) != 1:
        raise NotAllowedError
    return str(left["column_names"][0]), _value(node["right"])


def _none() -> Any:
    raise NotAllowedError


def _value(node: Any) -> Any:
    """A constant, a list or a struct of constants."""
    if not isinstance(node, dict) or node.get("class") != "FUNCTION":
        return _constant(node)
    _exactly(node, FUNCTION, {"alias", "function_name", "schema", "children"})
    if node["schema"] not in ("", "main"):
        raise NotAllowedError
    if node["function_name"] == "list_value":
        return [_value(each) for each in node["children"]]
    if node["function_name"] == "struct_pack":
        return {str(each.get("alias") or _none()): _value(each) for each in node["children"]}
    raise NotAllowedError


def _constant(node: Any) -> Any:
    """A constant that is not NULL."""
    if isinstance(node, dict) and node.get("class") == "CAST":
        return _truth(node)
    _exactly(node, {"class": "CONSTANT", "type": "VALUE_CONSTANT"}, {"alias", "value"})
    value = node["value"]
    _exactly(value, {"is_null": False}, {"type", "value"})
    kind, content = value["type"]["id"], value["value"]
    if kind == "DECIMAL":
        return float(Decimal(content).scaleb(-int(value["type"]["type_info"]["scale"])))
    if kind == "VARCHAR" and isinstance(content, str):
        return content
    if kind == "BOOLEAN" and isinstance(content, bool):
        return content
    if kind in ("INTEGER", "BIGINT") and isinstance(content, int):
        return content
    if kind == "DOUBLE" and isinstance(content, (int, Decimal)):
        return float(content)
    raise NotAllowedError


def _truth(node: Any) -> bool:
    """true or false, which DuckDB writes as a cast of a letter."""
    _exactly(
        node, {"class": "CAST", "type": "OPERATOR_CAST", "try_cast": False},
        {"alias", "child", "cast_type"},
    )
    if node["cast_type"] != {"id": "BOOLEAN", "type_info": None} or node["child"].get(
        "class"
    ) == "CAST":
        raise NotAllowedError
    letter = _constant(node["child"])
    if letter not in ("t", "f"):
        raise NotAllowedError
    return bool(letter == "t")
