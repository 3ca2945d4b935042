"""What a release in files was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ReleasedFiles:
    """A release in files.

    Attributes:
        path: their folder.
        files: how many there are.
        rows: how many rows they hold.
        metrics: what was asked and reached, by name.
        entries: the file of what the release adds to its ledger; None without one.
    """

    path: str
    files: int
    rows: int
    metrics: Mapping[str, Any]
    entries: str | None = None

    def __repr__(self) -> str:
        return (
            f"ReleasedFiles({self.path!r}, {self.rows:,} rows in {self.files} files, "
            f"k = {self.metrics['k']})"
        )
