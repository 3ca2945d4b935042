"""What the query can, Spark can: models of all rows, parts, numbers of classes, a method that is
chosen. What comes out is held against its promise by SQL of its own here."""

from __future__ import annotations

from typing import Any

import duckdb
import pyarrow as pa
import pytest

import kanon_sql
from kanon_sql import DataError, OptionError
from kanon_sql import spark as kanon_spark

VISITS = """
    SELECT i % 700 AS patient, CASE WHEN i % 37 = 0 THEN NULL ELSE 20 + i * 7919 % 61 END AS age,
           (47000 + i * 31 % 97)::VARCHAR AS zip,
           ['clerk', 'cook', NULL, 'nurse'][1 + (i + i // 9) % 4] AS job,
           CASE WHEN i % 53 = 0 THEN NULL
                ELSE ['Flu', 'Flu', 'Flu', 'Cold', 'HIV', 'Gout'][1 + i * 31 // 7 % 6] END
               AS disease,
           i % 11 * 1.5::DOUBLE AS pay,
           CASE WHEN i % 90 = 0 THEN 'tiny' WHEN i % 91 = 0 THEN NULL
                ELSE ['a', 'b', 'c'][1 + i % 7 // 3] END AS site
    FROM range(3000) AS r(i)
"""
QUASI = ["age", "zip", "job"]
ROLES: dict[str, Any] = {
    "k": 4, "quasi_identifiers": QUASI, "sensitive": ["disease", "pay"], "others": "drop",
    "seed": 1, "block_rows": 500,
}
WITHIN: dict[str, Any] = {"within": ["site"]}


@pytest.fixture(scope="module")
def visits() -> pa.Table:
    return duckdb.sql(VISITS).to_arrow_table()


@pytest.fixture(scope="module")
def frame(spark: Any, visits: pa.Table) -> Any:
    return spark.createDataFrame(visits).repartition(3).cache()


def released(frame: Any, **options: Any) -> tuple[pa.Table, dict[str, Any]]:
    done = kanon_spark.release(frame, **{**ROLES, **options})
    found = done.data.toArrow()
    done.unpersist()
    return found, dict(done.metrics)


def asked(text: str, **tables: pa.Table) -> list[Any]:
    with duckdb.connect() as con:
        for name, table in tables.items():
            con.register(name, table)
        return con.sql(text).fetchall()


OF_CLASSES = """
    WITH numbered AS (
        SELECT dense_rank() OVER (ORDER BY {counted}) AS class, coalesce({column}::VARCHAR, '-') AS
            value, {of} AS part
        FROM found
    ),
    overall AS (
        SELECT part, value, n / sum(n) OVER (PARTITION BY part) AS q
        FROM (SELECT part, value, count(*) AS n FROM numbered GROUP BY ALL)
    ),
    own AS (
        SELECT class, value, n / sum(n) OVER (PARTITION BY class) AS p
        FROM (SELECT class, value, count(*) AS n FROM numbered GROUP BY ALL)
    ),
    shares AS (
        SELECT class, value, q, coalesce(p, 0.0) AS p
        FROM (SELECT DISTINCT part, class FROM numbered) JOIN overall USING (part)
        LEFT JOIN own USING (class, value)
    )
    SELECT {what} FROM shares GROUP BY class
"""
"""The shares p of all values in each class, a missing one being a value, and q among all rows or
those of the part."""

WHAT = {
    "t": "sum(abs(p - q)) / 2",
    "beta": "max(CASE WHEN p > 0 THEN (p - q) / q / least(1.0, -ln(q)) END)",
    "delta": "max(CASE WHEN p > 0 THEN abs(ln(p / q)) ELSE 'inf'::DOUBLE END)",
    "alpha": "max(CASE value WHEN 'HIV' THEN p / 0.4 WHEN 'Gout' THEN p / 0.5 ELSE 0 END)",
    "l": "-count(*) FILTER (WHERE p > 0 AND value <> '-')",
}


def worst(found: pa.Table, what: str, column: str = "disease", within: str | None = None) -> float:
    text = OF_CLASSES.format(
        counted=", ".join([*QUASI, *([within] if within else [])]), column=column,
        of=f"coalesce({within}, '-')" if within else "0", what=WHAT[what],
    )
    return max(float(has) for (has,) in asked(text, found=found))


def smallest(found: pa.Table, *within: str) -> int:
    names = ", ".join((*QUASI, *within))
    return int(asked(
        f"SELECT min(n) FROM (SELECT count(*) AS n FROM found GROUP BY {names})", found=found
    )[0][0])


@pytest.mark.slow
@pytest.mark.parametrize(("what", "options", "limit"), [
    ("t", {"t": {"disease": 0.3}}, 0.3),
    ("beta", {"beta": {"disease": 1.0}}, 1.0),
    ("delta", {"delta": {"disease": 1.2}}, 1.2),
    ("alpha", {"alpha": {"disease": {"HIV": 0.4, "Gout": 0.5}}}, 1.0),
    ("l", {"l": {"disease": 2}}, -2),
])
def test_models_are_kept_in_the_whole_release(
    frame: Any, visits: pa.Table, what: str, options: dict[str, Any], limit: float
) -> None:
    found, metrics = released(frame, **options)
    assert metrics["blocks"] > 3 and found.num_rows == visits.num_rows
    assert worst(found, what) <= limit + 1e-9
    assert smallest(found) == metrics["k"] >= 4
    told = "SELECT disease, pay, count(*) FROM {} GROUP BY ALL ORDER BY ALL"
    assert asked(told.format("found"), found=found) == asked(told.format("visits"), visits=visits)
    plain, _ = released(frame)
    assert worst(plain, what) > limit


BINS: dict[str, Any] = {"hierarchies": {"pay": {"kind": "bins", "width": 3}}}


@pytest.mark.slow
def test_models_of_numbers_are_kept(frame: Any) -> None:
    found, metrics = released(frame, t={"pay": 0.1}, closeness="numeric")
    assert metrics["blocks"] > 3
    (held,) = kanon_sql.k_anonymity(
        found, quasi_identifiers=QUASI, sensitive=["pay"], t={"pay": 0.1}, closeness="numeric"
    ).to_pylist()
    assert held["t"] <= 0.1 + 1e-9


@pytest.mark.slow
def test_models_go_by_a_hierarchy(frame: Any) -> None:
    """l counts the bins; the distance is no smaller than that of the last level, of two at least,
    over their number."""
    found, metrics = released(frame, l={"pay": 4}, **BINS)
    assert metrics["blocks"] > 3
    assert worst(found, "l", "(pay // 3)") <= -4
    plain, _ = released(frame)
    assert worst(plain, "l", "(pay // 3)") > -4
    close, _ = released(frame, t={"pay": 0.15}, **BINS)
    assert worst(close, "t", "(pay // 3)") < worst(plain, "t", "(pay // 3)")
    assert smallest(close) >= 4


ORDERED = """
    SELECT i // 10 AS age, 'z' AS zip, NULL::VARCHAR AS job,
           CASE WHEN i < 400 THEN 'Flu' ELSE ['Flu', 'Cold', 'HIV', 'Gout'][1 + i % 4] END
               AS disease, 1.0::DOUBLE AS pay
    FROM range(3000) AS r(i)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("what", "options"), [
    ("delta", {"delta": {"disease": 1.4}}), ("l", {"l": {"disease": 2}}),
    ("alpha", {"alpha": {"disease": {"HIV": 0.4, "Gout": 0.5}}, "l": {"disease": 2}}),
])
def test_a_block_that_cannot_keep_a_model_joins_its_neighbour(
    spark: Any, what: str, options: dict[str, Any]
) -> None:
    """The first rows by age have one value alone."""
    frame = spark.createDataFrame(duckdb.sql(ORDERED).to_arrow_table()).repartition(2)
    plain, whole = released(frame, block_rows=200)
    found, metrics = released(frame, block_rows=200, class_id=True, **options)
    assert metrics["blocks"] < whole["blocks"]
    assert metrics["block_rows_max"] > whole["block_rows_max"]
    assert found.num_rows == plain.num_rows
    assert smallest(found) == metrics["k"] >= 4
    limit = {"delta": 1.4, "l": -2, "alpha": 1.0}[what]
    assert worst(found, what) <= limit + 1e-9
    again, _ = released(frame.repartition(3), block_rows=200, class_id=True, **options)
    assert found.to_pylist() == again.to_pylist()


def test_what_no_block_keeps_is_refused(spark: Any) -> None:
    alike = spark.sql(
        "SELECT id % 90 AS age, 'z' AS zip, 'j' AS job, IF(id < 4, 'Cold', 'Flu') AS disease, "
        "1.0D AS pay FROM range(3000)"
    )
    with pytest.raises(DataError, match=r"(?s)No release keeps|one of \d+ blocks"):
        released(alike, l={"disease": 2}, block_rows=100)


@pytest.mark.slow
@pytest.mark.parametrize("options", [
    {"t": {"disease": 0.5}}, {"entity_rows": "apart", "alpha": {"disease": 0.9}},
])
def test_a_model_beside_entity_is_verified_block_by_block(
    frame: Any, visits: pa.Table, options: dict[str, Any]
) -> None:
    found, metrics = released(frame, entity="patient", **options)
    assert metrics["persons"] == 700 or "entity_rows" in options
    assert metrics["blocks"] > 2 and found.num_rows == visits.num_rows
    assert smallest(found) >= 4


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, WITHIN])
def test_classes_are_numbered_over_all_partitions(
    frame: Any, monkeypatch: pytest.MonkeyPatch, more: dict[str, Any]
) -> None:
    monkeypatch.setattr("kanon_sql.spark.engine.PART_ROWS", 700)
    found, metrics = released(frame, class_id=True, **more)
    names = ", ".join((*QUASI, *more.get("within", ())))
    assert found.column_names[-1] == "class_id"
    ((least, most, many, together),) = asked(
        "SELECT min(class_id), max(class_id), count(DISTINCT class_id), "
        f"(SELECT count(*) FROM (SELECT DISTINCT {names}, class_id FROM found)) FROM found",
        found=found,
    )
    assert (least, most) == (1, metrics["classes"]) and many == together == most
    plain, _ = released(frame, **more)
    assert found.drop_columns(["class_id"]).to_pylist() == plain.to_pylist()
    again, _ = released(frame.repartition(4), class_id=True, **more)
    assert again.to_pylist() == found.to_pylist()


@pytest.mark.slow
@pytest.mark.parametrize("options", [
    {}, {"block_rows": 5000}, {"t": {"disease": 0.4}}, {"l": {"disease": 2}, "block_rows": 1400},
    {"entity": "patient"},
])
def test_each_part_is_a_release_of_its_own(
    frame: Any, visits: pa.Table, options: dict[str, Any]
) -> None:
    found, metrics = released(frame, **WITHIN, **options)
    told = "SELECT site, disease, count(*) FROM {} GROUP BY ALL ORDER BY ALL"
    assert asked(told.format("found"), found=found) == asked(told.format("visits"), visits=visits)
    assert smallest(found, "site") == metrics["k"] >= 4
    assert (metrics["parts"], metrics["part_rows_min"]) == (5, 32)
    for name in set(options) & {"t", "l"}:
        limit = {"t": 0.4, "l": -2}[name]
        assert worst(found, name, within="site") <= limit + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("small", ["join", "suppress"])
def test_small_parts_are_what_a_query_makes_of_them(
    frame: Any, visits: pa.Table, small: str
) -> None:
    """All in one pack, so that its block is the query itself."""
    options = {**ROLES, **WITHIN, "small_parts": small, "k": 40, "block_rows": 5000}
    found, metrics = released(frame, **options)
    plain = kanon_sql.anonymize(visits, **options)
    told = "SELECT * FROM {} ORDER BY ALL"
    assert asked(told.format("found"), found=found) == asked(told.format("plain"), plain=plain)
    table = kanon_sql.anonymize_metrics(visits, detail=True, **options)
    known = dict(zip(table["metric"].to_pylist(), table["value"].to_pylist(), strict=True))
    for name in ("parts", "parts_joined", "parts_suppressed", "part_rows_min", "k"):
        assert metrics[name] == known[name], name
    assert metrics["parts_joined"] + metrics["parts_suppressed"] > 0
    cut, _ = released(frame, **{**options, "block_rows": 900})
    sites = "SELECT site, count(*) FROM {} GROUP BY ALL ORDER BY ALL"
    assert asked(sites.format("cut"), cut=cut) == asked(sites.format("plain"), plain=plain)
    assert smallest(cut, "site") >= 40


def test_parts_that_are_too_small_are_refused_as_a_query_refuses_them(
    frame: Any, visits: pa.Table
) -> None:
    with pytest.raises(DataError) as refused:
        released(frame, **WITHIN, k=40)
    with pytest.raises(DataError) as plain:
        kanon_sql.anonymize(visits, **{**ROLES, **WITHIN, "k": 40})
    assert str(refused.value) == str(plain.value)


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, {"effort": "balanced"}])
def test_auto_chooses_as_in_a_query(
    frame: Any, visits: pa.Table, more: dict[str, Any]
) -> None:
    _, metrics = released(frame, method="auto", **more)
    told = kanon_sql.anonymize_metrics(visits, detail=True, **{**ROLES, "method": "auto", **more})
    texts = dict(zip(told["metric"].to_pylist(), told["text"].to_pylist(), strict=True))
    assert metrics["method"] == texts["method"]
    assert metrics["notices"] == [texts["notice"]]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a method of all rows": (
        {"method": "pairs", "k": 2, "block_rows": None}, "The method 'pairs' looks at all rows"
    ),
    "global recoding": ({"method": "full_domain", "block_rows": None}, "looks at all rows"),
    "shares beside rows left out": (
        {"t": {"disease": 0.3}, "suppress": 0.01}, "'t' with suppress looks at all rows"
    ),
    "refine_seconds": (
        {"effort": "balanced", "refine_seconds": 1.0}, "'refine_seconds' looks at all rows"
    ),
    "k_map": ({"k_map": 5, "population": "a.parquet"}, "'k_map' looks at all rows"),
    "keep_order": ({"keep_order": True}, "keep_order requests the original order"),
    "joined parts beside entity": (
        {**WITHIN, "small_parts": "join", "entity": "patient"}, "Spark counts those of each"
    ),
    "an unknown option": ({"kk": 5}, "has no option 'kk'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_refused_by_name(frame: Any, case: str) -> None:
    options, said = REFUSED[case]
    with pytest.raises(OptionError, match=said):
        kanon_spark.release(frame, **{**ROLES, **options})


def test_frames_of_spark_that_options_name_are_read_whatever_they_hold(
    spark: Any, frame: Any
) -> None:
    people = spark.sql("SELECT current_timestamp() AS `a.b`, 1 AS age")
    with pytest.raises(OptionError, match="'k_map' looks at all rows"):
        kanon_spark.release(frame, **ROLES, k_map=5, population=people)
