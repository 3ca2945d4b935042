"""What the disk refuses, in one sentence that holds no value: the text of DuckDB may have one, such
as a folder day=2024-03-01."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from kanon_sql.errors import LITTLE, DataError, KanonError, lacks_memory

AGAIN = "run the same again"
"""What is said where a run goes on when it is asked for once more: its draft stays."""

FULL = f"The disk of {{!r}} is full. Nothing was written there; make room, and {AGAIN}."
UNWRITTEN = "Nothing can be written to {!r}: {}. Name another place, or change that."
SPILLED = (
    "The disk is full on which DuckDB keeps its database, or what the memory can't hold. Nothing "
    f"was written; make room, and {AGAIN}."
)
DAMAGED = (
    "DuckDB can't read a file of the input ({}): it may be damaged. Nothing was written; check "
    "that the file is complete, for example by reading all of its columns."
)

FEW = (
    "A file can't be opened, since this process may open no more. Nothing was written; close some "
    "files, or let the process open more."
)

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
NUMBERS = (
    *NO_ROOM, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.ENOENT,
    errno.ENOTDIR, errno.ENAMETOOLONG, errno.EMFILE, errno.ENFILE, errno.EISDIR,
)
REASONS = {os.strerror(number): number for number in NUMBERS}
"""What systems say, as DuckDB hands it on."""

DAMAGE = re.compile(
    r"[Dd]ecompress|corrupt|TProtocolException|Invalid string encoding|Out of buffer|"
    r"Could not read enough bytes|No magic bytes"
)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raises DataError for what the system refuses of writing to a place meanwhile."""
    try:
        yield
    except (KanonError, duckdb.InterruptException, BrokenPipeError):
        raise
    except (OSError, duckdb.Error) as error:
        fault = write_fault(error, path)
        if fault is None:
            raise
        raise fault from None


def write_fault(error: OSError | duckdb.Error, path: Path) -> DataError | None:
    """What an error says of writing to a place, as a sentence; None where it speaks of anything
    else."""
    if lacks_memory(error):
        return DataError(LITTLE)
    number = getattr(error, "errno", None)
    if isinstance(error, OSError):
        reason = error.strerror or type(error).__name__
    else:
        text = str(error)
        draft = rf"\.{re.escape(path.name)}\.[0-9a-f]{{16}}\.tmp"
        own = str(path) in text or re.search(draft, text)
        reason = next((each for each in REASONS if each in text), type(error).__name__)
        number = REASONS.get(reason)
        if not own:
            return DataError(SPILLED) if number in NO_ROOM else None
    if number in NO_ROOM:
        return DataError(FULL.format(str(path)))
    return DataError(UNWRITTEN.format(str(path), reason))


def read_fault(error: duckdb.Error) -> DataError | None:
    """What an error says of the disk, the memory or a file that is read, as a sentence; None where
    it speaks of anything else."""
    if lacks_memory(error):
        return DataError(LITTLE)
    text = str(error)
    if any(os.strerror(number) in text for number in NO_ROOM):
        return DataError(SPILLED)
    if any(os.strerror(number) in text for number in (errno.EMFILE, errno.ENFILE)):
        return DataError(FEW)
    if type(error) is duckdb.Error or DAMAGE.search(text):
        # of a damaged file DuckDB raises errors of no kind
        return DataError(DAMAGED.format(type(error).__name__))
    return None


def holds_anything(folder: Path) -> bool:
    """Whether there is a folder, with anything in it.

    Raises:
        DataError: what the system refuses, such as to look into it.
    """
    with writing(folder):
        return folder.exists() and any(folder.iterdir())
