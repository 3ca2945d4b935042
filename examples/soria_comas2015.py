"""Soria-Comas et al. (2015): three algorithms for t-closeness, on the CENSUS reference set.

    python examples/soria_comas2015.py     what they lose for k = 5, in half a minute

Jordi Soria-Comas, Josep Domingo-Ferrer, David Sanchez and Sergio Martinez. t-Closeness through
Microaggregation: Strict Privacy with Enhanced Utility Preservation. IEEE TKDE 27(11), 2015.

Algorithms 1 to 3 are written out from the description, to be read rather than to be fast; nothing
of kanon_sql is in them. Quasi-identifiers are TAXINC and POTHVAL, standardized, confidential is
FEDTAX or FICA (the roles of the experiment, as far as is known here), and the distance of
confidential values is the ordered one. Where the description leaves a choice, ties above all, it
goes to the record that is first by its content. Algorithms 2 and 3 are followed by the merging of
algorithm 1 where a cluster is still too far. See closeness.py for ours beside them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

CENSUS = Path(__file__).resolve().parent.parent / "tests" / "data" / "census.parquet"
QUASI = ("TAXINC", "POTHVAL")
CONFIDENTIAL = ("FEDTAX", "FICA")
TS = (0.05, 0.09, 0.13, 0.17, 0.25)
SURE = 1e-12  # distances are sums of doubles: what is that near to t is equal to it

Numbers = npt.NDArray[np.float64]
Members = npt.NDArray[np.int64]
Clusters = list[Members]


@dataclass(frozen=True)
class Records:
    """Rows in an order by content.

    Attributes:
        places: float64, shape (n, d); the quasi-identifiers, standardized.
        rank: int64, shape (n,); of each confidential value among the distinct ones.
    """

    places: Numbers
    rank: Members

    def __len__(self) -> int:
        return len(self.rank)

    @property
    def values(self) -> int:
        """How many distinct confidential values there are."""
        return int(self.rank.max()) + 1

    def below(self, members: Members) -> Numbers:
        """The shares of the confidential values up to each one: float64, shape (values,)."""
        return np.cumsum(np.bincount(self.rank[members], minlength=self.values)) / len(members)

    def off(self, members: Members) -> Numbers:
        """These shares less those of all rows."""
        return self.below(members) - self.below(np.arange(len(self)))

    def distance(self, members: Members) -> float:
        """The ordered earth mover's distance between some rows and all of them."""
        return float(self.moved(self.off(members)))

    def moved(self, off: Numbers) -> Any:
        """The distances that differences of shares mean, the last axis being the values."""
        return np.abs(off[..., :-1]).sum(axis=-1) / max(self.values - 1, 1)

    def gaps(self, members: Members, place: Any) -> Numbers:
        """The squared distances of some rows from a place."""
        return np.asarray(((self.places[members] - place) ** 2).sum(axis=1))

    def nearest(self, members: Members, record: int) -> Members:
        """These rows, the nearest to a record first."""
        return members[np.argsort(self.gaps(members, self.places[record]), kind="stable")]

    def furthest(self, members: Members, place: Any) -> int:
        """The one of these rows that is furthest from a place."""
        return int(members[np.argmax(self.gaps(members, place))])

    def loss(self, clusters: Clusters) -> float:
        """The squared error within the clusters, in percent of that of all rows as one."""
        within = sum(self.gaps(each, self.places[each].mean(axis=0)).sum() for each in clusters)
        return float(100.0 * within / self.gaps(np.arange(len(self)), 0.0).sum())


def by_turns(
    records: Records, left: Callable[[], Members], take: Callable[[int], None], until: int = 1
) -> None:
    """Takes a cluster around the record furthest from the mean of those that are left, then one
    around the record furthest from that, and so on while there are ``until`` records."""
    while len(left()) >= until:
        first = records.furthest(left(), records.places[left()].mean(axis=0))
        take(first)
        if len(left()):
            take(records.furthest(left(), records.places[first]))


def microaggregated(records: Records, k: int) -> Clusters:
    """MDAV (Domingo-Ferrer and Torra 2005): clusters of k, the last one of k to 2k - 1."""
    clusters: Clusters = []
    left = np.arange(len(records))

    def take(record: int) -> None:
        nonlocal left
        clusters.append(records.nearest(left, record)[:k])
        left = np.setdiff1d(left, clusters[-1])

    by_turns(records, lambda: left, take, 3 * k)
    if len(left) >= 2 * k:
        take(records.furthest(left, records.places[left].mean(axis=0)))
    return [*clusters, left]


def merged(records: Records, clusters: Clusters, t: float) -> Clusters:
    """Algorithm 1: the cluster that is furthest from the table in its confidential values is merged
    with the one that is nearest to it in its quasi-identifiers, while any is further than t."""
    clusters = list(clusters)
    distances = [records.distance(each) for each in clusters]
    while max(distances) > t + SURE:
        worst = int(np.argmax(distances))
        means = np.array([records.places[each].mean(axis=0) for each in clusters])
        gaps = ((means - means[worst]) ** 2).sum(axis=1)
        gaps[worst] = np.inf
        other = int(np.argmin(gaps))
        union = np.concatenate([clusters[worst], clusters[other]])
        for place in sorted((worst, other), reverse=True):
            del clusters[place], distances[place]
        clusters.append(union)
        distances.append(records.distance(union))
    return clusters


def exchanged(records: Records, nearest: Members, k: int, t: float) -> Members:
    """The first k of these records, of which one after the other is exchanged for the next nearest
    as long as the cluster is further than t from the table: for each, the one whose exchange brings
    the cluster nearest, if any does."""
    cluster: Members = nearest[:k].copy()
    off = records.off(cluster)
    distance, values = float(records.moved(off)), np.arange(records.values)
    for record in nearest[k:]:
        if distance <= t + SURE:
            break
        # one row of differences for each member that could go
        comes = (values >= records.rank[record]) / k
        goes = (values >= records.rank[cluster][:, None]) / k
        each = records.moved(off + comes - goes)
        best = int(np.argmin(each))
        if each[best] < distance - SURE:
            off, distance = off + comes - goes[best], float(each[best])
            cluster[best] = record
    return cluster


def k_first(records: Records, k: int, t: float) -> Clusters:
    """Algorithm 2: clusters of k, of which each exchanges records until it is near enough."""
    clusters: Clusters = []
    left = np.arange(len(records))

    def take(record: int) -> None:
        nonlocal left
        nearest = records.nearest(left, record)
        clusters.append(
            nearest if len(left) < 2 * k else exchanged(records, nearest, k, t)
        )
        left = np.setdiff1d(left, clusters[-1])

    by_turns(records, lambda: left, take)
    return clusters


def t_first(records: Records, k: int, t: float) -> Clusters:
    """Algorithm 3: the table is cut into slices of its confidential values, and every cluster has
    the nearest record of each. As many slices as the bound of the paper asks for, so that each
    cluster is near enough where no two confidential values are equal."""
    n = len(records)
    k = max(k, int(np.ceil(n / (2.0 * (n - 1) * t + 1.0) - SURE)))
    k += n % k // (n // k)
    sizes, extra = np.full(k, n // k), n % k
    # what is left over goes to the slices in the middle, where it does least harm
    sizes[(k - 1) // 2] += extra if k % 2 else extra // 2
    sizes[k // 2] += 0 if k % 2 else extra - extra // 2
    slices = np.split(np.argsort(records.rank, kind="stable"), np.cumsum(sizes)[:-1])
    clusters: Clusters = []

    def pick(place: int, record: int) -> int:
        nearest = records.nearest(np.sort(slices[place]), record)[0]
        slices[place] = np.setdiff1d(slices[place], nearest)
        return int(nearest)

    def take(record: int) -> None:
        lengths = [len(each) for each in slices]
        cluster = [pick(place, record) for place in range(k)]
        if max(lengths) > min(lengths):
            cluster.append(pick(int(np.argmax(lengths)), record))
        clusters.append(np.array(cluster, dtype=np.int64))

    by_turns(records, lambda: np.sort(np.concatenate(slices)), take)
    return clusters


ALGORITHMS: Mapping[str, Callable[[Records, int, float], Clusters]] = {
    "algorithm 1": lambda records, k, t: merged(records, microaggregated(records, k), t),
    "algorithm 2": lambda records, k, t: merged(records, k_first(records, k, t), t),
    "algorithm 3": lambda records, k, t: merged(records, t_first(records, k, t), t),
}


def census(confidential: str) -> Records:
    """The rows of CENSUS."""
    names = ", ".join((*QUASI, confidential))
    found = duckdb.connect().execute(
        f"SELECT {names} FROM read_parquet(?) ORDER BY ALL", [str(CENSUS)]
    ).fetchnumpy()
    places = np.column_stack([found[name] for name in QUASI]).astype(np.float64)
    rank = np.unique(found[confidential], return_inverse=True)[1].astype(np.int64)
    return Records((places - places.mean(axis=0)) / places.std(axis=0), rank)


def main() -> None:
    """The losses for k = 5, in percent."""
    print(f"{'information loss in percent, k = 5':36}" + "".join(f"{t:>10}" for t in TS))
    for confidential in CONFIDENTIAL:
        records, started = census(confidential), time.process_time()
        for name, algorithm in ALGORITHMS.items():
            losses = [records.loss(algorithm(records, 5, t)) for t in TS]
            row = "".join(f"{loss:10.2f}" for loss in losses)
            print(f"{f'{confidential}, {name}':36}{row}", flush=True)
        print(f"{f'{time.process_time() - started:.0f} s of processor time':>36}", flush=True)


if __name__ == "__main__":
    main()
