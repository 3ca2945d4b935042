"""The first use in a fresh environment says what it compiles, and compiles no more than that."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
import duckdb, kanon_sql
con = kanon_sql.register(duckdb.connect())
con.execute("SET enable_progress_bar = false")
con.execute("CREATE TABLE t AS SELECT i AS a, i % 7 AS b FROM range(20) AS r(i)")
call = f"FROM anonymize('t', k=5, method='{sys.argv[1]}', {sys.argv[2]})"
print(len(con.execute(call).fetchall()))
"""
OTHERS = {"greedy", "mdav", "mdav_star", "v_mdav", "group_index", "annealing", "optimal_1d"}


@pytest.mark.sample(1)
@pytest.mark.parametrize(("method", "options", "kernel"), [
    ("optimal_1d", "quasi_identifiers=['a'], identifiers=['b']", "optimal_1d"),
    pytest.param("k_member", "seed=1", "greedy", marks=pytest.mark.slow),
])
def test_the_first_use_says_what_it_compiles(
    tmp_path: Path, method: str, options: str, kernel: str
) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def use() -> tuple[str, str]:
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT, method, options], env=environment, capture_output=True,
            text=True, check=True, timeout=300,
        )
        return run.stdout.strip(), run.stderr

    released, said = use()
    assert released == "20"
    assert f"kanon_sql: compiling the kernels of {method}, once in this environment ..." in said
    assert f"kanon_sql: compiled the kernels of {method} in " in said
    compiled = {path.name.split(".")[0] for path in tmp_path.rglob("*.nbi")}
    assert kernel in compiled
    assert not compiled & (OTHERS - {kernel})
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")}
    released, said = use()
    # loading is never taken for compiling
    assert released == "20" and "compil" not in said
    assert kept == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")}


OF_MODELS = """
import duckdb, kanon_sql, sys
con = kanon_sql.register(duckdb.connect())
con.execute("SET enable_progress_bar = false")
con.execute("CREATE TABLE t AS SELECT i AS a, i // 200 AS b, i % 9 AS c FROM range(400) AS r(i)")
for models in ("l=2", "t=0.1, closeness='equal'", "t=0.05", "alpha=0.6", "delta=0.5", "beta=0.5"):
    print(models, file=sys.stderr)
    roles = "quasi_identifiers=['a'], identifiers=['c'], sensitive=['b']"
    con.execute(f"FROM anonymize('t', k=5, method='mdav_star', {models}, {roles})").fetchall()
"""


@pytest.mark.slow
def test_what_models_need_is_compiled_once_and_told(tmp_path: Path) -> None:
    said = subprocess.run(
        [sys.executable, "-c", OF_MODELS], env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True, text=True, check=True, timeout=300,
    ).stderr.splitlines()
    told = [line for line in said if line.startswith("kanon_sql: comp")]
    names = [line.partition(" kernels of ")[2].partition(" models")[0] for line in told]
    assert names == ["mdav_star and privacy"] * 4
    # what bounds each value needs kernels that the others don't
    assert ["rare values" in line for line in told] == [False, False, True, True]
    assert said.index("l=2") < said.index(told[0]) < said.index("t=0.1, closeness='equal'")
    assert said.index("beta=0.5") < said.index(told[2])
