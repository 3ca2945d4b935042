"""The result of a verification, by entry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["proven", "not provable", "wrong"]

SHOWN = ("wrong", "proven", "not provable")


@dataclass(frozen=True)
class Finding:
    """The result for one entry of a manifest.

    Attributes:
        entry: section and entry, such as 'metrics.k'.
        verdict: 'proven', 'wrong', or 'not provable' from the arguments: then only contradictions
            within the manifest are checked.
        sentence: the reason, for a reader.
        resembles: the identifier that a column resembles, if that is the reason.
    """

    entry: str
    verdict: Verdict
    sentence: str = ""
    resembles: str | None = None


@dataclass(frozen=True)
class Verification:
    """The result for a file.

    Attributes:
        file: its path.
        findings: one for each entry of its manifest; wrong entries come first, the most important
            one before the others.
        with_source: whether the release was also run again.
        explained: the findings in sentences, for a reader who doesn't know the entries.
    """

    file: str
    findings: tuple[Finding, ...]
    with_source: bool = False
    explained: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether at least one entry is proven, and none is wrong."""
        return not self.of("wrong") and bool(self.of("proven"))

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        wrong = self.of("wrong")
        if wrong:
            return wrong[0].sentence
        by = "the file, its source and the private part" if self.with_source else "the file alone"
        if not self.of("not provable"):
            return f"All {len(self.of('proven'))} entries are proven by {by}."
        return (
            f"{len(self.of('proven'))} entries are proven by {by}, "
            f"{len(self.of('not provable'))} are not provable by it and were not checked, and none "
            "of the others is wrong." + "".join(
                f" {each.sentence}" for each in self.of("not provable") if each.sentence
            )
        )

    def of(self, verdict: Verdict) -> tuple[Finding, ...]:
        """The findings with a verdict."""
        return tuple(each for each in self.findings if each.verdict == verdict)

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.file}: {'ok' if self.ok else 'wrong'}. {self.sentence}"
        for finding in self.of("wrong"):
            yield f"  wrong: {finding.entry}: {finding.sentence}"
        for verdict in SHOWN[1:]:
            entries = [each.entry for each in self.findings if each.verdict == verdict]
            sections: dict[str, list[str]] = {}
            for entry in entries:
                section, _, name = entry.partition(".")
                sections.setdefault(section, []).append(name or section)
            for section, names in sections.items():
                yield f"  {verdict}: {section}: {', '.join(names)}"
