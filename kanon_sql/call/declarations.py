"""How a role is written: in a column comment ('kanon: sensitive'), or in a relation of roles.

Capitals, spaces, hyphens and underscores don't matter. A comment that nearly declares a role, and
can't be read, is refused: whoever wrote it meant one. That is a word like kanon before a colon
('kanon_sql: identifier', 'kannon: identifier'), one beside a word like a role ('kanon identifer',
'identifier: kanon'), and a comment that says nothing else. Letters of other scripts that look alike
count as those that they look like, and signs that nobody sees as none. A comment that only mentions
kanon in a sentence declares nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from kanon_sql.call.look_alikes import plain
from kanon_sql.errors import OptionError, did_you_mean

ROLES = ("quasi_identifier", "sensitive", "identifier", "entity", "within", "other")
SPELLINGS = {
    "quasiidentifier": "quasi_identifier", "quasiidentifiers": "quasi_identifier",
    "qi": "quasi_identifier", "sensitive": "sensitive", "identifier": "identifier",
    "identifiers": "identifier", "entity": "entity", "within": "within",
    "other": "other", "others": "other",
}
WORD = "kanon"
ALIKE_ONLY = (
    "The comment on column {!r} has letters that only look like {!r} or a role, or invisible "
    "characters. Type {!r} again."
)
ANY = "[a-z0-9]"


def _changed(word: str, start: int) -> Iterator[str]:
    """A pattern of a word, and of all words that differ from it in one letter: one too few, one too
    many, another one, or two that changed places. Letters before ``start`` are as they are."""
    letters = re.findall(r"\[[^\]]*\]|.", word)
    yield word
    for i in range(start, len(letters) + 1):
        before, after = letters[:i], letters[i:]
        yield "".join([*before, ANY, *after])
        yield "".join([*before, *after[1:]])
        yield "".join([*before, ANY, *after[1:]])
        yield "".join([*before, *after[1:2], *after[:1], *after[2:]])


def _nearly(word: str, start: int = 0, letters: int = 1) -> str:
    """A pattern of the words that differ from a word in no more than some letters, of which those
    before ``start`` are as they are."""
    spellings = {word: None}
    for _ in range(letters):
        spellings = {each: None for near in spellings for each in _changed(near, start)}
    return f"(?:{'|'.join(spellings)})"
ENDS = r"[ \t\r\n]*(?:$|[.,;()|\n])"
_BEFORE_A_COLON = _nearly(WORD).replace(f"kan{ANY}on", "kan[a-su-z0-9]on")
"""A canton is no misspelling."""
_MORE = r"(?:[_.-]?[a-z0-9]+(?:[_.-][a-z0-9]+)*|[ ](?:sql|role|type|class|tag))?"
"""What may stand beside the word as if it were part of it: kanon_sql, kanon.role, kanon role."""
_GAP = r"[^a-z0-9,;]*"
_COLON = r"[ \t\r\n\"'`)\]*]*(?::|=|->)"
_SQL = "(?:[ _.-]?sql)?"
_CALLED = rf"(?:(?:role|type|class|tag){_GAP})?"
_ROLE = rf"""(?:quasi|qi(?:$|[^a-z])|(?:within|others?){ENDS}|{"|".join(
    _nearly(role, 1) for role in ("quasi", "sensitive", "identifier", "entity")
)})"""
_AFTER = rf"""(?:{"|".join(SPELLINGS)}|quasi[ _-]identifiers?)"""
MEANT = (
    rf"(?:^|[^a-z])((?:{WORD}{_MORE}|{_BEFORE_A_COLON}{_SQL}){_COLON}"
    rf"|{_nearly(WORD, 1)}{_SQL}{_GAP}{_CALLED}{_ROLE}"
    rf"|{_nearly(WORD, 1, 2)}{_SQL}{_COLON}{_GAP}{_AFTER}(?:$|[^a-z])"
    rf"|{_AFTER}[\"'` ]*(?:[:=@/(\[]|->)[\"'` ]*{WORD}{_SQL}[\"'` ]*(?:$|[.,;)\]\n]))"
    rf"|^[^a-z0-9]*({WORD}{_SQL}(?:[^a-z0-9]+[a-z0-9]+)?[^a-z0-9]*$"
    rf"|{_AFTER}[^a-z0-9]+{WORD}{_SQL}[^a-z0-9]*$)"
)
"""Whether a comment may declare a role: a pattern that DuckDB reads as Python does, of a plain text
(see look_alikes.py)."""

_MEANT = re.compile(MEANT, re.IGNORECASE | re.ASCII)
_DECLARED = re.compile(
    rf"(?<!\w){WORD}\s*:\s*"
    rf"(quasi[\s_-]*identifiers?|qi|sensitive|identifiers?|entity|within|others?){ENDS}",
    re.IGNORECASE | re.ASCII,
)


def may_declare(comment: str | None) -> bool:
    """Whether a comment may declare a role."""
    return bool(_MEANT.search(plain(comment or "")))


def read_role(text: str) -> str | None:
    """The role that a text names; None where it names none."""
    return SPELLINGS.get(re.sub(r"[\s_-]+", "", text).lower())


def declared_role(column: str, comment: str | None) -> str | None:
    """The role that a comment declares; None where it speaks of no role.

    Raises:
        OptionError: it means a role and can't be read, or it declares two.
    """
    text, roles = plain(comment or ""), set()
    for meant in _MEANT.finditer(text):
        start = meant.start(meant.lastindex or 0)
        match = _DECLARED.match(text, start)
        role = read_role(match[1]) if match else None
        if match and match[0] not in (comment or ""):
            raise OptionError(ALIKE_ONLY.format(column, WORD, f"{WORD}: {role}"))
        if role is None:
            # 'my_kanon: other' is told from its first letter on
            start -= len(re.findall(r"\w*$", text[:start], re.ASCII)[0])
            raise OptionError(_unread(column, text[start:]))
        roles.add(role)
    if len(roles) > 1:
        raise OptionError(
            f"The comment on column {column!r} declares {len(roles)} roles: "
            f"{', '.join(sorted(roles))}. Leave one."
        )
    return roles.pop() if roles else None


def _unread(column: str, text: str) -> str:
    """What is said of a comment that can't be read, from the word on that is meant for us."""
    said = re.match(rf"{WORD}\s*:\s*([\w -]*\w)\s*$", text, re.IGNORECASE)
    if said and read_role(said[1]) is None:
        return (
            f"The comment on column {column!r} declares the role {said[1]!r}, which doesn't exist. "
            f"{did_you_mean(said[1], ROLES)}"
        )
    near = [spelling for word in re.findall(r"[a-z]+", text.lower())
            for spelling in get_close_matches(word, SPELLINGS, n=1, cutoff=0.8)]
    written = f"'{WORD}: {SPELLINGS[near[0]]}'" if len(set(near)) == 1 else (
        f"'{WORD}: ' and one of {', '.join(ROLES)}"
    )
    return (
        f"The comment on column {column!r} mentions {WORD} and can't be read as a role. Write "
        f"{written}, then a full stop or nothing."
    )
