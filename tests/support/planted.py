"""A lake with planted values wherever one can be, and every door by which it is released."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import kanon_sql
from kanon_sql.cli.main import main

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
           from_hex('0101000000') || encode('PLANT-SHAPE-' || lpad(i::VARCHAR, 4, '0')) AS shape
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


BY_WRITER = {
    "pyarrow": ("PLANT-KEY", "PLANT-VALUE", "PLANT-GEO", "PLANT-ICEBERG", "PLANT-CATEGORY"),
    "pandas": ("PLANT-INDEX", "PLANT-ATTRS"),
    "polars": ("PLANT-POLARS",),
    "duckdb": ("PLANT-DUCKDB",),
}
"""What each writes beside the rows."""


def make_lake(writer: str) -> None:
    """Writes the lake into the working folder, hive-partitioned by site."""
    with duckdb.connect() as con:
        for number, site in enumerate(SITES):
            folder = Path("lake") / f"site={site}"
            folder.mkdir(parents=True)
            WRITERS[writer](_rows(con, number), str(folder / f"PLANT-FILE-{number}.parquet"))


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


def planted(con: duckdb.DuckDBPyConnection) -> tuple[set[str], set[float]]:
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
