"""k_map: each released class covers enough people of the population, counted anew, or nothing comes
out."""

from __future__ import annotations

import datetime as dt
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.group import run
from kanon_sql.stages import prepare, remembered
from tests.support.queries import metrics_of, refusal_of
from tests.support.thoroughness import often

Connection = duckdb.DuckDBPyConnection
Rows = list[tuple[Any, ...]]

NAMES = ("age", "born", "job", "zip")
ROLES = (
    "quasi_identifiers := ['job', 'age', 'zip', 'born'], sensitive := ['mark'], others := 'drop'"
)
QUICK = f"{ROLES}, effort := 'fast'"


def people(seed: int, many: int) -> Rows:
    """Numbers, dates and texts, of which some are missing."""
    draw = random.Random(seed)
    return [
        (
            draw.choice([None, *range(20, 60, 3)]),
            draw.choice([None, *(dt.date(1960, 1, 1) + dt.timedelta(700 * i) for i in range(9))]),
            draw.choice([None, "cook", "clerk", "Cook"]), draw.choice(["470", "471", "482"]),
        )
        for _ in range(many)
    ]


def table(con: Connection, name: str, rows: Rows, mark: bool = False) -> None:
    con.execute(
        f"CREATE OR REPLACE TABLE {name} (age INTEGER, born DATE, job VARCHAR, zip VARCHAR"
        f"{', mark INTEGER' if mark else ''})"
    )
    if rows:
        con.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?{', ?' if mark else ''})", [
            (*row, i) if mark else row for i, row in enumerate(rows)
        ])


def covers(rows: Rows, person: tuple[Any, ...]) -> bool:
    """Whether the rows of a class cover a person, by the definition."""
    for j, value in enumerate(person):
        values = [row[j] for row in rows]
        known = [each for each in values if each is not None]
        if value is None:
            fits = len(known) < len(values)
        elif j < 2:
            fits = bool(known) and min(known) <= value <= max(known)
        else:
            fits = value in known
        if not fits:
            return False
    return True


def counts(con: Connection, call: str, rows: Rows, population: Rows) -> list[int]:
    """The people that each released class covers: its rows are found by what passes unchanged."""
    found = defaultdict(list)
    for *released, mark in con.execute(
        f"SELECT {', '.join(NAMES)}, mark FROM {call}"
    ).fetchall():
        found[tuple(map(str, released))].append(rows[mark])
    return [sum(covers(own, person) for person in population) for own in found.values()]


@pytest.fixture(scope="module")
def con() -> Iterator[Connection]:
    connection = kanon_sql.register(duckdb.connect())
    connection.execute("SET enable_progress_bar = false; SET threads = 2")
    yield connection
    connection.close()
    remembered.forget()


@pytest.mark.slow
@often(25)
@given(
    seed=st.integers(0, 10**6), many=st.integers(4, 40), beyond=st.integers(0, 60),
    k_map=st.integers(1, 25), method=st.sampled_from(["mdav_star", "k_member", "r_gather"]),
    shown=st.sampled_from(["interval", "centroid"]),
)
def test_every_class_covers_enough_people(
    con: Connection, seed: int, many: int, beyond: int, k_map: int, method: str, shown: str
) -> None:
    rows, population = people(seed, many), people(seed + 1, beyond)
    table(con, "t", rows, mark=True)
    table(con, "census", population)
    options = f"{ROLES}, k := 2, method := '{method}'"
    if method != "r_gather":
        options += f", representation := '{shown}'"
    asked = f"{options}, k_map := {k_map}, population := 'census'"
    everybody = sum(covers(rows, person) for person in population)
    if everybody < k_map:
        said = refusal_of(con, f"FROM anonymize('t', {asked})")
        assert f"cover only {everybody} people of the population" in said
        return
    found = counts(con, f"anonymize('t', {asked})", rows, population)
    assert min(found) >= k_map
    told = metrics_of(con, f"anonymize_metrics('t', {asked})")
    assert told["k_map_requested"] == k_map and told["k_map"] == min(found)
    free = counts(con, f"anonymize('t', {options}, seed := 0)", rows, population)
    if min(free) >= k_map:  # nothing was to be done
        assert sorted(found) == sorted(free)


def make(con: Connection) -> tuple[Rows, Rows]:
    rows, population = people(7, 120), people(8, 400) + people(7, 120)
    table(con, "t", rows, mark=True)
    table(con, "census", population)
    return rows, population


MORE = {
    "models": "sensitive := ['mark'], t := 0.4",
    "mean risk": "max_average_risk := 0.1",
    "suppress": "suppress := 0.1",
    "nulls": "nulls := 'suppress'",
    "hierarchies": "hierarchies := {'zip': 'prefix', 'job': 'flat'}",
    "categorical": "categorical := ['age']",
    "effort": "effort := 'balanced'",
    "blocks": "block_rows := 100",
}


@pytest.mark.slow
@pytest.mark.parametrize("case", MORE)
def test_it_goes_with_what_else_is_asked(con: Connection, case: str) -> None:
    rows, population = make(con)
    roles = ROLES.replace("sensitive := ['mark'], ", "") if "sensitive" in MORE[case] else ROLES
    if case != "effort":
        roles += ", effort := 'fast'"
    call = (
        f"anonymize('t', {roles}, k := 2, {MORE[case]}, k_map := 6, population := 'census', "
        "seed := 1)"
    )
    if case == "categorical":  # ages are texts then, and a class covers its own
        found = metrics_of(con, call.replace("anonymize(", "anonymize_metrics("))
        assert found["k_map"] >= 6
        return
    found_people = counts(con, call, rows, population)
    assert min(found_people) >= 6
    told = metrics_of(con, call.replace("anonymize(", "anonymize_metrics("))
    assert told["k_map"] == min(found_people) and told["k"] >= 2
    assert told["rows"] == 120


def test_neither_the_order_of_the_rows_nor_the_threads_matter(con: Connection) -> None:
    make(con)
    found = []
    for order, threads in (("age", 1), ("hash(mark)", 2)):
        con.execute(f"CREATE OR REPLACE TABLE again AS FROM t ORDER BY {order}")
        con.execute(f"CREATE OR REPLACE TABLE census AS FROM census ORDER BY {order[:3]}, ALL"
                    .replace("has, ALL", "zip DESC, job").replace("age, ALL", "age"))
        con.execute(f"SET threads = {threads}")
        found.append(con.execute(
            f"FROM anonymize('again', {QUICK}, k := 2, k_map := 9, population := 'census') "
            "ORDER BY ALL"
        ).fetchall())
    assert found[0] == found[1]


def test_another_population_is_another_release(con: Connection) -> None:
    rows, _ = make(con)
    call = f"anonymize('t', {QUICK}, k := 2, k_map := 4, population := 'census')"
    before = counts(con, call, rows, people(8, 400))
    population = people(9, 60) + rows
    table(con, "census", population)
    after = counts(con, call, rows, population)
    assert len(after) < len(before) and min(after) >= 4


@pytest.fixture
def unenforced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Classes as the method makes them."""
    monkeypatch.setattr(run, "keep_people", lambda points, grouping, *_: grouping)
    monkeypatch.setattr(prepare, "read_people", lambda *_: prepare.Population(*[_none()] * 3, ()))
    monkeypatch.setattr(prepare.Population, "covered", lambda *_: 10**6)


def _none() -> Any:
    return prepare.np.zeros((0, 0), prepare.np.int64)


@pytest.mark.sample(2)
@pytest.mark.usefixtures("unenforced")
@pytest.mark.parametrize("call", ["anonymize", "anonymize_metrics", "anonymize_clusters",
                                  "suppressed_rows", "anonymize_manifest"])
def test_a_release_that_misses_it_does_not_come_out(con: Connection, call: str) -> None:
    make(con)
    said = refusal_of(
        con, f"FROM {call}('t', {QUICK}, k := 2, k_map := 30, population := 'census')"
    )
    assert "fewer than k_map = 30. Nothing was released" in said


REFUSED = {
    "k_map := 5": "k_map is given, and there is no population",
    "population := 'census'": "population is given, and no option compares the classes with it",
    "k_map := 0, population := 'census'": "k_map",
    "k_map := 5, population := 'nobody'": "nobody does not exist",
    "k_map := 5, population := 'narrow'": "job",
    "k_map := 5, population := 'other'": "The column 'born' is DATE in the relation and VARCHAR",
    "k_map := 5, population := 'later'": "is DATE in the relation and TIMESTAMP in the population",
    "k_map := 5, population := 'nowhere'": "cover only 0 people of the population",
    "k_map := 5, population := 'census', entity := 'mark'": "k_map or entity out",
    "k_map := 5, population := 'census', within := ['mark']": "k_map or within out",
    "k_map := 5, population := 'census', method := 'full_domain', hierarchies := {'zip': 'flat', "
    "'job': 'flat', 'age': 'flat', 'born': 'date'}": "doesn't allow every two classes",
    "k_map := 5, population := 'census', sampling_weight := 'mark'": "Give one of them",
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("options", REFUSED)
def test_what_cannot_be_kept_is_refused_in_a_sentence(con: Connection, options: str) -> None:
    make(con)
    con.execute("CREATE OR REPLACE TABLE narrow AS SELECT age, born, zip FROM census")
    con.execute("CREATE OR REPLACE TABLE other AS SELECT * REPLACE (born::VARCHAR AS born) "
                "FROM census")
    con.execute("CREATE OR REPLACE TABLE later AS SELECT * REPLACE (born::TIMESTAMP AS born) "
                "FROM census")
    con.execute("CREATE OR REPLACE TABLE nowhere AS FROM census LIMIT 0")
    roles = ROLES.replace("sensitive := ['mark'], ", "") if "mark" in options else ROLES
    said = refusal_of(con, f"FROM anonymize('t', {roles}, k := 2, {options})")
    assert REFUSED[options] in said


def test_the_columns_must_be_named(con: Connection) -> None:
    make(con)
    said = refusal_of(con, "FROM anonymize('t', k := 2, k_map := 5, population := 'census')")
    assert "Name them in quasi_identifiers" in said


def test_a_whole_type_of_number_is_compared_with_another(con: Connection) -> None:
    rows, population = make(con)
    con.execute("CREATE OR REPLACE TABLE wide AS SELECT * REPLACE (age::DOUBLE AS age) FROM census")
    call = f"anonymize('t', {QUICK}, k := 2, k_map := 5, population := 'wide')"
    assert min(counts(con, call, rows, population)) >= 5


@pytest.mark.slow
def test_a_file_states_it(con: Connection, tmp_path: Path) -> None:
    make(con)
    path = tmp_path / "out.parquet"
    kanon_sql.release(
        con, "t", to=path, k=2, quasi_identifiers=list(NAMES), others="drop", k_map=5,
        population="census", private=tmp_path / "private.json",
    )
    found = kanon_sql.verify(path)
    verdicts = {each.entry: each.verdict for each in found.findings}
    assert found.ok and verdicts["metrics.k_map"] == "not provable"
    ((manifest,),) = duckdb.sql(
        f"SELECT decode(value) FROM parquet_kv_metadata('{path}')"
    ).fetchall()
    assert '"population": "a relation"' in manifest and "census" not in manifest
    again = kanon_sql.verify(path, con=con, source="t", private=tmp_path / "private.json")
    assert again.ok and not again.of("wrong")


@pytest.mark.parametrize("call", [
    "anonymize('t', k := 2, {}, population := {}, k_map := 5)",
    "anonymize_risk('t', {}, population := {})",
])
@pytest.mark.parametrize("where", ["a table", "a temporary table", "a file"])
def test_a_population_that_lacks_a_column_is_told(
    con: Connection, tmp_path: Path, call: str, where: str
) -> None:
    make(con)
    named = "'short'"
    con.execute("DROP TABLE IF EXISTS short")
    if where == "a file":
        named = f"'{tmp_path}/short.parquet'"
        con.execute(f"COPY (SELECT age, born, ZIP FROM census) TO {named}")
    else:
        kind = "TEMP" if where == "a temporary table" else ""
        con.execute(f"CREATE {kind} TABLE short AS SELECT age, born, ZIP FROM census")
    roles = ROLES if "risk" not in call else ROLES.partition(", sensitive")[0]
    assert refusal_of(con, f"FROM {call.format(roles, named)}") == (
        "The relation of population has no column 'job', which is a quasi-identifier of the rows. "
        "Give one that has it, or leave it out of quasi_identifiers."
    )
    if where == "a table":
        frame = con.sql("SELECT age, job FROM t").to_arrow_table()
        people_of = con.sql("SELECT age FROM census").to_arrow_table()
        with pytest.raises(kanon_sql.OptionError, match="population has no column 'job'"):
            kanon_sql.anonymize_risk(frame, population=people_of)


def test_files_are_refused(con: Connection, tmp_path: Path) -> None:
    make(con)
    con.execute(f"COPY t TO '{tmp_path}/t.parquet'")
    with pytest.raises(kanon_sql.OptionError, match="The option 'k_map' looks at all rows at once"):
        kanon_sql.anonymize_files(
            tmp_path / "t.parquet", tmp_path / "out", k=2, quasi_identifiers=list(NAMES),
            others="drop", k_map=5, population=str(tmp_path / "t.parquet"),
        )
    assert not (tmp_path / "out").exists()
