"""The Python face: the same query, over a frame or a file in place of a table.

Which options a function takes says keywords.py, and what each means help(); a type checker sees
that a frame of the kind comes back that came in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kanon_sql.api.comparison import FIRST, compared
from kanon_sql.api.documented import documented
from kanon_sql.api.report import Report, report_file
from kanon_sql.api.result import Release, release_of
from kanon_sql.duckdb.session import Connection, every_method, run

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from kanon_sql.api.keywords import (
        AnonymityKeywords,
        AuditKeywords,
        ComparedKeywords,
        GroupingKeywords,
        HierarchyKeywords,
        LedgerKeywords,
        MethodName,
        MetricsKeywords,
        ReleaseKeywords,
        RiskKeywords,
    )
    from kanon_sql.duckdb.frames import Frame, Named


@documented
def anonymize(
    data: Frame | Named, /, *, con: Connection | None = None, **options: Unpack[ReleaseKeywords]
) -> Frame:
    """The released rows: each combination shared by k rows or more."""
    return run("anonymize", data, con, options)


@documented
def anonymize_clusters(
    data: Frame | Named, /, *, con: Connection | None = None, **options: Unpack[GroupingKeywords]
) -> Frame:
    """One row per published cluster."""
    return run("anonymize_clusters", data, con, options)


@documented
def anonymize_metrics(
    data: Frame | Named, /, *, con: Connection | None = None, **options: Unpack[MetricsKeywords]
) -> Frame:
    """One row per metric of the release."""
    return run("anonymize_metrics", data, con, options)


@documented
def suppressed_rows(
    data: Frame | Named, /, *, con: Connection | None = None, **options: Unpack[ReleaseKeywords]
) -> Frame:
    """The rows that the release leaves out: row numbers of the source."""
    return run("suppressed_rows", data, con, options)


@documented
def anonymize_roles(
    data: Frame | Named, /, *, con: Connection | None = None, **options: Unpack[ReleaseKeywords]
) -> Frame:
    """One row per column: its role, what it looks like, and what is released."""
    return run("anonymize_roles", data, con, options)


@documented
def anonymize_ledger(
    data: Frame | Named, /, *, con: Connection | None = None, **options: Unpack[ReleaseKeywords]
) -> Frame:
    """What a release adds to its ledger: one row per person released."""
    return run("anonymize_ledger", data, con, options)


@documented
def anonymize_audit(
    data: Frame | Named, /, *, con: Connection | None = None, **options: Unpack[AuditKeywords]
) -> Frame:
    """Metrics of any release, ours or not, held against its source."""
    return run("anonymize_audit", data, con, options)


@documented
def anonymize_risk(
    data: Frame | Named, /, *, con: Connection | None = None, **options: Unpack[RiskKeywords]
) -> Frame:
    """Metrics of the risk that persons are found in any table, ours or not."""
    return run("anonymize_risk", data, con, options)


@documented
def anonymize_manifest(
    data: Frame | Named, /, *, con: Connection | None = None, **options: Unpack[ReleaseKeywords]
) -> Frame:
    """What the release is, to stand beside it: one row per entry."""
    return run("anonymize_manifest", data, con, options)


@documented
def anonymize_sql(
    data: Frame | Named, /, *, con: Connection | None = None, **options: Unpack[ReleaseKeywords]
) -> Frame:
    """The SQL text that anonymize runs, as a frame of one row."""
    return run("anonymize_sql", data, con, options)


@documented
def k_anonymity(
    data: Frame | Named, /, *, con: Connection | None = None, **options: Unpack[AnonymityKeywords]
) -> Frame:
    """The audit of any table, released by us or not."""
    return run("k_anonymity", data, con, options)


@documented
def ledger_check(
    data: Frame | Named, /, *, con: Connection | None = None, **options: Unpack[LedgerKeywords]
) -> Frame:
    """Whether a ledger of releases keeps what it promises."""
    return run("ledger_check", data, con, options)


@documented
def hierarchy(
    data: Frame | Named, column_name: str, /, *, con: Connection | None = None,
    **options: Unpack[HierarchyKeywords],
) -> Frame:
    """The level table of a column: level0 (its values) .. levelN, to edit."""
    return run("hierarchy", data, con, {"column_name": column_name, **options})


@documented
def compare(
    data: Frame | Named, /, *, con: Connection | None = None, k: int | Sequence[int] = 5,
    methods: MethodName | Sequence[MethodName] = FIRST, **options: Unpack[ComparedKeywords],
) -> Frame:
    """Methods beside each other: what each would lose and leave at risk, and how long it takes.

    One row per method and k; nothing is released. Of a method that can't take the table or an
    option, the column refused says why.
    """
    return compared(data, con, k, methods, options)


@documented
def release(
    data: Frame | Named | Connection, relation: Frame | Named | None = None, /, *,
    con: Connection | None = None, to: str | PathLike[str] | None = None,
    private: str | PathLike[str] | None = None, **options: Unpack[ReleaseKeywords],
) -> Release[Frame]:
    """The release as one object: its rows, metrics and manifest, and with to a Parquet file."""
    return release_of(data, relation, con, to, private, options)


@documented
def report(
    data: Any, /, to: str | PathLike[str] = "report.html", *, con: Connection | None = None,
    title: str | None = None, queries: Mapping[str, str] | Sequence[str] | None = None,
    compare: Sequence[str | Mapping[str, Any]] | None = None, **options: Unpack[ReleaseKeywords],
) -> Report:
    """What a release is worth, as one HTML file for who signs it off, which needs no network."""
    return report_file(data, con, (to, title, queries, compare), options)


def anonymize_methods() -> pa.Table:
    """Every method: what it does and promises, what it costs, its options and its source.

    Returns:
        One row per method, as an Arrow table.
    """
    return every_method()
