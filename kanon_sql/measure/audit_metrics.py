"""The metrics of anonymize_audit: of any release, held against its source."""

from __future__ import annotations

from dataclasses import replace

from kanon_sql.measure.metrics import METRICS, Metric, audited, filled


def _listed(columns: str) -> str:
    """How many columns there are in a list, where identifiers were named; NULL is none."""
    return filled("CASE WHEN ${named} THEN coalesce(len(${columns}), 0) END", columns=columns,
                  named="${identifiers_named}")


AUDIT = (
    *(m for m in METRICS if m.name in (
        "rows", "rows_released", "rows_suppressed", "classes",
        "class_size_mean", "class_size_max", "k_requested",
    )),
    Metric("k", "smallest", "rows", "the k that holds, counted on the released values"),
    Metric("rows_below_k", "CASE WHEN ${k} IS NOT NULL THEN below END", "rows",
           "rows in classes smaller than k; NULL without k"),
    *(replace(m, expression=expression)
      for name, expression in (("total_il", audited("total_il")), ("ncp", audited("ncp")))
      for m in METRICS if m.name == name),
    Metric("ncp_at_least", audited("ncp_at_least"), "share",
           "lower bound of ncp: the loss of the cells for which it is known, and all cells of the "
           "rows that are missing in the release"),
    Metric("ncp_at_most", audited("ncp_at_most"), "share",
           "upper bound of ncp: as ncp_at_least, and 1 for every cell for which it is unknown"),
    *(replace(m, expression=audited("entropy_loss")) for m in METRICS if m.name == "entropy_loss"),
    Metric("cells_unread", audited("unread"), "cells",
           "released values that are not a value, interval, set or label of the source, such as "
           "labels of a hierarchy that the audit was not given; their loss is unknown"),
    Metric("cells_points", audited("points"), "cells",
           "released numbers that are not a value of the source, such as centroids; they have no "
           "range, so the loss of their column is unknown"),
    *(m for m in METRICS if m.name in (
        "discernibility", "c_avg", "classification_metric", "prosecutor_risk_max",
        "prosecutor_risk_mean"
    )),
    Metric("identifiers_released", _listed("${identifiers_released}"), "columns",
           "identifiers that the release has a column for, by name; the column text lists them; "
           "0 is best; NULL if the call names no identifiers",
           beside="array_to_string(${identifiers_released}, ', ')"),
    Metric("identifiers_determined", _listed("${identifiers_determined}"), "columns",
           "other columns that are unchanged in the release and determine an identifier: each of "
           "their values occurs with only one identifier in the source. The column text lists "
           "them, with the identifier in parentheses; 0 is best; NULL if the call names no "
           "identifiers",
           beside="array_to_string(${identifiers_determined}, ', ')"),
)
"""What can be measured on any pair of a source and a release of it."""
