"""Parquet statistics and dictionaries: what a file says beside its rows.

The attacker opens the file with an editor. A column of a Parquet file has a dictionary, and the
smallest and largest value of each part of it. The naive release replaces the values of a
categorical column and keeps its categories: the rows say '*', and the dictionary all that has been
there.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

import kanon_sql
from tests.attacks.frame import Attack, Connection, K

TOWNS = 40
"""Towns of the table, as the categories of an ENUM; no two have more than two people."""


def attack(file: Path, towns: list[str]) -> float:
    """The share of the towns that no row shows, and that the file tells all the same: in its bytes,
    in the dictionary of a column, in statistics, or in what is written at its end."""
    metadata = pq.read_metadata(file)
    told = [value.decode() for value in (metadata.metadata or {}).values()]
    for group in range(metadata.num_row_groups):
        for column in range(metadata.num_columns):
            found = metadata.row_group(group).column(column).statistics
            if found and found.has_min_max:
                told += [str(found.min), str(found.max)]
    for chunk in pq.read_table(file, read_dictionary=["town"])["town"].chunks:
        told += map(str, chunk.dictionary.to_pylist())
    text = file.read_bytes() + "\n".join(told).encode()
    hidden = set(towns) - shown_in(pq.read_table(file))
    return sum(town.encode() in text for town in hidden) / len(hidden)


def shown_in(table: pa.Table) -> set[str]:
    """What the rows of a file show."""
    return set(map(str, table["town"].to_pylist()))


def run(con: Connection) -> list[Attack]:
    towns = [f"Town-{i}-on-the-Hidden-River" for i in range(TOWNS)]
    names = ", ".join(f"'{town}'" for town in towns)
    con.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE residents AS
        SELECT 20 + i % 50 AS age, ([{names}][1 + i % {TOWNS}])::ENUM({names}) AS town
        FROM range({2 * TOWNS - 5}) AS r(i)
        """
    )
    call = (
        f"anonymize('residents', k := {K}, "
        "representation := {{'town': '{}', '*': 'median'}})"
    )
    with TemporaryDirectory() as folder:
        plain, hidden, packed, typed = (
            Path(folder) / name for name in ("naive", "copied", "released", "typed")
        )
        starred = pa.DictionaryArray.from_arrays(
            pa.array([0] * (2 * TOWNS - 5), pa.int8()), pa.array(["*", *towns])
        )
        pq.write_table(pa.table({"town": starred}), plain, compression="none")
        con.execute(
            f"COPY (FROM {call.format('suppress')}) TO '{hidden}' "
            "(FORMAT parquet, COMPRESSION uncompressed)"
        )
        kanon_sql.release(
            con, "residents", to=str(packed), k=K,
            representation={"town": "suppress", "*": "median"},
        )
        before = attack(plain, towns)
        after = max(attack(hidden, towns), attack(packed, towns))
        arrow = con.sql(f"FROM {call.format('centroid')}").to_arrow_table()
        pq.write_table(arrow, typed, compression="none")
        kept = attack(typed, towns)
    counts = "values in the file that no row shows"
    return [
        Attack("Parquet file", counts, before, after, 0,
               "a file is written from the released rows, and its manifest has no value of a row"),
        Attack("Arrow file of an ENUM", counts, before, kept, 0,
               "an ENUM is released as text, which has no list of values"),
    ]
