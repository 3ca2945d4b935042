"""Privacy models: what they cost in time and loss, beside the same release without them."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

from benchmarks.apart import Outcome, apart
from benchmarks.data import MADE
from benchmarks.plan import Plan
from benchmarks.tables import Cell, Table

K = 5
INCOME = "salary-class"
DEMANDS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("occupation", {"l": 3}),
    ("occupation", {"l": 3, "diversity_kind": "entropy"}),
    ("occupation", {"l": 3, "diversity_kind": "recursive", "c": 3}),
    ("occupation", {"alpha": 0.5}),
    (INCOME, {"t": 0.15}),
    ("occupation", {"t": 0.30}),
    ("occupation", {"t": 0.15}),
)
"""Sensitive columns of Adult, and what is demanded of every class."""

ILLNESS = "'i' || (random() * random() * 6)::INT AS illness"
"""A sensitive column of seven values, skewed."""


def _told(demand: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in demand.items()) or "none"


def one(rows: int, sensitive: str, demand: dict[str, Any], effort: str) -> Outcome:
    """One release, measured in a process of its own: CPU seconds and loss. No rows: Adult."""
    import duckdb

    import kanon_sql
    from kanon_sql.data import adult
    from kanon_sql.stages.remembered import forget

    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")
    con.execute("SELECT setseed(0.5)")
    if rows:
        con.execute(f"CREATE TABLE t AS SELECT {MADE['mixed']}, {ILLNESS} FROM range({rows})")
    else:
        con.execute(f"CREATE TABLE t AS FROM '{adult()}'")
        if sensitive != INCOME:  # no quasi-identifier either
            con.execute(f'ALTER TABLE t DROP COLUMN "{INCOME}"')
    options = {"k": K, "sensitive": [sensitive], "seed": 1, "effort": effort, **demand}
    given = ", ".join(f"{name} := {value!r}" for name, value in options.items())

    def metrics() -> dict[str, float]:
        found = con.execute(f"SELECT metric, value FROM anonymize_metrics('t', detail=true, "
                            f"{given})")
        return dict(found.fetchall())

    con.execute(f"CREATE TABLE w AS FROM anonymize('t', {given})").fetchall()  # compiles
    forget()
    started = process_time()
    con.execute(f"CREATE TABLE r AS FROM anonymize('t', {given})")
    seconds = process_time() - started
    found = metrics()
    return {
        "seconds": seconds, "loss": found["information_loss"], "classes": found["classes"],
        "size": found["class_size_max"],
    }


def _rows(
    runs: list[tuple[int, str, dict[str, Any], str]], plan: Plan, say: Callable[[str], None]
) -> list[list[Cell]]:
    lines: list[list[Cell]] = []
    plain: dict[tuple[int, str, str], Outcome] = {}
    for rows, sensitive, demand, effort in runs:
        say(f"models: {sensitive}, {_told(demand)}, {rows or 'Adult'}")
        place = (rows, sensitive, effort)
        without = plain.get(place) or apart(
            "models:one", plan.limit, rows=rows, sensitive=sensitive, demand={}, effort=effort
        )
        plain[place] = without
        found = apart(
            "models:one", plan.limit, rows=rows, sensitive=sensitive, demand=demand, effort=effort
        )
        start: list[Cell] = [rows or "Adult", sensitive, _told(demand)]
        if "failed" in found or "failed" in without:
            why = found.get("failed") or without.get("failed")
            lines.append([*start, why, *[None] * 6])
            continue
        lines.append([
            *start, without["loss"], found["loss"], found["classes"], found["size"],
            without["seconds"], found["seconds"], found["seconds"] / without["seconds"],
        ])
    return lines


HEADER = [
    "rows", "sensitive", "demand", "loss without", "loss with", "classes", "largest class",
    "CPU s without", "CPU s with", "x",
]


def tables(plan: Plan, say: Callable[[str], None]) -> list[Table]:
    """The tables of this part."""
    demands = DEMANDS[:2] if plan.name == "quick" else DEMANDS
    effort = "fast" if plan.name == "quick" else "balanced"
    runs = [(0, sensitive, demand, effort) for sensitive, demand in demands]
    made = [
        (int(rows * plan.scale), "illness", demand, "none")
        for rows in plan.models for demand in ({"l": 3}, {"t": 0.3})
    ]
    note = (
        "loss: information_loss in percent; classes: distinct combinations of released values. "
        "CPU seconds of all threads, of the whole release."
    )
    return [
        Table(
            f"Privacy models on Adult, k = {K}, mdav_star, effort = '{effort}'", HEADER,
            _rows(runs, plan, say), notes=[note],
        ),
        Table(
            f"Privacy models on tables made up, k = {K}, mdav_star", HEADER,
            _rows(made, plan, say), notes=[note],
        ),
    ]
