"""Where the SQL of a privacy model finds what it looks at in a release (see sql/models.sql)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kanon_sql.privacy.rational import DECIMALS, as_fraction

KNOWN = " WHERE label IS NOT NULL"
"""Leaves missing values out."""

OF_KNOWN = f" FILTER ({KNOWN.strip()})"
"""The same of an aggregate."""


@dataclass(frozen=True)
class Place:
    """The stages that a model reads, by their numbers.

    Attributes:
        i: of its column among those that are looked at.
        j: its own.
        has_tree: whether there are stages of a hierarchy of the column.
        parts: what fills the holes by which a stage keeps parts from each other.
        in_block: whether the rows are a block of many, and the values of all are known.
        only_worst: whether nobody asks which combinations pass.
    """

    i: int | str
    j: int | str
    has_tree: bool
    parts: Mapping[str, str]
    in_block: bool
    only_worst: bool

    def asked(self, fits: str) -> str:
        """SQL of whether a value fits, where anybody asks."""
        return "NULL::BOOLEAN" if self.only_worst else fits


class Check(NamedTuple):
    """What checks a model.

    Attributes:
        text: SQL with a row for each combination of released values: combination, its size, whether
            it ``passes``, and what it ``has`` on the scale of the threshold.
        before: the stages that it needs before its own; those that several models share stand once.
        held: SQL of aggregates over the values of each combination, for all models in one stage;
            nothing where the text doesn't read it.
    """

    text: str
    before: tuple[str, ...] = ()
    held: str = ""


def fraction(threshold: float, more: int = 0) -> dict[str, str]:
    """A threshold, to which a whole number is added, as a fraction that HUGEINT holds."""
    exact = as_fraction(threshold) + more
    return {"over": f"{exact.numerator}::HUGEINT", "under": f"{exact.denominator}::HUGEINT"}


def millionths(share: float) -> str:
    """A share in millionths, which are whole."""
    return str(int(as_fraction(share) * 10**DECIMALS))
