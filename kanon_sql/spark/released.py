"""A release in Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kanon_sql.released import Release


def free(frame: Any) -> None:
    """Frees a checkpoint of Spark."""
    # Spark Connect frees it when nobody holds the DataFrame any more
    plan = getattr(frame, "_jdf", None)
    if plan is not None:
        plan.queryExecution().analyzed().rdd().unpersist(False)


class EntriesInSpark(NamedTuple):
    """What a release adds to its ledger.

    Attributes:
        data: one row for each person that is released.
        kept: what Spark keeps of them.
    """

    data: Any
    kept: Any


@dataclass(frozen=True)
class SparkRelease(Release):
    """A release in Spark.

    Attributes:
        data: the DataFrame of the released rows, verified as they lie in Spark's workers.
        rows: the number of them.
        metrics: the metrics of the release by name, with the requested and the achieved k.
        kept: the DataFrames that Spark keeps there.
        entries: with ledger or headroom, the DataFrame of what the release adds to its ledger, as
            ``anonymize_ledger`` gives it; it is as private as the source.
    """

    data: Any
    rows: int
    metrics: Mapping[str, Any]
    kept: Sequence[Any]
    entries: Any = None
    path: None = field(default=None, init=False)

    def unpersist(self) -> None:
        """Frees what Spark keeps, when the release is written, and its entries are: the rows can no
        longer be read."""
        for each in self.kept:
            free(each)

    def __repr__(self) -> str:
        return (
            f"Release({self.rows:,} rows in {self.metrics['classes']:,} classes in Spark, "
            f"k = {self.metrics['k']})"
        )
