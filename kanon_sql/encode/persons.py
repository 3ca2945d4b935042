"""Rows to persons: one record for all rows of a person, which are grouped as one.

What a person's rows have becomes one cell for each column: the mean of numbers, the most frequent
of categories. So every method sees persons where it would see rows, and its classes are classes of
persons; all rows of a person get the label of the person.

Nothing here depends on the order of the rows: sums run over sorted values, and of equally frequent
values the first in the order of texts is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from kanon_sql.encode.arrow import HASHES, CellColumns, Rows
from kanon_sql.errors import DataError
from kanon_sql.names import caseless
from kanon_sql.points.content_order import Bits, mixed
from kanon_sql.points.points import Floats, Labels, Points
from kanon_sql.points.sensitive import refuse_strangers

COUNTED = re.compile(r"""((?<!\w)'(?:[^'\\]|\\.)*'|(?<!\w)"(?:[^"\\]|\\.)*")|\brow(s?)\b""")
"""A name in quotes, or the word for what methods group."""


@contextmanager
def of_persons(persons: object) -> Iterator[None]:
    """What is refused meanwhile is said of persons, unless there are none: below, they are the
    records, and a method knows of none that are not rows."""
    try:
        yield
    except DataError as refusal:
        if persons is None:
            raise
        said = COUNTED.sub(
            lambda match: match[1] if match[1] else "person" + match[2], str(refusal)
        )
        raise DataError(said) from None


@dataclass(frozen=True)
class Persons:
    """The persons of rows.

    Attributes:
        rows: m of them as if each were a row: the field row is its number 0 .. m-1.
        of_row: int64, shape (n,); the person of each row.
        numbers: int64, shape (n,); the number of each row.
        shown: int64, shape (m,); the number of the row that stands for each person where a row is
            published.
    """

    rows: Rows
    of_row: Labels
    numbers: Labels
    shown: Labels

    @property
    def alone(self) -> bool:
        """Whether each person has one row."""
        return len(self.shown) == len(self.of_row)


def persons_of(
    rows: Rows, entity: str, whole_rows: bool, of_row: Labels | None = None
) -> Persons:
    """The persons of rows.

    Args:
        rows: n rows, as kanon_sql.encode.encoding.encode takes them; the last column of the field
            secrets says whose row each is.
        entity: its name.
        whole_rows: whether the cells of a person are those of one of its rows, the most frequent
            ones together, as methods need that look at whole values.
        of_row: int64, shape (n,); the person of each row, as of ``whose``, where it is known.

    Raises:
        DataError: a row of nobody.
    """
    secrets: CellColumns = rows.fields["secrets"]
    last = max(secrets.words)
    of_row = whose(rows, last) if of_row is None else of_row
    refuse_strangers(entity, int(np.sum(of_row < 0)))
    people = _People(of_row)
    cells: CellColumns = rows.fields["cells"]
    spots = people.spots_of_most(cells.words) if whole_rows else None
    fields: dict[str, Any] = {"row": np.arange(people.count)}
    for name in HASHES:
        if name in rows:
            fields[name] = people.sums_of_hashes(rows.numbers(name))
    if spots is not None:
        fields["cells"] = CellColumns(
            {j: values[spots] for j, values in cells.numbers.items()},
            {j: words.take(pa.array(spots)) for j, words in cells.words.items()},
        )
    else:
        fields["cells"] = CellColumns(
            {j: people.means(values) for j, values in cells.numbers.items()},
            {j: people.most_frequent(words) for j, words in cells.words.items()},
        )
    if "label" in rows:
        fields["label"] = people.most_frequent(rows.fields["label"])
    if "extra" in rows:
        extra = rows.numbers("extra").astype(np.float64)
        fields["extra"] = people.means(extra) if spots is None else extra[spots]
    if last > 0:
        words = {j: people.only(secrets.words[j]) for j in range(last)}
        fields["secrets"] = CellColumns({
            j: np.where(words[j].is_valid().to_numpy(zero_copy_only=False),
                        people.means(values), np.nan)
            for j, values in secrets.numbers.items() if j < last
        }, words)
    # by what says nothing of who it is first
    first = people.first([rows.numbers(name) for name in reversed(HASHES) if name in rows])
    numbers = rows.numbers("row")
    return Persons(Rows(fields, people.count), of_row, numbers, numbers[first])


def whose(rows: Rows, spot: int) -> Labels:
    """The person of each row, -1 where nobody is named: int64, shape (n,).

    Args:
        rows: n rows.
        spot: which column of their field secrets says it.
    """
    secrets: CellColumns = rows.fields["secrets"]
    return _codes(secrets.words[spot])[1]


def several_values(words: pa.Array, of_row: Labels) -> int:
    """How many persons have rows with different values.

    Args:
        words: of length n; the values, NULL where missing.
        of_row: int64, shape (n,), 0 .. m-1; the person of each row.
    """
    return int(np.sum(_People(of_row).differ(_codes(words)[1])))


def numbered_anew(points: Points, entity: str) -> Points:
    """The points, the persons among them numbered in the order in which they come: by nothing that
    they are called.

    Args:
        points: n records in canonical order.
        entity: the one of their sensitive columns that says whose row each is.
    """
    names = [caseless(column.name) for column in points.sensitive_columns]
    spot = names.index(caseless(entity))
    codes, values = points.sensitive[:, spot], points.sensitive_columns[spot].values
    known, first = np.unique(codes, return_index=True)
    among = known < values  # a missing one keeps its code
    number = np.arange(values + 1)
    number[known[among][np.argsort(first[among])]] = np.arange(np.sum(among))
    sensitive = points.sensitive.copy()
    sensitive[:, spot] = number[codes]
    return replace(points, sensitive=sensitive)


def _codes(words: pa.Array) -> tuple[pa.Array, Labels, int]:
    """The distinct texts, sorted; the place of each value among them, -1 for a missing one: int64,
    shape (n,); how many they are."""
    encoded = words if isinstance(words, pa.DictionaryArray) else words.dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    order = sorted(range(len(texts)), key=texts.__getitem__)
    places = np.empty(len(texts) + 1, np.int64)
    places[order] = np.arange(len(texts))
    places[-1] = -1
    spots = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    known = pa.array([texts[spot] for spot in order], pa.string())
    return known, places[spots], len(texts)


class _People:
    """Rows by person.

    Attributes:
        count: the number of persons.
    """

    def __init__(self, of_row: Labels) -> None:
        """Of_row: int64, shape (n,), 0 .. count-1; the person of each row."""
        self._of_row = of_row
        self._sizes = np.bincount(of_row)
        self.count = len(self._sizes)
        self._starts = np.cumsum(self._sizes) - self._sizes

    def _sorted(self, values: Any) -> Labels:
        """The rows by person, and those of a person by value."""
        return np.lexsort((values, self._of_row))

    def first(self, values: Sequence[Any]) -> Labels:
        """The row of each person with the least values, by the last ones first: int64, shape
        (count,)."""
        return np.asarray(np.lexsort((*values, self._of_row))[self._starts])

    def sums_of_hashes(self, hashes: Bits) -> Bits:
        """A hash of the set of hashes of each person: uint64, shape (count,)."""
        order = self._sorted(hashes)
        return mixed(np.add.reduceat(mixed(hashes[order]), self._starts))

    def means(self, values: Floats) -> Floats:
        """The mean of each person, exactly the value where its rows agree; NaN where more rows lack
        one than have one: float64, shape (count,)."""
        ordered = values[self._sorted(values)]  # NaN last
        missing = np.isnan(ordered)
        known = self._sizes - np.add.reduceat(missing, self._starts, dtype=np.int64)
        with np.errstate(all="ignore"):
            mean = np.add.reduceat(np.where(missing, 0.0, ordered), self._starts) / known
        low, high = ordered[self._starts], ordered[self._starts + np.maximum(known, 1) - 1]
        mean = np.where(low == high, low, mean)
        # an infinite value is refused later, and must not be lost before
        mean = np.where(np.isinf(high), high, np.where(np.isinf(low), low, mean))
        return np.where(2 * known < self._sizes, np.nan, mean)

    def most_frequent(self, words: pa.Array) -> pa.Array:
        """The most frequent value of each person, the first text of equally frequent ones; a
        missing value is one, the last."""
        known, codes, many = _codes(words)
        codes = np.where(codes < 0, many, codes)
        return known.take(pa.array(codes[self._spots(codes)], mask=self._lacks(codes, many)))

    def _lacks(self, codes: Labels, many: int) -> Any:
        return codes[self._spots(codes)] == many

    def _spots(self, codes: Labels) -> Labels:
        """A row of each person with its most frequent code, the least of equally frequent ones."""
        order = self._sorted(codes)
        people, values = self._of_row[order], codes[order]
        fresh = np.append(True, (people[1:] != people[:-1]) | (values[1:] != values[:-1]))
        starts = np.flatnonzero(fresh)
        often = np.diff(np.append(starts, len(order)))
        best = np.lexsort((values[starts], -often, people[starts]))
        owners = people[starts][best]
        firsts = np.flatnonzero(np.append(True, owners[1:] != owners[:-1]))
        return np.asarray(order[starts[best[firsts]]])

    def spots_of_most(self, columns: Mapping[int, pa.Array]) -> Labels:
        """A row of each person whose values, of all columns together, are its most frequent."""
        combined = np.zeros(len(self._of_row), np.int64)
        for words in columns.values():
            _, codes, many = _codes(words)
            codes = np.where(codes < 0, many, codes)
            # numbered anew after each column, so that no product grows too large
            combined = np.unique(combined * (many + 1) + codes, return_inverse=True)[1].reshape(-1)
        return self._spots(combined)

    def only(self, words: pa.Array) -> pa.Array:
        """The value of each person whose rows agree; missing where they don't."""
        known, codes, _ = _codes(words)
        low = codes[self._sorted(codes)][self._starts]
        return known.take(pa.array(low, mask=self.differ(codes) | (low < 0)))

    def differ(self, codes: Labels) -> Any:
        """Whether rows of each person have different codes: bool, shape (count,)."""
        ordered = codes[self._sorted(codes)]
        return ordered[self._starts] != ordered[self._starts + self._sizes - 1]
