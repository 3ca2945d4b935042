"""The cache of compiled functions, written by one process at a time.

Numba keeps an index beside the code of each function: which arguments it was compiled for, and the
file of each. To save one is to read the index, to choose a free file, and to write both. Of two
processes that do so at once, as several that compile side by side will, one drops what the other
has saved, or both choose the same file: then the index may name code for other arguments.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

try:
    import fcntl
except ImportError:  # on Windows there is no such lock, and all is as numba does it
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def alone(folder: str) -> Iterator[None]:
    """No other process, and no other thread, is in such a block for the folder meanwhile."""
    place = -1
    # some network drives have no locks: better without than not at all
    with contextlib.suppress(OSError):
        place = os.open(folder, os.O_RDONLY)
        fcntl.flock(place, fcntl.LOCK_EX)
    try:
        yield
    finally:
        # the lock ends with it, as it does when the process ends
        if place >= 0:
            os.close(place)


def one_writer(dispatcher: Any) -> Any:
    """The same compiled function; what is saved of it is saved alone."""
    file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    folder, save = getattr(file, "_cache_path", None), getattr(file, "save", None)
    # a numba of other parts saves as it does
    if fcntl is None or file is None or folder is None or save is None:
        return dispatcher

    def save_alone(key: Any, data: Any) -> None:
        with alone(folder):
            save(key, data)

    file.save = save_alone
    return dispatcher
