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
