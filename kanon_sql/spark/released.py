"""A release in Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kanon_sql.released import Release


def free(frame: Any) -> None:
    """Frees a checkpoint of Spark."""
    # Spark Connect frees it when nobody holds the DataFrame any more
    plan = getattr(frame, "_jdf", None)
    if plan is not None:
        plan.queryExecution().analyzed().rdd().unpersist(False)


@dataclass(frozen=True)
class SparkRelease(Release):
    """A release in Spark.

    Attributes:
        data: the DataFrame of the released rows, verified as they lie in Spark's workers.
        rows: the number of them.
        metrics: the metrics of the release by name, with the requested and the achieved k.
        kept: the DataFrame that Spark keeps there.
    """

    data: Any
    rows: int
    metrics: Mapping[str, Any]
    kept: Any
    path: None = field(default=None, init=False)

    def unpersist(self) -> None:
        """Frees what Spark keeps, when the release is written: the rows can no longer be read."""
        free(self.kept)

    def __repr__(self) -> str:
        return (
            f"Release({self.rows:,} rows in {self.metrics['classes']:,} classes in Spark, "
            f"k = {self.metrics['k']})"
        )
