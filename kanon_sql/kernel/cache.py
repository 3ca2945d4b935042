"""Where compiled functions are kept: one folder of the user, shared by all that compile.

The folder is ``NUMBA_CACHE_DIR`` where that is set, else the one that the platform has for caches:
never the folder of the package, where pip would leave the files behind. In it, what fits together
has a folder of its own, by the versions of kanon_sql, numba and Python and by the processor; each
function has files there, named by a digest of all the source code that went into it.

A folder that can only be read is read. Where there is none at all, functions are compiled for each
process anew, and ``kept_in`` is None.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from kanon_sql.version import __version__

try:
    import fcntl
except ImportError:  # on Windows: two processes may compile the same side by side
    fcntl = None  # type: ignore[assignment]

PATIENCE = 120.0
"""Seconds to wait for another process that compiles the same function, before doing it here too."""

_PACKAGE = Path(__file__).parents[1]

_IMPORTED = re.compile(
    r"^\s*(?:from|import)\s+kanon_sql\.([\w.]+)(?:\s+import\s+(\([^)]*\)|[^\n]*))?", re.MULTILINE
)


@cache
def kept_in() -> Path | None:
    """The folder for what this process compiles or loads; None where there can be none."""
    root = _root()
    if root is None:
        return None
    folder = root / _versions()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        # an image whose user may not write, or a full disk: what is there can be loaded
        return folder if folder.is_dir() else None
    return folder


def _root() -> Path | None:
    import numba

    config: Any = numba.config
    if config.CACHE_DIR:
        return Path(config.CACHE_DIR).absolute() / "kanon_sql"
    from platformdirs import user_cache_path

    folder = user_cache_path("kanon_sql", appauthor=False)
    # a user without a home has "~/.cache", as it is written
    return folder if folder.is_absolute() else None


def _versions() -> str:
    """What must be the same where compiled code is used again."""
    import numba
    from llvmlite.binding import get_host_cpu_name

    return "-".join([
        __version__, f"numba{numba.__version__}", str(sys.implementation.cache_tag),
        get_host_cpu_name() or "cpu",
    ])


@cache
def _read(module: str) -> tuple[bytes, set[str]]:
    """The digest of the source of a module below kanon_sql, and those that it imports."""
    place = _PACKAGE.joinpath(*module.split("."))
    for file in (place.with_suffix(".py"), place / "__init__.py"):
        with contextlib.suppress(OSError):
            text = file.read_bytes()
            imports = _IMPORTED.findall(text.decode())
            # what is imported from a package may be a module of it, and if not, has no source
            below = {f"{of}.{name}" for of, names in imports for name in re.findall(r"\w+", names)}
            return hashlib.sha256(text).digest(), below | {of for of, _ in imports}
    return b"", set()


@cache
def source_digest(module: str) -> str:
    """A digest of a module and of all that it imports of kanon_sql, directly or not.

    A kernel holds the machine code of the functions that it calls and the values of the constants
    that it names, wherever they are defined: numba itself only looks at the file of the kernel.

    Args:
        module: its name without "kanon_sql.".
    """
    seen: set[str] = set()
    new = {module}
    while new:
        seen |= new
        new = {name for one in new for name in _read(one)[1]} - seen
    parts = (f"{name} {_read(name)[0].hex()}\n" for name in sorted(seen) if _read(name)[0])
    return hashlib.sha256("".join([f"{module}\n", *parts]).encode()).hexdigest()[:16]


def keep(dispatcher: Any) -> Any:
    """The same function of numba, whose machine code is kept in the folder and loaded from it."""
    function = dispatcher.py_func
    if not _read(_below(function))[0]:  # not of this package, or in a zip file
        return dispatcher
    try:
        dispatcher._cache = _cache_class()(function)
    except _NoFolderError:
        return dispatcher
    compile_one = dispatcher.compile
    name = f"{function.__module__}.{function.__qualname__}"

    def compile_alone(signature: Any) -> Any:
        # who waited finds what the other has kept
        with alone(name):
            return compile_one(signature)

    dispatcher.compile = compile_alone
    return dispatcher


def _below(function: Any) -> str:
    """The module of a function, without "kanon_sql."."""
    return str(function.__module__).removeprefix("kanon_sql.")


class _NoFolderError(Exception):
    """There is no folder."""


@cache
def _cache_class() -> Any:
    """The class of numba's caches, with our folder. Raises _NoFolderError where there is none."""
    folder = kept_in()
    if folder is None:
        raise _NoFolderError
    # as Any: numba tells no types of these
    caching: Any = import_module("numba.core.caching")

    class Locator(caching._CacheLocator):  # type: ignore[misc]
        """Says where the files of a function are, and what they are called."""

        def __init__(self, function: Any, file: str) -> None:
            self._py_file = file
            self._line = function.__code__.co_firstlineno
            self._digest = source_digest(_below(function))

        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> Any:
            return cls(py_func, py_file)

        def ensure_cache_path(self) -> None:
            """It is there, see kept_in."""

        def get_cache_path(self) -> str:
            return str(folder)

        def get_source_stamp(self) -> str:
            return self._digest

        def get_disambiguator(self) -> str:
            return f"{self._line}-{self._digest}"

    class Files(caching.CompileResultCacheImpl):  # type: ignore[misc]
        _locator_classes = (Locator,)

    class Cache(caching.FunctionCache):  # type: ignore[misc]
        """What can't be loaded is compiled, and what can't be saved is not."""

        _impl_class = Files

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            try:
                return super().load_overload(sig, target_context)
            except Exception:  # a file that was cut off fails in as many ways as it has bytes
                with contextlib.suppress(OSError):
                    self.flush()
                return None

        def save_overload(self, sig: Any, data: Any) -> None:
            with contextlib.suppress(OSError):
                super().save_overload(sig, data)

    return Cache


@cache
def _lock_file() -> int | None:
    folder = kept_in()
    if fcntl is None or folder is None:
        return None
    try:
        return os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:  # it can only be read, and so nobody writes
        return None


def can_be_shared() -> bool:
    """Whether other processes can load what this one compiles, and wait for it."""
    return _lock_file() is not None


@contextlib.contextmanager
def alone(name: str) -> Iterator[None]:
    """Waits while another process is in such a block of the same name, for some time at most."""
    file, place = _lock_file(), zlib.crc32(name.encode())
    if file is None:
        yield
        return
    ends, held = time.monotonic() + PATIENCE, False
    while not held and time.monotonic() < ends:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
            held = True
        except (BlockingIOError, PermissionError):
            time.sleep(0.02)
        except OSError:  # some network drives have no locks: better without than not at all
            break
    try:
        yield
    finally:
        if held:
            with contextlib.suppress(OSError):
                fcntl.lockf(file, fcntl.LOCK_UN, 1, place)
