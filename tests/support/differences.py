"""A text recorded by what it has otherwise than another one: for texts that are alike.

Each part of a record begins with a line ``@@ 12 as there, 3 not @@ __kanon_kept``: the next 12
lines of the other text are lines of this one, 3 more aren't, and what follows stands in their
place. The name is that of the stage in which the other text is then. Counts go on from the part
before, so that a line that comes into both texts changes one of them. The end of the other text
ends this one.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import pairwise

PART = re.compile(r"@@ (\d+) as there, (\d+) not @@.*\n")
STAGE = re.compile(r"(?:WITH )?(__kanon_\w+)")


def lines_of(text: str) -> list[str]:
    """The lines of a text, each with its end, so that they join to it again."""
    return re.findall(r".*\n|.+$", text)


def differences(text: str, other: str) -> str:
    """What a text has otherwise than another, which ``applied`` makes the text of again.

    Raises:
        ValueError: a line looks like the beginning of a part, or a text doesn't end a line.
    """
    lines, others = lines_of(text), lines_of(other)
    if any(map(PART.fullmatch, lines)) or not (text.endswith("\n") and other.endswith("\n")):
        raise ValueError("The text can't be recorded by its differences.")
    codes = SequenceMatcher(None, others, lines, autojunk=False).get_opcodes()
    record, done = [], 0
    for tag, start, end, first, last in codes:
        if tag != "equal":
            stages = [found[1] for line in others[:start] if (found := STAGE.match(line))]
            part = f"@@ {start - done} as there, {end - start} not @@ {''.join(stages[-1:])}"
            record += [part.rstrip() + "\n", *lines[first:last]]
            done = end
    return "".join(record)


def applied(record: str, other: str) -> str:
    """The text of a record, made of the other text.

    Raises:
        ValueError: the record isn't one, or takes more lines than the other text has.
    """
    others, lines, done = lines_of(other), [], 0
    recorded = lines_of(record)
    begins = [i for i, line in enumerate(recorded) if PART.fullmatch(line)]
    if begins[:1] != [0] * bool(recorded):
        raise ValueError("The record doesn't begin with a part.")
    for begin, end in pairwise([*begins, len(recorded)]):
        found = PART.fullmatch(recorded[begin])
        assert found is not None
        same, left_out = map(int, found.groups())
        lines += others[done : done + same] + recorded[begin + 1 : end]
        done += same + left_out
    if done > len(others):
        raise ValueError("The record takes more lines than there are.")
    return "".join(lines + others[done:])
