"""The user's own queries, on the source and on the release."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

from kanon_sql.errors import KanonError, OptionError
from kanon_sql.reporting.facts import Answer, UserQuery

PLACE = "{table}"
LINES = 20
"""The most lines of an answer that are shown."""

BANDS = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""What an error is told to be not above: told in full, it would give the source's number away."""

ADVICE = "for example {'mean age by sex': 'SELECT sex, avg(age) FROM {table} GROUP BY sex'}"

Rows = tuple[Sequence[str], Sequence[Sequence[Any]]]
"""The columns of an answer, and its rows."""


def read_queries(queries: Any) -> dict[str, str]:
    """The queries by their names; those of a list are counted.

    Raises:
        OptionError: what is given isn't that.
    """
    if queries is None:
        return {}
    if isinstance(queries, (list, tuple)):
        queries = {f"Query {number}": text for number, text in enumerate(queries, start=1)}
    if not isinstance(queries, Mapping) or not all(
        isinstance(text, str) for pair in queries.items() for text in pair
    ):
        raise OptionError(
            f"queries has a value that is not an SQL string. Give them by name, {ADVICE}."
        )
    for name, text in queries.items():
        if PLACE not in text:
            raise OptionError(
                f"The query {name!r} doesn't say where the table goes. Write {PLACE} for it, "
                f"{ADVICE}."
            )
    return {name: text.strip().rstrip(";") for name, text in queries.items()}


def answered(
    name: str, sql: str, ask: Callable[[str], Rows], source: str, release: str, exact: bool
) -> UserQuery:
    """What source and release answer to one query.

    Args:
        name, sql: the query.
        ask: runs a query.
        source, release: the two as they stand in FROM.
        exact: whether numbers of the source are shown.
    """
    try:
        (columns, before), (others, after) = (
            ask(sql.replace(PLACE, table)) for table in (source, release)
        )
    except KanonError as refusal:
        return UserQuery(name, sql, refused=str(refusal))
    if [*columns] != [*others]:
        return UserQuery(name, sql,
                         refused="The results of source and release have different columns.")
    keys = _keys(columns, before, after)
    numbers = [i for i in range(len(columns)) if i not in keys]
    if not numbers:
        return UserQuery(name, sql,
                         refused="The result has no numbers. Select one, such as a mean.")
    old, new = (_by_key(rows, keys) for rows in (before, after))
    if old is None or new is None:
        return UserQuery(
            name, sql,
            refused="Several lines of the result have the same key. Group the rows, so that each "
            "line differs in its text columns or, without any, in its first column.",
        )
    return _compared(name, sql, [columns[i] for i in numbers], numbers, old, new, exact)


def _compared(
    name: str, sql: str, columns: Sequence[str], numbers: Sequence[int],
    old: Mapping[str, Sequence[Any]], new: Mapping[str, Sequence[Any]], exact: bool,
) -> UserQuery:
    both = [key for key in new if key in old]
    if "order by" not in sql.lower():
        both.sort()  # DuckDB gives such lines in any order
    answers, errors = [], []
    for key in both:
        was = {c: _number(old[key][i]) for c, i in zip(columns, numbers, strict=True)}
        is_ = {c: _number(new[key][i]) for c, i in zip(columns, numbers, strict=True)}
        full = {column: _error(was[column], is_[column]) for column in columns}
        errors += [error for error in full.values() if error is not None]
        shown = full if exact else {c: _band(error) for c, error in full.items()}
        answers.append(Answer(key, was if exact else {}, is_, shown))
    worst, middle = (max(errors), median(errors)) if errors else (None, None)
    return UserQuery(
        name, sql, tuple(columns), tuple(answers[:LINES]), max(0, len(answers) - LINES),
        len(old) - len(both), len(new) - len(both),
        worst if exact else _band(worst), middle if exact else _band(middle),
    )


def _keys(columns: Sequence[str], *answers: Sequence[Sequence[Any]]) -> list[int]:
    """The places of the columns that say what a line is about: those that hold no numbers, else the
    first where there are several lines."""
    keys = [
        i for i in range(len(columns))
        if any(not _is_number(row[i]) for rows in answers for row in rows if row[i] is not None)
    ]
    several = any(len(rows) > 1 for rows in answers)
    return keys or ([0] if several and len(columns) > 1 else [])


def _by_key(
    rows: Sequence[Sequence[Any]], keys: Sequence[int]
) -> dict[str, Sequence[Any]] | None:
    """The lines by what they are about; None where two are about the same."""
    lines = {", ".join(_text(row[i]) for i in keys): row for row in rows}
    return lines if len(lines) == len(rows) else None


def _text(value: Any) -> str:
    return "NULL" if value is None else str(value)


def _is_number(value: Any) -> bool:
    return not isinstance(value, (bool, str)) and hasattr(value, "__float__")


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _error(was: float | None, is_: float | None) -> float | None:
    """The difference as a share of the first; None where that is 0 or not known."""
    if was is None or is_ is None:
        return None
    if was == is_:
        return 0.0
    return None if was == 0 else abs(is_ - was) / abs(was)


def _band(error: float | None) -> float | None:
    """The least of BANDS that the error is not above; infinite above all of them."""
    if error is None:
        return None
    return next((band for band in BANDS if error <= band), float("inf"))
