"""Recoding of single attributes: Mondrian and full-domain (LeFevre et al. 2005, 2006)."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_sql.methods.geometry import LOSS, Trial
from kanon_sql.methods.method import Method
from kanon_sql.methods.option import MethodOptions
from kanon_sql.option import option
from kanon_sql.validators import one_of

PARTITIONINGS = ("strict", "relaxed")


@dataclass(frozen=True)
class MondrianOptions(MethodOptions):
    """The options of mondrian."""

    partitioning: str = option(
        "strict", one_of(PARTITIONINGS),
        "'strict' keeps equal values on one side of a cut; 'relaxed' may put them on both.",
    )

METHODS = (
    Method(
        name="mondrian",
        family=__name__,
        use="fast",
        summary="Cuts the table at the median of the widest attribute, repeatedly, as long as "
        "both sides have at least k rows.",
        guarantee="classes of k or more that no median cut can divide; relaxed: of k to 2k-1, "
        "unless all records are equal",
        cost="O(n log n)",
        representation="interval",
        source="LeFevre, DeWitt and Ramakrishnan 2006, ICDE",
        geometries={"loss": LOSS},
        own=MondrianOptions,
        in_blocks=False,
        memory=7.0,
    ),
    Method(
        name="full_domain",
        family=__name__,
        use="whole columns",
        summary="Generalizes all values of a column to the same level of its hierarchy: the "
        "levels with the lowest loss for which every class has at least k rows.",
        guarantee="no other choice of levels has a lower loss",
        cost="grows with the number of combinations of levels that must be tried",
        representation="hierarchy",
        source="exact search in the lattice of Samarati 2001 and LeFevre et al. 2005",
        geometries={"loss": LOSS},
        trial=Trial(numbers=0),
        suppresses=True,
        in_blocks=False,
        refinable=False,
        keeps_models=True,
    ),
)
