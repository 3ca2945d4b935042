"""What every class of a release must keep: k-anonymity, and the privacy models beside it.

Each of these is kept by the union of two classes that keep it, so that merging always repairs and
never breaks. What they demand is told here; how far a class is from it is worked out by the kernels
of kanon_sql/violation, and a release is held to it by SQL (see plan/verify.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanon_sql.constraints.closeness import Closeness
from kanon_sql.constraints.constraint import NULLS, Constraint, Measure, PrivacyModel
from kanon_sql.constraints.diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from kanon_sql.constraints.entity import EntityShare
from kanon_sql.constraints.frequency import AlphaFrequency, BetaLikeness, DeltaDisclosure
from kanon_sql.constraints.k_anonymity import KAnonymity

__all__ = [
    "CONSTRAINTS", "MODELS", "NULLS", "AlphaFrequency", "BetaLikeness", "Closeness", "Constraint",
    "DeltaDisclosure", "DistinctDiversity", "EntityShare", "EntropyDiversity", "KAnonymity",
    "Measure", "PrivacyModel", "RecursiveDiversity", "read_constraint",
]

MODELS: tuple[type[PrivacyModel], ...] = (
    DistinctDiversity, EntropyDiversity, RecursiveDiversity, Closeness, AlphaFrequency,
    DeltaDisclosure, BetaLikeness,
)

_KINDS: tuple[type[Constraint], ...] = (KAnonymity, EntityShare, *MODELS)
CONSTRAINTS: dict[str, type[Constraint]] = {kind.name: kind for kind in _KINDS}


def read_constraint(told: Mapping[str, Any]) -> Constraint:
    """The constraint that ``Constraint.told`` wrote."""
    values = {name: _tuples(value) for name, value in told.items() if name != "name"}
    return CONSTRAINTS[told["name"]](**values)


def _tuples(value: Any) -> Any:
    """The value with tuples where JSON has lists."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
