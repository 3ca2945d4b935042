"""kanon audit as a process: parts and sensitive columns together, and by a kanon.toml."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

CONFIG = """
[tables.visits]
input = "visits.parquet"
output = "released/"
partition_by = "day"
manifest = false
[tables.visits.options]
k = 5
t = 0.9
method = "mdav_plus"
suppress = 0.5
[tables.visits.roles]
age = "quasi_identifier"
day = "within"
disease = "sensitive"
name = "identifier"
"""
ROWS = """
    SELECT hash(i) % 40 AS age, 'day ' || (i % {}) AS day, 'd' || (hash(i, 2) % 3) AS disease,
           md5(i::VARCHAR) AS name
    FROM range(400) r(i)
"""


def kanon(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kanon_sql", *arguments], capture_output=True, text=True,
        timeout=300, check=False,
    )


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("conf").mkdir()
    Path("conf/kanon.toml").write_text(CONFIG)
    with duckdb.connect() as con:
        con.execute(f"COPY ({ROWS.format(2)}) TO 'conf/visits.parquet'")


def days() -> dict[str, list[bytes]]:
    return {
        folder.name: [file.read_bytes() for file in folder.iterdir()]
        for folder in sorted(Path("conf/released").iterdir())
    }


@pytest.mark.slow
def test_parts_and_sensitive_columns_by_a_config_and_a_partition_again() -> None:
    done = kanon("run", "conf/kanon.toml")
    assert done.returncode == 0, done.stderr
    before = days()
    assert list(before) == ["day=day%200", "day=day%201"]

    audit = kanon("audit", "--config", "conf/kanon.toml", "--json")
    assert audit.returncode == 0, audit.stderr
    (told,) = json.loads(audit.stdout)
    assert (told["sensitive"], told["k_requested"], told["parts"]) == ("disease", 5, 2)
    assert (told["k"] >= 5, told["classes_violating"], told["parts_below_k"]) == (True, 0, 0)
    typed = kanon(
        "audit", "conf/released", "-q", "age", "-s", "disease", "--within", "day", "-k", "5",
        "--t", "0.9", "--json",
    )
    assert (typed.returncode, json.loads(typed.stdout)) == (0, [told])
    stricter = kanon("audit", "conf/released", "--config", "conf/kanon.toml", "-k", "50")
    assert stricter.returncode == 1

    # one day comes again, with other rows
    with duckdb.connect() as con:
        con.execute(
            f"COPY (FROM ({ROWS.format(2)}) WHERE day = 'day 1' AND age > 3) "
            "TO 'conf/visits.parquet'"
        )
    again = kanon("run", "conf/kanon.toml")
    assert (again.returncode, "say --overwrite" in again.stderr) == (2, True)
    assert days() == before
    again = kanon("run", "conf/kanon.toml", "--overwrite")
    assert again.returncode == 0, again.stderr
    after = days()
    assert list(after) == list(before)
    assert after["day=day%200"] == before["day=day%200"]
    assert after["day=day%201"] != before["day=day%201"]
    assert sorted(path.name for path in Path("conf").iterdir()) == [
        "kanon.toml", "released", "visits.parquet"
    ]


@pytest.mark.slow
def test_a_folder_with_something_else_is_no_place_for_partitions() -> None:
    Path("conf/released").mkdir()
    Path("conf/released/notes.txt").write_text("mine")
    done = kanon("run", "conf/kanon.toml", "--overwrite")
    assert (done.returncode, "has other things in it" in done.stderr) == (2, True)
    assert Path("conf/released/notes.txt").read_text() == "mine"


@pytest.mark.slow
def test_a_config_of_several_tables_asks_which() -> None:
    more = CONFIG.replace("tables.visits", "tables.other").replace("released/", "second.parquet")
    Path("conf/kanon.toml").write_text(CONFIG + more)
    done = kanon("audit", "--config", "conf/kanon.toml")
    assert done.returncode == 2
    assert "has 2 tables, and IN is the output of none" in done.stderr
