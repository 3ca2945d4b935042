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

from tests.attacks.frame import Attack, Connection, K

TOWNS = 40
"""Towns of the table, as the categories of an ENUM; no two have more than two people."""


def attack(file: Path, shown: set[str], towns: list[str]) -> float:
    """The share of the towns that no row shows and the bytes of the (uncompressed) file have, or
    its statistics."""
    text = file.read_bytes()
    metadata = pq.read_metadata(file)
    statistics = {
        str(end)
        for group in range(metadata.num_row_groups) for column in range(metadata.num_columns)
        if (found := metadata.row_group(group).column(column).statistics) and found.has_min_max
        for end in (found.min, found.max)
    }
    hidden = [town for town in towns if town not in shown]
    read = [town for town in hidden if town.encode() in text or town in statistics]
    return len(read) / len(hidden)


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
        plain, hidden, typed = (Path(folder) / name for name in ("naive", "ours", "typed"))
        starred = pa.DictionaryArray.from_arrays(
            pa.array([0] * (2 * TOWNS - 5), pa.int8()), pa.array(["*", *towns])
        )
        pq.write_table(pa.table({"town": starred}), plain, compression="none")
        con.execute(
            f"COPY (FROM {call.format('suppress')}) TO '{hidden}' "
            "(FORMAT parquet, COMPRESSION uncompressed)"
        )
        before = attack(plain, {"*"}, towns)
        after = attack(hidden, shown_in(pq.read_table(hidden)), towns)
        arrow = con.sql(f"FROM {call.format('centroid')}").to_arrow_table()
        pq.write_table(arrow, typed, compression="none")
        kept = attack(typed, shown_in(pq.read_table(typed)), towns)
        con.execute(
            "CREATE OR REPLACE TEMP TABLE texts AS SELECT * REPLACE (town::VARCHAR AS town) "
            "FROM residents"
        )
        text = con.sql(f"FROM {call.format('centroid').replace('residents', 'texts')}")
        pq.write_table(text.to_arrow_table(), typed, compression="none")
        as_text = attack(typed, shown_in(pq.read_table(typed)), towns)
    counts = "values read that no row shows"
    return [
        Attack("Parquet file", counts, before, after, 0,
               "a file is written from the released rows, and nothing else goes into it"),
        Attack("Arrow file of an ENUM", counts, before, kept, 1,
               "the type of a column is released with it, and an ENUM is the list of all values "
               "that it may have: make it text where that list is secret", promised=False),
        Attack("Arrow file of an ENUM made text", counts, before, as_text, 0,
               "text has no list of values"),
    ]
