"""anonymize_risk: what it tells, against counts that are made in Python."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from scipy.special import hyp2f1

import kanon_sql
from kanon_sql.errors import DataError, OptionError
from tests.support import tables
from tests.support.connections import registered
from tests.support.queries import metrics_of

QUASI = ["age", "zip", "job"]
Connection = duckdb.DuckDBPyConnection
Row = tuple[Any, ...]

con = registered(scope="function")


def made(seed: int, count: int = 60) -> list[Row]:
    """Rows of age, zip, job and a weight; some values are missing."""
    rng = np.random.default_rng(seed)
    jobs = ["a", "b", "A", None]
    return [
        (
            None if rng.random() < 0.1 else int(rng.integers(20, 24)),
            float(rng.choice([0.0, 1.5, 2.5, math.nan])),
            jobs[int(rng.integers(4))],
            float(rng.choice([1.0, 1.25, 7.5, 40.0])),
        )
        for _ in range(count)
    ]


def create(con: Connection, name: str, rows: Sequence[Row]) -> None:
    con.execute(f"CREATE OR REPLACE TABLE {name} (age INTEGER, zip DOUBLE, job VARCHAR, w DOUBLE)")
    if rows:
        con.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", [list(row) for row in rows])


def keys(rows: Sequence[Row], columns: Sequence[int] = (0, 1, 2)) -> list[Row]:
    """The quasi-identifiers; NaN is NULL here, where no row has both."""
    return [
        tuple(None if tables.is_missing(row[j]) else row[j] for j in columns) for row in rows
    ]


def told(con: Connection, relation: str = "t", **options: Any) -> dict[str, float | None]:
    call = tables.call("anonymize_risk", relation, quasi_identifiers=QUASI, **options)
    found = con.execute(f"SELECT metric, value FROM {call}").fetchall()
    assert len({name for name, _ in found}) == len(found)
    return dict(found)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_a_prosecutor_counts_classes(con: Connection, seed: int) -> None:
    rows = made(seed)
    create(con, "t", rows)
    found, sizes = told(con, k=3), Counter(keys(rows))
    n = len(rows)
    assert found["rows"] == n and found["classes"] == len(sizes)
    assert found["uniques"] == sum(size == 1 for size in sizes.values())
    assert found["prosecutor_risk_max"] == 1 / min(sizes.values())
    assert found["prosecutor_risk_mean"] == found["marketer_risk"] == len(sizes) / n
    assert found["distinctness"] == len(sizes) / n
    assert found["prosecutor_risk_rows_above"] == sum(s for s in sizes.values() if s < 3)
    equal = sum(a == b for a, b in combinations(keys(rows), 2))
    assert found["separation"] == pytest.approx(1 - equal / math.comb(n, 2), rel=1e-12)
    for name in ("journalist_risk_max", "k_map", "individual_risk_max", "population_size"):
        assert found[name] is None
    audit = con.execute(
        "SELECT prosecutor_risk_max, prosecutor_risk_mean, uniques, rows_below_k FROM "
        + tables.call("k_anonymity", "t", quasi_identifiers=QUASI, k=3)
    ).fetchone()
    assert audit == tuple(found[name] for name in (
        "prosecutor_risk_max", "prosecutor_risk_mean", "uniques", "prosecutor_risk_rows_above"
    ))


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(5))
def test_subsets_of_columns_are_those_of_the_definitions(con: Connection, seed: int) -> None:
    rows = made(seed)
    create(con, "t", rows)
    found = told(con, subset_columns=3)
    unique: dict[tuple[int, ...], set[int]] = {}
    for size in (1, 2, 3):
        for columns in combinations(range(3), size):
            values = keys(rows, columns)
            counts = Counter(values)
            name = ", ".join(QUASI[j] for j in columns)
            assert found[f"distinctness ({name})"] == len(counts) / len(rows)
            equal = sum(math.comb(n, 2) for n in counts.values())
            assert found[f"separation ({name})"] == pytest.approx(
                1 - equal / math.comb(len(rows), 2), rel=1e-12
            )
            unique[columns] = {i for i, value in enumerate(values) if counts[value] == 1}
    minimal = [
        (i, columns) for columns, rows_alone in unique.items() for i in rows_alone
        if not any(i in unique[c] for c in unique if set(c) < set(columns))
    ]
    assert found["minimal_sample_uniques"] == len(minimal) > 0
    assert found["msu_rows"] == len({i for i, _ in minimal}) == found["uniques"]
    assert found["msu_columns_min"] == min(len(columns) for _, columns in minimal)
    for j, name in enumerate(QUASI):
        held = sum(j in columns for _, columns in minimal)
        assert found[f"drives_risk ({name})"] == held / len(minimal)
    pairs = [m for m in minimal if len(m[1]) <= 2]
    fewer = told(con, msu_columns=2, subset_columns=0)
    assert fewer["minimal_sample_uniques"] == len(pairs)
    assert not any(name.startswith("separation (") for name in fewer)
    none = told(con, msu_columns=0)
    assert none["minimal_sample_uniques"] is None and none["drives_risk (age)"] is None


def test_a_population_that_is_the_relation_is_the_prosecutor(con: Connection) -> None:
    create(con, "t", made(7))
    found = told(con, population="t", k=3)
    for name in ("max", "mean", "rows_above"):
        assert found[f"journalist_risk_{name}"] == pytest.approx(
            found[f"prosecutor_risk_{name}"], rel=1e-12
        )
    assert found["k_map"] == 1 and found["population_short"] == 0
    assert found["population_uniques"] == found["population_unique_rows"]
    assert found["population_uniques"] == found["uniques"]
    assert found["sampling_fraction"] == 1


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", range(5))
def test_a_journalist_counts_the_population(con: Connection, seed: int) -> None:
    """Its columns come in another order and as other types; some people of it are missing."""
    people = made(seed, 200)
    rows = [*people[::4], *made(seed + 100, 10)]
    create(con, "t", rows)
    create(con, "p", people)
    con.execute(
        "CREATE TABLE census AS SELECT 1 AS more, job::VARCHAR AS job, zip::VARCHAR AS zip, "
        "age::DECIMAL(9, 2) AS age FROM p"
    )
    con.execute("UPDATE census SET zip = NULL WHERE zip = 'nan'")
    con.execute("UPDATE census SET zip = '0' WHERE zip = '0.0'")
    here, there = Counter(keys(rows)), Counter(keys(people))
    sizes = {key: max(n, there[key]) for key, n in here.items()}
    found = told(con, population="census", k=6)
    n = len(rows)
    assert found["k_map"] == min(sizes.values())
    assert found["journalist_risk_max"] == 1 / min(sizes.values())
    assert found["journalist_risk_mean"] == pytest.approx(
        sum(here[key] / size for key, size in sizes.items()) / n, rel=1e-12
    )
    assert found["marketer_risk"] == found["journalist_risk_mean"]
    assert found["journalist_risk_rows_above"] == sum(here[k] for k,
                                                      size in sizes.items() if size < 6)
    assert found["population_unique_rows"] == sum(here[k] for k, s in sizes.items() if s == 1)
    assert found["population_short"] == sum(m for key, m in here.items() if m > there[key])
    assert found["population_uniques"] == sum(size == 1 for size in there.values())
    assert found["population_size"] == 200 and found["sampling_fraction"] == n / 200


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["DOUBLE", "DECIMAL(9, 2)"])
def test_weights_are_people(con: Connection, seed: int, kind: str) -> None:
    rows = made(seed)
    create(con, "t", rows)
    con.execute(f"ALTER TABLE t ALTER w TYPE {kind}")
    here = Counter(keys(rows))
    people: dict[Row, float] = dict.fromkeys(here, 0.0)
    for key, row in zip(keys(rows), rows, strict=True):
        people[key] += row[3]
    found = told(con, sampling_weight="w", k=4)
    assert found["k_map"] == pytest.approx(min(people.values()))
    assert found["population_size"] == pytest.approx(sum(row[3] for row in rows))
    assert found["journalist_risk_mean"] == pytest.approx(
        sum(here[key] / size for key, size in people.items()) / len(rows)
    )
    risks = {}
    for key, size in people.items():
        f, p = here[key], here[key] / size
        risks[key] = 1 / f if p == 1 else float(p**f / f * hyp2f1(f, f, f + 1, 1 - p))
    assert found["individual_risk_max"] == pytest.approx(max(risks.values()), rel=1e-9)
    assert found["individual_risk_mean"] == pytest.approx(
        sum(here[key] * risk for key, risk in risks.items()) / len(rows), rel=1e-9
    )
    assert found["individual_risk_rows_above"] == sum(here[k] for k, r in risks.items() if r > 0.25)


def test_people_are_as_many_as_rows_at_least(con: Connection) -> None:
    create(con, "t", [(1, 1.0, "a", 0.25)] * 3 + [(2, 1.0, "a", 4.0)])
    found = told(con, sampling_weight="w")
    assert found["k_map"] == 3 and found["population_short"] == 3
    assert found["population_size"] == 4.75


@pytest.mark.slow
@pytest.mark.parametrize(("weight", "kind"), [
    ("0", "INTEGER"), ("-1", "DOUBLE"), ("NULL", "DOUBLE"), ("'nan'", "DOUBLE"),
    ("'inf'", "DOUBLE"), ("'3'", "VARCHAR"), ("true", "BOOLEAN"),
])
def test_a_weight_that_is_none_is_refused(con: Connection, weight: str, kind: str) -> None:
    create(con, "t", made(3))
    con.execute("ALTER TABLE t DROP w")
    con.execute(f"ALTER TABLE t ADD w {kind}")
    con.execute("UPDATE t SET w = 1" if kind != "BOOLEAN" else "UPDATE t SET w = true")
    con.execute(f"UPDATE t SET w = {weight} WHERE rowid = 5")
    said = "The weight column 'w' must hold a number above 0 in every row"
    for call, more in (("anonymize_risk", ""), ("anonymize_metrics", ", k := 3, method := 'mdav'")):
        with pytest.raises(duckdb.InvalidInputException, match=said):
            con.execute(
                f"FROM {call}('t', quasi_identifiers := {QUASI}, sampling_weight := 'w'{more})"
            ).fetchall()
    with pytest.raises(DataError, match=said):
        kanon_sql.anonymize_risk("t", con=con, quasi_identifiers=QUASI, sampling_weight="w")


@pytest.mark.slow
def test_metrics_of_a_release_tell_k_by_weights(con: Connection) -> None:
    create(con, "t", made(5))
    options = {"quasi_identifiers": QUASI, "sensitive": ["w"], "k": 4, "method": "mdav"}
    con.execute(f"CREATE TABLE r AS FROM {tables.call('anonymize', 't', **options)}")
    call = tables.call("anonymize_metrics", "t", sampling_weight="w", **options)
    metrics = metrics_of(con, call)
    classes = con.execute("SELECT count(*), sum(w) FROM r GROUP BY age, zip, job").fetchall()
    assert metrics["k_weighted"] == pytest.approx(min(size for _, size in classes))
    assert metrics["risk_weighted_max"] == 1 / metrics["k_weighted"]
    assert metrics["risk_weighted_mean"] == pytest.approx(
        sum(rows / size for rows, size in classes) / 60
    )
    # and the release itself, weights and all
    found = told(con, "r", sampling_weight="w")
    assert found["k_map"] == metrics["k_weighted"]
    assert found["journalist_risk_mean"] == metrics["risk_weighted_mean"]
    assert found["prosecutor_risk_max"] == metrics["prosecutor_risk_max"] <= 0.25
    plain = tables.call("anonymize_metrics", "t", **options)
    names = [name for (name,) in con.execute(f"SELECT metric FROM {plain}").fetchall()]
    assert not [name for name in names if "weighted" in name]


@pytest.mark.slow
def test_order_and_threads_change_nothing(con: Connection) -> None:
    rows = [(*row[:3], row[3] + i / 7) for i, row in enumerate(made(11, 3000))]
    create(con, "t", rows)
    con.execute("CREATE TABLE u AS FROM t ORDER BY hash(w)")
    answers = []
    for threads in (1, 4):
        con.execute(f"SET threads = {threads}")
        answers += [told(con, relation, sampling_weight="w", k=9) for relation in ("t", "u")]
    assert all(answer == answers[0] for answer in answers)
    assert answers[0]["individual_risk_mean"]


def test_values_are_told_apart_as_a_reader_does(con: Connection) -> None:
    """The classes are those of k_anonymity; sets of columns and populations take 0.0 for -0.0."""
    con.execute(
        "CREATE TABLE z AS FROM (VALUES (0.0::DOUBLE, 'a'), ('-0.0', 'a'), (1, 'A')) AS z(x, y)"
    )
    con.execute("ALTER TABLE z ALTER y TYPE VARCHAR COLLATE NOCASE")
    found = metrics_of(con, "anonymize_risk('z')")
    assert (found["classes"], found["distinctness (y)"]) == (3, 2 / 3)
    assert found["distinctness (x)"] == 2 / 3 and found["msu_rows"] == 1


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["a b", 'q"q', r"a\1", "x'", "MiXed", "ä(b)"])
def test_columns_may_have_any_name(con: Connection, name: str) -> None:
    quoted = tables.quoted(name)
    con.execute(f"CREATE TABLE odd AS SELECT i % 3 AS {quoted}, i % 4 AS b FROM range(10) r(i)")
    given = tables.literal([name.lower() if name == "MiXed" else name, "b"])
    for roles in ("", f", quasi_identifiers := {given}"):
        found = metrics_of(con, f"anonymize_risk('odd', population := 'odd'{roles})")
        assert found[f"distinctness ({name})"] == 0.3
        assert found["journalist_risk_mean"] == found["prosecutor_risk_mean"] == 1


def test_of_no_rows_nothing_is_told(con: Connection) -> None:
    create(con, "t", [])
    for options in ({}, {"sampling_weight": "w"}, {"population": "t"}, {"population_size": 9}):
        found = told(con, k=3, **options)
        assert found["rows"] == found["classes"] == found["prosecutor_risk_rows_above"] == 0
        assert found["prosecutor_risk_max"] is None and found["separation"] is None


@pytest.mark.slow
def test_of_very_many_columns_sets_are_not_looked_at(con: Connection) -> None:
    bits = ", ".join(f"(i >> {j % 5}) % 2 AS c{j}" for j in range(64))
    con.execute(f"CREATE TABLE wide AS SELECT {bits} FROM range(20) r(i)")
    found = metrics_of(con, "anonymize_risk('wide')")
    assert found["classes"] == 20 and found["minimal_sample_uniques"] is None
    for width, most in ((12, 12), (13, 4), (31, 3)):
        names = tables.literal([f"c{j}" for j in range(width)])
        found, same, fewer = (
            metrics_of(con, f"anonymize_risk('wide', quasi_identifiers := {names}{more})")
            for more in ("", f", msu_columns := {most}", f", msu_columns := {most - 1}")
        )
        assert found == same and (found == fewer) == (width == 12)


def test_an_estimate_says_when_not_to_believe_it(con: Connection) -> None:
    create(con, "t", made(1))
    call = (
        "SELECT metric, value, text FROM anonymize_risk('t', population_size := {}) "
        "WHERE metric IN ('population_uniques_pitman', 'population_uniques_zayatz')"
    )
    for size, doubted in ((1200, False), (1300, True)):
        rows = con.execute(call.format(size)).fetchall()
        assert len(rows) == 2 and all(value > 0 for _, value, _ in rows)
        for _, _, text in rows:
            assert (text is not None) == doubted
    assert "the rows are 4.62 % of the population" in rows[0][2]


def test_frames_may_stand_for_the_population() -> None:
    frame = pa.table({"a": [1, 2, None], "b": ["x", None, "y"]})
    people = pa.table({"b": ["x", None, "y", "y"], "a": [1, 2, None, None]})
    found = kanon_sql.anonymize_risk(frame, population=people).to_pylist()
    values = {row["metric"]: row["value"] for row in found}
    assert values["journalist_risk_mean"] == pytest.approx(2.5 / 3)


# --- options -----------------------------------------------------------------------------------


@pytest.mark.sample(2)
@pytest.mark.parametrize(("risk", "k"), [
    ("0.09", 12), ("0.1", 10), ("0.2", 5), ("0.3", 4), ("1", 1), ("0.05", 20), ("0.07", 15),
    ("0.000001", 1_000_000), ("1e-3", 1000), ("0.33", 4), ("0.5", 2), ("0.11", 10),
])
def test_max_risk_is_the_least_k(con: Connection, risk: str, k: int) -> None:
    create(con, "t", made(1))
    found = con.execute(f"SELECT k_requested FROM k_anonymity('t', max_risk := {risk})").fetchall()
    assert found == [(k,)]


@pytest.mark.slow
def test_max_risk_sets_k_for_a_release(con: Connection) -> None:
    create(con, "t", made(1, 200))
    call = "FROM anonymize('t', quasi_identifiers := ['age', 'zip'], others := 'drop', {})"
    for given, k in {"max_risk := 0.09": 12, "max_risk := 0.1": 10}.items():
        expected = con.execute(call.format(f"k := {k}")).fetchall()
        assert con.execute(call.format(given)).fetchall() == expected
    ((k,),) = con.execute(
        "SELECT value FROM anonymize_metrics('t', quasi_identifiers := ['age', 'zip'], "
        "others := 'drop', max_risk := 0.1) WHERE metric = 'k_requested'"
    ).fetchall()
    assert k == 10


REFUSED = {
    "max_risk := 0.2, k := 5": "k and max_risk both say how many rows",
    "preset := 'cms_11'": "anonymize_risk has no option 'preset'. Give k or max_risk: the CMS Cell "
    "Size Suppression Policy asks for k=11.",
    "max_risk := 0": "max_risk must be a probability from 1e-09 to 1",
    "max_risk := 1.01": "max_risk must be a probability from 1e-09 to 1",
    "max_risk := 'much'": "max_risk must be a probability from 1e-09 to 1",
    "max_risk := true": "max_risk must be a probability from 1e-09 to 1",
    "sampling_weight := 'w', population := 't'": "population and sampling_weight both say how "
                                                 "many people",
    "sampling_weight := 'w', population_size := 9": "weight and population_size both say",
    "sampling_weight := 'age'": "The column 'age' is given as quasi_identifier and as "
                                "sampling_weight",
    "sampling_weight := 'agee'": "sampling_weight names the column 'agee', which doesn't exist. "
    "Did you mean 'age'",
    "population_size := 0": "population_size must be a whole number",
    "msu_columns := 63": "msu_columns must be a whole number from 0 to 62",
    "population := 'p'": None,
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("given", [name for name, said in REFUSED.items() if said])
def test_what_says_the_same_twice_or_nothing_is_refused(con: Connection, given: str) -> None:
    create(con, "t", made(1))
    with pytest.raises(duckdb.Error, match=REFUSED[given]):
        con.execute(f"FROM anonymize_risk('t', quasi_identifiers := {QUASI}, {given})").fetchall()


def test_columns_that_nobody_knows_can_not_be_joined(con: Connection) -> None:
    create(con, "t", made(1))
    said = "Name them in quasi_identifiers"
    with pytest.raises(duckdb.Error, match=said):
        con.execute("WITH c AS (FROM t) FROM anonymize_risk('c', population := 't')").fetchall()
    found = con.execute(
        "WITH c AS (FROM t) "
        "FROM anonymize_risk('c', quasi_identifiers := ['age'], population := 't')"
    ).fetchall()
    assert found
    with pytest.raises(OptionError, match="population"):
        kanon_sql.anonymize_risk("t", con=con, quasi_identifiers=["age"], population="nobody")
