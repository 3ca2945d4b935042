"""One call, followed through the modules: for docs/architecture.md.

What each function does is the first sentence that it says of itself; what each stage of the query
is, its own comment. tests/project/test_one_call.py runs the call, and holds the order to be so.
"""

from __future__ import annotations

import inspect
import re
from functools import cache
from operator import attrgetter
from pkgutil import resolve_name
from types import FunctionType

import duckdb
from pyarrow import parquet

import kanon_sql
from kanon_sql.data import adult
from kanon_sql.plan.macros import MACRO_FILES
from kanon_sql.plan.query import plan
from kanon_sql.sql import statements
from kanon_sql.udfs import FUNCTIONS
from tests.support.catalogs import MadeUp

CALL = "SELECT * FROM anonymize('adult', k=5)"

REGISTERED = ("duckdb.register:register", "udfs.planner:planner")
"""What runs once for each connection."""

PLANNED = (
    "call.arguments:read_arguments",
    "plan.query:plan",
    "call.call:read_call",
    "call.relation:find_relation",
    "duckdb.catalog:ConnectionCatalog.entry",
    "call.options:read_options",
    "call.rules:resolve",
    "call.roles:resolve_roles",
    "call.hierarchies:read_hierarchies",
    "plan.pipeline:pipeline_sql",
    "plan.macro_shadowing:unshadowed_sql",
    "plan.fragments:source_rows",
    "plan.generalize:released_classes",
    "plan.bind_checks:refusals",
    "plan.verify:verify_holes",
    "plan.bound_relations:resolved_sql",
)
"""What makes the text, in the planner that DuckDB calls while it binds the query."""

HANDED_OVER = (
    "udfs.group:start",
    "stages.group:room_for",
    "jobs.job:start",
    "udfs.group:take",
    "jobs.job:hand_over",
    "encode.row_buffer:RowBuffer.take",
    "udfs.group:wait",
    "jobs.job:wait",
)
"""What DuckDB calls while it runs the text, up to when it waits."""

GROUPED = (
    "stages.group:Work.__call__",
    "encode.row_buffer:RowBuffer.rows",
    "stages.hidden:look_at",
    "encode.identifier_detection:find_suspects",
    "stages.hidden:without_hidden",
    "stages.prepare:prepare",
    "methods.auto:settle",
    "encode.encoding:encode",
    "encode.cells:Cells.order",
    "methods.geometry:SquaredGeometry.points",
    "privacy.feasible:refuse_infeasible",
    "stages.group:group_rows",
    "group.warm_up:warm_up",
    "stages.remembered:recall",
    "group.run:group_points",
    "group.blocks:group_in_blocks",
    "methods.microaggregation.mdav_star:mdav_star",
    "stages.prepare:Prepared.labelled",
    "stages.facts:facts_of",
)
"""What works in a thread beside the query."""

ASKED = (
    "udfs.group:finish",
    "jobs.job:finish",
    "stages.labels:hold",
    "udfs.group:class_of",
    "stages.labels:held",
)
"""What DuckDB calls when that is done."""

STAGE = re.compile(
    r"^(?:WITH )?(__kanon_\w+) AS (?:NOT )?(?:MATERIALIZED )?\((?:  -- (.*))?$", re.M
)
NAME = re.compile(r"(?<!`)\b(__kanon_\w+|\w+\.(?:py|sql)|[\w/]+/\w+\.sql)\b")
MACRO = re.compile(r"CREATE OR REPLACE TEMP MACRO\s+(\w+)")


def of(step: str) -> FunctionType:
    """The function that a step names: its module in kanon_sql, then its name there."""
    found = resolve_name(f"kanon_sql.{step}")
    assert isinstance(found, FunctionType)
    return found


def over_adult(rows: int | None = None) -> duckdb.DuckDBPyConnection:
    """A new connection with the table of the call, or its first rows."""
    con = kanon_sql.register(duckdb.connect())
    con.execute("SET threads = 1")  # so that all of DuckDB's calls come from one thread
    limit = "" if rows is None else f" LIMIT {rows}"
    con.execute(f"CREATE TABLE adult AS FROM read_parquet(?){limit}", [adult()])
    return con


@cache
def text() -> str:
    """The SQL that the call becomes."""
    columns = dict.fromkeys(parquet.read_schema(adult()).names)
    return plan("anonymize", "adult", {"k": 5}, MadeUp({"adult": columns})).text


def functions(steps: tuple[str, ...]) -> str:
    """Functions and what each says of itself, in a table."""
    rows = []
    for step in steps:
        told = " ".join((inspect.getdoc(of(step)) or "").partition("\n\n")[0].split())
        first = NAME.sub(r"`\1`", re.split(r"(?<=[.)])\s(?=[A-Z])", told)[0].replace("``", "`"))
        rows.append(f"| `{step.replace(':', '.')}` | {first.rstrip('.')} |")
    return "\n".join(("| function | what it does |", "|---|---|", *rows))


def _called() -> dict[str, str]:
    """The file of each function and macro that the text may call."""
    files = {
        made: f"sql/macros/{name}.sql" for name in MACRO_FILES
        for made in MACRO.findall("\n".join(statements(f"macros/{name}")))
    }
    place = attrgetter("function.__module__")
    return files | {
        each.name: place(each).removeprefix("kanon_sql.").replace(".", "/") + ".py"
        for each in FUNCTIONS
    }


def stages() -> str:
    """The stages of the text, what each is, and what of ours it calls, in a table."""
    parts, called = STAGE.split(text()), _called()
    rows = []
    for name, told, body in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        ours = {each for each in re.findall(r"\b__kanon_\w+(?=\()", body) if each in called}
        places = sorted({f"`{called[each]}`" for each in ours})
        rows.append(f"| `{name}` | {told or ''} | {', '.join(places)} |")
    return "\n".join(("| stage | what it is | what it calls |", "|---|---|---|", *rows))


def query() -> str:
    """The text itself, as code that runs."""
    return f"```sql\n{text()}\n```"


BLOCKS = {
    "one call: registered": lambda: functions(REGISTERED),
    "one call: planned": lambda: functions(PLANNED),
    "one call: stages": stages,
    "one call: handed over": lambda: functions(HANDED_OVER),
    "one call: grouped": lambda: functions(GROUPED),
    "one call: asked": lambda: functions(ASKED),
    "one call: text": query,
}
"""What stands between the marks of the page."""

