"""What is found in prose: words of words.toml, long sentences, pages of long sentences."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tests.project.english.prose import Passage, passages, words

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

LONGEST = 40
"""Words of a sentence."""

MEAN = 20
"""Words of the sentences of a page on average."""


@dataclass(frozen=True)
class Rule:
    """An entry of words.toml."""

    find: re.Pattern[str]
    use: str
    bad: str


@dataclass(frozen=True)
class Finding:
    """One thing to change.

    Attributes:
        place: a page, a file or an entry of a registry.
        line: its line there, 0 for none.
        found: the words that are found.
        instead: what to do.
    """

    place: str
    line: int
    found: str
    instead: str

    def __str__(self) -> str:
        place = f"{self.place}:{self.line}" if self.line else self.place
        return f"{place}: {self.found!r}: {self.instead}"


@dataclass(frozen=True)
class Source:
    """Prose with a name, by its passages."""

    place: str
    passages: tuple[Passage, ...]


GENERATED = re.compile(r"^<!-- ([\w: /.-]+) -->\n(.*?)^<!-- end -->", re.DOTALL | re.M)
BY_HAND = {"benchmark", "opponent", "scale"}
"""Marked parts that are written, not generated."""


def generated(page: str) -> dict[int, str]:
    """The lines that test_docs.py writes into a page, with the name of the part."""
    return {
        line: match[1]
        for match in GENERATED.finditer(page) if match[1] not in BY_HAND
        for line in range(page.count("\n", 0, match.start()) + 1,
                          page.count("\n", 0, match.end()) + 2)
    }


def name_of(page: Path) -> str:
    """README.md, docs/risk.md."""
    return page.resolve().relative_to(ROOT).as_posix()


def page_source(page: Path) -> Source:
    """A page of the documentation."""
    return Source(name_of(page), tuple(passages(page.read_text(encoding="utf-8"))))


def rules() -> list[Rule]:
    """The word list."""
    listed = tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))
    return [
        Rule(re.compile(entry["find"].strip(), re.IGNORECASE), entry["use"], entry["bad"])
        for entry in listed["word"]
    ]


RULES = rules()


def _around(sentence: str, match: re.Match[str]) -> str:
    """The words that are found, with two on either side."""
    before, after = sentence[: match.start()].split(" "), sentence[match.end():].split(" ")
    begin = match.start() - len(" ".join(before[-3:]))
    end = match.end() + len(" ".join(after[:3]))
    return sentence[begin:end].strip() if match[0] != sentence else " ".join(sentence.split()[:8])


def wording(source: Source) -> Iterator[Finding]:
    """Words and constructions of the list."""
    for passage in source.passages:
        for offset, sentence in passage.sentences():
            for rule in RULES:
                if passage.kind == "heading" and rule.find.pattern.startswith("^what"):
                    continue
                for match in rule.find.finditer(sentence):
                    yield Finding(source.place, passage.line(offset + match.start()),
                                  _around(sentence, match), rule.use)


def lengths(source: Source) -> Iterator[Finding]:
    """Sentences of more than LONGEST words."""
    for passage in source.passages:
        for offset, sentence in passage.sentences():
            if (count := words(sentence)) > LONGEST:
                yield Finding(source.place, passage.line(offset),
                              " ".join(sentence.split()[:6]) + " ...",
                              f"{count} words; a sentence has at most {LONGEST}")


def mean(source: Source) -> float:
    """Words of a sentence on average, over paragraphs and items."""
    counts = [
        words(sentence)
        for passage in source.passages if passage.kind in ("paragraph", "item")
        for _, sentence in passage.sentences()
    ]
    return sum(counts) / max(len(counts), 1)


def averages(source: Source) -> Iterator[Finding]:
    """A page whose sentences are too long on average."""
    if (of_page := mean(source)) > MEAN:
        yield Finding(source.place, 0, "the whole page",
                      f"{of_page:.1f} words a sentence on average; at most {MEAN}")


def of_page(page: Path) -> list[Finding]:
    """All findings of a page, by line."""
    source = page_source(page)
    found = [*wording(source), *lengths(source), *averages(source)]
    parts = generated(page.read_text(encoding="utf-8"))
    return [
        replace(finding, instead=f"{finding.instead} (generated, from {parts[finding.line]})")
        if finding.line in parts else finding
        for finding in sorted(found, key=lambda finding: finding.line)
    ]


def of_sources(sources: Iterable[Source]) -> list[Finding]:
    """All findings of texts in the package."""
    return [finding for source in sources for finding in (*wording(source), *lengths(source))]
