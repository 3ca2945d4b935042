"""Where the private part of a release goes: a file of one's own, or a table."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb

from kanon_sql.api.file_columns import footer
from kanon_sql.call.referenced_relations import ReferencedRelation
from kanon_sql.call.relation import find_relation
from kanon_sql.duckdb.refused import is_read_only
from kanon_sql.duckdb.session import Session
from kanon_sql.errors import OptionError, ReleaseError, a_type
from kanon_sql.output.whole import beside, refuse_special
from kanon_sql.plan.manifest import KEY, SEAL

STAYS = (
    "The release can't be written to {!r}, and the table {!r} has its private part. Delete that "
    "row, and make the release again."
)
NO_TABLE = (
    "private names {!r}, which is not a table with the columns file, manifest_sha256 and private, "
    "and can't become one. Name a new table in a schema that exists; it is created."
)
OTHERS = (
    "private names {!r}, which has the private part of another release. Name another file, or "
    "delete it if that release needs no proof."
)
READ_ONLY = (
    "private names the table {!r}, whose database is open for reading only. Open it for writing "
    "too, or name a file that ends in .json."
)
PLACES = "Name a file that ends in .json, or with con a table."


def is_json(private: Any) -> bool:
    """Whether the private part goes to a file."""
    return isinstance(private, os.PathLike) or str(private).lower().endswith(".json")


def refuse_private(private: Any, con: Any, path: Path) -> None:
    """Raises OptionError where the private part can't go."""
    if private is None:
        return
    if not isinstance(private, (str, os.PathLike)) or not str(private).strip():
        raise OptionError(f"private is {a_type(private)}. {PLACES}")
    if not is_json(private):
        if con is None:
            raise OptionError(f"private names the table {private!r}, and there is no con. {PLACES}")
        return
    refuse_special("private", Path(private))
    place = Path(private).resolve()
    if place == path:
        raise OptionError("private names the file of the release. Name another one.")
    if place.is_dir() or not place.parent.is_dir():
        raise OptionError(f"private names {str(private)!r}, where no file can be. {PLACES}")


class PrivatePart:
    """Puts the private part of a release where it goes, and takes it back if the file can't get its
    name: what stood in a file of that name stands there again, since it is what proves the release
    that stays, and a table has no row of a release that isn't there."""

    def __init__(self, con: duckdb.DuckDBPyConnection, private: Any, path: Path) -> None:
        """
        Args:
            con: which has the table, if it goes to one.
            private: where it goes; None for nowhere.
            path: the file of the release.
        """
        self._con, self._private, self._path = con, private, path
        self._place = Path(private).resolve() if private is not None and is_json(private) else None
        self._before = _bytes_of(self._place)
        self.file = path.name
        """The file of the release, from the folder of the private part where that is a file."""
        if self._place is not None:
            self.file = _way(path, self._place.parent)
        self._table: str | None = None
        self._text = ""
        self._begins = self._stays = False

    def __enter__(self) -> PrivatePart:
        return self

    def check(self, session: Session) -> None:
        """Raises OptionError, before any work is done, where a table can't take it, or a file has
        that of another release."""
        if self._place is not None:
            self._refuse_others(self._place)
        if self._private is None or self._place is not None:
            return
        relation = find_relation(self._private, session.catalog)
        self._table = relation.sql
        self._begins = session.missing([ReferencedRelation(relation, "")]) is not None
        if self._begins:
            self._run(f"EXPLAIN {self._create()}")
        else:
            self._run(f"EXPLAIN {self._insert()}", ["", "", "{}"])

    def _refuse_others(self, place: Path) -> None:
        """Raises OptionError where there is the only proof of a release that isn't replaced."""
        try:
            held = json.loads(self._before or b"")
            file = (place.parent / str(held.get("file", ""))).resolve()
        except (ValueError, AttributeError, RecursionError):  # no private part
            return
        if "manifest_sha256" not in held or file == self._path:
            return
        # the two were moved apart, or an earlier version wrote it, which didn't tell the file
        if file.is_file() or held["manifest_sha256"] != _seal_of(self._path):
            raise OptionError(OTHERS.format(str(self._private)))

    def put(self, record: Mapping[str, Any]) -> None:
        """Puts it there, inside of the transaction of the release."""
        if self._place is not None:
            _write_private(self._place, (json.dumps(record, indent=1) + "\n").encode())
        elif self._table is not None:
            self._text = json.dumps(record)
            self._run(self._create())
            self._run(self._insert(), [self._path.name, record["manifest_sha256"], self._text])

    def _create(self) -> str:
        return (
            f"CREATE TABLE IF NOT EXISTS {self._table} "
            "(file VARCHAR, manifest_sha256 VARCHAR, private JSON)"
        )

    def _insert(self) -> str:
        return f"INSERT INTO {self._table} (file, manifest_sha256, private) VALUES (?, ?, ?)"

    def _run(self, query: str, values: Sequence[str] = ()) -> None:
        try:
            self._con.execute(query, values)
        except duckdb.Error as error:
            said = READ_ONLY if is_read_only(error) else NO_TABLE
            raise OptionError(said.format(self._private)) from None

    def is_committed(self) -> None:
        """The transaction of the release has ended well."""
        self._stays = self._table is not None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            return
        if self._place is not None and _bytes_of(self._place) != self._before:
            with suppress(OSError):
                if self._before is None:
                    self._place.unlink()
                else:
                    _write_private(self._place, self._before)
        if not self._stays:  # the transaction took the row with it
            return
        try:
            self._con.execute(f"DELETE FROM {self._table} WHERE private = ?::JSON", [self._text])
            ((left,),) = self._con.execute(
                f"SELECT system.main.count(*) FROM {self._table}"
            ).fetchall()
            if self._begins and left == 0:
                self._con.execute(f"DROP TABLE {self._table}")
        except duckdb.Error:
            raise ReleaseError(STAYS.format(str(self._path), self._private)) from None


def _way(path: Path, folder: Path) -> str:
    """A path as it is from a folder, so that both can be moved together."""
    try:
        return os.path.relpath(path, folder)
    except ValueError:  # on two drives of Windows
        return str(path)


def _seal_of(path: Path) -> str | None:
    """The seal of the manifest in a file; None where there is none."""
    if not path.is_file():
        return None
    try:
        with Session(None, lasting=True) as own:
            footers = [text for key, text in footer(own.con, str(path)) if key == KEY]
        return str(json.loads(footers[0])[SEAL])
    except (duckdb.Error, ValueError, LookupError, TypeError, RecursionError):
        return None


def _bytes_of(place: Path | None) -> bytes | None:
    if place is None:
        return None
    with suppress(OSError):
        return place.read_bytes()
    return None


def _write_private(place: Path, text: bytes) -> None:
    with beside(place, secret=True) as draft:
        opened = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(opened, "wb") as file:
            file.write(text)
