"""What each call takes beside anonymize, or plain SQL, on a table as users have it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from benchmarks.apart import Outcome, apart
from benchmarks.plan import Plan
from benchmarks.tables import Cell, Table

K = 5
COLUMNS = ("income", "age", "site", "school")
MIXED = """CREATE TABLE t AS SELECT
    round(exp(10 + 0.7 * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())), 2) AS income,
    (18 + floor(72 * random()))::INTEGER AS age,
    'site ' || floor(800 ** random())::INTEGER AS site,
    'school ' || floor(6 * random() * random())::INTEGER AS school,
    'illness ' || floor(20 * random() * random())::INTEGER AS illness,
    i AS id
    FROM range({}) AS numbers(i)"""
"""Lognormal incomes, ages, 800 sites by Zipf's law, six schools, a sensitive column, and an ID."""

ROLES = f"quasi_identifiers := {list(COLUMNS)}, sensitive := ['illness'], identifiers := ['id']"
GROUPED = f"k := {K}, method := 'mdav_plus', {ROLES}"
SEEN = f"quasi_identifiers := {list(COLUMNS)}, sensitive := ['illness']"
GROUP_BY = (
    "SELECT min(n), count(*), min(l) FROM (SELECT count(*) AS n, count(DISTINCT illness) AS l "
    f"FROM {{}} GROUP BY {', '.join(COLUMNS)})"
)

CALLS: dict[str, tuple[str, str]] = {
    "anonymize": (f"CREATE TABLE r AS FROM anonymize('t', {GROUPED})", "sort"),
    "anonymize, groups remembered": (
        f"CREATE OR REPLACE TABLE r AS FROM anonymize('t', {GROUPED})", "anonymize"
    ),
    "anonymize_metrics": (f"FROM anonymize_metrics('t', {GROUPED})", "anonymize"),
    "anonymize_metrics, groups remembered": (
        f"FROM anonymize_metrics('t', {GROUPED})", "anonymize"
    ),
    "anonymize_clusters": (
        f"CREATE TABLE g AS FROM anonymize_clusters('t', {GROUPED})", "anonymize"
    ),
    "anonymize_audit": (f"FROM anonymize_audit('t', release := 'r', {SEEN})", "anonymize"),
    "k_anonymity": (f"FROM k_anonymity('r', {SEEN})", "GROUP BY"),
    "k_anonymity of the source": (f"FROM k_anonymity('t', {SEEN})", "GROUP BY of the source"),
    "anonymize_roles": (f"FROM anonymize_roles('t', {GROUPED})", "scan"),
    "anonymize, l = 2": (
        f"CREATE TABLE l AS FROM anonymize('t', l := 2, seed := 1, {GROUPED})", "anonymize"
    ),
    "anonymize, t = 0.3": (
        f"CREATE TABLE c AS FROM anonymize('t', t := 0.3, seed := 1, {GROUPED})", "anonymize"
    ),
    "sort": ("CREATE TABLE s AS FROM t ORDER BY ALL", ""),
    "scan": ("SELECT " + ", ".join(f"max({name})" for name in COLUMNS) + " FROM t", ""),
    "GROUP BY": (GROUP_BY.format("r"), ""),
    "GROUP BY of the source": (GROUP_BY.format("t"), ""),
}
"""The calls as SQL, and what each is held against."""

NEEDS_RELEASE = ("anonymize_audit", "k_anonymity", "GROUP BY")
MADE = ("r", "g", "l", "c", "s")
"""The tables that calls make."""

REMEMBERED = ("anonymize, groups remembered", "anonymize_metrics, groups remembered")


def one(name: str, n: int) -> Outcome:
    """One call in a process of its own: CPU seconds of all threads, and the peak above the table.
    """
    import time

    import duckdb

    import kanon_sql
    from benchmarks.meter import measured

    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false; SELECT setseed(0.5)")
    text = CALLS[name][0]
    # compiled before it counts, on a few rows
    con.execute(MIXED.format(600))
    con.execute(f"CREATE TABLE r AS FROM anonymize('t', {GROUPED})")
    con.execute(text.replace("CREATE TABLE r ", "CREATE OR REPLACE TABLE r ")).fetchall()
    for made in ("t", *MADE):
        con.execute(f"DROP TABLE IF EXISTS {made}")
    con.execute("SELECT setseed(0.5)")
    con.execute(MIXED.format(n))
    if name in (*NEEDS_RELEASE, *REMEMBERED):
        con.execute(f"CREATE TABLE r AS FROM anonymize('t', {GROUPED})")
    spent: list[float] = []

    def work() -> None:
        begun = time.process_time()
        con.execute(text).fetchall()
        spent.append(time.process_time() - begun)

    def again() -> None:
        for made in MADE:
            if made != "r" or name == "anonymize":
                con.execute(f"DROP TABLE IF EXISTS {made}")
        if name not in REMEMBERED:
            from kanon_sql.stages.remembered import forget

            forget()

    again()
    peak = measured(work, again).peak
    return {"cpu": min(spent), "peak": peak}


def tables(plan: Plan, say: Callable[[str], None]) -> list[Table]:
    """The table of this part."""
    table = Table(
        "Calls: CPU seconds beside anonymize, or beside plain SQL",
        ["call", "rows", "CPU s", "peak MB", "beside", "x its CPU", "growth"],
        notes=[
            "Four quasi-identifiers (a lognormal income, age, 800 sites by Zipf's law, six "
            "schools), a sensitive column of 20 values, an ID; k = 5, mdav_plus. CPU seconds of "
            "all threads, each call in a process of its own where everything was compiled before.",
            "GROUP BY: min(count(*)), min(count(DISTINCT illness)) over the same columns; scan: "
            "the maximum of each column; sort: CREATE TABLE s AS FROM t ORDER BY ALL.",
            "peak: above what the process held with the table; growth: the exponent from the size "
            "before.",
        ],
    )
    before: dict[str, tuple[int, float]] = {}
    for n in map(plan.rows, plan.calls):
        found: dict[str, Outcome] = {}
        for name in sorted(CALLS, key=lambda each: CALLS[each][1] != ""):
            say(f"calls: {name}, {n:,} rows")
            found[name] = apart("calls:one", plan.limit, name=name, n=n)
        for name, (_, beside) in CALLS.items():
            table.rows.append(_line(name, n, beside, found, before))
            if "failed" not in found[name]:
                before[name] = (n, found[name]["cpu"])
    return [table]


def _line(
    name: str, n: int, beside: str, found: dict[str, Outcome], before: dict[str, tuple[int, float]]
) -> list[Cell]:
    """One call of one size."""
    own = found[name]
    if "failed" in own:
        return [name, n, own["failed"], *[None] * 4]
    other: Any = found.get(beside, {"failed": ""})
    ratio = own["cpu"] / other["cpu"] if "failed" not in other and other["cpu"] else None
    growth = None
    if name in before and own["cpu"] > 0.0 and before[name][1] > 0.0:
        rows, cpu = before[name]
        growth = math.log(own["cpu"] / cpu) / math.log(n / rows)
    return [name, n, own["cpu"], own["peak"] / 1e6, beside or None, ratio, growth]
