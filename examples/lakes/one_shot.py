"""A whole lake at once, which may be larger than memory: python examples/lakes/one_shot.py"""

import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb

import kanon_sql
from kanon_sql.data import adult

QUASI = ["age", "sex", "race", "education", "native-country"]

with tempfile.TemporaryDirectory() as folder:
    lake, released = f"{folder}/lake", f"{folder}/released"
    con = duckdb.connect()
    con.execute(
        f"COPY (FROM '{adult()}') TO '{lake}' (FORMAT parquet, PARTITION_BY (workclass))"
    )

    # the folders' names are the column workclass, which passes here; the new files are parted by
    # nothing, since a file for each employer would need k of its own: see by_partition.py
    done = kanon_sql.anonymize_files(
        f"{lake}/**/*.parquet", released, k=5, quasi_identifiers=QUASI,
        sensitive=["workclass", "occupation", "salary-class"], others="drop",
    )
    print(f"{done.rows:,} rows in {done.files} file, k = {done.metrics['k']}")

    # the same in the shell
    subprocess.run([
        sys.executable, "-m", "kanon_sql", "anonymize", f"{lake}/**/*.parquet",
        "-o", f"{folder}/by_shell/", "-k", "5", "-q", ",".join(QUASI),
        "-s", "workclass,occupation,salary-class", "--others", "drop", "--quiet",
    ], check=True)
    same = [
        path.read_bytes() == (Path(folder) / "by_shell" / path.name).read_bytes()
        for path in Path(released).glob("*.parquet")
    ]
    print(f"the shell writes the same bytes: {all(same)}")

    # what anybody can count who holds the files
    print(kanon_sql.k_anonymity(
        f"{released}/*.parquet", k=5, sensitive=["workclass", "occupation", "salary-class"]
    ).select(["k", "rows", "classes", "uniques"]).to_pylist()[0])
