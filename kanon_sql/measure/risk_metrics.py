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
    "below 5 %, this estimate is unreliable', 100.0 * \"rows\" / people) END"
)
"""SQL of what is said beside an estimate that has too little to go by."""

RISK = (
    Metric("rows", '"rows"', "rows", "rows of the table"),
    Metric("classes", "classes", "classes", "distinct combinations of quasi-identifiers"),
    Metric("uniques", "uniques", "rows",
           "rows that share their quasi-identifiers with no other row; lower is better"),
    Metric("distinctness", 'classes::DOUBLE / nullif("rows", 0)', "share",
           "classes per row, the largest share of the rows that can be kept so that the "
           "quasi-identifiers are a key (Motwani and Xu 2007); lower is better"),
    Metric("separation",
           'CASE WHEN "rows" > 1 THEN 1 - (squares - "rows") / ("rows"::DOUBLE * ("rows" - 1)) END',
           "share", "pairs of rows that differ in at least one quasi-identifier (Motwani and Xu "
           "2007); lower is better"),
    Metric("prosecutor_risk_max", "1.0::DOUBLE / smallest", "probability",
           "largest chance that an attacker who knows that a person is in the table, and knows the "
           "quasi-identifiers, finds the row: 1 / rows of the smallest class; lower is better"),
    Metric("prosecutor_risk_mean", 'classes::DOUBLE / nullif("rows", 0)', "probability",
           "mean of the prosecutor risk over the rows; lower is better"),
    Metric("prosecutor_risk_rows_above", _above("below"), "rows",
           "rows with a prosecutor risk above 1 / k; NULL without k; 0 is best"),
    Metric("journalist_risk_max", "1.0::DOUBLE / least", "probability",
           "largest chance that an attacker who knows the population, but not which of its people "
           "are in the table, identifies the person of a row: 1 / people of its class. NULL "
           "without population or sampling_weight; lower is better"),
    Metric("journalist_risk_mean", 'found / nullif("rows", 0)', "probability",
           "mean of the journalist risk over the rows; lower is better"),
    Metric("journalist_risk_rows_above",
           _above("CASE WHEN least IS NOT NULL THEN people_below END"),
           "rows", "rows with a journalist risk above 1 / k; NULL without k; 0 is best"),
    Metric("marketer_risk", 'coalesce(found, classes::DOUBLE) / nullif("rows", 0)', "share",
           "expected share of rows that an attacker re-identifies correctly by linking every row "
           "to the population, or without population or sampling_weight to the people of the "
           "table; lower is better"),
    Metric("k_map", "least", "people",
           "people of the population in the smallest class that has a row here; higher is better"),
    Metric("population_unique_rows", "CASE WHEN least IS NOT NULL THEN alone END", "rows",
           "rows whose person is alone in the class in the population; 0 is best"),
    Metric("population_short", "short", "rows",
           "rows of classes with fewer people in the population, by the relation or the weights, "
           "than rows here; as many people as rows are then assumed. Above 0, the population or "
           "the weights are wrong"),
    Metric("individual_risk_max", _found("individual_max"), "probability",
           "largest individual risk: the mean of 1 / people, where the people of a class vary "
           "randomly around the sum of its weights (Benedetti and Franconi 1998, exact for classes "
           "of any size); NULL without sampling_weight; lower is better"),
    Metric("individual_risk_mean", _found("individual_mean"), "probability",
           "mean of the individual risk over the rows; lower is better"),
    Metric("individual_risk_rows_above", _above(_found("individual_above")), "rows",
           "rows with an individual risk above 1 / k; NULL without k; 0 is best"),
    Metric("population_size", "people", "people",
           "people in the population: those of population, the sum of the weights, or "
           "population_size"),
    Metric("sampling_fraction", 'CASE WHEN people > 0 THEN "rows" / people END', "share",
           "rows per person of the population"),
    Metric("population_uniques", "people_unique", "people",
           "people who are alone in their class in the population, counted; NULL without "
           "population"),
    Metric("population_uniques_pitman", _found("pitman"), "people",
           "population_uniques, estimated by Pitman's sampling formula (Hoshino 2001). The best "
           "estimate if the rows are at least 5 % of the population and much of it is unique; "
           "several times too high if little is unique. NULL if no parameters fit, or if the "
           "population_size is unknown", beside=DOUBTED),
    Metric("population_uniques_zayatz", _found("zayatz"), "people",
           "population_uniques, estimated as in Zayatz (1991), as if classes were as large in the "
           "population as here; too high if the sample is small", beside=DOUBTED),
    Metric("minimal_sample_uniques", _found("uniques"), "pairs",
           "pairs of a row and a set of columns (up to msu_columns) in which the row is unique, "
           "while it is not unique without any one of them (Elliot, Manning and Ford 2002); lower "
           "is better"),
    Metric("msu_rows", _found("unique_rows"), "rows",
           "rows with a minimal sample unique; lower is better"),
    Metric("msu_columns_min", _found("least_columns"), "columns",
           "columns of the smallest minimal sample unique: an attacker who knows this few values "
           "of a person may find the row; higher is better"),
    Metric("dis_score_max", _found("dis_max"), "probability",
           "largest DIS score of a row: an estimate of the chance that a match with it is right, "
           "shared out among the sample uniques by how many and how small their minimal sample "
           "uniques are (Skinner and Elliot 2002, DIS-SUDA). NULL if the population_size is "
           "unknown, or msu_columns is below the number of columns; lower is better"),
    Metric("dis_score_mean", _found("dis_mean"), "probability",
           "mean of the DIS score over the rows, 0 for rows that are not unique; lower is better"),
)
"""One row each, of any table."""

DRIVES = Metric(
    "drives_risk", "", "share",
    "minimal sample uniques that include this column; generalize the columns with the highest "
    "share first",
)
"""Measured once for each quasi-identifier."""

BY_SUBSET = tuple(
    Metric(f"{metric.name} (columns)", "", metric.unit, f"{metric.name} of these columns alone")
    for metric in RISK if metric.name in ("distinctness", "separation")
)
"""Measured once for each subset of up to subset_columns quasi-identifiers."""

WEIGHTED = (
    Metric("k_weighted", "least_people", "people",
           "smallest sum of the weights of a class: the k in the population; higher is better"),
    Metric("risk_weighted_max", "1.0::DOUBLE / least_people", "probability",
           "largest chance that an attacker who knows the population, but not which of its people "
           "are in the release, identifies the person of a row: 1 / k_weighted; lower is better"),
    Metric("risk_weighted_mean", "people_found / nullif(rows_released, 0)", "probability",
           "mean of that chance over the rows; lower is better"),
)
"""Of a release as it is made, where weight names a column."""
