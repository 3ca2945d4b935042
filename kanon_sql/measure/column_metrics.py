"""The metrics of each quasi-identifier that say how far released cells are from the rows' own."""

from __future__ import annotations

from kanon_sql.measure.metrics import Metric

ERROR = Metric(
    "mean_error", "", "unit of the column",
    "mean absolute difference between the released number of a row and its own, in days for dates "
    "and in seconds for times; NULL for categories, and for ranges and labels; lower is better",
)
CHANGED = Metric(
    "changed_cells", "", "share",
    "cells_generalized of this quasi-identifier alone: released rows that do not show exactly "
    "their own value; lower is better",
)
OF_COLUMN = {"error": ERROR, "changed": CHANGED}
"""By the fact that tells them: measured once for each quasi-identifier, of a release as it is
made."""
