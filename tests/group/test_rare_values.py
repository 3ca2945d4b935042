"""Models that bound each value: only classes with a rare value are large."""

from __future__ import annotations

import pytest

from tests.support.connections import Connection

ROWS = """
CREATE TABLE t AS
SELECT (i * 7919) % 2003 AS a, (i * 104729) % 1009 AS b,
       CASE WHEN i % 250 = 3 THEN 'rare' WHEN i % 25 = 4 THEN 'seldom'
            ELSE 'often ' || (i % 3) END AS illness
FROM range(2000) AS r(i)
"""
ROLES = "quasi_identifiers := ['a', 'b'], sensitive := ['illness'], seed := 1"


@pytest.mark.parametrize(("models", "largest"), [
    ("beta := 1", 125),  # 8 of 2,000 rows are rare, and twice that share is 1 of 125
    ("beta := 3", 63),
    ("alpha := {'rare': 0.02, 'seldom': 0.2}", 50),
    ("beta := 1, l := 2", 125),
])
@pytest.mark.parametrize("method", [
    "mdav_plus", pytest.param("k_member", marks=pytest.mark.slow)
])
def test_classes_are_as_large_as_their_rarest_value_asks_for(
    con: Connection, method: str, models: str, largest: int
) -> None:
    con.execute(ROWS)
    call = f"'t', k := 4, method := '{method}', {models}, {ROLES}"
    sizes = [
        size for (size,) in con.execute(
            f"SELECT num_points FROM anonymize_clusters({call}) ORDER BY num_points DESC"
        ).fetchall()
    ]
    assert sum(sizes) == 2000 and sizes[:8] == [largest] * 8 and sizes[8] <= 16
