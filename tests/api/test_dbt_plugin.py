"""kanon_sql.dbt: the plugin alone, and the package that it puts beside a project."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from kanon_sql.dbt_package import PROJECT, copy_package
from kanon_sql.errors import OptionError
from tests.support.dbt_projects import needs_dbt

CALL = "SELECT count(*) FROM {}anonymize('t', k=5)"


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_the_package_is_put_renewed_and_nothing_else_is_overwritten(tmp_path: Path) -> None:
    folder = tmp_path / "dbt_kanon"
    assert str(folder) in copy_package(folder)
    first = files(folder)
    assert {PROJECT, "macros/tests.sql", "macros/roles.sql", "macros/releases.sql"} <= first
    (folder / "macros" / "of_an_older_version.sql").write_text("", encoding="utf-8")
    copy_package(folder)
    assert files(folder) == first
    own = tmp_path / "mine"
    own.mkdir()
    copy_package(own)  # an empty folder may be there
    (own / PROJECT).write_text("name: mine\n", encoding="utf-8")
    with pytest.raises(OptionError, match="is not the dbt package of kanon_sql"):
        copy_package(own)
    assert (own / PROJECT).read_text(encoding="utf-8") == "name: mine\n"


def test_by_the_shell(tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "kanon_sql.dbt_package", *arguments],
                              cwd=tmp_path, capture_output=True, text=True, check=False)

    assert run("dbt_kanon").stdout.startswith("dbt_kanon holds the package.")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "data.csv").write_text("a", encoding="utf-8")
    refused = run("mine")
    assert refused.returncode == 3 and "Name a new folder." in refused.stderr
    assert "Traceback" not in refused.stderr
    assert run().returncode == 2


def test_without_dbt_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['dbt'] = None; import kanon_sql.dbt"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "which isn't installed. Install it by pip install 'kanon-sql[dbt]'." in done.stderr


def plugin(**config: Any) -> Any:
    from dbt.adapters.duckdb.plugins import BasePlugin

    return BasePlugin.create("kanon_sql.dbt", config=config)


def connection() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    con.execute("CREATE TABLE t AS SELECT i % 7 AS a FROM range(30) AS r(i)")
    return con


@needs_dbt
@pytest.mark.parametrize(("hook", "place"), [("connection", "kanon."), ("cursor", "")])
def test_either_hook_is_enough(hook: str, place: str) -> None:
    con = connection()
    if hook == "connection":
        plugin().configure_connection(con)
        assert con.execute(CALL.format("")).fetchone() == (30,)
        assert con.cursor().execute(CALL.format(place)).fetchone() == (30,)
    else:
        cursor = con.cursor()
        plugin().configure_cursor(cursor)
        assert cursor.execute(CALL.format(place)).fetchone() == (30,)


@needs_dbt
def test_another_place_for_the_calls() -> None:
    con = connection()
    plugin(shared="calls").configure_connection(con)
    assert con.cursor().execute(CALL.format("calls.")).fetchone() == (30,)


@needs_dbt
def test_a_setting_that_does_not_exist() -> None:
    with pytest.raises(OptionError, match="has no setting 'share'"):
        plugin(share="calls")
