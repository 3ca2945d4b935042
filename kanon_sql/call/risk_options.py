"""The options about risk: how much of it a release may have, and against what it is measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from kanon_sql.errors import OptionError
from kanon_sql.option import ALL_CALLS, GROUPING_CALLS, option
from kanon_sql.validators import name_like, risk, whole

RISK_CALLS = ("anonymize_risk",)
WEIGHED_CALLS = (*GROUPING_CALLS, *RISK_CALLS)


@dataclass(frozen=True)
class RiskOptions:
    """How much risk may be, and against whom it is measured."""

    max_risk: float | None = option(
        None, risk,
        "The maximum prosecutor risk, the chance to find a person's row, in place of k: k is the "
        "smallest integer that is at least 1 / max_risk, so 0.09 gives 12.",
        type="DOUBLE", calls=ALL_CALLS, common=True, topic="models", proven=True,
    )
    population: str | None = option(
        None, name_like("'census'"),
        "The table, view or file of the population that contains the people of the relation, with "
        "columns of the same names. It represents the knowledge of a journalist attacker, such as "
        "a registry. For anonymize_risk, it is generalized in the same way; for k_map and "
        "evidence, it is not generalized.",
        calls=(*RISK_CALLS, *GROUPING_CALLS), relation=True, common=True,
    )
    population_size: int | None = option(
        None, whole(1),
        "The number of people in the population that the relation is a sample of, for population "
        "uniques. Not allowed with population or sampling_weight, which determine it.",
        type="BIGINT", default_text="from population or sampling_weight", calls=RISK_CALLS,
        common=True,
    )
    sampling_weight: str | None = option(
        None, name_like("'w'"),
        "The column with the number of people in the population that each row represents, above 0 "
        "in each row. It is released unchanged. anonymize_risk and anonymize_metrics count people "
        "by it, and centroids of numbers, dates and times are weighted means (except centers that "
        "a method chooses).",
        calls=WEIGHED_CALLS, columns=True,
    )
    msu_columns: int | None = option(
        None, whole(0, 62),
        "The maximum number of columns of a minimal sample unique to search for; 0 disables the "
        "search.",
        type="INTEGER",
        default_text="all of up to 12 quasi-identifiers, 4 of up to 30, 3 of up to 62, else 0",
        calls=RISK_CALLS,
    )
    subset_columns: int = option(
        2, whole(0, 62),
        "The maximum number of columns of a subset whose distinctness and separation are reported.",
        type="INTEGER", calls=RISK_CALLS,
    )


def k_of(options: RiskOptions) -> int | None:
    """The k that max_risk stands for: the least with 1 / k <= max_risk, where 0.09 is 9/100, and
    not the double next to it."""
    return None if options.max_risk is None else math.ceil(1 / Fraction(repr(options.max_risk)))


def refuse_together(options: RiskOptions, k: int | None) -> None:
    """Raises OptionError for two options that say the same.

    Args:
        options: as they were given.
        k: the option of that name, if it was given.
    """
    limits = {"k": k, "max_risk": options.max_risk}
    said = [name for name, value in limits.items() if value is not None]
    if len(said) > 1:
        raise OptionError(
            f"{said[0]} and {said[1]} both say how many rows must share each combination of "
            "quasi-identifiers. Give one of them."
        )
    known = {
        "population": options.population, "sampling_weight": options.sampling_weight,
        "population_size": options.population_size,
    }
    said = [name for name, value in known.items() if value is not None]
    if len(said) > 1:
        raise OptionError(
            f"{said[0]} and {said[1]} both say how many people there are. Give one of them."
        )
