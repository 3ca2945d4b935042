"""A mutant: one small edit of one file."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import unified_diff


@dataclass(frozen=True)
class Edit:
    """What stands in place of a span of a text.

    Attributes:
        operator: what kind of change it is, in a few words.
    """

    start: int
    end: int
    text: str
    operator: str

    def applied(self, source: str) -> str:
        """The text with the edit; it has as many lines as before."""
        lost = source.count("\n", self.start, self.end) - self.text.count("\n")
        return source[: self.start] + self.text + "\n" * lost + source[self.end :]


@dataclass(frozen=True)
class Mutant:
    """An edit of a file.

    Attributes:
        path: the file, below the root of the repository.
        place: the function or the SQL block that has it; empty for the level of a module.
        before, after: the first line that differs, which together with the place is a key that
            stays when lines above move.
    """

    path: str
    edit: Edit
    place: str
    line: int
    before: str
    after: str

    @property
    def name(self) -> str:
        """Where it is."""
        return f"{self.path}:{self.line}"

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What an explanation in equivalent.toml names."""
        return self.path, self.place, self.before, self.after

    def diff(self, source: str) -> str:
        """The change as a diff without context."""
        lines = unified_diff(
            source.splitlines(), self.edit.applied(source).splitlines(), lineterm="", n=0
        )
        return "\n".join(line for line in list(lines)[3:] if line not in ("+", "-"))


def mutant(path: str, source: str, edit: Edit, place: str) -> Mutant:
    """A mutant of a file whose text is the source."""
    changed = edit.applied(source)
    pairs = zip(source.splitlines(), changed.splitlines(), strict=False)
    at, (old, new) = next((n, pair) for n, pair in enumerate(pairs, 1) if pair[0] != pair[1])
    return Mutant(path, edit, place, at, old.strip(), new.strip())
