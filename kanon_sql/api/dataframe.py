"""The Python interface: the same query, over a frame or a file in place of a table.

keywords.py has the options of each function, and help() describes them. A type checker sees that a
function returns a frame of the same kind as its data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kanon_sql.api.comparison import FIRST, compared
from kanon_sql.api.documented import documented
from kanon_sql.api.evidence import ATTACKS, EvidenceRequest, evidence_of
from kanon_sql.api.report import Report, report_file
from kanon_sql.api.result import TableRelease, release_of
from kanon_sql.attacks.facts import Evidence
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
    """Returns the released rows: each combination of quasi-identifiers is in k rows or more."""
    return run("anonymize", data, con, options)


@documented
def anonymize_clusters(
    data: Frame | Named, /, *, con: Connection | None = None, **options: Unpack[GroupingKeywords]
) -> Frame:
    """Returns the published clusters, one row per cluster."""
    return run("anonymize_clusters", data, con, options)


@documented
def anonymize_metrics(
    data: Frame | Named, /, *, con: Connection | None = None, **options: Unpack[MetricsKeywords]
) -> Frame:
    """Returns the metrics of the release, one row per metric."""
    return run("anonymize_metrics", data, con, options)


@documented
def suppressed_rows(
    data: Frame | Named, /, *, con: Connection | None = None, **options: Unpack[ReleaseKeywords]
) -> Frame:
    """Returns the row numbers, in the source, of the rows that the release leaves out."""
    return run("suppressed_rows", data, con, options)


@documented
def anonymize_roles(
    data: Frame | Named, /, *, con: Connection | None = None, **options: Unpack[ReleaseKeywords]
) -> Frame:
    """Returns one row per column: its role, its properties, and its released form."""
    return run("anonymize_roles", data, con, options)


@documented
def anonymize_ledger(
    data: Frame | Named, /, *, con: Connection | None = None, **options: Unpack[ReleaseKeywords]
) -> Frame:
    """Returns the entries that a release adds to its ledger, one row per released person."""
    return run("anonymize_ledger", data, con, options)


@documented
def anonymize_audit(
    data: Frame | Named, /, *, con: Connection | None = None, **options: Unpack[AuditKeywords]
) -> Frame:
    """Returns metrics of a release by any tool, compared with its source."""
    return run("anonymize_audit", data, con, options)


@documented
def anonymize_risk(
    data: Frame | Named, /, *, con: Connection | None = None, **options: Unpack[RiskKeywords]
) -> Frame:
    """Returns metrics of the re-identification risk of any table."""
    return run("anonymize_risk", data, con, options)


@documented
def anonymize_manifest(
    data: Frame | Named, /, *, con: Connection | None = None, **options: Unpack[ReleaseKeywords]
) -> Frame:
    """Returns the manifest, which describes the release, one row per entry."""
    return run("anonymize_manifest", data, con, options)


@documented
def anonymize_sql(
    data: Frame | Named, /, *, con: Connection | None = None, **options: Unpack[ReleaseKeywords]
) -> Frame:
    """Returns the SQL query that anonymize runs, as one row."""
    return run("anonymize_sql", data, con, options)


@documented
def k_anonymity(
    data: Frame | Named, /, *, con: Connection | None = None, **options: Unpack[AnonymityKeywords]
) -> Frame:
    """Audits any table: its k, its risk, and the privacy models of its sensitive columns."""
    return run("k_anonymity", data, con, options)


@documented
def ledger_check(
    data: Frame | Named, /, *, con: Connection | None = None, **options: Unpack[LedgerKeywords]
) -> Frame:
    """Checks the guarantees of a ledger of releases."""
    return run("ledger_check", data, con, options)


@documented
def hierarchy(
    data: Frame | Named, column_name: str, /, *, con: Connection | None = None,
    **options: Unpack[HierarchyKeywords],
) -> Frame:
    """Returns the level table of a column, level0 (its values) .. levelN, which you can edit."""
    return run("hierarchy", data, con, {"column_name": column_name, **options})


@documented
def compare(
    data: Frame | Named, /, *, con: Connection | None = None, k: int | Sequence[int] = 5,
    methods: MethodName | Sequence[MethodName] = FIRST, **options: Unpack[ComparedKeywords],
) -> Frame:
    """Compares methods by loss, risk and time, for one or several k.

    Returns one row per method and k; nothing is released. If a method cannot take the table or an
    option, the column refused has the reason.
    """
    return compared(data, con, k, methods, options)


@documented
def release(
    data: Frame | Named | Connection, relation: Frame | Named | None = None, /, *,
    con: Connection | None = None, to: str | PathLike[str] | None = None,
    private: str | PathLike[str] | None = None, **options: Unpack[ReleaseKeywords],
) -> TableRelease[Frame]:
    """Makes a release: its rows, metrics and manifest, and with ``to`` a Parquet file."""
    return release_of(data, relation, con, to, private, options)


@documented
def report(
    data: Any, /, to: str | PathLike[str] = "report.html", *, con: Connection | None = None,
    title: str | None = None, queries: Mapping[str, str] | Sequence[str] | None = None,
    compare: Sequence[str | Mapping[str, Any]] | None = None, evidence: bool | Evidence = False,
    predict: Sequence[str] | None = None, **options: Unpack[ReleaseKeywords],
) -> Report:
    """Writes a report of a release for its approval, as one HTML file that needs no network."""
    return report_file(data, con, (to, title, queries, compare, evidence, predict), options)


@documented
def evidence(
    data: Frame | Named, /, *, con: Connection | None = None, control: Frame | Named | None = None,
    released: Frame | Named | None = None, attacks: int = ATTACKS,
    **options: Unpack[ReleaseKeywords],
) -> Evidence:
    """Attacks a release: how much more an attacker learns of people in it than of people outside.

    Half of the rows, drawn by their contents, are released with these options, and the other half
    are the people outside. With ``control``, all rows are released. With ``population``, in which
    all people are who may be in data, delta-presence is measured.
    """
    return evidence_of(data, con, EvidenceRequest(released, control, attacks), options)


def anonymize_methods() -> pa.Table:
    """Returns all methods, with their guarantees, costs, options and sources.

    Returns:
        One row per method, as an Arrow table.
    """
    return every_method()
