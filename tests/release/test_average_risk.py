"""max_average_risk: the released rows keep it, counted by plain SQL, or nothing comes out."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.group import run
from kanon_sql.methods.recoding import full_domain
from kanon_sql.plan.query import plan
from kanon_sql.stages import remembered
from tests.release.test_properties import base, keys, often, takes_part
from tests.support import tables
from tests.support.catalogs import MadeUp
from tests.support.queries import metrics_of, refusal_of
from tests.support.tables import Case

__all__ = ["base"]

Connection = duckdb.DuckDBPyConnection

TABLE = """
    CREATE OR REPLACE TABLE people AS
    SELECT i % 130 AS person, i * 7 % 50 AS age, (470 + i * 37 % 90)::VARCHAR AS zip,
           ['x', 'y', NULL][1 + i % 3] AS job, ['n', 's'][1 + i % 2] AS site,
           40 + i * 31 % 101 / 101 AS lat, -74 + i * 57 % 89 / 89 AS lon,
           'd' || i * i % 7 % 5 AS disease
    FROM range(260) AS r(i)
"""
PEOPLE = "quasi_identifiers := ['age', 'zip', 'job'], others := 'drop', k := 3"
QUICK = f"{PEOPLE}, effort := 'fast'"


@pytest.fixture(scope="module")
def con() -> Iterator[Connection]:
    connection = kanon_sql.register(duckdb.connect())
    connection.execute("SET enable_progress_bar = false; SET threads = 2")
    connection.execute(TABLE)
    yield connection
    connection.close()
    remembered.forget()


def counted(con: Connection, call: str, names: str = "age, zip, job") -> tuple[int, int, int]:
    """Classes, rows and the smallest class of a release."""
    ((classes, rows, least),) = con.execute(
        f"SELECT count(*), sum(size)::INT, min(size) "
        f"FROM (SELECT count(*) AS size FROM {call} GROUP BY {names})"
    ).fetchall()
    return classes, rows, least


METHODS = {
    **dict.fromkeys(
        ("mdav", "mdav_plus", "v_mdav", "mdav_star", "k_member", "nearest", "mondrian", "r_gather",
         "r_cellular", "forest", "best", "auto"), "",
    ),
    "k_member in intervals": "representation := 'interval'",
    "mdav_star with effort": "effort := 'balanced'",
    "mdav_star in blocks": "block_rows := 150",
    "full_domain": "hierarchies := {'zip': 'prefix', 'age': {'kind': 'bins', 'width': 5}, "
                   "'job': 'flat'}",
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("method", METHODS)
def test_classes_are_few_enough_whatever_the_method(con: Connection, method: str) -> None:
    options = f"{PEOPLE}, method := '{method.partition(' ')[0]}'"
    options += f", {METHODS[method]}" if METHODS[method] else ""
    free, *_ = counted(con, f"anonymize('people', {options})")
    classes, rows, least = counted(con, f"anonymize('people', {options}, max_average_risk := 0.08)")
    assert rows == 260 and least >= 3 and classes <= 260 * 8 // 100
    # no more is merged than must be, unless whole levels are taken, or classes release the same
    assert classes == min(20, free) or method in ("full_domain", "forest")
    told = metrics_of(con, f"anonymize_metrics('people', {options}, max_average_risk := 0.08)")
    assert told["average_risk_requested"] == 0.08
    assert told["prosecutor_risk_mean"] == classes / rows <= 0.08
    without = metrics_of(con, f"anonymize_metrics('people', {options})")
    assert "average_risk_requested" not in without


ONE = {
    "fold": "['zip']", "spread": "['zip']", "ordered": "['zip']", "five_halves": "['zip']",
    "optimal_1d": "['age']", "gps_rectangles": "['lat', 'lon']",
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("method", ONE)
def test_classes_of_one_attribute_are_merged_to_classes_of_the_same_kind(
    con: Connection, method: str
) -> None:
    options = (
        f"k := 3, quasi_identifiers := {ONE[method]}, others := 'drop', method := '{method}'"
    )
    names = ONE[method].replace("'", "").strip("[]")
    free, *_ = counted(con, f"anonymize('people', {options})", names)
    call = f"anonymize('people', {options}, max_average_risk := 0.04)"
    classes, rows, least = counted(con, call, names)
    assert rows == 260 and least >= 3 and 1 < classes <= 10 < free
    if method == "gps_rectangles":
        cells = con.execute(f"SELECT DISTINCT lat, lon FROM {call}").fetchall()
        assert len(cells) == classes


def test_rows_without_a_place_are_refused_or_left_out(con: Connection) -> None:
    con.execute(
        "CREATE OR REPLACE TABLE gaps AS SELECT CASE WHEN person > 4 THEN lat END AS lat, lon "
        "FROM people"
    )
    options = (
        "k := 3, quasi_identifiers := ['lat', 'lon'], method := 'gps_rectangles', "
        "max_average_risk := 0.04"
    )
    said = refusal_of(con, f"FROM anonymize('gaps', {options})")
    assert "10 rows have no place" in said and "which only k is enforced on" in said
    call = f"anonymize('gaps', {options}, nulls := 'suppress')"
    classes, rows, least = counted(con, call, "lat, lon")
    assert rows == 250 and least >= 3 and classes <= 10


def test_an_island_is_not_merged_with_another(con: Connection) -> None:
    con.execute(
        "CREATE OR REPLACE TABLE pairs AS SELECT zip AS a, (zip::INT + 1)::VARCHAR AS b "
        "FROM (SELECT DISTINCT zip FROM people WHERE zip NOT IN ('500', '520', '540'))"
    )
    options = (
        "k := 3, quasi_identifiers := ['zip'], others := 'drop', method := 'zip_regions', "
        "adjacency := 'pairs', max_average_risk := "
    )
    classes, _, least = counted(con, f"anonymize('people', {options} 0.02)", "zip")
    assert least >= 3 and classes <= 5
    said = refusal_of(con, f"FROM anonymize('people', {options} 0.01)")
    assert "No two regions are connected at the end, but there are 4" in said


WITH = {
    "models": "sensitive := ['disease'], l := 2, t := 0.6",
    "alpha": "sensitive := ['disease'], alpha := 0.7",
    "suppress": "suppress := 0.2",
    "nulls left out": "nulls := 'suppress'",
    "others": "method := 'k_member', representation := 'interval', effort := 'balanced'",
}


@pytest.mark.slow
@pytest.mark.parametrize("case", WITH)
def test_it_goes_with_what_else_is_asked(con: Connection, case: str) -> None:
    people = PEOPLE if "effort" in WITH[case] else QUICK
    options = f"{people}, {WITH[case]}, max_average_risk := 0.09, seed := 3"
    call = f"anonymize('people', {options})"
    classes, rows, least = counted(con, call)
    assert least >= 3 and 100 * classes <= 9 * rows
    told = metrics_of(con, f"anonymize_metrics('people', {options})")
    assert told["rows"] == 260 == rows + told["rows_suppressed"]
    assert told["prosecutor_risk_mean"] == pytest.approx(classes / rows)
    if "disease" in WITH[case]:
        of = "SELECT count(DISTINCT disease) AS l, max(n) / sum(n) AS alpha FROM "
        of += f"(SELECT age, zip, job, disease, count(*) AS n FROM {call} GROUP BY ALL) "
        worst = con.execute(
            f"SELECT min(l), max(alpha) FROM ({of} GROUP BY age, zip, job)"
        ).fetchall()
        assert worst[0][0] >= (2 if case == "models" else 1)
        assert worst[0][1] <= (1.0 if case == "models" else 0.7)


def released_with_persons(con: Connection, options: str) -> list[tuple[Any, ...]]:
    """Class, person and site of each released row, the person being found by a column beside."""
    con.execute(
        "CREATE OR REPLACE TABLE visits AS SELECT *, row_number() OVER () AS visit FROM people"
    )
    return con.execute(
        f"SELECT row(r.age, r.zip, r.job), v.person, v.site FROM anonymize('visits', "
        f"k := 3, quasi_identifiers := ['age', 'zip', 'job'], sensitive := ['visit'], "
        f"entity := 'person', others := 'drop', {options}) AS r JOIN visits AS v USING (visit)"
    ).fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("rows", ["together", "apart"])
def test_persons_count_and_not_their_rows(con: Connection, rows: str) -> None:
    options = f"entity_rows := '{rows}', max_average_risk := 0.1"
    found = released_with_persons(con, options)
    persons, classes = {person for _, person, _ in found}, {str(each) for each, *_ in found}
    assert len(found) == 260 and len(persons) == 130 and len(classes) <= 13
    # the risks of a person in all classes with rows of theirs, and the mean of that
    crowd = {c: len({p for each, p, _ in found if str(each) == c}) for c in classes}
    places = {(str(each), person) for each, person, _ in found}
    mean = sum(Fraction(1, crowd[c]) for c, _ in places) / len(persons)
    assert mean <= Fraction(1, 10)
    told = metrics_of(
        con, f"anonymize_metrics('people', {QUICK}, entity := 'person', {options})"
    )
    assert told["prosecutor_risk_mean_persons"] <= 0.1
    assert told["prosecutor_risk_mean_persons"] == pytest.approx(
        told["classes"] / told["persons"]
    )


@pytest.mark.slow
@pytest.mark.parametrize("entity", ["", ", entity := 'person'"])
def test_each_part_keeps_it(con: Connection, entity: str) -> None:
    options = f"{QUICK}, within := ['site']{entity}, max_average_risk := 0.1"
    parts = con.execute(
        f"SELECT site, count(*), sum(size)::INT FROM (SELECT site, count(*) AS size "
        f"FROM anonymize('people', {options}) GROUP BY site, age, zip, job) GROUP BY site"
    ).fetchall()
    assert len(parts) == 2 and sum(rows for *_, rows in parts) == 260
    for _, classes, rows in parts:
        assert classes <= (65 if entity else rows) // 10
    told = con.execute(
        "SELECT site, metric, value FROM anonymize_metrics("
        f"'people', {options}, by_part := true, detail := true) WHERE metric LIKE '%risk_mean%'"
    ).fetchall()
    assert told and all(value <= 0.1 for *_, value in told)
    whole = metrics_of(con, f"anonymize_metrics('people', {options})")
    assert whole["prosecutor_risk_mean"] <= 0.1
    assert whole.get("prosecutor_risk_mean_persons", 0.0) <= 0.1
    said = refusal_of(
        con, f"FROM anonymize('people', {QUICK}, within := ['disease'], max_average_risk := 0.015)"
    )
    assert "rows can't be released by itself. One class of all " in said


@pytest.mark.slow
@often(40)
@given(
    case=tables.cases(nulls=("value", "suppress"), most_rows=40),
    bound=st.sampled_from([0.05, 0.1, 0.2, 0.25, 0.4, 1.0]),
)
def test_a_release_of_any_table_keeps_it(base: Connection, case: Case, bound: float) -> None:
    tables.create(base, "t", case.columns)
    source = tables.fetch(base, "FROM t")
    kept = source.filter(pa.array(takes_part(case, source), pa.bool_()))
    call = tables.call("anonymize", "t", **case.roles, **case.options, max_average_risk=bound)
    if kept.num_rows < case.k or kept.num_rows * Fraction(repr(bound)) < 1:
        refusal_of(base, f"FROM {call}")
        return
    released = tables.fetch(base, f"FROM {call}")
    sizes = [keys(released, case.quasi).count(key) for key in set(keys(released, case.quasi))]
    assert sum(sizes) == kept.num_rows and min(sizes) >= case.k
    assert len(sizes) <= Fraction(repr(bound)) * kept.num_rows


def test_neither_the_order_of_the_rows_nor_the_threads_matter(con: Connection) -> None:
    found = []
    for order, threads in (("age", 1), ("hash(zip, age)", 2), ("disease DESC, lat", 2)):
        con.execute(f"CREATE OR REPLACE TABLE again AS FROM people ORDER BY {order}")
        con.execute(f"SET threads = {threads}")
        remembered.forget()
        found.append(con.execute(
            f"FROM anonymize('again', {QUICK}, max_average_risk := 0.07) ORDER BY ALL"
        ).fetchall())
    assert found[0] == found[1] == found[2]


@pytest.fixture
def unenforced(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Classes as the method makes them, whatever was asked of them."""
    monkeypatch.setattr(run, "keep_whole", lambda points, grouping, *_: grouping)
    monkeypatch.setattr(full_domain, "_most_classes", lambda points, task: len(points))
    remembered.forget()
    yield
    remembered.forget()


@pytest.mark.sample(2)
@pytest.mark.usefixtures("unenforced")
@pytest.mark.parametrize("more", [
    "", ", entity := 'person'", ", entity := 'person', entity_rows := 'apart'",
    ", within := ['site']", ", within := ['site'], entity := 'person'",
    ", method := 'full_domain', hierarchies := {'zip': 'prefix', 'age': 'flat', 'job': 'flat'}",
])
def test_a_release_that_misses_it_does_not_come_out(con: Connection, more: str) -> None:
    options = f"{QUICK}{more}, max_average_risk := 0.02"
    for call in ("anonymize", "anonymize_metrics", "anonymize_clusters", "suppressed_rows"):
        if call == "anonymize_clusters" and "within" in more:
            continue
        said = refusal_of(con, f"FROM {call}('people', {options})")
        assert "don't keep max_average_risk = 0.02. Nothing was released" in said
        assert ("persons" if "entity" in more else "rows") in said


REFUSED = {
    "max_average_risk := 0": "max_average_risk must be a probability",
    "max_average_risk := 1.5": "max_average_risk must be a probability",
    "max_average_risk := 'low'": "max_average_risk must be a probability",
    "max_avarage_risk := 0.1": "max_average_risk",
    "max_average_risk := 0.003": "One class of all 260 rows has a mean risk of 1 / 260",
    "max_average_risk := 0.005, entity := 'person'": "One class of all 130 persons",
    "max_average_risk := 0.005, entity := 'person', entity_rows := 'apart'":
        "One class of all 130 persons",
    "max_average_risk := 0.1, method := 'full_domain', suppress := 0.1, hierarchies := "
    "{'zip': 'prefix', 'age': 'flat', 'job': 'flat'}":
        "can't suppress rows and keep max_average_risk",
    "max_average_risk := 0.1, entity := 'person', headroom := 1":
        "max_average_risk is about all classes of a release",
}


@pytest.mark.parametrize("options", REFUSED)
def test_what_cannot_be_kept_is_refused_in_a_sentence(con: Connection, options: str) -> None:
    assert REFUSED[options] in refusal_of(con, f"FROM anonymize('people', {QUICK}, {options})")


def test_calls_that_only_measure_do_not_take_it(con: Connection) -> None:
    with pytest.raises(kanon_sql.OptionError, match="k_anonymity has no option"):
        plan("k_anonymity", "people", {"max_average_risk": 0.1}, MadeUp())
    said = refusal_of(con, "FROM anonymize_metrics('people', quasi_identifiers := ['age', 'zip'], "
                      "others := 'drop', method := 'cellular', max_average_risk := 0.1)")
    assert "promises no class size, and nothing that max_average_risk asks for" in said


@pytest.mark.slow
@pytest.mark.parametrize("entity", [None, "person"])
def test_a_file_proves_it_and_an_edit_is_seen(
    con: Connection, tmp_path: Path, entity: str | None
) -> None:
    path = tmp_path / "out.parquet"
    kanon_sql.release(
        con, "people", to=path, k=3, quasi_identifiers=["age", "zip", "job"], others="drop",
        max_average_risk=0.1, **({} if entity is None else {"entity": entity}),
    )
    found = {each.entry: each.verdict for each in kanon_sql.verify(path).findings}
    assert set(found.values()) <= {"proven", "not provable"}
    shown = "proven" if entity is None else "not provable"
    assert found["options.max_average_risk"] == shown
    assert found["metrics.prosecutor_risk_mean"] == "proven"
