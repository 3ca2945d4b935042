"""The audit of a whole release: rows of the source and of the release in, facts out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kanon_sql.audit.columns import Domain, PublishedColumn
from kanon_sql.audit.published import ColumnAudit, audit_column
from kanon_sql.audit.reading import Places
from kanon_sql.audit.text import values_as_numbers
from kanon_sql.encode.arrow import Column
from kanon_sql.encode.attributes import is_numeric
from kanon_sql.encode.identifier_detection import INTEGER, look
from kanon_sql.errors import DataError, OptionError, did_you_mean
from kanon_sql.hierarchies.tree import Tree
from kanon_sql.kernel.watch import Watch
from kanon_sql.names import caseless

Columns = Sequence[Column]


def _column(cells: pa.Array, width: int, j: int) -> pa.Array:
    """One of ``width`` columns of the cells of all rows, row by row."""
    return cells.take(pa.array(np.arange(j, len(cells), width)))


def _counted(values: pa.Array) -> tuple[pa.Array, Any, int]:
    """The distinct values but NULL, sorted, the rows of each, and the rows with NULL."""
    counts = values.value_counts()
    words, rows = counts.field("values"), counts.field("counts").to_numpy()
    known = pc.is_valid(words).to_numpy(zero_copy_only=False)
    order = pc.sort_indices(words.filter(pa.array(known))).to_numpy()
    kept = words.filter(pa.array(known)).take(pa.array(order))
    return kept, rows[known][order].astype(np.int64), int(rows[~known].sum())


def audit_rows(
    source: pa.Array,
    columns: Columns,
    release: pa.Array,
    released: Columns,
    weights: Mapping[str, float],
    trees: Mapping[str, Tree],
    watch: Watch | None = None,
    named: Collection[str] | None = None,
) -> dict[str, Any]:
    """Total-IL and the entropy of a release, from its published values.

    Args:
        source, release: the cells of all rows as text, row by row, and last in each row a text
            for what passes unchanged.
        columns, released: name and SQL type of their columns, in the order of the cells.
        weights: of the columns that don't count 1.
        trees: hierarchies by column name.
        watch: may stop it.
        named: the quasi-identifiers that somebody named, in lower case; None: all of them. One that
            nobody named, that looks like an identifier and of which nothing is released, counts as
            an identifier.

    Returns:
        total_il (cells, suppressed rows included), ncp (0 .. 1), entropy_loss (bits per released
        cell), each None where what a column loses can't be told; ncp_at_least, which counts
        nothing for such columns but suppressed rows, and ncp_at_most, which counts all of them,
        and both so for single cells that could not be read; unread, points (cells), and attributes:
        name and ncp of each.

    Raises:
        OptionError: a quasi-identifier that the release doesn't have.
        DataError: a source without rows, or a release with more rows than the source.
        StoppedError: the watch was asked to stop.
    """
    check = (watch or Watch()).check
    if not len(source):
        raise DataError("The source has no rows, so there is nothing to audit. Check its name.")
    width, shown_width = len(columns) + 1, len(released) + 1
    rows, kept = len(source) // width, len(release) // shown_width
    if kept > rows:
        raise DataError(
            f"The release has {kept} rows, its source {rows}. Check that they belong together."
        )
    _check_names(columns, released, weights)
    place = {caseless(column.name): j for j, column in enumerate(released)}
    hierarchies = {caseless(name): tree for name, tree in trees.items()}
    audits: list[ColumnAudit] = []
    measured_columns: list[Column] = []
    plain: list[tuple[int, Places, Places]] = []
    for j, column in enumerate(columns):
        check()
        original = _column(source, width, j)
        if named is not None and kept and caseless(column.name) not in named:
            at = place[caseless(column.name)]
            if _withheld(column, original, _column(release, shown_width, at)):
                continue
        measured_columns.append(column)
        domain = _domain(column, original, hierarchies.get(caseless(column.name)), check)
        shown, kind = pa.array([], pa.string()), ""
        if released:
            at = place[caseless(column.name)]
            shown, kind = _column(release, shown_width, at), released[at].sql_type
        published = _published(shown, rows - kept, kind)
        result = audit_column(domain, published, check)
        if _numbers_unread(domain, column):
            result = result.untold()
        if result.exact and len(result.places):
            plain.append((len(audits), _codes(original, domain.values), result.places[_codes(
                shown, published.texts)]))
        audits.append(result)
    given_beside = _column(source, width, width - 1)
    shown_beside = _column(release, shown_width, shown_width - 1)
    if plain and not _stand_together(plain, given_beside, shown_beside, check):
        for j, _, _ in plain:
            audits[j] = audits[j].untold()
    counting = {caseless(name): weight for name, weight in weights.items()}
    weighed = [counting.get(caseless(column.name), 1.0) for column in measured_columns]
    return _summary(audits, weighed, measured_columns, rows, kept)


def _withheld(column: Column, original: pa.Array, shown: pa.Array) -> bool:
    """Whether a column looks like an identifier, and nothing of it is released."""
    if shown.null_count < len(shown):
        return False
    if not is_numeric(column.sql_type):
        return look(column, None, original).identifier
    if not INTEGER.fullmatch(column.sql_type):
        return False
    numbers = pc.cast(original, pa.float64()).to_numpy(zero_copy_only=False)
    return look(column, numbers, None).identifier


def _check_names(columns: Columns, released: Columns, weights: Mapping[str, float]) -> None:
    """Raises OptionError for a weight, or a quasi-identifier, that has no column."""
    names, shown = [c.name for c in columns], [c.name for c in released]
    for name in weights:
        if caseless(name) not in map(caseless, names):
            raise OptionError(
                f"column_weights names the column {name!r}, which is not a quasi-identifier. "
                f"{did_you_mean(name, names)}"
            )
    for name in names if released else ():
        if caseless(name) not in map(caseless, shown):
            raise OptionError(
                f"The release has no column {name!r}, which is a quasi-identifier of the source. "
                f"{did_you_mean(name, shown)}"
            )


def _domain(
    column: Column, original: pa.Array, tree: Tree | None, check: Callable[[], None]
) -> Domain:
    values, counts, nulls = _counted(original)
    ordered = is_numeric(column.sql_type)
    numbers = None
    if ordered and tree is None:
        numbers = values_as_numbers(values, column.sql_type, check)
        if not np.isfinite(numbers).all():
            numbers = None
    return Domain(
        column.name, numbers is not None, values, counts, nulls, numbers, tree,
        ordered and tree is not None,
    )


def _numbers_unread(domain: Domain, column: Column) -> bool:
    """Whether a column has an order, but some of its values could not be read as numbers."""
    return is_numeric(column.sql_type) and not domain.numeric and domain.tree is None


def _published(shown: pa.Array, left_out: int, kind: str) -> PublishedColumn:
    texts, counts, hidden = _counted(shown)
    if hidden:
        texts = pa.concat_arrays([texts, pa.nulls(1, texts.type)])
        counts = np.append(counts, hidden)
    return PublishedColumn(texts, counts, left_out, kind)


def _codes(cells: pa.Array, known: pa.Array) -> Places:
    """The place of each cell among the known texts, NULL after them or where it stands there."""
    nulls = len(known) - 1 if len(known) and not known[len(known) - 1].is_valid else len(known)
    indices = pc.index_in(cells, known.drop_null()).fill_null(nulls)
    return np.asarray(indices.to_numpy(zero_copy_only=False), dtype=np.int64)


def _stand_together(
    plain: Sequence[tuple[int, Places, Places]], given_beside: pa.Array, shown_beside: pa.Array,
    check: Callable[[], None],
) -> bool:
    """Whether no combination of single values stands in more rows of a release than in its source,
    together with what passes unchanged. If that is a key, it holds row against row.

    Args:
        plain: of each column that shows nothing but single values its number, and the places of
            these in the rows of the source and in those of the release.
        given_beside, shown_beside: what passes unchanged, of these rows.
        check: may raise, to stop.
    """
    count = len(given_beside)
    texts = pa.concat_arrays([given_beside, shown_beside]).fill_null("")
    combined = texts.dictionary_encode().indices.to_numpy().astype(np.int64)
    for _, original, shown in plain:
        check()
        both = np.append(original, shown)
        combined = combined * (int(both.max()) + 1) + both
        combined = np.unique(combined, return_inverse=True)[1].reshape(-1)
    most = int(combined.max()) + 1 if len(combined) else 0
    return bool((
        np.bincount(combined[count:], minlength=most)
        <= np.bincount(combined[:count], minlength=most)
    ).all())


def _summary(
    audits: Sequence[ColumnAudit], weights: Sequence[float], columns: Columns, rows: int, kept: int
) -> dict[str, Any]:
    """The facts of all columns, each with its weight."""
    out, of_all = rows - kept, sum(weights)
    losses = [result.total + out if result.exact else None for result in audits]
    least, most = (
        sum(w * (lost + out) for w, lost in zip(weights, bounds, strict=True))
        for bounds in ([each.least for each in audits], [each.most for each in audits])
    )
    untold = any(w > 0.0 and x is None for w, x in zip(weights, losses, strict=True))
    cells = rows * of_all
    share, at_most = (lost / cells if cells > 0.0 else 0.0 for lost in (least, most))
    bits = sum(result.entropy for result in audits)
    exact = all(result.exact for result in audits)
    return {
        "total_il": None if untold else least,
        "ncp": None if untold else share,
        "ncp_at_least": share,
        "ncp_at_most": at_most,
        "entropy_loss": (bits / max(kept * len(columns), 1)) if exact else None,
        "unread": sum(result.unread for result in audits),
        "points": sum(result.points for result in audits),
        "attributes": [
            {"name": column.name, "ncp": None if loss is None else loss / rows}
            for column, loss in zip(columns, losses, strict=True)
        ],
    }
