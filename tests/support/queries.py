"""What SQL calls give: metrics by their names, and the sentence of a refusal."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

Connection = duckdb.DuckDBPyConnection


def metrics_of(con: Connection, call: str) -> dict[str, Any]:
    """All metrics that a call reports, such as ``anonymize_metrics('t', k := 5)``."""
    if call.startswith("anonymize_metrics(") and "detail" not in call:
        call = f"{call[:-1]}, detail := true)"
    return dict(con.execute(f"SELECT metric, value FROM {call}").fetchall())


def refusal_of(con: Connection, query: str, kind: type[duckdb.Error] = duckdb.Error) -> str:
    """The sentence with which a query is refused, without DuckDB's prefix and pointer."""
    with pytest.raises(kind) as caught:
        con.execute(query).fetchall()
    said = str(caught.value)
    assert "Traceback" not in said and "UDF" not in said
    return said.partition(": ")[2].partition("\n\nLINE")[0]
