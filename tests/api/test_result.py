"""kanon_sql.Release: one object for a release in memory and in a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import kanon_sql
from kanon_sql.api import display
from tests.support.manifests import plain_digest

Connection = duckdb.DuckDBPyConnection
CALL: dict[str, Any] = {"k": 4, "identifiers": ["name"], "sensitive": ["disease"]}
TELLING = ("rows_released", "k", "classes", "information_loss", "ncp_grouping (age)")


@pytest.fixture
def people(con: Connection) -> pl.DataFrame:
    return con.sql("FROM patients").pl()


def numbers(metrics: pl.DataFrame) -> dict[str, float]:
    return {
        name: value for name, value in metrics.select("metric", "value").iter_rows()
        if name in TELLING
    }


@pytest.mark.slow
def test_each_part_is_what_its_call_gives(people: pl.DataFrame) -> None:
    made = kanon_sql.release(people, **CALL)
    assert made.path is None and made.private is None
    assert made.rows == len(made.data) == 60
    assert_frame_equal(made.data, kanon_sql.anonymize(people, **CALL))
    assert_frame_equal(made.clusters, kanon_sql.anonymize_clusters(people, **CALL))
    assert_frame_equal(made.roles, kanon_sql.anonymize_roles(people, **CALL))
    told = kanon_sql.anonymize_metrics(people, detail=True, **CALL)
    assert made.metrics_frame.columns == told.columns
    assert numbers(made.metrics_frame) == numbers(told) and len(numbers(told)) == len(TELLING)
    assert isinstance(made, kanon_sql.Release) and made.metrics["k"] == 4
    assert {name: made.metrics[name] for name in TELLING} == numbers(told)
    assert made.sql == kanon_sql.anonymize_sql(people, **CALL)["sql"][0]
    assert made.manifest["metrics"]["k"] == 4
    assert repr(made) == "Release(60 rows in memory)"


@pytest.mark.slow
def test_all_parts_are_of_one_grouping(people: pl.DataFrame) -> None:
    made = kanon_sql.release(people, **CALL)
    labels = made.metrics_frame.filter(pl.col("metric") == "grouping_cache")["text"].to_list()
    assert labels == ["hit"]
    assert made.metrics_frame is made.metrics_frame


FORMS: dict[str, tuple[Callable[[pl.DataFrame], Any], type]] = {
    "polars": (lambda frame: frame, pl.DataFrame),
    "lazy": (lambda frame: frame.lazy(), pl.LazyFrame),
    "pandas": (lambda frame: frame.to_pandas(), pd.DataFrame),
    "arrow": (lambda frame: frame.to_arrow(), pa.Table),
    "reader": (lambda frame: frame.to_arrow().to_reader(), pa.Table),
    "columns": (lambda frame: frame.to_dict(), pa.Table),
}


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("to", [None, "out.parquet"])
def test_frames_of_every_part_are_of_the_kind_that_came_in(
    people: pl.DataFrame, form: str, to: str | None, tmp_path: Path
) -> None:
    make, kind = FORMS[form]
    made = kanon_sql.release(make(people), to=to and tmp_path / to, **CALL)
    assert made.rows == 60
    frames = (made.data, made.metrics_frame, made.clusters, made.roles)
    assert {type(frame) for frame in frames} == {kind}


@pytest.mark.slow
def test_relations_of_duckdb_and_tables_of_con(con: Connection) -> None:
    made = kanon_sql.release(con.sql("FROM patients"), **CALL)
    assert isinstance(made.data, duckdb.DuckDBPyRelation)
    named = kanon_sql.release("patients", con=con, **CALL)
    assert isinstance(named.data, pa.Table) and isinstance(named.metrics_frame, pa.Table)
    assert sorted(map(repr, made.data.fetchall())) == sorted(
        repr(tuple(row.values())) for row in named.data.to_pylist()
    )


@pytest.mark.slow
def test_ibis_comes_back_as_ibis(people: pl.DataFrame) -> None:
    ibis = pytest.importorskip("ibis")
    table = ibis.memtable(people.to_arrow())
    made = kanon_sql.release(table, **CALL)
    assert isinstance(made.data, type(table)) and made.rows == 60
    kept = made.data.filter(made.data.age > 30).count().execute()
    assert kept == kanon_sql.anonymize(people, **CALL).filter(pl.col("age") > 30).height
    mixed = ibis.memtable(people.to_arrow())
    with pytest.raises(kanon_sql.OptionError, match="Did you mean 'age'"):
        kanon_sql.anonymize(mixed, k=3, sensitive=["agee"])


@pytest.mark.slow
def test_the_connection_may_come_first_and_only_once(con: Connection, tmp_path: Path) -> None:
    old = kanon_sql.release(con, "patients", to=tmp_path / "a.parquet", **CALL)
    new = kanon_sql.release("patients", con=con, to=tmp_path / "b.parquet", **CALL)
    assert isinstance(old, kanon_sql.Release)
    assert old.manifest == new.manifest
    assert kanon_sql.release(None, con.sql("FROM patients").pl(), **CALL).rows == 60
    for first, given in (("patients", None), (con, con)):
        with pytest.raises(kanon_sql.OptionError, match="release takes one relation"):
            kanon_sql.release(first, "patients", con=given, **CALL)
    with pytest.raises(kanon_sql.OptionError, match="is not a table"):
        kanon_sql.release(con, **CALL)


@pytest.mark.slow
def test_a_release_in_memory_can_be_written(people: pl.DataFrame, tmp_path: Path) -> None:
    made = kanon_sql.release(people, **CALL)
    written = made.write(tmp_path / "out.parquet", private=tmp_path / "mine.json")
    assert written.path == str((tmp_path / "out.parquet").resolve())
    assert_frame_equal(written.data, made.data)
    assert written.manifest == made.manifest
    assert written.private == json.loads((tmp_path / "mine.json").read_text(encoding="utf-8"))
    found = kanon_sql.verify(written.path, source=people, private=tmp_path / "mine.json")
    assert found.ok, found.sentence


@pytest.mark.slow
def test_a_drawn_seed_is_that_of_all_parts(people: pl.DataFrame) -> None:
    made = kanon_sql.release(people, **CALL, l=2)
    seed = made.metrics_frame.filter(pl.col("metric") == "seed")["text"].to_list()
    assert seed == [None]  # it stays secret
    assert_frame_equal(made.data, kanon_sql.anonymize(people, **CALL, l=2))


@pytest.mark.slow
def test_a_search_that_time_ended_is_gone_on_with_by_its_steps(
    people: pl.DataFrame, tmp_path: Path
) -> None:
    call = {**CALL, "method": "best", "refine_seconds": 0.05}
    for made in (
        kanon_sql.release(people, **call), kanon_sql.release(people, to=tmp_path / "a", **call)
    ):
        rows = numbers(made.metrics_frame)
        assert rows["rows_released"] == 60
        steps = made.metrics_frame.filter(pl.col("metric") == "refine_steps")["value"].item()
        again = kanon_sql.anonymize(people, **CALL, method="best", refine_steps=int(steps))
        assert_frame_equal(made.data, again)


@pytest.mark.slow
def test_what_moved_is_refused(con: Connection, tmp_path: Path) -> None:
    con.execute("CREATE TABLE levels AS SELECT DISTINCT job AS level0, '*' AS level1 FROM patients")
    call = {**CALL, "hierarchies": {"job": "levels"}}
    held = kanon_sql.release("patients", con=con, **call)
    written = kanon_sql.release("patients", con=con, to=tmp_path / "a.parquet", **call)
    assert held.metrics_frame.num_rows > 20  # asked before, it stays
    con.execute("UPDATE levels SET level1 = '*' || '' WHERE false")
    assert held.roles.num_rows == 5
    con.execute("UPDATE patients SET age = age + 1 WHERE name = 'person 3'")
    for made in (held, written):
        with pytest.raises(kanon_sql.DataError, match="has other rows than when it was released"):
            made.clusters  # noqa: B018
        with pytest.raises(kanon_sql.DataError, match="has other rows"):
            made.write(tmp_path / "b.parquet")
        assert made.data.num_rows == 60
    assert held.metrics_frame.num_rows > 20
    assert not (tmp_path / "b.parquet").exists()
    con.execute("UPDATE patients SET age = age - 1 WHERE name = 'person 3'")
    assert held.clusters.num_rows > 5
    con.execute("INSERT INTO levels VALUES ('Retired', '*')")
    with pytest.raises(kanon_sql.DataError, match="or a table that the call names"):
        written.clusters  # noqa: B018


@pytest.mark.slow
def test_another_file_of_the_name_is_not_taken_for_the_release(
    people: pl.DataFrame, tmp_path: Path
) -> None:
    first, second = (
        kanon_sql.release(people, to=tmp_path / "a.parquet", **CALL, seed=seed) for seed in (1, 2)
    )
    assert second.data.height == 60
    with pytest.raises(kanon_sql.ReleaseError, match="holds another release by now"):
        first.data  # noqa: B018
    (tmp_path / "a.parquet").unlink()
    third = kanon_sql.release(people, to=tmp_path / "a.parquet", **CALL)
    (tmp_path / "a.parquet").unlink()
    with pytest.raises(kanon_sql.ReleaseError, match="or none"):
        third.data  # noqa: B018


@pytest.mark.slow
def test_a_ledger_is_entered_once_and_the_parts_are_those_of_then(
    con: Connection, tmp_path: Path
) -> None:
    call: dict[str, Any] = {
        "k": 2, "entity": "name", "sensitive": ["disease"], "ledger": "ledger", "headroom": 1,
        "quasi_identifiers": ["age", "zip", "job"],
    }
    for number in (1, 2):
        made = kanon_sql.release("patients", con=con, to=tmp_path / f"{number}.parquet", **call)
        told = dict(zip(*(made.metrics_frame.column(i).to_pylist() for i in (0, 1)), strict=True))
        assert told["rows_released"] == made.rows
        assert made.manifest["release"]["number"] == number
    assert con.execute("SELECT max(release) FROM ledger").fetchall() == [(2,)]


def test_what_only_a_file_has_a_meaning_for_needs_one(people: pl.DataFrame) -> None:
    with pytest.raises(kanon_sql.OptionError, match="private is given without to"):
        kanon_sql.release(people, private="mine.json", **CALL)
    with pytest.raises(kanon_sql.OptionError, match="ledger is given without to"):
        kanon_sql.release(people, ledger="ledger", **CALL)


@pytest.mark.slow
def test_a_transaction_of_the_caller_is_read_and_left(con: Connection) -> None:
    con.begin()
    con.execute("DELETE FROM patients WHERE age > 60")
    made = kanon_sql.release("patients", con=con, **CALL)
    rows = made.rows
    assert rows < 60 and made.metrics_frame.num_rows > 20
    con.rollback()
    assert made.rows == rows
    with pytest.raises(kanon_sql.DataError, match="has other rows"):
        made.clusters  # noqa: B018


UGLY = '<script>alert("x")</script>&'


@pytest.mark.slow
def test_the_display_is_small_escaped_and_holds_no_value(tmp_path: Path) -> None:
    frame = pl.DataFrame({
        UGLY: [30, 31, 32, 60, 61, 62], "note": ["secret-a", "secret-b"] * 3,
    })
    for to in (None, tmp_path / "<b>.parquet"):
        shown = kanon_sql.release(frame, k=3, sensitive=["note"], to=to)._repr_html_()
        assert "<script" not in shown and "&lt;script&gt;" in shown and "<b>.parquet" not in shown
        assert "secret" not in shown and "61" not in shown
        assert "optimal_1d" in shown and "<td>k</td><td>3</td>" in shown
        assert "<td>quasi_identifier</td><td>BIGINT</td>" in shown
        assert len(shown) < 4000
    wide = pl.DataFrame({f"column {i:03}": [1, 1, 2, 2] for i in range(90)})
    shown = kanon_sql.release(wide, k=2)._repr_html_()
    assert "and 65 columns more" in shown and "column 024" in shown and "column 025" not in shown


@pytest.mark.slow
def test_a_dropped_and_a_withheld_column_are_told(con: Connection) -> None:
    con.execute("ALTER TABLE patients ADD COLUMN id VARCHAR")
    con.execute("UPDATE patients SET id = 'x' || name")
    made = kanon_sql.release("patients", con=con, **CALL)
    shown = made._repr_html_()
    assert "<td>name</td><td>identifier</td><td><i>left out</i></td>" in shown
    assert "looks like an identifier and has no role" in shown


@pytest.mark.slow
def test_class_sizes_and_losses_are_those_of_the_metrics(people: pl.DataFrame) -> None:
    made = kanon_sql.release(people, **CALL)
    told = numbers(made.metrics_frame)
    assert sum(made.class_sizes.values()) == told["classes"]
    assert sum(size * many for size, many in made.class_sizes.items()) == 60
    assert made.loss_by_column["age"] == told["ncp_grouping (age)"]
    assert set(made.loss_by_column) == {"age", "zip", "job"}
    shown = kanon_sql.release(people, **CALL, representation="interval")
    value = shown.metrics_frame.filter(pl.col("metric") == "ncp (age)")["value"].item()
    assert shown.loss_by_column["age"] == value


@pytest.mark.slow
def test_the_plot_draws_them(people: pl.DataFrame, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    made = kanon_sql.release(people, **CALL)
    drawn = made.plot()
    left, right = drawn.axes
    assert sum(bar.get_height() for bar in left.patches) == sum(made.class_sizes.values())
    widths = {bar.get_width() for bar in right.patches}
    assert widths == set(made.loss_by_column.values())
    drawn.savefig(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 5000


@pytest.mark.parametrize(("sizes", "bars"), [
    ({3: 2}, 1), ({5: 1}, 1), ({5: 4000, 6: 900, 12: 1}, 3),
    (dict.fromkeys(range(5, 80), 100), 40),
])
def test_each_bar_of_the_sizes_stands_in_the_chart(sizes: dict[int, int], bars: int) -> None:
    pytest.importorskip("matplotlib")
    left = display.figure({"age": 0.05}, sizes).axes[0]
    (start, end), (_, top) = left.get_xlim(), left.get_ylim()
    assert len(left.patches) == bars
    for bar in left.patches:
        assert bar.get_width() < (end - start) / 4  # one size alone doesn't fill the chart
        assert start < bar.get_x() and bar.get_x() + bar.get_width() < end
        assert 0 < bar.get_height() < top
    if bars <= 3:
        assert [float(tick) for tick in left.get_xticks()] == sorted(sizes)


@pytest.mark.slow
def test_without_matplotlib_one_sentence_says_so(
    people: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(display, "import_module", missing)
    with pytest.raises(kanon_sql.OptionError, match=r"pip install 'kanon-sql\[plots\]'\.$"):
        kanon_sql.release(people, **CALL).plot()


@pytest.mark.slow
def test_a_written_file_is_the_one_of_before(con: Connection, tmp_path: Path) -> None:
    made = kanon_sql.release("patients", con=con, to=tmp_path / "a.parquet", **CALL)
    path = str(tmp_path / "a.parquet").replace("'", "''")
    assert made.manifest["release"]["rows_sha256"] == plain_digest(con, f"'{path}'")
    assert repr(made) == f"Release({made.path!r}, 60 rows, k = 4)"
