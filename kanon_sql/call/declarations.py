"""How a role is written: in a column comment ('kanon: sensitive'), or in a relation of roles.

Capitals, spaces, hyphens and underscores don't matter. A comment that speaks of kanon, or of a word
one letter away before a colon, and can't be read as a role, is refused: whoever wrote it meant one.
"""

from __future__ import annotations

import re

from kanon_sql.errors import OptionError, did_you_mean

ROLES = ("quasi_identifier", "sensitive", "identifier", "entity", "within", "other")
SPELLINGS = {
    "quasiidentifier": "quasi_identifier", "quasiidentifiers": "quasi_identifier",
    "qi": "quasi_identifier", "sensitive": "sensitive", "identifier": "identifier",
    "identifiers": "identifier", "entity": "entity", "within": "within",
    "other": "other", "others": "other",
}
WORD = "kanon"


def _one_letter_away(word: str) -> str:
    """A pattern of the word, and of all words that differ from it in one letter: one too few, one
    too many, another one, or two that changed places."""
    found = [word]
    for i in range(len(word) + 1):
        found.append(f"{word[:i]}[a-z]{word[i:]}")
        if i < len(word):
            found += [f"{word[:i]}{word[i + 1:]}", f"{word[:i]}[a-z]{word[i + 1:]}"]
        if i + 1 < len(word):
            found.append(f"{word[:i]}{word[i + 1]}{word[i]}{word[i + 2:]}")
    return "|".join(dict.fromkeys(found))


MEANT = rf"\b{WORD}\b|\b(?:{_one_letter_away(WORD)})\s*:"
"""Whether a comment may declare a role: a pattern that Python and DuckDB read alike."""

_MEANT = re.compile(MEANT, re.IGNORECASE | re.ASCII)
_DECLARED = re.compile(
    rf"{WORD}\s*:\s*(quasi[\s_-]*identifiers?|qi|sensitive|identifiers?|entity|within|others?)\s*(?:$|[.,;()|\n])",
    re.IGNORECASE | re.ASCII,
)


def may_declare(comment: str | None) -> bool:
    """Whether a comment may declare a role."""
    return bool(_MEANT.search(comment or ""))


def read_role(text: str) -> str | None:
    """The role that a text names; None where it names none."""
    return SPELLINGS.get(re.sub(r"[\s_-]+", "", text).lower())


def declared_role(column: str, comment: str | None) -> str | None:
    """The role that a comment declares; None where it speaks of no role.

    Raises:
        OptionError: it means a role and can't be read, or it declares two.
    """
    roles = set()
    for meant in _MEANT.finditer(comment or ""):
        found = _DECLARED.match(comment or "", meant.start())
        role = read_role(found[1]) if found else None
        if role is None:
            raise OptionError(_unread(column, (comment or "")[meant.start():]))
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
    if said:
        return (
            f"The comment on column {column!r} declares the role {said[1]!r}, which doesn't exist. "
            f"{did_you_mean(said[1], ROLES)}"
        )
    return (
        f"The comment on column {column!r} speaks of kanon and can't be read as a role. Write "
        "'kanon: ' and one of " + ", ".join(ROLES) + ", then a full stop or nothing."
    )
