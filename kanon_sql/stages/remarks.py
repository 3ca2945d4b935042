"""What a user should know of a release before it is used."""

from __future__ import annotations

import sys
from collections.abc import Collection
from contextlib import suppress

from kanon_sql.encode.identifier_detection import Suspects
from kanon_sql.errors import printable
from kanon_sql.methods import GroupTask


def notices(task: GroupTask, suspects: Suspects) -> list[str]:
    """All that a user should know of the task and of the columns; the metrics tell it."""
    return [*([] if task.own.remark is None else [task.own.remark]), *suspects.notices]


def remark(task: GroupTask, said: Collection[str] = ()) -> None:
    """Says on stderr what a user should know of the task before its release is used, and what is
    ``said`` of columns."""
    for line in [*([] if task.own.remark is None else [task.own.remark]), *said]:
        say(line)


def say(line: str) -> None:
    """Says a line on stderr; where that can't be written, the metrics tell it all the same."""
    with suppress(OSError):
        print(f"kanon_sql: {printable(line)}", file=sys.stderr, flush=True)


DIVIDED = (
    "PARTITION_BY divides a release that keeps its promises only as a whole: a file may hold fewer "
    "than k rows of a combination. Name its columns in within=[...], so that each part is a "
    "release of its own."
)
