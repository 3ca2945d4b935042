"""Methods beside each other: what each loses and leaves at risk for each k, and how long it
takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from kanon_sql.call.options import OPTIONS
from kanon_sql.duckdb.frames import Frame, Named, lasting, way_back
from kanon_sql.duckdb.session import Connection, Session, answer, given_options
from kanon_sql.errors import DataError, OptionError, ReleaseError
from kanon_sql.jobs.interrupts import heard

if TYPE_CHECKING:
    from kanon_sql.api.keywords import MethodName

FIRST: tuple[MethodName, ...] = ("mdav_star", "mdav_plus", "k_member", "mondrian", "forest")
"""The methods that are compared unless others are named: one or two of each way to group, which
take any table."""

METRICS = (
    "information_loss", "total_il", "discernibility", "classes", "k", "prosecutor_risk_max",
    "prosecutor_risk_mean", "rows_suppressed",
)

VARIED = ("k", "method", "max_risk", "detail")
"""The options of anonymize_metrics that say which releases are compared."""

UNCOMPARED = "compare takes no {}. Give k=[5, 10] or one k, and methods=['mdav_star', 'mondrian']."
NONE = "No method takes this table with these options. {}: {}"
NO_LIST = "{} is not a list. Give one such as {}."


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
            asked = {**options, "k": k, "method": method, "detail": True}
            try:
                numbers = answer("anonymize_metrics", data, con, asked, _numbers)
            except (OptionError, DataError, ReleaseError) as refusal:
                if heard() > before:
                    raise KeyboardInterrupt from None
                yield Compared(method, k, {}, perf_counter() - started, str(refusal))
                continue
            yield Compared(
                method, k,
                {name: numbers[name] for name in METRICS if numbers.get(name) is not None},
                perf_counter() - started,
            )


def _numbers(rows: duckdb.DuckDBPyRelation) -> dict[str, float | None]:
    """The metrics that are numbers, by name."""
    return {metric: value for metric, value, *_ in rows.fetchall()}


def compared(
    data: Frame | Named, con: Connection | None, k: Any, methods: Any, options: Mapping[str, Any]
) -> Frame:
    """The same as a frame of the kind that came in: method, k_requested, the METRICS, seconds,
    refused.

    Args:
        data: the relation.
        con: the caller's connection or None.
        k: one or a list of such.
        methods: one by its name, or a list of such.
        options: all other options of anonymize_metrics; None stands for "not given".

    Raises:
        OptionError: there is no release to compare, or what is given is none of these.
    """
    asked = given_options(options)
    for name in VARIED:
        if name in asked:
            raise OptionError(UNCOMPARED.format(name))
    ks = [OPTIONS["k"].read(each) for each in _listed("k", k, "[5, 10]")]
    named = _listed("methods", methods, "['mdav_star', 'mondrian']")
    chosen = [OPTIONS["method"].read(each) for each in named]
    results = list(compare(con, lasting(data), ks, chosen, asked))
    if all(one.refused is not None for one in results):
        raise OptionError(NONE.format(results[0].method, results[0].refused))
    rows = [
        {"method": one.method, "k_requested": one.k,
         **{name: one.metrics.get(name) for name in METRICS}, "seconds": one.seconds,
         "refused": one.refused}
        for one in results
    ]
    kinds = {"method": pa.string(), "k_requested": pa.int64(), "refused": pa.string()}
    table = pa.Table.from_pylist(rows, schema=pa.schema(
        [(name, kinds.get(name, pa.float64())) for name in rows[0]]
    ))
    with Session(None) as own:
        frame: Frame = way_back(data, con)(own.con.from_arrow(table))
        return frame


def _listed(name: str, value: Any, example: str) -> list[Any]:
    """A list of one or more, also where one is given."""
    if isinstance(value, (str, int)):
        return [value]
    if not isinstance(value, Sequence) or not value:
        raise OptionError(NO_LIST.format(name, example))
    return list(value)
