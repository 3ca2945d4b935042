from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.support.shell import Shell


@pytest.fixture
def patients(con: duckdb.DuckDBPyConnection, shell: Shell) -> Path:
    """The patients in a file of that folder."""
    con.sql("FROM patients").write_parquet("patients.parquet")
    return Path("patients.parquet")
