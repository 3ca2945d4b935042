"""Releases in files: what anonymize promises, whatever the size of the table."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.errors import DataError, OptionError, ReleaseError
from kanon_sql.files import engine, finish, partition
from kanon_sql.files.state import State
from tests.files.lakes import OPTIONS, QUASI, SENSITIVE, bytes_of, make_lake

ROWS = 12_000


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_lake(tmp_path_factory.mktemp("lake"), ROWS)


def asked(sql: str) -> Any:
    with duckdb.connect() as con:
        return con.sql(sql).fetchall()


def smallest(folder: Path) -> int:
    names = ", ".join(QUASI)
    return int(asked(
        f"SELECT min(n) FROM (SELECT count(*) AS n FROM '{folder}/*.parquet' GROUP BY {names})"
    )[0][0])


@pytest.fixture(scope="module")
def several(lake: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("several") / "out"
    return kanon_sql.anonymize_files(lake, folder, block_rows=1500, **OPTIONS)


@pytest.mark.slow
def test_k_holds_over_all_files_and_no_row_is_lost(several: Any) -> None:
    folder = Path(several.path)
    assert isinstance(several, kanon_sql.Release) and repr(several).startswith("Release('")
    assert several.metrics["blocks"] >= 4
    assert several.rows == ROWS == asked(f"SELECT count(*) FROM '{folder}/*.parquet'")[0][0]
    assert smallest(folder) == several.metrics["k"] >= 5
    found = json.loads((folder / "_metrics.json").read_text(encoding="utf-8"))
    assert found == several.metrics
    classes = ", ".join(QUASI)
    assert several.metrics["classes"] == len(
        asked(f"SELECT DISTINCT {classes} FROM '{folder}/*.parquet'")
    )


def test_what_passes_is_what_came_in(several: Any, lake: str) -> None:
    names = ", ".join(SENSITIVE)
    counted = "SELECT {0}, count(*) FROM '{1}' GROUP BY ALL ORDER BY ALL"
    released = asked(counted.format(names, f"{several.path}/*.parquet"))
    assert released == asked(counted.format(names, lake))


@pytest.mark.slow
def test_one_block_is_what_anonymize_releases(lake: str, tmp_path: Path) -> None:
    named = {**OPTIONS, "method": "mdav_star"}  # a search goes on from the last bits of scales
    whole = kanon_sql.anonymize_files(lake, tmp_path / "out", **named)
    assert whole.metrics["blocks"] == 1
    options = {**named, "progress": False}
    plain = kanon_sql.anonymize(lake, **options)
    with duckdb.connect() as con:
        con.register("plain", plain)
        order = "SELECT * FROM {} ORDER BY ALL"
        files = con.sql(order.format(f"'{whole.path}/*.parquet'")).fetchall()
        assert files == con.sql(order.format("plain")).fetchall()
    metrics = kanon_sql.anonymize_metrics(lake, detail=True, **options)
    told = dict(zip(metrics["metric"].to_pylist(), metrics["value"].to_pylist(), strict=True))
    for name in ("information_loss", "sse", "classes", "k", "rows_released"):
        assert whole.metrics[name] == pytest.approx(told[name], rel=1e-9), name


@pytest.mark.slow
def test_loss_of_blocks_is_near_that_of_one(lake: str, tmp_path: Path) -> None:
    metrics = kanon_sql.anonymize_metrics(lake, detail=True, **OPTIONS)
    told = dict(zip(metrics["metric"].to_pylist(), metrics["value"].to_pylist(), strict=True))
    two = kanon_sql.anonymize_files(lake, tmp_path / "out", block_rows=6000, **OPTIONS)
    # with 2,400 classes in five columns, one of eight lies at the cut
    assert two.metrics["blocks"] == 2
    assert two.metrics["information_loss"] < 1.2 * told["information_loss"]


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_neither_threads_nor_the_order_of_the_rows_change_a_byte(
    several: Any, threads: int, tmp_path: Path
) -> None:
    lake = make_lake(tmp_path / "lake", ROWS, order=f"hash(i + {threads})")
    again = kanon_sql.anonymize_files(
        lake, tmp_path / "out", block_rows=1500, threads=threads, **OPTIONS
    )
    assert bytes_of(Path(again.path)) == bytes_of(Path(several.path))


def test_rows_stand_by_what_is_released_of_them(several: Any) -> None:
    names = ", ".join(QUASI)
    hashes = [h for (h,) in asked(
        f"SELECT hash(row(0, {names})) FROM read_parquet('{several.path}/*.parquet', "
        "file_row_number = true) ORDER BY filename, file_row_number"
    )]
    assert hashes == sorted(hashes)


@pytest.mark.slow
@pytest.mark.parametrize("options", [
    {"method": "k_member"}, {"method": "forest"}, {"method": "r_gather"},
    {"nulls": "suppress"}, {"suppress": 0.05}, {"effort": "balanced"}, {"distance": "loss"},
    {"l": 3, "sensitive": ["occupation", "note"]}, {"representation": "interval"},
    {"hierarchies": {"education": "prefix", "born": "date"}}, {"column_weights": {"age": 3.0}},
    {"categorical": ["hours"]}, {"sensitive": ["occupation"], "others": "drop"},
    {"sensitive": ["occupation"], "others": "release"},
], ids=lambda options: " ".join(options))
def test_every_kind_of_option_holds(
    options: dict[str, Any], lake: str, tmp_path: Path
) -> None:
    small = make_lake(tmp_path / "lake", 3000)
    given = {**OPTIONS, **options}
    if "l" in options:
        given["l"] = {"occupation": 3}
    found = kanon_sql.anonymize_files(small, tmp_path / "out", block_rows=700, **given)
    folder = Path(found.path)
    assert found.metrics["blocks"] > 1 and smallest(folder) >= 5
    held = asked(f"SELECT count(*) FROM '{folder}/*.parquet'")[0][0]
    assert held == found.rows and held + found.metrics["rows_suppressed"] == 3000
    if "suppress" in options:
        assert 0 < found.metrics["rows_suppressed"] <= 150
    if "l" in options:
        names = ", ".join(QUASI)
        least = asked(
            f"SELECT min(n) FROM (SELECT count(DISTINCT occupation) AS n FROM "
            f"'{folder}/*.parquet' GROUP BY {names})"
        )
        assert least[0][0] >= 3


@pytest.mark.slow
def test_numbers_that_all_rows_share_are_no_blocks(tmp_path: Path) -> None:
    """Nine rows of ten are equal in all columns."""
    with duckdb.connect() as con:
        con.execute(
            "COPY (SELECT CASE WHEN i % 10 > 0 THEN 7 ELSE i END AS a, "
            "CASE WHEN i % 10 > 0 THEN 'x' ELSE 'y' || i % 5 END AS b FROM range(6000) AS t(i)) "
            f"TO '{tmp_path}/t.parquet'"
        )
    found = kanon_sql.anonymize_files(
        tmp_path / "t.parquet", tmp_path / "out", k=3, block_rows=500, progress=False,
        quasi_identifiers=["a", "b"],
    )
    names = f"SELECT count(*) AS n FROM '{found.path}/*.parquet' GROUP BY a, b"
    assert asked(f"SELECT min(n), max(n) >= 5000, sum(n) FROM ({names})") == [(3, True, 6000)]


@pytest.mark.sample(3)
@pytest.mark.parametrize(("options", "said"), [
    ({"quasi_identifiers": None}, "Name the columns to generalize"),
    ({"sensitive": ["occupation"]}, "1 column has no role: 'note'"),
    ({"method": "full_domain"}, "The method 'full_domain' looks at all rows"),
    ({"t": 0.2, "suppress": 0.1, "sensitive": ["occupation"], "others": "drop"},
     "The privacy model 't' with suppress looks"),
    ({"method": "mondrian"}, "The method 'mondrian' looks at all rows"),
    ({"class_id": True, "keep_order": True}, "The option 'class_id' with keep_order looks"),
    ({"k": None}, "k is not given"), ({"methud": "x"}, "method"),
    ({"memory": "lots"}, "memory is 'lots'"), ({"threads": 0}, "threads is 0"),
])
def test_what_blocks_cannot_keep_is_refused(
    options: dict[str, Any], said: str, lake: str, tmp_path: Path
) -> None:
    given = {n: v for n, v in {**OPTIONS, **options}.items() if v is not None}
    with pytest.raises(OptionError, match=said):
        kanon_sql.anonymize_files(lake, tmp_path / "out", **given)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_folder_is_there_whole_or_not_at_all(
    lake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    kanon_sql.anonymize_files(lake, out, **{**OPTIONS, "k": 7})
    before = bytes_of(out)
    with pytest.raises(OptionError, match=r"is not empty\. Name another, or say overwrite=True"):
        kanon_sql.anonymize_files(lake, out, **OPTIONS)
    write, broken = engine.Files.write, finish.Output(1, 1, 1)
    monkeypatch.setattr(engine.Files, "write", lambda *given: (write(*given), broken)[1])
    with pytest.raises(ReleaseError, match="and 1 are in the output"):
        kanon_sql.anonymize_files(lake, out, overwrite=True, **OPTIONS)
    assert bytes_of(out) == before
    monkeypatch.undo()
    # resumed, the files that were never written are missed
    kanon_sql.anonymize_files(lake, out, overwrite=True, resume=False, **OPTIONS)
    assert bytes_of(out) != before and not list(tmp_path.glob("out.*"))


def test_a_folder_with_other_things_is_never_replaced(lake: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for name in ("thesis.docx", "photos/part-00000.parquet", "patients.parquet"):
        shutil.rmtree(out, ignore_errors=True)
        (out / name).parent.mkdir(parents=True)
        (out / name).write_bytes(b"mine")
        with pytest.raises(OptionError, match="holds other things than a release"):
            kanon_sql.anonymize_files(lake, out, overwrite=True, **OPTIONS)
        assert (out / name).read_bytes() == b"mine" and not list(tmp_path.glob("out.*"))


@pytest.mark.slow
def test_a_release_with_too_many_classes_is_stopped_by_what_is_read_from_the_files(
    lake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {**OPTIONS, "max_average_risk": 0.1}
    found = kanon_sql.anonymize_files(lake, tmp_path / "out", **given)
    assert found.metrics["average_risk_requested"] == 0.1
    assert 10 * found.metrics["classes"] <= found.metrics["rows_released"]
    rows, write = found.metrics["rows_released"], engine.Files.write
    monkeypatch.setattr(
        engine.Files, "write",
        lambda *given: write(*given)._replace(classes=rows // 10 + 1, least=OPTIONS["k"]),
    )
    with pytest.raises(ReleaseError, match=r"rows don't keep max_average_risk = 0\.1"):
        kanon_sql.anonymize_files(lake, tmp_path / "more", **given)
    assert not (tmp_path / "more").exists()


@pytest.mark.slow
def test_a_release_below_k_is_stopped_by_what_is_read_from_the_files(
    lake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the query had let it pass: its check, and the method, are told another k."""
    real = engine.release_block

    def careless(con: Any, request: Any, call: Any, *rest: Any) -> Any:
        from dataclasses import replace

        return real(con, request, replace(call, task=replace(call.task, k=2)), *rest)

    monkeypatch.setattr(engine, "release_block", careless)
    with pytest.raises(ReleaseError, match=r"has [2-4] rows, fewer than k = 5"):
        kanon_sql.anonymize_files(lake, tmp_path / "out", **OPTIONS)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_lost_row_is_missed(
    lake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = partition.read_of
    monkeypatch.setattr("kanon_sql.files.piece.read_of", lambda folders: real(folders).__class__(
        f"(FROM {real(folders).sql} OFFSET 1)", (folders[0],)
    ))
    with pytest.raises(ReleaseError, match="a block has"):
        kanon_sql.anonymize_files(lake, tmp_path / "out", block_rows=1500, **OPTIONS)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_corrupt_file_and_a_changed_one_are_one_sentence(
    lake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = make_lake(tmp_path / "lake", 3000)
    whole = (tmp_path / "lake" / "part-1.parquet").read_bytes()
    (tmp_path / "lake" / "part-1.parquet").write_bytes(whole[:300] + b"\0" * 200 + whole[500:])
    with pytest.raises((DataError, OptionError)) as refused:
        kanon_sql.anonymize_files(own, tmp_path / "out", **OPTIONS)
    assert "\n" not in str(refused.value) and not (tmp_path / "out").exists()
    (tmp_path / "lake" / "part-1.parquet").write_bytes(whole)
    real = State.done

    def touching(self: State, step: str, found: Any, *made: Any) -> Any:
        if step == "file 0":
            (tmp_path / "lake" / "part-1.parquet").write_bytes(whole)
        return real(self, step, found, *made)

    monkeypatch.setattr(State, "done", touching)
    with pytest.raises(DataError, match="changed while they were read"):
        kanon_sql.anonymize_files(own, tmp_path / "out", resume=False, **OPTIONS)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.parametrize("column", ["'p' || i", "i", "'p' || i // 2"])
def test_an_identifier_that_nobody_named_does_not_come_out(column: str, tmp_path: Path) -> None:
    with duckdb.connect() as con:
        con.execute(
            f"COPY (SELECT {column} AS code, i % 90 AS age, 'x' || i // 2 AS person, "
            f"i % 7 AS value FROM range(2000) AS t(i)) TO '{tmp_path}/t.parquet'"
        )
    given = {"k": 3, "quasi_identifiers": ["age"], "others": "release", "progress": False}
    entity = {"entity": "person"} if "//" in column else {"identifiers": ["person"]}
    with pytest.raises(DataError, match="'code', which has no role, looks like an identifier"):
        kanon_sql.anonymize_files(tmp_path / "t.parquet", tmp_path / "out", **given, **entity)
    kanon_sql.anonymize_files(
        tmp_path / "t.parquet", tmp_path / "out", **given, **entity, sensitive=["code"]
    )
