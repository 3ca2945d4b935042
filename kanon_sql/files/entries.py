"""The file that gets what a release adds to its ledger: there with the output, or not at all.

It gets its name before the output does: a ledger may hold a release that nobody got, and never lack
one that somebody has. What a run that was killed between the two has left is taken back when it is
gone on with.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from kanon_sql.blocks.request import Request
from kanon_sql.call.catalog import CatalogEntry
from kanon_sql.call.ledger import COLUMNS, refuse_no_ledger
from kanon_sql.call.referenced_relations import relations_of
from kanon_sql.call.relation import Relation, is_url
from kanon_sql.duckdb.session import Session, bound, reads_of
from kanon_sql.errors import OptionError, ReleaseError
from kanon_sql.files.draft import OUT, draft_of
from kanon_sql.files.state import NAME, State
from kanon_sql.output.whole import beside
from kanon_sql.plan.manifest import fingerprint_sql

try:
    import fcntl
except ImportError:  # on Windows there is no such lock
    fcntl = None  # type: ignore[assignment]

ENTERED = "entered"
"""The step of the state before which no file has the name of the entries."""

ENTRIES = "entries.parquet"
"""In a draft: the file as it will be."""

NONE = (
    "ledger_to is not given. Name the Parquet file that gets what this release adds to its ledger, "
    "for example ledger_to='releases/2.parquet': no later release can continue without it."
)
NEEDLESS = (
    "ledger_to is given, and nothing says that there are several releases. Add headroom=1 to the "
    "first of them, or ledger='releases/*.parquet' to a later one."
)
NO_FILE = "ledger_to names {!r}, which can't be a Parquet file of this machine. {}"
THERE = (
    "ledger_to names {!r}, which exists, and entries of a ledger are never overwritten. Name a new "
    "file."
)
INSIDE = (
    "ledger_to names {!r} in the folder of the release, and recipients of the release must not get "
    "the ledger. Name another place."
)
MOVED = (
    "The release was stopped: the ledger {!r} changed while it was made, so that it would not "
    "continue from the last release. Nothing was written; make it again."
)


@dataclass(frozen=True)
class Entering:
    """How a release enters its ledger.

    Attributes:
        session: over a connection of our own.
        path: the file that gets its entries.
        ledger: the ledger; None for the first release.
        mark: what tells whether that is still what it was.
    """

    session: Session
    path: Path
    ledger: Relation | None
    mark: list[Any]

    def refuse_moved(self) -> None:
        """Raises ReleaseError if the ledger isn't what it was."""
        if self.ledger is not None and _mark(self.session, self.ledger) != self.mark:
            raise ReleaseError(MOVED.format(".".join(self.ledger.parts))) from None

    @contextmanager
    def entered(self, work: Path, state: State) -> Iterator[None]:
        """The file has its name meanwhile, and keeps it unless what is done then fails. No other
        run enters the folder meanwhile, so that each sees what those before it entered.

        Raises:
            ReleaseError: the ledger isn't what it was.
        """
        with _turn(self.path.parent):
            self.refuse_moved()
            self._enter(work / ENTRIES, state)
            try:
                yield
            except BaseException:
                if (work / OUT).exists():  # else the output has its name
                    self.path.unlink(missing_ok=True)
                raise

    def _enter(self, entries: Path, state: State) -> None:
        state.done(ENTERED, {"path": str(self.path), "sha256": _digest(entries)})
        if self.path.exists():
            raise OptionError(THERE.format(str(self.path)))
        with beside(self.path) as draft:
            opened = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(opened, "wb") as to, entries.open("rb") as file:
                shutil.copyfileobj(file, to)


@contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """Waits while another run enters a ledger in this folder, where there are locks."""
    held = None
    try:
        if fcntl is not None:
            with suppress(OSError):  # some network drives have no locks
                held = os.open(folder, os.O_RDONLY)
                fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        if held is not None:
            os.close(held)


def take_back(work: Path) -> None:
    """Takes the entries of a run away that was killed before its output had its name."""
    if not (work / NAME).exists() or not (work / OUT).exists():
        return
    entry = json.loads((work / NAME).read_text(encoding="utf-8"))["steps"].get(ENTERED)
    if entry is None:
        return
    path = Path(entry["path"])
    if path.is_file() and _digest(path) == entry["sha256"]:
        path.unlink()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        digest = sha256()
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def _mark(session: Session, ledger: Relation) -> list[Any]:
    return [str(value) for value in session.rows(fingerprint_sql(ledger))[0]]


def read_entering(session: Session, request: Request, to: Any, target: Path) -> Entering | None:
    """How a release enters its ledger; None of one that has none.

    Args:
        session: over a connection of our own.
        request: what is asked.
        to: the file that gets its entries, as it was given.
        target: the folder of the release.

    Raises:
        OptionError: no file, one that can't be written, or a ledger that isn't there.
    """
    ledger = request.call.ledger
    if ledger is None:
        if to is not None:
            raise OptionError(NEEDLESS)
        return None
    if to is None:
        raise OptionError(NONE)
    path = _path(to, target)
    reads_of(session, request.source, {}).refuse_file("ledger_to", path, "what a ledger gets")
    if ledger.relation is None:
        return Entering(session, path, None, [])
    with session.refusals(relations_of(request.call)):
        columns = bound(session.con, f"FROM {ledger.relation.sql}").columns
    known = replace(ledger.relation, entry=CatalogEntry(dict.fromkeys(columns)))
    refuse_no_ledger(known, COLUMNS)
    return Entering(session, path, ledger.relation, _mark(session, ledger.relation))


def _path(to: Any, target: Path) -> Path:
    """The file, where it may be one."""
    if not isinstance(to, (str, PathLike)) or not str(fspath(to)) or is_url(str(to)):
        raise OptionError(NO_FILE.format(str(to), "Give its path."))
    path = Path(to).resolve()
    if re.search(r"[*?\[\]]", str(path)) or path.suffix.lower() != ".parquet":
        raise OptionError(NO_FILE.format(str(to), "Name one that ends in .parquet."))
    if {target, draft_of(target)} & set(path.parents):
        raise OptionError(INSIDE.format(str(to)))
    if path.exists():
        raise OptionError(THERE.format(str(to)))
    if not path.parent.is_dir():
        raise OptionError(f"There is no folder for {str(to)!r}. Make it first.")
    return path
