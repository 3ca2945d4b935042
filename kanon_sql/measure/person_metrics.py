"""The metrics of persons, where the call says whose row each row is."""

from __future__ import annotations

from kanon_sql.measure.metrics import Metric, Public


def _of(
    name: str, expression: str, unit: str, description: str, public: Public = "no"
) -> Metric:
    one = f"(SELECT {expression} FROM __kanon_persons${{of_part}})"
    return Metric(name, one, unit, description, public=public)


PERSONS = (
    _of("persons", "came", "persons", "persons of whom rows came out", public="yes"),
    _of("persons_suppressed", "${lacking}", "persons", "persons of whom rows were left out",
        public="yes"),
    _of("rows_per_person_mean", "mean_rows", "rows", "released rows of a person on average",
        public="yes"),
    _of("rows_per_person_max", "most_rows", "rows", "released rows of the person who has the most"),
    _of("k_persons", "fewest", "persons",
        "the least persons of a combination of released values, counted on these; at least "
        "k_requested", public="yes"),
    _of("prosecutor_risk_max_persons", "1.0::DOUBLE / fewest", "probability",
        "the chance to pick a person out of the smallest class by whose rows these are: "
        "1 / k_persons", public="yes"),
)
"""Measured where there is an entity."""
