"""What the faces share: a connection over the caller's data, names checked, refusals as ours.

A face turns what its user has into one call of ``run``, and has no logic of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from types import TracebackType
from typing import Any, TypeVar

import duckdb
import pyarrow as pa

from kanon_sql.call.catalog import Catalog, CatalogEntry
from kanon_sql.call.options import OPTIONS
from kanon_sql.call.referenced_columns import named_columns, unknown_column
from kanon_sql.call.referenced_relations import ReferencedRelation
from kanon_sql.call.relation import Relation, find_relation, is_url
from kanon_sql.duckdb import spare
from kanon_sql.duckdb.catalog import ConnectionCatalog
from kanon_sql.duckdb.frames import (
    UNREADABLE,
    Frame,
    Named,
    files_of,
    is_column,
    is_frame,
    plain,
    refuse_data,
    relation_name,
    table_of,
    unreadable,
    way_back,
)
from kanon_sql.duckdb.refused import near_name, refusals, telling
from kanon_sql.duckdb.register import close, register
from kanon_sql.duckdb.truncated import refuse_truncated
from kanon_sql.errors import LITTLE, DataError, KanonError, OptionError, a_type, lacks_memory
from kanon_sql.hierarchies.kinds import KINDS as OF_HIERARCHIES
from kanon_sql.jobs.forks import refuse_forked
from kanon_sql.names import caseless, quoted
from kanon_sql.output.faults import REASONS
from kanon_sql.output.reads import Reads
from kanon_sql.plan.query import methods_sql, plan
from kanon_sql.validators import texts

FRAME = "frame"
RELATIONS = tuple(name for name, option in OPTIONS.items() if option.relation)
"""Options that name a relation, in whose place a frame may stand."""

KNOWN = {*OPTIONS, "kind", *(name for kind in OF_HIERARCHIES.values() for name in kind.options)}
"""All options of all calls."""

NAMES = """
    SELECT lower(table_name) FROM duckdb_tables() UNION ALL
    SELECT lower(view_name) FROM duckdb_views()
"""

ENUM = re.compile(r"ENUM\('([^']|'')*'(, '([^']|'')*')*\)")
"""A type that holds values which no released row need have."""

UNREACHED = (
    "DuckDB reads nothing at {!r}. Check the address, and that the extension and the secret for it "
    "are there: by CREATE PERSISTENT SECRET for every connection, or on the one that you give."
)

UNREAD = "DuckDB can't read {!r}. Check the file and its rights."
UNBEGUN = (
    "DuckDB can't begin here, since the system refuses a file. Nothing was written; check how many "
    "files this process may open."
)

Connection = duckdb.DuckDBPyConnection
RowBuffer = TypeVar("RowBuffer")


def bound(con: Connection, text: str) -> duckdb.DuckDBPyRelation:
    """A query as a relation.

    DuckDB looks for unknown relations among the variables of the frame that calls it: here among
    names that no relation may have, so that none of ours is taken for the caller's.
    """
    scope = {"__kanon_sql": con.sql, "__kanon_text": text}
    relation: duckdb.DuckDBPyRelation = eval("__kanon_sql(__kanon_text)", scope)
    return relation


class Session:
    """A connection, and the frames that are relations of it while a call runs.

    Attributes:
        con: the caller's connection, or one of our own.
        read: files and queries that its frames read, as texts.
    """

    def __init__(self, con: Any, lasting: bool = False) -> None:
        """``con``: the caller's connection, or None; ``lasting``: then it may be one of a call
        before, and serve the next: nothing is set or attached on it."""
        if con is not None and not isinstance(con, Connection):
            raise OptionError(
                f"con is {a_type(con)}, no connection. Give what duckdb.connect() gives."
            )
        self._own, self._lasting = con is None, lasting
        self._held: list[str] = []
        self.read: list[str] = []
        try:
            if con is None:
                self.con = spare.taken() if lasting else spare.opened()
            else:
                self.con = register(con)
        except duckdb.ConnectionException:
            raise OptionError("con is closed. Give an open connection, or none.") from None
        except (duckdb.IOException, duckdb.OutOfMemoryException) as error:
            # a process that may open no further file, or a system without memory
            raise DataError(LITTLE if lacks_memory(error) else UNBEGUN) from None
        except duckdb.TransactionException:
            raise OptionError(
                "The transaction of con was stopped by an error before. End it by ROLLBACK first."
            ) from None

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        lasts = self._lasting and error is None
        if self._own and not lasts:
            close(self.con)
            return
        for name in self._held:
            # where the caller's transaction failed, its rollback takes the view away
            with suppress(duckdb.Error):
                self.con.unregister(name)
        if self._own:
            spare.give_back(self.con)

    def hold(self, wanted: str, frame: Any) -> str:
        """Makes a frame a relation until the session ends; its name, which no other relation has.

        Raises:
            OptionError, DataError: it is none that can be taken.
        """
        self.read += files_of(frame)
        frame = table_of(frame)
        taken = {name for (name,) in self.con.sql(NAMES).fetchall()} | set(self._held)
        name, number = wanted, 1
        while name in taken:
            number += 1
            name = f"{wanted}_{number}"
        try:
            self.con.register(name, frame)
        except UNREADABLE:
            raise unreadable(self.con, frame) from None
        self._held.append(name)
        refuse_truncated(self.con, name, frame)
        return name

    @property
    def catalog(self) -> Catalog:
        """The catalog as the connection sees it: also what is temporary or uncommitted."""
        return ConnectionCatalog(lambda: nullcontext(self.con))

    def source(self, data: Any) -> Relation:
        """The relation that the data is, its columns known.

        Raises:
            OptionError, DataError: there is none, or a frame that can't be taken.
        """
        name = relation_name(data)
        if name is None:
            name = self.hold(FRAME, data)
        relation = find_relation(name, self.catalog)
        try:
            schema = bound(self.con, f"FROM {relation.sql}")
        except duckdb.Error as error:
            raise self._unfound(name, error) from None
        known = relation.entry or CatalogEntry({})
        comments = {**dict.fromkeys(schema.columns), **known.columns}
        return replace(
            relation, sql=_without_lists_of_values(relation.sql, schema),
            entry=replace(known, columns=comments),
        )

    def _unfound(self, name: str | Sequence[str], error: duckdb.Error) -> KanonError:
        urls = [each for each in ([name] if isinstance(name, str) else name) if is_url(each)]
        if urls:
            return OptionError(UNREACHED.format(urls[0]))
        if not isinstance(name, str):
            return OptionError(
                "The files of the list can't be read together. Check that each exists, and that "
                "all have the same columns."
            )
        if isinstance(error, duckdb.CatalogException):
            advice = (
                "Give the path of a file, a frame, or the connection that has the table as con"
                if self._own else "Check its name"
            )
            hint = "" if self._own else near_name(error, name)
            return OptionError(f"The relation {name!r} is not a table, view or file here. "
                               f"{advice}.{hint}")
        if isinstance(error, duckdb.IOException) and "No files found" in str(error):
            return OptionError(f"There is no file {name!r}. Check the path.")
        if isinstance(error, duckdb.IOException) and any(said in str(error) for said in REASONS):
            return DataError(UNREAD.format(name))
        return OptionError(f"DuckDB can't read {name!r}. Check that it holds a table.")

    def run(
        self, call: str, source: Relation, options: Mapping[str, Any],
        taken: Callable[[duckdb.DuckDBPyRelation], RowBuffer],
    ) -> RowBuffer:
        """What is taken of a call, which runs then.

        Args:
            call: the SQL call, such as 'anonymize'.
            source: the relation, as of ``asked``.
            options: the options, as of ``asked``.
            taken: what is taken of the relation that the call gives.

        Raises:
            OptionError, DataError, ReleaseError: as the SQL call, in the same words.
        """
        planned = plan(call, source, options, self.catalog)
        return self.query(planned.text, taken, planned.relations)

    def query(
        self, text: str, taken: Callable[[duckdb.DuckDBPyRelation], RowBuffer],
        relations: Sequence[ReferencedRelation] = (),
    ) -> RowBuffer:
        """What is taken of one of our queries, which runs then; ``relations``: those that may be
        missing."""
        with self.refusals(relations):
            return taken(bound(self.con, telling(text)))

    def rows(self, text: str) -> list[Any]:
        """All rows of one of our queries."""
        return self.query(text, lambda relation: relation.fetchall())

    @contextmanager
    def refusals(self, relations: Sequence[ReferencedRelation] = ()) -> Iterator[None]:
        """Raises what DuckDB refuses meanwhile as what it is; ``relations``: those that may be
        missing."""
        with refusals(lambda: self.missing(relations)):
            yield

    def missing(self, sought: Sequence[ReferencedRelation]) -> ReferencedRelation | None:
        """The first of some relations that DuckDB doesn't find."""
        for one in sought:
            try:
                bound(self.con, f"FROM {one.relation.sql}")
            except (duckdb.CatalogException, duckdb.IOException):
                return one
            except duckdb.InterruptException:
                # what DuckDB says of the next query where a file could not be opened in this
                # transaction: nothing is known, and what was refused first counts
                return None
        return None


def _without_lists_of_values(relation: str, schema: duckdb.DuckDBPyRelation) -> str:
    """The relation as it stands in FROM, where an ENUM inside of another type is a text: its type
    would tell all values that it may have, released or not. An ENUM alone is one by the query."""
    kinds = zip(schema.columns, map(str, schema.types), strict=True)
    casts = ", ".join(
        f"CAST({quoted(name)} AS {ENUM.sub('VARCHAR', kind)}) AS {quoted(name)}"
        for name, kind in kinds if ENUM.search(kind) and not ENUM.fullmatch(kind)
    )
    return f"(SELECT * REPLACE ({casts}) FROM {relation})" if casts else relation


def reads_of(session: Session, source: Relation, options: Mapping[str, Any]) -> Reads:
    """What a call reads: its relation, those that its options name, and the files of frames."""
    named = {
        name: value for name, value in options.items()
        if name in RELATIONS or name == "hierarchies"
    }
    return Reads(session.con, source.sql, {**named, FRAME: session.read})


def _hold(session: Session, name: str, value: Any) -> Any:
    """A frame, or a list of rows, given as an option becomes a relation of the connection; its
    name, or the option."""
    if isinstance(value, (list, tuple)) and value and all(
        isinstance(pair, (list, tuple)) and len(pair) == len(value[0]) for pair in value
    ):
        names = [f"column_{i}" for i in range(1, len(value[0]) + 1)]
        value = pa.table(dict(zip(names, map(list, zip(*value, strict=True)), strict=True)))
    return session.hold(name, value) if is_frame(value) else value


def _relations(session: Session, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options, where frames may stand for names of relations, as plain values."""
    held = {
        name: _hold(session, name, value) if name in RELATIONS else value
        for name, value in options.items()
    }
    if isinstance(held.get("hierarchies"), Mapping):
        held["hierarchies"] = {
            column: _hold_hierarchy(session, f"hierarchy_{i}", hierarchy)
            for i, (column, hierarchy) in enumerate(held["hierarchies"].items(), start=1)
        }
    for name, value in held.items():
        if not (name in OPTIONS and OPTIONS[name].check is texts and is_column(value)):
            refuse_data(name, value)
    return {name: plain(value) for name, value in held.items()}


def _hold_hierarchy(session: Session, name: str, hierarchy: Any) -> Any:
    """The name of a frame of levels; a kind with names for the frames that it is made from."""
    if not isinstance(hierarchy, Mapping):
        return _hold(session, name, hierarchy)
    return {
        option: _hold(session, f"{name}_{option}", value) if option in RELATIONS
        # the one option that lists values
        else plain(value) if option == "ranking" and is_column(value) else value
        for option, value in hierarchy.items()
    }


def _refuse_unknown(columns: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """Raises OptionError for an option that names a column which the relation doesn't have."""
    known = list(map(caseless, columns))
    for option, name in named_columns(options):
        if caseless(name) not in known:
            raise OptionError(unknown_column(option, name, columns))


def run(call: str, data: Frame | Named, con: Any, options: Mapping[str, Any]) -> Frame:
    """Runs one of the SQL calls on a frame, a file, or a relation of a connection.

    Args:
        call: the SQL call, such as 'anonymize'.
        data: what the call looks at.
        con: the caller's connection or None.
        options: as in SQL; None stands for "not given".

    Returns:
        A frame of the kind that came in; an Arrow table for files, names and dicts.

    Raises:
        OptionError, DataError, ReleaseError: as the SQL call, in the same words.
    """
    result: Frame = answer(call, data, con, options, way_back(data, con))
    return result


def answer(
    call: str, data: Any, con: Any, options: Mapping[str, Any],
    taken: Callable[[duckdb.DuckDBPyRelation], Any],
) -> Any:
    """What is taken of a call, which runs then; the rest as of ``run``."""
    refuse_forked()
    with Session(con, lasting=True) as session:
        source, held = relation_and_options(session, data, given_options(options))
        return session.run(call, source, held, taken)


def given_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options without those of None, which stands for "not given"; what is no option stays, so
    that it is refused."""
    return {
        name: value for name, value in options.items() if value is not None or name not in KNOWN
    }


def every_method() -> pa.Table:
    """What anonymize_methods() gives in SQL."""
    with Session(None, lasting=True) as session:
        return bound(session.con, methods_sql()).to_arrow_table()


def relation_and_options(
    session: Session, data: Any, options: Mapping[str, Any]
) -> tuple[Relation, dict[str, Any]]:
    """The relation that the data is, and the options as plain values: frames among them are
    relations of the session.

    Raises:
        OptionError, DataError: a relation that there isn't, or an option that names a column which
            the relation doesn't have.
    """
    source = session.source(data)
    held = _relations(session, options)
    _refuse_unknown(source.columns or {}, held)
    return source, held
