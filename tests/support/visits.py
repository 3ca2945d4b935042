"""Random tables of visits, in which persons have several rows, and what a release of them must be:
told once more in plain Python, from the released rows and a number by which each is known again."""

from __future__ import annotations

import datetime as dt
import random
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa
from hypothesis import strategies as st

from tests.support import tables
from tests.support.tables import KINDS, Column

Connection = duckdb.DuckDBPyConnection
WHO, ILL, VISIT = "whose", "ill", "visit"
"""The entity, a sensitive column, and the number of a row, which passes."""

WHOSE: dict[str, Callable[[int], Any]] = {
    "integer": lambda i: 500 - 7 * i,
    "bigint": lambda i: 2**62 + i,  # one double for all of them
    "hugeint": lambda i: -(2**100) + i,
    "text": lambda i: ("", "a", "A", " a", "NULL", "nan", "it's", "[1]")[i % 8] + "x" * (i // 8),
    "uuid": lambda i: str(uuid.UUID(int=2**127 - 3 * i)),
    "date": lambda i: dt.date(2000, 1, 1) + dt.timedelta(days=i * i % 97 + 97 * i),
    "blob": lambda i: bytes([i % 3]) * (1 + i // 3),
}
"""Types of entities, and the value of the i-th person, one of its own for each."""

MOST_PERSONS = 14


@dataclass(frozen=True)
class Visits:
    """A table of visits, and how to anonymize it.

    Attributes:
        columns: all of it, in the order in which they stand.
        quasi: the names of the quasi-identifiers.
        options: k, method, representation, nulls, seed, entity_rows.
    """

    columns: tuple[Column, ...]
    quasi: tuple[str, ...]
    options: Mapping[str, Any]

    @property
    def together(self) -> bool:
        """Whether a person's rows are to be in one class."""
        return bool(self.options["entity_rows"] == "together")

    def values(self, name: str) -> tuple[Any, ...]:
        """The values of a column."""
        return next(column.values for column in self.columns if column.name == name)

    def call(self, name: str = "anonymize", **more: Any) -> str:
        """The call, with more options."""
        roles = {
            "quasi_identifiers": list(self.quasi), "sensitive": [ILL], "entity": WHO,
            "others": "release",
        }
        return tables.call(name, "t", **{**roles, **self.options, **more})

    def create(self, con: Connection) -> None:
        """Makes the table t; what nobody gives a role passes by its comment."""
        tables.create(con, "t", self.columns)
        con.execute(f"COMMENT ON COLUMN t.{VISIT} IS 'kanon: other'")


@st.composite
def visits(
    draw: st.DrawFn,
    methods: Sequence[str] = tables.METHODS,
    representations: Sequence[str] = tables.REPRESENTATIONS,
    kinds: Sequence[str] = tuple(KINDS),
    most_persons: int = MOST_PERSONS,
    readings: Sequence[str] = ("together", "together", "apart"),
) -> Visits:
    """Tables of 1 to ``most_persons`` persons with 1 to 5 rows each. A column is the same in all
    rows of a person, or differs in some, or in any."""
    persons = draw(st.integers(1, most_persons))
    dice = random.Random(draw(st.integers(0, 2**16)))
    often = draw(st.sampled_from(((1,), (1, 1, 2), (1, 2, 3, 5), (2,))))
    owners = [i for i in range(persons) for _ in range(dice.choice(often))]
    dice.shuffle(owners)
    who = draw(st.sampled_from(tuple(WHOSE)))
    columns = [
        Column(WHO, who, tuple(WHOSE[who](i) for i in owners)),
        Column(VISIT, "integer", tuple(range(len(owners)))),
    ]
    width = draw(st.integers(1, 3))
    names = [*draw(st.permutations(tables.NAMES))[:width], ILL]
    for name in names:
        kind = "text" if name == ILL else draw(st.sampled_from(kinds))
        pool = draw(st.lists(KINDS[kind].values, min_size=1, max_size=6))
        if draw(st.sampled_from((False, False, True))):
            pool += [None] * draw(st.integers(1, 3))
        own = [dice.choice(pool) for _ in range(persons)]
        differs = draw(st.sampled_from((0.0, 0.0, 0.3, 1.0)))
        columns.append(Column(name, kind, tuple(
            dice.choice(pool) if dice.random() < differs else own[i] for i in owners
        )))
    options = {
        "k": draw(st.integers(1, 4)),
        "method": draw(st.sampled_from(methods)),
        "representation": draw(st.sampled_from(representations)),
        "nulls": draw(st.sampled_from(("value", "value", "suppress"))),
        "seed": draw(st.sampled_from((0, 1, 12345))),
        "entity_rows": draw(st.sampled_from(readings)),
    }
    return Visits(tuple(draw(st.permutations(columns))), tuple(names[:-1]), options)


# --- what must be --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Crowds:
    """Who is in the classes of a table.

    Attributes:
        rows_of: by class, how many rows each person has there.
    """

    rows_of: Mapping[Hashable, Counter[Any]]

    @staticmethod
    def of(classes: Sequence[Hashable], whose: Sequence[Any]) -> Crowds:
        """Of the class and the person of each row."""
        found: dict[Hashable, Counter[Any]] = defaultdict(Counter)
        for each, person in zip(classes, whose, strict=True):
            found[each][person] += 1
        return Crowds(found)

    @property
    def persons(self) -> int:
        """The persons of the smallest class."""
        return min(map(len, self.rows_of.values()))

    @property
    def apart(self) -> int:
        """The largest k for which nobody has more than one k-th of a class."""
        return min(own.total() // max(own.values()) for own in self.rows_of.values())

    @property
    def places(self) -> Counter[Any]:
        """In how many classes each person is."""
        return Counter(person for own in self.rows_of.values() for person in own)


def classes_of(table: pa.Table, names: Sequence[str]) -> list[Hashable]:
    """The class of each released row: what GROUP BY over these columns sees."""
    columns = [[tables.alike(value) for value in table[name].to_pylist()] for name in names]
    return list(zip(*columns, strict=True))


def kept(case: Visits) -> list[int]:
    """The rows that take part, by their numbers."""
    rows = range(len(case.values(VISIT)))
    if case.options["nulls"] != "suppress":
        return list(rows)
    return [i for i in rows if not any(
        tables.is_missing(case.values(name)[i]) for name in case.quasi
    )]


def refusal(case: Visits) -> str | None:
    """What the error must say; None where there is a release."""
    k, rows = case.options["k"], kept(case)
    own = Counter(case.values(WHO)[i] for i in rows)
    if not rows:
        return "There are no rows to anonymize"
    if case.together:
        return f"There are {len(own)} persons to anonymize, fewer than k = {k}" * (len(own) < k)
    if len(rows) < k:
        return f"There are {len(rows)} rows to anonymize, fewer than k = {k}"
    return "entity_rows" * (max(own.values()) * k > len(rows))
