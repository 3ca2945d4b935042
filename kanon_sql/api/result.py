"""A release as one object: its rows, and all results about them, computed on first use."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from os import PathLike
from pathlib import Path
from types import NoneType
from typing import Any, Generic, cast

import duckdb

from kanon_sql.api.display import QUASI, ReleasedColumn, by_name, figure, html
from kanon_sql.api.notices import notices_once
from kanon_sql.api.release import (
    is_open,
    marks_of,
    read_manifest,
    seed_of,
    transaction,
    write_release,
)
from kanon_sql.api.report import Report, write_report
from kanon_sql.api.report_wish import read_wish
from kanon_sql.api.rerun import as_it_was
from kanon_sql.attacks.facts import Evidence
from kanon_sql.call.relation import Relation
from kanon_sql.duckdb.frames import Kept, count_of, files_of, lasting, way_back
from kanon_sql.duckdb.session import Connection, Session, bound, given_options, relation_and_options
from kanon_sql.errors import DataError, OptionError, ReleaseError
from kanon_sql.jobs.forks import refuse_forked
from kanon_sql.plan.manifest import KEY, class_sizes_sql, file_relation
from kanon_sql.released import Release

WITHOUT_FILE = (
    "{} is given without to. Name the file to write, for example to='out.parquet', or leave it out."
)
MOVED = (
    "The relation, or a table that the call names, has other rows than when it was released. Make "
    "the release again."
)
OTHER_FILE = (
    "The file {!r} holds another release by now, or none. Make the release again, into another "
    "file."
)
FOOTER = "SELECT decode(value) FROM parquet_kv_metadata(?) WHERE decode(key) = ?"

TWO = (
    "release takes one relation, and two are given. Give the connection as con=..., and what is "
    "left as an option by its name."
)


class TableRelease(Release, Generic[Kept]):
    """A release of a relation, as returned by ``kanon_sql.release``.

    Results other than the rows are computed on first use, from the same grouping, which is cached.
    If a relation that was read has changed since, a DataError is raised. Frames have the type of
    the input.

    Attributes:
        path: the file that was written; None for a release in memory.
        rows: the number of released rows.
        private: the private part, which proves later that the file was made from its source: the
            seed, the options as they were given, and a salted digest of the source. It is not in
            the file. Do not give it to recipients of the file. None without a file.
    """

    def __init__(
        self, con: Any, data: Any, options: Mapping[str, Any], to: Any = None, private: Any = None
    ) -> None:
        """Makes the release.

        Args:
            con: the caller's connection or None.
            data: the relation.
            options: those of anonymize that were given.
            to: the file to write, or None.
            private: where the private part goes, or None.

        Raises:
            OptionError, DataError, ReleaseError: as anonymize, or where the file can't be written.
        """
        refuse_forked()
        self._con, self._options = con, dict(options)
        self._like, self._source = way_back(data, con), lasting(data)
        self._tables: dict[str, Any] = {}
        self.path: str | None = None
        self.private: Mapping[str, Any] | None = None
        if to is None:
            self._hold(private)
        else:
            self._write(to, private, files_of(data))

    def _hold(self, private: Any) -> None:
        """Makes the release in memory."""
        for name, value in {"private": private, "ledger": self._options.get("ledger")}.items():
            if value is not None:
                raise OptionError(WITHOUT_FILE.format(name))
        with self._session() as session:
            source, held = relation_and_options(session, self._source, self._options)
            with _moment(session):
                self._options["seed"] = held["seed"] = seed_of(session, source, held)
                self._marks = marks_of(session, source, held)
                if "refine_seconds" in held:
                    # made once by time, and from here on by the steps that it had time for
                    all_of = {**held, "detail": True}
                    metrics = session.run("anonymize_metrics", source, all_of, _arrow)
                    self._by_steps(by_name(metrics.to_pylist()))
                    source, held = relation_and_options(session, self._source, self._options)
                self.data = session.run("anonymize", source, held, self._like)
        self.rows = count_of(self.data)

    def _write(self, to: Any, private: Any, read: Sequence[str] = ()) -> None:
        """Makes the release in a file; ``read`` are the files that the relation was read from."""
        with notices_once():
            written = write_release(self._con, self._source, self._options, to, private, read)
        self.path, self.private = written.path, written.private
        self._marks, self.manifest = written.marks, written.manifest
        self.rows = written.manifest["metrics"]["rows_released"]
        self._options["seed"] = written.private["seed"]
        if "ledger" not in written.private["options"]:  # the release began it
            self._options.pop("ledger", None)
        if "refine_seconds" in self._options:
            self._by_steps(self.manifest["metrics"])

    def _by_steps(self, numbers: Mapping[str, Any]) -> None:
        del self._options["refine_seconds"]
        if numbers.get("refine_steps") is not None:
            self._options["refine_steps"] = int(numbers["refine_steps"])

    def _session(self) -> AbstractContextManager[Session]:
        return Session(self._con)

    @contextmanager
    def _again(self) -> Iterator[tuple[Session, Relation, dict[str, Any]]]:
        """A session over the relation as it was released, and the options.

        Raises:
            DataError: a relation has other rows than then.
        """
        refuse_forked()
        with self._session() as session:
            source, held = relation_and_options(session, self._source, self._options)
            if isinstance(held.get("ledger"), str):
                held["ledger"] = as_it_was(session, held["ledger"], self.manifest)
            with _moment(session):
                if marks_of(session, source, held) != self._marks:
                    raise DataError(MOVED)
                yield session, source, held

    @cached_property
    def data(self) -> Kept:
        """The released rows, as from kanon_sql.anonymize; with a file, the rows of the file.

        Raises:
            ReleaseError: the file now holds another release.
        """
        assert self.path is not None  # in memory they are there from the beginning
        with Session(None, lasting=True) as own:
            try:
                footers = own.con.execute(FOOTER, [self.path, KEY]).fetchall()
                rows = own.con.sql(f"FROM {file_relation(self.path).sql}")
            except duckdb.Error:
                footers = []
            if [json.loads(footer) for (footer,) in footers] != [self.manifest]:
                raise ReleaseError(OTHER_FILE.format(self.path))
            return cast(Kept, self._like(rows))

    @cached_property
    def metrics(self) -> Mapping[str, Any]:  # type: ignore[override]
        """The metrics by name, without those that are NULL; 'notices' is a list."""
        return by_name(self._table("anonymize_metrics").to_pylist())

    @cached_property
    def metrics_frame(self) -> Kept:
        """One row per metric, as from kanon_sql.anonymize_metrics with detail=True."""
        return self._frame("anonymize_metrics")

    @cached_property
    def clusters(self) -> Kept:
        """One row per class, as from kanon_sql.anonymize_clusters."""
        return self._frame("anonymize_clusters")

    @cached_property
    def roles(self) -> Kept:
        """One row per column, as from kanon_sql.anonymize_roles."""
        return self._frame("anonymize_roles")

    @cached_property
    def sql(self) -> str:
        """The SQL query of the release, as from kanon_sql.anonymize_sql."""
        return str(self._table("anonymize_sql").column("sql")[0])

    @cached_property
    def manifest(self) -> Mapping[str, Any]:
        """The manifest of the release, by section and entry: see kanon_sql.anonymize_manifest."""
        with self._again() as (session, source, held):
            return read_manifest(session, source, held)

    def write(self, to: Any, *, private: Any = None) -> TableRelease[Kept]:
        """Writes the release to a Parquet file atomically, with its manifest in the footer.

        Args:
            to: the file to write; an existing file is replaced when the new one is complete.
            private: as in kanon_sql.release.
        """
        with self._again():
            pass
        return TableRelease(self._con, self._source, self._options, to, private)

    def plot(self) -> Any:
        """Plots the class sizes and the loss of each column as a matplotlib Figure. Requires
        ``pip install 'kanon-sql[plots]'``."""
        return figure(self.loss_by_column, self.class_sizes)

    def report(
        self, to: str | PathLike[str] = "report.html", *, title: str | None = None,
        queries: Mapping[str, str] | Sequence[str] | None = None,
        compare: Sequence[str | Mapping[str, Any]] | None = None, show_values: bool = False,
        evidence: bool | Evidence = False, predict: Sequence[str] | None = None,
    ) -> Report:
        """Writes a report of the release for its approval, as one HTML file: see
        ``kanon_sql.report``, which has the same options."""
        wish = read_wish(to, title, queries, compare, evidence, predict)
        with self._again() as (session, source, held):
            return write_report(session, source, {**held, "show_values": show_values}, wish)

    @cached_property
    def class_sizes(self) -> Mapping[int, int]:
        """The number of classes of each size, by size."""
        names = [each.name for each in self._columns if each.role == QUASI and each.sql_type]
        with Session(None, lasting=True) as own:
            name = own.hold("released", self.data)
            text = class_sizes_sql(Relation(name, (name,)), names)
            return dict(bound(own.con, text).fetchall())

    @cached_property
    def loss_by_column(self) -> Mapping[str, float]:
        """The loss of each quasi-identifier: 0 means no loss, 1 complete loss. It is the loss of
        the released values (ncp) if that is defined, else of the classes (ncp_grouping)."""
        losses: dict[str, float] = {}
        for each in self._columns:
            for metric in ("ncp", "ncp_grouping"):
                value = self._numbers.get(f"{metric} ({each.name})")
                if value is not None:
                    losses.setdefault(each.name, float(value))
        return losses

    @cached_property
    def _columns(self) -> list[ReleasedColumn]:
        """The columns of the relation, in their order."""
        if self.path is not None:
            roles, types = self.manifest["roles"], self.manifest["columns"]
            return [ReleasedColumn(name, role, types.get(name)) for name, role in roles.items()]
        rows = self._table("anonymize_roles").to_pylist()
        return [ReleasedColumn(row["column_name"], row["role"],
                               row["released_type"]) for row in rows]

    @cached_property
    def _numbers(self) -> Mapping[str, Any]:
        """The metrics by name, without those that are NULL: of a file, as its manifest has them."""
        if self.path is not None:
            asked, chosen = (self.manifest[each].get("method") for each in ("options", "release"))
            return {"method": chosen or asked, **self.manifest["metrics"]}
        return self.metrics

    def _table(self, call: str) -> Any:
        """What a call tells of the release, as an Arrow table; asked once."""
        if call not in self._tables:
            with self._again() as (session, source, held):
                all_of = {"detail": True} if call == "anonymize_metrics" else {}
                self._tables[call] = session.run(call, source, {**held, **all_of}, _arrow)
        return self._tables[call]

    def _frame(self, call: str) -> Kept:
        """The same as a frame of the kind that came in."""
        with Session(None, lasting=True) as own:
            return cast(Kept, self._like(own.con.from_arrow(self._table(call))))

    def __repr__(self) -> str:
        if self.path is None:
            return f"Release({self.rows:,} rows in memory)"
        k = self.manifest["metrics"].get("k")
        return f"Release({self.path!r}, {self.rows:,} rows, k = {k})"

    def _repr_html_(self) -> str:
        place = None if self.path is None else Path(self.path).name
        return html(place, self.rows, self._numbers, self._columns, self.loss_by_column)


def release_of(
    data: Any, relation: Any, con: Any, to: Any, private: Any, options: Mapping[str, Any]
) -> TableRelease[Any]:
    """The release that a call of kanon_sql.release asks for.

    Args:
        data, relation: the positional arguments.
        con: the caller's connection or None.
        to: the file to write, or None.
        private: where the private part goes, or None.
        options: those of anonymize, where None stands for "not given".

    Raises:
        OptionError, DataError, ReleaseError: as anonymize, or where the file can't be written.
    """
    if relation is not None:  # the connection came first
        if con is not None or not isinstance(data, (Connection, NoneType)):
            raise OptionError(TWO)
        data, con = relation, data
    return TableRelease(con, data, given_options(options), to, private)


def _arrow(relation: duckdb.DuckDBPyRelation) -> Any:
    return relation.to_arrow_table()


@contextmanager
def _moment(session: Session) -> Iterator[None]:
    """One moment for all that is read: the transaction of the caller, or one of ours."""
    with nullcontext() if is_open(session.con) else transaction(session.con):
        yield
