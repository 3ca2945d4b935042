"""A release enters its ledger, in the transaction that writes its file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import duckdb

from kanon_sql.call.ledger import COLUMNS, refuse_no_ledger
from kanon_sql.call.referenced_relations import ReferencedRelation
from kanon_sql.call.relation import Relation, find_relation, is_file
from kanon_sql.duckdb.refused import is_read_only, telling
from kanon_sql.duckdb.session import Session, bound
from kanon_sql.errors import DataError, OptionError, ReleaseError
from kanon_sql.names import caseless, quoted
from kanon_sql.plan.query import plan

NO_TABLE = (
    "The release is entered into its ledger {!r}, which must be a table of con that can be "
    "written. Name one, or leave ledger out."
)
READ_ONLY = (
    "The release is entered into its ledger {!r}, whose database is open for reading only. Open it "
    "for writing too, or name a ledger in another database."
)
NONE = (
    "There is no ledger {!r}. If this is the first release, begin one with headroom=1, which sets "
    "how many persons above k its classes get. Otherwise, check the name."
)
MOVED = (
    "The release was stopped: the ledger {!r} changed while it was made, so that it would not "
    "continue from the last release. Nothing was written; make it again."
)
UNENTERED = (
    "The ledger {!r} can't be written. Nothing was written; check the disk and the rights of its "
    "database, and make the release again."
)
UNCOMMITTED = (
    "DuckDB can't write the database. Nothing was written; check its disk and its rights, and make "
    "the release again."
)
STAYS = (
    "The release can't be written to {!r}, and its ledger {!r} has it. Delete the rows of release "
    "{} there, and make it again."
)
UNEQUAL = (
    "The release was stopped: its ledger would get other rows than the file. Nothing was written; "
    "please report this as a bug."
)

NO_TABLES = (
    duckdb.BinderException, duckdb.CatalogException, duckdb.InvalidInputException,
    duckdb.ParserException,
)
"""What DuckDB raises where a name can't be that of a table which is written; of one of the
temporary database, which only CREATE TEMP TABLE makes, the last."""

MARK = "__kanon_entering_"
"""What the name of a table starts with that a transaction makes and drops beside a ledger."""


@dataclass(frozen=True)
class LedgerEntry:
    """How a release enters a ledger.

    Attributes:
        relation: the ledger.
        begins: whether there is none yet, and the release makes it.
    """

    relation: Relation
    begins: bool

    @property
    def name(self) -> str:
        """As messages name it."""
        return ".".join(self.relation.parts)


def entry_of(
    session: Session, con: Any, ledger: Any, options: dict[str, Any]
) -> LedgerEntry | None:
    """How a release enters the ledger that its options name; None where they name none. Where there
    is no such table yet, the option is taken out of them.

    Args:
        session: over the connection of the caller.
        con: that connection; None without one.
        ledger: the option as it was given.
        options: all options as plain values.

    Raises:
        OptionError: what can't be entered into.
    """
    if ledger is None:
        return None
    if con is None or not isinstance(ledger, str) or is_file(ledger):
        name = ledger if isinstance(ledger, str) else type(ledger).__name__
        raise OptionError(NO_TABLE.format(name))
    relation = find_relation(ledger, session.catalog)
    if session.missing([ReferencedRelation(relation, "")]) is None:
        refuse_no_ledger(relation, COLUMNS)
        _refuse_unchangeable(session.con, ledger, f"DELETE FROM {relation.sql}")
        return LedgerEntry(relation, False)
    if options.get("headroom") is None:
        raise OptionError(NONE.format(ledger))
    _refuse_unchangeable(session.con, ledger, f"CREATE TABLE {relation.sql} AS SELECT 1")
    del options["ledger"]
    return LedgerEntry(relation, True)


def _refuse_unchangeable(con: duckdb.DuckDBPyConnection, ledger: str, change: str) -> None:
    """Raises OptionError, before any work is done, where a ledger can't be changed like this; for
    all other reasons ``enter`` does."""
    try:
        con.execute(f"EXPLAIN {change}")
    except duckdb.Error as error:
        if is_read_only(error):
            raise OptionError(READ_ONLY.format(ledger)) from None
        if isinstance(error, NO_TABLES):
            raise OptionError(NO_TABLE.format(ledger)) from None


@contextmanager
def unmoved(entry: LedgerEntry | None) -> Iterator[None]:
    """Refuses what DuckDB refuses where two transactions change one ledger, or where the disk
    doesn't take what is entered."""
    try:
        yield
    except (duckdb.TransactionException, duckdb.FatalException) as error:
        said = str(error).lower()
        if entry is None:
            raise DataError(UNCOMMITTED) from None
        # of a lock that the system refuses it says "Conflicting lock"
        if "conflict" in said and "lock on file" not in said:
            raise ReleaseError(MOVED.format(entry.name)) from None
        raise DataError(UNENTERED.format(entry.name)) from None


class Entered:
    """Takes back what a release has entered into its ledger if the file can't get its name."""

    def __init__(self, con: duckdb.DuckDBPyConnection, entry: LedgerEntry | None, to: str) -> None:
        """
        Args:
            con: which has the ledger.
            entry: how the release is entered; None without a ledger.
            to: the file, as messages name it.
        """
        self._con, self._entry, self._to = con, entry, to
        self._release: int | None = None

    def __enter__(self) -> Entered:
        return self

    def is_committed(self) -> None:
        """The transaction of the release has ended well."""
        if self._entry is not None:
            self._release = self._last()

    def _last(self) -> Any:
        assert self._entry is not None
        return self._con.execute(_state(self._entry.relation.sql)).fetchall()[0][1]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None or self._entry is None or self._release is None:
            return
        if not self._taken_back(self._entry, self._release):
            raise ReleaseError(
                STAYS.format(self._to, self._entry.name, self._release)
            ) from None

    def _taken_back(self, entry: LedgerEntry, release: int) -> bool:
        """Takes the release back; False where another one goes on from it already, or DuckDB
        refuses."""
        ledger = entry.relation.sql
        try:
            self._con.begin()
            _alone(self._con, entry.relation)
            last = bool(self._last() == release)
            if last:
                self._con.execute(
                    f"DROP TABLE {ledger}" if entry.begins
                    else f"DELETE FROM {ledger} WHERE release = {int(release)}"
                )
            self._con.commit()
        except duckdb.Error:
            with suppress(duckdb.Error):
                self._con.rollback()
            return False
        return last


def enter(
    session: Session, source: Relation, options: Mapping[str, Any], entry: LedgerEntry, rows: int
) -> None:
    """Enters a release, inside of the transaction that it is made in.

    Of two that go on from the same release at once, or begin the same ledger, one is refused: both
    make a table of one name, and of two transactions that do so DuckDB lets the first. What others
    entered without that is seen by a look from outside of the transaction.

    Args:
        session: over the connection of the caller.
        source: the relation.
        options: those of the release.
        entry: how it is entered.
        rows: how many were released.

    Raises:
        ReleaseError: the ledger moved, or would get other rows than the file.
        OptionError: the ledger can't be written.
    """
    planned = plan("anonymize_ledger", source, options, session.catalog)
    text, ledger = telling(planned.text), entry.relation.sql
    # all rows, since DuckDB refuses a query while those of one before are still to come
    before = None if entry.begins else session.con.execute(_state(ledger)).fetchall()[0]
    try:
        if entry.begins:
            with session.refusals(planned.relations):
                bound(session.con, f"CREATE TABLE {ledger} AS FROM ({text})")
        else:
            _alone(session.con, entry.relation)
            with session.refusals(planned.relations):
                bound(session.con, f"INSERT INTO {ledger} FROM ({text})")
    except NO_TABLES:
        raise OptionError(NO_TABLE.format(entry.name)) from None
    whole = 0 if before is None else before[0]
    if session.con.execute(_state(ledger)).fetchall()[0][0] != whole + rows:
        raise ReleaseError(UNEQUAL)
    _refuse_moved(session, entry, before)


def _alone(con: duckdb.DuckDBPyConnection, ledger: Relation) -> None:
    """Lets one transaction at a time change a ledger: beside it a table is made and dropped, which
    nobody sees, and which DuckDB refuses where another transaction did so since this one began.

    An UPDATE that changes no value is no change to DuckDB, and one there and back meets the keys
    that a ledger may have.
    """
    entry = ledger.entry
    place = ledger.parts if entry is None or entry.place is None else entry.place
    if len(place) == 3 and caseless(place[0]) == "temp":  # it is nobody else's
        return
    mark = ".".join(map(quoted, (*place[:-1], MARK + place[-1])))
    con.execute(f"CREATE TABLE {mark} AS SELECT 1 AS mark")
    con.execute(f"DROP TABLE {mark}")


def _state(ledger: str) -> str:
    """SQL of what changes whenever somebody enters a release."""
    return f"SELECT system.main.count(*), system.main.max(release) FROM {ledger}"


def _refuse_moved(session: Session, entry: LedgerEntry, before: Any) -> None:
    with session.con.cursor() as outside:
        try:
            now = outside.execute(_state(entry.relation.sql)).fetchone()
        except duckdb.CatalogException:  # it isn't there yet, or is temporary, and nobody else's
            return
    if now != before:
        raise ReleaseError(MOVED.format(entry.name))
