"""The risk of a table: its combinations of values in, facts out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from kanon_sql.kernel.watch import Watch
from kanon_sql.measure.dis import dis_scores
from kanon_sql.measure.population import individual_risk, pitman, zayatz
from kanon_sql.measure.uniques import Integers, Uniques, find_uniques

MOST_COLUMNS = 62
"""Of more than these, sets of columns aren't looked at: their bits are held in a whole number."""

MSU_COLUMNS = {12: 12, 30: 4, MOST_COLUMNS: 3}
"""The most columns of a minimal sample unique unless said otherwise, by the most quasi-identifiers
of which it is so: some ten thousand sets."""


def measure_risk(
    combinations: pa.Array, names: Sequence[str], counts: pa.Array, pairs: pa.Array,
    people: float | None, options: Mapping[str, Any], watch: Watch,
) -> dict[str, Any]:
    """What is told of the risk beside the sizes of the classes.

    Args:
        combinations: struct<size, cells>: how many rows have a combination of values, and these as
            text, one per column; none where no sets of columns are looked at.
        names: the columns.
        counts: struct<size, classes>: how many classes have so many rows.
        pairs: struct<here, people, classes>: how many classes have so many rows here and people in
            the population; people is NULL where nobody knows.
        people: how many there are in the population, if that is known.
        options: k, weighted (whether people are estimated by weights), msu_columns and
            subset_columns.
        watch: may stop it.

    Returns:
        individual_max, individual_mean, individual_above, pitman, zayatz, uniques, unique_rows,
        least_columns, dis_mean and dis_max, each None where it can't be told; columns: name and
        share of each; subsets: name, distinctness and separation of each.

    Raises:
        DataError: too many sets of columns to look at.
        StoppedError: the watch was asked to stop.
    """
    return {
        **(_individual(pairs, options["k"]) if options["weighted"] else {}),
        **_population(counts, people),
        **_by_columns(combinations, names, people, options, watch),
    }


def _numbers(structs: pa.Array, name: str, kind: Any) -> Any:
    return structs.field(name).to_numpy(zero_copy_only=False).astype(kind)


def _individual(pairs: pa.Array, k: int | None) -> dict[str, Any]:
    if not len(pairs):
        return {}
    sampled = _numbers(pairs, "here", np.float64)
    risks = individual_risk(sampled, _numbers(pairs, "people", np.float64))
    rows = sampled * _numbers(pairs, "classes", np.float64)
    return {
        "individual_max": float(risks.max()),
        # sorted, since the pairs come in any order
        "individual_mean": float(np.sort(rows * risks).sum() / rows.sum()),
        "individual_above": None if k is None else float(rows[risks * k > 1.0].sum()),
    }


def _population(counts: pa.Array, people: float | None) -> dict[str, Any]:
    if people is None or not len(counts):
        return {}
    sizes, classes = _numbers(counts, "size", np.int64), _numbers(counts, "classes", np.int64)
    order = np.argsort(sizes)  # so that sums don't depend on the order of the rows
    sizes, classes = sizes[order], classes[order]
    return {
        "pitman": pitman(sizes, classes, people), "zayatz": zayatz(sizes, classes, people)
    }


def _codes(combinations: pa.Array, width: int) -> Integers:
    """The values as codes from 0 up, NULL as one of them: int64, shape (n, width)."""
    cells, rows = combinations.field("cells").flatten(), len(combinations)
    codes = np.empty((rows, width), np.int64)
    for j in range(width):
        column = cells.take(pa.array(np.arange(j, len(cells), width)))
        codes[:, j] = column.dictionary_encode("encode").indices.to_numpy()
    return codes


def _dis(
    uniques: Uniques, sizes: Integers, width: int, people: float
) -> dict[str, float]:
    """The DIS scores of the rows; 0 of those that are no sample unique."""
    rows, pairs = int(sizes.sum()), int((sizes == 2).sum())
    scores = dis_scores(uniques.scores[uniques.rows], pairs, width, rows / people)
    return {
        "dis_mean": float(np.sort(scores).sum()) / rows, "dis_max": float(scores.max(initial=0.0))
    }


def _by_columns(
    combinations: pa.Array, names: Sequence[str], people: float | None,
    options: Mapping[str, Any], watch: Watch,
) -> dict[str, Any]:
    width = len(names)
    if width > MOST_COLUMNS or not len(combinations):
        return {"columns": [], "subsets": []}
    most = options["msu_columns"]
    if most is None:
        most = next(size for columns, size in MSU_COLUMNS.items() if width <= columns)
    sizes = _numbers(combinations, "size", np.int64)
    uniques = find_uniques(
        _codes(combinations, width), sizes, most, options["subset_columns"], watch.check
    )
    rows = int(sizes.sum())
    pairs = rows * (rows - 1)
    facts: dict[str, Any] = {}
    if most:
        facts = {
            "uniques": uniques.total, "unique_rows": int(uniques.rows.sum()),
            "least_columns": uniques.least,
        }
        if most >= width and people is not None:  # a larger unique would be missing in the scores
            facts |= _dis(uniques, sizes, width, people)
    return {
        **facts,
        "columns": [
            {"name": name, "share": share}
            for name, share in zip(names, uniques.shares(width), strict=True)
        ],
        "subsets": [
            {
                "name": ", ".join(names[j] for j in subset.columns),
                "distinctness": subset.classes / rows,
                "separation": 1 - (subset.squares - rows) / pairs if pairs else None,
            }
            for subset in uniques.subsets
        ],
    }
