"""kanon_sql.verify, check by check: each sees its fault, and none complains of an honest file."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kanon_sql
from kanon_sql.api.verification import Verdict
from kanon_sql.api.verify import _same
from kanon_sql.duckdb import spare
from tests.api.test_forgeries import both, forged, manifest_of, put

Connection = duckdb.DuckDBPyConnection
CALL: dict[str, Any] = {
    "k": 4, "quasi_identifiers": ["age", "zip"], "identifiers": ["name"], "others": "drop",
    "sensitive": ["disease"], "sensitive_values": ["Cold"], "max_average_risk": 0.5, "seed": 5,
    "within": ["job"], "class_label": "disease", "nulls": "suppress",
}
UNREAD = "The manifest of the file can't be understood: it was changed."
NOT_THOSE = "The rows are not those that were released: their digest is another one."
PRIVATE: dict[str, Any] = {}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with an honest release in parts, honest.parquet, from which two rows were left out,
    and its source."""
    found = tmp_path_factory.mktemp("checked")
    with kanon_sql.register(duckdb.connect()) as con:
        con.execute(f"""
            COPY (
                SELECT 'person ' || i AS name, CASE WHEN i > 1 THEN 20 + (i * 7) % 50 END AS age,
                       (10000 + (i * 37) % 90)::VARCHAR AS zip, ['clerk', 'cook'][1 + i % 2] AS job,
                       ['Flu', 'Cold', 'Hypertension'][1 + (i // 4) % 3] AS disease
                FROM range(60) AS r(i)
            ) TO '{found / "source.parquet"}' (FORMAT parquet)
        """)
        done = kanon_sql.release(
            con, str(found / "source.parquet"), to=found / "honest.parquet", **CALL
        )
        PRIVATE.update(done.private)
    yield found


def verdicts(found: kanon_sql.Verification) -> dict[str, str]:
    return {each.entry: each.verdict for each in found.findings}


def test_an_honest_file_proves_what_it_shows_of_each_option(folder: Path) -> None:
    found = kanon_sql.verify(folder / "honest.parquet")
    assert found.ok and not found.with_source
    by_entry = verdicts(found)
    assert {name: by_entry[name] for name in (
        "options.k", "options.max_average_risk", "metrics.parts", "metrics.part_rows_min",
        "metrics.rows", "metrics.rows_suppressed", "metrics.classification_metric",
        "metrics.homogeneous_rows", "metrics.homogeneous_sensitive_rows",
    )} == {
        "options.k": "proven", "options.max_average_risk": "proven",
        "metrics.parts": "proven", "metrics.part_rows_min": "proven",
        "metrics.rows": "not provable", "metrics.rows_suppressed": "not provable",
        "metrics.classification_metric": "proven", "metrics.homogeneous_rows": "proven",
        # of the values only the digest is told
        "metrics.homogeneous_sensitive_rows": "not provable",
    }
    assert manifest_of(folder / "honest.parquet")["metrics"]["rows_suppressed"] == 2
    lines = repr(found).splitlines()
    assert "  proven: sha256: sha256" in lines
    kinds: tuple[Verdict, ...] = ("proven", "not provable")
    for verdict in kinds:
        (metrics,) = (line for line in lines if line.startswith(f"  {verdict}: metrics: "))
        assert metrics.removeprefix(f"  {verdict}: metrics: ").split(", ") == [
            each.entry.removeprefix("metrics.") for each in found.of(verdict)
            if each.entry.startswith("metrics.")
        ]


def test_an_average_that_the_classes_break_is_wrong(folder: Path) -> None:
    found = forged(folder, both(
        put("options", "max_average_risk", 0.01), put("metrics", "average_risk_requested", 0.01)
    ))
    (broken,) = (each for each in found.findings if each.entry == "options.max_average_risk")
    assert broken.verdict == "wrong"
    assert ", and the classes of the file have 0." in broken.sentence


@pytest.mark.parametrize("named", ["zip", "name", "nobody's"])
def test_a_class_label_that_the_file_does_not_have_is_named(folder: Path, named: str) -> None:
    found = forged(folder, put("options", "class_label", named))
    (said,) = (each for each in found.findings if each.entry == "options.class_label")
    assert said.verdict == "wrong"
    assert said.sentence == "The option class_label names no column released unchanged."


def test_another_k_that_was_asked_for_is_said_of_no_class(folder: Path) -> None:
    found = forged(folder, put("metrics", "k_requested", 3))
    assert [(each.entry, each.sentence) for each in found.of("wrong")] == [
        ("metrics.k_requested", "The manifest says k_requested = 3, and its options say k = 4.")
    ]


def test_parts_that_the_file_does_not_have_are_wrong(folder: Path) -> None:
    found = forged(folder, put("metrics", "parts", 3))
    assert [each.sentence for each in found.of("wrong")] == [
        "The manifest says parts = 3, and the file shows 2."
    ]


def test_what_is_wrong_comes_first_and_in_the_order_of_the_checks(folder: Path) -> None:
    found = forged(folder, both(
        put("metrics", "prosecutor_risk_max", 0.1), put("release", "rows_sha256", "0" * 64)
    ))
    wrong = [each.verdict != "wrong" for each in found.findings]
    assert wrong == sorted(wrong) and len(set(wrong)) == 2
    assert found.sentence == NOT_THOSE


def test_of_no_rows_it_is_not_provable_that_there_are_k_of_each(folder: Path) -> None:
    found = forged(folder, both(
        put("metrics", "rows_released", 0), put("metrics", "rows_suppressed", 60)
    ), rows="FROM file LIMIT 0")
    assert verdicts(found)["options.k"] == "not provable"


def test_a_count_with_a_point_is_of_no_manifest(folder: Path) -> None:
    found = forged(folder, put("metrics", "rows", 60.0))
    assert [(each.entry, each.sentence) for each in found.findings] == [("manifest", UNREAD)]
    found = forged(folder, both(
        put("metrics", "rows", 60.0), put("release", "rows_sha256", "0" * 64)
    ))
    assert [each.sentence for each in found.of("wrong")] == [NOT_THOSE]
    assert found.of("proven")  # what was seen before


@pytest.mark.parametrize("entry", ["rows", "rows_suppressed"])
def test_sql_in_place_of_a_count_is_not_run(folder: Path, entry: str) -> None:
    found = forged(folder, put("metrics", entry, "(SELECT error('it was run'))"))
    assert f"The manifest says a {entry} that no release has." in {
        each.sentence for each in found.of("wrong")
    }


def test_where_a_role_is_wrong_nothing_of_classes_is_proven(folder: Path) -> None:
    found = forged(folder, put("roles", "age", "identifier"))
    by_entry = verdicts(found)
    assert by_entry["roles.age"] == "wrong" and by_entry["roles.disease"] == "proven"
    assert "metrics.k" not in by_entry and "sha256" not in by_entry


def test_two_manifests_are_none(folder: Path) -> None:
    rows = pq.read_table(folder / "honest.parquet").replace_schema_metadata()
    text, file = json.dumps(manifest_of(folder / "honest.parquet")), folder / "two.parquet"
    with pq.ParquetWriter(file, rows.schema, store_schema=False) as writer:
        writer.write_table(rows)
        writer.add_key_value_metadata(pa.KeyValueMetadata([("kanon", text), ("kanon", text)]))
    found = kanon_sql.verify(file)
    assert found.sentence == "The footer has 2 manifests, not one."
    assert not found.ok and not found.with_source


@pytest.mark.parametrize(("stated", "measured", "same"), [
    (4, 4.0, True), (0.1, 0.1 + 1e-12, True), (0.1, 0.1001, False), (0, 1e-13, True),
    (None, None, True), (None, 4.0, False), (4, None, False), ("4", None, False),
    ("inf", math.inf, True), ("nan", math.nan, True), ("inf", -math.inf, False),
    ("inf", 4.0, False), ("4.0", 4.0, False), (True, 1.0, False), ([], math.inf, False),
])
def test_numbers_are_the_same_or_are_not(stated: Any, measured: float | None, same: bool) -> None:
    assert _same(stated, measured) is same


# --- with the source, and around it -----------------------------------------------------------


@pytest.mark.slow
def test_with_its_source_all_is_proven_and_said_so(folder: Path) -> None:
    file, source = folder / "honest.parquet", str(folder / "source.parquet")
    found = kanon_sql.verify(file, source=source, private=" \n" + json.dumps(PRIVATE))
    assert found.ok and found.with_source
    assert found.sentence == (
        f"All {len(found.findings)} entries are proven by the file, its source and the private "
        "part."
    )


@pytest.mark.slow
def test_the_least_that_is_a_private_part_is_read(folder: Path) -> None:
    private = {name: PRIVATE[name] for name in ("seed", "options", "salt")}
    found = kanon_sql.verify(
        folder / "honest.parquet", source=str(folder / "source.parquet"), private=private
    )
    assert {each.entry for each in found.of("wrong")} == {"private", "source"}
    assert verdicts(found)["again"] == "proven"


@pytest.mark.parametrize("private", [3, "[1]", '{"seed": 1', "[" * 100_000, b"\xff"])
def test_what_is_no_private_part_is_refused(folder: Path, private: Any) -> None:
    with pytest.raises(kanon_sql.OptionError, match=r"^private can't be read"):
        kanon_sql.verify(folder / "honest.parquet", source="t", private=private)


def test_what_is_no_path_is_refused() -> None:
    with pytest.raises(kanon_sql.OptionError, match=r"^The file is an int\. Give the path"):
        kanon_sql.verify(3)  # type: ignore[arg-type]


def test_a_child_that_lost_the_threads_of_polars_verifies_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kanon_sql.jobs.forks._forked", True)
    with pytest.raises(kanon_sql.KanonError, match="This process was forked"):
        kanon_sql.verify(folder / "honest.parquet")


def test_the_connection_of_a_verification_serves_the_next_one(folder: Path) -> None:
    spare.close_kept()
    assert kanon_sql.verify(folder / "honest.parquet").ok
    (kept,) = spare._kept
    assert kept.execute(spare.LEFT).fetchall() == []
    assert kanon_sql.verify(folder / "honest.parquet").ok
    assert spare._kept == [kept]
