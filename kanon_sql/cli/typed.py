"""Options as a shell has them, in sentences that all faces share: k=5 is --k 5 there."""

from __future__ import annotations

import json
import re
import sys
from ast import literal_eval
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from shlex import quote
from typing import Any

from kanon_sql.api.notices import OURS

TEXT = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
GIVEN = re.compile(
    rf"(?<![\w=\[]){TEXT}|"  # a name or a path, as it is
    r"(?<![\w/.-])(?<!\.\.\., )([a-z]+(?:_[a-z]+)*|k)="  # but of a call in SQL
    rf"(\[(?:{TEXT}|[^\]'\"])*\]|{TEXT}|True|False|[\d.]*\d)"
)
"""How such a sentence writes an option; what is quoted is none."""
SUCH = re.compile(
    r"(?:(?<=such as )|(?<=by column: )|(?<=give this column ))(?:\{[^{}]*\}|\[[^\[\]]*\])"
)
"""How it writes a value of one, as an example."""
PART = re.compile(rf"{TEXT}|\.\.\.|[\d.]+")

ANEW = ", or say resume=False,"
"""What kanon run has neither an option nor a key for."""


def as_typed(sentence: str, in_file: bool = False) -> str:
    """A sentence with its options as they are typed.

    Args:
        sentence: what it is.
        in_file: whether they stand in kanon.toml, but for those of the command itself.
    """
    def typed(match: re.Match[str]) -> str:
        name, value = match[1], match[2]
        if name is None:
            return match[0]
        if in_file and name != "overwrite":
            return f"{name} = {value.lower() if value in ('True', 'False') else value}"
        option = name.replace("_", "-")
        if value in ("True", "False"):
            return f"--{option}" if value == "True" else f"--no-{option}"
        return f"--{option} {_words(value)}"

    if in_file:
        return SUCH.sub(_in_toml, GIVEN.sub(typed, sentence.replace(ANEW, "")))
    return SUCH.sub(_in_shell, GIVEN.sub(typed, sentence))


def _in_toml(match: re.Match[str]) -> str:
    """A list is the same there, and by column names stand before a sign."""
    return re.sub(r"'(\w+)': ", r"\1 = ", match[0])


def _in_shell(match: re.Match[str]) -> str:
    """A list, or values by column, as one word."""
    try:
        value = literal_eval(match[0])
    except (SyntaxError, ValueError):
        return match[0]
    parts = list(value.values()) if isinstance(value, dict) else value
    if "kind" in value or any(isinstance(part, (dict, list)) for part in parts):
        return quote(json.dumps(value))  # as it is there
    parts = [f"{name}={one}" for name, one in value.items()] if isinstance(value, dict) else value
    return quote(",".join(map(str, parts)))


def _words(value: str) -> str:
    """A value, or a list of values, as one word of a shell."""
    parts = [part[1:-1] if part[0] in "'\"" else part for part in PART.findall(value)]
    return quote(",".join(parts))


class _Typed:
    """A stream in which what is said of a release has its options as they are typed."""

    def __init__(self, stream: Any, in_file: bool) -> None:
        self._stream, self._in_file = stream, in_file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Writes what is said."""
        ours = text.startswith(OURS)
        self._stream.write(as_typed(text, self._in_file) if ours else text)
        return len(text)


@contextmanager
def notices_typed(in_file: bool) -> Iterator[None]:
    """Says what is said of a release meanwhile with its options as they are typed."""
    with redirect_stderr(_Typed(sys.stderr, in_file)):
        yield
