"""The registry of options. The SQL macros, the Python API, the shell and the documentation are
made from it, so that each option is described once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kanon_sql.errors import OptionError, did_you_mean
from kanon_sql.grouping import METHODS

REPRESENTATIONS = {
    "centroid": "the mean of numbers, dates and times, the most frequent value of all others",
    "median": "the (lower) median of ordered values, the most frequent value of all others",
    "interval": "text: '[20, 29]', '{Private, State-gov}', or the value where all agree",
    "bounds": "STRUCT(min, max) of ordered values, a LIST of the distinct values of all others",
}
POINTS = ("centroid", "median")
REFINES = ("none", "local")
NULLS = ("value", "suppress", "error")

LARGEST = 1e9
"""The largest weight and gamma: far beyond use, and far from where squares overflow."""

GROUPING_CALLS = ("anonymize", "anonymize_clusters", "anonymize_metrics", "anonymize_sql")
ALL_CALLS = (*GROUPING_CALLS, "k_anonymity")


def _whole(name: str, value: Any, least: int) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**63:
        raise OptionError(f"{name} must be a whole number of {least} or more. Got {value!r}.")
    return value


def _k(value: Any) -> int:
    return _whole("k", value, 1)


def _seed(value: Any) -> int:
    return _whole("seed", value, 0)


def _one_of(name: str, value: Any, known: Iterable[str]) -> str:
    if isinstance(value, str) and value in known:
        return value
    hint = did_you_mean(str(value), known)
    raise OptionError(f"The {name} {value!r} is not known. {hint}")


def _names(option: str) -> Callable[[Any], tuple[str, ...]]:
    def read(value: Any) -> tuple[str, ...]:
        names = [value] if isinstance(value, str) else value
        if not isinstance(names, (list, tuple)) or not all(isinstance(n, str) for n in names):
            raise OptionError(
                f"{option} must be a list of column names, such as ['age', 'zip']. Got {value!r}."
            )
        lowered = [name.lower() for name in names]
        twice = [name for name in names if lowered.count(name.lower()) > 1]
        if twice:
            raise OptionError(f"{option} names the column {twice[0]!r} twice. Name it once.")
        return tuple(names)

    return read


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value <= LARGEST else None


def _weights(value: Any) -> dict[str, float]:
    pairs = dict(value) if isinstance(value, Mapping) else {}
    numbers = {str(name): _number(weight) for name, weight in pairs.items()}
    if not isinstance(value, Mapping) or None in numbers.values():
        raise OptionError(
            f"weights must map column names to numbers from 0 to {LARGEST:g}, such as "
            f"{{'age': 2}}. Got {value!r}."
        )
    return {name: number for name, number in numbers.items() if number is not None}


def _count(name: str, least: int) -> Callable[[Any], int]:
    return lambda value: _whole(name, value, least)


def _seconds(value: Any) -> float:
    number = _number(value)
    if number is None or number == 0.0:
        raise OptionError(
            f"refine_seconds must be a number above 0 and up to {LARGEST:g}. Got {value!r}."
        )
    return number


def _gamma(value: Any) -> float | str:
    number = _number(value)
    if value == "best":
        return "best"
    if number is None:
        raise OptionError(f"gamma must be 'best' or a number from 0 to {LARGEST:g}. Got {value!r}.")
    return number


def _flag(name: str) -> Callable[[Any], bool]:
    def read(value: Any) -> bool:
        if not isinstance(value, bool):
            raise OptionError(f"{name} must be true or false. Got {value!r}.")
        return value

    return read


@dataclass(frozen=True)
class Option:
    """One option.

    Attributes:
        name: what a user types, in every face.
        type: its SQL type, for the documentation.
        default: the value when it isn't given, as checked.
        default_text: how the documentation names the default.
        description: one sentence.
        read: checks a value and brings it to its Python form; raises OptionError.
        calls: the SQL calls that take it.
        roles: whether its value names columns of the relation.
    """

    name: str
    type: str
    default: Any
    default_text: str
    description: str
    read: Callable[[Any], Any]
    calls: tuple[str, ...] = GROUPING_CALLS
    roles: bool = False


OPTIONS: dict[str, Option] = {
    option.name: option
    for option in (
        Option(
            "k", "INTEGER", None, "must be given",
            "The least number of released rows that share each combination of quasi-identifiers; "
            "for k_anonymity, the k below which classes and rows are counted (optional there).",
            _k, ALL_CALLS,
        ),
        Option(
            "method", "VARCHAR", "mdav_star", "'mdav_star'",
            "How rows are put into groups; anonymize_methods() lists all.",
            lambda value: _one_of("method", value, METHODS),
        ),
        Option(
            "quasi_identifiers", "VARCHAR[]", (), "declared, else all other columns",
            "The columns to generalize, because together they may identify a person.",
            _names("quasi_identifiers"), ALL_CALLS, roles=True,
        ),
        Option(
            "sensitive", "VARCHAR[]", (), "declared, else none",
            "The columns that pass unchanged because they are what the release is for.",
            _names("sensitive"), ALL_CALLS, roles=True,
        ),
        Option(
            "identifiers", "VARCHAR[]", (), "declared, else none",
            "The columns to drop, because each alone identifies a person.",
            _names("identifiers"), ALL_CALLS, roles=True,
        ),
        Option(
            "representation", "VARCHAR", None, "the method's own, 'centroid' for the MDAV family",
            "What a class releases in place of its values: "
            + "; ".join(f"'{name}' is {text}" for name, text in REPRESENTATIONS.items()) + ".",
            lambda value: _one_of("representation", value, REPRESENTATIONS),
        ),
        Option(
            "weights", "STRUCT or MAP", {}, "1 for every column",
            "How much a quasi-identifier counts in the grouping: its total variance, so squared "
            "distances along it are multiplied by it; 0 leaves it out of the grouping only.",
            _weights,
        ),
        Option(
            "gamma", "DOUBLE or 'best'", "best", "'best'",
            "v_mdav only: how readily a group is extended; 'best' takes the one of 0.0, 0.1 .. "
            "2.0 with the least information loss, in each block its own.",
            _gamma,
        ),
        Option(
            "nulls", "VARCHAR", "value", "'value'",
            "What a NULL or NaN in a quasi-identifier is: 'value' groups it nearest to its like, "
            "'suppress' leaves such rows out and counts them, 'error' refuses.",
            lambda value: _one_of("nulls", value, NULLS),
        ),
        Option(
            "seed", "BIGINT", 0, "0",
            "Decides the order among equal rows, the order of the release and class_id; the same "
            "seed gives the same release.",
            _seed,
        ),
        Option(
            "refine", "VARCHAR", "none", "'none'",
            "Whether the groups of the method are refined: 'local' searches for moves, swaps, "
            "splits and mergers of groups that lower the squared error, and never ends higher.",
            lambda value: _one_of("refine", value, REFINES),
        ),
        Option(
            "refine_steps", "BIGINT", None, "by the number of rows",
            "How many rows refine, or the method best, visits; the release depends on it.",
            _count("refine_steps", 0),
        ),
        Option(
            "refine_seconds", "DOUBLE", None, "no limit",
            "Stops the search of refine, or of the method best, after that time (beside what it "
            "starts from); anonymize_metrics tells the steps made, which as refine_steps give the "
            "same release again.",
            _seconds,
        ),
        Option(
            "block_rows", "BIGINT", None, "500,000",
            "The most rows that are grouped as one, at least 50 times k; more are cut into blocks "
            "of rows close to each other, which are grouped on all cores, and the groups along the "
            "cuts refined. best and optimal_1d always group all rows as one.",
            _count("block_rows", 1),
        ),
        Option(
            "progress", "BOOLEAN", True, "true",
            "Shows how far a long call is, if the standard error stream is a terminal.",
            _flag("progress"),
        ),
        Option(
            "class_id", "BOOLEAN", False, "false",
            "Adds the number of each row's class as the column class_id.",
            _flag("class_id"),
        ),
        Option(
            "keep_order", "BOOLEAN", False, "false",
            "Releases the rows in the order of the relation. That order may say who they are.",
            _flag("keep_order"),
        ),
    )
}


def read_options(call: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """All options of a call: those given, checked, and the defaults of the others.

    Args:
        call: the SQL call, one of ALL_CALLS.
        given: option names and raw values; None stands for "not given".

    Raises:
        OptionError: an unknown option, a value out of range, a missing k.
    """
    known = {name: option for name, option in OPTIONS.items() if call in option.calls}
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known)
            raise OptionError(f"{call} has no option {name!r}. {hint}")
    options = {
        name: option.default if given.get(name) is None else option.read(given[name])
        for name, option in known.items()
    }
    if options["k"] is None and call in GROUPING_CALLS:
        raise OptionError(
            "k is not given. Say how many rows must share each combination of quasi-identifiers, "
            "for example k=5."
        )
    if call in GROUPING_CALLS:
        _check_method_options(options, given)
    return options


def _check_method_options(options: dict[str, Any], given: Mapping[str, Any]) -> None:
    method = METHODS[options["method"]]
    if given.get("gamma") is not None and "gamma" not in method.options:
        raise OptionError(
            f"The method {method.name!r} takes no gamma. Leave it out, or use v_mdav."
        )
    if given.get("refine") is not None and "refine_steps" in method.options:
        raise OptionError(f"The method {method.name!r} refines by itself. Leave refine out.")
    if given.get("block_rows") is not None and not method.in_blocks:
        raise OptionError(
            f"The method {method.name!r} groups all rows as one. Leave block_rows out."
        )
    for name in ("refine_steps", "refine_seconds"):
        if given.get(name) is not None and not (
            options["refine"] == "local" or name in method.options
        ):
            raise OptionError(
                f"{name} is given, but nothing is refined. Add refine='local', or use the method "
                "'best'."
            )
    if options["representation"] is None:
        options["representation"] = method.representation
