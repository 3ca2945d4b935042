"""Runs a case and gives all that is wrong with what came of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import duckdb

from tests.fuzz.aligned import Aligned
from tests.fuzz.case import Case
from tests.fuzz.door import Bench, Refused, Released
from tests.fuzz.oracle import Release, refusal_fault

Connection = duckdb.DuckDBPyConnection
WEIGHTS = "The weight column "


@dataclass(frozen=True)
class Verdict:
    """What came of a case.

    Attributes:
        outcome: 'released', or the sentence of the refusal.
        faults: all that is wrong.
    """

    outcome: str
    faults: tuple[str, ...]


def judged(con: Connection, case: Case, thoroughly: bool = True) -> Verdict:
    """Runs a case and judges it; ``thoroughly`` asks for the same release in other ways, too."""
    try:
        bench = Bench(con, case)
    except duckdb.Error as error:
        return Verdict(f"no table: {error}", ())
    try:
        bench.forget()
        found = bench.release("released")
        if isinstance(found, Refused):
            fault = refusal_fault(case, found.kind, found.said, found.ours)
            return Verdict(found.said, (fault,) if fault else ())
        return Verdict("released", tuple(_faults(bench, found, thoroughly)))
    finally:
        bench.close()


def _faults(bench: Bench, found: Released, thoroughly: bool) -> Iterator[str]:
    con, case = bench.con, bench.case
    metrics = found.metrics
    query = case.door == "query"
    if metrics is None and query:
        rows = bench.rows_of("anonymize_metrics", detail=True)
        if isinstance(rows, Refused) and "sampling_weight" in case.options and WEIGHTS in rows.said:
            pass  # only the metrics read them
        elif isinstance(rows, Refused):
            yield f"the release came out, and its metrics are refused: {rows.said[:300]}"
        else:
            metrics = {name: value for name, value, *_ in rows}
    release = Release(con, case, found.table, metrics)
    yield from release.faults()
    if query:
        yield from _aligned(bench, release)
    if thoroughly and case.options.get("refine_seconds") is None:
        yield from _again(bench, release)


def _aligned(bench: Bench, release: Release) -> Iterator[str]:
    """What is wrong where it is known which row is which."""
    case = bench.case
    if any(column.name.lower() == "class_id" for column in case.columns):
        return
    ordered = bench.release("ordered", keep_order=True, class_id=True)
    if isinstance(ordered, Refused):
        yield f"the release came out, and not with keep_order: {ordered.said[:300]}"
        return
    left_out: list[int] = []
    if release.count(release.table) < case.rows:
        rows = bench.rows_of("suppressed_rows")
        if isinstance(rows, Refused) and "sampling_weight" in case.options and WEIGHTS in rows.said:
            pass  # only the metrics read them
        elif isinstance(rows, Refused):
            yield f"the release came out, and suppressed_rows is refused: {rows.said[:300]}"
            return
        left_out = [number for number, *_ in rows]
    beside = replace(case, options={**case.options, "class_id": True})
    view = Release(bench.con, beside, "ordered", release.metrics)
    try:
        yield from Aligned(view, left_out).faults()
    except duckdb.Error as error:
        raise RuntimeError(f"the oracle failed: {error}") from error
    if not case.options.get("class_id") and not _closer_than_doubles(case):
        yield from _same(bench, release.table, "(SELECT * EXCLUDE (class_id) FROM ordered)",
                         "with keep_order")


def _closer_than_doubles(case: Case) -> bool:
    """Whether a column has numbers that no double tells apart: rows with them are equally near to
    all others, and which of them share a class follows from a hash of all that is released."""
    numbers = (
        {value for value in column.values if value is not None} for column in case.columns
        if column.type.endswith("INT") or column.type.startswith("DECIMAL")
    )
    return any(len(set(map(float, values))) < len(values) for values in numbers)


def _texts(con: Connection, table: str) -> Counter[Any]:
    rows = con.execute(f"SELECT COLUMNS(*)::VARCHAR FROM {table}").fetchall()
    return Counter(rows)


def _same(bench: Bench, one: str, other: str, how: str) -> Iterator[str]:
    a, b = _texts(bench.con, one), _texts(bench.con, other)
    if a != b:
        yield f"another release {how}: {math.ceil((a - b).total())} of {a.total()} rows differ"


def _again(bench: Bench, release: Release) -> Iterator[str]:
    """The same release of the same rows: asked for again, in another order, on other threads."""
    con, case = bench.con, bench.case
    if case.door == "frame":
        return
    order = list(range(case.rows))
    Random(len(order)).shuffle(order)
    numbers = ", ".join(map(str, order)) or "0"
    con.execute(
        "CREATE OR REPLACE TABLE shuffled AS SELECT x.* FROM (SELECT *, row_number() OVER () - 1 "
        f"AS __n FROM t) x JOIN (SELECT unnest([{numbers}]) AS n, generate_subscripts([{numbers}],"
        " 1) AS place) o ON x.__n = o.n ORDER BY o.place"
    ) if not any(c.name == "__n" for c in case.columns) else None
    bench.forget()
    threads = 1 + case.rows % 4
    con.execute(f"SET threads = {threads}")
    try:
        again = bench.release("again")
    finally:
        con.execute("RESET threads")
    if isinstance(again, Refused):
        yield f"the second call is refused: {again.said[:300]}"
        return
    yield from _same(bench, release.table, "again", f"on {threads} threads")
    if case.door != "query" or case.roles_in == "comments" or case.options.get("keep_order"):
        return
    con.execute("ALTER TABLE shuffled DROP COLUMN __n")
    con.execute("DROP TABLE t; ALTER TABLE shuffled RENAME TO t")
    bench.forget()
    third = bench.release("third")
    if isinstance(third, Refused):
        yield f"another order of rows is refused: {third.said[:300]}"
        return
    yield from _same(bench, release.table, "third", "of rows in another order")


__all__ = ["Verdict", "judged"]
