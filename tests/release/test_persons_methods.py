"""Every method where persons have several rows, with and without privacy models: what comes out is
held against the definitions, on the released rows and who they belong to; or it is refused by
name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import duckdb
import numpy as np
import pytest

from kanon_sql.methods import METHODS
from kanon_sql.privacy import (
    AlphaFrequency,
    Closeness,
    DistinctDiversity,
    EntropyDiversity,
    PrivacyModel,
)
from tests.privacy.reference import passes
from tests.support import each_method
from tests.support.connections import registered
from tests.support.each_method import create_borders, least_of, names_of
from tests.support.queries import metrics_of, refusal_of
from tests.support.tables import CENTERED, OF_RECORDS, fetch
from tests.support.visits import Crowds

Connection = duckdb.DuckDBPyConnection
PERSONS = 60
LEVELS = "hierarchies := {'age': 'bins', 'job': 'flat'}"
PLACES = ("gps_rectangles", "zip_regions")
PROMISING = [name for name, method in METHODS.items() if method.promises_k]
WHOLE = [name for name in PROMISING if name not in (*PLACES, "full_domain")]
"""Methods that keep the rows of a person together."""


def fill(con: Connection) -> None:
    """Visits of persons: some have one row, one has seven; a person's ages are near each other, the
    places may differ, and so may what ails them."""
    rng = np.random.default_rng(17)
    rows: list[tuple[Any, ...]] = []
    for person in range(PERSONS):
        age, code, job = rng.integers(20, 60), rng.integers(0, 8), rng.integers(0, 3)
        lat, lon = rng.integers(0, 40, 2) / 4.0
        ill = str(rng.choice(["A1", "A2", "B1", "B2"], p=[0.4, 0.3, 0.2, 0.1]))
        for _ in range(7 if person == 5 else int(rng.choice([1, 1, 2, 3]))):
            again = str(rng.choice(["A1", "A2"])) if rng.random() < 0.2 else ill
            rows.append((
                f"p{person * 37 % PERSONS}", len(rows), int(age + rng.integers(0, 2)),
                f"c{(code + rng.integers(0, 2)) % 8:02}", float(lat), float(lon + rng.integers(2)),
                ("clerk", "cook", "nurse")[job], None if len(rows) % 31 == 7 else again,
                int(1000 + 10 * age + 100 * rng.integers(0, 5)),
            ))
    con.execute("CREATE TABLE visits (who VARCHAR, visit INTEGER, age INTEGER, code VARCHAR, "
                "lat DOUBLE, lon DOUBLE, job VARCHAR, ill VARCHAR, pay INTEGER)")
    con.executemany(f"INSERT INTO visits VALUES ({', '.join('?' * 9)})", rows)
    con.execute("COMMENT ON COLUMN visits.visit IS 'kanon: other'")
    create_borders(con, 8)

con = registered("SET threads = 1", fill)


def call_of(method: str, *options: str, name: str = "anonymize") -> str:
    """A call about persons."""
    more = (LEVELS, *options) if method == "full_domain" else options
    return each_method.call_of("visits", method, "entity := 'who'", *more, name=name)


def check(
    con: Connection, method: str, *options: str, models: Sequence[PrivacyModel] = ()
) -> list[dict[str, Any]]:
    """Releases, and holds what comes out to the definitions; the released rows."""
    apart = "entity_rows := 'apart'" in options
    rows: list[dict[str, Any]] = fetch(con, f"FROM {call_of(method, *options)}").to_pylist()
    source = {row["visit"]: row for row in fetch(con, "FROM visits").to_pylist()}
    names = names_of(method)
    whose = [source[row["visit"]]["who"] for row in rows]
    assert "who" not in rows[0] and len({row["visit"] for row in rows}) == len(rows)
    crowds = Crowds.of([repr([row[name] for name in names]) for row in rows], whose)
    k = least_of(method)
    assert crowds.persons >= k
    if apart:
        assert crowds.apart >= k
        return rows
    assert set(crowds.places.values()) == {1}
    out = {row["who"] for row in source.values()} - set(whose)
    assert len(rows) == sum(row["who"] not in out for row in source.values())
    for model in models:
        # one value of each person: none where the rows differ, or where one has none
        told: dict[str, set[Any]] = defaultdict(set)
        for row, person in zip(rows, whose, strict=True):
            told[person].add(row[model.column])
        value = {p: next(iter(v)) if len(v) == 1 else None for p, v in told.items()}
        for own in crowds.rows_of.values():
            assert passes(model, [value[p] for p in own], list(value.values())), (model, own)
    return rows


# --- every method --------------------------------------------------------------------------------


@pytest.mark.sample(1)
@pytest.mark.parametrize("reading", ["together", "apart"])
@pytest.mark.parametrize("method", PROMISING)
def test_every_method_keeps_persons(con: Connection, method: str, reading: str) -> None:
    option = f"entity_rows := '{reading}'"
    if reading == "together" and method not in WHOLE:
        with pytest.raises(duckdb.Error, match=f"The method '{method}' releases the area of each "
                                               f"class"):
            con.execute(f"FROM {call_of(method, option)}")
        return
    assert len(check(con, method, option)) == con.execute("SELECT count(*) FROM visits").fetchall(
    )[0][0]


def test_a_method_that_promises_no_class_size_is_refused(con: Connection) -> None:
    query = call_of("cellular", name="anonymize_clusters").replace("k := 4, ", "")
    with pytest.raises(duckdb.Error, match="'cellular' promises no class size, so it promises"):
        con.execute(f"FROM {query}")


OTHERWISE = {
    "refined": "effort := 'balanced', refine_steps := 2000", "in blocks": "block_rows := 200",
    "suppressed": "suppress := 0.1", "interval": "representation := 'interval'",
    "bounds": "representation := 'bounds'",
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("reading", ["together", "apart"])
@pytest.mark.parametrize("option", OTHERWISE)
@pytest.mark.parametrize("method", ["mdav", "k_member", "r_gather", "forest", "v_mdav"])
def test_so_it_does_with_other_options(
    con: Connection, method: str, option: str, reading: str
) -> None:
    asked = OTHERWISE[option]
    if method in CENTERED:
        asked = asked.replace("suppress", "epsilon")
    rows = check(con, method, asked, f"entity_rows := '{reading}'")
    total = con.execute("SELECT count(*) FROM visits").fetchall()[0][0]
    assert len(rows) == total or option == "suppressed"


@pytest.mark.slow
def test_persons_are_left_out_whole(con: Connection) -> None:
    """At most that share of the persons, however many rows they have."""
    con.execute("CREATE OR REPLACE TABLE far AS FROM visits UNION ALL "
                "SELECT 'far', 1000 + i, 2000, 'c01', 9000, 0, 'pope', 'A1', 1 FROM range(9) r(i)")
    con.execute("COMMENT ON COLUMN far.visit IS 'kanon: other'")
    query = call_of("mdav", "suppress := 0.02").replace("'visits'", "'far'")
    left = fetch(con, f"FROM {query}")["visit"].to_pylist()
    assert len(left) == con.execute("SELECT count(*) FROM visits").fetchall()[0][0]
    assert max(left) < 1000
    out = query.replace("anonymize(", "suppressed_rows(")
    (told,) = con.execute(f"SELECT count(*) FROM {out}").fetchall()
    assert told == (9,)
    metrics = metrics_of(con, query.replace("anonymize(", "anonymize_metrics("))
    assert metrics["persons_suppressed"] == 1 and metrics["rows_suppressed"] == 9
    assert metrics["persons"] == PERSONS


# --- privacy models ------------------------------------------------------------------------------

MODELS: dict[str, tuple[str, tuple[PrivacyModel, ...]]] = {
    "distinct": ("l := {'ill': 2}", (DistinctDiversity(column="ill", l=2),)),
    "entropy": (
        "l := {'ill': 2}, diversity_kind := 'entropy'", (EntropyDiversity(column="ill", l=2.0),)
    ),
    "alpha": ("alpha := {'ill': 0.8}", (AlphaFrequency(column="ill", alpha=0.8),)),
    "equal": ("t := {'ill': 0.3}", (Closeness(column="ill", t=0.3, distance="equal"),)),
    "as a value": (
        "l := {'ill': 3}, sensitive_nulls := 'value'",
        (DistinctDiversity(column="ill", l=3, nulls="value"),),
    ),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("method", WHOLE)
def test_models_count_persons(con: Connection, method: str, model: str) -> None:
    asked, models = MODELS[model]
    check(con, method, asked, models=models)


@pytest.mark.sample(1)
@pytest.mark.parametrize("method", ["mdav", "mondrian", "r_gather"])
def test_models_count_rows_where_these_are_apart(con: Connection, method: str) -> None:
    rows = check(con, method, "l := {'ill': 2}", "entity_rows := 'apart'")
    classes: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        classes[repr([row[name] for name in ("age", "job", "lat")])].append(row["ill"])
    table = [row["ill"] for row in rows]
    for own in classes.values():
        assert passes(DistinctDiversity(column="ill", l=2), own, table)


def test_whoever_has_several_values_counts_as_one_without(con: Connection) -> None:
    """Four persons who all have both values: each is an unknown one, so no two are known."""
    con.execute("CREATE OR REPLACE TABLE mixed AS SELECT p AS who, 30 AS age, "
                "['A', 'B'][1 + i] AS ill FROM range(4) r(p), range(2) s(i)")
    call = "FROM anonymize('mixed', k := 2, entity := 'who', sensitive := ['ill'], l := 2{})"
    with pytest.raises(duckdb.Error, match="l"):
        con.execute(call.format("")).fetchall()
    assert len(con.execute(call.format(", entity_rows := 'apart'")).fetchall()) == 8


APART, VALUE = "entity_rows='apart', which counts rows", "sensitive_nulls='value'"
DIFFER = "of the 12 persons differ in 'ill', so it counts as missing for them, and "


@pytest.mark.parametrize(("several", "model", "said", "helps"), [
    (12, "l := 2", f"12 {DIFFER}l = 2", APART),
    (12, "l := 2, hierarchies := {'ill': 'flat'}", f"12 {DIFFER}l = 2", APART),
    (12, "alpha := 0.5", f"12 {DIFFER}alpha = 0.5", APART),
    (12, "alpha := MAP {'A': 0.5}", f"12 {DIFFER}alpha by value", APART),
    (4, "l := 2", f"4 {DIFFER}l = 2", f"{APART}, or {VALUE}"),
    (4, "l := 2, c := 4, diversity_kind := 'recursive'", f"4 {DIFFER}l = 2, c = 4.0", VALUE),
    (12, "l := 4", "'ill' has 2 different values, so l = 4", None),
    (12, "alpha := 0.4", "One class of all 24 rows has alpha = 0.5", None),
])
def test_a_refusal_because_of_several_values_says_so(
    con: Connection, several: int, model: str, said: str, helps: str | None
) -> None:
    """Twelve persons of two rows: some have both values, all others the first."""
    con.execute(f"CREATE OR REPLACE TABLE mixed AS SELECT p AS who, 30 AS age, "
                f"CASE WHEN p < {several} THEN ['A', 'B'][1 + i] ELSE 'A' END AS ill "
                "FROM range(12) r(p), range(2) s(i)")
    call = "FROM anonymize('mixed', k := 2, entity := 'who', sensitive := ['ill'], {})"
    refused = refusal_of(con, call.format(model))
    assert said in refused and refused.partition(" Use ")[2] == f"{helps}." * (helps is not None)
    for option in helps.split(", ") if helps else ():
        if "=" in option:
            option = option.removeprefix("or ").replace("=", " := ")
            assert len(con.execute(call.format(f"{model}, {option}")).fetchall()) == 24


# --- a table of persons gives the same -----------------------------------------------------------


@pytest.mark.sample(1)
@pytest.mark.parametrize("option", ["", "effort := 'balanced', refine_steps := 3000",
                                    "suppress := 0.1", "distance := 'loss'"])
@pytest.mark.parametrize("method", OF_RECORDS)
def test_persons_are_grouped_as_a_table_of_them_is(
    con: Connection, method: str, option: str
) -> None:
    """One row of means and most frequent values for each person, made here, is grouped alike."""
    if option.startswith("distance") and option.split("'")[1] not in METHODS[method].geometries:
        option = ""
    if option.startswith("suppress") and method in CENTERED:
        option = "epsilon := 0.1"
    rng = np.random.default_rng(23)
    persons = 70
    means = rng.permutation(4096)[: 2 * persons].reshape(persons, 2) * 8  # no two are equal
    visits, table = [], []
    for p, (x, y) in enumerate(means.tolist()):
        word, other = (("a", "b", "c")[int(i)] for i in rng.permutation(3)[:2])
        table.append((p, float(x), float(y), word))
        shift = rng.integers(0, 3, 4) * 4.0
        for i, sign in enumerate((1.0, -1.0, 1.0, -1.0)[: (2, 4)[p % 2]]):
            visits.append((p, x + sign * shift[i // 2], y - sign * shift[i // 2],
                           other if i == 0 and p % 2 else word))
    for name, rows in (("many", visits), ("one", table)):
        con.execute(f"CREATE OR REPLACE TABLE {name} (who INTEGER, x DOUBLE, y DOUBLE, w VARCHAR)")
        con.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", rows)

    def parts(relation: str, entity: str) -> set[frozenset[int]]:
        given = [f"'{relation}'", "k := 3", f"method := '{method}'", "keep_order := true",
                 "quasi_identifiers := ['x', 'y', 'w']", "class_id := true",
                 "representation := 'centroid'", option, entity]
        call = f"anonymize({', '.join(filter(None, given))})"
        if option.startswith(("suppress", "epsilon")):  # then the order doesn't tell whose a row is
            con.execute(f"CREATE OR REPLACE TABLE told AS SELECT *, who AS told FROM {relation}")
            call = call.replace("keep_order := true", "sensitive := ['told']").replace(
                f"'{relation}'", "'told'")
            rows = con.execute(f"SELECT told, class_id FROM {call}").fetchall()
        else:
            whose = [row[0] for row in (visits if relation == "many" else table)]
            numbers = [n for (n,) in con.execute(f"SELECT class_id FROM {call}").fetchall()]
            rows = list(zip(whose, numbers, strict=True))
        found: dict[int, set[int]] = defaultdict(set)
        for person, number in rows:
            found[number].add(person)
        return set(map(frozenset, found.values()))

    alone = "identifiers := ['who']"
    assert parts("many", "entity := 'who'") == parts("one", alone)
