"""Who is shown again, against the slow reference, and both promises over random lives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kanon_sql.ledger.histories import Histories, read_histories
from kanon_sql.ledger.shown import choose, stay_against_absence, stay_against_presence
from tests.ledger.lives import lives
from tests.ledger.reference import (
    CROWDS,
    Exposure,
    histories,
    how_many_against_absence,
    shown_against_presence,
)
from tests.support.thoroughness import examples

STAY = {"presence": stay_against_presence, "absence": stay_against_absence}


def text_of(steps: Any) -> str:
    return " ".join(f"{release}:{number}" for release, number in sorted(steps))


def released(
    ledger: list[Exposure], there: list[int], against: str, k: int, seed: int
) -> dict[Any, int]:
    """The persons of a new release and their classes, by the functions under test; newcomers make
    classes of k of those that stand next to each other, or wait."""
    known = histories(ledger)
    persons = list(known)
    old = [p for p in there if p in known]
    found, numbers = read_histories([text_of(known[p]) for p in persons])
    of = dict(zip(persons, numbers.tolist(), strict=True))
    own = np.array([of[p] for p in old], dtype=np.int64)
    stay = STAY[against](found, np.bincount(own, minlength=len(found)), k)
    drawn = np.random.default_rng(seed).permutation(len(old))
    last = found.last_class
    shown: dict[Any, int] = {
        p: int(last[h])
        for p, h, chosen in zip(old, own.tolist(), choose(own, stay, drawn), strict=True) if chosen
    }
    fresh = [p for p in there if p not in known]
    for batch in range(len(fresh) // k):
        number = found.largest_class + 1 + batch
        shown |= dict.fromkeys(fresh[batch * k:(batch + 1) * k], number)
    left = fresh[len(fresh) // k * k :]
    if against == "presence" and shown:
        shown |= {p: min(shown.values()) for p in left}
    return shown


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("against", ["presence", "absence"])
def test_nobody_is_ever_alone(against: str, clustered: bool) -> None:
    shown_again = 0
    for seed in range(examples(60)):
        k = 2 + seed % 4
        ledger: list[Exposure] = []
        for number, there in enumerate(lives(seed, 40 + seed, 6, clustered), start=1):
            shown = released(ledger, there, against, k, seed)
            shown_again += len(shown.keys() & histories(ledger).keys())
            ledger += [(number, p, c) for p, c in shown.items()]
            crowds = CROWDS[against](ledger)
            assert min(crowds.values(), default=k) >= k
    assert shown_again > 500


def test_without_the_rule_somebody_is() -> None:
    """The promise is one that a naive release breaks: else the test above would show nothing."""
    for against in STAY:
        ledger: list[Exposure] = []
        for number, there in enumerate(lives(1, 60, 4), start=1):
            ledger += [(number, p, rank // 3) for rank, p in enumerate(there)]
        assert min(CROWDS[against](ledger).values()) < 3


@pytest.mark.parametrize("clustered", [False, True])
def test_as_many_are_shown_as_may_be(clustered: bool) -> None:
    for seed in range(examples(60)):
        k, ledger = 2 + seed % 4, list[Exposure]()
        for number, there in enumerate(lives(seed, 50, 5, clustered, returns=0.6), start=1):
            shown = released(ledger, there, "presence", k, seed)
            if ledger:
                again = {p: c for p, c in shown.items() if p in histories(ledger)}
                assert again == shown_against_presence(ledger, there, k)
            ledger += [(number, p, c) for p, c in shown.items()]


@pytest.mark.parametrize("clustered", [False, True])
def test_as_many_of_each_history_are_shown_as_may_be(clustered: bool) -> None:
    for seed in range(examples(60)):
        k, ledger = 2 + seed % 3, list[Exposure]()
        for number, there in enumerate(lives(seed, 50, 5, clustered, returns=0.6), start=1):
            shown = released(ledger, there, "absence", k, seed)
            known = histories(ledger)
            for history, most in how_many_against_absence(ledger, there, k).items():
                assert sum(known[p] == history for p in shown if p in known) == most
            ledger += [(number, p, c) for p, c in shown.items()]


def test_histories_that_no_release_of_ours_makes() -> None:
    """Unions, and people who changed their class, as another ledger may have them."""
    random = np.random.default_rng(5)
    for _ in range(examples(300)):
        k = int(random.integers(2, 5))
        ledger = [
            (release, person, int(random.integers(1, 3)))
            for person in range(24) for release in (1, 2, 3) if random.random() < 0.7
        ]
        known = histories(ledger)
        persons = list(known)
        there = [p for p in persons if random.random() < 0.9]
        found, numbers = read_histories([text_of(known[p]) for p in persons])
        of = dict(zip(persons, numbers.tolist(), strict=True))
        own = np.array([of[p] for p in there])
        stay = stay_against_presence(found, np.bincount(own, minlength=len(found)), k)
        last = found.last_class
        shown = {p: int(last[h]) for p, h in zip(there, own.tolist(), strict=True) if stay[h]}
        assert shown == shown_against_presence(ledger, there, k)


def test_histories_are_read() -> None:
    found, numbers = read_histories(["1:7 2:7", "2:10", "1:7 2:7", "1:7 10:7"])
    assert found.steps[numbers[0]] == ((1, 7), (2, 7))
    assert found.steps[numbers[1]] == ((2, 10),)
    assert numbers[0] == numbers[2]
    assert found.persons[numbers].tolist() == [2, 1, 2, 1]
    assert (found.last_release, found.largest_class) == (10, 10)
    nothing, nobody = read_histories([])
    assert (len(nothing), len(nobody), nothing.last_release) == (0, 0, 0)


def test_those_with_the_lowest_lots_stay() -> None:
    history = np.array([0, 1, 0, 1, 0, 1])
    drawn = np.array([5, 1, 3, 9, 1, 2])
    assert choose(history, np.array([2, 1]), drawn).tolist() == [
        False, True, True, False, True, False
    ]


def test_a_class_that_others_joined_is_no_crowd_for_those_who_were_there_before() -> None:
    """Five were together; two left, and ten joined them since: the three are known by the first
    release."""
    known = Histories((((1, 1), (2, 1)), ((2, 1),)), np.array([5, 10]))
    assert stay_against_presence(known, np.array([3, 10]), 5).tolist() == [0, 10]
    assert stay_against_presence(known, np.array([5, 0]), 5).tolist() == [5, 0]
    # those of the second release have the first five in their crowd
    assert stay_against_presence(known, np.array([5, 2]), 5).tolist() == [5, 2]
    assert stay_against_presence(known, np.array([4, 2]), 5).tolist() == [0, 0]
