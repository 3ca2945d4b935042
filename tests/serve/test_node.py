"""The same from Node: the rows that Python gets, and the statements that nobody may run."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from tests.serve.conftest import Server, loading
from tests.serve.hostile import ANALYST, READER

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def in_node(needed: None, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A function that runs statements in Node."""
    npm, folder = shutil.which("npm"), tmp_path_factory.mktemp("node")
    if npm is None or shutil.which("node") is None:
        pytest.skip("Node and npm aren't installed")
    package = f"@duckdb/node-api@{duckdb.__version__}-r.1"
    done = subprocess.run([npm, "install", "--silent", "--no-audit", "--no-fund", package],
                          cwd=folder, capture_output=True, check=False, timeout=600)
    if done.returncode:
        pytest.skip(f"npm can't install {package}")
    shutil.copy(HERE / "client.mjs", folder)

    def run(statements: list[str]) -> list[Any]:
        work = {"statements": [*loading(), *statements]}
        (folder / "work.json").write_text(json.dumps(work), encoding="utf-8")
        done = subprocess.run(["node", "client.mjs"], cwd=folder, capture_output=True, text=True,
                              check=False, timeout=600)
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(done.stdout)[2:]  # type: ignore[no-any-return]

    return run


def test_the_same_rows_as_in_python(server: Server, in_node: Any) -> None:
    calls = [
        f"'patients', k={k}, method='{method}', representation='{shown}'"
        for k in (5, 9) for method in ("mdav_plus", "mondrian", "k_member")
        for shown in ("centroid", "interval")
    ][:10]
    told = in_node([
        f"FROM {server.query('analyst', f'FROM kanon.anonymize({call})')} ORDER BY ALL"
        for call in calls
    ])
    with kanon_sql.register(duckdb.connect()) as con:
        con.execute(f"ATTACH '{server.folder / 'our.duckdb'}' AS our (READ_ONLY)")
        con.execute("CREATE VIEW patients AS SELECT age, sex, job FROM our.people")
        for call, rows in zip(calls, told, strict=True):
            here = con.execute(
                f"SELECT age::DOUBLE::VARCHAR, sex, job FROM (FROM anonymize({call}, "
                "sensitive := ['job'], quasi_identifiers := ['age', 'sex']) ORDER BY ALL)"
                if "centroid" in call else
                f"FROM anonymize({call}, sensitive := ['job'], quasi_identifiers := ['age', "
                "'sex']) ORDER BY ALL"
            ).fetchall()
            there = [row.split("|") for row in rows]
            if "centroid" in call:
                there = [[str(float(age)), sex, job] for age, sex, job in there]
            assert there == [list(row) for row in here]


@pytest.mark.parametrize(("right", "statements"), [("analyst", ANALYST), ("reader", READER)])
def test_nothing_else_is_answered(
    server: Server, in_node: Any, right: str, statements: tuple[str, ...]
) -> None:
    told = in_node([f"FROM {server.query(right, text)}" for text in statements])
    answered = [rows for rows in told if not isinstance(rows, str)]
    assert "CANARY" not in json.dumps(told)
    # a reader may ask for the release as structs, and for columns; a client sends no NUL
    assert len(answered) == (right == "reader")
    assert sum("Authorization failed" in rows for rows in told) >= len(statements) - 4


def test_without_a_token_nothing_is(server: Server, in_node: Any) -> None:
    told = in_node([
        f"FROM {server.query(right, text, token)}"
        for right in ("analyst", "reader") for token in ("", "x", "' OR true --")
        for text in (*ANALYST[:20], "FROM patients", "FROM kanon.anonymize('patients', k=5)")
    ])
    assert len(told) == 132 and all(isinstance(rows, str) for rows in told)
    assert "CANARY" not in json.dumps(told)
