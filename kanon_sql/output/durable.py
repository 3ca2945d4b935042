"""What is on the disk to stay, even if the power fails: a system holds what is written in memory
for some seconds, and may give a file its name before it has the bytes."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def sync(path: Path) -> None:
    """Returns when a file, or a folder with all in it, is on the disk.

    Raises:
        OSError: the disk refuses it, so that what was written may be lost.
    """
    if not path.is_dir():
        _sync_file(path)
        return
    for folder, _, files in os.walk(path):
        for name in files:
            _sync_file(Path(folder, name))
        sync_names(Path(folder))


def sync_names(folder: Path) -> None:
    """The same of the names in a folder. Not all systems can do it, and what has its name can't be
    refused any more."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _sync_file(path: Path) -> None:
    # on Windows only a file that is open to be written can be synchronized
    with path.open("r+b") as file:
        os.fsync(file.fileno())
