"""The first use in a fresh environment says what it compiles, and compiles no more than that."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import duckdb, kanon_sql
con = kanon_sql.register(duckdb.connect())
con.execute("SET enable_progress_bar = false")
con.execute("CREATE TABLE t AS SELECT i AS a, i % 7 AS b FROM range(20) AS r(i)")
print(len(con.execute("FROM anonymize('t', k=5, method='k_member')").fetchall()))
"""


def test_the_first_use_says_what_it_compiles(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def use() -> tuple[str, str]:
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True,
            check=True, timeout=300,
        )
        return run.stdout.strip(), run.stderr

    released, said = use()
    assert released == "20"
    assert "kanon_sql: compiling the kernels of k_member, once in this environment ..." in said
    assert "kanon_sql: compiled the kernels of k_member in " in said
    compiled = {path.name.split(".")[0] for path in tmp_path.rglob("*.nbi")}
    assert "greedy" in compiled
    assert not compiled & {"mdav", "mdav_star", "v_mdav", "group_index", "annealing", "optimal_1d"}
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")}
    released, said = use()
    # loading is never taken for compiling
    assert released == "20" and "compil" not in said
    assert kept == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")}
