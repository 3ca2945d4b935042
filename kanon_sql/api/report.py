"""A report: what a release is worth, on one page for who signs it off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import duckdb

from kanon_sql.api.evidence import EvidenceRequest, for_release, gather
from kanon_sql.api.misspelt import refuse_misspelt
from kanon_sql.api.notices import notices_once
from kanon_sql.api.release import manifest_and_metrics
from kanon_sql.api.report_wish import ReportRequest, read_wish
from kanon_sql.attacks.facts import Evidence
from kanon_sql.call.call import GroupingCall, read_call
from kanon_sql.call.hierarchies import HierarchySpec
from kanon_sql.call.options import SPECIAL
from kanon_sql.call.relation import Relation
from kanon_sql.duckdb.frames import plain
from kanon_sql.duckdb.session import (
    Session,
    bound,
    given_options,
    reads_of,
    relation_and_options,
)
from kanon_sql.errors import DataError, KanonError, OptionError, did_you_mean
from kanon_sql.jobs.forks import refuse_forked
from kanon_sql.methods.auto import TOLD
from kanon_sql.names import caseless, quoted
from kanon_sql.output.whole import beside
from kanon_sql.plan.hierarchies import hierarchy_sql
from kanon_sql.plan.manifest import as_told
from kanon_sql.reporting.facts import (
    KEPT,
    Alternative,
    Change,
    Number,
    Pair,
    ReportFacts,
    SourceColumn,
    UserQuery,
)
from kanon_sql.sql import statement

MANY = 100_000
"""From how many rows on sets of columns that single somebody out are looked for of up to 3 columns,
since there are so many of them."""

PAIRS = 10

Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Report:
    """A report that was written.

    Attributes:
        path: the file.
        facts: the contents of the report, as typed objects.
    """

    path: str
    facts: ReportFacts = field(repr=False)

    def __repr__(self) -> str:
        return f"Report({self.path!r}, k = {self.facts.value('k'):g})"


def report_file(
    data: Any, con: Any, wished: tuple[Any, ...], options: Mapping[str, Any]
) -> Report:
    """Makes a release, measures it, and writes what there is to say as one HTML file, which needs
    nothing else and asks nobody for anything.

    Args:
        data: the relation.
        con: the caller's connection or None.
        wished: the file, the title, the queries, what to compare with and so on, as ``read_wish``
            takes them.
        options: those of anonymize, where None stands for "not given".

    Raises:
        OptionError, DataError, ReleaseError: as anonymize, or where the file can't be written.
    """
    refuse_forked()
    refuse_misspelt(
        "report", options, ("to", "title", "queries", "compare", "evidence", "predict")
    )
    wish = read_wish(*wished)
    with Session(con) as session:
        return write_report(session, *relation_and_options(session, data, given_options(options)),
                                                                                        wish)


def write_report(
    session: Session, source: Relation, held: Mapping[str, Any], wish: ReportRequest
) -> Report:
    """Writes the report of a release.

    Args:
        session: where the source is.
        source: the relation.
        held: the options of anonymize.
        wish: what the report is to be.
    """
    # here, since it loads what only reports need
    from kanon_sql.reporting.page import page_of

    reads_of(session, source, held).refuse_file("to", wish.path, "the report")
    with notices_once():
        facts = _told(session, source, held, wish)
    _write(wish.path, page_of(facts))
    return Report(str(wish.path), facts)


def _write(path: Path, text: str) -> None:
    """Writes the file, whole or not at all."""
    with beside(path) as draft:
        Path(draft).write_text(text, encoding="utf-8")


def _rows(session: Session, call: str, source: Any, options: Mapping[str, Any]) -> Rows:
    """The rows that a call gives."""
    rows: Rows = session.run(call, source, options, lambda relation: relation.fetchall())
    return rows


def _told(session: Session, source: Relation, given: Mapping[str, Any],
          wish: ReportRequest) -> ReportFacts:
    # evidence that is already there says nothing of this population
    held = for_release(given) if wish.evidence is True else given
    exact = bool(held.get("show_values", False))
    manifest, measured = manifest_and_metrics(session, source, held)
    metrics = _metrics(measured, exact)
    released = session.run(
        "anonymize", source, held, lambda relation: relation.to_arrow_table()
    )
    name = session.hold("released", released)
    k = int(manifest["metrics"]["k_requested"])
    columns = [each for each, role in manifest["roles"].items() if role == "quasi_identifier"]
    predicted = _predicted(wish.predicted, manifest["roles"])
    rows = int(manifest["metrics"]["rows"])
    known = [each for each, role in manifest["roles"].items() if role in KEPT]
    risk, drives = _risk(session, source, name, known, k, rows, held, exact)
    call = read_call("anonymize", source, held, session.catalog)
    assert isinstance(call, GroupingCall)
    trees = {
        caseless(spec.column): _paths(session, source, spec) for spec in call.hierarchies
        if call.release.of(caseless(spec.column), has_hierarchy=True) == "hierarchy"
    }
    parts = _parts(session, source, released, columns, known, manifest, k, exact, trees,
                   {name: (value, words) for name, value, _, _, words, _ in measured}, predicted)
    return ReportFacts(
        title=wish.title, k=k, unit=parts.pop("unit"), metrics=metrics, risk=risk,
        manifest=manifest, show_values=exact, notices=_notices(measured),
        columns=tuple(_columns(manifest, metrics, drives, {
            name: wish.origins.get(origin, origin) for name, origin in call.roles.origins.items()
        })),
        queries=tuple(_queries(session, source, name, wish.queries, exact)),
        alternatives=tuple(_alternatives(session, source, held, wish.compared, exact, measured)),
        evidence=_evidence(session, source, given, wish.evidence), made_on=str(date.today()),
        **parts,
    )


def _predicted(names: Sequence[str], roles: Mapping[str, str]) -> tuple[str, ...]:
    """The columns that models predict, as the source spells them."""
    shown = {
        caseless(name): name for name, role in roles.items()
        if role in ("quasi_identifier", "sensitive")
    }
    for name in names:
        if caseless(name) not in shown:
            raise OptionError(
                f"predict names {name!r}, which is neither a quasi-identifier nor sensitive. "
                f"{did_you_mean(name, shown.values())}"
            )
    return tuple(shown[caseless(name)] for name in names)


def _three(value: float) -> float:
    """A number of three digits: enough to judge by, and little of one row."""
    return float(f"{value:.2e}")


def _stated(rows: Rows, exact: bool) -> dict[str, tuple[float | None, str, str]]:
    """Number, unit and meaning of each metric, the numbers as a manifest tells them."""
    left_out = any(name == "rows_suppressed" and value for name, value, *_ in rows)
    return {
        name: (value if exact else as_told(name, value, left_out), unit, meaning)
        for name, value, _, unit, _, meaning in rows
    }


def _notices(rows: Rows) -> tuple[str, ...]:
    """What a user should know of the release, each once. The method is told elsewhere."""
    return tuple(dict.fromkeys(
        str(text) for name, _, text, *_ in rows
        if name == "notice" and text and not text.startswith(TOLD)
    ))


def _metrics(rows: Rows, exact: bool) -> dict[str, Number]:
    """The metrics that are numbers and tell something, without those of time."""
    return {
        name: Number(name, value, unit, meaning)
        for name, (value, unit, meaning) in _stated(rows, exact).items()
        if value is not None and unit != "seconds"
    }


def _risk(
    session: Session, source: Relation, released: str, columns: Sequence[str], k: int, rows: int,
    held: Mapping[str, Any], exact: bool,
) -> tuple[dict[str, Change], dict[str, float]]:
    """Risk before and after, and which columns drive it."""
    asked_for: dict[str, Any] = {"quasi_identifiers": list(columns), "k": k, "subset_columns": 1}
    if held.get("sampling_weight") is not None:
        asked_for["sampling_weight"] = held["sampling_weight"]
    if rows > MANY:
        asked_for["msu_columns"] = 3
    before = _rows(session, "anonymize_risk", source, asked_for)
    after = {
        row[0]: row[1]
        for row in _rows(session, "anonymize_risk", released, asked_for)
    }
    drives = "drives_risk ("
    return (
        {
            name: Change(
                name, value if exact or value is None or name == "rows" else _three(value),
                after.get(name), unit, meaning,
            )
            for name, value, _, unit, _, meaning in before
            if " (" not in name and (value is not None or after.get(name) is not None)
        },
        {
            name.removeprefix(drives).removesuffix(")"): _three(value)
            for name, value, *_ in before if name.startswith(drives) and value is not None
        },
    )


def _columns(
    manifest: Mapping[str, Any], metrics: Mapping[str, Number], drives: Mapping[str, float],
    origins: Mapping[str, str],
) -> Iterator[SourceColumn]:
    for name, role in manifest["roles"].items():
        loss, metric = None, ""
        for word in ("ncp", "ncp_grouping"):
            number = metrics.get(f"{word} ({name})")
            if role == "quasi_identifier" and number is not None and loss is None:
                loss, metric = number.value, number.name
        yield SourceColumn(name, role, manifest["columns"].get(name), loss, metric,
                           drives.get(name), origins.get(caseless(name), ""))


def _parts(
    session: Session, source: Relation, released: Any, columns: Sequence[str],
    known: Sequence[str], manifest: Mapping[str, Any], k: int, exact: bool,
    trees: Mapping[str, Sequence[Sequence[str]]], measured: Mapping[str, Any],
    predicted: Sequence[str],
) -> dict[str, Any]:
    """What is read from the rows of source and release, on a connection of nobody else."""
    from kanon_sql.reporting.classes import shared, sizes
    from kanon_sql.reporting.distributions import associations, read_column
    from kanon_sql.reporting.readings import RELEASE, SOURCE, TablePair
    from kanon_sql.reporting.utility.assemble import utility_of

    roles = manifest["roles"]
    sensitive = [name for name in manifest["columns"] if roles.get(name) == "sensitive"]
    entity = [name for name, role in roles.items() if role == "entity"]
    measured_columns = ", ".join(map(quoted, [*known, *sensitive, *entity]))
    rows = session.query(
        statement("report.columns", columns=measured_columns, relation=source.sql),
        lambda relation: relation.to_arrow_table(),
    )
    categorical = {caseless(name) for name in manifest["options"].get("categorical") or ()}
    # the number of a class says nothing that could stand beside a value
    numbered = manifest["options"].get("representation") == "number"
    with Session(None) as own:
        own.con.register(SOURCE, rows)
        own.con.register(RELEASE, released)
        read = TablePair(own.con)
        read.prepare()
        # so many rows are those of k persons or more
        unit = k * max((read.most_rows(name) for name in entity), default=1)
        readings = [
            read_column(
                read, name, unit, exact, caseless(name) in categorical,
                trees.get(caseless(name), ()),
            )
            for name in ([] if numbered else [*columns, *sensitive])
        ]
        near = read.nearest(columns, PAIRS) if exact and not numbered else []
        return {
            "unit": unit,
            "sizes": sizes(read, known, k, unit, exact),
            "distributions": tuple(each for each, _ in readings[:len(columns)]),
            "associations": tuple(associations([each for _, each in readings], exact)),
            "shared": tuple(
                shared(
                    read, known, name,
                    "homogeneous_rows" if len(sensitive) == 1 else f"homogeneous_rows ({name})",
                )
                for name in sensitive
            ),
            "pairs": tuple(Pair(*row) for row in near),
            "utility": utility_of(
                columns, sensitive, [each for _, each in readings],
                [each for each, _ in readings[:len(columns)]], measured, unit, exact,
                predicted,
            ),
        }


def _paths(session: Session, source: Relation, spec: HierarchySpec) -> Rows:
    """The labels of a hierarchy, of each leaf from itself up to the root, which is the last of all:
    a kind that could have more levels repeats it."""
    paths = session.rows(hierarchy_sql(source, spec))
    while paths and len(paths[0]) > 1 and all(path[-1] == path[-2] for path in paths):
        paths = [path[:-1] for path in paths]
    return paths


def _queries(
    session: Session, source: Relation, released: str, queries: Mapping[str, str], exact: bool
) -> Iterator[UserQuery]:
    from kanon_sql.reporting.queries import answered

    def ask(text: str) -> tuple[Sequence[str], Rows]:
        try:
            parsed = session.con.extract_statements(text)
            if [each.type.name.partition("_")[0] for each in parsed] != ["SELECT"]:
                raise OptionError("It is not a query. Write one SELECT.")
            with session.refusals():
                answer = bound(session.con, statement("report.query", query=text))
                return answer.columns, answer.fetchall()
        except duckdb.Error as error:  # its text may hold a value
            raise DataError(f"DuckDB can't answer it ({type(error).__name__}).") from None

    for name, text in queries.items():
        yield answered(name, text, ask, source.sql, quoted(released), exact)


def _evidence(
    session: Session, source: Relation, held: Mapping[str, Any], wished: bool | Evidence
) -> Evidence | None:
    """The attacks that were made, or are wished for."""
    if isinstance(wished, Evidence):
        return wished
    return gather(session, source, held, EvidenceRequest()) if wished else None


def _alternatives(
    session: Session, source: Relation, held: Mapping[str, Any],
    compared: Sequence[tuple[str, Mapping[str, Any]]], exact: bool, measured: Rows,
) -> Iterator[Alternative]:
    """This release, of which the metrics are ``measured``, and those that could have been made
    instead."""
    if not compared:
        return
    names = [("this release", {}), *compared]
    for i, (label, changes) in enumerate(names):
        base = {
            name: value for name, value in held.items()
            if not ("method" in changes and name in SPECIAL)
        }
        if {"k", "max_risk"} & set(changes):
            base = {n: v for n, v in base.items() if n not in ("k", "max_risk")}
        try:
            options = {**base, "detail": True, **plain(changes)}
            rows = measured if i == 0 else _rows(
                session, "anonymize_metrics", source, options
            )
        except KanonError as refusal:
            yield Alternative(label, i == 0, refused=str(refusal))
            continue
        method = next(text for name, _, text, *_ in rows if name == "method")
        numbers = {name: value for name, (value, *_) in _stated(rows, exact).items()}
        yield Alternative(label, i == 0, method, numbers)
