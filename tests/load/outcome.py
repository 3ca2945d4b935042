"""What a part of the load did, and what it found."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

SHOWN = 5
"""How many findings of a part are printed."""

_lock = threading.Lock()
"""One for all: an outcome itself comes from other processes, too."""


@dataclass
class Outcome:
    """What a part did; threads may add to it.

    Attributes:
        part: its name.
        calls: how many calls were answered, rightly or not.
        facts: what else was counted, in words.
        findings: what was wrong, in words.
        left_out: why it could not run, or nothing.
    """

    part: str
    calls: int = 0
    facts: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    left_out: str = ""

    def compare(self, asked: str, got: str, expected: str) -> None:
        """Counts a call, and finds an answer that is another than the serial one."""
        with _lock:
            self.calls += 1
            if got != expected:
                self.findings.append(f"{asked}: the answer is {got}, serially {expected}")

    def find(self, finding: str) -> None:
        """Adds a finding."""
        with _lock:
            self.findings.append(finding)

    def told(self, seconds: float) -> str:
        """The lines of a part in the summary."""
        if self.left_out:
            return f"{self.part}: left out. {self.left_out}"
        first = f"{self.part}: {self.calls:,} calls in {seconds:.0f} s"
        lines = [", ".join([first, *self.facts, f"{len(self.findings)} findings"])]
        lines += [f"    {each[:500]}" for each in self.findings[:SHOWN]]
        return "\n".join(lines)
