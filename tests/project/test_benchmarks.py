"""The benchmarks run, in small, and write what they show. No time is asserted."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from benchmarks import apart, mixed, opponent
from benchmarks.__main__ import PARTS, arguments, measure, plan_of, told
from benchmarks.data import FOUR
from benchmarks.kernels import exponent, growth
from benchmarks.plan import PLANS
from benchmarks.tables import Table, markdown, shown

ROOT = Path(__file__).parents[2]


def run(out: Path, *given: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--out", str(out), *given], cwd=ROOT,
        capture_output=True, text=True, timeout=300, check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def cells_of(page: str, title: str) -> list[list[str]]:
    """The cells of a table of a page, without its head."""
    lines = page.split(f"### {title}\n\n")[1].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines[2:]]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("results")
    quick = ("--quick", "--scale", "0.01", "--steps", "1000", "--limit", "300")
    run(out, *quick, "--only", "sql,reference", "peers")
    run(out, "--full", "--scale", "0.00005", "--only", "large")
    return out


@pytest.mark.slow
def test_the_files_are_written_and_a_second_run_adds_to_the_first(written: Path) -> None:
    results = json.loads((written / "results.json").read_text(encoding="utf-8"))
    assert set(results) == {"sql", "reference", "peers", "large"}
    for part in results.values():
        assert part["machine"]["cores"] >= 1
        assert set(part["machine"]["versions"]) >= {"python", "duckdb", "numba", "kanon_sql"}


@pytest.mark.slow
def test_the_page_has_every_table_with_the_numbers_of_the_json(written: Path) -> None:
    page = (written / "results.md").read_text(encoding="utf-8")
    results = json.loads((written / "results.json").read_text(encoding="utf-8"))
    for part, found in results.items():
        assert f"\n## {part}\n" in page
        for table in found["tables"]:
            rows = [[shown(c, table["digits"]) for c in row] for row in table["rows"]]
            padded = [[*row, *[""] * len(rows[0])][: len(rows[0])] for row in
                      cells_of(page, table["title"])]
            assert padded == rows and rows


@pytest.mark.slow
def test_the_runs_went_well(written: Path) -> None:
    results = json.loads((written / "results.json").read_text(encoding="utf-8"))
    rows = [row for part in results.values() for table in part["tables"] for row in table["rows"]]
    assert [row for row in rows if any("Error" in str(cell) for cell in row)] == []
    sql, stages = (table["rows"] for table in results["sql"]["tables"])
    runs = len(FOUR) * len(PLANS["quick"].sql) * len(PLANS["quick"].sql_methods)
    assert len(sql) == len(stages) == runs
    for row in [*sql, *stages]:
        assert row[0] in FOUR and isinstance(row[1], int), row
        assert all(isinstance(cell, (int, float)) for cell in row[3:]), row
    for row in results["reference"]["tables"][0]["rows"]:
        assert row[-1] == "equal", row
    large = results["large"]["tables"][0]["rows"]
    assert [row[0] for row in large] == ["doubles", "mixed"]
    assert all(row[1] == row[6] == 500 and row[7] == 5 for row in large)
    assert all("only with --peers" in row for row in results["peers"]["tables"][0]["rows"])


def test_a_part_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        arguments(["--only", "sql,lage"])
    assert "no part 'lage'" in capsys.readouterr().err
    assert arguments(["--only", "sql,large", "loss"]).only == ["sql", "large", "loss"]


def one_cell(*_: Any, **arguments: Any) -> dict[str, Any]:
    """Stands for a run: what it would give follows from what it is asked for."""
    n, blocks = arguments.get("n", 1000), arguments.get("block_rows") or 250
    names = ("loss", "ncp", "ncp_distinct", "leaves", "leaves_more", "sort")
    losses = dict.fromkeys(names, 0.5)
    if "kind" in arguments and "row" in arguments:
        losses |= {"call": n / 1e5, "group": n**1.5, "one_block": n**2.0}
    return {"seconds": n / 1e6, "method_seconds": 0.0, "suppressed": 0.0, "peak": n * 64,
            "multiple": 2.0, "blocks": blocks, "cpu": 1.0, "functions": 2, **losses}


@pytest.mark.parametrize("name", sorted(PLANS))
@pytest.mark.parametrize(
    "part", ["kernels", "loss", "opponent", "categories", "blocks", "mixed", "first_use"]
)
def test_the_tables_are_whole(name: str, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"benchmarks.{part}.apart", one_cell)
    for table in measure(part, PLANS[name]):
        assert table.title != f"{part.capitalize()}: failed", table.rows
        assert table.rows and all(len(row) == len(table.columns) for row in table.rows)
        assert len(markdown(table)) >= len(table.rows) + 4
        if "growth" in table.columns:
            assert [row[-1] for row in table.rows] == pytest.approx([1.0] * len(table.rows))
        if part == "mixed":  # from the second size of each run on
            grown = [row[-3:] for row in table.rows if row[-1] is not None]
            sizes = len(PLANS[name].everyday)
            assert len(grown) * sizes == len(table.rows) * (sizes - 1)
            assert grown == [pytest.approx([1.0, 1.5, 2.0])] * len(grown)


@pytest.mark.slow
def test_a_first_use_compiles_and_a_second_loads(tmp_path: Path) -> None:
    runs = [
        apart.apart("first_use:one", 120.0, method="optimal_1d", refine="none",
                    folder=str(tmp_path))
        for _ in range(2)
    ]
    assert runs[0]["functions"] > 0 and runs[1]["functions"] == 0, runs


@pytest.mark.slow
def test_one_run_of_each_kind_apart() -> None:
    found = apart.apart(
        "kernels:one", 120.0, kind="mixed", row="mdav_plus, refined", n=300, d=8, k=3, steps=1000
    )
    assert set(found) == {"seconds", "peak", "multiple", "loss"}, found
    found = apart.apart("loss:one", 120.0, name="EIA", row="mdav_star", k=5, steps=None)
    assert round(found["loss"], 3) == 0.911
    found = apart.apart("categories:greedy", 120.0, method="nearest", n=500)
    assert 0.0 < found["loss"] < 1.0
    found = apart.apart("categories:cuts", 120.0, n=500, partitioning="strict")
    assert found["sort"] > 0.0
    found = apart.apart("blocks:one", 120.0, row="mdav_plus", n=1000, d=4, block_rows=500)
    assert found["blocks"] == 2, found
    for kind in (*mixed.MADE, *mixed.ADULT):
        found = apart.apart("mixed:one", 120.0, kind=kind, row="mdav_plus", n=2000)
        assert set(found) == {"call", "group", "sort"}, found


def test_the_leaves_below_released_labels(tmp_path: Path) -> None:
    con, path = duckdb.connect(), str(tmp_path / "tree.parquet")
    con.execute(
        "COPY (SELECT * FROM (VALUES ('a', 'x', '*'), ('b', 'x', '*'), ('c', 'c', '*'), "
        f"('d', 'y', '*'), ('e', 'y', '*')) AS t(level0, level1, level2)) TO '{path}'"
    )
    con.execute("CREATE TABLE r AS SELECT unnest(['a', 'x', 'c', '*']) AS place")
    found = opponent.leaf_shares(con, {"place": path}, 1)  # leaves 1, 2, 1, 5, and a row out
    assert found["leaves"] == pytest.approx((1 + 2 + 1 + 5 + 5) / 5 / 5)
    assert found["leaves_more"] == pytest.approx((0 + 1 + 0 + 4 + 4) / 4 / 5)
    con.execute("INSERT INTO r VALUES ('z')")
    with pytest.raises(ValueError, match="1 released values of place"):
        opponent.leaf_shares(con, {"place": path}, 0)


def test_the_nearest_neighbours_behind_the_lower_bound() -> None:
    rng = np.random.default_rng(7)
    records = np.column_stack([rng.integers(0, 3, (60, 2)), rng.integers(0, 9, 60)])
    rows, counts = np.unique(records, axis=0, return_counts=True)
    codes, ages = rows[:, :2].astype(np.int32), rows[:, 2] / 8.0
    assert counts.max() > 1
    for costs in (np.ones(2), np.array([0.5, 0.25])):
        found = np.full((len(rows), 4), np.inf)
        opponent.neighbours(ages, codes, costs, counts, found)
        for i, row in enumerate(rows):
            gaps = abs(records[:, 2] - row[2]) / 8.0 + (records[:, :2] != row[:2]) @ costs
            assert found[i] == pytest.approx(np.sort(gaps)[1:5])  # all but itself


def test_a_run_that_fails_says_why() -> None:
    assert apart.apart("kernels:one", 0.01)["failed"] == "not within 0.01 s"
    assert "TypeError" in apart.apart("large:audit", 60.0)["failed"]
    assert apart.why_it_died(-9, "") == "killed by SIGKILL, out of memory?"


def test_a_part_that_breaks_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> list[Table]:
        raise RuntimeError("no such thing")

    monkeypatch.setattr("benchmarks.blocks.tables", broken)
    assert measure("blocks", PLANS["quick"])[0].rows == [["RuntimeError: no such thing"]]


def test_more_rows_are_not_tried_where_fewer_took_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "benchmarks.kernels.apart", lambda *_, **__: {"failed": "not within 30 s"}
    )
    seconds = measure("kernels", PLANS["quick"])[0].rows[0]
    assert seconds[1:3] == ["not within 30 s", "not run: fewer rows took too long"]
    assert seconds[3] == "needs two sizes from 30,000"


@pytest.mark.parametrize("power", [0.5, 1.0, 1.7, 2.0])
def test_the_growth_exponent(power: float) -> None:
    sizes = [30_000, 100_000, 300_000, 1_000_000]
    assert growth(sizes, [1e-6 * n**power for n in sizes]) == pytest.approx(power)


def test_the_growth_is_of_the_large_sizes_that_have_a_time() -> None:
    sizes = [10_000, 30_000, 100_000, 300_000]
    cells = [7.0, 3.0, 10.0, "not within 600 s"]
    assert exponent(sizes, cells, 30_000) == pytest.approx(1.0)
    assert exponent(sizes[:2], cells[:2], 30_000) == "needs two sizes from 30,000"


def test_the_growth_is_a_fit_of_least_squares() -> None:
    sizes, seconds = [10.0, 100.0, 1000.0], [1.0, 100.0, 100.0]
    assert growth(sizes, seconds) == pytest.approx(1.0)


def test_cells_are_shown_for_readers() -> None:
    cells = (None, "a|b", 12345, 12345.6, 12.34, 1.234, 0.1234, 0.01234, 0.00001)
    assert [shown(cell) for cell in cells] == [
        "", "a\\|b", "12,345", "12,346", "12.3", "1.23", "0.123", "0.0123", "1.0e-05"
    ]
    assert shown(1.23456, 3) == "1.235"


def test_the_command_line() -> None:
    plan = plan_of(arguments(["--quick", "--steps", "7", "--limit", "9", "--scale", "0.1"]))
    assert (plan.name, plan.steps, plan.limit, plan.rows(10_000)) == ("quick", 7, 9.0, 1000)
    assert told(plan) == "quick, rows times 0.1, up to 9 s for one run"
    assert plan_of(arguments([])).large == 0 and plan_of(arguments(["--full"])).large == 10_000_000
    assert set(arguments([]).only) == set(PARTS)
    with pytest.raises(SystemExit):
        arguments(["--scale", "0"])
