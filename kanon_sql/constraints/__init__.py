"""What every class of a release must keep: k-anonymity, and what stands beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanon_sql.constraints.constraint import Constraint, Measure
from kanon_sql.constraints.k_anonymity import KAnonymity

__all__ = ["CONSTRAINTS", "Constraint", "KAnonymity", "Measure", "read_constraint"]

CONSTRAINTS: dict[str, type[Constraint]] = {kind.name: kind for kind in (KAnonymity,)}


def read_constraint(told: Mapping[str, Any]) -> Constraint:
    """The constraint that ``Constraint.told`` wrote."""
    values = {name: value for name, value in told.items() if name != "name"}
    return CONSTRAINTS[told["name"]](**values)
