"""What README.md and docs/ show is what an installed kanon_sql prints, in an empty folder.

After an intended change, ``GOLDEN=write pytest -m '' tests/installed/test_pages.py`` renews it.
"""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import pytest

from tests.installed.conftest import Installed
from tests.installed.page import EXAMPLE

ROOT = Path(__file__).parents[2]
RUNNER = Path(__file__).with_name("page.py")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

ELSEWHERE = {"serving", "spark"}
"""Pages whose examples need a program of their own, and are run in the tests of that."""

AT_ONCE = {"README"}
"""Pages that plain pytest runs; all others are slow."""


@pytest.mark.whole
@pytest.mark.parametrize("page", [
    pytest.param(page, id=page.stem, marks=() if page.stem in AT_ONCE else pytest.mark.slow)
    for page in PAGES
    if page.stem not in ELSEWHERE and EXAMPLE.search(page.read_text(encoding="utf-8"))
])
def test_the_examples_give_what_is_printed(page: Path, installed: Installed) -> None:
    done = installed("python", "-I", RUNNER, page, cwd=installed.folder())
    assert done.returncode == 0, done.stderr.decode()
    if os.environ.get("GOLDEN") == "write":
        page.write_bytes(done.stdout)
    elif duckdb.__version__ >= "2":  # older versions draw their tables otherwise
        assert done.stdout.decode() == page.read_text(encoding="utf-8")
