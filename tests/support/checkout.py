"""The files of the repository, for tests that need a tree of their own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
MADE = {
    ".git", ".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".venv", "__pycache__",
    "build",
}
"""Folders that tools make."""


def _listed() -> list[str]:
    """What git tracks, or would track; nothing where there is no git, or no repository of it."""
    git = shutil.which("git")
    if git is None:
        return []
    command = [git, "ls-files", "-co", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def files() -> list[Path]:
    """All files by their path in the repository, but for those that tools made."""
    names = _listed() or [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*")]
    paths = [Path(name) for name in names]
    return [path for path in paths if (ROOT / path).is_file() and not MADE & set(path.parts)]


def copy_to(target: Path) -> None:
    """The repository once more, in another folder."""
    for path in files():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_bytes((ROOT / path).read_bytes())
