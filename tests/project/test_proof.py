"""docs/proof.md has an argument for each promise, and the tests that it names are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from kanon_sql.call.options import OPTIONS
from kanon_sql.privacy import MODEL_KINDS, OF_POPULATION, WHOLE
from tests.support.checkout import ROOT

PAGE = (ROOT / "docs" / "proof.md").read_text(encoding="utf-8")


def names_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}


def test_the_tests_that_it_names_are_there() -> None:
    named = re.findall(r"`(tests/[a-z_/]+\.py)::(\w+)`", PAGE)
    assert len(named) > 30
    for path, name in named:
        assert name in names_in(ROOT / path), f"{path} has no {name}"


def test_every_promise_has_an_argument() -> None:
    sections = set(re.findall(r"^## (.*)$", PAGE, re.MULTILINE))
    whole = {each.option for each in (*WHOLE, *OF_POPULATION)}
    assert {"k", "entity", "within", "ledger", *whole} <= sections
    unions = set(re.findall(r"^\| `(\w+)`[^|]* \|[^|]*\| ", PAGE, re.MULTILINE))
    assert set(MODEL_KINDS) <= unions
    # the registry calls proven what has an argument, and nothing else; max_risk is a word for k
    argued = (sections | unions) & set(OPTIONS)
    assert argued | {"max_risk"} == {each.name for each in OPTIONS.values() if each.proven}
