"""Two servers of DuckDB's remote protocol: of releases for readers, of calls for analysts."""

from __future__ import annotations

import json
import secrets
import socket
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb

from kanon_sql.duckdb.register import register
from kanon_sql.errors import KanonError, OptionError
from kanon_sql.names import caseless, literal, quoted
from kanon_sql.plan.macros import helper_macros
from kanon_sql.plan.manifest import digest_of
from kanon_sql.serve.extension import served_connection
from kanon_sql.serve.rights import ServedTable, refuse_call
from kanon_sql.serve.statements import CallRequest, NotAllowedError, is_catalog, read_statement
from kanon_sql.serve.tokens import Holder, TokenFile

SESSIONS = 10_000
"""How many sessions are remembered; who comes after so many others signs in again."""

STILL_SET = ("enable_progress_bar", "python_enable_replacements", "search_path")
"""What planning a call sets for its own cursor."""

NO_RELEASE = (
    "The release {!r} can't be read. Make it by kanon run, or leave --as-it-is out."
)
NO_TABLE = (
    "The table {!r} can't be read with the columns that have a role. Check its input and its roles."
)
TAKEN = "The address {} can't be served. Choose another port, or end what uses it."
LOCAL = ("localhost", "127.0.0.1")
Log = Callable[[str], None]


@dataclass(frozen=True)
class StoredRelease:
    """A release that readers read.

    Attributes:
        name: under which it is served.
        source: SQL of the relation behind it.
    """

    name: str
    source: str


@dataclass
class Gate:
    """Who is there, and what is answered to whom.

    Attributes:
        right: that of this server.
        tokens: the file of tokens.
        log: gets a line for each statement.
        tables: what analysts call, by name in lower case.
        releases: the digest of the rows of each release, by name in lower case.
    """

    right: str
    tokens: TokenFile
    log: Log
    tables: Mapping[str, ServedTable] = field(default_factory=dict)
    releases: Mapping[str, str] = field(default_factory=dict)
    _sessions: OrderedDict[str, str] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def authenticate(self, session: str, token: str, _: str) -> bool:
        """Whether the token has the right of this server."""
        if self._holder(token) is None:
            self._tell({"granted": False, "what": "a token without this right"})
            return False
        with self._lock:
            self._sessions[session] = token
            while len(self._sessions) > SESSIONS:
                self._sessions.popitem(last=False)
        return True

    def _holder(self, token: str | None) -> Holder | None:
        """Who has a token of this right, now."""
        with suppress(KanonError, duckdb.Error):
            holder = None if token is None else self.tokens.holder_of(token)
            return holder if holder is not None and holder.right == self.right else None
        return None

    def authorize(self, session: str, text: str) -> bool:
        """Whether a statement is answered: also of a session, only while its token is one."""
        with self._lock:
            token = self._sessions.get(session)
        holder = self._holder(token)
        if holder is None:
            return False
        told: dict[str, Any] = {"who": holder.name, "right": self.right}
        try:
            told |= self._asked(text)
        except NotAllowedError:
            self._tell({**told, "granted": False, "what": "another statement"})
            return False
        self._tell({**told, "granted": True, "statement_sha256": sha256(text.encode()).hexdigest()})
        return True

    def _asked(self, text: str) -> dict[str, Any]:
        """What a statement asks for, without values."""
        if self.right == "reader" and is_catalog(text):
            return {"what": "the list of releases"}
        asked = read_statement(text)
        if isinstance(asked, CallRequest):
            if self.right != "analyst":
                raise NotAllowedError
            refuse_call(asked, self.tables)
            return {"what": asked.call, "table": asked.table, "options": sorted(asked.options)}
        digest = self.releases.get(caseless(asked.table))
        if digest is None:
            raise NotAllowedError
        return {"what": "release", "table": asked.table, "rows_sha256": digest}

    def _tell(self, told: Mapping[str, Any]) -> None:
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        self.log(json.dumps({"time": now, **told}, ensure_ascii=False))


def refuse_serving(*addresses: str) -> None:
    """Raises OptionError where an extension is missing or an address is taken: what can be said
    before a release is made."""
    served_connection().close()
    for address in addresses:
        _refuse_taken(address)


@contextmanager
def readers(
    releases: Sequence[StoredRelease], database: Path | None, tokens: Path, address: str, log: Log
) -> Iterator[None]:
    """Serves copies of stored releases, meanwhile.

    Args:
        releases: what is copied.
        database: in which some of them are tables; it is closed before anybody is served.
        tokens: the file of tokens.
        address: host and port.
        log: gets a line for each statement.

    Raises:
        OptionError: an extension is missing, or the address can't be used.
    """
    con = served_connection()
    with con:
        if database is not None:
            con.execute(f"ATTACH {literal(str(database))} AS source (READ_ONLY)")
        digests = {}
        for release in releases:
            try:
                con.execute(f"CREATE TABLE {quoted(release.name)} AS FROM {release.source}")
            except duckdb.Error:
                raise OptionError(NO_RELEASE.format(release.name)) from None
            digests[caseless(release.name)] = _digest(con, release.name)
        if database is not None:
            con.execute("DETACH source")
        gate = Gate("reader", TokenFile(tokens), log, releases=digests)
        with _serving(con, gate, address):
            yield


def _digest(con: duckdb.DuckDBPyConnection, name: str) -> str:
    """The digest of the rows of a table, as a manifest has it."""
    query = f"SELECT ({digest_of(quoted(name))})"
    with con.cursor() as own:  # whose macros are temporary, and gone with it
        for text in helper_macros([query]):
            own.execute(text)
        ((digest,),) = own.execute(query).fetchall()
    return str(digest)


@contextmanager
def analysts(
    tables: Sequence[ServedTable], database: Path | None, tokens: Path, address: str, log: Log
) -> Iterator[None]:
    """Serves calls on declared tables, meanwhile.

    Copies, so that no cast of a view, no file and no other table is left to tell of when a call
    runs: what DuckDB says of those may be a value.

    Args:
        tables: what is declared; only columns with a role other than identifier are copied.
        database: in which some of them are tables; it is closed before anybody is served.
        tokens, address, log: as of ``readers``.

    Raises:
        OptionError: as of ``readers``, or a table can't be read.
    """
    con = served_connection()
    with con:
        if database is not None:
            con.execute(f"ATTACH {literal(str(database))} AS source (READ_ONLY)")
        for table in tables:
            try:
                _copy(con, table)
            except duckdb.Error:
                raise OptionError(NO_TABLE.format(table.name)) from None
        if database is not None:
            con.execute("DETACH source")
        register(con, shared=True)
        named = {caseless(table.name): table for table in tables}
        gate = Gate("analyst", TokenFile(tokens), log, tables=named)
        with _serving(con, gate, address):
            yield


def _copy(con: duckdb.DuckDBPyConnection, table: ServedTable) -> None:
    """Copies the columns of a table that have a role, and says it in comments."""
    kept = {caseless(n): role for n, role in table.roles.items() if role != "identifier"}
    columns = [
        row[0] for row in con.execute(f"DESCRIBE FROM {table.source}").fetchall()
        if caseless(row[0]) in kept
    ]
    if len(columns) != len(kept):
        raise OptionError(NO_TABLE.format(table.name))
    name = quoted(table.name)
    con.execute(
        f"CREATE TABLE {name} AS SELECT {', '.join(map(quoted, columns))} FROM {table.source}"
    )
    for column in columns:
        con.execute(
            f"COMMENT ON COLUMN {name}.{quoted(column)} IS "
            f"{literal(f'kanon: {kept[caseless(column)]}')}"
        )


@contextmanager
def _serving(con: duckdb.DuckDBPyConnection, gate: Gate, address: str) -> Iterator[None]:
    """Serves a database behind a gate, meanwhile."""
    texts: list[Any] = ["VARCHAR", "VARCHAR"]
    con.create_function(
        "kanon_authenticate", gate.authenticate, [*texts, "VARCHAR"], "BOOLEAN", side_effects=True
    )
    con.create_function("kanon_authorize", gate.authorize, texts, "BOOLEAN", side_effects=True)
    con.execute("SET GLOBAL quack_authentication_function = 'kanon_authenticate'")
    con.execute("SET GLOBAL quack_authorization_function = 'kanon_authorize'")
    con.execute("SET GLOBAL enable_external_access = false")
    with suppress(duckdb.CatalogException):  # of DuckDB 1.4, which then isn't locked
        con.execute(f"SET GLOBAL allowed_configs = [{', '.join(map(literal, STILL_SET))}]")
        con.execute("SET GLOBAL lock_configuration = true")
    _refuse_taken(address)
    other = str(address.rpartition(":")[0] not in LOCAL).lower()
    place = literal(f"quack:{address}")
    try:
        con.execute(
            f"CALL quack_serve({place}, token := {literal(secrets.token_urlsafe(32))}, "
            f"allow_other_hostname := {other})"
        )
    except duckdb.Error:
        raise OptionError(TAKEN.format(address)) from None
    try:
        yield
    finally:
        with suppress(duckdb.Error):
            con.execute(f"CALL quack_stop({place})")


def _refuse_taken(address: str) -> None:
    """Raises OptionError where somebody listens: DuckDB would listen beside."""
    host, _, port = address.rpartition(":")
    with suppress(OSError), socket.create_connection((host, int(port)), timeout=2.0):
        raise OptionError(TAKEN.format(address))
