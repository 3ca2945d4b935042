"""The recipes of docs/contributing.md as patches: what each touches, and how it is applied."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATCHES = ROOT / "tests" / "project" / "recipes"

MOST_FILES = {"method": 3, "option": 2, "metric": 2, "kind": 2, "model": 4, "engine": 2}
"""The recipes in the order in which they are applied (the option is one of the method), and how
many files each may touch."""

FILE = re.compile(r"^diff --git a/(\S+) b/\1\n(.*?)(?=^diff --git |\Z)", re.DOTALL | re.M)


@dataclass(frozen=True)
class Touched:
    """A file that a recipe touches.

    Attributes:
        name: its path in the repository.
        new: whether the recipe adds it.
        lines: how many lines are new or other than before.
    """

    name: str
    new: bool
    lines: int


def text_of(recipe: str) -> str:
    return (PATCHES / f"{recipe}.patch").read_text(encoding="utf-8")


def touched(recipe: str) -> list[Touched]:
    """The files that a recipe touches, new ones first."""
    found = [
        Touched(name, body.startswith("new file"), len(re.findall(r"^\+(?!\+\+ )", body, re.M)))
        for name, body in FILE.findall(text_of(recipe))
    ]
    return sorted(found, key=lambda file: not file.new)


def shown(recipe: str) -> str:
    """What docs/contributing.md shows of a recipe: its patch, and the files that it touches."""
    width = max(len(file.name) for file in touched(recipe))
    rows = [
        f"{file.name:{width}}  {'new, ' * file.new}{file.lines} line{'s' * (file.lines != 1)}"
        for file in touched(recipe)
    ]
    link = f"[{recipe}.patch](../tests/project/recipes/{recipe}.patch)"
    return "\n".join([f"As {link} does it:", "", "```text", *rows, "```"])


def apply(recipe: str, tree: Path) -> None:
    """Applies a recipe to a copy of the repository."""
    git = shutil.which("git")
    command = [git, "apply", "-"] if git else ["patch", "-p1"]
    # a repository around the copy would have git pass over all files in silence
    outside = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tree.resolve().parent)}
    done = subprocess.run(
        command, cwd=tree, env=outside, input=text_of(recipe), capture_output=True, text=True,
        check=False,
    )
    assert done.returncode == 0, f"{recipe}.patch does not apply:\n{done.stdout}{done.stderr}"
