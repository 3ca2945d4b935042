"""What of a run is done: a file beside the output, by which a run that was stopped goes on."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb

from kanon_sql.call.relation import is_url
from kanon_sql.errors import DataError, OptionError
from kanon_sql.output.durable import sync, sync_names
from kanon_sql.version import __version__

NAME = "state.json"

OTHER = (
    "{!r} is a draft of another release: {} changed since it was begun. Delete that folder, or say "
    "resume=False, to start again."
)


def digest(value: Any) -> str:
    """A digest of a value that JSON has."""
    return sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def input_digest(con: duckdb.DuckDBPyConnection, paths: list[str]) -> str:
    """A digest of files by what a change of them changes: names, sizes, times, and how they end,
    where Parquet says what they hold.

    Args:
        con: which reads those of other machines.
        paths: of the files.

    Raises:
        DataError: one of them is gone.
    """
    entries: list[Any] = _digest_of_urls(con, [path for path in paths if is_url(path)])
    for path in paths:
        if is_url(path):
            continue
        try:
            status = Path(path).stat()
            size, when = status.st_size, status.st_mtime_ns
            with Path(path).open("rb") as file:
                file.seek(max(0, size - ENDING))
                entries.append([path, size, when, sha256(file.read()).hexdigest()])
        except OSError:
            raise DataError(f"The file {path!r} can't be read. Check that it exists.") from None
    return digest(entries)


ENDING = 65_536
"""Bytes of the end of a file that are looked at."""

URLS = """
    SELECT filename, size, epoch_us(last_modified) FROM read_blob(?) ORDER BY filename
"""
FOOTERS = """
    SELECT file_name, bit_xor(hash(told)) FROM parquet_metadata(?) AS told
    GROUP BY file_name ORDER BY file_name
"""


def _digest_of_urls(con: duckdb.DuckDBPyConnection, urls: list[str]) -> list[Any]:
    """The same of files of other machines, of which only what is needed is fetched."""
    if not urls:
        return []
    try:
        entries: list[Any] = con.execute(URLS, [urls]).fetchall()
        footers = [url for url in urls if url.lower().endswith(".parquet")]
        return entries + (con.execute(FOOTERS, [footers]).fetchall() if footers else [])
    except duckdb.Error:
        raise DataError(
            f"The file {urls[0]!r} or another file of the input can't be read. Check that it "
            "exists."
        ) from None


def write_whole(path: Path, text: str) -> None:
    """Writes a file whole or not at all."""
    draft = path.with_name(f".{path.name}.tmp")
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    sync_names(path.parent)


class State:
    """The steps of a run that are done, and what they found.

    A step is there whole or not at all: what it wrote is renamed, or its folder complete, and on
    the disk, before its entry is written.

    Attributes:
        begun: whether a step of this run was done before; else what is in the folder is not of it.
    """

    def __init__(self, folder: Path, asked: Mapping[str, str]) -> None:
        """
        Args:
            folder: the draft of the output, in which the run works.
            asked: digests of what the run depends on, by what they are of.

        Raises:
            OptionError: the folder holds a draft that depends on something else, and of which a
                step is done.
        """
        self._lock = threading.Lock()
        self._path = folder / NAME
        self._told: dict[str, Any] = {"version": __version__, "asked": dict(asked), "steps": {}}
        folder.mkdir(parents=True, exist_ok=True)
        if self._path.exists():
            saved = json.loads(self._path.read_text(encoding="utf-8"))
            changed = [
                name for name, value in {**asked, "kanon_sql": __version__}.items()
                if {**saved["asked"], "kanon_sql": saved["version"]}.get(name) != value
            ]
            if changed and saved["steps"]:
                raise OptionError(OTHER.format(str(folder), " and ".join(changed)))
            if not changed:
                self._told = saved
        self.begun = bool(self._told["steps"])

    def refuse_other(self, step: str, result: str) -> None:
        """Raises OptionError if this step of the run was done, and found something else."""
        if self.result(step) not in (None, result):
            raise OptionError(OTHER.format(str(self._path.parent), step))

    def result(self, step: str) -> Any:
        """What a step found; None of one that is not done."""
        return self._told["steps"].get(step)

    def done(self, step: str, result: Any, *made: Path) -> Any:
        """Notes that a step is done, when the files and folders that it ``made`` are on the disk;
        what it found."""
        for path in made:
            sync(path)
            sync_names(path.parent)
        with self._lock:
            self._told["steps"][step] = result
            self._write()
        return result

    def _write(self) -> None:
        write_whole(self._path, json.dumps(self._told))
