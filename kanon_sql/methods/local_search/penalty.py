"""What a search may do that privacy models hold to their demands, and what one may that none does.

A search without models carries a ``Free``, one with them a ``Penalty``. Which of the functions
below a kernel means is decided when it is compiled, by the type that it is given: so nothing is
added to the steps of a search without models.

A change costs what it adds to the loss, and ``price`` for each row of violation that it adds: see
kanon_sql/privacy/kernels.py. At the price HARD no change adds any.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from kanon_sql.kernel.jit import CHOSEN, inlined, inner
from kanon_sql.points.points import Codes, Floats, Labels
from kanon_sql.privacy.demands import Demands
from kanon_sql.privacy.kernels import NOBODY, count_codes, violation_of

MANY = 40
"""Groups that change at once from which on it is noted of all which did: these are few then."""

HARD = 1e300
"""A price that no change can pay."""

TRIED, ONE_IN = 512, 256
"""Groups that a search tries to make before it judges by them, and one in how many has to come
about for it to try at every step that proposes it."""

STILL = np.uint64(15 << 20)
"""Bits of a step that are all 0 where it tries nevertheless: of a step that proposes to make a
group, nothing else is read from them."""


class Free(NamedTuple):
    """No models: groups have fewer than twice the least records."""

    seed: int = 0


class Penalty(NamedTuple):
    """What groups are held to.

    Attributes:
        demands: by what their violation is found.
        held: float64, shape (groups,); the violation of each.
        kept: int32, shape (groups, demands.width); the codes of each: see violation_of.
        price: float64, shape (1,); what a row of violation costs.
        most: the most records of a group.
        made: int64, shape (2,); how often the search tried to make a group, and how often one came
            about.
        seed: which chances are taken: see kanon_sql/methods/local_search/annealing.py.
    """

    demands: Demands
    held: Floats
    kept: Codes
    price: Floats
    most: int
    made: Labels
    seed: int


@inlined
def _number(penalty: Any, step: Any) -> Any:
    return step


@inlined
def _number_held(penalty: Any, step: Any) -> Any:
    return step ^ penalty.seed


@inlined
def _largest(penalty: Any, k: Any) -> Any:
    return 2 * k - 1


@inlined
def _largest_held(penalty: Any, k: Any) -> Any:
    return penalty.most


@inlined
def _partner(penalty: Any, groups: Any, b: Any, mover: Any, at: Any, coin: Any) -> Any:
    return groups.members[b, at]


@inner
def _partner_held(penalty: Any, groups: Any, b: Any, mover: Any, at: Any, coin: Any) -> Any:
    members, size, codes = groups.members, groups.sizes[b], penalty.demands.codes
    if coin:
        for p in range(size):
            other = members[b, (at + p) % size]
            alike = True
            for column in range(codes.shape[1]):
                alike = alike and codes[other, column] == codes[mover, column]
            if alike:
                return other
    return members[b, at]


@inlined
def _may_make(penalty: Any, bits: Any) -> Any:
    return True


@inlined
def _may_make_held(penalty: Any, bits: Any) -> Any:
    tried, made = penalty.made[0], penalty.made[1]
    return tried < TRIED or tried < ONE_IN * made or bits & STILL == 0


@inlined
def _note_made(penalty: Any, done: Any) -> None:
    pass


@inlined
def _note_made_held(penalty: Any, done: Any) -> None:
    penalty.made[0] += 1
    penalty.made[1] += done


@inlined
def _reach(penalty: Any, a: Any, b: Any, limit: Any) -> Any:
    return limit


@inlined
def _reach_held(penalty: Any, a: Any, b: Any, limit: Any) -> Any:
    held = penalty.held[a] + penalty.held[b]
    # at the price HARD nothing is held
    return limit if held <= 0.0 else limit + penalty.price[0] * held


@inlined
def _permits(penalty: Any, groups: Any, mover: Any, b: Any, other: Any, room: Any) -> Any:
    return True


@inner
def _permits_held(penalty: Any, groups: Any, mover: Any, b: Any, other: Any, room: Any) -> Any:
    labels, sizes, members, held = groups.labels, groups.sizes, groups.members, penalty.held
    a, demands, kept = labels[mover], penalty.demands, penalty.kept
    change_b = violation_of(demands, kept[b], members[b], sizes[b], other, mover) - held[b]
    if not penalty.price[0] * (change_b - held[a]) < room:
        return False
    change_a = violation_of(demands, kept[a], members[a], sizes[a], mover, other) - held[a]
    return penalty.price[0] * (change_b + change_a) < room


@inlined
def _hold(penalty: Any, groups: Any, g: Any) -> Any:
    return 0.0


@inner
def _hold_held(penalty: Any, groups: Any, g: Any) -> Any:
    size, before = groups.sizes[g], penalty.held[g]
    members, kept, now = groups.members[g], penalty.kept[g], 0.0
    kept[:] = 0
    count_codes(penalty.demands.codes, penalty.demands.kept_at, members, size, kept)
    if size > 0:
        now = violation_of(penalty.demands, kept, members, size, NOBODY, NOBODY)
    penalty.held[g] = now
    return penalty.price[0] * (now - before)


@inlined
def _hold_all(penalty: Any, groups: Any, of: Any, count: Any) -> Any:
    return 0.0


@inner
def _hold_all_held(penalty: Any, groups: Any, of: Any, count: Any) -> Any:
    total, done = 0.0, np.zeros(groups.sizes.shape[0] if count > MANY else 0, np.bool_)
    for p in range(count):
        fresh = True
        if count > MANY:
            fresh, done[of[p]] = not done[of[p]], True
        else:
            for q in range(p):
                if of[q] == of[p]:
                    fresh = False
                    break
        if fresh:
            total += _hold_held(penalty, groups, of[p])
    return total


def _either(free: str, held: str) -> Callable[..., Any]:
    """One function or the other, callable in kernels alone."""
    of_free, of_held = globals()[free], globals()[held]

    def stub(*_: Any) -> Any:
        raise NotImplementedError

    def chosen(penalty: Any, *_: Any) -> Any:
        # penalty is numba's type of a NamedTuple here, which knows the class
        return (of_free if penalty.instance_class is Free else of_held).py_func

    decorate: Any = overload
    decorate(stub, jit_options=CHOSEN, strict=False)(chosen)
    return stub


number_of = _either("_number", "_number_held")
"""The number by which the chances of a step are drawn: (penalty, step)."""

largest = _either("_largest", "_largest_held")
"""The most records of a group: (penalty, k)."""

partner = _either("_partner", "_partner_held")
"""The member of group b that a record is to change places with: (penalty, groups, b, mover, where
to look first, coin). By the coin it is one of the same sensitive values, if there is one: that
change breaks nothing."""

may_make = _either("_may_make", "_may_make_held")
"""Whether a step that proposes to make a group does so: (penalty, bits). Of some models no group of
the nearest records keeps any, and it would be taken apart again each time."""

note_made = _either("_note_made", "_note_made_held")
"""Notes whether a group came about: (penalty, done)."""

reach = _either("_reach", "_reach_held")
"""What a change of two groups may add to the loss, whatever it does to their violation: (penalty,
a, b, limit)."""

permits = _either("_permits", "_permits_held")
"""Whether a change may be made that leaves so much room below its limit: (penalty, groups, mover,
the group that it joins, the record that takes its place or -1, room)."""

hold = _either("_hold", "_hold_held")
"""Finds the violation of a changed group; what the change costs: (penalty, groups, g)."""

hold_all = _either("_hold_all", "_hold_all_held")
"""The same of several groups, of each once: (penalty, groups, of, count), of whose numbers so many
count."""
