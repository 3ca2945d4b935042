"""Methods beside each other: what each loses and leaves at risk for each k, and how long it
takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from kanon_sql.errors import DataError, OptionError, ReleaseError
from kanon_sql.interfaces.session import Connection, run
from kanon_sql.jobs.interrupts import heard

FIRST = ("mdav_star", "mdav_plus", "k_member", "mondrian", "forest")
"""The methods that are compared unless others are named: one or two of each way to group, which
take any table."""

METRICS = (
    "information_loss", "total_il", "discernibility", "classes", "k_reached", "risk_max",
    "risk_mean", "rows_suppressed",
)


@dataclass(frozen=True)
class Compared:
    """One method with one k.

    Attributes:
        method, k: which.
        metrics: the METRICS that there are of the release, by name.
        seconds: how long the release and its metrics took together, what is compiled not included
            where it was compiled before.
        refused: why there is no release; None where there is one.
    """

    method: str
    k: int
    metrics: Mapping[str, float]
    seconds: float
    refused: str | None = None


def compare(
    con: Connection | None, data: Any, ks: Sequence[int], methods: Sequence[str],
    options: Mapping[str, Any],
) -> Iterator[Compared]:
    """Releases a table by each method and k, one after the other, and keeps nothing of it.

    Args:
        con: the caller's connection or None.
        data: the relation.
        ks: each k.
        methods: the methods by name.
        options: all other options of anonymize_metrics.
    """
    for k in ks:
        for method in methods:
            started, before = perf_counter(), heard()
            given = {**options, "k": k, "method": method}
            try:
                found = run("anonymize_metrics", {"data": data, "con": con, "unknown": given})
            except (OptionError, DataError, ReleaseError) as refusal:
                if heard() > before:
                    raise KeyboardInterrupt from None
                yield Compared(method, k, {}, perf_counter() - started, str(refusal))
                continue
            names, values = found["metric"].to_pylist(), found["value"].to_pylist()
            numbers = dict(zip(names, values, strict=True))
            yield Compared(
                method, k,
                {name: numbers[name] for name in METRICS if numbers.get(name) is not None},
                perf_counter() - started,
            )
