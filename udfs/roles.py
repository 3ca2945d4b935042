"""__kanon_roles(hashes, columns, profiles, forms, released, told): what columns are, look like."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa

from kanon_sql.udfs.signature import Signature

OF_PERSONS = ("persons", "distinct", "common", "agree", "several")


def roles(
    hashes: Any, columns: Any, profiles: Any, forms: Any, released: Any, told: Any
) -> Any:
    """One object per column, as JSON."""
    from kanon_sql.encode.arrow import read_columns
    from kanon_sql.encode.identifier_detection import OfPersons, Profile
    from kanon_sql.stages.roles import describe_columns  # here: Polars takes a while to load

    array = hashes.combine_chunks() if isinstance(hashes, pa.ChunkedArray) else hashes
    flat = array.flatten().flatten()
    counts = json.loads(profiles[0].as_py())
    whose = counts["persons"] if isinstance(counts, dict) else []
    counts = counts["rows"] if isinstance(counts, dict) else counts
    persons = {
        each.pop("name"): OfPersons(*(each[name] for name in OF_PERSONS))
        for each in whose if each["name"] is not None
    }
    known = [
        Profile.of(column, counted)
        for column, counted in zip(read_columns(columns), counts, strict=True)
    ]
    codes = np.asarray(flat.to_numpy(zero_copy_only=False), dtype=np.uint64)
    found = describe_columns(
        codes.reshape(-1, len(known)), known, read_columns(released), json.loads(told[0].as_py()),
        persons, _forms(forms[0].as_py()),
    )
    return pa.array([json.dumps(found)], pa.string())


def _forms(told: str) -> dict[str, Any]:
    """How the values of columns are written, by name."""
    from kanon_sql.hierarchies.codes import WrittenForm

    return {each["name"]: WrittenForm(**each["written"]) for each in json.loads(told)}


ROLES = Signature(
    "__kanon_roles",
    roles,
    ("UBIGINT[][]", "VARCHAR[][]", "VARCHAR", "VARCHAR", "VARCHAR[][]", "VARCHAR"),
    "VARCHAR",
)
