"""The metrics of anonymize_risk, and what weights add to those of a release."""

from __future__ import annotations

from kanon_sql.measure.metrics import Metric


def _found(name: str) -> str:
    """A number that stages/risk.py found."""
    return f"(measured ->> '{name}')::DOUBLE"


def _above(rows: str) -> str:
    return f"CASE WHEN ${{k}} IS NOT NULL THEN {rows} END"


# a fraction that is told as 5.00 % is one
DOUBTED = (
    "CASE WHEN \"rows\" < 0.04995 * people THEN format('the rows are {:.2f} % of the population: "
    "below 5 % this estimate is not to be believed', 100.0 * \"rows\" / people) END"
)
"""SQL of what is said beside an estimate that has too little to go by."""

RISK = (
    Metric("rows", '"rows"', "rows", "rows of the table"),
    Metric("classes", "classes", "classes", "distinct combinations of quasi-identifiers"),
    Metric("uniques", "uniques", "rows", "rows that share theirs with no other row"),
    Metric("distinctness", 'classes::DOUBLE / nullif("rows", 0)', "share",
           "classes per row: the share of the rows that may stay for the quasi-identifiers to be a "
           "key (Motwani and Xu 2007); lower is better"),
    Metric("separation",
           'CASE WHEN "rows" > 1 THEN 1 - (squares - "rows") / ("rows"::DOUBLE * ("rows" - 1)) END',
           "share", "pairs of rows that differ in a quasi-identifier (Motwani and Xu 2007); lower "
           "is better"),
    Metric("prosecutor_risk_max", "1.0::DOUBLE / smallest", "probability",
           "largest chance of who knows that a person is in the table, and knows the person's "
           "quasi-identifiers, to find the row: 1 / the rows of the smallest class"),
    Metric("prosecutor_risk_mean", 'classes::DOUBLE / nullif("rows", 0)', "probability",
           "the same on average over the rows"),
    Metric("prosecutor_risk_rows_above", _above("below"), "rows",
           "rows for which it is above 1 / k; NULL without k"),
    Metric("journalist_risk_max", "1.0::DOUBLE / least", "probability",
           "largest chance of who knows the population, but not who of it is in the table, to tell "
           "whose a row is: 1 / the people of its class; NULL without population or weight"),
    Metric("journalist_risk_mean", 'found / nullif("rows", 0)', "probability",
           "the same on average over the rows"),
    Metric("journalist_risk_rows_above",
           _above("CASE WHEN least IS NOT NULL THEN people_below END"),
           "rows", "rows for which it is above 1 / k; NULL without k"),
    Metric("marketer_risk", 'coalesce(found, classes::DOUBLE) / nullif("rows", 0)', "share",
           "rows that are expected to be told right by who links all of them: to the people of the "
           "population, or without one to the people of the table"),
    Metric("k_map", "least", "people",
           "people of the population in the smallest class that has a row here; higher is better"),
    Metric("population_unique_rows", "CASE WHEN least IS NOT NULL THEN alone END", "rows",
           "rows whose person is the only one of the class in the population; 0 is best"),
    Metric("population_short", "short", "rows",
           "rows of classes that have fewer people in the population than rows here, by the "
           "relation or by the weights; as many people as rows are assumed of them, and above 0 "
           "the population is not what it is said to be"),
    Metric("individual_risk_max", _found("individual_max"), "probability",
           "largest chance that a row is told right: the mean of 1 / people, where the people of a "
           "class vary by chance around the sum of its weights (Benedetti and Franconi 1998, exact "
           "for classes of any size); NULL without weight"),
    Metric("individual_risk_mean", _found("individual_mean"), "probability",
           "the same on average over the rows"),
    Metric("individual_risk_rows_above", _above(_found("individual_above")), "rows",
           "rows for which it is above 1 / k; NULL without k"),
    Metric("population_size", "people", "people",
           "people of the population: of the relation, by the weights, or as population_size says"),
    Metric("sampling_fraction", 'CASE WHEN people > 0 THEN "rows" / people END', "share",
           "rows per person of the population"),
    Metric("population_uniques", "people_unique", "people",
           "people of the population who are the only ones of their class, counted; NULL without "
           "population"),
    Metric("population_uniques_pitman", _found("pitman"), "people",
           "the same as Pitman's sampling formula estimates it (Hoshino 2001), the best guess "
           "where the rows are 5 % of the population or more and much of it is unique; several "
           "times too high where little is; NULL where no parameters fit, or where nothing tells "
           "the population_size", beside=DOUBTED),
    Metric("population_uniques_zayatz", _found("zayatz"), "people",
           "the same as Zayatz (1991) estimates it, as if classes were as large in the population "
           "as here, which is too high where the sample is small", beside=DOUBTED),
    Metric("minimal_sample_uniques", _found("uniques"), "pairs",
           "rows and sets of columns in whose values no other row is equal, while there is one for "
           "each set that lacks one of them (Elliot, Manning and Ford 2002), of sets of up to "
           "msu_columns; lower is better"),
    Metric("msu_rows", _found("unique_rows"), "rows", "rows that have such a set"),
    Metric("msu_columns_min", _found("least_columns"), "columns",
           "columns of the smallest such set: who knows so few of a person may find the row; "
           "higher is better"),
)
"""One row each, of any table."""

DRIVES = Metric(
    "drives_risk", "", "share",
    "minimal sample uniques that this column is in: the more, the more it pays to generalize it",
)
"""Measured once for each quasi-identifier."""

BY_SUBSET = tuple(
    Metric(f"{metric.name} (columns)", "", metric.unit, f"{metric.name} of these columns alone")
    for metric in RISK if metric.name in ("distinctness", "separation")
)
"""Measured once for each subset of up to subset_columns quasi-identifiers."""

WEIGHTED = (
    Metric("k_weighted", "least_people", "people",
           "least sum of weights of a class: the k in the population; higher is better"),
    Metric("risk_weighted_max", "1.0::DOUBLE / least_people", "probability",
           "largest chance of who knows the population, but not who of it is in the release, to "
           "tell whose a row is: 1 / k_weighted"),
    Metric("risk_weighted_mean", "people_found / nullif(rows_released, 0)", "probability",
           "the same on average over the rows"),
)
"""Of a release as it is made, where weight names a column."""
