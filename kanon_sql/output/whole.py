"""A place that is written whole or not at all: beside it, and renamed when it is done.

What is not done lies in a folder beside the place, which ends with the run. A run that was killed
leaves its folder behind; the next one that writes to the place takes it away. It knows those that
are alive by a lock, which ends with its process.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kanon_sql.jobs.interrupts import deferred
from kanon_sql.output.durable import sync, sync_names
from kanon_sql.output.faults import writing

try:
    import fcntl
except ImportError:  # on Windows there is no such lock
    fcntl = None  # type: ignore[assignment]


@contextmanager
def beside(path: Path) -> Iterator[str]:
    """A name beside a file, for a draft that takes its place when it is on the disk; it is gone if
    anything fails.

    Raises:
        DataError: what the disk refuses (see writing).
    """
    with folder_beside(path) as folder:
        draft = folder / "rows"
        yield str(draft)
        sync(draft)
        draft.replace(path)
        sync_names(path.parent)


@contextmanager
def folder_beside(path: Path) -> Iterator[Path]:
    """A folder beside a place, which nobody else may read, for a draft of what will be there; it is
    gone at the end, with all that is still in it."""
    with writing(path):
        _remove_left(path)
        made: list[tuple[Path, int | None]] = []
        try:
            with deferred():
                made.append(_made(path))
            yield made[0][0]
        finally:
            for folder, held in made:
                remove(folder)
                if held is not None:
                    os.close(held)


def remove(folder: Path) -> None:
    """Takes a folder away with all in it, as far as that can be; what the system refused once, as
    where too many files were open, it is asked once more, with one file open at a time."""
    shutil.rmtree(folder, ignore_errors=True)
    for within, folders, files in os.walk(folder, topdown=False):
        for name in files:
            with suppress(OSError):
                Path(within, name).unlink()
        for name in folders:
            with suppress(OSError):
                Path(within, name).rmdir()
    with suppress(OSError):
        folder.rmdir()


def _made(path: Path) -> tuple[Path, int | None]:
    """A new folder, and its lock, where there are locks."""
    while True:
        folder = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
        folder.mkdir(mode=0o700)
        try:
            return folder, _locked(folder)
        except (BlockingIOError, FileNotFoundError):
            continue  # another run took it for one that was left, before it had its lock
        except BaseException:
            folder.rmdir()
            raise


def _locked(folder: Path) -> int | None:
    """The lock of a folder; None where there are no locks.

    Raises:
        BlockingIOError: another process has it.
        FileNotFoundError: the folder is gone by now.
    """
    if fcntl is None:
        return None
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        folder.stat()
    except (BlockingIOError, FileNotFoundError):
        os.close(held)
        raise
    except OSError:  # some network drives have no locks
        os.close(held)
        return None
    return held


def _remove_left(path: Path) -> None:
    """Takes away what runs have left beside a place that were killed."""
    ours = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{16}}\.tmp")
    with suppress(OSError), os.scandir(path.parent) as entries:
        for each in entries:
            if not ours.fullmatch(each.name) or not each.is_dir(follow_symlinks=False):
                continue
            with suppress(OSError):
                held = _locked(Path(each.path))
                if held is not None:
                    shutil.rmtree(each.path, ignore_errors=True)
                    os.close(held)
