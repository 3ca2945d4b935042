"""Where the private part of a release goes: a file of one's own, or a table."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb

from kanon_sql.call.relation import find_relation
from kanon_sql.duckdb.session import Session
from kanon_sql.errors import OptionError
from kanon_sql.output.whole import beside

PLACES = "Name a file that ends in .json, or with con a table."


def is_json(private: Any) -> bool:
    """Whether the private part goes to a file."""
    return isinstance(private, os.PathLike) or str(private).lower().endswith(".json")


def refuse_private(private: Any, con: Any, path: Path) -> None:
    """Raises OptionError where the private part can't go."""
    if private is None:
        return
    if not isinstance(private, (str, os.PathLike)) or not str(private).strip():
        raise OptionError(f"private is a {type(private).__name__}. {PLACES}")
    if not is_json(private):
        if con is None:
            raise OptionError(f"private names the table {private!r}, and there is no con. {PLACES}")
        return
    place = Path(private).resolve()
    if place == path:
        raise OptionError("private names the file of the release. Name another one.")
    if place.is_dir() or not place.parent.is_dir():
        raise OptionError(f"private names {str(private)!r}, where no file can be. {PLACES}")


def open_table(session: Session, private: Any, path: Path, record: Mapping[str, Any]) -> None:
    """Puts the private part into the table, inside of the transaction of the release."""
    if private is None or is_json(private):
        return
    table = find_relation(private, session.catalog).sql
    row = [path.name, record["manifest_sha256"], json.dumps(record)]
    try:
        session.con.execute(
            f"CREATE TABLE IF NOT EXISTS {table} "
            "(file VARCHAR, manifest_sha256 VARCHAR, private JSON)"
        )
        session.con.execute(
            f"INSERT INTO {table} (file, manifest_sha256, private) VALUES (?, ?, ?)", row
        )
    except duckdb.Error:
        raise OptionError(
            f"private names {private!r}, which is not a table with the columns file, "
            "manifest_sha256 and private. Name a new table, which is then created."
        ) from None


@contextmanager
def restored(private: Any) -> Iterator[None]:
    """What stood in the file of the private part stands there again if what is done meanwhile
    fails: it is what proves the release that stays."""
    place = Path(private).resolve() if private is not None and is_json(private) else None
    before = _bytes_of(place)
    try:
        yield
    except BaseException:
        if place is not None and _bytes_of(place) != before:
            with suppress(OSError):
                if before is None:
                    place.unlink()
                else:
                    _write_private(place, before)
        raise


def _bytes_of(place: Path | None) -> bytes | None:
    if place is None:
        return None
    with suppress(OSError):
        return place.read_bytes()
    return None


def write_private(private: Any, record: Mapping[str, Any]) -> None:
    """Writes the private part to its file, which nobody else may read."""
    if private is None or not is_json(private):
        return
    text = json.dumps(record, indent=1) + "\n"
    _write_private(Path(private).resolve(), text.encode())


def _write_private(place: Path, text: bytes) -> None:
    with beside(place) as draft:
        opened = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(opened, "wb") as file:
            file.write(text)
