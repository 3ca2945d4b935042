"""The call that docs/architecture.md follows takes the way that is told there."""

from __future__ import annotations

import sys
import threading
from types import FrameType
from typing import Any

import pytest

from kanon_sql.stages.remembered import forget
from tests.support.one_call import (
    ASKED,
    CALL,
    GROUPED,
    HANDED_OVER,
    PLANNED,
    REGISTERED,
    of,
    over_adult,
    text,
)

ROWS = 400
"""So few that the way is gone in a moment; it is the same for all."""


def entered(run: Any, steps: tuple[str, ...]) -> list[str]:
    """Some functions in the order in which a run first enters them, in whichever thread."""
    codes, found = {of(step).__code__: step for step in steps}, dict[str, None]()

    def look(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code in codes:
            found.setdefault(codes[frame.f_code])

    before = sys.getprofile()
    threading.setprofile(look)
    sys.setprofile(look)
    try:
        run()
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    return list(found)


@pytest.mark.slow
def test_the_call_enters_the_functions_in_that_order() -> None:
    steps = (*REGISTERED, *PLANNED, *HANDED_OVER, *GROUPED, *ASKED)
    # once before, so that the kernels are there: they are tried on made-up records
    over_adult(ROWS).sql(CALL).fetchall()
    forget()
    rows: list[Any] = []
    assert entered(lambda: rows.extend(over_adult(ROWS).sql(CALL).fetchall()), steps) == list(steps)
    assert len(rows) == ROWS


def test_nothing_is_told_twice() -> None:
    steps = (*REGISTERED, *PLANNED, *HANDED_OVER, *GROUPED, *ASKED)
    assert len(set(steps)) == len(steps)


@pytest.mark.slow
def test_the_text_gives_what_the_call_gives() -> None:
    with over_adult(ROWS) as con:
        assert con.sql(text()).fetchall() == con.sql(CALL).fetchall()
