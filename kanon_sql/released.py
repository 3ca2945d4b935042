"""What every release is, wherever it was made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Release:
    """A release, as returned by ``release``, ``anonymize_files`` and ``kanon_sql.spark.release``.

    Attributes:
        path: the file or folder that was written; None for a release in memory or in Spark.
        rows: the number of released rows.
        metrics: the metrics of the release by name, such as metrics['k'].
    """

    path: str | None
    rows: int
    metrics: Mapping[str, Any]
