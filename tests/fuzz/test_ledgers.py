"""Lives of some seeds beside a ledger, and of those that once failed."""

from __future__ import annotations

import pytest

from tests.fuzz.ledgers import faults_of

ONCE = (1009, 1210, 1247)
"""Bounds of the last TIMESTAMP that there is, which no double holds."""


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*ONCE, *range(6)])
def test_nobody_can_be_told_apart(seed: int) -> None:
    assert not list(faults_of(seed))
