"""The first screen of the report: who decided each role, and attacks with their control."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import kanon_sql
from tests.support.pages import read
from tests.support.shell import Shell

pytest.importorskip("jinja2", reason="the extra 'report' isn't installed")
pytest.importorskip("vl_convert", reason="the extra 'report' isn't installed")

Con = duckdb.DuckDBPyConnection
CALL: dict[str, Any] = {"k": 5, "sensitive": ["disease"], "identifiers": ["name"]}


@pytest.mark.slow
def test_the_first_screen_says_who_decided_each_role(con: Con, tmp_path: Path) -> None:
    for column in ("age", "job", "zip"):
        con.execute(f"COMMENT ON COLUMN patients.{column} IS 'kanon: quasi_identifier'")
    try:
        found = read(kanon_sql.report("patients", to=tmp_path / "r.html", con=con, **CALL).path)
        assert ["disease", "sensitive", "unchanged", "the call"] in found.cells
        assert ["zip", "quasi-identifier", "generalized", "a comment on the column"] in found.cells
        assert ["name", "identifier", "left out", "the call"] in found.cells
    finally:
        for column in ("age", "job", "zip"):
            con.execute(f"COMMENT ON COLUMN patients.{column} IS NULL")


CONFIG = """
[tables.patients]
input = "patients.parquet"
output = "released.parquet"
roles = {roles}

[tables.patients.options]
k = 5
others = "drop"
hierarchies = {{ zip = "zips.csv" }}
"""


@pytest.mark.slow
@pytest.mark.parametrize("roles", [
    '{ age = "quasi_identifier", zip = "quasi_identifier", disease = "sensitive" }',
    '{ age = "quasi_identifier", zip = "quasi_identifier", job = "other" }',
])
def test_roles_of_a_file_are_decided_by_it(con: Con, shell: Shell, roles: str) -> None:
    Path("jobs").mkdir()
    con.execute("COPY patients TO 'jobs/patients.parquet'")
    con.execute("COPY (SELECT DISTINCT zip AS level0, '*' AS level1 FROM patients) "
                "TO 'jobs/zips.csv'")
    Path("jobs/kanon.toml").write_text(CONFIG.format(roles=roles))
    for source in ((), ("jobs/released.parquet",), ("jobs/patients.parquet",)):
        assert shell("report", *source, "--config", "jobs/kanon.toml", "-o", "r.html") == 0
        found = read(Path("r.html"))
        assert ["zip", "quasi-identifier", "generalized", "kanon.toml"] in found.cells
        assert "the call" not in {cells[-1] for cells in found.cells}
    assert shell("report", "--config", "jobs/kanon.toml", "-o", "r.html", "-k", "4") == 2
    assert shell.err.startswith("kanon: --config names a file that has all options")
    Path("jobs/kanon.toml").write_text(CONFIG.format(roles=roles).replace("k = 5", "k = 100"))
    assert shell("report", "--config", "jobs/kanon.toml", "-o", "r.html") in (3, 4)
    assert "kanon.toml, line " in shell.err


@pytest.mark.slow
def test_attacks_are_told_with_their_control(con: Con, tmp_path: Path) -> None:
    con.execute("CREATE TABLE many AS SELECT * REPLACE ((age + n) % 90 AS age) "
                "FROM patients, range(5) AS five(n)")
    made = kanon_sql.report("many", to=tmp_path / "r.html", con=con, evidence=True, **CALL)
    found, evidence = read(made.path), made.facts.evidence
    assert evidence is not None and evidence.of_trial
    for attack in evidence.attacks:
        for each in attack.variants:
            assert any(
                cells[0] == each.label and cells[1] == f"{each.attacks:,}" for cells in found.cells
            ), each.label
        if attack.verdict == "red":
            assert "percentage points" in found.text[:found.text.index("Before you sign")]
    again = kanon_sql.report("many", to=tmp_path / "r.html", con=con, evidence=evidence, **CALL)
    assert again.facts.evidence == evidence
    with pytest.raises(kanon_sql.OptionError, match="evidence is a str"):
        kanon_sql.report("many", to=tmp_path / "r.html", con=con, evidence="yes", **CALL)


@pytest.mark.slow
def test_an_attack_above_the_limit_is_the_headline(tmp_path: Path) -> None:
    rows = pa.table({"age": [i % 60 for i in range(900)], "score": range(900)})
    made = kanon_sql.report(
        rows, to=tmp_path / "r.html", k=2, quasi_identifiers=["age"], sensitive=["score"],
        evidence=True,
    )
    assert made.facts.evidence is not None and made.facts.evidence.verdict == "red"
    found = read(made.path).text
    assert "people in the release than outside" in found[:found.index("rows are released")] or (
        "unique in the unchanged columns" in found[:found.index("rows are released")]
    )


def test_a_misspelt_argument_has_the_nearest_one(con: Con, tmp_path: Path) -> None:
    with pytest.raises(kanon_sql.OptionError, match=r"no argument 'titel'.*'title'"):
        kanon_sql.report("patients", to=tmp_path / "r.html", con=con, titel="x", **CALL)
    assert not list(tmp_path.iterdir())
