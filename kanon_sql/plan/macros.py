"""The SQL calls, made from the registry of options."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from kanon_sql import renamed
from kanon_sql.call.arguments import NOT_GIVEN
from kanon_sql.call.declarations import MEANT
from kanon_sql.call.look_alikes import ALIKE, LETTERS
from kanon_sql.call.options import ALL_CALLS, OPTIONS
from kanon_sql.hierarchies.kinds import KINDS
from kanon_sql.names import literal, quoted
from kanon_sql.option import AUDITS, GROUPING_CALLS, LEDGER_CHECK
from kanon_sql.plan.query import HIERARCHY, methods_sql
from kanon_sql.sql import expression, statement, statements

PLANNER = "__kanon_plan"
SLOTS = 32
"""How many options one call may give by name=value."""

FIRST = {HIERARCHY: "column_name"}
"""The option that may stand after the relation without its name, by call."""

MACRO_FILES = ("columns", "represent", "refuse", "text")
"""In this order, since a macro may name those before it."""


HOME = "kanon"
"""The database that has the macros for all connections of an instance, unless another is named."""

_MADE = re.compile(r"CREATE OR REPLACE TEMP MACRO\s+(\w+)")
_NAME = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|\b(__kanon_\w+)(?=\s*\()")


def parameters(call: str) -> list[str]:
    """The named parameters of a call, in the order in which the macro passes them on."""
    if call == HIERARCHY:
        return ["column_name", "kind", *dict.fromkeys(n for k in KINDS.values() for n in k.options)]
    named = [name for name, option in OPTIONS.items() if call in option.calls]
    if call in GROUPING_CALLS or call in AUDITS:
        named += [name for name in (*renamed.OPTIONS, *renamed.GONE) if name not in named]
    return named


def _call_macro(call: str, home: str) -> str:
    slots = [f"option_{i}" for i in range(1, SLOTS + 1)]
    named = parameters(call)
    return statement(
        "calls.call",
        call=call,
        planner=PLANNER,
        home=literal(home),
        slots=", ".join(f"{slot} := '{NOT_GIVEN}'" for slot in slots),
        parameters=", ".join(f"{name} := '{NOT_GIVEN}'" for name in named),
        positional=", ".join(
            f"system.main.alias(CASE WHEN false THEN {slot} END)" for slot in slots
        ),
        named=", ".join(
            f"system.main.to_json({name})::VARCHAR, system.main.alias({name})" for name in named
        ),
    ).rstrip(";\n")


def _renamed_macro(old: str, new: str) -> str:
    """A call of the old name, which only says the new one."""
    slots = ", ".join(f"option_{i} := NULL" for i in range(1, SLOTS + 1))
    named = ", ".join(f"{name} := NULL" for name in parameters(new))
    return (
        f"CREATE OR REPLACE TEMP MACRO {old}(relation, {slots}, {named}) AS TABLE "
        f"SELECT system.main.error({literal(renamed.renamed(old, new))})"
    )


def macros(home: str = "") -> list[str]:
    """Every CREATE MACRO statement of kanon_sql.

    Args:
        home: the database in which the macros are made; without one they are temporary.
    """
    texts = [
        f"CREATE OR REPLACE TEMP MACRO __kanon_declares(comment) AS regexp_matches("
        f"translate(comment, {literal(ALIKE)}, {literal(LETTERS)}), {literal(MEANT)}, 'i')",
        "CREATE OR REPLACE TEMP MACRO __kanon_form(x) AS "
        + expression("roles.written", x="x"),
        *(text for name in MACRO_FILES for text in statements(f"macros/{name}")),
        *(_call_macro(call, home) for call in (*ALL_CALLS, LEDGER_CHECK, HIERARCHY)),
        f"CREATE OR REPLACE TEMP MACRO anonymize_methods() AS TABLE {methods_sql()}",
        *(_renamed_macro(old, new) for old, new in renamed.CALLS.items()),
    ]
    return [_made_at(text, home) for text in texts] if home else texts


def helper_macros(texts: Iterable[str], others: Iterable[str] = ()) -> list[str]:
    """The macros that SQL texts name, and those that they name, each after those that it names;
    ``others`` stand in place of those of their names."""
    every = [*(text for file in MACRO_FILES for text in statements(f"macros/{file}")), *others]
    ours = {match[1]: text for text in every if (match := _MADE.search(text))}
    needed, left = set[str](), [*texts]
    while left:
        for match in _NAME.finditer(left.pop()):
            if match[1] in ours and match[1] not in needed:
                needed.add(match[1])
                left.append(ours[match[1]])
    return [text for name, text in ours.items() if name in needed]


def _made_at(text: str, home: str) -> str:
    match = _MADE.search(text)
    assert match is not None
    rest = at_home(text[match.end():], home)
    return f"CREATE OR REPLACE MACRO {quoted(home)}.main.{match[1]}{rest}"


@cache
def _names() -> frozenset[str]:
    return frozenset(match[1] for text in macros() if (match := _MADE.search(text)))


def at_home(text: str, home: str) -> str:
    """SQL whose calls of our macros name the database that has them: it runs on connections that
    have no macros themselves, and no macro of the caller is taken for one of ours."""
    if not home:
        return text

    def at(match: re.Match[str]) -> str:
        ours = match[1] in _names()
        return f"{quoted(home)}.main.{match[0]}" if ours else match[0]

    return _NAME.sub(at, text)
