"""Whether a query tells in its text which files it reads, or works their names out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import duckdb

Node = Mapping[str, Any]

OF_VALUES = (
    "range", "generate_series", "unnest", "repeat", "repeat_row", "json_each", "json_tree",
)
"""Functions in FROM that read no file, whatever they are given."""
MADE_OF = ("list_value", "struct_pack", "row", "map", "getvariable")
"""Functions whose result is known where what they are given is; variables are read by their
values."""
WRITTEN_OUT = ("CONSTANT", "CAST", "TYPE")


def tells_all(con: duckdb.DuckDBPyConnection, query: str) -> bool | None:
    """Whether all names of what a query reads stand in it; None of a text that is no query.

    A plan of DuckDB doesn't tell the files that it scans, so this is read off the text: each
    function in FROM is given what is written out, and so is a query inside of a text.
    """
    ((parsed,),) = con.execute("SELECT system.main.json_serialize_sql(?)", [query]).fetchall()
    tree = json.loads(parsed)
    if tree.get("error"):
        return None
    functions = [
        node["function"] for node in _nodes(tree) if node.get("type") == "TABLE_FUNCTION"
    ]
    return all(_told(con, function) for function in functions)


def _told(con: duckdb.DuckDBPyConnection, function: Node) -> bool:
    """Whether a function in FROM is given what is written out."""
    name = function["function_name"].lower()
    if name in OF_VALUES:
        return True
    arguments = _given(function)
    if name == "query":
        return all(_is_written_out(each) and tells_all(con, _text(each)) for each in arguments)
    return all(map(_is_written_out, arguments))


def _given(function: Node) -> list[Node]:
    """What a function is given, as DuckDB 1 and 2 have it."""
    return function.get("children") or [
        each["expression"] for each in function.get("arguments") or ()
    ]


def _is_written_out(node: Node) -> bool:
    kind = node["class"]
    if kind == "COMPARISON" and node["left"]["class"] == "COLUMN_REF":  # an option = its value
        return _is_written_out(node["right"])
    if kind == "CAST":
        return _is_written_out(node["child"])
    if kind == "FUNCTION":
        known = node["function_name"].lower() in MADE_OF
        return known and all(map(_is_written_out, _given(node)))
    return kind in WRITTEN_OUT


def _text(constant: Node) -> str:
    """The text that a constant is; none of any other node."""
    literal = constant.get("literal") or {}
    return str(literal.get("text") or (constant.get("value") or {}).get("value"))


def _nodes(tree: Any) -> Iterator[Node]:
    """All nodes of what DuckDB tells as JSON."""
    if isinstance(tree, dict):
        yield tree
        tree = list(tree.values())
    if isinstance(tree, list):
        for part in tree:
            yield from _nodes(part)
