"""Reads the arguments of a SQL call as DuckDB hands them to the planner.

``k := 5`` arrives as the value of a named parameter. ``k=5`` is, to DuckDB, a positional argument:
the comparison of the text 'k' with 5. The macro passes it on as the text of the bound expression
(``alias`` of a branch that is never taken, so that nothing of it is evaluated), for example
``CASE  WHEN (false) THEN ((CAST('k' AS INTEGER) = CAST(5 AS INTEGER))) ELSE ... END``.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import duckdb

from kanon_sql.errors import OptionError

BRANCH = re.compile(
    r"CASE\s+WHEN \(.*?\) THEN \((.*)\) ELSE (?:CAST\(NULL AS .*\)|NULL) END", re.DOTALL
)
NAME = re.compile(r"(?:CAST\()?'(\w+)'(?: AS (.*)\))?", re.DOTALL)
TOKEN = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\w+|\s+|.", re.DOTALL)

NOT_GIVEN = "__kanon_not_given"
"""The default of every parameter of a macro, so that an explicit NULL is told from it."""

EMPTY = (f"'{NOT_GIVEN}'", f"CAST('{NOT_GIVEN}' AS VARCHAR)")
"""How an empty slot reads."""

_lock = threading.Lock()
_calculators: dict[int, duckdb.DuckDBPyConnection] = {}
"""The connection that evaluates constants, by process."""


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()  # another thread may have held it when the process was forked


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def _evaluate(expression: str, sql_type: str | None) -> Any:
    """The value of a constant SQL expression, by way of JSON."""
    typed = f"CAST({expression} AS {sql_type})" if sql_type else expression
    with _lock:
        # one of another process, left over by a fork, would be used and closed without its threads
        calculator = _calculators.get(os.getpid()) or duckdb.connect()
        _calculators[os.getpid()] = calculator
        row = calculator.execute(f"SELECT to_json({typed})::VARCHAR").fetchone()
    return None if row is None or row[0] is None else json.loads(row[0])


def _split_comparison(text: str) -> tuple[str, str] | None:
    """Both sides of ``(left = right)``, split at its outermost equals sign."""
    tokens = TOKEN.findall(text)
    depth = 0
    for spot, token in enumerate(tokens):
        depth += (token == "(") - (token == ")")
        if depth == 1 and token == "=" and tokens[spot - 1].isspace():
            return "".join(tokens[1:spot]).strip(), "".join(tokens[spot + 1 : -1]).strip()
    return None


def _text_of(expression: str, name: str) -> str:
    """The text that an argument without a name gives."""
    try:
        value = _evaluate(expression, None)
    except duckdb.Error:
        value = None
    if not isinstance(value, str):
        raise OptionError(f"{name} can't be read. Write it as a string, such as 'zip'.")
    return value


def read_positional(
    text: str, unnamed: str | None = None, example: str = "k=5"
) -> tuple[str, Any] | None:
    """Option name and value of one positional argument, or None where the slot is empty.

    Args:
        text: the argument, as DuckDB prints it.
        unnamed: the option that may stand here without its name, as a text.
        example: an option of the call, for the message.

    Raises:
        OptionError: the argument isn't of the form name=value.
    """
    branch = BRANCH.fullmatch(text.strip())
    inner = branch[1].strip() if branch else text.strip()
    if inner in EMPTY:
        return None
    sides = _split_comparison(inner) if inner.startswith("(") else None
    name = NAME.fullmatch(sides[0]) if sides else None
    if sides is None and unnamed is not None:
        return unnamed, _text_of(inner, unnamed)
    if sides is None or name is None:
        raise OptionError(
            "An argument after the relation is not of the form name=value. Give each option by "
            f"its name, for example {example}."
        )
    # a struct is printed without its field names; they are in the type of the cast beside it
    value = "".join("row" if t == "struct_pack" else t for t in TOKEN.findall(sides[1]))
    try:
        return name[1].lower(), _evaluate(value, name[2])
    except duckdb.Error:
        raise OptionError(
            f"The value of {name[1]} can't be read. Write it as {name[1]} := value, after all "
            "arguments of the form name=value."
        ) from None


def read_arguments(
    positional: Sequence[str | None], named: Iterator[tuple[str, str | None, str | None]],
    first: str | None = None,
) -> dict[str, Any]:
    """The options of one SQL call by name, as raw values.

    Args:
        positional: the texts of the positional slots.
        named: name, value as JSON, and expression text of each named parameter.
        first: the option that the first slot may give without its name.

    Raises:
        OptionError: an option given twice, or one that can't be read.
    """
    arguments: dict[str, Any] = {}

    def give(name: str, value: Any) -> None:
        if name in arguments:
            raise OptionError(f"The option {name!r} is given twice. Give it once.")
        if value is None:
            raise OptionError(
                f"The value of {name} is NULL. Leave it out, or look where its value comes from."
            )
        arguments[name] = value

    for place, text in enumerate(positional):
        example = "k=5" if first is None else "kind='prefix'"
        pair = read_positional(text, None if place else first, example) if text else None
        if pair is not None:
            give(*pair)
    for name, value, text in named:
        if value is None and (text or "NULL").startswith('"'):
            raise OptionError(f"The value of {name} reads as a column name. Put it in quotes.")
        decoded = None if value is None else json.loads(value)
        if decoded != NOT_GIVEN:
            give(name, decoded)
    return arguments
