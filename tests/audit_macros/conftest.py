"""A connection without kanon_sql, on which the macros of the audit are known."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from kanon_sql.plan.audit_macros import audit_macros


@pytest.fixture(scope="module")
def plain() -> Iterator[duckdb.DuckDBPyConnection]:
    """One for all tests of a module."""
    with duckdb.connect() as connection:
        connection.execute(audit_macros())
        yield connection
