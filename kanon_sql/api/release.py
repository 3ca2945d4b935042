"""A release into a file: Parquet, whole or not at all, with its manifest in the footer."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb

from kanon_sql.api.ledger_entry import Entered, enter, entry_of, unmoved
from kanon_sql.api.private import PrivatePart, is_json, refuse_private
from kanon_sql.call.call import GroupingCall, read_call
from kanon_sql.call.relation import Relation, is_url
from kanon_sql.duckdb.frames import is_frame
from kanon_sql.duckdb.refused import telling
from kanon_sql.duckdb.session import Session, bound, reads_of, relation_and_options
from kanon_sql.errors import DataError, OptionError, ReleaseError
from kanon_sql.jobs.forks import refuse_forked
from kanon_sql.jobs.interrupts import deferred
from kanon_sql.names import literal, quoted
from kanon_sql.output.faults import writing
from kanon_sql.output.whole import beside, refuse_special
from kanon_sql.plan.manifest import (
    MANIFEST,
    SEAL,
    copy_sql,
    digest_sql,
    file_relation,
    fingerprint_sql,
    sealed,
)
from kanon_sql.plan.query import measured_manifest, plan, written

TRANSACTION = "SELECT system.main.txid_current()"

OPENED = (
    "con is inside a transaction, which could take back what the file then says. COMMIT or "
    "ROLLBACK it first."
)
UNKEPT = (
    "The column {!r} has the type {}, which a Parquet file doesn't keep as it is. CAST it to one "
    "that it keeps, such as {}."
)
CHANGED = (
    "The release was stopped: the file doesn't hold what the release is. Nothing was written; "
    "please report this as a bug."
)
INSTEAD = {
    "HUGEINT": "DECIMAL(38, 0)", "UHUGEINT": "DECIMAL(38, 0)", "TIMESTAMP_S": "TIMESTAMP",
    "TIMESTAMP_MS": "TIMESTAMP",
}
"""What to cast a type to that Parquet doesn't keep; all others to VARCHAR."""

UNEXACT = re.compile(r"\bINTERVAL\b|\bTIME WITH TIME ZONE\b")
"""Types that come back from Parquet under their name, but with other values."""


@dataclass(frozen=True)
class Written:
    """A release that was written.

    Attributes:
        path: the file.
        manifest: what its footer says, by section and entry.
        private: what proves later that the file was made from its source: the seed, the options as
            they were given, and a salted digest of the source. It stands nowhere in the file, and
            is for nobody who gets that.
        marks: what tells whether the relations that it was made from are still what they were.
    """

    path: str
    manifest: Mapping[str, Any]
    private: Mapping[str, Any]
    marks: tuple[Any, ...]


def write_release(
    con: Any, data: Any, options: Mapping[str, Any], to: Any, private: Any = None,
    read: Sequence[str] = (),
) -> Written:
    """Runs a release and writes it: beside the file, and renamed when it is whole, so that whatever
    happens there is the old file or the new one.

    Args:
        con: the caller's connection or None.
        data: the relation.
        options: those of anonymize that were given.
        to: the file.
        private: where the private part goes, or None.
        read: files and queries that a frame was read from, as texts.

    Raises:
        OptionError, DataError, ReleaseError: as anonymize, or where the file can't be written.
    """
    refuse_forked()
    path = _target(to)
    refuse_private(private, con, path)
    with ExitStack() as committing, Session(con, lasting=True) as session:
        source, held = relation_and_options(session, data, options)
        session.read += read
        reads = reads_of(session, source, held)
        reads.refuse_file("to", path)
        if is_json(private):
            reads.refuse_file("private", Path(private).resolve(), "it")
        entry = entry_of(session, con, options.get("ledger"), held)
        with (
            PrivatePart(session.con, private, path) as part,
            Entered(session.con, entry, str(path)) as entered,
            beside(path) as draft,
        ):
            part.check(session)
            with unmoved(entry), transaction(session.con):
                seed = held["seed"] = seed_of(session, source, held)
                marks = marks_of(session, source, held)
                manifest = _write(session, source, held, draft, path)
                salt, ledger = secrets.token_hex(32), None
                if entry is not None:
                    enter(session, source, held, entry, manifest["metrics"]["rows_released"])
                    ledger = salted(salt, input_digest(session, entry.relation))
                record = {
                    "format": 1,
                    "file": part.file,
                    "manifest_sha256": manifest[SEAL],
                    "seed": seed,
                    "options": _as_given({name: options[name] for name in options if name in held}),
                    "salt": salt,
                    "input_sha256": salted(salt, input_digest(session, source)),
                    "ledger_sha256": ledger,
                }
                # last of all that can fail but for the end of the transaction
                part.put(record)
                # the file, its private part and its entry in the ledger stay or go together
                committing.enter_context(deferred())
            entered.is_committed()
            part.is_committed()
    return Written(str(path), manifest, record, marks)


def _target(to: Any) -> Path:
    """The file to write, where it may be one."""
    if not isinstance(to, (str, os.PathLike)) or not str(to):
        raise OptionError("to is not given. Name the file to write, for example to='out.parquet'.")
    if is_url(str(to)):
        raise OptionError(
            f"to names {str(to)!r}, which is not a local file, and only local files are written "
            "atomically. Write one here, and copy it."
        )
    refuse_special("to", Path(to))
    path = Path(to).resolve()
    if re.search(r"[*?\[]", str(path)):
        raise OptionError(
            f"to names {str(to)!r}, which DuckDB reads as a pattern. Leave out the signs *, ? and "
            "[, also of its folders."
        )
    if path.suffix.lower() not in ("", ".parquet") and not path.is_dir():
        raise OptionError(
            f"to names {str(to)!r}, and a release with its manifest is a Parquet file. Name one "
            "that ends in .parquet, or write what anonymize gives to a file of another kind."
        )
    if path.is_dir():
        raise OptionError(f"to names the folder {str(to)!r}. Name a file in it.")
    if not path.parent.is_dir():
        raise OptionError(f"There is no folder for {str(to)!r}. Make it first.")
    return path


def is_open(con: duckdb.DuckDBPyConnection) -> bool:
    """Whether the connection is inside of a transaction of the caller's."""
    # each statement outside of a transaction is one of its own; to begin one inside of one would
    # make that of the caller unusable
    first, second = (con.execute(TRANSACTION).fetchall() for _ in range(2))
    return bool(first == second)


@contextmanager
def transaction(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """All or nothing: what is read is of one moment, and what is written of none if it fails."""
    if is_open(con):
        raise OptionError(OPENED)
    con.begin()
    try:
        yield
        con.commit()
    except BaseException:
        with suppress(duckdb.Error):
            con.rollback()
        raise


def marks_of(
    session: Session, source: Relation, options: Mapping[str, Any]
) -> tuple[Any, ...]:
    """What tells whether the relations of a call are still what they were: of each the number of
    its rows, and two sums of their hashes."""
    planned = plan("anonymize", source, options, session.catalog)
    texts = [fingerprint_sql(sought.relation) for sought in planned.relations]
    with session.refusals(planned.relations):
        return tuple(bound(session.con, text).fetchall()[0] for text in texts)


def seed_of(session: Session, source: Relation, options: Mapping[str, Any]) -> int:
    """The seed of a call, also where it is drawn."""
    call = read_call("anonymize", source, options, session.catalog)
    assert isinstance(call, GroupingCall)
    return call.task.seed


def read_manifest(
    session: Session, source: Relation, options: Mapping[str, Any]
) -> dict[str, Any]:
    """The manifest of a call: a dict by section and entry, with its seal."""
    rows = session.run(
        "anonymize_manifest", source, options, lambda relation: relation.fetchall()
    )
    return sealed(_by_section(rows))


def manifest_and_metrics(
    session: Session, source: Relation, options: Mapping[str, Any]
) -> tuple[dict[str, Any], list[tuple[Any, ...]]]:
    """The manifest of a call, as of ``read_manifest``, and the rows of anonymize_metrics with
    ``detail``, both from one run."""
    planned = measured_manifest(source, options, session.catalog)
    rows = session.query(planned.text, lambda relation: relation.fetchall(), planned.relations)
    return sealed(_by_section(rows)), [tuple(metric.values()) for metric in rows[0][-1]]


def _by_section(rows: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    """The rows of a manifest as a dict by section and entry."""
    manifest: dict[str, Any] = {}
    for section, entry, value, *_ in rows:
        # the digest of rows that are still to be written
        manifest.setdefault(section, {})[entry] = None if value is None else json.loads(value)
    return manifest


def _write(
    session: Session, source: Relation, options: Mapping[str, Any], draft: str, path: Path
) -> dict[str, Any]:
    """Makes a release, and writes its draft; its manifest, which the footer has. It is grouped and
    measured by one query: its rows wait in a table, since a footer is written before them."""
    planned = written(source, options, session.catalog)
    table = f"temp.__kanon_{secrets.token_hex(16)}"
    with session.refusals(planned.relations):
        bound(session.con, f"CREATE TEMP TABLE {table} AS {telling(planned.text)}")
    entries = session.rows(
        f"SELECT unnest({MANIFEST}, max_depth := 2) FROM {table} WHERE {MANIFEST} IS NOT NULL"
    )
    rows = f"(SELECT * EXCLUDE ({MANIFEST}) FROM {table} WHERE {MANIFEST} IS NULL)"
    manifest = _by_section(entries)
    manifest["release"]["rows_sha256"] = input_digest(session, Relation(rows, (table,)))
    manifest = sealed(manifest)
    with Session(None, lasting=True) as own:
        with writing(path):
            refuse_unkept(own, manifest["columns"], draft)
        kept = Relation(_as_kept(session, rows, manifest["columns"]), (table,))
        with session.refusals(), writing(path):
            bound(session.con, copy_sql(kept.sql, draft, json.dumps(manifest)))
        held = own.con.execute(fingerprint_sql(file_relation(draft))).fetchall()
    if held != session.rows(fingerprint_sql(kept)):
        raise ReleaseError(CHANGED)
    session.con.execute(f"DROP TABLE {table}")
    return manifest


def rows_of(
    session: Session, source: Relation, options: Mapping[str, Any], columns: Mapping[str, str]
) -> str:
    """SQL of the released rows as a file keeps them; ``columns``: name and type of each."""
    planned = plan("anonymize", source, options, session.catalog)
    with session.refusals(planned.relations):
        return _as_kept(session, f"({telling(planned.text)})", columns)


def _as_kept(session: Session, rows: str, columns: Mapping[str, str]) -> str:
    """SQL of rows, a query in parentheses, as a file keeps them. An ENUM is the text that it is:
    DuckDB 1 would write all values that it may have, and so some that are in no released row."""
    types = [*map(str, bound(session.con, f"FROM {rows}").types)]
    shown = ", ".join(
        quoted(name) if kept == actual else f"CAST({quoted(name)} AS {kept}) AS {quoted(name)}"
        for (name, kept), actual in zip(columns.items(), types, strict=True)
    )
    return f"(SELECT {shown} FROM {rows})"


def refuse_unkept(own: Session, columns: Mapping[str, str], draft: str) -> None:
    """Raises DataError for a column of a type that a Parquet file doesn't keep, by writing none of
    its rows; ``own``: a session on no connection of a caller."""
    empty = ", ".join(f"NULL::{kept} AS {quoted(name)}" for name, kept in columns.items())
    own.con.execute(
        f"COPY (SELECT {empty} WHERE false) TO {literal(draft)} (FORMAT parquet, "
        "USE_TMP_FILE false)"
    )
    written = own.con.execute(f"DESCRIBE FROM {file_relation(draft).sql}").fetchall()
    for (name, kept), (_, actual, *_) in zip(columns.items(), written, strict=True):
        if kept != actual or UNEXACT.search(kept):
            raise DataError(UNKEPT.format(name, kept, INSTEAD.get(kept, "VARCHAR")))


def input_digest(session: Session, source: Relation) -> str:
    """The digest of the rows of a relation."""
    ((digest,),) = session.rows(digest_sql(source))
    return str(digest)


def salted(salt: str, digest: str) -> str:
    """A digest that tells nothing to who doesn't have the salt."""
    return sha256(f"{salt} {digest}".encode()).hexdigest()


def _as_given(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options in values that JSON has; of a frame that it was one."""
    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {str(name): plain(part) for name, part in value.items()}
        if is_frame(value):
            return {"frame": True}
        if isinstance(value, Sequence) and not isinstance(value, str):
            return [plain(part) for part in value]
        return value if isinstance(value, (str, int, float, bool)) else str(value)

    return {name: plain(value) for name, value in options.items()}
