"""The room of new classes, against a count of all outcomes and a slow look at the ledger."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from kanon_sql.ledger.headroom import (
    ASSUMED,
    RELEASES,
    TARGET,
    Headroom,
    churn_of,
    headroom_for,
    read_headroom,
)
from kanon_sql.ledger.histories import read_histories
from tests.ledger.lives import lives
from tests.ledger.reference import Exposure, histories
from tests.ledger.test_shown import released, text_of


def withheld_by_outcomes(k: int, headroom: int, churn: float) -> float:
    """The chance that a person who stays is withheld, by all that the others of a class of
    k + headroom may do."""
    stay = (1.0 - churn) ** (RELEASES - 1)
    total = 0.0
    for staying in product([False, True], repeat=k + headroom - 1):
        if 1 + sum(staying) < k:
            total += float(np.prod([stay if each else 1.0 - stay for each in staying]))
    return total


@pytest.mark.parametrize("churn", [0.0, 0.005, 0.02, 0.05, 0.1, 0.3, 0.9, 1.0])
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_it_is_the_smallest_within_the_target(k: int, churn: float) -> None:
    found = headroom_for(k, "knows_presence", churn)
    shares = [withheld_by_outcomes(k, headroom, churn) for headroom in range(k + 1)]
    within = [headroom for headroom, share in enumerate(shares) if share <= TARGET + 1e-12]
    assert found.persons == min([*within, k])
    assert found.withheld == pytest.approx(shares[found.persons], abs=1e-12)
    assert found.churn == churn


def test_it_grows_with_churn_and_k() -> None:
    churns = (0.0, 0.001, 0.01, 0.02, 0.05, 0.2)
    found = [[headroom_for(k, "knows_presence", churn).persons for churn in churns]
             for k in (2, 5, 20, 100, 1000)]
    assert all(row == sorted(row) for row in found)
    assert all(list(column) == sorted(column) for column in zip(*found, strict=True))
    # so many that the chance that all stay is no float any more
    assert 40_000 < headroom_for(1_000_000, "knows_presence", 0.02).persons < 44_000


def test_the_page_has_what_is_chosen() -> None:
    page = (Path(__file__).parents[2] / "docs" / "releases.md").read_text(encoding="utf-8")
    head, rows = re.findall(
        r"^\| churn \|(.*)\n\|.*\n((?:\| [\d.]+ % \|.*\n)+)", page, re.MULTILINE
    )[0]
    sizes = [int(each) for each in re.findall(r"k = (\d+)", head)]
    for row in rows.splitlines():
        churn, *cells = row.strip("| ").split(" | ")
        share = float(churn.removesuffix(" %")) / 100.0
        chosen = [headroom_for(k, "knows_presence", share).persons for k in sizes]
        assert [int(cell) for cell in cells] == chosen, churn


def test_against_absence_no_room_saves_anybody() -> None:
    assert headroom_for(5, "knows_absence", 0.3) == Headroom(0, 0.3, None)


@pytest.mark.parametrize("clustered", [False, True])
def test_churn_is_who_left_by_who_could_have_stayed(clustered: bool) -> None:
    for seed in range(6):
        ledger: list[Exposure] = []
        for number, there in enumerate(lives(seed, 200, 4, clustered), start=1):
            known = histories(ledger)
            found, of_person = read_histories([text_of(steps) for steps in known.values()])
            present = np.bincount(
                [of for person, of in zip(known, of_person.tolist(), strict=True)
                 if person in there], minlength=len(found)
            )
            left = chances = 0
            for person, steps in known.items():
                first, last = min(steps)[0], max(steps)[0]
                left += person not in there
                chances += (number if person in there else last + 1) - first
            assert churn_of(found, present) == pytest.approx(left / chances if ledger else ASSUMED)
            told = read_headroom("auto", 4, "knows_presence", found, present)
            assert told == headroom_for(4, "knows_presence", churn_of(found, present))
            shown = released(ledger, there, "presence", 4, seed)
            ledger += [(number, person, of) for person, of in shown.items()]


def test_a_given_headroom_is_told_by_nothing() -> None:
    nobody = np.zeros(0, np.int64)
    found = read_headroom(3, 5, "knows_presence", read_histories([])[0], nobody)
    assert found == Headroom(3) and found.facts == {}
