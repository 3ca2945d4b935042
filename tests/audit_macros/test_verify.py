"""verify_release says of a file what kanon_sql.verify says, as far as SQL goes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from tests.api.test_verify import CALL, CHANGED_ROWS, EDITS, MODELS, VISITS, rewrite

Connection = duckdb.DuckDBPyConnection

RELEASES: dict[str, dict[str, Any]] = {
    **{f"model: {name}": {"sensitive": "disease", **options}
       for name, (options, _) in MODELS.items()},
    "several columns": CALL,
    "distances of two columns": {
        "sensitive": ["disease", "age"], "t": {"age": 0.4, "disease": 0.6},
        "closeness": {"age": "numeric"},
    },
    "alpha and l by column": {
        "sensitive": ["disease", "job"], "alpha": {"disease": 0.8}, "l": {"job": 2},
    },
    "ranges": {"representation": "interval", "sensitive": "disease"},
    "bounds": {"representation": "bounds"},
    "points": {"representation": "rounded", "class_id": True},
    "suppressed": {"representation": "suppress", "suppress": 0.1},
    "parts": {"within": ["job"], "sensitive": "disease", "t": 0.5, "k": 2,
              "small_parts": "join"},
    "a mean risk": {"sensitive": "disease", "max_average_risk": 0.15},
    "nothing sensitive": {"others": "drop", "quasi_identifiers": ["age", "zip"]},
}


def verdicts(plain: Any, path: str | Path) -> dict[str, str]:
    """The verdict of each entry, by the macro."""
    rows = plain.execute(f"SELECT entry, verdict FROM verify_release('{path}')").fetchall()
    assert len(dict(rows)) == len(rows)
    return dict(rows)


def same(plain: Any, path: str | Path) -> dict[str, str]:
    """The verdicts that were given, which are those of Python; the other entries are said to be
    unchecked."""
    found = verdicts(plain, path)
    python = {each.entry: each.verdict for each in kanon_sql.verify(path).findings}
    said = {entry: verdict for entry, verdict in found.items() if verdict != "not checked"}
    asked = {entry for entry in said if entry.startswith("options.") and entry.endswith(")")}
    assert said.keys() - asked <= python.keys()
    assert {entry: said[entry] for entry in said.keys() - asked} == {
        entry: python[entry] for entry in said.keys() - asked
    }
    return said


@pytest.mark.sample(3)
@pytest.mark.parametrize("case", RELEASES)
def test_a_release_is_proven(con: Connection, plain: Any, tmp_path: Path, case: str) -> None:
    options = {"k": 4, "identifiers": ["name"], **RELEASES[case]}
    if "others" in options:
        del options["identifiers"]
    path = tmp_path / "a.parquet"
    kanon_sql.release(con, "patients", to=path, **options)
    said = same(plain, path)
    assert set(said.values()) == {"proven"}
    assert {
        "release.rows_sha256", "options.k", "metrics.k", "metrics.unique_in_unchanged",
    } <= set(said)
    shown = MODELS.get(case.removeprefix("model: "), ({}, set()))[1]
    if "sensitive_nulls" not in options and "recursive" not in case:
        assert {f"metrics.{name}" for name in shown} <= set(said)


@pytest.mark.slow
@pytest.mark.parametrize("rows", ["together", "apart"])
def test_of_persons_it_says_no_more_than_the_file(
    con: Connection, plain: Any, tmp_path: Path, rows: str
) -> None:
    con.execute(VISITS)
    path = tmp_path / "a.parquet"
    kanon_sql.release(con, "visits", to=path, k=4, entity="who", entity_rows=rows,
                      sensitive="disease", t=0.5)
    said = same(plain, path)
    assert set(said.values()) == {"proven"} and "options.k" not in said
    assert ("metrics.t (disease)" in said) == (rows == "apart")


@pytest.fixture
def released(con: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kanon_sql.release(con, "patients", to="out.parquet", **CALL)


@pytest.mark.usefixtures("released")
@pytest.mark.sample(2)
@pytest.mark.parametrize("case", CHANGED_ROWS)
def test_a_change_of_the_rows_is_seen(plain: Any, case: str) -> None:
    rewrite(CHANGED_ROWS[case][0])
    assert "wrong" in verdicts(plain, "forged.parquet").values()


SEALED_ONLY = {"a loss", "a version", "an entry more"}
"""Edits of what no file shows: the seal tells them, which is Python's to make again."""
REFUSED = {"another format", "a section less"}
"""Those after which the file has no manifest that the macro reads."""


@pytest.mark.usefixtures("released")
@pytest.mark.sample(2)
@pytest.mark.parametrize("case", EDITS)
def test_an_edit_of_the_footer_is_seen(plain: Any, case: str) -> None:
    edit, seal, _ = EDITS[case]
    rewrite(edit=edit, seal=seal)
    if case in REFUSED:
        with pytest.raises(duckdb.Error, match="manifest"):
            verdicts(plain, "forged.parquet")
    else:
        seen = "wrong" in verdicts(plain, "forged.parquet").values()
        assert seen == (case not in SEALED_ONLY)


@pytest.mark.sample(2)
@pytest.mark.usefixtures("released")
@pytest.mark.parametrize("footer", ["", "{}", "[1]", "no JSON", "{\"made\": 3}"])
def test_a_footer_that_is_no_manifest_is_refused(plain: Any, footer: str) -> None:
    rewrite(footer=footer)
    with pytest.raises(duckdb.Error, match="manifest"):
        verdicts(plain, "forged.parquet")


@pytest.mark.slow
@pytest.mark.usefixtures("released")
def test_a_metric_that_is_taken_away_is_wrong(plain: Any) -> None:
    rewrite(edit=lambda manifest: manifest["metrics"].pop("l (disease)"), seal=True)
    assert verdicts(plain, "forged.parquet")["metrics.l (disease)"] == "wrong"


@pytest.mark.slow
@pytest.mark.usefixtures("released")
def test_a_lower_demand_than_that_reached_is_no_harm_and_a_higher_is_wrong(plain: Any) -> None:
    def ask(manifest: dict[str, Any]) -> None:
        manifest["options"]["l"] = {"disease": 3}
        manifest["metrics"]["l_requested (disease)"] = 3

    rewrite(edit=ask, seal=True)
    assert verdicts(plain, "forged.parquet")["options.l (disease)"] == "wrong"


@pytest.mark.slow
def test_a_lower_mean_risk_than_that_reached_is_wrong(
    con: Connection, plain: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kanon_sql.release(con, "patients", to="out.parquet", k=3, max_average_risk=0.2)
    assert same(plain, "out.parquet")["options.max_average_risk"] == "proven"

    def ask(manifest: dict[str, Any]) -> None:
        manifest["options"]["max_average_risk"] = 0.01
        manifest["metrics"]["average_risk_requested"] = 0.01

    found = rewrite(edit=ask, seal=True)
    assert not found.ok
    assert {each.entry: each.verdict for each in found.findings}["options.max_average_risk"] == (
        "wrong"
    )
    assert verdicts(plain, "forged.parquet")["options.max_average_risk"] == "wrong"

    def deny(manifest: dict[str, Any]) -> None:
        del manifest["options"]["max_average_risk"]

    found = rewrite(edit=deny, seal=True)
    assert "metrics.average_risk_requested" in {each.entry for each in found.of("wrong")}
