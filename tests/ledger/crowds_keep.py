"""Whether the classes and the crowds of a release keep a privacy model, counted in fractions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.release.test_ledger_models import Shares, shares


def linkable(
    known: Mapping[Any, frozenset[Any]], now: Mapping[Any, Any], ill: Mapping[Any, str],
    keeps: Callable[[Shares, Shares], bool], against: str, least: int,
) -> int:
    """How many crowds are smaller than their class; asserts that all keep the model.

    Args:
        known: the history of each person; now: the class of each who is released; ill: what each
            has.
        keeps: whether some shares keep the model, beside those of all.
        against: 'presence' or 'absence'.
        least: persons of a crowd.
    """
    everybody, crowds = shares([ill[p] for p in now]), 0
    for mine, place in {(known[p], now[p]) for p in now}:
        crowd = [
            p for p in now if (mine <= known[p] if against == "presence" else mine == known[p])
        ]
        whole = [p for p in now if now[p] == place]
        crowds += len(crowd) < len(whole)
        assert len(crowd) >= least
        for some in (crowd, whole):
            assert keeps(shares([ill[p] for p in some]), everybody)
    return crowds
