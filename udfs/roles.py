"""__kanon_roles(hashes, columns, counts, persons, released, told): what columns are, look like."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from kanon_sql.udfs.signature import Signature

OF_PERSONS = ("persons", "distinct", "common", "agree", "several")


def roles(
    hashes: Any, columns: Any, counts: Any, persons: Any, released: Any, told: Any
) -> Any:
    """One object per column, as JSON."""
    from kanon_sql.encode.arrow import read_columns
    from kanon_sql.encode.identifier_detection import OfPersons
    from kanon_sql.stages.roles import (  # here: Polars takes a while to load
        CountedColumn,
        describe_columns,
    )

    array = hashes.combine_chunks() if isinstance(hashes, pa.ChunkedArray) else hashes
    flat = array.flatten().flatten()
    names, rules = read_columns(columns), json.loads(told[0].as_py())
    rows = len(flat) // len(names)
    counted = [
        CountedColumn.of(column, each, flat.slice(j * rows, rows), rules["least"])
        for j, (column, each) in enumerate(
            zip(names, json.loads(counts[0].as_py()), strict=True)
        )
    ]
    whose = {
        each.pop("name"): OfPersons(*(each[name] for name in OF_PERSONS))
        for each in json.loads(persons[0].as_py()) if each["name"] is not None
    }
    found = describe_columns(counted, read_columns(released), rules, whose)
    return pa.array([json.dumps(found)], pa.string())


ROLES = Signature(
    "__kanon_roles",
    roles,
    ("UBIGINT[][]", "VARCHAR[][]", "VARCHAR", "VARCHAR", "VARCHAR[][]", "VARCHAR"),
    "VARCHAR",
)
