"""The mutants of a text of SQL, by its tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.mutants.edits import Edit

_TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\n]*)|(?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")|(?P<hole>\$\{[^{}]*\})
    |(?P<number>\d+(?:\.\d+)?(?:e-?\d+)?)|(?P<word>[A-Za-z_][\w.]*)
    |(?P<sign><=|>=|<>|!=|\|\||->>|->|::|:=|=>|\\.|.)""",
    re.VERBOSE | re.DOTALL,
)
_SIGNS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "=": "<>", "<>": "=", "+": "-", "-": "+",
    "*": "+", "//": "*",
}
_FUNCTIONS = {
    "min": "max", "max": "min", "least": "greatest", "greatest": "least",
    "bool_and": "bool_or", "bool_or": "bool_and", "list_min": "list_max", "list_max": "list_min",
}
_ENDS = {"GROUP", "ORDER", "HAVING", "LIMIT", "UNION", "WINDOW", "QUALIFY", "SELECT", "FROM"}
_TYPED = {"VARCHAR", "BIGINT", "DOUBLE", "HUGEINT", "INTEGER", "BOOLEAN", "DECIMAL"}
BRANCH = "a branch of CASE dropped"
INTEGER = "a constant changed"


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


def _tokens(text: str) -> list[_Token]:
    return [
        _Token(str(found.lastgroup), found[0], found.start(), found.end())
        for found in _TOKEN.finditer(text) if found.lastgroup != "space"
    ]


def sql_edits(text: str) -> Iterator[Edit]:
    """All mutants of a text, from its beginning to its end. A hole is written ``${name}``."""
    tokens = _tokens(text)
    for at, token in enumerate(tokens):
        before = tokens[at - 1].text if at else ""
        after = tokens[at + 1].text if at + 1 < len(tokens) else ""
        if token.kind == "sign":
            yield from _of_sign(token, before, after)
        elif token.kind == "number" and token.text.isdigit() and len(token.text) < 10:
            for other in {int(token.text) + 1, int(token.text) - 1}:
                # a number of its own: -- would begin a comment
                yield Edit(token.start, token.end, f"({other})", INTEGER)
        elif token.kind == "word":
            yield from _of_word(tokens, at, text)


def _of_sign(token: _Token, before: str, after: str) -> Iterator[Edit]:
    other = _SIGNS.get(token.text)
    plain = token.text in ("*", "+", "-", "/")
    if other is None or (plain and (before in ("(", ",", "", "[", "SELECT", ".", "THEN", "=")
                                    or after in (")", ",", ""))):
        return
    if token.text == "*" and (before.isupper() or after.isupper() or after in ("FROM", "EXCLUDE")):
        return
    yield Edit(token.start, token.end, other, f"{token.text} to {other}")


def _of_word(tokens: list[_Token], at: int, text: str) -> Iterator[Edit]:
    token = tokens[at]
    word = token.text
    before = tokens[at - 1].text if at else ""
    after = tokens[at + 1].text if at + 1 < len(tokens) else ""
    last = word.rpartition(".")[2]
    if word == "AND" and not _in_frame(tokens, at):
        yield Edit(token.start, token.end, "OR", "AND to OR")
    elif word == "OR" and before != "CREATE":
        yield Edit(token.start, token.end, "AND", "OR to AND")
    elif word in ("WHERE", "HAVING"):
        end = _end(tokens, at + 1, _ENDS)
        if end > at + 1 and after != "true":
            yield Edit(tokens[at + 1].start, tokens[end - 1].end, "true", f"{word} dropped")
    elif word == "WHEN":
        end = _end(tokens, at + 1, {"THEN"})
        if end > at + 1:
            yield Edit(tokens[at + 1].start, tokens[end - 1].end, "false", BRANCH)
    elif word == "LEFT" and after == "JOIN":
        yield Edit(token.start, token.end, "INNER" if before != "ASOF" else "", "LEFT to INNER")
    elif word == "JOIN" and before not in ("LEFT", "CROSS", "INNER", "ANTI", "SEMI", "{join}"):
        yield Edit(token.start, token.end, "LEFT JOIN", "INNER to LEFT")
    elif word == "IS" and [t.text for t in tokens[at + 1 : at + 4]] == ["NOT", "DISTINCT", "FROM"]:
        yield Edit(token.start, tokens[at + 3].end, "=", "IS NOT DISTINCT FROM to =")
    elif word == "IS" and after == "NULL":
        yield Edit(token.start, token.end, "IS NOT", "IS NULL to IS NOT NULL")
    elif (word == "NOT" and after not in ("MATERIALIZED", "DISTINCT")) or (
        word == "DISTINCT" and before in ("(", "SELECT")
    ):
        yield Edit(token.start, token.end, "", f"{word} dropped")
    elif word == "ALL" and before == "UNION":
        yield Edit(token.start, token.end, "", "UNION ALL to UNION")
    elif word in ("true", "false"):
        other = "false" if word == "true" else "true"
        yield Edit(token.start, token.end, other, f"{word} to {other}")
    elif after == "(" and last in _FUNCTIONS:
        other = word.removesuffix(last) + _FUNCTIONS[last]
        yield Edit(token.start, token.end, other, f"{last} to {_FUNCTIONS[last]}")
    elif after == "(" and last == "coalesce":
        first, end = _end(tokens, at + 2, {","}), _end(tokens, at + 2, set())
        if first < end < len(tokens):
            kept = text[tokens[at + 1].end : tokens[first - 1].end]
            yield Edit(token.start, tokens[end].end, f"({kept})", "coalesce dropped")


def _in_frame(tokens: list[_Token], at: int) -> bool:
    """Whether this AND is that of BETWEEN."""
    return any(token.text == "BETWEEN" for token in tokens[max(0, at - 3) : at])


def _end(tokens: list[_Token], at: int, words: set[str]) -> int:
    """The first token from there on that is one of the words, or ends what is in parentheses."""
    depth = cases = 0
    for place in range(at, len(tokens)):
        text = tokens[place].text
        if text in ("(", "["):
            depth += 1
        elif text in (")", "]"):
            depth -= 1
        elif text == "CASE":
            cases += 1
        elif text == "END":
            cases -= 1
        if depth < 0 or cases < 0 or text == ";" or (not depth and not cases and text in words):
            return place
    return len(tokens)
