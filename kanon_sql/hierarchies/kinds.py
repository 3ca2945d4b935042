"""The kinds of generalization hierarchies that are made from a column's values.

The registry: what a user can name, and how each option is checked. What the kinds do with values is
in from_values.py, or from_counts.py for those that look at how many rows have each value: there is
a function of the kind's name, which build.py calls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

from kanon_sql.errors import OptionError, did_you_mean, shown
from kanon_sql.names import caseless
from kanon_sql.validators import (
    box,
    character,
    decimal,
    ranking,
    relation,
    spelled,
    whole,
    word,
)

ROOT = "*"
BY_TYPE = ""
"""Stands for the kind that a column gets by its type, where every column needs one."""

NOMINAL = "flat"
"""The kind that categories get there, whatever their type."""

DATED = ("DATE", "TIMESTAMP")
MOST_LEVELS = 64
MASKS = "*#?_~@"
KEY_PATTERN = r"^([+-]?[0-9]+)\.0+$"
"""Numbers that end in zeros only; their key is the group, so that 39.0 and 39 are one value."""

Options = Mapping[str, Any]


@dataclass(frozen=True)
class KindOption:
    """One option of a kind.

    Attributes:
        description: one sentence.
        default: the value when it isn't given; None where the kind finds it from the data.
        check: takes the option's full name (for the message) and a value, returns the value as
            used; raises OptionError.
        required: whether it must be given.
        example: a value, for the message where it must be and isn't.
    """

    description: str
    default: Any
    check: Callable[[str, Any], Any]
    required: bool = False
    example: str = ""


@dataclass(frozen=True)
class Kind:
    """One kind of hierarchy.

    Attributes:
        name: what a user types.
        description: one sentence.
        columns: the most level columns it makes with these (checked) options.
        options: what can be set.
        in_order: whether the values come out in an order to keep.
        by_rows: whether the hierarchy depends on how many rows have each value.
        tables: the options that name a relation; exactly one of them must be given.
    """

    name: str
    description: str
    columns: Callable[[Options], int]
    options: Mapping[str, KindOption] = field(default_factory=dict)
    in_order: bool = False
    by_rows: bool = False
    tables: tuple[str, ...] = ()


def _ordered_columns(options: Options) -> int:
    return max(2, math.ceil(math.log2(len(options["ranking"]))) + 1)


def _levels_option(text: str) -> KindOption:
    return KindOption(f"The number of levels above the values, including '*'; {text}.", 5,
                      whole(1, MOST_LEVELS))


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("flat", "All values generalize to '*' in one step.", lambda options: 2),
        Kind(
            "prefix",
            "Codes, hidden from the end step by step: 47906, 4790*, 479**, 47***, 4****, *.",
            lambda options: options["levels"] + 1,
            {
                "levels": _levels_option("each hides an equal share of the longest code"),
                "mask": KindOption(
                    "The character that replaces a hidden one; '*', or if codes contain it the "
                    f"first of {MASKS} that they do not contain.", None, character,
                ),
            },
        ),
        Kind(
            "date",
            "Dates and timestamps: day, month 2024-05, quarter 2024-Q2, year 2024, decade 2020s, "
            "*; a date is its own day.",
            lambda options: 7,
        ),
        Kind(
            "bins",
            "Numbers in bins of equal width; each level joins bins of the level below: 37, "
            "[35, 40), [30, 40), [20, 40), [0, 40), *.",
            lambda options: options["levels"] + 1,
            {
                "width": KindOption(
                    "The width of the narrowest bins. Default: 1, 2, 2.5 or 5 times a power of "
                    "ten, the smallest that needs at most about 32 bins.", None, decimal(0),
                ),
                "levels": _levels_option("all but the last are bins"),
                "factor": KindOption(
                    "How many bins of a level form one bin of the next.", 2, whole(2, 1000)
                ),
                "start": KindOption(
                    "A number at which bins of all levels begin.", Decimal(0), decimal(-math.inf)
                ),
            },
        ),
        Kind(
            "ordered",
            "A list from first to last; two, four, eight neighbours are joined: low, low .. mid, "
            "*.",
            _ordered_columns,
            {
                "ranking": KindOption(
                    "All values in their order.", None, ranking, required=True,
                    example="['low', 'mid', 'high']",
                ),
            },
            in_order=True,
        ),
        Kind(
            "adjacency",
            "Area codes in connected regions of the graph of neighbours; each level joins regions "
            "of the level below. A region is named by its lowest code and the number of its other "
            "codes: 37013, 37013 +6, 37001 +31, *.",
            lambda options: options["levels"] + 1,
            {
                "levels": _levels_option("all but the last are regions"),
                "adjacency": KindOption(
                    "A relation with two columns: pairs of codes that are neighbours.", None,
                    relation,
                ),
                "places": KindOption(
                    "A relation with a code, its latitude and its longitude, instead of adjacency.",
                    None, relation,
                ),
            },
            by_rows=True,
            tables=("adjacency", "places"),
        ),
        Kind(
            "rectangles",
            "Places written as two numbers in one value, such as '-10.9 -37.0', a POINT or a "
            "STRUCT, in rectangles; each level divides rectangles of the level above.",
            lambda options: options["levels"] + 1,
            {
                "levels": _levels_option("all but the last are rectangles"),
                "extent": KindOption(
                    "The area that the rectangles cover, [[low, high], [low, high]]. Default: the "
                    "smallest box around all places.", None, box
                ),
            },
            by_rows=True,
        ),
        Kind(
            "cover",
            "Labels without an order in groups of about the same number of rows, named like "
            "regions; each level joins groups of the level below.",
            lambda options: options["levels"] + 1,
            {
                "levels": _levels_option("all but the last are groups"),
                "packing": KindOption(
                    "The method that packs them: fold, spread or five_halves.", "five_halves",
                    word("fold", "spread", "five_halves"),
                ),
            },
            by_rows=True,
        ),
    )
}


def check_kind(column: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """The kind and all its options, checked, defaults filled in.

    Args:
        column: the column's name, for messages.
        spec: {'kind': 'bins', 'width': 10}; None stands for "not given".

    Raises:
        OptionError: no kind or an unknown one, an unknown option, a value that can't be.
    """
    if not isinstance(spec, Mapping) or not isinstance(spec.get("kind"), str):
        odd = get_close_matches("kind", spec, n=1) if isinstance(spec, Mapping) else []
        if odd:
            raise OptionError(
                f"The hierarchy of {column!r} has {odd[0]!r} and no kind. Did you mean 'kind'?"
            )
        raise OptionError(
            f"The hierarchy of {column!r} names no kind. Give one of "
            f"{', '.join(repr(name) for name in KINDS)}, such as {{'kind': 'flat'}}."
        )
    meant = spelled(spec["kind"], KINDS)
    if meant is None:
        hint = did_you_mean(spec["kind"], KINDS)
        raise OptionError(
            f"The kind {spec['kind']!r} of the hierarchy of {column!r} is not known. {hint}"
        )
    kind = KINDS[meant]
    arguments = {
        name: value for name, value in spec.items() if name != "kind" and value is not None
    }
    for name in arguments:
        if name not in kind.options:
            none = "It takes none; leave it out."
            hint = did_you_mean(name, kind.options) if kind.options else none
            raise OptionError(
                f"The kind {kind.name!r} of the hierarchy of {column!r} has no option {name!r}. "
                f"{hint}"
            )
    checked: dict[str, Any] = {"kind": kind.name}
    for name, option in kind.options.items():
        if option.required and name not in arguments:
            raise OptionError(
                f"The kind {kind.name!r} of the hierarchy of {column!r} needs the option "
                f"{name!r}. Give it, such as {{'kind': {kind.name!r}, {name!r}: {option.example}}}."
            )
        full = f"The option {name!r} of the hierarchy of {column!r}"
        checked[name] = option.check(full, arguments[name]) if name in arguments else option.default
    if kind.tables and sum(checked[name] is not None for name in kind.tables) != 1:
        raise OptionError(
            f"The kind {kind.name!r} of the hierarchy of {column!r} needs one of the options "
            f"{' and '.join(kind.tables)}, such as {{'kind': '{kind.name}', '{kind.tables[0]}': "
            "'pairs'}."
        )
    return checked


def level_count(kind: str, options: Mapping[str, Any]) -> int:
    """The most level columns (level0 and the root included) that built_in makes; needs no data.

    Raises:
        OptionError: as check_kind.
    """
    checked = check_kind(kind, {**options, "kind": kind})
    return KINDS[checked["kind"]].columns(checked)


def kind_by_type(sql_type: str, numeric: bool) -> str:
    """The kind that goes with a column's SQL type, where none was chosen."""
    if sql_type.startswith(DATED):
        return "date"
    return "bins" if numeric and sql_type != "TIME" else NOMINAL


KINDS_BY_TYPE = ("date", "bins", NOMINAL)
"""All that ``kind_by_type`` gives."""

SUGGESTED = "suggested"
"""The word that asks for the hierarchies which codes and dates need."""
REST = "*"
"""Stands for all columns that aren't named."""


def hierarchies(name: str, value: Any) -> dict[str, str | dict[str, Any]]:
    """A relation, a kind, or a kind with options ({'kind': 'bins', 'width': 10}) per column;
    'suggested' for all columns, or under '*' for all others."""
    if isinstance(value, str) and spelled(value, (SUGGESTED,)):
        return {REST: SUGGESTED}
    if not isinstance(value, Mapping) or not all(
        (isinstance(spec, str) and spec.strip()) or isinstance(spec, Mapping)
        for spec in value.values()
    ):
        raise OptionError(
            f"{name} must be '{SUGGESTED}', or map column names to a table of levels or to a kind, "
            f"such as {{'zip': 'zip_levels', 'age': 'bins'}}. Got {shown(value)}."
        )
    lowered = [caseless(column) for column in value]
    twice = [column for column in lowered if lowered.count(column) > 1]
    if twice:
        raise OptionError(f"{name} names the column {twice[0]!r} twice. Name it once.")
    if str(value.get(REST, SUGGESTED)).lower() != SUGGESTED:
        raise OptionError(
            f"{name} gives all other columns, '{REST}', a hierarchy. Say {{'{REST}': "
            f"'{SUGGESTED}'}}, or name each column."
        )
    return {
        str(column): spec if isinstance(spec, str) else dict(spec)
        for column, spec in value.items()
    }
