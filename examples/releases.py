"""Six releases of UCI Adult: what an attacker can link, made anew each time and beside a ledger.

    python examples/releases.py               both attackers, both kinds of churn
    python examples/releases.py --quick       3,000 persons, three releases
    python examples/releases.py --out plots   the table as CSV in that folder

The first release has 80 % of the persons. For each later one 4 % of all come, and 1 % of those who
are there leave: at random, or whole neighbourhoods at once. Nobody's data change.

The crowd of a person are those who can't be told from the person by who links all releases: against
presence all who were in the same class in each release where the person was, against absence all
with the same history, absences among it. Both are counted by ledger_check.

The loss is that of the embedding in which Adult is grouped, in percent: squared distances to the
centroid that the class had when it was made, which stays, over those to the centroid of all. Beside
it stands information_loss_released of anonymize_metrics, which measures from the released values.
The exit status is 1 if anybody is in a crowd below k beside a ledger.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import kanon_sql
from kanon_sql.data import adult

QUASI = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass",
)
SENSITIVE = ("occupation", "salary-class")
K = 5
FIRST, COMING, LEAVING = 0.8, 0.04, 0.01
NEIGHBOURHOOD = 30
SEED = 17
HEADROOM = {"presence": 1, "absence": 0}
"""Against absence, room above k saves nobody: k - 1 others are left out beside each who leaves."""

STARTED = time.perf_counter()


@dataclass(frozen=True)
class Line:
    """One release.

    Attributes:
        churn, against: how persons left, and from whom they are kept ('nobody': made anew).
        release: its number.
        persons, shown: how many there are, and are released.
        withheld: the share of the persons in percent that is not, though released before.
        waiting: those who were never released, and aren't now.
        loss, released: in percent, see above; nan where it isn't measured.
        crowd: the smallest crowd so far, by that attacker; made anew, by the first.
        alone, alone_in_history: persons in a crowd of one so far, by each of the two.
    """

    churn: str
    against: str
    release: int
    persons: int
    shown: int
    withheld: float
    waiting: int
    loss: float
    released: float
    crowd: int
    alone: int
    alone_in_history: int


class Embedding:
    """The persons as points: every column has the total variance 1; a category is one-hot."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        found = con.execute(
            f"SELECT {', '.join(map(quoted, QUASI))} FROM everyone ORDER BY id"
        ).fetchnumpy()
        parts: list[Any] = []
        for name in QUASI:
            values = np.asarray(found[name])
            if values.dtype.kind in "iuf":
                parts.append(((values - values.mean()) / values.std())[:, None])
                continue
            _, codes = np.unique(values.astype(str), return_inverse=True)
            shares = np.bincount(codes) / len(codes)
            parts.append(np.eye(len(shares))[codes] / np.sqrt(1.0 - np.sum(shares**2)))
        self.points = np.hstack(parts)
        self.spread = float(np.mean(np.sum((self.points - self.points.mean(axis=0)) ** 2, axis=1)))

    def near(self, person: int, among: Sequence[int], count: int) -> list[int]:
        """The persons nearest to one, the person among them."""
        there = np.array(among)
        apart = np.sum((self.points[there] - self.points[person]) ** 2, axis=1)
        return [int(p) for p in there[np.argsort(apart, kind="stable")[:count]]]

    def loss(self, con: duckdb.DuckDBPyConnection, ledger: str) -> float:
        """What the last release loses: from the centroids that classes had when they were made."""
        found = con.execute(
            f"SELECT release, entity, class FROM {ledger} ORDER BY release, entity"
        ).fetchnumpy()
        release, person, number = (np.asarray(found[n]) for n in ("release", "entity", "class"))
        begun = np.full(int(number.max()) + 1, release.max() + 1)
        np.minimum.at(begun, number, release)
        first = release == begun[number]
        classes, spots = np.unique(number, return_inverse=True)
        sizes = np.bincount(spots[first], minlength=len(classes))
        centroids = np.zeros((len(classes), self.points.shape[1]))
        np.add.at(centroids, spots[first], self.points[person[first]])
        last = release == release.max()
        apart = self.points[person[last]] - (centroids / sizes[:, None])[spots[last]]
        return float(100.0 * np.mean(np.sum(apart**2, axis=1)) / self.spread)


def quoted(name: str) -> str:
    """A name in double quotes."""
    return f'"{name}"'


def tables(everyone: int, releases: int, churn: str, embedding: Embedding) -> Iterator[list[int]]:
    """The persons of each release."""
    random = np.random.default_rng(SEED)
    order = random.permutation(everyone).tolist()
    first = int(FIRST * everyone)
    there, later = order[:first], order[first:]
    yield there
    for _ in range(releases - 1):
        leaving = int(LEAVING * len(there))
        gone: set[int] = set()
        while len(gone) < leaving:
            left = [p for p in there if p not in gone]
            one = left[int(random.integers(len(left)))]
            if churn == "random":
                gone.add(one)
            else:
                gone |= set(embedding.near(one, left, min(NEIGHBOURHOOD, leaving - len(gone))))
        coming = int(COMING * everyone)
        there = [p for p in there if p not in gone] + later[:coming]
        later = later[coming:]
        yield there


def options(against: str | None, ledger: str | None) -> str:
    """The options of every call."""
    given = (
        f"k={K}, entity='id', quasi_identifiers={list(QUASI)}, sensitive={list(SENSITIVE)}, "
        f"effort='balanced', seed={SEED}"
    )
    if against is not None:
        given += f", attacker='knows_{against}', headroom={HEADROOM[against]}"
    return given + (f", ledger='{ledger}'" if ledger else "")


def run(
    con: duckdb.DuckDBPyConnection, churn: str, against: str, releases: int, embedding: Embedding
) -> Iterator[Line]:
    """All releases against one attacker; 'nobody': each made as if there were no others."""
    con.execute("DROP TABLE IF EXISTS releases")
    everyone = len(embedding.points)
    for number, there in enumerate(tables(everyone, releases, churn, embedding), start=1):
        running(f"{churn} churn, against {against}, release {number}")
        persons = ", ".join(f"({p})" for p in there)
        con.execute(
            "CREATE OR REPLACE TABLE patients AS SELECT everyone.* FROM everyone "
            f"JOIN (VALUES {persons}) AS there(id) USING (id)"
        )
        anew = against == "nobody"
        call = options(None if anew else against, None if anew or number == 1 else "releases")
        told: Mapping[str, float] = {}
        if not anew:
            told = dict(con.execute(
                f"SELECT metric, value FROM anonymize_metrics('patients', detail=true, {call})"
            ).fetchall())
        entries = f"FROM anonymize_ledger('patients', {call})"
        if number == 1:
            con.execute(f"CREATE TABLE releases AS {entries}")
        else:
            if anew:
                entries = f"SELECT {number} AS release, * EXCLUDE (release) {entries}"
            con.execute(f"INSERT INTO releases {entries}")
        yield line(con, churn, against, number, len(there), told, embedding)


def line(
    con: duckdb.DuckDBPyConnection, churn: str, against: str, number: int, persons: int,
    told: Mapping[str, float], embedding: Embedding,
) -> Line:
    """What one release shows, and what all so far let an attacker link."""
    ((shown,),) = con.execute(
        "SELECT count(*) FROM releases WHERE release = ?", [number]
    ).fetchall()
    by = "presence" if against == "nobody" else against
    ((crowd, alone, alone_in_history),) = con.execute(
        f"SELECT {by}_anonymity_set_min, presence_persons_below_k, absence_persons_below_k "
        "FROM ledger_check('releases', k := 2)"
    ).fetchall()
    return Line(
        churn, against, number, persons, shown,
        100.0 * told.get("rows_withheld", 0.0) / persons, int(told.get("rows_waiting", 0.0)),
        float("nan") if against == "nobody" else embedding.loss(con, "releases"),
        told.get("information_loss_released", float("nan")), crowd, alone, alone_in_history,
    )


def running(part: str) -> None:
    """Says on stderr what is being computed; stdout holds only results."""
    print(f"[{time.perf_counter() - STARTED:4.0f} s] {part}", file=sys.stderr, flush=True)


def show(*lines: str) -> None:
    """Prints result lines at once."""
    print(*lines, sep="\n", flush=True)


def table(found: Iterator[Line]) -> list[Line]:
    """Prints the lines as they come."""
    show(f"{'churn':10}{'against':10}{'release':>8}{'persons':>9}{'shown':>8}{'withheld':>10}"
         f"{'waiting':>9}{'loss':>7}{'released':>10}{'crowd':>7}{'alone':>8}"
         f"{'in history':>12}")
    lines = []
    for one in found:
        lines.append(one)
        loss, released = (
            "" if np.isnan(value) else f"{value:.2f}" for value in (one.loss, one.released)
        )
        show(f"{one.churn:10}{one.against:10}{one.release:8}{one.persons:9,}{one.shown:8,}"
             f"{one.withheld:9.2f}%{one.waiting:9,}{loss:>7}{released:>10}{one.crowd:7,}"
             f"{one.alone:8,}{one.alone_in_history:12,}")
    return lines


def write(lines: Sequence[Line], folder: Path) -> None:
    """The table as CSV."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "releases-adult.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([field.name for field in fields(Line)])
        writer.writerows(map(astuple, lines))
    show("", f"written: {folder / 'releases-adult.csv'}")


def main(given: Sequence[str] | None = None) -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="3,000 persons, three releases")
    parser.add_argument("--out", type=Path, default=None, metavar="FOLDER", help="for CSV")
    chosen = parser.parse_args(given)
    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")
    con.execute(
        "CREATE TABLE everyone AS SELECT (row_number() OVER () - 1)::INTEGER AS id, * "
        "FROM (SELECT * FROM read_parquet(?) LIMIT ?)",
        [adult(), 3000 if chosen.quick else 1_000_000],
    )
    embedding = Embedding(con)
    show(f"UCI Adult, {len(embedding.points):,} persons, k = {K}. As a call:",
         f"INSERT INTO releases FROM anonymize_ledger('patients', "
         f"{options('presence', 'releases')})", "")
    lines = table(
        one
        for churn in ("random", "clustered")
        for against in ("nobody", "presence", "absence")
        for one in run(con, churn, against, 3 if chosen.quick else 6, embedding)
    )
    if chosen.out is not None:
        write(lines, chosen.out)
    return 0 if all(one.crowd >= K for one in lines if one.against != "nobody") else 1


if __name__ == "__main__":
    sys.exit(main())
