"""Privacy models of releases in Spark beside a ledger: what a query and files keep of every crowd,
counted anew over what came out."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import kanon_sql
from kanon_sql import spark as kanon_spark
from kanon_sql.errors import OptionError, ReleaseError
from tests.files.test_ledger_models import ASKED, GIVEN, HELD, K, fill
from tests.ledger.crowds_keep import linkable
from tests.ledger.lives import lives
from tests.ledger.reference import histories
from tests.release.test_ledger_models import shares
from tests.support.connections import registered

con = registered(scope="function")
OPTIONS = {name: value for name, value in GIVEN.items() if name != "progress"}


def release(spark: Any, rows: pa.Table, held: list[pa.Table], **more: Any) -> Any:
    begun: dict[str, Any] = {"headroom": 1}
    if held:
        begun = {"ledger": spark.createDataFrame(pa.concat_tables(held))}
    frame = spark.createDataFrame(rows).repartition(3)
    return kanon_spark.release(frame, **{**OPTIONS, **begun, **more})


@pytest.mark.slow
@pytest.mark.parametrize(("model", "against"), [
    ("l=2", "presence"), ("t=0.6", "presence"), ("delta=1.5", "presence"), ("beta=2", "absence"),
])
def test_every_crowd_keeps_the_model_in_several_blocks(
    spark: Any, con: duckdb.DuckDBPyConnection, model: str, against: str, tmp_path: Path
) -> None:
    names = "flu cold" if "delta" in model else "flu cold hiv gout"
    held: list[pa.Table] = []
    linked: list[tuple[int, int, int]] = []
    blocks, crowds = [], 0
    for number, there in enumerate(lives(4, 1400, 3, False, 0.5), start=1):
        fill(con, there, tmp_path / "now.parquet", names)
        rows = con.sql("FROM now").to_arrow_table()
        done = release(
            spark, rows, held, attacker=f"knows_{against}", block_rows=60, **ASKED[model]
        )
        told, out, entries = done.metrics, done.data.toArrow(), done.entries.toArrow()
        done.unpersist()
        blocks.append(told["blocks"])
        assert told["rows_released"] + told["rows_suppressed"] == len(there) == told["rows"]
        assert out.num_rows == told["rows_released"] == entries.num_rows
        reasons = ("rows_withheld", "rows_stale", "rows_waiting")
        assert sum(told[name] for name in reasons) == told["rows_suppressed"]
        held.append(entries)
        linked += zip(*(entries[n].to_pylist() for n in ("release", "entity", "class")),
                      strict=True)
        known, ill = histories(linked), dict(con.execute("SELECT id, ill FROM now").fetchall())
        now = {person: place for r, person, place in linked if r == number}
        everybody = shares([ill[p] for p in now])
        combinations = defaultdict(list)
        for row in out.to_pylist():
            combinations[row["age"], row["job"]].append(row["ill"])
        assert sorted(out["ill"].to_pylist()) == sorted(ill[p] for p in now)
        for own in combinations.values():
            assert len(own) >= K and HELD[model](shares(own), everybody)
        crowds += linkable(known, now, ill, HELD[model], against, K)
    assert blocks[0] > 1
    assert crowds > 0 or against == "absence"


@pytest.mark.slow
@pytest.mark.parametrize(("model", "against"), [("l=2", "presence"), ("alpha=0.6", "absence")])
def test_one_block_is_what_a_query_releases_and_enters(
    spark: Any, con: duckdb.DuckDBPyConnection, model: str, against: str, tmp_path: Path
) -> None:
    held: list[pa.Table] = []
    left = 0
    for number, there in enumerate(lives(3, 500, 3, True, 0.5), start=1):
        fill(con, there, tmp_path / "now.parquet", "flu cold hiv")
        more = {"attacker": f"knows_{against}", **ASKED[model]}
        done = release(spark, con.sql("FROM now").to_arrow_table(), held, **more)
        entries = done.entries.toArrow()
        begun = {"ledger": "releases"} if number > 1 else {"headroom": 1}
        entered: Any = kanon_sql.anonymize_ledger("now", con=con, **OPTIONS, **more, **begun)
        assert entries.to_pylist() == entered.to_pylist()
        left += done.metrics["rows_suppressed"]
        held.append(entries)
        con.register("releases", pa.concat_tables(held))
        done.unpersist()
    assert left > 0


@pytest.mark.slow
def test_newcomers_who_keep_no_model_by_themselves_join_or_wait(
    spark: Any, con: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kanon_sql.spark.beside_ledger import EarlierInSpark

    real, freed = EarlierInSpark.let_free, []
    monkeypatch.setattr(
        EarlierInSpark, "let_free", lambda self: (real(self), freed.append(True))
    )
    fill(con, list(range(300)), tmp_path / "one.parquet", "flu cold hiv")
    first = release(spark, con.sql("FROM now").to_arrow_table(), [], l=2)
    held = [first.entries.toArrow()]
    # many of them are close to each other, and a few among the others
    rows = con.sql(
        "FROM now UNION ALL "
        "SELECT i, CASE WHEN i < 1200 THEN i % 50 ELSE (i - 1200) * 49 END, 'a', 'flu' "
        "FROM range(1000, 1240) AS r(i)"
    ).to_arrow_table()
    done = release(spark, rows, held, l=2, block_rows=40)
    told, out = done.metrics, done.data.toArrow()
    assert told["blocks"] > 1 and told["rows_joining"] > 0 < told["rows_waiting"]
    assert told["rows_joining"] + told["rows_waiting"] == 240 and told["rows_withheld"] == 0
    # a block that was grouped twice comes out once
    assert freed == [True]
    assert out.num_rows == told["rows_released"] == done.entries.count()
    combinations = defaultdict(set)
    for row in out.to_pylist():
        combinations[row["age"], row["job"]].add(row["ill"])
    assert min(map(len, combinations.values())) >= 2


@pytest.mark.slow
def test_a_broken_crowd_does_not_come_out(
    spark: Any, con: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kanon_sql.spark import ledger_models

    one = con.sql(
        "SELECT i AS id, 10 * (i // 4) AS age, 'a' AS job, "
        "['flu', 'flu', 'cold', 'hiv'][1 + i % 4] AS ill FROM range(20) AS r(i)"
    ).to_arrow_table()
    two = con.sql(
        "FROM one WHERE id NOT IN (2, 3) "
        "UNION ALL VALUES (100, 0, 'a', 'cold'), (101, 0, 'a', 'hiv')"
    ).to_arrow_table()
    options = {"k": 2, "l": 2}
    held = [release(spark, one, [], **options).entries.toArrow()]
    with pytest.raises(OptionError, match="was made with other privacy models"):
        release(spark, two, held, k=2)
    with monkeypatch.context() as patched:
        patched.setattr(ledger_models, "who_leaves", lambda people, *_: people.slice(0, 0))
        with pytest.raises(ReleaseError, match="anonymity set that doesn't keep the privacy"):
            release(spark, two, held, **options)
    done = release(spark, two, held, **options)
    assert not {row["entity"] for row in done.entries.collect()} & {0, 1, 2, 3}
