"""Greedy k-member clustering and the nearest baseline once more: slow, in plain Python.

Written from byun2006 (figure 8, sections 5.1, 5.2 and 6); shares nothing with the compiled kernels,
so that a test can hold one against the other. Where the paper leaves a choice open, it is fixed
here:

- every tie (nearest, furthest, best record) goes to the lowest record, the best cluster to the one
  made first;
- "a randomly picked record" is the next one in an order that is given;
- the increase of the loss, (s+1) D(c + r) - s D(c), is compared without its second term where
  only r varies;
- a label is the majority label of a cluster if no other is more frequent; several may be;
- a cluster that is not yet diverse penalizes the records with the value that all its members have
  (which the text of section 5.1 says; the printed pseudo-code penalizes the others);
- penalties count where a record is chosen, not where leftovers choose a cluster;
- sums of floats run over the columns in their order, numeric ones first, one addition at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

Cluster = list[int]


@dataclass(frozen=True)
class LossRecords:
    """n records in canonical order, each known by its index; see LossPoints."""

    numeric: Sequence[Sequence[float]]
    codes: Sequence[Sequence[int]]
    cap: Sequence[float]
    scale: Sequence[float]
    limit: Sequence[int]
    label: Sequence[int]
    secret: Sequence[int]
    grave: Sequence[bool]

    def __len__(self) -> int:
        return len(self.numeric)


@dataclass(frozen=True)
class Variant:
    """Which algorithm: penalties are added where they are given."""

    start: str = "last"
    class_penalty: float | None = None
    diversity: str | None = None
    diversity_penalty: float = 0.0
    order: Sequence[int] = field(default=())


def class_loss(records: LossRecords, members: Sequence[int]) -> float:
    """D(e): what a class of these records loses (definition 7)."""
    total = 0.0
    for a, cap in enumerate(records.cap):
        values = [records.numeric[i][a] for i in members]
        total += min(max(values) - min(values), cap)
    for a, scale in enumerate(records.scale):
        distinct = len({records.codes[i][a] for i in members})
        total += scale * min(distinct - 1, records.limit[a])
    return total


def total_loss(records: LossRecords, clusters: Sequence[Cluster]) -> float:
    """Total-IL (definition 8)."""
    total = 0.0
    for members in clusters:
        total += len(members) * class_loss(records, members)
    return total


def furthest(records: LossRecords, left: set[int], i: int) -> int:
    """The record left that is furthest from record i (definition 6)."""
    return min(left, key=lambda r: (-class_loss(records, [i, r]), r))


def class_due(records: LossRecords, members: Cluster, r: int, variant: Variant) -> float:
    """The penalty of section 5.2."""
    if variant.class_penalty is None:
        return 0.0
    counts = Counter(records.label[i] for i in members)
    if counts[records.label[r]] == max(counts.values()):
        return 0.0
    return variant.class_penalty


def diversity_due(records: LossRecords, members: Cluster, r: int, variant: Variant) -> float:
    """The penalty of section 5.1."""
    values = {records.secret[i] for i in members}
    if variant.diversity is None or len(values) > 1 or records.secret[r] not in values:
        return 0.0
    if variant.diversity == "sensitive" and not records.grave[records.secret[r]]:
        return 0.0
    return variant.diversity_penalty


def find_best_record(
    records: LossRecords, left: set[int], members: Cluster, variant: Variant
) -> int:
    """The record left whose joining costs least."""

    def value(r: int) -> float:
        loss = (len(members) + 1) * class_loss(records, [*members, r])
        due = class_due(records, members, r, variant)
        return loss + due + diversity_due(records, members, r, variant)

    return min(left, key=lambda r: (value(r), r))


def find_best_cluster(records: LossRecords, clusters: Sequence[Cluster], r: int) -> int:
    """The cluster whose loss grows least with record r."""

    def growth(g: int) -> float:
        members = clusters[g]
        size = len(members)
        grown = (size + 1) * class_loss(records, [*members, r])
        return grown - size * class_loss(records, members)

    return min(range(len(clusters)), key=lambda g: (growth(g), g))


def place_leftovers(
    records: LossRecords, left: set[int], clusters: list[Cluster], order: Sequence[int]
) -> None:
    """Lines 18 to 23 of figure 8."""
    for r in order:
        if r in left:
            clusters[find_best_cluster(records, clusters, r)].append(r)


def k_member(records: LossRecords, k: int, variant: Variant) -> list[Cluster]:
    """Figure 8."""
    left, clusters = set(range(len(records))), []
    if len(left) <= k:
        return [sorted(left)]
    r = variant.order[0]
    while len(left) >= k:
        r = furthest(records, left, r)
        left.remove(r)
        members = [r]
        while len(members) < k:
            r = find_best_record(records, left, members, variant)
            left.remove(r)
            members.append(r)
        clusters.append(members)
        if variant.start == "seed":
            r = members[0]
    place_leftovers(records, left, clusters, variant.order)
    return clusters


def nearest(records: LossRecords, k: int, order: Sequence[int]) -> list[Cluster]:
    """The baseline of section 6: a record and the k-1 left that are nearest to it."""
    left, clusters = set(range(len(records))), []
    if len(left) <= k:
        return [sorted(left)]
    for start in order:
        if start in left and len(left) >= k:
            left.remove(start)
            ranked = sorted(left, key=lambda r: (class_loss(records, [start, r]), r))
            clusters.append([start, *ranked[: k - 1]])
            left -= set(clusters[-1])
    place_leftovers(records, left, clusters, order)
    return clusters


def optimal_loss(records: LossRecords, k: int) -> float:
    """The least Total-IL of any grouping in groups of k or more, by trying all of them."""

    def best(rest: tuple[int, ...], clusters: list[Cluster]) -> float:
        if not rest:
            whole = all(len(members) >= k for members in clusters)
            return total_loss(records, clusters) if whole else float("inf")
        first, others = rest[0], rest[1:]
        found = best(others, [*clusters, [first]])
        for g in range(len(clusters)):
            more = [[*m, first] if h == g else m for h, m in enumerate(clusters)]
            found = min(found, best(others, more))
        return found

    return best(tuple(range(len(records))), [])
