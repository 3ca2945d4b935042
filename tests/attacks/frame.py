"""What all attacks share: the figures of one, and the table of people that they are run on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import duckdb
import numpy as np
import polars as pl
from numpy.typing import NDArray

import kanon_sql
from kanon_sql.data import adult

Connection = duckdb.DuckDBPyConnection
Floats = NDArray[np.float64]

ROWS = 3_000
"""Rows of Adult that the attacks are run on, so that all of them take seconds."""

K = 5
QUASI = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass",
    "occupation",
)
"""What the attackers know of everybody."""

KNOWN = tuple(name for name in QUASI if name != "occupation")
"""What they know where the occupation is what they want to know."""

DEVIATIONS = 3.0
"""Where chance decides a figure, the bound is what chance gives on average and this many standard
deviations: luck that one attack in seven hundred has."""


@dataclass(frozen=True)
class Attack:
    """What an attack finds out.

    Attributes:
        name: how the attack is called.
        counts: what the figures are shares of.
        naive: the figure on a naive release, from 0 to 1.
        ours: the same figure on a release of ours.
        bound: what it may be on ours at most.
        why: why it can't be more.
        promised: whether there is a bound. Else the attack succeeds on ours too, as
            docs/promise.md says, and the bound is 1.
        proven: whether the bound follows from what is promised. Else it is measured, as
            docs/promise.md says.
    """

    name: str
    counts: str
    naive: float
    ours: float
    bound: float
    why: str
    promised: bool = True
    proven: bool = True

    def __post_init__(self) -> None:
        for figure in (self.naive, self.ours, self.bound):
            if not 0 <= figure <= 1:
                raise ValueError(f"{self.name}: {figure} is no share")


@contextmanager
def people(rows: int = ROWS) -> Iterator[Connection]:
    """A connection with the table ``adult``: rows of Adult, each with the number ``person`` by
    which the figures are counted. No attacker is told it."""
    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")
    con.execute(
        "CREATE TABLE adult AS SELECT row_number() OVER () AS person, * FROM read_parquet(?) "
        "LIMIT ?",
        [adult(), rows],
    )
    yield con
    con.close()


def quoted(names: Sequence[str]) -> str:
    """Columns as they stand in SQL, with commas between them."""
    return ", ".join(f'"{name}"' for name in names)


def classes_of(release: pl.DataFrame, columns: Sequence[str] = QUASI) -> pl.Series:
    """The number of the class of each row, by what is released of the quasi-identifiers: an
    attacker needs no column for it."""
    return release.select(pl.struct(list(columns)).rank("dense").alias("class"))["class"]


def strangers(con: Connection) -> pl.DataFrame:
    """As many other rows of Adult as ``people`` has at most: people who are in no release."""
    ((rows,),) = con.execute("SELECT count(*) FROM adult").fetchall()
    others: pl.DataFrame = con.sql(
        "FROM read_parquet(?) LIMIT ? OFFSET ?", params=[adult(), rows, rows]
    ).pl()
    return others


def nearest(
    persons: pl.DataFrame, classes: pl.DataFrame, columns: Sequence[str]
) -> tuple[NDArray[np.int64], Floats]:
    """For each person the class whose published values are nearest, by row, and how far it is:
    numbers over their standard deviation, squared, and 1 for each category that differs.

    Args:
        persons: n rows.
        classes: m rows, what each class publishes.
        columns: those that are compared.
    """
    distances = np.zeros((persons.height, classes.height))
    for name in columns:
        mine, theirs = persons[name], classes[name]
        if mine.dtype.is_numeric():
            apart = mine.to_numpy()[:, None] - theirs.to_numpy()[None, :]
            distances += (apart / float(mine.std())) ** 2  # type: ignore[arg-type]
        else:
            distances += mine.to_numpy()[:, None] != theirs.to_numpy()[None, :]
    return distances.argmin(axis=1).astype(np.int64), distances.min(axis=1)


def by_chance(expected: float, variance: float) -> float:
    """The bound where chance decides: at most 1."""
    return min(1.0, expected + DEVIATIONS * float(np.sqrt(variance)))


def by_odds(chance: float, times: float) -> float:
    """The chance whose odds are so many times those of the one given."""
    return times * chance / (1.0 - chance + times * chance)
