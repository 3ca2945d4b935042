"""The SQL calls, made from the registry of options."""

from __future__ import annotations

from kanon_sql.call.arguments import NOT_GIVEN
from kanon_sql.call.options import ALL_CALLS, OPTIONS
from kanon_sql.hierarchies.kinds import KINDS
from kanon_sql.methods.option import LEDGER_CHECK
from kanon_sql.plan.query import HIERARCHY, methods_sql
from kanon_sql.sql import statement, statements

PLANNER = "__kanon_plan"
SLOTS = 32
"""How many options one call may give by name=value."""

FIRST = {HIERARCHY: "column_name"}
"""The option that may stand after the relation without its name, by call."""

MACRO_FILES = (
    "columns", "key", "weight", "diversity", "most_frequent", "centroid", "weighted_centroid",
    "median", "interval", "bounds", "suppress", "multiset", "seen", "refuse", "two_digits", "text",
)


def parameters(call: str) -> list[str]:
    """The named parameters of a call, in the order in which the macro passes them on."""
    if call == HIERARCHY:
        return ["column_name", "kind", *dict.fromkeys(n for k in KINDS.values() for n in k.options)]
    return [name for name, option in OPTIONS.items() if call in option.calls]


def _call_macro(call: str) -> str:
    slots = [f"option_{i}" for i in range(1, SLOTS + 1)]
    named = parameters(call)
    return statement(
        "calls/call",
        call=call,
        planner=PLANNER,
        slots=", ".join(f"{slot} := '{NOT_GIVEN}'" for slot in slots),
        parameters=", ".join(f"{name} := '{NOT_GIVEN}'" for name in named),
        positional=", ".join(
            f"system.main.alias(CASE WHEN false THEN {slot} END)" for slot in slots
        ),
        named=", ".join(
            f"system.main.to_json({name})::VARCHAR, system.main.alias({name})" for name in named
        ),
    ).rstrip(";\n")


def macros() -> list[str]:
    """Every CREATE TEMP MACRO statement of kanon_sql."""
    return [
        *(text for name in MACRO_FILES for text in statements(f"macros/{name}")),
        *(_call_macro(call) for call in (*ALL_CALLS, LEDGER_CHECK, HIERARCHY)),
        f"CREATE OR REPLACE TEMP MACRO anonymize_methods() AS TABLE {methods_sql()}",
    ]
