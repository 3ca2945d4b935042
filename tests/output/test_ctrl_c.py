"""Ctrl-C that is raised in a function of ours below DuckDB is no fault of the data."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from kanon_sql.duckdb.refused import refusals
from kanon_sql.files.release import _said


@pytest.fixture
def pressed() -> duckdb.Error:
    """What DuckDB makes of it."""
    with duckdb.connect() as con:
        def wait(number: int) -> int:
            raise KeyboardInterrupt

        con.create_function("wait", wait)
        with pytest.raises(duckdb.Error) as caught:
            con.execute("SELECT wait(42)").fetchall()
    return caught.value


def test_a_query_ends_by_it(pressed: duckdb.Error) -> None:
    with pytest.raises(KeyboardInterrupt), refusals(lambda: None):
        raise pressed


def test_so_does_a_release_of_files(pressed: duckdb.Error, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), _said(tmp_path / "out"):
        raise pressed
