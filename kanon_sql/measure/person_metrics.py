"""The metrics of persons, where the call says whose row each row is."""

from __future__ import annotations

from kanon_sql.measure.metrics import Metric, Public


def _of(
    name: str, expression: str, unit: str, description: str, public: Public = "no"
) -> Metric:
    one = f"(SELECT {expression} FROM __kanon_persons${{of_part}})"
    return Metric(name, one, unit, description, public=public)


PERSONS = (
    _of("persons", "came", "persons", "persons with released rows", public="yes"),
    _of("persons_suppressed", "${lacking}", "persons", "persons with rows that were left out",
        public="yes"),
    _of("rows_per_person_mean", "mean_rows", "rows", "mean number of released rows per person",
        public="yes"),
    _of("rows_per_person_max", "most_rows", "rows", "released rows of the person with the most"),
    _of("k_persons", "fewest", "persons",
        "smallest number of persons that share a combination of released values, counted on the "
        "released values; at least k_requested", public="yes"),
    _of("prosecutor_risk_max_persons", "1.0::DOUBLE / fewest", "probability",
        "largest chance to pick the right person among the persons of a class: 1 / k_persons; "
        "lower is better", public="yes"),
    _of("prosecutor_risk_mean_persons", "classes::DOUBLE / nullif(coming, 0)", "probability",
        "mean over the persons of that chance, summed over the classes with rows of a person: "
        "classes / persons, who count once in each part; lower is better", public="yes"),
)
"""Measured where there is an entity."""
