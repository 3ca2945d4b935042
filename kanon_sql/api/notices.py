"""What is said on stderr of a release, once, though several queries make it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from typing import Any

OURS = "kanon_sql: "
"""How a line begins that says something of a release."""


class _Once:
    """A stream that leaves out lines of ours which were there before."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._said, self._line = stream, set[str](), ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Writes what is new; a line of ours when it is whole."""
        for part in text.splitlines(keepends=True):
            self._line += part
            if self._line.startswith(OURS) and not self._line.endswith("\n"):
                continue
            if not self._line.startswith(OURS) or self._line not in self._said:
                self._stream.write(self._line)
            self._said.add(self._line)
            self._line = ""
        return len(text)


@contextmanager
def notices_once() -> Iterator[None]:
    """Says each notice once, however often the queries inside say it."""
    with redirect_stderr(_Once(sys.stderr)):
        yield
