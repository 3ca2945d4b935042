"""Published radii: upper bounds of two digits, from which no value of a row follows."""

from __future__ import annotations

from decimal import Decimal

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.connections import registered
from tests.support.thoroughness import often

Connection = duckdb.DuckDBPyConnection


rounding = registered()


@often(300)
@given(
    st.floats(1e-300, 1e300) | st.floats(1e-6, 1e3) | st.integers(0, 10**6).map(lambda i: i / 1000)
)
def test_radii_are_rounded_up_to_two_digits(rounding: Connection, radius: float) -> None:
    ((rounded, printed),) = rounding.execute(
        "SELECT __kanon_two_digits($1), __kanon_two_digits($1)::VARCHAR", [radius]
    ).fetchall()
    digits = Decimal(printed).normalize().as_tuple().digits
    assert rounded == float(printed) >= radius and len(digits) <= 2
    assert (rounded == 0.0) == (radius == 0.0)
    # one less in the second digit would be below
    less = Decimal(printed) - Decimal(1).scaleb(Decimal(printed).adjusted() - 1)
    assert radius == 0.0 or float(less) < radius


def test_no_radius_is_no_radius(rounding: Connection) -> None:
    found = rounding.execute("SELECT __kanon_two_digits(NULL::DOUBLE)").fetchall()
    assert found == [(None,)]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mdav", "r_gather", "r_cellular"])
def test_center_and_radius_give_no_value_of_a_row(con: Connection, method: str) -> None:
    """The radius is rounded up in the clusters, and exact in the metrics. Of one column, the
    center less or more the exact radius is the value of a row; of what is published it isn't."""
    con.execute("CREATE TABLE ages AS SELECT i * i * 37 % 1009 + i / 7 AS age FROM range(90) r(i)")
    ((unit,),) = con.execute("SELECT stddev_pop(age) FROM ages").fetchall()
    ages = [age for (age,) in con.execute("FROM ages").fetchall()]
    options = f"'ages', k := 3, method := '{method}'"
    members: dict[float, list[float]] = {}
    released = con.execute(f"SELECT age FROM anonymize({options}, keep_order := true)").fetchall()
    for age, (center,) in zip(ages, released, strict=True):
        members.setdefault(center, []).append(age)
    clusters = con.execute(f"SELECT age, radius FROM anonymize_clusters({options})").fetchall()
    met = 0
    for center, radius in clusters:
        exact = max(abs(age - center) for age in members[center]) / unit
        assert exact * (1.0 - 1e-9) <= radius <= exact * 1.1 + 1e-12
        assert float(f"{radius:.1e}") == radius
        met += any(abs(abs(age - center) - radius * unit) < 1e-9 for age in ages)
    assert met <= len(clusters) // 10 < len(clusters)
    ((widest,),) = con.execute(
        f"SELECT value FROM anonymize_metrics({options}, detail := true) WHERE metric = "
        f"'max_radius'"
    ).fetchall()
    true = max(abs(age - center) for center in members for age in members[center]) / unit
    assert widest == pytest.approx(true)
