"""Commands of the shell over the tables of some seeds, and of those that once failed."""

from __future__ import annotations

import pytest

from tests.fuzz.commands import faults_of

ONCE = (1025, 1038, 1094)
"""Dates beyond the year 9999, and doubles whose squares are none, which reports could not take."""


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*ONCE, *range(4)])
def test_commands_end_as_they_may(seed: int) -> None:
    assert not list(faults_of(seed))
