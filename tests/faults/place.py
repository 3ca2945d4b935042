"""Where a run works: one folder, always of the same name, filled anew for each run."""

from __future__ import annotations

import os
import shutil
from hashlib import sha256
from pathlib import Path

OWN = ("tmp", "home", "cache")
"""Folders that only the run writes to, and that are empty before and after."""


class Place:
    """A folder, and a copy of what it is before each run.

    Attributes:
        root: of all that the command writes.
        path: in which the run works.
        before: what it holds before: of each file its digest and its rights.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = root / "place"
        self.before: dict[str, str] = {}

    def keep(self) -> None:
        """What is there now is what each run finds."""
        shutil.rmtree(self.root / "kept", ignore_errors=True)
        shutil.copytree(self.path, self.root / "kept")
        self.before = self.holds()

    def empty(self) -> None:
        """Makes it anew, with nothing in it."""
        self.path.chmod(0o700) if self.path.exists() else None
        shutil.rmtree(self.path, ignore_errors=True)
        for name in OWN:
            (self.path / name).mkdir(parents=True)

    def fill(self) -> None:
        """What was kept is there, and nothing else."""
        shutil.rmtree(self.path, ignore_errors=True)
        shutil.copytree(self.root / "kept", self.path, copy_function=shutil.copy2)

    def holds(self) -> dict[str, str]:
        """What is there now."""
        held = {}
        for folder, folders, files in os.walk(self.path):
            for name in files:
                path = Path(folder, name)
                rights = oct(path.stat().st_mode)
                held[str(path.relative_to(self.path))] = (
                    f"{sha256(path.read_bytes()).hexdigest()} {rights}"
                )
            for name in folders:
                path = Path(folder, name)
                held[f"{path.relative_to(self.path)}/"] = oct(path.stat().st_mode)
        return held

    def environment(self) -> dict[str, str]:
        """What a run is told."""
        return {
            "TMPDIR": str(self.path / "tmp"), "HOME": str(self.path / "home"),
            "XDG_CACHE_HOME": str(self.path / "cache"),
        }
