"""A release in files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kanon_sql.released import Release


@dataclass(frozen=True)
class FilesRelease(Release):
    """A release in files.

    Attributes:
        path: the folder of the files.
        files: the number of files.
        rows: the number of rows in them.
        metrics: the metrics of the release by name, with the requested and the achieved k.
        entries: the file of what the release adds to its ledger; None without one.
    """

    path: str
    files: int
    rows: int
    metrics: Mapping[str, Any]
    entries: str | None = None

    def __repr__(self) -> str:
        return (
            f"Release({self.path!r}, {self.rows:,} rows in {self.files} files, "
            f"k = {self.metrics['k']})"
        )
