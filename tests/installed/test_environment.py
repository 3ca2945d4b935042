"""What pip leaves behind: nothing, and what was installed never hides what is installed next."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.installed.conftest import new_environment, pip
from tests.support.checkout import copy_to

USED = """
import duckdb, kanon_sql
con = kanon_sql.register(duckdb.connect())
con.execute("SET enable_progress_bar = false")
con.execute("CREATE TABLE t AS SELECT i AS a FROM range(20) AS r(i)")
print(len(con.sql("FROM anonymize('t', k=5, method='optimal_1d', quasi_identifiers=['a'])")))
"""


def run(python: Path, code: str, folder: Path) -> str:
    """What this code prints, or the last line of the error."""
    # where nobody says so, Python and numba write what they compile
    told = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [python, "-c", code], cwd=folder, env=told, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else done.stderr.splitlines()[-1]


@pytest.mark.slow
def test_install_use_install_editably_and_uninstall(
    wheel: Path, tmp_path: Path
) -> None:
    # the order of the README: once to use it, then to change it, in one environment
    python = new_environment(tmp_path / "environment")
    folder = tmp_path / "empty"
    folder.mkdir()
    where = "import kanon_sql; print(kanon_sql.__file__)"
    pip(python, "install", "--no-deps", wheel)
    assert run(python, USED, folder) == "20"
    assert "site-packages" in run(python, where, folder)
    clone = tmp_path / "clone"
    copy_to(clone)
    pip(python, "install", "--no-deps", "--no-build-isolation", "-e", clone)
    assert run(python, where, folder) == str(clone / "kanon_sql" / "__init__.py")
    assert run(python, USED, folder) == "20"
    pip(python, "uninstall", "--yes", "kanon_sql")
    assert run(python, where, folder) == "ModuleNotFoundError: No module named 'kanon_sql'"
    pip(python, "install", "--no-deps", wheel)
    assert run(python, USED, folder) == "20"
    pip(python, "uninstall", "--yes", "kanon_sql")
    assert run(python, where, folder) == "ModuleNotFoundError: No module named 'kanon_sql'"
    assert not list((tmp_path / "environment").rglob("*kanon*"))
