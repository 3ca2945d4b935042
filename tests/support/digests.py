"""What comes out as short digests, held against the folder tests/release/recorded.

Numbers count with nine digits, since sums may differ in the last bits between processors. A change
that is meant to alter what comes out renews the files: ``RECORD=1 pytest -n 0 -m "" -k unchanged``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

import duckdb

RECORDED = Path(__file__).parents[1] / "release" / "recorded"
WRITE = os.environ.get("RECORD") == "1"
MEASURED_ANEW = ("seconds_", "options", "version", "grouping_cache")
"""How the names of metrics begin that differ between two runs, or between two versions."""


def plain(value: Any) -> Any:
    """A value as text, numbers with nine digits."""
    if isinstance(value, float):
        return "0" if abs(value) < 1e-12 else f"{value:.9g}"
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return re.sub(r"\d+\.\d{9,}", lambda number: f"{float(number[0]):.9g}", str(value))


def digest(rows: Any) -> str:
    """A short digest of rows."""
    text = json.dumps([plain(row) for row in rows])
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def recorded(name: str) -> dict[str, Any]:
    path = RECORDED / f"{name}.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def by_line(found: dict[str, Any]) -> str:
    """JSON with a line for each case, so that a difference shows which cases changed."""
    lines = (
        f" {json.dumps(case)}: {json.dumps(value, sort_keys=True)}"
        for case, value in sorted(found.items())
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def held(name: str, case: str, found: Any) -> None:
    """Holds what was found against what was recorded; with RECORD=1 records it."""
    before = recorded(name)
    if WRITE and before.get(case) != found:
        RECORDED.mkdir(exist_ok=True)
        (RECORDED / f"{name}.json").write_text(by_line({**before, case: found}), encoding="utf-8")
        before = recorded(name)
    assert found == before.get(case)


def told(con: duckdb.DuckDBPyConnection, query: str) -> str:
    """What a query gives: how many rows, and a digest of its columns, their types, and the rows."""
    result = con.execute(query)
    columns = [(name, str(kind)) for name, kind, *_ in result.description]
    rows = result.fetchall()
    return f"{len(rows)} {digest([*columns, *rows])}"
