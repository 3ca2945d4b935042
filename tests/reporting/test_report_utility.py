"""The section that says what is still true, in a whole report."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import kanon_sql
from kanon_sql.reporting.facts import ReportFacts
from tests.support.connections import registered
from tests.support.pages import read

pytest.importorskip("jinja2", reason="the extra 'report' isn't installed")
pytest.importorskip("vl_convert", reason="the extra 'report' isn't installed")
pytestmark = pytest.mark.slow

Con = duckdb.DuckDBPyConnection
CALL: dict[str, Any] = {
    "k": 5, "quasi_identifiers": ["age", "zip", "job"], "sensitive": ["ill"], "others": "drop",
}

con = registered("""
    SET enable_progress_bar = false;
    CREATE TABLE people AS
    SELECT i AS id, 18 + i * 7919 % 61 AS age, (47000 + i * 31 % 90)::VARCHAR AS zip,
           ['clerk', 'nurse', 'cook'][1 + (i * i + i // 7) % 3] AS job,
           CASE WHEN (i * 7919 % 61 + i * 37 % 40) % 83 > 50 THEN 'Flu' ELSE 'Cold' END AS ill,
           i % 2 AS part, NULL::INTEGER AS nothing, 7 AS seven
    FROM range(900) AS r(i);
""")


def facts(con: Con, path: Path, table: str = "people", **call: Any) -> ReportFacts:
    return kanon_sql.report(table, path / "report.html", con=con, **call).facts


def measured(con: Con, **call: Any) -> dict[str, tuple[float | None, str | None]]:
    rows = kanon_sql.anonymize_metrics("people", detail=True, con=con, **call).to_pylist()
    return {row["metric"]: (row["value"], row["in_words"]) for row in rows}


def test_the_queries_of_the_user_come_first(con: Con, tmp_path: Path) -> None:
    facts(con, tmp_path, **CALL, queries={"mean age": "SELECT avg(age) AS age FROM {table}"})
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    headings = re.findall(r'<h2 id="([a-z]+)">', text[text.index("</nav>"):])
    assert headings[0] == "queries"
    assert headings.index("utility") < headings.index("columns")


@pytest.mark.parametrize("show_values", [False, True])
def test_its_numbers_are_the_metrics(con: Con, tmp_path: Path, show_values: bool) -> None:
    told = facts(con, tmp_path, **CALL, show_values=show_values).utility
    metrics = measured(con, **CALL)
    assert [each.column for each in told.columns] == ["age", "zip", "job"]
    age, _, job = told.columns
    error, words = metrics["mean_error (age)"]
    assert error is not None and age.sentence == f"age is {words}."
    assert age.mean_error == (error if show_values else float(f"{error:.2e}"))
    changed, words = metrics["changed_cells (job)"]
    assert changed is not None and job.sentence == f"job: {words}." and job.mean_error is None
    if show_values:
        assert job.changed == changed
    else:  # a count of the source is a multiple of k
        assert job.changed == pytest.approx(round(changed * 900 / 5) * 5 / 900, rel=0.01)
    bound = metrics["information_loss_bound"][0]
    assert bound is not None
    assert told.loss_bound == (bound if show_values else float(f"{bound:.2e}"))
    text = " ".join(read(tmp_path / "report.html").text.split())
    assert age.sentence in text and told.loss_words in text


def test_the_variation_is_that_of_the_bars(con: Con, tmp_path: Path) -> None:
    exact = facts(con, tmp_path, **CALL, show_values=True)
    for each, column in zip(exact.distributions, exact.utility.columns, strict=True):
        bars = [*each.bars, each.missing]
        moved = sum(abs(bar.before - bar.after) for bar in bars) / 2 / 900
        assert column.variation == each.variation == pytest.approx(moved)
    closed = facts(con, tmp_path, **CALL)
    for column in closed.utility.columns:
        assert column.variation is not None
        assert column.variation * 900 / 5 == pytest.approx(round(column.variation * 900 / 5))


def test_models_and_classifier_stand_in_the_page(con: Con, tmp_path: Path) -> None:
    told = facts(con, tmp_path, **CALL).utility
    assert told.propensity is not None and told.propensity.rows == 1800
    assert [(model.kind, model.target) for model in told.models] == [
        ("linear regression", "age"), ("logistic regression", "ill = Cold")
    ]
    found = read(tmp_path / "report.html")
    for model in told.models:
        assert not model.refused and model.overlap is not None
        for each in model.coefficients:
            assert any(
                row[0] == each.name and {*row} & {"yes", "no"} for row in found.cells if row
            )
    assert {told.propensity.share, told.propensity.error} <= {value for _, value in found.numbers}


def test_the_user_says_what_models_predict(con: Con, tmp_path: Path) -> None:
    told = facts(con, tmp_path, **CALL, predict=["JOB", "age"]).utility
    assert [model.kind for model in told.models] == ["logistic regression", "linear regression"]
    assert told.models[0].target.startswith("job = ") and told.models[1].target == "age"
    with pytest.raises(kanon_sql.OptionError, match=r"predict names 'il', .* Did you mean 'ill'"):
        facts(con, tmp_path, **CALL, predict=["il"])
    with pytest.raises(kanon_sql.OptionError, match="predict is not a list of columns"):
        facts(con, tmp_path, **CALL, predict="ill")
    hidden = facts(con, tmp_path, **CALL, predict=["age"], representation="suppress").utility
    assert hidden.models[0].refused.startswith("Fewer than half of the rows")


def test_rows_that_are_released_as_they_are_lose_nothing(con: Con, tmp_path: Path) -> None:
    con.execute("CREATE OR REPLACE TABLE fives AS SELECT people.* FROM people, range(5)")
    told = facts(con, tmp_path, "fives", **CALL).utility
    assert {each.sentence for each in told.columns} == {
        "age is exact.", "zip: every row shows its own value.",
        "job: every row shows its own value.",
    }
    assert {each.variation for each in told.columns} == {0.0} and told.propensity is not None
    assert told.propensity.ratio == pytest.approx(0.0, abs=1e-9)
    assert all(model.inside == model.overlap == 1.0 for model in told.models)


def test_what_is_not_defined_is_left_out_or_said(con: Con, tmp_path: Path) -> None:
    numbers = facts(con, tmp_path, k=20, quasi_identifiers=["age"], others="drop",
                    method="bin_cover", representation="number").utility
    assert numbers.propensity is None and numbers.models == ()
    assert numbers.columns[0].sentence == "age: all rows show the number of their class."
    odd = facts(con, tmp_path, k=5, quasi_identifiers=["nothing", "seven"], others="drop").utility
    assert odd.models[0].refused == (
        "seven is the same in all rows of the source that show every column."
    )
    con.execute("CREATE OR REPLACE TABLE one AS FROM people LIMIT 1")
    single = facts(con, tmp_path, "one", **{**CALL, "k": 1}).utility
    assert single.propensity is not None and "there are 2" in single.propensity.refused
    assert all(model.refused for model in single.models)
    assert single.loss_words == ""
    nobody = facts(con, tmp_path, **CALL, representation="suppress").utility
    assert nobody.models[0].target == "ill = Cold"
    assert nobody.propensity is not None and nobody.propensity.share is not None


def test_a_hierarchy_is_not_held_against_the_grouping(con: Con, tmp_path: Path) -> None:
    """Associations of the source's own values stand beside those at the released level."""
    con.execute("""
        CREATE OR REPLACE TABLE towns AS SELECT (47000 + i % 30)::VARCHAR AS zip,
               ['Flu', 'Cold'][1 + (i % 30) % 2] AS ill
        FROM range(1800) AS r(i)""")
    call = {"k": 61, "sensitive": ["ill"], "hierarchies": {"zip": "prefix"}, "others": "drop",
            "quasi_identifiers": ["zip"], "method": "full_domain", "show_values": True}
    told = facts(con, tmp_path, "towns", **call)
    (pair,) = (each for each in told.associations if {each.first, each.second} == {"zip", "ill"})
    # the last digit of the code tells who is ill, and no prefix does
    assert pair.own == pytest.approx(1.0, abs=0.01)
    assert pair.before == pytest.approx(pair.after, abs=0.001) and (pair.before or 0.0) < 0.1
    assert "source, own values" in read(tmp_path / "report.html").text
    plain = facts(con, tmp_path, **CALL)
    assert all(each.own is None for each in plain.associations)


def test_a_hierarchy_by_type_is_reported(con: Con, tmp_path: Path) -> None:
    told = facts(con, tmp_path, k=5, quasi_identifiers=["age", "job"], sensitive=["ill"],
                 others="drop", method="full_domain")
    assert [each.column for each in told.distributions] == ["age", "job"]


@pytest.mark.parametrize("more", [{"within": ["part"]}, {"entity": "id"}])
def test_parts_and_persons_have_no_bound(con: Con, tmp_path: Path, more: dict[str, Any]) -> None:
    told = facts(con, tmp_path, **CALL, **more).utility
    assert told.loss_bound is None and told.loss_words == "" and told.loss is not None
    assert "to the minimum" not in read(tmp_path / "report.html").text


def test_the_order_of_the_rows_and_threads_do_not_matter(con: Con, tmp_path: Path) -> None:
    con.execute("CREATE OR REPLACE TABLE turned AS FROM people ORDER BY md5(id::VARCHAR)")
    told = []
    for threads, table in ((1, "people"), (2, "turned")):
        con.execute(f"SET threads = {threads}")
        told.append(facts(con, tmp_path, table, **CALL, show_values=True).utility)
    assert told[0] == told[1]


def test_the_classifier_is_that_of_numpy(con: Con, tmp_path: Path) -> None:
    """One number: its score, its square and a constant, by plain Newton steps on exact rows."""
    call = {"k": 30, "quasi_identifiers": ["age"], "others": "drop"}
    told = facts(con, tmp_path, **call, show_values=True).utility.propensity
    released = kanon_sql.anonymize("people", con=con, **call)["age"].to_numpy()
    source = np.array([age for (age,) in con.execute("SELECT age FROM people").fetchall()])
    x = np.concatenate([source, released])
    x = (x - x.mean()) / x.std()
    matrix, found = np.column_stack([np.ones(1800), x, x**2]), np.zeros(3)
    target = np.repeat([0.0, 1.0], 900)
    for _ in range(50):
        chance = 1 / (1 + np.exp(-matrix @ found))
        weight = chance * (1 - chance)
        found = found + np.linalg.solve(
            matrix.T @ (matrix * weight[:, None]), matrix.T @ (target - chance)
        )
    error = float(np.mean((1 / (1 + np.exp(-matrix @ found)) - 0.5) ** 2))
    assert told is not None and told.coefficients == 3
    assert told.error == pytest.approx(error, rel=0.01, abs=1e-12)
