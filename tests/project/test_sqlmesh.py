"""docs/sqlmesh.md works as it is written, with SQLMesh itself."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import duckdb
import pytest

from tests.support.dbt_projects import EXAMPLE

PAGE = Path(__file__).parents[2] / "docs" / "sqlmesh.md"
FILE = re.compile(r"^```(?:python|sql) (\S+)\n(.*?)^```\n", re.DOTALL | re.M)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("sqlmesh") is None, reason="SQLMesh isn't installed"),
]


def sqlmesh(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from sqlmesh.cli.main import cli; cli()", *arguments],
        cwd=folder, capture_output=True, text=True, timeout=600, check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("sqlmesh")
    for name, text in FILE.findall(PAGE.read_text(encoding="utf-8")):
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).write_text(text, encoding="utf-8")
    (made / "seeds").mkdir()
    shutil.copy(EXAMPLE / "seeds" / "people.csv", made / "seeds")
    return made


def test_the_page_works_as_it_is_written(folder: Path) -> None:
    planned = sqlmesh(folder, "plan", "--auto-apply", "--no-prompts")
    assert planned.returncode == 0, planned.stdout
    assert "audits passed 1" in planned.stdout
    shown = sqlmesh(folder, "fetchdf", "SELECT count(*) FROM adult.released")
    assert "1500" in shown.stdout, shown.stdout + shown.stderr
    with duckdb.connect(str(folder / "lake.duckdb"), read_only=True) as con:
        smallest = con.execute(
            "SELECT min(n) FROM (SELECT count(*) AS n FROM adult.released GROUP BY age, sex, race, "
            "marital_status, education, workclass)"
        ).fetchone()
        kept = con.execute("SELECT function_name FROM duckdb_functions() WHERE NOT internal")
        assert smallest is not None and smallest[0] >= 5
        assert kept.fetchall() == []


def test_an_audit_that_fails_keeps_the_release_back(folder: Path) -> None:
    model = folder / "models" / "released.sql"
    model.write_text(
        model.read_text(encoding="utf-8").replace("k := 5", "k := 500"), encoding="utf-8"
    )
    planned = sqlmesh(folder, "plan", "--auto-apply", "--no-prompts")
    assert planned.returncode != 0 and "audit error" in planned.stdout
