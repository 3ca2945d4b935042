"""k-map: every class is about k people of a population or more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kanon_sql.option import GROUPING_CALLS, option
from kanon_sql.privacy.population import PopulationConstraint
from kanon_sql.privacy.whole import Requested
from kanon_sql.validators import whole


@dataclass(frozen=True)
class KMapOptions:
    """The option that asks for it."""

    k_map: int | None = option(
        None, whole(1),
        "The minimum number of people of population that each class covers: each "
        "quasi-identifier of the person lies between the least and greatest value of the rows of "
        "the class (numbers, dates, times), or is one of their values. NULL covers only NULL. "
        "Classes are merged until each covers enough.",
        type="INTEGER", calls=GROUPING_CALLS, common=True, topic="models", proven=True,
    )


@dataclass(frozen=True)
class KMap(PopulationConstraint):
    """Classes that cover k people of the population or more.

    Source: Sweeney 2002, k-Anonymity: A Model for Protecting Privacy (k-map), with the extent of a
    class in place of its released values.

    Attributes:
        k_map: the least people of a class.
    """

    name: ClassVar[str] = "k_map"
    option: ClassVar[str] = "k_map"
    requested: ClassVar[Requested] = Requested("k_map_requested", "people", "the requested k_map")
    reached: ClassVar[Requested] = Requested(
        "k_map", "people",
        "fewest people of the population whom a class covers; at least k_map_requested",
    )

    k_map: int
