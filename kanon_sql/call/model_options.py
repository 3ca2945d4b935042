"""The options that ask for privacy models: what every class must keep beside k."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kanon_sql.call.choices import BETA_KINDS, CLOSENESS, DIVERSITY_KINDS, SENSITIVE_NULLS
from kanon_sql.option import GROUPING_CALLS, option
from kanon_sql.validators import (
    limit_by_column,
    limits_by_value,
    one_by_column,
    one_of,
    threshold,
)

CALLS = (*GROUPING_CALLS, "k_anonymity")
NUMBERS = "DOUBLE, or STRUCT or MAP"
WORDS = "VARCHAR, or STRUCT or MAP"

BY_COLUMN = "; a number for the only sensitive column, or one by column: {'disease': %s}."


@dataclass(frozen=True)
class ModelOptions:
    """What every class must keep beside k; each is checked on the released values."""

    l: float | Mapping[str, float] | None = option(
        None, limit_by_column(threshold(2, 1e9)),
        "How many values of the sensitive column each class has at least, counted as "
        "diversity_kind says" + BY_COLUMN % "3", type=NUMBERS, calls=CALLS,
    )
    diversity_kind: str | Mapping[str, str] = option(
        "distinct", one_by_column(DIVERSITY_KINDS),
        "What l asks for: "
        + "; ".join(f"'{name}' {text}" for name, text in DIVERSITY_KINDS.items())
        + ". One for all columns, or by column.",
        type=WORDS, calls=CALLS,
    )
    c: float | Mapping[str, float] | None = option(
        None, limit_by_column(threshold(0, 1e6, above=True)),
        "With diversity_kind 'recursive', how much the rarer values count" + BY_COLUMN % "3",
        type=NUMBERS, calls=CALLS,
    )
    t: float | Mapping[str, float] | None = option(
        None, limit_by_column(threshold(0, 1)),
        "The largest earth mover's distance, from 0 to 1, between the sensitive values of a class "
        "and those of all released rows (t-closeness)" + BY_COLUMN % "0.2",
        type=NUMBERS, calls=CALLS,
    )
    closeness: str | Mapping[str, str] | None = option(
        None, one_by_column(CLOSENESS),
        "What it costs for t to move a row to another value: "
        + "; ".join(f"'{name}' {text}" for name, text in CLOSENESS.items())
        + ". One for all columns, or by column.",
        type=WORDS, calls=CALLS,
        default_text="'hierarchy' for columns with one, 'ordered' for numbers, dates and times, "
        "else 'equal'",
    )
    alpha: float | Mapping[str, Any] | None = option(
        None, limits_by_value(threshold(0, 1, above=True)),
        "The largest share of a class that a sensitive value has, above 0: of any value, or with "
        "sensitive_values of those, or by value: MAP {'HIV': 0.1, 'Flu': 0.5}; for the only "
        "sensitive column, or by column: {'disease': 0.5}.",
        type=NUMBERS, calls=CALLS,
    )
    delta: float | Mapping[str, float] | None = option(
        None, limit_by_column(threshold(0, 100, above=True)),
        "The largest absolute value of the logarithm of a value's share of a class over its share "
        "of all released rows, for every value that these have (delta-disclosure privacy)"
        + BY_COLUMN % "1.5", type=NUMBERS, calls=CALLS,
    )
    beta: float | Mapping[str, float] | None = option(
        None, limit_by_column(threshold(0, 1e6, above=True)),
        "The largest gain of a value's share in a class over its share of all released rows, as "
        "a multiple of that (beta-likeness)" + BY_COLUMN % "2", type=NUMBERS, calls=CALLS,
    )
    beta_kind: str | Mapping[str, str] = option(
        "enhanced", one_by_column(BETA_KINDS),
        "What beta asks for: "
        + "; ".join(f"'{name}' {text}" for name, text in BETA_KINDS.items())
        + ". One for all columns, or by column.",
        type=WORDS, calls=CALLS,
    )
    sensitive_nulls: str = option(
        "worst", one_of(SENSITIVE_NULLS),
        "What a NULL or NaN of a sensitive column is to l, alpha and t: "
        + "; ".join(f"'{name}' {text}" for name, text in SENSITIVE_NULLS.items())
        + ". To delta and beta it is a value.",
        calls=CALLS,
    )
