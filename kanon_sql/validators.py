"""Checks of option values: each takes what a user typed and gives its Python form, or raises
OptionError with one sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Any

from kanon_sql.errors import OptionError, did_you_mean

LARGEST = 1e9
"""The largest weight, penalty and gamma: far beyond use, and far from where squares overflow."""


def whole(name: str, least: int) -> Callable[[Any], int]:
    """A whole number of ``least`` or more."""

    def read(value: Any) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**63:
            raise OptionError(f"{name} must be a whole number of {least} or more. Got {value!r}.")
        return value

    return read


def one_of(name: str, known: Iterable[str]) -> Callable[[Any], str]:
    """One of some words."""

    def read(value: Any) -> str:
        if isinstance(value, str) and value in known:
            return value
        raise OptionError(
            f"The {name} {value!r} is not known. {did_you_mean(str(value), known)}"
        )

    return read


def names(option: str) -> Callable[[Any], tuple[str, ...]]:
    """A list of column names, none of them twice."""

    def read(value: Any) -> tuple[str, ...]:
        found = [value] if isinstance(value, str) else value
        if not isinstance(found, (list, tuple)) or not all(isinstance(n, str) for n in found):
            raise OptionError(
                f"{option} must be a list of column names, such as ['age', 'zip']. Got {value!r}."
            )
        lowered = [name.lower() for name in found]
        twice = [name for name in found if lowered.count(name.lower()) > 1]
        if twice:
            raise OptionError(f"{option} names the column {twice[0]!r} twice. Name it once.")
        return tuple(found)

    return read


def name(option: str, example: str) -> Callable[[Any], str]:
    """One name, of a column or a relation."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or not value.strip():
            plain = value is None or isinstance(value, (str, int, float))
            got = repr(value) if plain else f"a {type(value).__name__}"
            raise OptionError(f"{option} must be a name, such as {example}. Got {got}.")
        return value

    return read


def texts(option: str) -> Callable[[Any], tuple[str, ...]]:
    """A list of values of a column; as text, so that any type can be given."""

    def read(value: Any) -> tuple[str, ...]:
        found = value if isinstance(value, (list, tuple)) else [value]
        if any(isinstance(item, (list, tuple, Mapping)) for item in found):
            raise OptionError(f"{option} must be a list of single values, such as ['HIV'].")
        return tuple(_as_text(item) for item in found)

    return read


def _as_text(value: Any) -> str:
    """A value as DuckDB writes it, whole numbers without '.0'."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value <= LARGEST else None


def number(option: str) -> Callable[[Any], float]:
    """A number of 0 or more."""

    def read(value: Any) -> float:
        found = _number(value)
        if found is None:
            raise OptionError(f"{option} must be a number from 0 to {LARGEST:g}. Got {value!r}.")
        return found

    return read


def positive(option: str) -> Callable[[Any], float]:
    """A number above 0."""

    def read(value: Any) -> float:
        found = _number(value)
        if found is None or found == 0.0:
            raise OptionError(
                f"{option} must be a number above 0 and up to {LARGEST:g}. Got {value!r}."
            )
        return found

    return read


def facility_cost(value: Any) -> float | str:
    """A number above 0, or the name of a column."""
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(value, str) or not _number(value):
        raise OptionError(
            f"facility_cost must be a number above 0 and up to {LARGEST:g}, or the name of a "
            f"column. Got {value!r}."
        )
    return float(value)


def share(option: str) -> Callable[[Any], float]:
    """A share of the rows, from 0 to 1."""

    def read(value: Any) -> float:
        found = _number(value)
        if found is None or found > 1.0:
            raise OptionError(
                f"{option} must be a share of the rows from 0 to 1, such as 0.01. Got {value!r}."
            )
        return found

    return read


def extent(value: Any) -> dict[str, tuple[float, float]]:
    """A lower and an upper bound for each of two columns."""
    pairs = dict(value) if isinstance(value, Mapping) else {}
    found = {}
    for column, given in pairs.items():
        ends = given.tolist() if hasattr(given, "tolist") else given  # of numpy
        if isinstance(ends, (list, tuple)) and len(ends) == 2 and not any(
            isinstance(end, (bool, str)) or not hasattr(end, "__float__") or not isfinite(end)
            for end in ends
        ) and ends[0] < ends[1]:
            found[str(column)] = (float(ends[0]), float(ends[1]))
    if len(pairs) != 2 or len({column.lower() for column in found}) != 2:
        raise OptionError(
            "extent must give a lower and an upper bound for both columns, such as {'lat': [-90, "
            f"90], 'lon': [-180, 180]}}. Got {value!r}."
        )
    return found


def weights(value: Any) -> dict[str, float]:
    """A number for each of some columns."""
    pairs = dict(value) if isinstance(value, Mapping) else {}
    numbers = {str(column): _number(weight) for column, weight in pairs.items()}
    if not isinstance(value, Mapping) or None in numbers.values():
        raise OptionError(
            f"weights must map column names to numbers from 0 to {LARGEST:g}, such as "
            f"{{'age': 2}}. Got {value!r}."
        )
    return {column: weight for column, weight in numbers.items() if weight is not None}


def gamma(value: Any) -> float | str:
    """A number, or 'best'."""
    found = _number(value)
    if value == "best":
        return "best"
    if found is None:
        raise OptionError(f"gamma must be 'best' or a number from 0 to {LARGEST:g}. Got {value!r}.")
    return found


def flag(option: str) -> Callable[[Any], bool]:
    """True or false."""

    def read(value: Any) -> bool:
        if not isinstance(value, bool):
            raise OptionError(f"{option} must be true or false. Got {value!r}.")
        return value

    return read


def hierarchies(value: Any) -> dict[str, str | dict[str, Any]]:
    """A relation, a kind, or a kind with options ({'kind': 'bins', 'width': 10}) per column."""
    if not isinstance(value, Mapping) or not all(
        (isinstance(given, str) and given.strip()) or isinstance(given, Mapping)
        for given in value.values()
    ):
        raise OptionError(
            "hierarchies must map column names to a table of levels or to a kind, such as "
            f"{{'zip': 'zip_levels', 'age': 'bins'}}. Got {value!r}."
        )
    lowered = [str(column).lower() for column in value]
    twice = [column for column in lowered if lowered.count(column) > 1]
    if twice:
        raise OptionError(f"hierarchies names the column {twice[0]!r} twice. Name it once.")
    return {
        str(column): given if isinstance(given, str) else dict(given)
        for column, given in value.items()
    }
