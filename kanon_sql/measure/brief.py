"""The metrics that most people read."""

from __future__ import annotations

from kanon_sql.privacy import THRESHOLDS

FIRST = (
    "rows_released", "k", "prosecutor_risk_max", "information_loss", "cells_generalized",
)
"""With these anonymize_metrics begins."""

BRIEF = (
    *FIRST, "rows", "rows_suppressed", "k_requested", "classes", "class_size_mean",
    "class_size_max", "prosecutor_risk_mean", "persons", "k_persons",
    "prosecutor_risk_max_persons", "k_weighted", "risk_weighted_max", "release",
    "anonymity_set_min", "rows_withheld", "parts",
    *(name for each in THRESHOLDS for name in (f"{each.name}_requested", each.name)),
    "homogeneous_rows", "ncp", "unchanged_columns", "unique_in_unchanged", "method",
    "seconds_total",
)
"""What anonymize_metrics shows without detail, in this order; then notices, and what each column
loses, the greatest loss first."""

BRIEF_ROWS, BRIEF_NOTICES = 30, 5
"""How many metrics these are at most, and how many notices come before the columns."""
