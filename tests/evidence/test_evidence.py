"""kanon_sql.evidence: raw rows are found out, a large k isn't, and what is odd is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import kanon_sql
from kanon_sql.attacks.facts import Attack, Rate, Variant
from kanon_sql.data import adult

Con = duckdb.DuckDBPyConnection
QUASI = [
    "age", "sex", "race", "marital-status", "education", "native-country", "workclass",
]
SECRET = ["occupation", "salary-class"]
ADULT: dict[str, Any] = {"quasi_identifiers": QUASI, "sensitive": SECRET}


@pytest.fixture(scope="module")
def census() -> Con:
    con = kanon_sql.register(duckdb.connect())
    con.execute("CREATE TABLE adult AS FROM read_parquet(?)", [adult()])
    for side, table in enumerate(("inside", "outside")):
        con.execute(
            f"CREATE TABLE {table} AS SELECT * EXCLUDE (n) FROM (SELECT *, row_number() OVER () n "
            f"FROM adult) WHERE n % 2 = {side}"
        )
    return con


def people(rows: int, seed: int = 0) -> pa.Table:
    """A table of every kind of column, with NULLs and ties."""
    draws = np.random.default_rng(seed)
    age = draws.integers(18, 90, rows).astype(object)
    age[draws.random(rows) < 0.05] = None
    town = draws.choice(["north", "south", "east", "west", None], rows)
    day = np.datetime64("2020-01-01") + draws.integers(0, 900, rows)
    ill = draws.choice(["flu", "cold", "gout", "mumps"], rows, p=[0.5, 0.3, 0.1, 0.1])
    return pa.table({
        "person": draws.integers(0, rows, rows), "age": pa.array(age.tolist(), pa.int64()),
        "town": pa.array(town.tolist(), pa.string()), "day": pa.array(day),
        "height": np.round(draws.normal(170.0, 10.0, rows), 1), "ill": ill.tolist(),
    })


CALL: dict[str, Any] = {
    "quasi_identifiers": ["age", "town", "day", "height"], "sensitive": ["ill"],
    "identifiers": ["person"], "effort": "fast",
}


@pytest.mark.slow
def test_raw_rows_are_red(census: Con) -> None:
    found = kanon_sql.evidence(
        "inside", released="inside", control="outside", con=census, **ADULT
    )
    assert found.verdict == "red" and not found.of_trial
    assert {each.name: each.verdict for each in found.attacks} == {
        "singling_out": "red", "linkability": "green", "inference": "red", "membership": "red",
    }
    assert found.attack("singling_out").worst.rate.value > 0.9


@pytest.mark.slow
def test_a_large_k_is_green(census: Con) -> None:
    found = kanon_sql.evidence("adult", con=census, k=20, **ADULT)
    assert found.of_trial and found.rows + found.control_rows == 30162
    assert found.verdict == "green"
    assert found.attack("inference").worst.advantage.value < 0.06


@pytest.mark.slow
def test_the_larger_k_the_less_is_told(census: Con) -> None:
    told = [
        kanon_sql.evidence("adult", con=census, k=k, **ADULT) for k in (2, 5, 20)
    ]
    for name in ("singling_out", "inference", "membership"):
        worst = [each.attack(name).worst.advantage.value for each in told]
        assert worst == sorted(worst, reverse=True), name


@pytest.mark.slow
def test_rows_in_any_order_and_threads_say_the_same() -> None:
    rows = people(1200)
    mixed = rows.take(np.random.default_rng(5).permutation(len(rows)))
    single, double = (duckdb.connect(config={"threads": n}) for n in (1, 2))
    one = kanon_sql.evidence(rows, k=4, con=single, **CALL)
    assert one == kanon_sql.evidence(mixed, k=4, con=double, **CALL)
    assert one != kanon_sql.evidence(rows, k=4, seed=9, **CALL)


@pytest.mark.slow
def test_equal_rows_are_on_both_sides() -> None:
    rows = pa.concat_tables([people(60)] * 8)
    found = kanon_sql.evidence(rows, k=3, **CALL)
    assert 180 < found.rows < 300 and found.rows + found.control_rows == 480


@pytest.mark.slow
def test_persons_are_inside_or_outside_with_all_their_rows() -> None:
    rows = people(1500)
    call = {**CALL, "identifiers": []}
    found = kanon_sql.evidence(rows, k=3, entity="person", **call)
    many = len(set(rows["person"].to_pylist()))
    assert found.rows + found.control_rows == 1500
    drawn = found.attack("membership").worst
    assert drawn.attacks + drawn.controls == many


@pytest.mark.slow
def test_a_unique_value_that_passes_unchanged_singles_out() -> None:
    rows = people(800).append_column("score", pa.array(range(800)))
    found = kanon_sql.evidence(
        rows, k=5, **{**CALL, "sensitive": ["ill", "score"]}, representation="interval"
    )
    one = next(v for v in found.attack("singling_out").variants if v.label == "3 columns")
    assert one.rate.value > one.control.value + 0.3
    assert found.attack("singling_out").verdict == "red"


@pytest.mark.slow
@pytest.mark.parametrize("more", [
    {"representation": "interval"}, {"representation": "bounds"}, {"representation": "suppress"},
    {"hierarchies": {"town": "flat", "age": "bins"}}, {"method": "mondrian"},
    {"nulls": "suppress"}, {"within": ["town"], "quasi_identifiers": ["age", "day", "height"]},
    {"l": 2}, {"suppress": 0.1, "method": "k_member"},
])
def test_every_kind_of_release_can_be_attacked(more: dict[str, Any]) -> None:
    found = kanon_sql.evidence(people(900), k=4, attacks=300, **{**CALL, **more})
    names = {each.name for each in found.attacks} | {each.name for each in found.refused}
    assert names == {"singling_out", "linkability", "inference", "membership"}
    for attack in found.attacks:
        for each in attack.variants:
            assert 0.0 <= each.rate.low <= each.rate.value <= each.rate.high <= 1.0
            assert each.advantage.value == pytest.approx(each.rate.value - each.control.value)
            assert each.at_worst.low <= each.advantage.low <= each.advantage.high


@pytest.mark.slow
def test_without_a_sensitive_column_each_quasi_identifier_is_guessed() -> None:
    rows = people(600).select(["age", "town", "height"])
    found = kanon_sql.evidence(rows, k=4, quasi_identifiers=["age", "town", "height"])
    labels = [each.label for each in found.attack("inference").variants]
    assert labels == ["age", "town", "height"]


@pytest.mark.slow
def test_one_column_alone_can_be_linked_with_none() -> None:
    found = kanon_sql.evidence(people(600).select(["age"]), k=4, quasi_identifiers=["age"])
    assert [each.name for each in found.refused] >= ["inference", "linkability"]


@pytest.mark.slow
def test_presence_counts_the_people_nearest_to_a_class() -> None:
    rows = people(400)
    everybody = pa.concat_tables([rows, people(1600, seed=1)])
    found = kanon_sql.evidence(
        rows, k=4, control=people(400, seed=2), population=everybody, **CALL
    )
    assert found.presence is not None and found.presence.people == 2000
    assert 0.1 < found.presence.average < 0.4
    assert found.presence.least <= found.presence.average <= found.presence.most <= 1.0
    whole = kanon_sql.evidence(
        rows, k=4, control=people(400, seed=2), population=rows, **CALL
    )
    assert whole.presence is not None and whole.presence.average > 0.8


@pytest.mark.slow
def test_a_release_by_another_tool_is_attacked(tmp_path: Path) -> None:
    rows, others = people(700), people(700, seed=3)
    kanon_sql.release(rows, k=5, to=tmp_path / "released.parquet", **CALL)
    found = kanon_sql.evidence(
        rows, released=str(tmp_path / "released.parquet"), control=others, **CALL
    )
    assert not found.of_trial and (found.rows, found.control_rows) == (700, 700)


@pytest.mark.sample(2)
@pytest.mark.parametrize(("given", "says"), [
    ({"released": True}, "without control"),
    ({"attacks": 0}, "attacks is not a whole number"),
    ({"attacks": True}, "attacks is not a whole number"),
    ({"representation": "number", "method": "fold", "quasi_identifiers": ["town"],
      "others": "drop"}, "shows no values"),
    ({"sensitve": ["ill"]}, "sensitive"), ({"atacks": 5}, "Did you mean 'attacks'"),
    ({"contrl": "x"}, "Did you mean 'control'"),
])
def test_what_is_odd_is_refused(given: dict[str, Any], says: str) -> None:
    rows = people(500)
    given = {"k": 3, **CALL, **given}
    if given.get("released") is True:
        given["released"] = rows
    with pytest.raises(kanon_sql.OptionError, match=says):
        kanon_sql.evidence(rows, **given)


def test_few_people_are_refused() -> None:
    with pytest.raises(kanon_sql.DataError, match="Attacks need 100 people"):
        kanon_sql.evidence(people(120), k=3, **CALL)


def test_a_control_without_a_column_is_refused() -> None:
    with pytest.raises(kanon_sql.OptionError, match="no column 'height'"):
        kanon_sql.evidence(people(400), k=3, control=people(400).drop_columns(["height"]), **CALL)


def test_a_ledger_is_refused(tmp_path: Path) -> None:
    rows = people(400)
    con = kanon_sql.register(duckdb.connect())
    con.register("visits", rows)
    call = {**CALL, "identifiers": [], "sensitive": [], "others": "drop"}
    with pytest.raises(kanon_sql.OptionError, match="ledger"):
        kanon_sql.evidence("visits", con=con, k=3, entity="person", ledger="ledger", **call)


def test_a_macro_that_hides_a_function_is_refused() -> None:
    con = kanon_sql.register(duckdb.connect())
    rows, others = people(300), people(300, seed=1)
    con.execute("CREATE MACRO md5(x) AS 'a'")
    with pytest.raises(kanon_sql.KanonError, match="macro named 'md5'"):
        kanon_sql.evidence(rows, con=con, k=3, **CALL)
    with pytest.raises(kanon_sql.KanonError, match="macro named 'md5'"):
        kanon_sql.evidence(rows, con=con, released=rows, control=others, **CALL)


def test_the_result_prints_as_a_table() -> None:
    found = kanon_sql.evidence(people(900), k=4, attacks=300, **CALL)
    lines = repr(found).splitlines()
    assert lines[0].startswith(f"Evidence: {found.verdict}; ")
    assert len(lines) == 2 + sum(1 + len(each.variants) for each in found.attacks)
    worst = found.attack("inference").worst
    assert any(f"{worst.rate.value:.3f}" in line and worst.label in line for line in lines)


def variant(value: float, half: float, attacks: int) -> Variant:
    """A variant with this advantage, give or take a half width."""
    zero, rate = Rate(0.0, 0.0, 0.0), Rate(value, value - half, value + half)
    return Variant("x", attacks, rate, attacks, zero, rate, rate)


@pytest.mark.parametrize(("variants", "verdict"), [
    ([(0.05, 0.02, 500)], "green"), ([(0.05, 0.2, 500)], "amber"), ([(0.12, 0.05, 500)], "amber"),
    ([(0.3, 0.1, 500)], "red"), ([(0.0, 0.5, 5), (0.05, 0.02, 500)], "green"),
    ([(0.0, 0.5, 5)], "amber"), ([(1.0, 0.8, 5), (0.05, 0.02, 500)], "red"),
    ([(0.2, 0.5, 5), (0.05, 0.02, 500)], "amber"),
])
def test_the_verdict_follows_the_worst_variant(variants: list[Any], verdict: str) -> None:
    assert Attack("inference", "", tuple(variant(*each) for each in variants)).verdict == verdict
