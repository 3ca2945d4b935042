"""Releases beside a ledger, through SQL, against a slow reference that knows only the ledger."""

from __future__ import annotations

from collections import Counter

import duckdb
import numpy as np
import pytest

from tests.ledger.lives import lives
from tests.ledger.reference import CROWDS, Exposure, shown_against_presence
from tests.support.connections import registered
from tests.support.manifests import manifest_of
from tests.support.queries import metrics_of
from tests.support.thoroughness import examples

QUASI = "entity='id', quasi_identifiers=['age', 'zip', 'job'], sensitive=['ill']"

con = registered(scope="function")


def fill(
    con: duckdb.DuckDBPyConnection, there: list[int], seed: int, moved: int = 0, shuffle: int = 0
) -> None:
    """The table of these persons; of whom those below ``moved`` have another age than before."""
    random = np.random.default_rng(seed)
    whole = {
        p: (p, int(random.integers(20, 80)), f"{random.integers(100, 130)}",
            "abc"[int(random.integers(3))], f"ill {random.integers(9)}")
        for p in range(1000)
    }
    rows = [(p, whole[p][1] + 100 * (p < moved), *whole[p][2:]) for p in there]
    if shuffle:
        np.random.default_rng(shuffle).shuffle(rows)
    con.execute(
        "CREATE OR REPLACE TABLE now (id INTEGER, age INTEGER, zip VARCHAR, job VARCHAR, "
        "ill VARCHAR)"
    )
    con.executemany("INSERT INTO now VALUES (?, ?, ?, ?, ?)", rows)


def options(k: int, against: str, headroom: int | str, number: int, more: str = "") -> str:
    ledger = ", ledger='releases'" if number > 1 else ""
    return f"{QUASI}, k={k}, attacker='knows_{against}', headroom={headroom!r}{more}{ledger}"


def release(
    con: duckdb.DuckDBPyConnection, number: int, k: int, against: str, headroom: int | str,
    more: str = "",
) -> Counter[str]:
    """Releases the table and enters it into the ledger; the released rows."""
    call = f"'now', {options(k, against, headroom, number, more)}"
    shown = Counter(map(repr, con.execute(f"FROM anonymize({call})").fetchall()))
    make = "CREATE TABLE releases AS" if number == 1 else "INSERT INTO releases"
    con.execute(f"{make} FROM anonymize_ledger({call})")
    return shown


def ledger_of(con: duckdb.DuckDBPyConnection) -> list[Exposure]:
    rows = con.execute("SELECT release, entity, class FROM releases").fetchall()
    return [(release, person, number) for release, person, number in rows]


@pytest.mark.slow
def test_both_promises_hold_over_random_lives(con: duckdb.DuckDBPyConnection) -> None:
    for seed in range(examples(24)):
        against, clustered = ("presence", "absence")[seed % 2], seed % 4 > 1
        k, headroom = 2 + seed % 3, (0, 1, "auto")[seed // 2 % 3]
        con.execute("DROP TABLE IF EXISTS releases")
        for number, there in enumerate(lives(seed, 90, 4, clustered, 0.5), start=1):
            moved = 0 if number < 3 else 6
            fill(con, there, seed, moved)
            before = ledger_of(con) if number > 1 else []
            shown = release(con, number, k, against, headroom)
            ledger = ledger_of(con)
            assert min(CROWDS[against](ledger).values()) >= k
            now = {p: c for r, p, c in ledger if r == number}
            assert set(now) <= set(there)
            # what came out is what the ledger says, of those who are in it
            published = con.execute(
                "SELECT published.age, published.zip, published.job, ill "
                "FROM releases JOIN now ON entity = id WHERE release = ?", [number]
            ).fetchall()
            assert Counter(map(repr, published)) == shown
            if against == "presence" and before:
                again = {p: c for p, c in now.items() if any(p == q for _, q, _ in before)}
                seen = {p: r for r, p, _ in sorted(before)}
                unmoved = [p for p in there if p >= moved or seen.get(p, 0) >= 3]
                assert again == shown_against_presence(before, unmoved, k)
        ((classes, published),) = con.execute(
            "SELECT count(DISTINCT class), count(DISTINCT (class, published)) FROM releases"
        ).fetchall()
        assert classes == published


@pytest.mark.slow
@pytest.mark.parametrize("against", ["presence", "absence"])
def test_every_row_is_accounted_for(con: duckdb.DuckDBPyConnection, against: str) -> None:
    fill(con, list(range(60)), 1)
    release(con, 1, 4, against, 1)
    fill(con, list(range(9, 63)), 1, moved=20)
    call = f"'now', {options(4, against, 1, 2)}"
    found = metrics_of(con, f"anonymize_metrics({call}, detail := true)")
    left = dict(con.execute(
        f"SELECT reason, count(*) FROM suppressed_rows({call}) GROUP BY ALL"
    ).fetchall())
    assert found["rows"] == 54
    assert found["rows_released"] == 54 - sum(left.values())
    assert found["rows_stale"] == left["stale"] == 11
    assert found["rows_withheld"] == left["withheld"] > 0
    assert found["rows_waiting"] == left.get("waiting", 0) == (3 if against == "absence" else 0)
    assert found["rows_joining"] == (0 if against == "absence" else 3)
    assert found["release"] == 2
    assert found["anonymity_set_min"] >= 4
    # who changed back is shown again
    con.execute("DELETE FROM now")
    fill(con, list(range(9, 63)), 1)
    assert metrics_of(con, f"anonymize_metrics({call}, detail := true)")["rows_stale"] == 0


@pytest.mark.slow
def test_headroom_goes_by_the_churn(con: duckdb.DuckDBPyConnection) -> None:
    """Before any churn is seen a small one is assumed; then half of the persons leave."""
    fill(con, list(range(120)), 1)
    call = f"'now', {options(4, 'presence', 'auto', 1)}"
    found = metrics_of(con, f"anonymize_metrics({call}, detail := true)")
    assert (found["headroom"], found["churn"]) == (1, 2.0)
    assert 0.0 < found["withheld_expected"] <= 2.0
    ((sizes,),) = con.execute(
        f"SELECT list(size) FROM (SELECT count(*) AS size FROM anonymize_ledger({call}) "
        "GROUP BY class)"
    ).fetchall()
    assert min(sizes) >= 5
    manifest = manifest_of(con, f"anonymize_manifest({call})")
    assert manifest["options"]["headroom"] == "auto"
    assert manifest["metrics"]["headroom"] == 1
    assert not {"churn", "withheld_expected"} & set(manifest["metrics"])
    release(con, 1, 4, "presence", "auto")
    fill(con, list(range(60, 120)) + list(range(500, 600)), 1, moved=66)
    call = f"'now', {options(4, 'presence', 'auto', 2)}"
    found = metrics_of(con, f"anonymize_metrics({call}, detail := true)")
    # 60 are away and six changed, of 120 who could have stayed
    assert found["churn"] == pytest.approx(100.0 * 66 / 120)
    assert found["headroom"] == 4 and found["withheld_expected"] > 2.0
    release(con, 2, 4, "presence", "auto")
    made = con.execute(
        "SELECT count(*) FROM releases WHERE class > (SELECT max(class) FROM releases "
        "WHERE release = 1) GROUP BY class"
    ).fetchall()
    assert made and min(made)[0] >= 8


@pytest.mark.slow
def test_the_loss_is_measured_from_the_frozen_values(con: duckdb.DuckDBPyConnection) -> None:
    """By hand, in one column of numbers: nobody left, and newcomers lie where nobody was."""
    con.execute(
        "CREATE TABLE line AS SELECT i AS id, (i // 4 * 10)::DOUBLE AS x FROM range(12) AS r(i)"
    )
    call = "k=4, entity='id', quasi_identifiers=['x']"
    con.execute(f"CREATE TABLE releases AS FROM anonymize_ledger('line', {call}, headroom=0)")
    con.execute("INSERT INTO line VALUES (12, 21), (13, 23)")
    found = metrics_of(con, f"anonymize_metrics('line', detail=true, {call}, ledger='releases')")
    values = np.array([0.0] * 4 + [10.0] * 4 + [20.0] * 4 + [21.0, 23.0])
    expected = 100.0 * (1.0 + 9.0) / np.sum((values - values.mean()) ** 2)
    assert found["rows_joining"] == 2
    assert np.isclose(found["information_loss_released"], expected)


@pytest.mark.slow
def test_it_depends_neither_on_the_order_of_rows_nor_on_threads(
    con: duckdb.DuckDBPyConnection,
) -> None:
    made = []
    for shuffle, threads in ((0, 1), (1, 4), (2, 2)):
        con.execute(f"SET threads = {threads}")
        con.execute("DROP TABLE IF EXISTS releases")
        for number, there in enumerate(lives(7, 200, 3), start=1):
            fill(con, there, 7, shuffle=shuffle and shuffle + number)
            if number > 1:
                con.execute(
                    "CREATE OR REPLACE TABLE releases AS FROM releases "
                    f"ORDER BY hash(entity + {shuffle})"
                )
            release(con, number, 3, "absence", 1)
        made.append(con.execute("FROM releases ORDER BY release, entity").fetchall())
    assert made[0] == made[1] == made[2]


@pytest.mark.slow
@pytest.mark.parametrize("more", [
    ", representation='interval'", ", representation='bounds'", ", representation='median'",
    ", representation={'zip': 'suppress'}", ", hierarchies={'zip': 'prefix'}",
    ", method='k_member'", ", method='mondrian'", ", categorical=['age']", ", class_id=true",
    ", hierarchies={'zip': 'prefix'}, representation='centroid'", ", effort='balanced'",
    ", nulls='suppress'", ", block_rows=200", ", keep_order=true",
])
def test_in_every_form(con: duckdb.DuckDBPyConnection, more: str) -> None:
    for number, there in enumerate(lives(11, 160, 3), start=1):
        fill(con, there, 11)
        shown = release(con, number, 3, "presence", 1, more)
        assert sum(shown.values()) > 40
        assert min(CROWDS["presence"](ledger_of(con)).values()) >= 3
    found = metrics_of(con, f"anonymize_metrics('now', detail=true, "
                            f"{options(3, 'presence', 1, 4, more)})")
    assert found["anonymity_set_min"] >= 3
    # of ranges and labels from the ledger, rows don't say how wide they are
    assert found["total_il"] is None
    assert found["total_il_grouping"] >= 0.0


@pytest.mark.slow
@pytest.mark.parametrize("form", ["bounds", "interval"])
def test_newcomers_join_only_what_covers_them(con: duckdb.DuckDBPyConnection, form: str) -> None:
    """In lists and ranges that can be looked into: everybody is within what is published."""
    con.execute(
        "CREATE TABLE people AS SELECT i AS id, 20 + i * 7 % 6 AS age, 'z' || i % 3 AS zip, "
        "['a', 'b'][1 + i * i % 5 % 2] AS job, 'x' AS ill FROM range(130) AS r(i)"
    )
    con.execute("CREATE VIEW now AS FROM people WHERE id < 100")
    more = f", representation='{form}'"
    release(con, 1, 4, "presence", 0, more)
    # nobody is as old as one of these, or of such a job
    con.execute(
        "CREATE OR REPLACE VIEW now AS SELECT * REPLACE (CASE WHEN id IN (127, 128) THEN 90 ELSE "
        "age END AS age, CASE WHEN id = 129 THEN 'c' ELSE job END AS job) FROM people"
    )
    found = metrics_of(con, f"anonymize_metrics('now', detail=true, "
                            f"{options(4, 'presence', 0, 2, more)})")
    release(con, 2, 4, "presence", 0, more)
    assert found["rows_joining"] > 5
    if form == "bounds":
        ((outside,),) = con.execute(
            "SELECT count(*) FILTER (WHERE NOT (age BETWEEN published.age.min AND "
            "published.age.max AND list_contains(published.zip, zip) AND "
            "list_contains(published.job, job))) FROM releases JOIN now ON entity = id"
        ).fetchall()
        assert outside == 0
    strange = con.execute(
        "SELECT class FROM releases WHERE release = 2 AND entity > 126 "
        "AND class IN (SELECT class FROM releases WHERE release = 1)"
    ).fetchall()
    assert strange == []


@pytest.mark.parametrize(("form", "joining"), [
    ("'centroid'", 1), ("'bounds'", 1), ("{'zip': 'bounds', '*': 'centroid'}", 0),
])
def test_newcomers_join_no_class_that_publishes_points_and_sets(
    con: duckdb.DuckDBPyConnection, form: str, joining: int
) -> None:
    """Nothing tells which one costs least, also where one has all values of somebody."""
    con.execute("CREATE TABLE now AS SELECT i AS id, 30 AS age, 'z' AS zip, 'a' AS job, "
                "'x' AS ill FROM range(8) AS r(i)")
    more = f", representation={form}"
    release(con, 1, 4, "presence", 0, more)
    con.execute("INSERT INTO now SELECT 8, * EXCLUDE (id) FROM now LIMIT 1")
    found = metrics_of(con, f"anonymize_metrics('now', detail=true, "
                            f"{options(4, 'presence', 0, 2, more)})")
    assert (found["rows_joining"], found["rows_waiting"]) == (joining, 1 - joining)


def test_the_last_moment_that_there_is_goes_on(con: duckdb.DuckDBPyConnection) -> None:
    """It is no double, and a double beyond it is no moment."""
    con.execute("CREATE TABLE now AS SELECT i AS id, if(i % 2 = 0, TIMESTAMP '2024-01-01', "
                "TIMESTAMP '294247-01-10 04:00:54.775806') AS seen FROM range(12) AS r(i)")
    call = ("'now', k=2, entity='id', quasi_identifiers=['seen'], representation='bounds', "
            "method='k_member'")
    con.execute(f"CREATE TABLE releases AS FROM anonymize_ledger({call}, headroom=0)")
    con.execute("INSERT INTO now SELECT id + 100, seen FROM now")
    con.execute(f"INSERT INTO releases FROM anonymize_ledger({call}, ledger='releases')")
    found = con.execute("SELECT release, count(*) FROM releases GROUP BY ALL ORDER BY ALL")
    assert found.fetchall() == [(1, 12), (2, 24)]
