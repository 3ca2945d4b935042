"""Hive partitions in and out, each of which is k-anonymous by itself, whoever holds which file:
python examples/lakes/by_partition.py
"""

import tempfile
from pathlib import Path

import duckdb

import kanon_sql
from kanon_sql.data import adult

QUASI = ["age", "sex", "race", "education"]


def shown(files: str) -> None:
    """What each file tells: the smallest class of all partitions, and those below k."""
    told = kanon_sql.k_anonymity(files, k=5, quasi_identifiers=QUASI, within=["workclass"])
    print(told.select(["k", "rows", "classes", "parts", "parts_below_k"]).to_pylist())


with tempfile.TemporaryDirectory() as folder:
    lake = f"{folder}/lake"
    con = kanon_sql.register(duckdb.connect())
    con.execute(
        f"COPY (FROM '{adult()}') TO '{lake}' (FORMAT parquet, PARTITION_BY (workclass))"
    )

    # one query: within makes each partition a release of its own, and they are checked as such
    con.execute(f"""
        COPY (
            FROM anonymize('{lake}/**/*.parquet', k := 5, quasi_identifiers := {QUASI},
                           within := ['workclass'], sensitive := ['occupation'], others := 'drop')
        ) TO '{folder}/within' (FORMAT parquet, PARTITION_BY (workclass))
    """)
    shown(f"{folder}/within/**/*.parquet")

    # partitions larger than memory, or some of them only: one after the other, each as files
    for part in sorted(Path(lake).iterdir()):
        target = Path(folder) / "one_by_one" / part.name
        target.parent.mkdir(exist_ok=True)
        kanon_sql.anonymize_files(
            f"{part}/*.parquet", target, k=5, quasi_identifiers=QUASI, sensitive=["occupation"],
            others="drop",
        )
    shown(f"{folder}/one_by_one/**/*.parquet")

    # and what is shown where nobody thought of the partitions
    con.execute(f"""
        COPY (
            FROM anonymize('{lake}/**/*.parquet', k := 5, quasi_identifiers := {QUASI},
                           sensitive := ['occupation', 'workclass'], others := 'drop')
        ) TO '{folder}/naive' (FORMAT parquet, PARTITION_BY (workclass))
    """)
    shown(f"{folder}/naive/**/*.parquet")
