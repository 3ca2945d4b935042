"""The three figures of README.md are those of benchmarks/results, or hold in a release here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from benchmarks.__main__ import PARTS, arguments
from kanon_sql.group import run
from kanon_sql.stages import remembered
from tests.support.broken import broken, last_group_is_one_short

ROOT = Path(__file__).parents[2]
README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
RESULTS = json.loads((ROOT / "benchmarks/results/results.json").read_text(encoding="utf-8"))


def row_of(part: str, table: int, **wanted: Any) -> dict[str, Any]:
    """The row of a stored table that has these cells, by column."""
    stored = RESULTS[part]["tables"][table]
    rows = [dict(zip(stored["columns"], row, strict=True)) for row in stored["rows"]]
    (found,) = [row for row in rows if wanted.items() <= row.items()]
    return found


def test_the_largest_run_is_the_stored_one() -> None:
    found = row_of("files", 0, rows=100_000_000)
    assert RESULTS["files"]["machine"]["cores"] == 2
    assert found["k of the files"] == 5
    assert f"{found['rows']:,} rows in {found['seconds']:.0f} s on two cores" in README
    assert f"a peak of {found['peak MB'] / 1000:.1f} GB of memory" in README


def test_the_loss_is_that_of_the_stored_comparison() -> None:
    finest = row_of("opponent", 0, by="ARX, local recoding, finest steps")
    ours = row_of("opponent", 0, **{"by": "k_member, refined", "made for": "range_flat"})
    less = 1 - ours["range_flat"] / finest["range_flat"]
    assert f"{less:.0%}".replace("%", " %") + " less information loss than ARX's finest" in README
    assert f"`ncp` {ours['range_flat']:.4f} instead of {finest['range_flat']:.4f}" in README
    assert f"in {ours['seconds']} s instead of {finest['seconds']} s" in README
    assert ours["rows out"] == 0
    measure = "leaves - 1"
    theirs = row_of("opponent", 1, by="ARX, local recoding, finest steps")[measure]
    less = 1 - row_of("opponent", 1, by="k_member, refined, by leaves")[measure] / theirs
    assert f"With ARX's hierarchies and ARX's loss it is {100 * less:.0f} % less" in README


def test_the_commands_measure_them() -> None:
    for part in ("files", "opponent"):
        (command,) = re.findall(rf"`python -m benchmarks ([\w -]*--only {part})`", README)
        found = arguments(command.split())
        assert found.only == [part] and part in PARTS
        assert found.full == RESULTS[part]["plan"].startswith("full")


@pytest.fixture
def con(monkeypatch: pytest.MonkeyPatch) -> Iterator[duckdb.DuckDBPyConnection]:
    """Forty people whose neighbours have the same disease; classes are as the method makes them."""
    monkeypatch.setattr(run, "enforce", lambda points, grouping, *_: grouping)
    connection = kanon_sql.register(duckdb.connect())
    connection.execute(
        "CREATE TABLE people AS "
        "SELECT i AS age, 'disease ' || i // 20 AS disease FROM range(40) AS r(i)"
    )
    remembered.forget()
    yield connection
    remembered.forget()
    connection.close()


@pytest.mark.parametrize("model", ["k", "l := 2", "t := 0.4"])
def test_a_release_that_misses_a_model_returns_no_rows(
    con: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    assert "**k, l and t verified in the query that releases.**" in README
    call = "FROM anonymize('people', k := 4, method := 'mdav', sensitive := ['disease'], seed := 1"
    assert len(con.sql(f"{call})").fetchall()) == 40
    if model == "k":
        broken(monkeypatch, last_group_is_one_short)
    with pytest.raises(duckdb.Error, match="The release was stopped"):
        con.execute(f"{call})" if model == "k" else f"{call}, {model})").fetchall()
