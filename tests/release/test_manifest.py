"""anonymize_manifest: what it tells, that anybody can compute its digest, and what it keeps."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.api.release import manifest_and_metrics, read_manifest
from kanon_sql.call.call import GroupingCall, read_call
from kanon_sql.call.options import OPTIONS
from kanon_sql.call.relation import Relation
from kanon_sql.duckdb.session import Session, relation_and_options
from kanon_sql.measure.metrics import Metric
from kanon_sql.plan import manifest
from kanon_sql.plan.manifest import (
    OF_WHOLE,
    PUBLIC,
    as_told,
    digest_sql,
    public_options,
    sealed,
)
from tests.support.catalogs import MadeUp
from tests.support.manifests import PLAIN, manifest_of, plain_digest, reference_digest
from tests.support.queries import metrics_of

Connection = duckdb.DuckDBPyConnection

TYPES = """
    CREATE TABLE typed AS SELECT
        i % 3 AS small, i::BIGINT AS big, i / 7.0 AS double, (i / 7.0)::FLOAT AS float,
        (i / 10)::DECIMAL(9, 2) AS decimal, i % 2 = 0 AS flag, 'v' || i AS text,
        DATE '2020-01-01' + i::INTEGER AS day, TIME '10:00:00' + to_seconds(i) AS time,
        TIMESTAMP '2020-01-01' + to_hours(i) AS moment,
        make_timestamptz(1600000000000000 + 3600000000 * i) AS zoned,
        CASE WHEN i > 3 THEN i END AS gap, [i, NULL] AS list, {'a': i, 'b': 'x, y'} AS struct,
        MAP {'k': i} AS map, ('a' || i)::BLOB AS blob, (i % 2)::VARCHAR::JSON AS json,
        ['low', 'high'][1 + i % 2]::ENUM('low', 'high', 'never seen') AS level,
        CASE WHEN i = 1 THEN 'NaN' WHEN i = 2 THEN '-0.0' WHEN i = 3 THEN 'inf' ELSE i::VARCHAR
            END::DOUBLE AS odd,
        uuid AS u, i::HUGEINT AS huge, to_days(i::INTEGER) AS span
    FROM range(12) AS r(i) CROSS JOIN (SELECT '6d73a491-db5d-478d-b13c-7a6f0e655768'::UUID AS uuid)
"""
RELEASED = "anonymize{}('typed', k := 4, quasi_identifiers := ['small'], others := 'release')"


@pytest.fixture
def typed(con: Connection) -> Connection:
    con.execute(TYPES)
    return con


@pytest.mark.slow
def test_the_digest_of_rows_of_every_type_is_that_of_plain_sql_and_of_plain_python(
    typed: Connection,
) -> None:
    typed.execute(f"CREATE TABLE released AS FROM {RELEASED.format('')}")
    typed.execute("ALTER TABLE released ALTER level TYPE VARCHAR")
    typed.execute("SET TimeZone = 'America/St_Johns'")
    told = manifest_of(typed, RELEASED.format("_manifest"))["release"]["rows_sha256"]
    typed.execute("SET TimeZone = 'UTC'")
    assert told == plain_digest(typed, "released")
    assert told == reference_digest(typed, "released")


ALIKE = {
    "0 and -0": ("0.0::DOUBLE", "-0.0::DOUBLE"),
    "NULL and nothing": ("NULL::VARCHAR", "''"),
    "NULL and its name": ("NULL::VARCHAR", "'NULL'"),
    "NULL and its sign": ("NULL::VARCHAR", "'-'"),
    "types": ("1::INTEGER", "1::BIGINT"),
    "number and text": ("1", "'1'"),
    "NULL and NaN": ("NULL::DOUBLE", "'nan'::DOUBLE"),
    "scale": ("1::DECIMAL(9, 1)", "1::DECIMAL(9, 2)"),
    "a month and 30 days": ("INTERVAL 1 MONTH", "INTERVAL 30 DAYS"),
    "microsecond": ("TIMESTAMP '2020-01-01 00:00:00.000001'", "TIMESTAMP '2020-01-01 00:00:00'"),
    "last digit": ("0.1::DOUBLE", "0.10000000000000002::DOUBLE"),
    "borders": ("'a' AS x, 'bc'", "'ab' AS x, 'c'"),
    "borders with colons": ("'1:a' AS x, 'b'", "'1' AS x, ':ab'"),
    "names": ("1 AS a", "1 AS b"),
    "order of columns": ("1 AS a, 2 AS b", "2 AS b, 1 AS a"),
    "doubled": ("1 AS a UNION ALL SELECT 1", "1 AS a"),
    "no rows": ("1 AS a", "1 AS a WHERE false"),
    "elements": ("['a, b']", "['a', 'b']"),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("case", ALIKE)
def test_what_looks_alike_has_another_digest(con: Connection, case: str) -> None:
    first, second = (
        f"(SELECT {text}{'' if ' AS ' in text.rpartition(',')[2] else ' AS y'})"
        for text in ALIKE[case]
    )
    assert plain_digest(con, first) != plain_digest(con, second)
    assert plain_digest(con, first) == reference_digest(con, first)


def test_the_digest_knows_no_order(con: Connection) -> None:
    rows = "(SELECT i, i % 3 AS j FROM range(50) AS r(i) ORDER BY {})"
    assert plain_digest(con, rows.format("i")) == plain_digest(con, rows.format("hash(i)"))


def test_the_digest_of_no_rows_is_one_and_a_macro_that_hides_ours_is_refused(
    con: Connection,
) -> None:
    con.execute("CREATE TABLE nobody AS SELECT 1 AS a, 'x' AS b WHERE false")
    query = digest_sql(Relation('"nobody"', ("nobody",)))
    assert con.execute(query).fetchall() == [(reference_digest(con, "nobody"),)]
    con.execute("CREATE MACRO list_sort(x, y, z) AS [x[1]]")
    try:
        with pytest.raises(duckdb.Error, match="a macro named 'list_sort'"):
            con.execute(query).fetchall()
    finally:
        con.execute("DROP MACRO list_sort")


def test_the_options_of_a_hierarchy_have_no_order() -> None:
    catalog = MadeUp({"t": {"age": None, "ill": None}})

    def told(**options: Any) -> str:
        call = read_call("anonymize", "t", {
            "k": 3, "quasi_identifiers": ["age"], "others": "drop",
            "hierarchies": {"age": {"kind": "bins", **options}},
        }, catalog)
        assert isinstance(call, GroupingCall)
        return manifest._hierarchies(call.hierarchies)

    assert told(width=10, start=5) == told(start=5, width=10) != told(start=10, width=5)


def test_options_are_told_in_any_order_alike_and_with_their_descriptions() -> None:
    catalog = MadeUp({"t": {"age": None, "zip": None}})

    def told(**options: Any) -> dict[str, tuple[str, str]]:
        asked = {"k": 3, "quasi_identifiers": ["age", "zip"], "others": "drop", **options}
        call = read_call("anonymize", "t", asked, catalog)
        assert isinstance(call, GroupingCall)
        return {
            each["entry"]: (each["value"], each["description"])
            for each in json.loads(manifest._constants(call)) if each["section"] == "options"
        }

    first = told(representation={"age": "median", "zip": "interval"})
    assert first == told(representation={"zip": "interval", "age": "median"})
    assert first != told(representation={"zip": "median", "age": "interval"})
    assert {name: said for name, (_, said) in first.items()} == {
        name: OPTIONS[name].description for name in first
    }
    assert "categorical" in first


@pytest.mark.slow
def test_of_a_relation_of_neighbours_its_rows_are_told_and_not_its_name(con: Connection) -> None:
    for name in ("pairs", "twins"):
        con.execute(f"CREATE TABLE {name} AS SELECT zip AS a, zip + 1 AS b FROM patients")
    plain, other, levels = (
        manifest_of(
            con, "anonymize_manifest('patients', k := 4, quasi_identifiers := ['zip'], "
            f"others := 'drop', hierarchies := {{'zip': {{'kind': 'adjacency', {said}}}}})"
        )["hierarchies"]["zip"]
        for said in ("'adjacency': 'pairs'", "'adjacency': 'twins'",
                     "'adjacency': 'pairs', 'levels': 3")
    )
    assert plain == other == {"kind": "adjacency", "rows_sha256": plain_digest(con, "pairs")}
    assert levels == {**plain, "options_sha256": hashlib.sha256(b'{"levels": 3}').hexdigest()}


def test_times_with_a_zone_inside_of_others_are_refused(con: Connection) -> None:
    con.execute(
        "CREATE TABLE z AS SELECT i % 2 AS a, [make_timestamptz(i * 1000)] AS at "
        "FROM range(8) AS r(i)"
    )
    with pytest.raises(duckdb.Error, match=r"column 'at' holds times with a time zone inside"):
        manifest_of(con, "anonymize_manifest('z', k := 4, sensitive := ['at'])")


@pytest.mark.slow
def test_roles_and_columns_are_those_of_the_release(con: Connection) -> None:
    told = manifest_of(
        con, "anonymize_manifest('patients', k := 4, quasi_identifiers := ['age', 'zip'], "
        "sensitive := ['disease'], identifiers := ['name'], others := 'drop', class_id := true)"
    )
    assert told["roles"] == {
        "name": "identifier", "age": "quasi_identifier", "zip": "quasi_identifier",
        "disease": "sensitive",
    }  # what is left out is not even read
    assert told["columns"] == {
        "age": "BIGINT", "zip": "BIGINT", "disease": "VARCHAR", "class_id": "BIGINT"
    }
    hidden = manifest_of(con, "anonymize_manifest('patients', k := 4, sensitive := ['disease'])")
    assert hidden["roles"]["name"] == "withheld"
    passing = manifest_of(
        con, "anonymize_manifest('patients', k := 4, quasi_identifiers := ['age'], "
        "others := 'release')"
    )
    assert passing["roles"] == {
        "name": "withheld", "age": "quasi_identifier", "zip": "other", "job": "other",
        "disease": "other",
    }


CALL = (
    "'patients', k := 4, identifiers := ['name'], sensitive := ['disease'], seed := {seed}, "
    "suppress := 0.05, effort := 'balanced'"
)


@pytest.mark.slow
def test_metrics_are_those_of_anonymize_metrics(con: Connection) -> None:
    call = CALL.format(seed=3)
    told = manifest_of(con, f"anonymize_manifest({call})")["metrics"]
    metrics = metrics_of(con, f"anonymize_metrics({call}, detail := true)")
    assert set(told) == {name for name in metrics if name.partition(" (")[0] in PUBLIC}
    assert {"k_requested", "k", "rows_suppressed", "information_loss", "ratio"} - set(
        told
    ) == {"ratio"}
    left_out = metrics["rows_suppressed"] > 0
    for name, value in told.items():
        if value is None:
            assert metrics[name] is None or (left_out and name.partition(" (")[0] in OF_WHOLE)
        else:
            assert value == pytest.approx(metrics[name], rel=5e-3)
    assert told["prosecutor_risk_mean"] == metrics["prosecutor_risk_mean"]
    assert told["information_loss"] == float(f"{metrics['information_loss']:.2e}")
    assert told["information_loss"] != metrics["information_loss"]


def test_a_metric_is_public_only_if_it_says_so() -> None:
    unsaid = Metric("new", "rows", "rows", "one more")
    assert unsaid.public == "no"
    assert not {
        "max_radius", "cellular_cost", "cost", "lower_bound", "ratio", "intra_cluster_distance",
        "centers_equal_to_a_row", "original_values", "rows_per_person_max", "constraint_loss",
        "l_violating_before", "delta_least_class_size", "island_rows", "k_weighted",
        "rows_withheld", "rows_waiting", "seconds_total", "seed", "options", "notice",
    } & set(PUBLIC)


@pytest.mark.parametrize(("name", "value", "left_out", "told"), [
    ("k", 5.0, False, 5.0), ("k", None, False, None), ("seconds_total", 3.0, False, None),
    ("l (disease)", 2.0, True, 2.0), ("max_radius (disease)", 2.0, False, None),
    # what is counted on what comes out, and what isn't
    ("prosecutor_risk_mean", 0.123456, True, 0.123456), ("information_loss", 0.123456, True, 0.123),
    ("sst", 123456.0, True, 123456.0), ("sst", 123456.7, True, 123000.0),
    # what is told where no row was left out
    ("ncp", 0.123456, False, 0.123), ("ncp", 0.123456, True, None), ("ncp", 12.0, True, None),
])
def test_a_metric_as_a_manifest_tells_it(
    name: str, value: float | None, left_out: bool, told: float | None
) -> None:
    assert as_told(name, value, left_out) == told


def test_options_are_told_without_a_value_of_the_data_and_without_relations() -> None:
    catalog = MadeUp({"t": {"age": None, "ill": None}, "census": {"age": None}})

    def told(**more: Any) -> dict[str, Any]:
        given = {"k": 3, "quasi_identifiers": ["age"], "sensitive": ["ill"], **more}
        call = read_call("anonymize", "t", given, catalog)
        assert isinstance(call, GroupingCall)
        return public_options(call)

    plain = told(
        population="census", k_map=2, roles="my_roles", l=2, hierarchies={"age": "flat"},
        progress=False,
    )
    assert (plain["population"], plain["roles"]) == ("a relation", "a relation")
    assert (plain["k"], plain["l"], plain["k_map"]) == (3, 2, 2)
    assert not {"hierarchies", "progress", "show_values"} & set(plain)
    values = told(sensitive_values=["HIV", "flu"], alpha={"ill": {"HIV": 0.1, "flu": 0.3}})
    assert "HIV" not in repr(values)
    assert values["sensitive_values"].keys() == values["alpha"]["ill"].keys() == {"sha256"}
    other = told(alpha={"ill": {"flu": 0.3, "HIV": 0.1}})
    assert other["alpha"] == values["alpha"] and other["sensitive_values"] == ()
    assert told(alpha={"ill": {"HIV": 0.1}})["alpha"] != values["alpha"]
    assert told(alpha=0.5)["alpha"] == {"ill": 0.5} and "alpha" not in told()


def test_a_seal_knows_no_order_of_entries() -> None:
    first, second = sealed({"a": 1, "b": [2]}), sealed({"b": [2], "a": 1})
    assert first["sha256"] == second["sha256"] == hashlib.sha256(b'{"a":1,"b":[2]}').hexdigest()
    assert sealed(first) == first and sealed({"a": 1, "b": [3]})["sha256"] != first["sha256"]


@pytest.mark.slow
def test_how_far_away_a_row_lies_that_was_left_out_is_not_told(con: Connection) -> None:
    con.execute(
        "CREATE TABLE paid AS SELECT CASE WHEN i = 0 THEN 987654 ELSE 1000 + 13 * i END AS salary "
        "FROM range(41) AS r(i)"
    )
    call = "'paid', k := 4, suppress := {}, representation := 'bounds'"
    told = manifest_of(con, f"anonymize_manifest({call.format(0.05)})")["metrics"]
    assert told["rows_suppressed"] == 1
    ((widths, ncp),) = con.execute(
        f"SELECT sum(salary.max - salary.min), any_value(value) FROM anonymize({call.format(0.05)})"
        f", anonymize_metrics({call.format(0.05)}) WHERE metric = 'ncp'"
    ).fetchall()
    # the one who knows ncp, 1 for the row left out, solves for the largest salary
    assert widths / (41 * ncp - 1) + 1013 == pytest.approx(987654, rel=0.01)
    of_range = [name for name in told if name.partition(" (")[0] in OF_WHOLE]
    assert of_range == [
        "total_il", "ncp", "ncp_distinct", "total_il_grouping", "ncp_grouping",
        "ncp_distinct_grouping", "ncp (salary)", "ncp_grouping (salary)",
    ]
    assert {told[name] for name in of_range} == {None}
    told = manifest_of(con, f"anonymize_manifest({call.format(0)})")["metrics"]
    assert told["rows_suppressed"] == 0 and told["ncp"] > 0


MODELS = CALL + ", l := 2, alpha := {{'Flu': 0.9}}, sensitive_values := ['Cold']"


@pytest.mark.slow
def test_a_secret_seed_is_not_told_and_can_not_be_found_by_the_digest_of_the_text(
    con: Connection,
) -> None:
    seeds = 86420, 13579
    made = [manifest_of(con, f"anonymize_manifest({MODELS.format(seed=seed)})") for seed in seeds]
    for told, seed in zip(made, seeds, strict=True):
        assert str(seed) not in json.dumps(told)
        assert told["options"]["seed"] is None
    assert made[0]["release"]["sql_sha256"] == made[1]["release"]["sql_sha256"]
    ((text,),) = con.execute(f"FROM anonymize_sql({MODELS.format(seed=0)})").fetchall()
    assert made[0]["release"]["sql_sha256"] == hashlib.sha256(text.encode()).hexdigest()


def test_without_a_model_the_seed_is_told(con: Connection) -> None:
    told = manifest_of(con, f"anonymize_manifest({CALL.format(seed=86420)})")
    assert told["options"]["seed"] == 86420
    ((text,),) = con.execute(f"FROM anonymize_sql({CALL.format(seed=86420)})").fetchall()
    assert told["release"]["sql_sha256"] == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.slow
def test_no_value_of_the_data_and_no_name_of_a_relation_is_told(con: Connection) -> None:
    con.execute("CREATE TABLE secret_levels AS SELECT DISTINCT zip AS level0, '*' AS level1 "
                "FROM patients")
    con.execute("CREATE TABLE secret_roles AS SELECT 'name' AS column_name, 'identifier' AS role")
    call = (
        f"{MODELS.format(seed=5)}, roles := 'secret_roles', hierarchies := {{"
        "'zip': 'secret_levels', 'age': {'kind': 'bins', 'width': 17}}"
    ).replace("identifiers := ['name'], ", "")
    told = manifest_of(con, f"anonymize_manifest({call})")
    text = json.dumps(told)
    for (value,) in con.execute(
        "SELECT DISTINCT unnest([name, disease, job]) FROM patients"
    ).fetchall():
        assert value not in text
    for private in ("patients", "secret_levels", "secret_roles", "width", "/"):
        assert private not in text
    assert told["options"]["roles"] == "a relation"
    assert told["options"]["alpha"]["disease"].keys() == {"sha256"}
    assert told["hierarchies"]["age"] == {
        "kind": "bins",
        "options_sha256": hashlib.sha256(b'{"width": 17}').hexdigest(),
    }
    levels = plain_digest(con, "secret_levels")
    assert told["hierarchies"]["zip"] == {"rows_sha256": levels}


def test_what_an_enum_may_hold_is_not_told(typed: Connection) -> None:
    told = manifest_of(typed, RELEASED.format("_manifest"))
    assert told["columns"]["level"] == "VARCHAR"
    assert "never seen" not in json.dumps(told)


def test_no_model_tells_how_many_classes_it_changed(con: Connection) -> None:
    told = manifest_of(con, f"anonymize_manifest({MODELS.format(seed=5)})")["metrics"]
    assert told["l_requested (disease)"] == 2
    assert told["l (disease)"] >= 2
    assert not [name for name in told if "before" in name or "constraint" in name]


@pytest.mark.sample(2)
@pytest.mark.parametrize("more", [
    "method := 'r_gather', sensitive := ['disease', 'job']",
    "keep_order := true, representation := 'interval'",
    "representation := 'bounds', class_id := true",
    "method := 'full_domain', suppress := 0.1",
    "method := 'forest', representation := {'age': 'median', '*': 'interval'}",
    "nulls := 'suppress', categorical := ['zip']",
    "method := 'mondrian', hierarchies := {'zip': 'prefix'}",
])
def test_the_digest_is_that_of_what_anonymize_gives(con: Connection, more: str) -> None:
    call = f"'patients', k := 4, {more}"
    con.execute(f"CREATE TABLE released AS FROM anonymize({call})")
    told = manifest_of(con, f"anonymize_manifest({call})")
    assert told["release"]["rows_sha256"] == plain_digest(con, "released")
    names = [name for name, *_ in con.execute("DESCRIBE released").fetchall()]
    assert [*told["columns"]] == names


def test_a_frame_in_a_frame_out() -> None:
    frame = {"age": [30, 31, 32, 60, 61, 62], "flu": [True, False] * 3}
    made: Any = kanon_sql.anonymize_manifest(frame, k=3, sensitive=["flu"])
    assert made.column_names == ["section", "entry", "value", "description"]
    assert PLAIN.count("sha256") == 3


@pytest.mark.parametrize("options", [{"nulls": "suppress"}, {"l": 2, "sensitive": ["flag"]}])
def test_a_run_for_both_gives_the_manifest_and_the_metrics_of_the_calls(
    typed: Connection, options: dict[str, Any]
) -> None:
    asked = {"k": 4, "quasi_identifiers": ["small", "gap"], "others": "drop", "seed": 3, **options}
    with Session(typed) as session:
        source, held = relation_and_options(session, "typed", asked)
        manifest, metrics = manifest_and_metrics(session, source, held)
        assert manifest == read_manifest(session, source, held)
        alone = session.run(
            "anonymize_metrics", source, {**held, "detail": True}, lambda rows: rows.fetchall()
        )

    def steady(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Without those that differ from run to run."""
        return [row for row in rows if row[0] != "grouping_cache" and row[3] != "seconds"]

    assert len(metrics) == len(alone)
    assert steady(metrics) == steady(alone)
