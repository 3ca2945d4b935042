"""What a query can, files can: parts, places, numbers of classes, a method that is chosen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql import DataError, OptionError
from tests.files.lakes import OPTIONS, QUASI, bytes_of, make_lake

ROWS = 6_000


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_lake(tmp_path_factory.mktemp("lake"), ROWS)


def rows_of(text: str) -> list[Any]:
    with duckdb.connect() as con:
        return con.sql(text).fetchall()


def released(lake: str, to: Path, **options: Any) -> tuple[str, dict[str, Any]]:
    """The files of a release as they stand in FROM, and its metrics."""
    found = kanon_sql.anonymize_files(lake, to, **{**OPTIONS, **options})
    return f"'{found.path}/*.parquet'", dict(found.metrics)


def smallest(files: str, *within: str) -> int:
    names = ", ".join((*QUASI, *within))
    counted = f"SELECT count(*) AS n FROM {files} GROUP BY {names}"
    return int(rows_of(f"SELECT min(n) FROM ({counted})")[0][0])


WITHIN: dict[str, Any] = {"sensitive": ["occupation"], "within": ["note"]}
SKEWED: dict[str, Any] = {"sensitive": ["note"], "within": ["occupation"]}
"""Parts of about as many rows each, and of 2 to 900."""


@pytest.mark.slow
@pytest.mark.parametrize("block_rows", [270, 2000, 10_000])
def test_each_part_is_a_release_of_its_own(lake: str, tmp_path: Path, block_rows: int) -> None:
    files, metrics = released(lake, tmp_path / "out", block_rows=block_rows, **WITHIN)
    sizes = rows_of(f"SELECT note, count(*) FROM '{lake}' GROUP BY ALL ORDER BY ALL")
    assert sizes == rows_of(f"SELECT note, count(*) FROM {files} GROUP BY ALL ORDER BY ALL")
    assert smallest(files, "note") == metrics["k"] >= 5
    assert metrics["parts"] == len(sizes)
    assert metrics["part_rows_min"] == min(rows for _, rows in sizes)
    notes = "SELECT occupation, note, count(*) FROM {} GROUP BY ALL ORDER BY ALL"
    assert rows_of(notes.format(f"'{lake}'")) == rows_of(notes.format(files))


@pytest.mark.slow
@pytest.mark.parametrize("small", ["error", "join", "suppress"])
def test_small_parts_of_one_folder_are_what_a_query_makes_of_them(
    lake: str, tmp_path: Path, small: str
) -> None:
    options = {**WITHIN} if small == "error" else {**SKEWED, "small_parts": small, "k": 450}
    files, metrics = released(lake, tmp_path / "out", **options)
    plain = kanon_sql.anonymize(lake, **{**OPTIONS, **options})
    with duckdb.connect() as con:
        con.register("plain", plain)
        ordered = "SELECT * FROM {} ORDER BY ALL"
        assert con.sql(ordered.format(files)).fetchall() == con.sql(
            ordered.format("plain")
        ).fetchall()
    told = kanon_sql.anonymize_metrics(lake, detail=True, **{**OPTIONS, **options})
    known = dict(zip(told["metric"].to_pylist(), told["value"].to_pylist(), strict=True))
    for name in ("parts", "parts_joined", "parts_suppressed", "part_rows_min", "k"):
        assert metrics[name] == known[name], name
    if small != "error":
        assert metrics["parts_joined"] + metrics["parts_suppressed"] > 0


def test_parts_that_are_too_small_are_refused_as_a_query_refuses_them(
    lake: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError) as refused:
        released(lake, tmp_path / "out", **SKEWED)
    with pytest.raises(DataError) as plain:
        kanon_sql.anonymize(lake, **{**OPTIONS, **SKEWED})
    assert str(refused.value) == str(plain.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_rows_of_parts_come_out_in_any_order_of_the_input(lake: str, tmp_path: Path) -> None:
    other = make_lake(tmp_path / "lake", ROWS, order="hash(i)")
    found = [
        released(each, tmp_path / name, block_rows=300, threads=many, **WITHIN)
        for each, name, many in ((lake, "one", 1), (other, "two", 2))
    ]
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "two")
    assert found[0][1]["blocks"] > found[0][1]["parts"]


@pytest.mark.slow
def test_rows_stand_where_they_stood(lake: str, tmp_path: Path) -> None:
    files, metrics = released(lake, tmp_path / "out", block_rows=1500, keep_order=True)
    placed = "SELECT occupation, note FROM read_parquet({}, file_row_number = true)"
    before, after = placed.format(f"'{lake}'"), placed.format(files)
    assert rows_of(before) == rows_of(after)
    plain, others = released(lake, tmp_path / "plain", block_rows=1500)
    assert rows_of(f"FROM {plain} ORDER BY ALL") == rows_of(f"FROM {files} ORDER BY ALL")
    assert {**metrics, "seconds": 0} == {**others, "seconds": 0}


@pytest.mark.slow
def test_places_go_on_from_file_to_file(
    lake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kanon_sql.files.engine.FILE_ROWS", 1000)
    files, metrics = released(
        lake, tmp_path / "out", block_rows=1500, keep_order=True, suppress=0.03
    )
    assert metrics["files"] > 3 and metrics["rows_suppressed"] > 0
    assert smallest(files) == metrics["k"] >= 5
    left = rows_of(f"SELECT note FROM {files}")
    every = iter(rows_of(f"SELECT note FROM '{lake}'"))
    assert all(any(one == other for other in every) for one in left)


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, WITHIN])
def test_classes_are_numbered_over_all_files(
    lake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: dict[str, Any]
) -> None:
    monkeypatch.setattr("kanon_sql.files.engine.FILE_ROWS", 1000)
    files, metrics = released(lake, tmp_path / "out", block_rows=1500, class_id=True, **more)
    assert metrics["files"] > 3
    names = ", ".join((*QUASI, *more.get("within", ())))
    ((least, most, many),) = rows_of(
        f"SELECT min(class_id), max(class_id), count(DISTINCT class_id) FROM {files}"
    )
    assert (least, most, many) == (1, metrics["classes"], metrics["classes"])
    assert rows_of(f"SELECT count(*) FROM (SELECT DISTINCT {names}, class_id FROM {files})") == [
        (many,)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, {"effort": "balanced"}, {"representation": "interval"}])
def test_auto_chooses_as_in_a_query(lake: str, tmp_path: Path, more: dict[str, Any]) -> None:
    _, metrics = released(lake, tmp_path / "out", method="auto", **more)
    told = kanon_sql.anonymize_metrics(lake, detail=True, **{**OPTIONS, "method": "auto", **more})
    texts = dict(zip(told["metric"].to_pylist(), told["text"].to_pylist(), strict=True))
    assert metrics["method"] == texts["method"]
    assert metrics["notices"] == [texts["notice"]]


SHARES = {
    "t of all alike": {"t": {"occupation": 0.35}},
    "t of ranks": {"t": {"hours_of": 0.2}},
    "t of numbers": {"t": {"hours_of": 0.2}, "closeness": {"hours_of": "numeric"}},
    "t of a hierarchy": {"t": {"occupation": 0.3}, "hierarchies": {"occupation": "prefix"}},
    "beta": {"beta": {"occupation": 3.0}},
    "beta basic": {"beta": {"occupation": 3.0}, "beta_kind": "basic"},
    "delta": {"delta": {"flag": 1.0}},
}
"""Models that hold each class against all rows."""

WIDER = """
    SELECT *, CASE WHEN hash(age, hours) % 11 = 0 THEN NULL ELSE (hash(hours) % 40)::INT END
           AS hours_of, hash(age, born) % 5 < 2 AS flag
    FROM {}
"""


@pytest.fixture(scope="module")
def wider(lake: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("wider") / "t.parquet"
    with duckdb.connect() as con:
        con.execute(f"COPY ({WIDER.format(repr(lake))}) TO '{path}'")
    return str(path)


def broken(files: str, model: dict[str, Any], *within: str) -> int:
    """How many classes don't keep a model, as k_anonymity counts them over the whole release."""
    column = next(iter(next(iter(model.values()))))
    names = [*QUASI, *within]
    with duckdb.connect() as con:
        table = con.sql(f"FROM {files}").to_arrow_table()
    found = kanon_sql.k_anonymity(table, quasi_identifiers=names, sensitive=[column], k=5, **model)
    return int(found["classes_violating"][0].as_py())


@pytest.mark.slow
@pytest.mark.parametrize("block_rows", [400, 1500])
@pytest.mark.parametrize("model", SHARES)
def test_a_class_is_held_against_all_rows_and_not_those_of_its_block(
    wider: str, tmp_path: Path, model: str, block_rows: int
) -> None:
    given = {**SHARES[model], "sensitive": ["occupation", "note", "hours_of", "flag"], "seed": 1}
    files, metrics = released(wider, tmp_path / "out", block_rows=block_rows, **given)
    assert metrics["rows_suppressed"] == 0 and smallest(files) >= 5
    if "hierarchies" not in given:  # which k_anonymity doesn't take
        assert broken(files, SHARES[model]) == 0
    released(wider, tmp_path / "again", block_rows=block_rows, threads=1, **given)
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "again")


@pytest.mark.slow
def test_blocks_that_cannot_keep_a_model_join_their_neighbours(
    wider: str, tmp_path: Path
) -> None:
    """The sensitive column follows the ages, so that no block has the values of all rows."""
    steep = tmp_path / "steep.parquet"
    with duckdb.connect() as con:
        con.execute(
            f"COPY (SELECT *, age // 12 AS decade FROM '{wider}' WHERE age > 0) TO '{steep}'"
        )
    given = {"sensitive": ["occupation", "note", "hours_of", "flag", "decade"], "seed": 1}
    _, free = released(str(steep), tmp_path / "free", block_rows=400, **given)
    model = {"t": {"decade": 0.25}}
    files, metrics = released(str(steep), tmp_path / "out", block_rows=1000, **given, **model)
    assert 1 <= metrics["blocks"] < free["blocks"]
    assert broken(files, model) == 0


def test_shares_can_not_be_kept_where_rows_are_left_out(wider: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="'t' with suppress"):
        released(
            wider, tmp_path / "out", suppress=0.1, t={"flag": 0.3}, sensitive=["flag"],
            others="drop",
        )
