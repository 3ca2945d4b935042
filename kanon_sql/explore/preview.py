"""The levels of a hierarchy, with labels that many rows share instead of values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from kanon_sql.api.dataframe import hierarchy
from kanon_sql.duckdb.session import Connection
from kanon_sql.explore.answers import Preview, PreviewedLevel
from kanon_sql.explore.source import RELATION
from kanon_sql.hierarchies.kinds import ROOT
from kanon_sql.names import quoted

COARSE = ("bins", "date", "prefix")
"""The kinds whose labels aren't made of whole values. Those of the others are never shown unless
values are."""

EXAMPLES = 2
LEAST = 5
"""The least rows of a label that is shown, and at least k."""


def preview_of(
    con: Connection, column: str, chosen: str | dict[str, Any], k: int, show_values: bool
) -> Preview:
    """The levels of a hierarchy of a column of the explored table.

    Args:
        con: a connection that has the table.
        column: the column.
        chosen: the kind, or the kind with its options.
        k: the least rows of a class.
        show_values: whether values of the source may be shown.

    Raises:
        OptionError, DataError: as the call hierarchy.
    """
    options = {"kind": chosen} if isinstance(chosen, str) else dict(chosen)
    table = hierarchy(RELATION, column, con=con, **options)
    paths = list(zip(*(each.to_pylist() for each in table.columns), strict=True))
    kind = str(options["kind"])
    rows = _rows(con, column)
    least = 1 if show_values else max(k, LEAST)
    return Preview(column, kind, levels_of(paths, rows, least, show_values, kind in COARSE))


def _rows(con: Connection, column: str) -> dict[str, int]:
    """The rows of each value, as a hierarchy writes it."""
    name = quoted(column)
    found = con.execute(
        f"SELECT decode(encode({name}::VARCHAR)), count(*) FROM {RELATION} "
        f"WHERE {name} IS NOT NULL GROUP BY 1"
    ).fetchall()
    return dict(found)


def levels_of(
    paths: Sequence[Sequence[str]], rows: dict[str, int], least: int, show_values: bool,
    coarse: bool,
) -> tuple[PreviewedLevel, ...]:
    """The levels with some examples, each a value and what becomes of it level by level.

    Args:
        paths: of each value the labels from itself up to the root, all of one length.
        rows: the rows of each value.
        least: the least rows of a label that is shown.
        show_values: whether values are shown.
        coarse: whether labels of the kind may be shown where values are not.
    """
    if not paths:
        return ()
    depth = len(paths[0])
    counts: list[Counter[str]] = [Counter() for _ in range(depth)]
    for path in paths:
        for level, label in enumerate(path):
            counts[level][label] += rows.get(path[0], 0)
    values = set(counts[0])

    def shown(level: int, label: str) -> bool:
        if label == ROOT or show_values:
            return True
        return coarse and level > 0 and label not in values and counts[level][label] >= least

    first = next(
        (level for level in range(depth - 1) if any(shown(level, each) for each in counts[level])),
        depth - 1,
    )
    # the labels with the most rows, and one value below each: which one is told to nobody
    chosen = sorted(
        (label for label in counts[first] if shown(first, label)),
        key=lambda label: (-counts[first][label], label),
    )[:EXAMPLES]
    examples = [next(path for path in paths if path[first] == label) for label in chosen]
    return tuple(
        PreviewedLevel(
            level, len(counts[level]),
            tuple(
                path[level] if level >= first and shown(level, path[level]) else None
                for path in examples
            ),
        )
        for level in range(depth)
    )
