"""What lies in a Parquet file beside its rows, by every door that writes one: nothing of the source.

The source is a lake with planted values wherever one can be: in rows, in dropped columns, in names
of folders and files, in the metadata that pandas, Arrow, polars and GeoParquet write, in lists of
categories. Of each file that comes out, all bytes are unpacked and searched.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kanon_sql
from kanon_sql.shell.main import main
from tests.support.parquet_bytes import inside

ROWS = 600
SITES = ("North", "South", "PLANT-RARE-SITE")
QUASI = ["income", "town", "born"]
OPTIONS: dict[str, Any] = {
    "k": 5, "quasi_identifiers": QUASI, "sensitive": ["disease", "stage"], "others": "drop",
    "method": "mdav_plus", "nulls": "suppress",
}
SQL = (
    f"k := 5, quasi_identifiers := {QUASI}, sensitive := ['disease', 'stage'], others := 'drop', "
    "method := 'mdav_plus', nulls := 'suppress'"
)
SHELL = (
    "-k", "5", "-q", ",".join(QUASI), "-s", "disease,stage", "--others", "drop", "-m", "mdav_plus",
    "--nulls", "suppress", "--quiet",
)
PATTERN = "lake/**/*.parquet"

ROW = f"""
    SELECT 'PLANT-PERSON-' || lpad(i::VARCHAR, 5, '0') AS person,
           CASE WHEN i % 40 > 0 THEN 31337.25 + i * 17.7e0 + (i * i % 89) / 7.0 END AS income,
           'PLANT-TOWN-' || lpad((i % 97)::VARCHAR, 3, '0') AS town,
           DATE '1931-01-01' + (i * 41)::INTEGER AS born,
           CASE WHEN i % 40 = 0 THEN 'PLANT-DISEASE-' || lpad(i::VARCHAR, 5, '0')
                ELSE 'flu' || i % 3 END AS disease,
           (['low', 'high'])[1 + i % 2] AS stage,
           'PLANT-NOTE-' || i AS note, i % 3 AS site,
           '\x01\x01\x00\x00\x00PLANT-SHAPE-XXXX'::BLOB AS shape
    FROM range({ROWS}) AS r(i)
"""
"""Towns and incomes of which few are released, and diseases that stand in rows with a NULL, none of
which is."""

METADATA = {
    b"PLANT-KEY": b"PLANT-VALUE",
    b"geo": b'{"version": "1.0.0", "primary_column": "shape", "columns": {"shape": {"encoding": '
    b'"WKB", "geometry_types": ["Point"], "PLANT-GEO": 1}}}',
    b"iceberg.schema": b'{"doc": "PLANT-ICEBERG"}',
}


def _rows(con: duckdb.DuckDBPyConnection, site: int) -> pa.Table:
    return con.sql(f"SELECT * EXCLUDE (site) FROM ({ROW}) WHERE site = {site}").to_arrow_table()


def _by_pyarrow(table: pa.Table, path: str) -> None:
    fields = [field.with_metadata({b"PARQUET:field_id": b"7", b"doc": b"PLANT-FIELD"})
              for field in table.schema]
    stages = pa.DictionaryArray.from_arrays(
        table["stage"].combine_chunks().dictionary_encode().indices,
        pa.array([*table["stage"].combine_chunks().dictionary_encode().dictionary.to_pylist(),
                  "PLANT-CATEGORY"]),
    )
    place = table.schema.get_field_index("stage")
    fields[place] = fields[place].with_type(stages.type)
    columns = [stages if i == place else column for i, column in enumerate(table.columns)]
    schema = pa.schema(fields, metadata=METADATA)
    pq.write_table(pa.Table.from_arrays(columns, schema=schema), path, write_page_index=True)


def _by_pandas(table: pa.Table, path: str) -> None:
    frame = table.to_pandas().set_index(pd.Index([f"PLANT-INDEX-{i}" for i in range(len(table))]))
    frame["stage"] = pd.Categorical(frame["stage"], ["low", "high", "PLANT-CATEGORY"])
    frame.attrs["told"] = "PLANT-ATTRS"
    frame.to_parquet(path)


def _by_polars(table: pa.Table, path: str) -> None:
    frame = pl.DataFrame(pl.from_arrow(table))
    kinds = pl.Enum(["low", "high", "PLANT-CATEGORY"])
    frame.with_columns(pl.col("stage").cast(kinds)).write_parquet(
        path, metadata={"PLANT-POLARS": "PLANT-POLARS-VALUE"}
    )


def _by_duckdb(table: pa.Table, path: str) -> None:
    with duckdb.connect() as con:
        con.register("rows", table)
        con.execute(
            "COPY (SELECT * REPLACE (stage::ENUM('low', 'high', 'PLANT-CATEGORY') AS stage) "
            f"FROM rows) TO '{path}' (FORMAT parquet, KV_METADATA {{mine: 'PLANT-DUCKDB'}})"
        )


WRITERS = {
    "pyarrow": _by_pyarrow, "pandas": _by_pandas, "polars": _by_polars, "duckdb": _by_duckdb,
}


@pytest.fixture(params=WRITERS)
def lake(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A hive-partitioned lake in the working folder, and a connection for it."""
    monkeypatch.chdir(tmp_path)
    with duckdb.connect() as con:
        for number, site in enumerate(SITES):
            folder = Path("lake") / f"site={site}"
            folder.mkdir(parents=True)
            WRITERS[request.param](
                _rows(con, number), str(folder / f"PLANT-FILE-{number}.parquet")
            )
        yield kanon_sql.register(con)


# --- the doors ----------------------------------------------------------------------------------

Door = Callable[[duckdb.DuckDBPyConnection], Any]


def _copy(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(f"COPY (FROM anonymize('{PATTERN}', {SQL})) TO 'out/out.parquet' (FORMAT parquet)")


def _copy_parted(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(
        f"COPY (FROM anonymize('{PATTERN}', {SQL})) TO 'out/parts' "
        "(FORMAT parquet, PARTITION_BY (stage))"
    )


def _shell(*arguments: str) -> Door:
    def run(_: duckdb.DuckDBPyConnection) -> None:
        assert main(arguments) == 0
    return run


def _frame(con: duckdb.DuckDBPyConnection) -> None:
    frame = pd.read_parquet("lake").reset_index(drop=True)
    kanon_sql.anonymize(frame, **OPTIONS).to_parquet("out/out.parquet")


def _arrow(con: duckdb.DuckDBPyConnection) -> None:
    source = pa.concat_tables(
        [pq.read_table(path, partitioning=None).replace_schema_metadata(METADATA)
         for path in Path("lake").rglob("*.parquet")], promote_options="permissive",
    )
    pq.write_table(kanon_sql.anonymize(source, **OPTIONS), "out/out.parquet")


def _polars(con: duckdb.DuckDBPyConnection) -> None:
    frame = pl.read_parquet(PATTERN, hive_partitioning=False)
    kanon_sql.anonymize(frame, **OPTIONS).write_parquet("out/out.parquet")


DOORS: dict[str, Door] = {
    "release": lambda con: kanon_sql.release(con, PATTERN, to="out/out.parquet", **OPTIONS),
    "kanon release": _shell("release", PATTERN, "-o", "out/out.parquet", *SHELL[:-1]),
    "kanon anonymize, a file": _shell("anonymize", PATTERN, "-o", "out/out.parquet", *SHELL),
    "kanon anonymize, partitions": _shell(
        "anonymize", PATTERN, "-o", "out/parts", "--partition-by", "stage", *SHELL
    ),
    "kanon anonymize, a folder": _shell("anonymize", "lake/", "-o", "out/blocks/", *SHELL),
    "anonymize_files": lambda con: kanon_sql.anonymize_files(
        PATTERN, "out/blocks", progress=False, block_rows=200, **OPTIONS
    ),
    "COPY": _copy, "COPY, partitions": _copy_parted,
    "pandas": _frame, "Arrow": _arrow, "polars": _polars,
}


@pytest.mark.parametrize("door", DOORS)
def test_no_byte_of_a_file_is_of_the_source_but_what_is_released(
    door: str, lake: duckdb.DuckDBPyConnection
) -> None:
    Path("out").mkdir()
    DOORS[door](lake)
    files = [path for path in Path("out").rglob("*") if path.is_file()]
    written = [path for path in files if path.suffix == ".parquet"]
    assert written
    released = pa.concat_tables(pq.ParquetFile(path).read() for path in written)
    shown = {str(value) for column in released.columns for value in column.to_pylist()}
    texts, numbers = _planted(lake)
    seen = b"\n".join(inside(path).all for path in written)
    told = " ".join(str(path) for path in Path("out").rglob("*")) + "".join(
        path.read_text() for path in files if path not in written
    )
    # what is found where it is released is not overlooked where it isn't
    towns = {text for text in texts if text in shown}
    assert towns and all(town.encode() in seen for town in towns)
    hidden = texts - shown
    assert len(hidden) > ROWS
    assert sorted(text for text in hidden if text.encode() in seen or text in told) == []
    values = {value for value in released["income"].to_pylist()}
    means = [struct.pack("<d", value) for value in values]
    assert any(mean in seen for mean in means)
    alone = numbers - values
    assert len(alone) > ROWS / 2
    assert [value for value in alone if struct.pack("<d", value) in seen] == []
    assert [value for value in alone if str(value) in told or str(value).encode() in seen] == []


def _planted(con: duckdb.DuckDBPyConnection) -> tuple[set[str], set[float]]:
    """All that was planted: texts, and numbers."""
    rows = con.sql(ROW).to_arrow_table().to_pydict()
    texts = {
        text for name in ("person", "town", "disease", "note") for text in rows[name]
        if text.startswith("PLANT")
    }
    others = {
        *SITES, *(f"PLANT-FILE-{i}" for i in range(3)), "PLANT-CATEGORY", "PLANT-KEY",
        "PLANT-VALUE", "PLANT-GEO", "PLANT-ICEBERG", "PLANT-FIELD", "PLANT-ATTRS", "PLANT-POLARS",
        "PLANT-DUCKDB", "PLANT-INDEX", "PLANT-SHAPE", "lake/", "site",
    }
    return texts | others, {value for value in rows["income"] if value is not None}
