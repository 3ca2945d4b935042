"""The documentation and all that the package says is plain English: see docs/contributing.md.

``python -m tests.project.english docs/risk.md`` prints what these tests find, with line numbers.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.english.check import (
    PAGES,
    RULES,
    Rule,
    name_of,
    of_page,
    of_sources,
    page_source,
)
from tests.project.english.grammar import INSTALL, INSTALLED, SPELLING, grammar
from tests.project.english.prose import CODE, passages, words
from tests.project.english.sources import SOURCES, text_source

UNREWRITTEN = {
    "docs/architecture.md",
}
"""Pages that are not held yet. Take a page out when it has no findings."""

UNHELD: set[str] = set()
"""Sources in the package that are not held yet, likewise."""

HELD = [page for page in PAGES if name_of(page) not in UNREWRITTEN]


checks_grammar = pytest.mark.skipif(not INSTALLED, reason=f"no grammar checker: {INSTALL}")


def listed(found: list[object]) -> str:
    """The findings, one a line."""
    return "\n".join(map(str, found))


@pytest.mark.parametrize("page", HELD, ids=name_of)
def test_a_page_is_plain_english(page: Path) -> None:
    found = of_page(page)
    assert not found, listed(found)


@pytest.mark.parametrize("name", sorted({*SOURCES} - UNHELD))
def test_the_package_speaks_plain_english(name: str) -> None:
    found = of_sources(SOURCES[name]())
    assert not found, listed(found)


@checks_grammar
def test_the_grammar_is_right() -> None:
    sources = [page_source(page) for page in HELD]
    for name in sorted({*SOURCES} - UNHELD):
        sources += SOURCES[name]()
    found = [finding for source in sources for finding in grammar(source)]
    assert not found, listed(found)


def test_what_is_not_held_yet_exists() -> None:
    assert {*map(name_of, PAGES)} >= UNREWRITTEN
    assert {*SOURCES} >= UNHELD


# --- the check itself ---------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.bad)
def test_a_rule_finds_its_example_and_says_what_to_write(rule: Rule) -> None:
    assert rule.find.search(rule.bad)
    assert rule.use


PLAIN = (
    "DuckDB reads the Parquet file and returns a relation with the same columns.",
    "If a class has fewer than k rows, the query raises an error and returns no rows.",
    "The option is ignored unless the method supports it, in which case it sets the block size.",
    "A prosecutor knows that a person is in the table and knows the quasi-identifiers.",
    "What does the release show?",
    "There is no default. Each of which methods you can pass is listed below.",
    "Set it to tell DuckDB to use four threads, but for large tables leave the default.",
    "The file is written atomically: readers see either the old file or the complete new one.",
    "People who appear in several rows count once, so the result is a number of persons.",
    "This is the least squares solution, all of which is computed in one pass.",
)


@pytest.mark.parametrize("sentence", PLAIN)
def test_no_rule_fires_on_plain_english(sentence: str) -> None:
    assert [rule.bad for rule in RULES if rule.find.search(sentence)] == []


WRONG = {
    "It tell what were released.": "IT_VBZ",
    "This is a anonymity set.": "EN_A_VS_AN",
    "Remove the the rows.": "ENGLISH_WORD_REPEAT_RULE",
    "Each rows are counted.": "EACH_EVERY_NNS",
    "The rows are seperate.": SPELLING,
}


@checks_grammar
@pytest.mark.parametrize("sentence", WRONG)
def test_grammar_is_checked(sentence: str) -> None:
    (found,) = grammar(text_source("here", sentence, 7))
    assert str(found).startswith("here:7: ") and WRONG[sentence] in str(found)


@checks_grammar
@pytest.mark.parametrize("sentence", PLAIN)
def test_plain_english_has_no_error_of_grammar(sentence: str) -> None:
    assert list(grammar(text_source("here", sentence))) == []


PAGE = """\
---
title: not prose
---
# A heading with `code`

A paragraph that is
wrapped, with [a *linked* text](risk.md#there) and `inline | code`. It ends.
<!-- a comment -->

- An item
  of two lines
1. Another **strong** one: https://example.org/a

| one | `two | three` |
|---|---|
| a cell, e.g. This | with `x` \\| more |

```sql
SELECT 'no prose';
```

> A quote.
![A picture](p.png)
"""


def test_prose_is_taken_out_of_markdown() -> None:
    found = [(each.kind, each.text, each.line(0)) for each in passages(PAGE)]
    assert found == [
        ("heading", f"A heading with {CODE}", 4),
        ("paragraph", f"A paragraph that is wrapped, with a linked text and {CODE}. It ends.", 6),
        ("item", "An item of two lines", 10),
        ("item", f"Another strong one: {CODE}", 12),
        ("cell", "one", 14),
        ("cell", "a cell, e.g. This", 16), ("cell", f"with {CODE} \N{BROKEN BAR} more", 16),
        ("paragraph", "A quote. A picture", 22),
    ]
    wrapped = list(passages(PAGE))[1]
    assert wrapped.line(wrapped.text.index("linked")) == 7
    assert [sentence for _, sentence in wrapped.sentences()][-1] == "It ends."


def test_words_are_counted() -> None:
    assert words(f"The k of {CODE} is 5, not 'six' - it's") == 9
