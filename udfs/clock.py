"""__kanon_clock(any number): seconds now, to time the stages of a query."""

from __future__ import annotations

from time import perf_counter

from kanon_sql.udfs.signature import Signature


def clock(_: int) -> float:
    """Seconds of a clock that only goes forward; the argument says what must be done before."""
    return perf_counter()


CLOCK = Signature("__kanon_clock", clock, ("BIGINT",), "DOUBLE", "native", side_effects=True)
