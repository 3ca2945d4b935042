"""Repeated releases once more, slow and readable: what an attacker can tell from a ledger, and the
largest release that keeps it from him. A ledger here is a list of (release, person, class)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

Exposure = tuple[int, Hashable, int]
History = frozenset[tuple[int, int]]


def histories(ledger: Iterable[Exposure]) -> dict[Hashable, History]:
    """In which class each person was, release by release."""
    found: dict[Hashable, set[tuple[int, int]]] = {}
    for release, person, number in ledger:
        found.setdefault(person, set()).add((release, number))
    return {person: frozenset(steps) for person, steps in found.items()}


def crowds_of_presence(ledger: Iterable[Exposure]) -> dict[Hashable, int]:
    """Of each person how many were in the same class in every release in which the person was."""
    known = histories(ledger)
    return {
        person: sum(mine <= others for others in known.values()) for person, mine in known.items()
    }


def crowds_of_absence(ledger: Iterable[Exposure]) -> dict[Hashable, int]:
    """Of each person how many have the very same history, absences among it."""
    known = histories(ledger)
    return {
        person: sum(mine == others for others in known.values()) for person, mine in known.items()
    }


CROWDS = {"presence": crowds_of_presence, "absence": crowds_of_absence}


def shown_against_presence(
    ledger: list[Exposure], present: Iterable[Hashable], k: int
) -> dict[Hashable, int]:
    """Those of the persons present who are shown again, and their class: the largest set in which
    each has a crowd."""
    known = histories(ledger)
    last = {person: max(steps)[1] for person, steps in known.items()}
    shown = {person for person in present if person in known}
    while True:
        alone = {
            p for p in shown
            if sum(known[p] <= known[q] and last[p] == last[q] for q in shown) < k
        }
        if not alone:
            return {person: last[person] for person in shown}
        shown -= alone


def how_many_against_absence(
    ledger: list[Exposure], present: Iterable[Hashable], k: int
) -> Mapping[History, int]:
    """How many persons of each history may be shown at most: by trying all numbers."""
    known, there = histories(ledger), set(present)
    found = {}
    for history in set(known.values()):
        persons = [p for p, steps in known.items() if steps == history]
        most = sum(p in there for p in persons)
        found[history] = max(
            shown for shown in range(most + 1)
            if all(n == 0 or n >= k for n in (shown, len(persons) - shown))
        ) if len(persons) >= k else 0
    return found
