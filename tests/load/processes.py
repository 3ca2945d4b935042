"""Eight processes that read one DuckDB file and one lake."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import duckdb

import kanon_sql
from kanon_sql.stages.remembered import forget
from tests.load.outcome import Outcome
from tests.load.questions import (
    FORMS,
    Question,
    answer,
    connection,
    digest,
    lake,
    questions,
    tables,
)

DATABASE, LAKE = "our.duckdb", "lake"
QUASI = ["age", "income", "zip", "seen"]


def released(folder: Path, name: str) -> str:
    """A digest of what the lake is released as, by a folder of that name."""
    target = folder / name
    kanon_sql.anonymize_files(
        f"{folder / LAKE}/*/*.parquet", target, k=5, quasi_identifiers=QUASI,
        sensitive=["job", "disease"], seed=7, progress=False,
    )
    with duckdb.connect() as con:
        return digest(con.execute(f"FROM '{target}/**/*.parquet'").fetchall())


def work(
    folder: str, number: int, end: float, seed: int, asked: list[Question], expected: list[str],
    stored: str,
) -> Outcome:
    """One of the processes."""
    outcome, random = Outcome(f"process {number}"), Random(seed * 1000 + number)
    outcome.compare("anonymize_files", released(Path(folder), f"released_{number}"), stored)
    con = connection(str(Path(folder, DATABASE)), read_only=True)
    while True:
        which = random.randrange(len(asked))
        if random.random() < 0.5:
            forget()
        outcome.compare(asked[which].sql, answer(con, asked[which]), expected[which])
        if random.random() < 0.05:
            con.close()
            con = connection(str(Path(folder, DATABASE)), read_only=True)
        if time.time() > end:
            return outcome


def asked_by_processes(
    seconds: float, count: int = 8, seed: int = 0, forms: Sequence[str] = FORMS
) -> Outcome:
    """Each process asks at random until the time is up, and at least once."""
    outcome = Outcome("processes")
    with TemporaryDirectory() as name:
        folder = Path(name)
        with duckdb.connect(str(folder / DATABASE)) as writer:
            asked = questions([*tables(writer), *lake(writer, folder / LAKE)], forms)
        with connection(str(folder / DATABASE), read_only=True) as con:
            expected = [answer(con, each) for each in asked]
        stored = released(folder, "serial")
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(count, mp_context=spawn) as pool:
            end = time.time() + seconds
            running = [
                pool.submit(work, name, number, end, seed, asked, expected, stored)
                for number in range(count)
            ]
            for number, each in enumerate(running):
                try:
                    part = each.result()
                except Exception as error:
                    outcome.find(f"process {number}: {type(error).__name__}: {error}")
                    continue
                outcome.calls += part.calls
                outcome.findings += part.findings
    outcome.facts.append(f"{count} processes, {len(expected)} different calls, one file, one lake")
    return outcome
