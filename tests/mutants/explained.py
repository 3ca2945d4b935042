"""The mutants that no test can kill, and why: equivalent.toml."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from tests.mutants.edits import Mutant

FILE = Path(__file__).with_name("equivalent.toml")


def explanations(file: Path = FILE) -> dict[tuple[str, ...], str]:
    """Why a mutant is equivalent, by its key."""
    entries: list[dict[str, Any]] = tomllib.loads(file.read_text(encoding="utf-8"))["mutant"]
    return {
        (each["path"], each["place"], each["before"], after): each["why"]
        for each in entries for after in each["after"]
    }


def explained(mutant: Mutant, known: dict[tuple[str, ...], str]) -> str:
    """Why a mutant is equivalent; empty where nobody says so."""
    return known.get(mutant.key, "")
