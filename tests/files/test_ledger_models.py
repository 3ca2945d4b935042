"""Privacy models of releases in files beside a ledger: what a query keeps of every crowd, in
blocks, counted anew by SQL over what came out."""

from __future__ import annotations

import shutil
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import kanon_sql
from kanon_sql.errors import OptionError, ReleaseError
from kanon_sql.files import beside_ledger, ledger_models
from kanon_sql.files.state import State
from tests.files.lakes import bytes_of
from tests.ledger.crowds_keep import linkable
from tests.ledger.lives import lives
from tests.ledger.reference import histories
from tests.release.test_ledger_models import KEEPS, shares
from tests.support.connections import registered

con = registered(scope="function")

K = 3
GIVEN: dict[str, Any] = {
    "k": K, "quasi_identifiers": ["age", "job"], "sensitive": ["ill"], "entity": "id", "seed": 3,
    "progress": False,
}
ASKED: dict[str, dict[str, Any]] = {
    "l=2": {"l": 2}, "alpha=0.6": {"alpha": 0.6}, "t=0.6": {"t": 0.6}, "beta=2": {"beta": 2.0},
    "delta=1.5": {"delta": 1.5},
}
HELD = {
    **KEEPS,
    # beta-likeness: ln of the inverse share bounds what is larger than beta (cao2012, section 4)
    "beta=2": lambda own, all_: all(
        float(own[value]) <= float(share) * (1.0 + min(2.0, -np.log(float(share)))) + 1e-9
        for value, share in all_.items() if value in own
    ),
    # delta-disclosure: no share more than e^delta times that of all, nor less, nor 0
    "delta=1.5": lambda own, all_: all(
        abs(np.log(float(own.get(value, Fraction(1, 10**9)) / share))) < 1.5
        for value, share in all_.items()
    ),
}


def fill(con: duckdb.DuckDBPyConnection, there: list[int], path: Path, names: str) -> str:
    """A file of these persons, neighbours mostly with the same illness; the table ``now``, too."""
    random = np.random.default_rng(1)
    drawn, ages = random.integers(3, size=2000), random.permutation(2000)
    kinds = names.split()
    con.register("rows_now", pa.table({
        "id": there, "age": [int(ages[p]) for p in there], "job": ["abc"[p % 3] for p in there],
        "ill": [kinds[(int(ages[p]) // 300 + int(drawn[p])) % len(kinds)] for p in there],
    }))
    con.execute("CREATE OR REPLACE TABLE now AS FROM rows_now")
    con.execute(f"COPY now TO '{path}'")
    return str(path)


def release(folder: Path, number: int, source: str, **more: Any) -> Any:
    (folder / "ledger").mkdir(exist_ok=True)
    begun = {"ledger": f"{folder}/ledger/*.parquet"} if number > 1 else {"headroom": 1}
    return kanon_sql.anonymize_files(
        source, folder / f"out_{number}", ledger_to=folder / f"ledger/{number}.parquet",
        **{**GIVEN, **begun, **more},
    )


@pytest.mark.slow
@pytest.mark.parametrize("against", ["presence", "absence"])
@pytest.mark.parametrize("model", ASKED)
def test_every_crowd_keeps_the_model_in_several_blocks(
    con: duckdb.DuckDBPyConnection, model: str, against: str, tmp_path: Path
) -> None:
    names = "flu cold" if "delta" in model else "flu cold hiv gout"
    blocks, crowds = [], 0
    for number, there in enumerate(lives(4, 1400, 3, False, 0.5), start=1):
        source = fill(con, there, tmp_path / "now.parquet", names)
        done = release(
            tmp_path, number, source, attacker=f"knows_{against}", block_rows=60, **ASKED[model]
        )
        told = done.metrics
        blocks.append(told["blocks"])
        assert told["rows_released"] + told["rows_suppressed"] == len(there) == told["rows"]
        reasons = ("rows_withheld", "rows_stale", "rows_waiting")
        assert sum(told[name] for name in reasons) == told["rows_suppressed"]
        rows = con.execute(
            f"SELECT release, entity, class FROM '{tmp_path}/ledger/*.parquet'"
        ).fetchall()
        known = histories(rows)
        now = {person: place for r, person, place in rows if r == number}
        ill = dict(con.execute("SELECT id, ill FROM now").fetchall())
        everybody = shares([ill[p] for p in now])
        # what came out has those sensitive values, in combinations that keep the model
        out = con.execute(
            f"SELECT list(ill) FROM '{done.path}/*.parquet' GROUP BY age, job"
        ).fetchall()
        assert sorted(v for (own,) in out for v in own) == sorted(ill[p] for p in now)
        assert all(len(own) >= K and HELD[model](shares(own), everybody) for (own,) in out)
        crowds += linkable(known, now, ill, HELD[model], against, K)
    assert blocks[0] > 1
    assert crowds > 0 or against == "absence"
    ((kept,),) = con.execute(
        f"SELECT keeps_{against} FROM ledger_check('{tmp_path}/ledger/*.parquet', k := {K})"
    ).fetchall()
    assert kept


@pytest.mark.slow
@pytest.mark.parametrize("against", ["presence", "absence"])
@pytest.mark.parametrize("model", ["l=2", "alpha=0.6"])
def test_one_block_is_what_a_query_releases_and_enters(
    con: duckdb.DuckDBPyConnection, model: str, against: str, tmp_path: Path
) -> None:
    left = 0
    for number, there in enumerate(lives(3, 500, 3, True, 0.5), start=1):
        source = fill(con, there, tmp_path / "now.parquet", "flu cold hiv")
        more = {"attacker": f"knows_{against}", **ASKED[model]}
        done = release(tmp_path, number, source, **more)
        options = {**GIVEN, **more, **({"ledger": "releases"} if number > 1 else {"headroom": 1})}
        entered: Any = kanon_sql.anonymize_ledger("now", con=con, **options)
        con.register("entered", entered)
        text = "SELECT release, entity, class, published, options FROM {} ORDER BY entity"
        assert con.execute(text.format("entered")).fetchall() == con.execute(
            text.format(f"'{done.entries}'")
        ).fetchall()
        left += done.metrics["rows_suppressed"]
        # a ledger is begun in files, and gone on with in a query
        con.execute(f"CREATE OR REPLACE TABLE releases AS FROM '{tmp_path}/ledger/*.parquet'")
    assert left > 0


class Stopped(BaseException):
    """Stands for the end of the process."""


@pytest.mark.slow
def test_newcomers_who_keep_no_model_by_themselves_join_or_wait(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = fill(con, list(range(300)), tmp_path / "one.parquet", "flu cold hiv")
    release(tmp_path, 1, source, l=2)
    # many of them are close to each other, and a few among the others
    con.execute(
        "COPY (FROM now UNION ALL "
        "SELECT i, CASE WHEN i < 1200 THEN i % 50 ELSE (i - 1200) * 49 END, 'a', 'flu' "
        f"FROM range(1000, 1240) AS r(i)) TO '{tmp_path}/two.parquet'"
    )
    told = release(tmp_path, 2, f"{tmp_path}/two.parquet", l=2, block_rows=40).metrics
    entries = tmp_path / "ledger" / "2.parquet"
    whole = [bytes_of(tmp_path / "out_2"), entries.read_bytes()]
    shutil.rmtree(tmp_path / "out_2")
    entries.unlink()
    # a run that stops at every step ends with the same bytes, on one thread
    real, steps = State.done, []

    def stopping(self: State, step: str, found: Any, *made: Any) -> Any:
        real(self, step, found, *made)
        if step not in steps:
            steps.append(step)
            raise Stopped
        return found

    with monkeypatch.context() as patched:
        patched.setattr(State, "done", stopping)
        while not (tmp_path / "out_2").exists():
            with suppress(Stopped):
                release(tmp_path, 2, f"{tmp_path}/two.parquet", l=2, block_rows=40, threads=1)
    assert {beside_ledger.FREE, ledger_models.STEP} <= set(steps)
    assert [bytes_of(tmp_path / "out_2"), entries.read_bytes()] == whole
    assert told["blocks"] > 1 and told["rows_joining"] > 0 < told["rows_waiting"]
    assert told["rows_joining"] + told["rows_waiting"] == 240 and told["rows_withheld"] == 0


@pytest.mark.slow
def test_a_broken_crowd_does_not_come_out(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    con.execute(
        "CREATE TABLE now AS SELECT i AS id, 10 * (i // 4) AS age, 'a' AS job, "
        "['flu', 'flu', 'cold', 'hiv'][1 + i % 4] AS ill FROM range(20) AS r(i)"
    )
    con.execute(f"COPY now TO '{tmp_path}/one.parquet'")
    con.execute("DELETE FROM now WHERE id IN (2, 3)")
    con.execute("INSERT INTO now VALUES (100, 0, 'a', 'cold'), (101, 0, 'a', 'hiv')")
    con.execute(f"COPY now TO '{tmp_path}/two.parquet'")
    options = {"k": 2, "l": 2}
    release(tmp_path, 1, f"{tmp_path}/one.parquet", **options)
    with pytest.raises(OptionError, match="was made with other privacy models"):
        release(tmp_path, 2, f"{tmp_path}/two.parquet", k=2)
    with monkeypatch.context() as patched:
        patched.setattr(beside_ledger, "keep", lambda engine, past, pieces: {})
        with pytest.raises(ReleaseError, match="anonymity set that doesn't keep the privacy"):
            release(tmp_path, 2, f"{tmp_path}/two.parquet", **options)
    assert not (tmp_path / "out_2").exists() and not (tmp_path / "ledger/2.parquet").exists()
    done = release(tmp_path, 2, f"{tmp_path}/two.parquet", **options)
    left = con.execute(f"SELECT entity FROM '{done.entries}' WHERE entity < 4").fetchall()
    assert left == []
