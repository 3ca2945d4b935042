"""After a fork a call works, or is refused by one sentence; it never waits for threads that aren't
there."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SECONDS = 120
"""Far beyond what a call takes: a child that waits without end is killed."""

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")

CHILD = """
def call(face):
    import duckdb, kanon_sql
    if face == "python":
        return len(kanon_sql.anonymize({"a": [1, 1, 2, 2, 3, 3]}, k=2, progress=False))
    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")  # after two seconds it writes to stdout
    con.execute("CREATE TABLE t AS SELECT i % 5 AS a, 'x' || i % 3 AS b FROM range(40) AS r(i)")
    calls = [
        "anonymize('t', k=4, method='k_member', hierarchies={'b': 'flat'}, progress=false)",
        "anonymize_metrics('t', detail=true, k=4, method='r_gather', progress=false)",
        "anonymize_audit('t', release='t')", "anonymize_roles('t')", "k_anonymity('t')",
        "anonymize_risk('t')",
        "hierarchy('t', 'b', kind='prefix')",
    ]
    return sum(len(con.execute(f"FROM {each}").fetchall()) > 0 for each in calls)

PARENTS = {
    "imported": "import kanon_sql",
    "registered": "import duckdb, kanon_sql; kanon_sql.register(duckdb.connect())",
    "called": "call('sql')",
    "polars": "import polars; polars.DataFrame({'a': [1, 2]}).sort('a').group_by('a').len()",
}

import os, sys
parent, face = sys.argv[1:]
exec(PARENTS[parent])
child = os.fork()
if child == 0:
    try:
        print("gave", call(face), flush=True)
    except BaseException as error:
        print("refused", str(error).partition("Invalid Input Error: ")[2] or str(error), flush=True)
    os._exit(0)
print("ended with", os.waitpid(child, 0)[1], flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("face", ["sql", "python"])
@pytest.mark.parametrize("parent", ["imported", "registered", "called", "polars"])
def test_a_forked_child_never_hangs(parent: str, face: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, parent, face],
        capture_output=True, text=True, timeout=SECONDS, check=True,
    )
    lines = [x for x in done.stdout.splitlines() if x.startswith(("gave", "refused"))]
    assert lines, (done.stdout, done.stderr[-2000:])
    said = lines[0]
    if parent in ("imported", "registered"):
        assert said == ("gave 7" if face == "sql" else "gave 6")
    else:
        assert said.startswith("refused This process was forked"), done.stderr
        assert "spawn" in said and "Traceback" not in done.stderr
