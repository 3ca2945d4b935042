"""population means the same to evidence, a report, the command line, a release and SQL: the attacks
measure presence in it, and k_map limits the release by it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kanon_sql
from kanon_sql.attacks.facts import Evidence
from tests.support.shell import Shell

QUASI = ["age", "town"]
CALL: dict[str, Any] = {"k": 3, "quasi_identifiers": QUASI, "others": "drop", "sensitive": ["ill"]}
ALONE = "population is given, and no option compares the classes with it"
LIMIT = 900
"""Of the 1,200 people, this many are so many that one class remains."""


def people(rows: int) -> pa.Table:
    """The first of 1,200 people: a release of few of them covers them all."""
    draws = np.random.default_rng(4)
    return pa.table({
        "age": draws.integers(20, 60, 1200), "town": draws.choice(["north", "south"], 1200),
        "ill": draws.choice(["flu", "cold"], 1200),
    })[:rows]


def is_one_class(found: Evidence) -> bool:
    """Whether the release that was attacked has one class: the share in each is the same."""
    assert found.presence is not None and found.presence.people == 1200
    return found.presence.least == found.presence.most


@pytest.fixture
def census(tmp_path: Path) -> Path:
    pq.write_table(people(1200), tmp_path / "census.parquet")
    pq.write_table(people(600), tmp_path / "sample.parquet")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("control", [None, people(1200)[900:]], ids=["halves", "control"])
def test_evidence_measures_and_its_release_keeps_the_limit(control: pa.Table | None) -> None:
    own: dict[str, Any] = {} if control is None else {"control": control}
    found = kanon_sql.evidence(people(600), population=people(1200), **own, **CALL)
    assert not is_one_class(found)
    assert replace(found, presence=None) == kanon_sql.evidence(people(600), **own, **CALL)
    limited = kanon_sql.evidence(
        people(600), population=people(1200), k_map=LIMIT, **own, **CALL
    )
    assert is_one_class(limited)


@pytest.mark.slow
def test_a_weight_goes_with_a_population_that_only_measures() -> None:
    rows = people(600).append_column("w", pa.array([2.0] * 600))
    call = {**CALL, "sampling_weight": "w"}
    found = kanon_sql.evidence(rows, population=people(1200), **call)
    assert found.presence is not None
    with pytest.raises(kanon_sql.OptionError, match="Give one of them"):
        kanon_sql.evidence(rows, population=people(1200), k_map=2, **call)


@pytest.mark.sample(2)
@pytest.mark.parametrize(("more", "says"), [
    ({"k_map": 5}, "k_map is given, and there is no population"),
    ({"k_map": 5, "population": people(1200).drop_columns(["town"])}, "town"),
    ({"population": people(1200).drop_columns(["town"])}, "population has no column 'town'"),
    ({"k_map": 1201, "population": people(1200)}, "fewer than k_map = 1201"),
    ({"populaton": people(1200)}, "Did you mean 'population'"),
])
def test_what_evidence_refuses(more: dict[str, Any], says: str) -> None:
    with pytest.raises(kanon_sql.KanonError, match=says):
        kanon_sql.evidence(people(600), **CALL, **more)


@pytest.mark.slow
def test_a_report_with_evidence_measures_and_keeps_the_limit(tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="the extra 'report' isn't installed")
    pytest.importorskip("vl_convert", reason="the extra 'report' isn't installed")
    call: dict[str, Any] = {**CALL, "to": tmp_path / "r.html", "population": people(1200)}
    with pytest.raises(kanon_sql.OptionError, match=ALONE):
        kanon_sql.report(people(600), **call)
    facts = kanon_sql.report(people(600), evidence=True, **call).facts
    assert facts.evidence is not None and not is_one_class(facts.evidence)
    assert "k_map" not in facts.metrics
    facts = kanon_sql.report(
        people(600), evidence=True, k_map=LIMIT, compare=["k_member"], **call
    ).facts
    assert facts.evidence is not None and is_one_class(facts.evidence)
    assert facts.metrics["k_map"].value >= LIMIT
    assert [each.numbers["classes"] for each in facts.alternatives] == [1.0, 1.0]
    with pytest.raises(kanon_sql.OptionError, match=ALONE):  # it may be of another population
        kanon_sql.report(people(600), evidence=facts.evidence, **call)
    made = kanon_sql.release(
        people(600), k_map=LIMIT, population=people(1200), **CALL
    ).report(tmp_path / "r.html", evidence=True)
    assert made.facts.evidence is not None and is_one_class(made.facts.evidence)


@pytest.mark.slow
def test_the_command_line_takes_it(census: Path, shell: Shell) -> None:
    pytest.importorskip("jinja2", reason="the extra 'report' isn't installed")
    pytest.importorskip("vl_convert", reason="the extra 'report' isn't installed")
    call = ("report", str(census / "sample.parquet"), "-o", str(census / "r.html"), "-k", "3",
            "-q", "age,town", "--others", "drop", "--population", str(census / "census.parquet"))
    assert shell(*call) == 2
    assert shell.err.startswith(f"kanon: {ALONE}")
    pages = []
    for more in (["--evidence"], ["--evidence", "--k-map", str(LIMIT)], ["--k-map", str(LIMIT)]):
        assert shell(*call, *more) == 0, shell.err
        pages.append((census / "r.html").read_text(encoding="utf-8"))
    assert ["nearest to a class" in page for page in pages] == [True, True, False]
    assert ["k_map_requested" in page for page in pages] == [False, True, True]


@pytest.mark.slow
def test_releases_in_python_and_sql_take_it_with_a_limit_alone(census: Path) -> None:
    sample, population = str(census / "sample.parquet"), str(census / "census.parquet")
    call = {"k": 3, "quasi_identifiers": QUASI, "others": "drop", "population": population}
    with pytest.raises(kanon_sql.OptionError, match=ALONE):
        kanon_sql.anonymize(sample, **call)
    released = kanon_sql.anonymize(sample, k_map=LIMIT, **call)
    con = kanon_sql.register(duckdb.connect())
    text = (
        f"FROM anonymize('{sample}', k := 3, quasi_identifiers := ['age', 'town'], "
        f"others := 'drop', population := '{population}'"
    )
    with pytest.raises(duckdb.Error, match=ALONE):
        con.execute(f"{text})")
    found = con.sql(f"{text}, k_map := {LIMIT})").to_arrow_table()
    assert released.num_rows == found.num_rows == 600
    assert len(set(map(str, found.to_pylist()))) == 1 == len(set(map(str, released.to_pylist())))
