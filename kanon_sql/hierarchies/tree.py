"""A generalization hierarchy: a tree over the values of one column.

The level at which two values first agree is the height of their lowest common ancestor (byun2006,
definition 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kanon_sql.encode.arrow import read_levels
from kanon_sql.errors import DataError
from kanon_sql.hierarchies.kinds import ROOT

if TYPE_CHECKING:
    # which takes a quarter of a second to load, and most calls have no hierarchy
    import polars as pl

SHOWN = 5
"""How many values a message names."""


@dataclass(frozen=True)
class Tree:
    """A hierarchy of the values of one column; NULL is none of them.

    Attributes:
        levels: string arrays, level0 (the leaves) .. levelN (one label, the root), N >= 1, each
            with one entry per leaf. Equal labels of one level are one node; labels of different
            levels are different nodes. Leaves stand in depth-first order, siblings by their least
            leaf (numbers as numbers, else text; for the kind 'ordered' as listed), so that the
            leaves below any node are neighbours and the order of the source doesn't matter.
    """

    levels: tuple[pa.Array, ...]

    @property
    def height(self) -> int:
        """N, the number of steps from a leaf to the root."""
        return len(self.levels) - 1


def read_trees(argument: Any) -> dict[str, Tree]:
    """Hierarchies as DuckDB hands them over (see arrow.py), by column name; NULL is none."""
    return {name: Tree(levels) for name, levels in read_levels(argument).items()}


def key(text_array: pa.Array) -> pa.Array:
    """The text under which values are looked up: whole numbers without '.0', all others as is."""
    from kanon_sql.hierarchies.from_values import keys

    return _to_arrow(keys(as_series(text_array)))


def as_series(array: Any) -> pl.Series:
    """An Arrow array as a Polars series of texts."""
    import polars as pl

    values = pl.from_arrow(array)
    assert isinstance(values, pl.Series)
    texts: pl.Series = values.cast(pl.String)
    return texts


def _to_arrow(values: pl.Series) -> pa.Array:
    return values.to_arrow().cast(pa.string())


def refusal(
    column: str, fact: str, values: pl.Series, show_values: bool, advice: str
) -> DataError:
    """What is said of a hierarchy that can't be used: the fact, some of the values concerned where
    they may be shown, and the advice."""
    shown = ""
    if show_values:
        first = values.sort().head(SHOWN).to_list()
        shown = ": " + ", ".join(repr(v) for v in first) + (", ..." if len(values) > SHOWN else "")
    return DataError(f"The hierarchy of {column!r} {fact}{shown}. {advice}")


def arrange(levels: Sequence[pl.Series], in_order: bool = False) -> Tree:
    """The tree of valid level columns: one root, true height, leaves in canonical order; with
    ``in_order`` leaves stay as they are."""
    import polars as pl

    kept = list(levels)
    if len(kept[0]) == 1 and kept[-1][0] == kept[0][0]:
        kept = kept[:1]  # the only value is no label for what NULL and it have in common
    if len(kept) == 1 or kept[-1].n_unique() > 1:
        kept.append(pl.repeat(ROOT, len(kept[0]), dtype=pl.String, eager=True))
    while len(kept) > 2 and kept[-2].n_unique() <= 1 and kept[-2].equals(kept[-1]):
        kept.pop()
    names = [f"level{i}" for i in range(len(kept))]
    frame = pl.DataFrame(dict(zip(names, kept, strict=True)))
    if not in_order:
        number = pl.col("level0").cast(pl.Float64, strict=False)
        numeric = bool(frame.select(number.is_finite().fill_null(False).all()).item())
        frame = frame.sort([number, "level0"] if numeric else ["level0"]).with_row_index("rank")
        for name in names[1:-1]:  # each pass brings the leaves of a wider node together, stably
            frame = frame.sort(pl.col("rank").min().over(name), maintain_order=True)
    return Tree(tuple(_to_arrow(frame[name]) for name in names))


def check_values(column: str, tree: Tree, values: pa.Array, show_values: bool) -> None:
    """Raises DataError, with the number of them, where values are no leaves of the tree.

    Values must be as in the tree (numbers by their key); NULL is passed over.
    """
    from kanon_sql.hierarchies.from_values import counted

    texts = as_series(values).drop_nulls().unique()
    leaves = as_series(tree.levels[0])
    missing = texts.filter(~texts.is_in(leaves.implode()))
    if len(missing) == 0:
        return
    of = counted(len(texts), "distinct value", "distinct values")
    fact = f"lacks {len(missing):,} of the {of}"
    plain = leaves.str.strip_chars().str.to_lowercase()
    near = int(missing.str.strip_chars().str.to_lowercase().is_in(plain.implode()).sum())
    hint = f" ({near:,} would match except for spaces or upper and lower case)" if near else ""
    raise refusal(
        column, f"{fact} of the column{hint}", missing, show_values,
        "Add them to the hierarchy, correct the data, or make those values NULL.",
    )
