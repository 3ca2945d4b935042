"""The prose of a Markdown page, or of a plain text: paragraphs, items, headings and cells.

Code blocks, comments and front matter are no prose. Inline code is one word, ``CODE``; what is
nothing else is left out. A link is its text. Each passage knows the lines that it came from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

CODE = "\N{REFERENCE MARK}"
"""Stands for a piece of inline code, as one word."""

FENCE = re.compile(r"\s*(```+|~~~+)")
HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*$")
ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")
ADMONITION = re.compile(r'\s*(?:!!!|\?\?\?\+?|===\+?)\s*\w*\s*(?:"(.*)")?\s*$')
RULE = re.compile(r"\s*([-*_])(?:\s*\1){2,}\s*$")
TABLE_RULE = re.compile(r"\s*\|?[\s:|-]+\|?\s*$")
DEFINITION = re.compile(r"\s*\[[^\]]+\]:\s+\S+")

INLINE_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)(?:\{[^}]*\})?")
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\](?:\([^)]*\)|\[[^\]]*\])")
FOOTNOTE = re.compile(r"\[\^[^\]]+\]")
URL = re.compile(r"<?https?://[^\s>)]+>?")
TAG = re.compile(r"</?[a-zA-Z][^>\n]*>")
STRONG = re.compile(r"(?<![\w\\])(\*{1,3}|__?)(?=\S)(.+?)(?<=\S)\1(?!\w)", re.DOTALL)

NO_END = "".join(
    rf"(?<!\b{short}\.)" for short in (r"e\.g", r"i\.e", "cf", "vs", "al", "No", "p", "pp")
)
END = re.compile(rf"""(?<=[.!?]){NO_END}["')\]]*\s+(?=["'(\[]*[A-Z0-9{CODE}$])""")
WORD = re.compile(rf"[^\s]*[\w{CODE}][^\s]*")


@dataclass(frozen=True)
class Passage:
    """Text without markup, and where it stands.

    Attributes:
        kind: 'paragraph', 'item', 'heading', 'cell' or 'alt'.
        text: one line; inline code is CODE.
        starts: the offsets in ``text`` where a line of the page begins, with its number.
    """

    kind: str
    text: str
    starts: tuple[tuple[int, int], ...]

    def line(self, offset: int) -> int:
        """The line of the page on which this character stands."""
        return max((start, line) for start, line in self.starts if start <= offset)[1]

    def sentences(self) -> Iterator[tuple[int, str]]:
        """The sentences, with the offset of each."""
        begin = 0
        for end in (*(match.end() for match in END.finditer(self.text)), len(self.text)):
            sentence = self.text[begin:end].strip()
            if sentence:
                yield begin, sentence
            begin = end


def words(text: str) -> int:
    """How many words a text has; inline code and a number are one each."""
    return len(WORD.findall(text))


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def _plain(text: str) -> str:
    """A block without its inline markup; the line breaks stay where they were."""
    text = INLINE_CODE.sub(lambda match: CODE + _blank(match), text)
    text = IMAGE.sub(lambda match: match[1], text)
    text = LINK.sub(lambda match: match[1], text)
    text = FOOTNOTE.sub("", text)
    text = URL.sub(CODE, text)
    text = TAG.sub("", text)
    for _ in range(2):
        text = STRONG.sub(r"\2", text)
    return re.sub(r"\\([\\`*_{}\[\]()#+.!|<>~-])", r"\1", text)


def _passage(kind: str, lines: list[str], first: int) -> Iterator[Passage]:
    text, starts = "", []
    for at, line in enumerate(_plain("\n".join(lines)).split("\n")):
        line = re.sub(r"\s+", " ", line.strip())
        if line:
            text += " " if text else ""
            starts.append((len(text), first + at))
            text += line
    if re.search(r"\w", text):
        yield Passage(kind, text, tuple(starts))


def _cells(line: str) -> list[str]:
    hidden = INLINE_CODE.sub(lambda match: match[0].replace("|", "\N{BROKEN BAR}"), line)
    hidden = hidden.replace(r"\|", "\N{BROKEN BAR}").strip()
    return [cell.strip() for cell in hidden.strip("|").split("|")]


def passages(page: str) -> Iterator[Passage]:
    """The prose of a Markdown page, in its order."""
    page = re.sub(r"\A---\n.*?\n---\n", _blank, page, flags=re.DOTALL)
    page = re.sub(r"<!--.*?-->", _blank, page, flags=re.DOTALL)
    kind, block, first, fence = "paragraph", [], 0, ""

    def ended() -> Iterator[Passage]:
        nonlocal kind, block
        if block:
            yield from _passage(kind, block, first)
        kind, block = "paragraph", []

    for number, line in enumerate(page.splitlines(), 1):
        mark = FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif mark:
            yield from ended()
            fence = mark[1]
        elif not line.strip() or RULE.match(line) or DEFINITION.match(line):
            yield from ended()
        elif heading := HEADING.match(line):
            yield from ended()
            yield from _passage("heading", [heading[1]], number)
        elif line.lstrip().startswith("|"):
            yield from ended()
            if not TABLE_RULE.match(line):
                for cell in _cells(line):
                    yield from _passage("cell", [cell], number)
        elif item := ITEM.match(line):
            yield from ended()
            kind, block, first = "item", [line[item.end():]], number
        elif titled := ADMONITION.match(line):
            yield from ended()
            if titled[1]:
                yield from _passage("heading", [titled[1]], number)
        else:
            if not block:
                first = number
            block.append(line.lstrip().removeprefix("> ").strip())
    yield from ended()
