"""Microaggregation: groups of similar records around centroids (thaeter2021)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kanon_sql.methods.geometry import SQUARED, Trial
from kanon_sql.methods.method import BOTH, Method
from kanon_sql.methods.option import MethodOptions
from kanon_sql.option import option
from kanon_sql.validators import number_or_best


@dataclass(frozen=True)
class VMdavOptions(MethodOptions):
    """The options of v_mdav."""

    gamma: float | str = option(
        "best", number_or_best,
        "how readily a group is extended; 'best' tries 0.0, 0.1 .. 2.0 and takes the one with the "
        "lowest information loss, in each block its own.",
        type="DOUBLE or 'best'",
    )

    def for_trial(self, in_blocks: bool) -> VMdavOptions:
        """One gamma instead of 21: the kernels are the same."""
        return replace(self, gamma=0.5)

METHODS = (
    Method(
        name="mdav",
        family=__name__,
        summary="Forms two groups of k per round: around the record furthest from the centroid "
        "of the rest, and around the record furthest from that one.",
        guarantee="groups of k, the last of k to 2k-1; no bound on the loss",
        cost="near O(n log n) with few columns, O(n^2 / k) at most",
        representation="rounded",
        source="Domingo-Ferrer 2009, as cited in thaeter2021, section 2",
        geometries=BOTH,
    ),
    Method(
        name="mdav_plus",
        family=__name__,
        summary="Forms one group of k per round, around the record furthest from the centroid; "
        "leftover records join the closest group.",
        guarantee="n // k groups of k to 2k-1; no bound on the loss",
        cost="near O(n log n) with few columns, O(n^2 / k) at most",
        representation="rounded",
        source="thaeter2021, section 2, MDAV+",
        geometries=BOTH,
    ),
    Method(
        name="v_mdav",
        family=__name__,
        summary="Like mdav_plus, but a new group also takes in records that are closer to it "
        "than to their neighbours, by the factor gamma.",
        guarantee="groups of k to 3k-2, few above 2k-1; no bound on the loss",
        cost="near O(n log n) with few columns, O(n^2) at most; 21 times that with gamma "
        "'best'",
        representation="rounded",
        source="thaeter2021, section 2, V-MDAV",
        geometries=BOTH,
        own=VMdavOptions,
    ),
    Method(
        name="mdav_star",
        family=__name__,
        use="default",
        summary="Before it forms a group, compares the cost with that of extending the group "
        "whose squared error grows least.",
        guarantee="groups of k or more; no bound on the loss",
        cost="near O(n log n) with few columns, O(n^2) at most",
        representation="rounded",
        source="thaeter2021, section 3, MDAV*",
        geometries=BOTH,
    ),
    Method(
        name="optimal_1d",
        family=__name__,
        summary="Finds the grouping with the lowest squared error, for one quasi-identifier that "
        "is a number, date or time.",
        guarantee="groups of k to 2k-1; no grouping into groups of k or more has a lower loss",
        cost="O(n log n)",
        representation="rounded",
        source="Hansen and Mukherjee 2003, IEEE TKDE 15(4)",
        geometries={"sse": SQUARED},
        trial=Trial(numbers=1),
        in_blocks=False,
    ),
)
