"""gps_rectangles once more: slow, in plain Python, a recursion over lists of sites.

It follows du2009, section 3.2, with the rule by which
kanon_sql.methods.single_attribute.gps_rectangles chooses a cut. Numbers of records are compared as
fractions. It shares nothing with the compiled kernel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

Interval = tuple[float, float]
Box = tuple[Interval, Interval]


class Site(NamedTuple):
    place: tuple[float, float]
    size: int
    name: int


class Leaf(NamedTuple):
    sites: list[int]
    cell: Box


class Cut(NamedTuple):
    axis: int
    below: float
    above: float


def records(sites: Sequence[Site]) -> int:
    return sum(site.size for site in sites)


def feasible_cuts(sites: Sequence[Site], k: int) -> list[Cut]:
    """All cuts that leave k records or more on either side."""
    found = []
    for axis in (0, 1):
        coordinates = sorted({site.place[axis] for site in sites})
        for below, above in pairwise(coordinates):
            cut = Cut(axis, below, above)
            if min(map(records, halves(sites, cut))) >= k:
                found.append(cut)
    return found


def halves(sites: Sequence[Site], cut: Cut) -> tuple[list[Site], list[Site]]:
    """The sites on the two sides of a cut."""
    return (
        [site for site in sites if site.place[cut.axis] <= cut.below],
        [site for site in sites if site.place[cut.axis] >= cut.above],
    )


def spread(sites: Sequence[Site], axis: int) -> float:
    coordinates = [site.place[axis] for site in sites]
    return max(coordinates) - min(coordinates)


def chosen_cut(sites: Sequence[Site], k: int, aim: int, aspect: float) -> Cut | None:
    """The cut of a node, by the rule; None for a leaf."""
    cuts = feasible_cuts(sites, k)
    if not cuts:
        return None

    def classes(cut: Cut) -> int:
        left, right = map(records, halves(sites, cut))
        return max(left // aim, 1) + max(right // aim, 1)

    most = max(map(classes, cuts))
    cuts = [cut for cut in cuts if classes(cut) == most]
    wider = 0 if aspect * spread(sites, 0) >= spread(sites, 1) else 1
    cuts = [cut for cut in cuts if cut.axis == wider] or cuts

    def off(cut: Cut) -> Fraction:
        left = records(halves(sites, cut)[0])
        return min(
            abs(left - Fraction(records(sites) * half, most))
            for half in (most // 2, most - most // 2)
        )

    return min(cuts, key=lambda cut: (off(cut), cut.below))


def middle(below: float, above: float) -> float:
    """Where a cut is drawn: below < it <= above."""
    cut = 0.5 * below + 0.5 * above
    return cut if cut > below else above


def leaves(sites: Sequence[Site], k: int, aim: int, aspect: float, cell: Box) -> list[Leaf]:
    """The leaves of the k-d tree, the lower side of each cut first."""
    cut = chosen_cut(sites, k, aim, aspect)
    if cut is None:
        return [Leaf(sorted(site.name for site in sites), cell)]
    lower, upper = halves(sites, cut)
    at = middle(cut.below, cut.above)
    (low, high), other = cell[cut.axis], cell[1 - cut.axis]
    near, far = (low, at), (at, high)
    cells = ((near, other), (far, other)) if cut.axis == 0 else ((other, near), (other, far))
    return leaves(lower, k, aim, aspect, cells[0]) + leaves(upper, k, aim, aspect, cells[1])


def rectangles(
    places: Sequence[tuple[float, float]], sizes: Sequence[int], k: int,
    aspect: float = 1.0, extent: Box | None = None,
) -> list[Leaf]:
    """The groups of sites and their cells."""
    sites = [Site(*given) for given in zip(places, sizes, range(len(sizes)), strict=True)]
    if extent is None:
        columns = list(zip(*places, strict=True))
        extent = ((min(columns[0]), max(columns[0])), (min(columns[1]), max(columns[1])))
    total = records(sites)
    lower_bound = max(k, *sizes, math.ceil(Fraction(total, total // k)))
    trees = []
    for aim in sorted({k, *(k + k // part for part in (4, 8, 16, 32, 64))}):
        tree = leaves(sites, k, aim, aspect, extent)
        classes = [sum(sizes[name] for name in leaf.sites) for leaf in tree]
        trees.append((max(classes), sum(size**2 for size in classes), aim, tree))
        if max(classes) == lower_bound and len(classes) == total // k:
            break
    return min(trees, key=lambda found: found[:3])[3]
