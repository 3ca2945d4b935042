"""A lake in an object store, read and written: python examples/lakes/object_store.py

Here a file system of fsspec (pip install fsspec) stands for the store, so that this runs without
one. For S3 replace ready() by con.execute("CREATE SECRET (TYPE s3, PROVIDER credential_chain)"), or
make the secret persistent once, and memory:// by s3:// throughout.
"""

import tempfile

import duckdb
import fsspec

import kanon_sql
from kanon_sql.data import adult

LAKE = "memory://people/lake/**/*.parquet"
CALL = {
    "k": 5, "quasi_identifiers": ["age", "sex", "race", "education"], "sensitive": ["occupation"],
    "others": "drop",
}


def ready(con: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """A connection that reads and writes the store."""
    con.register_filesystem(fsspec.filesystem("memory"))
    return con


con = kanon_sql.register(ready(duckdb.connect()))
con.execute(f"""
    COPY (FROM '{adult()}') TO 'memory://people/lake' (FORMAT parquet, PARTITION_BY (workclass))
""")

with tempfile.TemporaryDirectory() as folder:
    # reading: any face, on a connection that may
    print(f"{len(kanon_sql.anonymize(LAKE, con=con, **CALL)):,} rows of the store")

    # blocks run on a connection of their own, which prepare readies
    done = kanon_sql.anonymize_files(LAKE, f"{folder}/released", prepare=ready, **CALL)
    print(f"{done.rows:,} rows in {done.files} file")

    # writing: here, where a release is whole or not there; then to the store, in one step
    try:
        kanon_sql.release(con, LAKE, to="memory://people/released.parquet", **CALL)
    except kanon_sql.OptionError as refusal:
        print(refusal)
    local = f"{folder}/released.parquet"
    kanon_sql.release(con, LAKE, to=local, **CALL)
    con.execute(f"""
        COPY (SELECT content FROM read_blob('{local}'))
        TO 'memory://people/released.parquet' (FORMAT blob)
    """)
    con.sql(
        "SELECT k, rows FROM k_anonymity('memory://people/released.parquet', k := 5, "
        "sensitive := ['occupation'])"
    ).show()
