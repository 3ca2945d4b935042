"""The recipes of docs/contributing.md hold: a toy method, an option of it, a metric, a kind of
hierarchy, a privacy model and an engine each touch as few files as is said, and then work
everywhere.

Each recipe is a patch in recipes/, applied here to a copy of the repository. Where the code around
it changed, a patch is made anew: apply it by hand to a clean clone (``git apply --reject``), mend
it, and ``git diff -U1 --no-color`` into its file (``git add -N`` what is new, before).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.checkout import ROOT, copy_to
from tests.support.recipes import MOST_FILES, apply, touched

DOCS = "tests/project/test_docs.py"


@pytest.mark.parametrize("recipe", MOST_FILES)
def test_a_recipe_touches_few_files(recipe: str) -> None:
    assert 1 <= len(touched(recipe)) <= MOST_FILES[recipe]


def run_tests(tree: Path, *arguments: str, **environment: str) -> None:
    """Runs tests of a tree in that tree, by a process that knows nothing of this one."""
    own = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(
        command, cwd=tree, env=own | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository to which all recipes are applied, its tables renewed."""
    copy = tmp_path_factory.mktemp("recipes") / "repository"
    copy_to(copy)
    for recipe in MOST_FILES:
        before = {file.name: read(copy / file.name) for file in touched(recipe)}
        apply(recipe, copy)
        for name, text in before.items():
            assert read(copy / name) != text, name
    # the keywords first, which a page tells
    run_tests(copy, "tests/api/test_signatures.py", "-k", "committed", GOLDEN="write")
    run_tests(copy, DOCS, "-k", "tables", GOLDEN="write")
    return copy


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


@pytest.mark.slow
def test_what_was_added_works_everywhere(tree: Path) -> None:
    run_tests(tree, "tests/project/recipes/proof.py")


@pytest.mark.slow
def test_the_method_gives_the_labels_of_its_reference(tree: Path) -> None:
    run_tests(tree, "tests/methods/microaggregation/test_toy.py")


@pytest.mark.slow
def test_the_model_says_of_classes_what_counting_says(tree: Path) -> None:
    run_tests(tree, "tests/privacy/test_missing.py")


@pytest.mark.slow
def test_the_engine_releases_what_plain_sql_finds_safe(tree: Path) -> None:
    run_tests(tree, "tests/files/test_tables.py")


@pytest.mark.slow
def test_imports_still_go_down_only(tree: Path) -> None:
    run_tests(tree, "tests/project/test_layers.py")


@pytest.mark.slow
def test_what_was_added_stands_in_docs(tree: Path) -> None:
    # but for the examples, which nothing that was added changes, and which run for long
    run_tests(tree, DOCS, "-k", "not examples")
    renewed = {
        path.name for path in (ROOT / "docs").glob("*.md")
        if read(path) != read(tree / "docs" / path.name)
    }
    assert renewed >= {"methods.md", "metrics.md", "hierarchies.md", "options.md"}
