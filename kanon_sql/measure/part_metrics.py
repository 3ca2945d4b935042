"""The metrics of parts, where the call makes each of them a release of its own."""

from __future__ import annotations

from kanon_sql.measure.metrics import Metric

PARTS = (
    Metric("parts", "(SELECT count(*) FROM __kanon_left WHERE part >= 0)", "parts",
           "released combinations of the columns of within, each a release of its own; merged "
           "parts count as one", public="yes"),
    Metric("parts_joined", "(SELECT count(*) FROM __kanon_parts WHERE joined)", "parts",
           "parts that were merged because some of them were too small", public="yes"),
    Metric("parts_suppressed", "(SELECT count(*) FROM __kanon_parts WHERE number < 0)", "parts",
           "parts that were left out because they were too small; their rows count as suppressed"),
    Metric("part_rows_min",
           '(SELECT min("rows" - "out") FROM __kanon_left WHERE part >= 0)', "rows",
           "released rows of the smallest part", public="yes"),
)
"""Measured where there are parts."""

OF_EACH = ("cost", "lower_bound", "ratio", "guaranteed_ratio")
"""What is about the guarantee of the method, which holds in each part on a scale of its own, and so
isn't told of all parts together."""
