"""What a release in Spark was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ReleasedFrame:
    """A release in Spark.

    Attributes:
        frame: the DataFrame of the released rows, verified as they lie in Spark's cache.
        metrics: what was asked and reached, by name.
        kept: the DataFrame that Spark caches.
    """

    frame: Any
    metrics: Mapping[str, Any]
    kept: Any

    def unpersist(self) -> None:
        """Frees Spark's cache, when the release is written."""
        self.kept.unpersist()

    def __repr__(self) -> str:
        return (
            f"ReleasedFrame({self.metrics['rows_released']:,} rows in "
            f"{self.metrics['classes']:,} classes, k_reached = {self.metrics['k_reached']})"
        )
