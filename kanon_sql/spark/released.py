"""What a release in Spark was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


def free(frame: Any) -> None:
    """Frees a checkpoint of Spark."""
    # Spark Connect frees it when nobody holds the DataFrame any more
    plan = getattr(frame, "_jdf", None)
    if plan is not None:
        plan.queryExecution().analyzed().rdd().unpersist(False)


@dataclass(frozen=True)
class ReleasedFrame:
    """A release in Spark.

    Attributes:
        frame: the DataFrame of the released rows, verified as they lie in Spark's workers.
        metrics: what was asked and reached, by name.
        kept: the DataFrame that Spark keeps there.
    """

    frame: Any
    metrics: Mapping[str, Any]
    kept: Any

    def unpersist(self) -> None:
        """Frees what Spark keeps, when the release is written: the rows can't be read any more."""
        free(self.kept)

    def __repr__(self) -> str:
        return (
            f"ReleasedFrame({self.metrics['rows_released']:,} rows in "
            f"{self.metrics['classes']:,} classes, k = {self.metrics['k']})"
        )
