"""What lies in a Parquet file beside its rows, by every door: nothing of the source.

The source is a lake with planted values wherever one can be: in rows, in dropped columns, in names
of folders and files, in the metadata that pandas, Arrow, polars and GeoParquet write, in lists of
categories. Of each file that comes out, all bytes are unpacked and searched.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kanon_sql
from tests.support.parquet_bytes import inside
from tests.support.planted import (
    BY_WRITER,
    DOORS,
    ROWS,
    WRITERS,
    make_lake,
    planted,
)


@pytest.fixture
def lake(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[duckdb.DuckDBPyConnection]:
    """The lake of a writer in the working folder, a folder for what comes out, and a connection."""
    monkeypatch.chdir(tmp_path)
    make_lake(request.param)
    Path("out").mkdir()
    with duckdb.connect() as con:
        yield kanon_sql.register(con)


def written() -> list[Path]:
    """The Parquet files that came out."""
    found = sorted(Path("out").rglob("*.parquet"))
    assert found
    return found


@pytest.mark.slow
@pytest.mark.parametrize("lake", WRITERS, indirect=True)
@pytest.mark.parametrize("door", DOORS)
def test_no_byte_of_a_file_is_of_the_source_but_what_is_released(
    door: str, lake: duckdb.DuckDBPyConnection
) -> None:
    DOORS[door](lake)
    files = [path for path in Path("out").rglob("*") if path.is_file()]
    made = written()
    released = pa.concat_tables(pq.ParquetFile(path).read() for path in made)
    shown = {str(value) for column in released.columns for value in column.to_pylist()}
    texts, numbers = planted(lake)
    seen = b"\n".join(inside(path).all for path in made)
    told = " ".join(str(path) for path in Path("out").rglob("*")) + "".join(
        path.read_text() for path in files if path not in made
    )
    # what is found where it is released is not overlooked where it isn't
    towns = {text for text in texts if text in shown}
    assert towns and all(town.encode() in seen for town in towns)
    hidden = texts - shown
    assert len(hidden) > ROWS
    assert sorted(text for text in hidden if text.encode() in seen or text in told) == []
    values = set(released["income"].to_pylist())
    means = [struct.pack("<d", value) for value in values]
    assert any(mean in seen for mean in means)
    alone = numbers - values
    assert len(alone) > ROWS / 2
    assert [value for value in alone if struct.pack("<d", value) in seen] == []
    assert [value for value in alone if str(value) in told or str(value).encode() in seen] == []


@pytest.mark.parametrize("lake", WRITERS, indirect=True)
def test_the_search_finds_what_each_writer_put_beside_the_rows(
    lake: duckdb.DuckDBPyConnection, request: pytest.FixtureRequest
) -> None:
    writer = request.node.callspec.params["lake"]
    seen = b"\n".join(inside(path).all for path in Path("lake").rglob("*.parquet"))
    assert [text for text in BY_WRITER[writer] if text.encode() not in seen] == []


# --- what there is beside rows ------------------------------------------------------------------

DUCKDB = [name for name in DOORS if name not in ("pandas", "Arrow", "polars")]
"""Doors whose files DuckDB writes."""

KEYS: dict[str, set[bytes]] = {
    "release": {b"kanon"}, "kanon release": {b"kanon"}, "pandas": {b"pandas", b"ARROW:schema"},
    "Arrow": {b"ARROW:schema"}, "polars": {b"ARROW:schema"},
}
"""The keys that stand in footers; none by all other doors."""


@pytest.mark.slow
@pytest.mark.parametrize("lake", ["pyarrow"], indirect=True)
@pytest.mark.parametrize("door", DOORS)
def test_a_footer_has_no_key_but_ours_and_those_of_the_writer(
    door: str, lake: duckdb.DuckDBPyConnection
) -> None:
    DOORS[door](lake)
    for path in written():
        metadata = pq.read_metadata(path)
        assert set(metadata.metadata or {}) == KEYS.get(door, set())
        assert "PLANT" not in metadata.created_by
        for field in pq.read_schema(path):
            # what a field says of itself is its number in the file, at most
            assert set(field.metadata or {}) <= {b"PARQUET:field_id"}
            assert (field.metadata or {}).get(b"PARQUET:field_id") != b"7"


@pytest.mark.slow
@pytest.mark.parametrize("lake", ["duckdb"], indirect=True)
@pytest.mark.parametrize("door", DUCKDB)
def test_every_byte_is_of_a_page_a_bloom_filter_or_the_footer(
    door: str, lake: duckdb.DuckDBPyConnection
) -> None:
    """So there is no page index, and no gap in which anything could lie."""
    DOORS[door](lake)
    for path in written():
        metadata = pq.read_metadata(path)
        columns = [
            metadata.row_group(group).column(number)
            for group in range(metadata.num_row_groups) for number in range(metadata.num_columns)
        ]
        assert not any(c.has_column_index or c.has_offset_index for c in columns)
        ((blooms,),) = lake.execute(
            "SELECT coalesce(sum(bloom_filter_length), 0)::BIGINT FROM parquet_metadata(?)",
            [str(path)],
        ).fetchall()
        found, magic = inside(path), 4
        # the search puts a line break between parts
        assert len(found.rest) - len(columns) == magic + blooms + found.footer


@pytest.mark.slow
@pytest.mark.parametrize("lake", ["duckdb"], indirect=True)
@pytest.mark.parametrize("door", DOORS)
def test_statistics_are_of_the_rows_of_their_group(
    door: str, lake: duckdb.DuckDBPyConnection
) -> None:
    DOORS[door](lake)
    told = 0
    for path in written():
        file = pq.ParquetFile(path)
        for group in range(file.metadata.num_row_groups):
            rows = file.read_row_group(group)
            for number, name in enumerate(rows.column_names):
                found = file.metadata.row_group(group).column(number).statistics
                if found is None:
                    continue
                values = [value for value in rows[name].to_pylist() if value is not None]
                told += bool(found.has_min_max)
                if found.has_min_max:
                    assert (found.min, found.max) == (min(values), max(values))
                if found.has_null_count:
                    assert found.null_count == rows.num_rows - len(values)
                if found.has_distinct_count:
                    assert found.distinct_count == len(set(values))
    assert told


@pytest.mark.slow
@pytest.mark.parametrize("lake", ["duckdb"], indirect=True)
@pytest.mark.parametrize("door", DUCKDB)
def test_a_bloom_filter_knows_what_is_released_and_nothing_else(
    door: str, lake: duckdb.DuckDBPyConnection
) -> None:
    DOORS[door](lake)
    texts, _ = planted(lake)
    filtered = 0
    for path in written():
        named = [name for (name,) in lake.execute(
            "SELECT path_in_schema FROM parquet_metadata(?) WHERE bloom_filter_offset IS NOT NULL "
            "AND type = 'BYTE_ARRAY'", [str(path)]
        ).fetchall()]
        for name in set(named):
            filtered += 1
            shown = set(pq.ParquetFile(path).read([name])[name].to_pylist()) - {None}
            hidden = sorted(texts - shown)
            assert all(_may_hold(lake, path, name, value) for value in sorted(shown)[:20])
            met = sum(_may_hold(lake, path, name, value) for value in hidden[::4])
            # DuckDB makes filters that are wrong of 1 % of what isn't there
            assert met <= 0.04 * len(hidden[::4])
    assert filtered


def _may_hold(con: duckdb.DuckDBPyConnection, path: Path, column: str, value: str) -> bool:
    found = con.execute(
        "SELECT bool_and(bloom_filter_excludes) FROM parquet_bloom_probe(?, ?, ?)",
        [str(path), column, value],
    ).fetchall()
    return found == [(False,)]


@pytest.mark.slow
@pytest.mark.parametrize("lake", ["duckdb"], indirect=True)
@pytest.mark.parametrize("door", DUCKDB)
def test_another_order_of_the_source_gives_the_same_bytes(
    door: str, lake: duckdb.DuckDBPyConnection
) -> None:
    lake.execute("SET threads = 1")
    DOORS[door](lake)
    before = {path: path.read_bytes() for path in written()}
    for path in Path("lake").rglob("*.parquet"):
        pq.write_table(pq.ParquetFile(path).read()[::-1], path)
    for path in sorted(Path("out").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    DOORS[door](lake)
    assert {path: path.read_bytes() for path in written()} == before


# --- lists of values inside of types ------------------------------------------------------------

NESTED = {
    "list": "[{}]", "lists": "[[{}]]", "struct": "{{'x': {}}}", "map": "MAP {{'x': {}}}",
    "map of keys": "MAP {{{}: 1}}", "structs": "[{{'x': {}}}]",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", NESTED)
def test_an_enum_inside_of_a_type_is_a_text(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    value = "(['aa', 'bb'])[1 + i % 2]::ENUM('aa', 'bb', 'It''s, a PLANT')"
    with kanon_sql.register(duckdb.connect()) as con:
        con.execute(
            f"CREATE TABLE t AS SELECT 20 + i % 10 AS age, {NESTED[kind].format(value)} AS x "
            "FROM range(100) AS r(i)"
        )
        assert "PLANT" in str(con.table("t").types[1])
        kanon_sql.release(con, "t", to="released.parquet", k=5, sensitive=["x"])
        found = kanon_sql.anonymize("t", con=con, k=5, sensitive=["x"])
        pq.write_table(found, "found.parquet")
        values = con.execute("SELECT x::VARCHAR FROM 't' ORDER BY ALL").fetchall()
        for path in ("released.parquet", "found.parquet"):
            assert b"PLANT" not in inside(path).all
            read = con.execute(f"SELECT x::VARCHAR FROM '{path}' ORDER BY ALL").fetchall()
            assert read == values
