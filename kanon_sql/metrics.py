"""The metrics of a release: name, SQL expression over the facts of the run, unit, meaning."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """One row of anonymize_metrics().

    Attributes:
        name: the metric.
        expression: SQL over the columns of ``_facts`` in sql/metrics.sql; a number, or a text
            where ``is_text``.
        unit: its unit.
        description: what it means, and which direction is better.
        is_text: whether the value is a text, shown in the column ``text``.
    """

    name: str
    expression: str
    unit: str
    description: str
    is_text: bool = False


def _measured(name: str) -> str:
    return f"(measured ->> '{name}')::DOUBLE"


def _grouped(name: str) -> str:
    return f"(grouped ->> '{name}')::DOUBLE"


METRICS = (
    Metric("rows_in", "rows_in", "rows", "rows of the relation"),
    Metric("rows_released", "rows_released", "rows", "rows that came out"),
    Metric("rows_suppressed", "rows_suppressed", "rows",
           "rows left out; rows_in = rows_released + rows_suppressed"),
    Metric("classes", "classes", "classes", "distinct combinations of released values"),
    Metric("class_size_min", "smallest", "rows", "rows of the smallest class"),
    Metric("class_size_mean", "rows_released::DOUBLE / classes", "rows",
           "rows per class on average"),
    Metric("class_size_max", "largest", "rows", "rows of the largest class"),
    Metric("k_requested", "${k}", "rows", "the k that was asked for"),
    Metric("k_reached", "smallest", "rows",
           "the k that holds, counted on the released values; at least k_requested"),
    Metric("information_loss", _measured("information_loss"), "percent",
           "100 * sse / sst (thaeter2021, definition 1.5); lower is better"),
    Metric("sse", _measured("sse"), "squared standard deviations",
           "squared errors of the grouping, to the mean of each class; lower is better"),
    Metric("sse_released", _measured("sse_released"), "squared standard deviations",
           "squared errors to the released point, 1 for a cell whose class mixes NULL and values; "
           "NULL where the representation is no point; lower is better"),
    Metric("sst", _measured("sst"), "squared standard deviations",
           "squared errors if all rows were one class"),
    Metric("max_radius", _measured("max_radius"), "standard deviations",
           "largest distance of a row to the center of its class (aggarwal2006, definition 2.1); "
           "lower is better"),
    Metric("cellular_cost", _measured("cellular_cost"), "standard deviations",
           "sum over the classes of size times radius (aggarwal2006, section 1); "
           "lower is better"),
    Metric("discernibility", "squares + rows_in::DOUBLE * rows_suppressed", "rows squared",
           "sum of squared class sizes, and rows_in for each suppressed row; lower is better"),
    Metric("risk_max", "1.0::DOUBLE / smallest", "probability",
           "largest chance that a prosecutor finds a person's row: 1 / class_size_min"),
    Metric("risk_mean", "classes::DOUBLE / rows_released", "probability",
           "chance that a prosecutor finds a person's row, on average over the rows"),
    Metric("seconds_total", "verified - started", "seconds",
           "from the start of the query to the end of the verification"),
    Metric("seconds_read", _grouped("started") + " - started", "seconds",
           "reading and collecting the rows"),
    Metric("seconds_encode", _grouped("seconds_encode"), "seconds",
           "standardizing, coding and ordering the rows"),
    Metric("seconds_group", _grouped("seconds_group"), "seconds",
           "the method itself; 0 where the labels were remembered"),
    Metric("seconds_generalize", "generalized - " + _grouped("finished"), "seconds",
           "aggregating what each class releases, and building the released rows"),
    Metric("seconds_verify", "verified - generalized", "seconds",
           "counting the classes of the released rows"),
    Metric("method", "${method}", "", "how the rows were grouped", True),
    Metric("gamma", _grouped("gamma"), "",
           "the gamma that v_mdav used, given or best; NULL where blocks chose different ones"),
    Metric("blocks", _grouped("blocks"), "blocks",
           "blocks that were grouped each on its own; 1 where the rows were grouped as one"),
    Metric("refine_steps", _grouped("refine_steps"), "steps",
           "rows that refine or the method best visited; given as refine_steps, the same release"),
    Metric("refine_end", "CASE grouped ->> 'refine_stopped' WHEN '0.0' THEN 'steps' "
           "WHEN '1.0' THEN 'seconds' END", "",
           "what ended the search: its 'steps', or its 'seconds'", True),
    Metric("labels", "grouped ->> 'labels'", "",
           "'computed', or 'remembered' from an earlier call on the same content", True),
    Metric("options", "${options}", "JSON", "all options as they were used", True),
    Metric("seed", "${seed}", "", "the seed", True),
    Metric("version", "${version}", "", "of kanon_sql, and of DuckDB", True),
)
