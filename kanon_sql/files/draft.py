"""The folder in which a run works, beside its output, and how that gets its name when it is whole.

A draft is one run's: it holds a lock that ends with the process. What is kept in it are rows of the
source, so nobody else may read it, and it goes where a run is refused.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from kanon_sql.call.relation import Relation, is_url
from kanon_sql.duckdb.session import Session
from kanon_sql.errors import DataError, OptionError
from kanon_sql.files.state import NAME
from kanon_sql.jobs.interrupts import deferred
from kanon_sql.output.durable import sync, sync_names
from kanon_sql.output.faults import holds_anything
from kanon_sql.output.whole import remove

try:
    import fcntl
except ImportError:  # on Windows there is no such lock
    fcntl = None  # type: ignore[assignment]

DRAFT = ".kanon-draft"
"""What the name of the folder ends with in which a run works, beside its output."""

OUT, BEFORE, LOCK = "out", "before", "lock"
"""In a draft: the output as it grows, the one that it replaces, and the lock."""

UNTOLD = (
    "rows_withheld", "rows_stale", "rows_waiting", "rows_joining", "churn", "withheld_expected",
)
"""Metrics that tell of a ledger, and stand in no file of the release."""

OF_RELEASE = re.compile(r"(part-|data_)\d+.*\.parquet|_SUCCESS|_\w+\.json|\..*\.crc|\.DS_Store")
"""Names of the files of a release: those of anonymize_files, of DuckDB's partitions, of Spark,
and what a Mac leaves beside them."""

BUSY = (
    "Another run writes {!r} now. Wait until it ends, or name another folder."
)


def target_of(to: Any, overwrite: bool) -> Path:
    """The folder to write.

    Raises:
        OptionError: it is none, or there is something in it.
    """
    if not isinstance(to, (str, PathLike)) or not str(fspath(to)):
        raise OptionError("to is not given. Name the folder to write, for example to='out/'.")
    if is_url(str(to)):
        raise OptionError(
            f"to names {str(to)!r}, which is not a local folder, and only local folders are "
            "written atomically. Write one here, and copy it."
        )
    target = Path(to).resolve()
    if re.search(r"[*?\[\]]", str(target)):
        raise OptionError(
            f"to names {str(to)!r}, which reads as a pattern. Name a folder without any of * ? [ ]."
        )
    if not target.name:
        raise OptionError(f"to names {str(to)!r}, the root of a file system, where no draft can be "
                          "written. Name a folder in it.")
    if target.is_file():
        raise OptionError(f"to names the file {str(to)!r}. Name a folder.")
    if not target.parent.is_dir():
        raise OptionError(f"There is no folder for {str(to)!r}. Make it first.")
    _put_back(target)
    if holds_anything(target) and not overwrite:
        raise OptionError(
            f"The folder {str(to)!r} is not empty. Name another, or say overwrite=True."
        )
    return target


def refuse_other_things(target: Path) -> None:
    """Raises OptionError where a folder holds what no release wrote: all in it would be deleted."""
    if target.is_dir() and not all(map(_is_of_release, target.iterdir())):
        raise OptionError(
            f"The folder {str(target)!r} holds other things than a release, which would be "
            "deleted. Name another, or move them away."
        )


def _is_of_release(path: Path) -> bool:
    """Whether this is named as what a release into a folder writes, be it one of another engine."""
    return path.is_file() and OF_RELEASE.fullmatch(path.name) is not None


def draft_of(target: Path) -> Path:
    """Where the run works that writes this folder."""
    return target.with_name(f"{target.name}{DRAFT}")


def _put_back(target: Path) -> None:
    """Gives the output its name again that a run had taken away when it was killed."""
    before = draft_of(target) / BEFORE
    if before.is_dir() and not target.exists():
        before.rename(target)
        sync_names(target.parent)


@contextlib.contextmanager
def locked(target: Path) -> Iterator[Path]:
    """The draft of a folder, which is this run's meanwhile.

    Raises:
        OptionError: another run has it.
    """
    work = draft_of(target)
    work.mkdir(mode=0o700, exist_ok=True)
    try:
        held = os.open(work / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        with contextlib.suppress(OSError):  # a draft that is begun is not empty, and stays
            work.rmdir()
        raise
    try:
        if fcntl is not None:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise OptionError(BUSY.format(str(target))) from None
            except OSError:  # some network drives have no locks
                pass
        yield work
    finally:
        os.close(held)


def emptied(work: Path) -> None:
    """Takes all away that a run has left in its draft, first what would be gone on with."""
    (work / NAME).unlink(missing_ok=True)
    for path in sorted(work.iterdir()):
        if path.name == LOCK:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def removed(work: Path, target: Path) -> None:
    """Takes a draft away, first what would be gone on with; never the output that was there before,
    unless there is another one."""
    with contextlib.suppress(OSError):  # what can't be taken away is so by the next run
        _put_back(target)
        (work / NAME).unlink(missing_ok=True)
        remove(work)
        (work / LOCK).unlink(missing_ok=True)  # also where no folder can be opened any more
        work.rmdir()


def names_of(source: Relation) -> list[str]:
    """The files and patterns that a source reads."""
    # a list of files stands in FROM as read_parquet(['a', 'b'])
    if not re.search(r"(^|FROM )read_\w+\(", source.sql):
        return [source.parts[0]]
    literals = re.findall(r"'((?:[^']|'')*)'", source.sql)
    return [name.replace("''", "'") for name in literals]


def files_of(session: Session, names: Sequence[str]) -> list[str]:
    """The files that these names and patterns read.

    Raises:
        DataError: there are none, so that nobody could say whether they change.
    """
    files = [
        file for name in names
        for (file,) in session.con.execute(
            "SELECT file FROM glob(?) ORDER BY file", [name]
        ).fetchall()
    ]
    if not files:
        raise DataError("The source names no files. Name a file, a pattern, or a list of files.")
    return files


def named(work: Path, target: Path, metrics: Mapping[str, Any]) -> None:
    """Gives the output its name; one that is there is gone only then. What a run that is killed
    meanwhile has not done is done when it is run again."""
    output, before = work / OUT, work / BEFORE
    public = {name: value for name, value in metrics.items() if name not in UNTOLD}
    (output / "_metrics.json").write_text(json.dumps(public, indent=1), encoding="utf-8")
    sync(output)
    with deferred():
        if target.exists():
            shutil.rmtree(before, ignore_errors=True)
            target.rename(before)
        try:
            output.rename(target)
        except BaseException:
            _put_back(target)
            raise
        sync_names(target.parent)
        removed(work, target)
