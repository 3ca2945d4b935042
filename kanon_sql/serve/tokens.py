"""Who may ask: tokens with a right each, in a DuckDB file of their own, by their hashes."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import duckdb

from kanon_sql.errors import OptionError, did_you_mean

RIGHTS = {
    "analyst": "calls the functions of kanon_sql on the declared tables",
    "reader": "reads stored releases",
}
BUSY, TURN = 5.0, 0.05
"""Seconds that another process may hold the file, and between two tries."""

TABLE = """
    CREATE TABLE IF NOT EXISTS tokens (
        name VARCHAR PRIMARY KEY, "right" VARCHAR NOT NULL, salt VARCHAR NOT NULL,
        sha256 VARCHAR NOT NULL, created TIMESTAMPTZ NOT NULL DEFAULT now())
"""


class Holder(NamedTuple):
    """Who has a token.

    Attributes:
        name: of the holder.
        right: one of RIGHTS.
    """

    name: str
    right: str


def add_token(path: Path, name: str, right: str) -> str:
    """A new token, which is kept nowhere: only its salted hash is.

    Raises:
        OptionError: no such right, or the name has a token.
    """
    if right not in RIGHTS:
        raise OptionError(f"There is no right {right!r}. {did_you_mean(right, RIGHTS)}")
    if not name.isidentifier() or len(name) > 64:
        raise OptionError(f"The name {name!r} can't be used. Use letters, digits and _.")
    token, salt = secrets.token_urlsafe(32), secrets.token_hex(16)
    before = os.umask(0o077)  # nobody else reads the file, from its first byte on
    try:
        with _opened(path, read_only=False) as con:
            con.execute(TABLE)
            if con.execute("SELECT 1 FROM tokens WHERE name = ?", [name]).fetchall():
                raise OptionError(
                    f"{name!r} has a token. Revoke it first: kanon token DATABASE {name} --revoke."
                )
            con.execute(
                'INSERT INTO tokens (name, "right", salt, sha256) VALUES (?, ?, ?, ?)',
                [name, right, salt, _hash(salt, token)],
            )
    finally:
        os.umask(before)
    return token


def revoke_token(path: Path, name: str) -> None:
    """Takes a token away, also from a server that runs.

    Raises:
        OptionError: nobody has that name.
    """
    with _opened(path, read_only=False) as con:
        con.execute(TABLE)
        if not con.execute("DELETE FROM tokens WHERE name = ? RETURNING name", [name]).fetchall():
            raise OptionError(f"There is no token of {name!r}. Check the name.")


def holders(path: Path) -> list[tuple[str, str, str]]:
    """Name, right and day of each token."""
    with _opened(path, read_only=True) as con:
        return con.execute(
            'SELECT name, "right", strftime(created, \'%Y-%m-%d\') FROM tokens ORDER BY name'
        ).fetchall()


class TokenFile:
    """A file of tokens that is read again when it has changed."""

    def __init__(self, path: Path) -> None:
        """Reads nothing yet."""
        self.path = path
        self._mark: tuple[int, ...] = ()
        self._rows: list[tuple[str, str, str, str]] = []

    def holder_of(self, token: str) -> Holder | None:
        """Who has this token; None where nobody does. All hashes are compared, whichever fits.

        Raises:
            OptionError: the file is gone, or can't be opened.
        """
        mark = self._marked()
        if mark != self._mark or not mark:
            with _opened(self.path, read_only=True) as con:
                self._rows = con.execute(
                    'SELECT name, "right", salt, sha256 FROM tokens'
                ).fetchall()
            self._mark = mark
        fitting = None
        for name, right, salt, digest in self._rows:
            if hmac.compare_digest(_hash(salt, token), digest):
                fitting = Holder(name, right)
        return fitting

    def _marked(self) -> tuple[int, ...]:
        """What differs once the file, or what DuckDB keeps beside it, has other contents."""
        mark: tuple[int, ...] = ()
        for path in (self.path, self.path.with_name(f"{self.path.name}.wal")):
            with suppress(FileNotFoundError):
                told = path.stat()
                mark += (told.st_ino, told.st_mtime_ns, told.st_size)
        return mark


def _hash(salt: str, token: str) -> str:
    return hashlib.sha256(f"{salt}{token}".encode()).hexdigest()


@contextmanager
def _opened(path: Path, read_only: bool) -> Iterator[duckdb.DuckDBPyConnection]:
    """The file, for a moment: others may open it in between."""
    if read_only and not path.exists():
        raise OptionError(f"There is no file {str(path)!r} of tokens. Add one by kanon token.")
    until = time.monotonic() + BUSY
    while True:
        try:
            con = duckdb.connect(str(path), read_only=read_only)
            break
        except duckdb.Error:
            if time.monotonic() > until:
                raise OptionError(
                    f"The file of tokens {str(path)!r} can't be opened. Check it, or try again."
                ) from None
            time.sleep(TURN)
    with con:
        yield con
