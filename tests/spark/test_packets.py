"""Rows in packets of Arrow come out as they went in, and where Spark would put them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("pyspark.sql", reason="PySpark isn't installed")

from kanon_sql.blocks.cuts import BY_HASH, CutTree
from kanon_sql.spark import packets
from kanon_sql.spark.places import RowPlaces
from kanon_sql.spark.worker import MIX

TABLE = pa.table({
    "n": pa.array([3, None, 1, 4, 1], pa.int64()), "t": pa.array(["a", "", None, "é", "a"]),
})


def rows_of(packet: bytes) -> list[Any]:
    return packets.unpacked([pa.scalar(packet, pa.binary())]).to_pylist()


@pytest.mark.parametrize("partitions", [1, 3, 16])
def test_a_row_goes_where_spark_sends_it(spark: Any, partitions: int) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    keys = [0, 1, -1, 42, 2**31, -(2**31), 2**32 + 5, 2**63 - 1, -(2**63), 0x0123456789ABCDEF]
    frame = spark.createDataFrame([(key,) for key in keys], "key long")
    there = frame.repartition(partitions, "key").select("key", F.spark_partition_id()).collect()
    found = packets.partitions_of(np.array(keys, np.int64), partitions)
    assert dict(zip(keys, found.tolist(), strict=True)) == dict(map(tuple, there))


def test_rows_come_out_of_packets_as_they_went_in() -> None:
    assert rows_of(packets.packed(TABLE)) == TABLE.to_pylist()


@pytest.mark.parametrize("size", [1, 40, 2**25])
def test_each_packet_has_rows_of_one_place(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packets, "PACKET_BYTES", size)
    places = np.array([7, -1, 7, 0, 7])
    found: dict[int, list[Any]] = {}
    for place, row, packet in packets.dealt(TABLE, places):
        rows = rows_of(packet)
        assert places[row] == place and TABLE.slice(row, 1).to_pylist()[0] in rows
        found.setdefault(place, []).extend(rows)
    whole = TABLE.to_pylist()
    assert found == {
        place: [row for row, own in zip(whole, places, strict=True) if own == place]
        for place in (7, -1, 0)
    }


def test_rows_are_placed_by_their_cuts() -> None:
    tree = CutTree(-1, "word", 0.0, (
        CutTree(-1, "number", 1.5, (CutTree(0), CutTree(1))),
        CutTree(-1, BY_HASH, 20.0, (CutTree(2), CutTree(3))),
    ))
    rows = pa.table({
        "c0": pa.array([1.0, 2.0, None, 5.0, 5.0, 1.0]),
        "w": pa.array(["low", "low", None, "high", "high", "unknown"]),
        MIX: pa.array([1, 1, 1, 10, 11, 1], pa.int64()),
    })
    ranks = {"word": {None: -1, "low": 0, "high": 1}}
    places = RowPlaces(tree, {"number": "c0", "word": "w"}, ranks, ())
    assert places.leaves(rows).tolist() == [0, 1, 0, 2, 3, 0]
    places = RowPlaces(tree, {"number": "c0", "word": "w"}, ranks, ("c0", "w"))
    assert places.leaves(rows).tolist() == [0, 1, -1, 2, 3, 0]
