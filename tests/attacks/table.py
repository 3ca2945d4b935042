"""All attacks, and their figures as a table."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Sequence

from tests.attacks import (
    accomplices,
    attributes,
    class_numbers,
    class_sizes,
    differencing,
    downcoding,
    hidden_keys,
    homogeneity,
    hypotheses,
    intersection,
    linkage,
    membership,
    messages,
    minimality,
    null_patterns,
    odd_one_out,
    parquet,
    persons,
    predicates,
    row_order,
    skewness,
    suppressed_rows,
)
from tests.attacks.frame import ROWS, Attack, Connection, people

ATTACKS: dict[str, Callable[[Connection], list[Attack]]] = {
    "linkage": linkage.run,
    "row_order": row_order.run,
    "class_numbers": class_numbers.run,
    "class_sizes": class_sizes.run,
    "null_patterns": null_patterns.run,
    "suppressed_rows": suppressed_rows.run,
    "homogeneity": homogeneity.run,
    "skewness": skewness.run,
    "minimality": minimality.run,
    "odd_one_out": odd_one_out.run,
    "hypotheses": hypotheses.run,
    "attributes": attributes.run,
    "membership": membership.run,
    "accomplices": accomplices.run,
    "downcoding": downcoding.run,
    "persons": persons.run,
    "hidden_keys": hidden_keys.run,
    "intersection": intersection.run,
    "differencing": differencing.run,
    "messages": messages.run,
    "parquet": parquet.run,
    "predicates": predicates.run,
}
"""Every attack by the name of its module."""


def measured(rows: int = ROWS) -> list[Attack]:
    """All attacks, run on the same people. Remarks on the column that is passed through to count by
    are not shown."""
    with contextlib.redirect_stderr(io.StringIO()), people(rows) as con:
        return [attack for run in ATTACKS.values() for attack in run(con)]


def table(attacks: Sequence[Attack]) -> str:
    """A line per attack, in percent; a bound that is measured and not proven has a ~."""
    rows = [("attack", "naive", "ours", "bound", "percent of")] + [
        (a.name, f"{100 * a.naive:.1f}", f"{100 * a.ours:.1f}",
         f"{'' if a.proven else '~'}{100 * a.bound:.1f}" if a.promised else "none", a.counts)
        for a in attacks
    ]
    wide = max(len(row[0]) for row in rows)
    return "\n".join(
        f"{name:{wide}}  {naive:>5}  {ours:>5}  {bound:>5}  {counts}"
        for name, naive, ours, bound, counts in rows
    )
