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
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kanon_sql.errors import OptionError
from kanon_sql.jobs.interrupts import deferred
from kanon_sql.output.durable import sync, sync_names
from kanon_sql.output.faults import writing

try:
    import fcntl
except ImportError:  # on Windows there is no such lock
    fcntl = None  # type: ignore[assignment]


SPECIAL = (
    "{} names {!r}, which is not a regular file, and a release replaces a file as a whole. Name "
    "another place{}."
)


def refuse_special(said: str, path: Path, instead: str = "") -> None:
    """Raises OptionError for a device, a pipe or a socket: a draft would take its place.

    Args:
        said: the option that names it.
        path: as the user calls it, for a link may lead to a place without a name.
        instead: what else may be written.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OptionError(SPECIAL.format(said, str(path), instead))


@contextmanager
def beside(path: Path, secret: bool = False) -> Iterator[str]:
    """A name beside a file, for a draft that takes its place when it is on the disk; it is gone if
    anything fails. Who may read the file that is there may read the new one, too.

    Args:
        path: the file.
        secret: whether the draft itself says who may read it.

    Raises:
        DataError: what the disk refuses (see writing).
        OptionError: what is there is no file.
    """
    refuse_special("The output", path)
    with folder_beside(path) as folder:
        draft = folder / "rows"
        yield str(draft)
        if path.is_file() and not secret:
            draft.chmod(stat.S_IMODE(path.stat().st_mode))
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
