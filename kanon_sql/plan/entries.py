"""Which entries the manifest of a release has, by what its options and roles say.

Who forges a manifest seals it anew. So all entries of the format must be there and none besides:
what isn't there can't be held against anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from unicodedata import normalize

from kanon_sql.call.options import (
    GroupOptions,
    LedgerOptions,
    MeasureOptions,
    PartOptions,
    ReleaseOptions,
    RoleOptions,
    RunOptions,
)
from kanon_sql.measure.ledger_metrics import LEDGER, OF_HEADROOM
from kanon_sql.measure.metrics import ATTRIBUTE, DIVERSITY, METRICS, OF_GROUPING
from kanon_sql.measure.model_metrics import OF_ALL_CLASSES, OF_PEOPLE, REACHED, REQUESTED
from kanon_sql.measure.part_metrics import PARTS
from kanon_sql.measure.person_metrics import PERSONS
from kanon_sql.methods import CHOICES
from kanon_sql.names import caseless
from kanon_sql.option import options_of
from kanon_sql.privacy import MODEL_KINDS, ModelOptions, PrivacyModel, model_of

Json = Mapping[str, Any]

MADE = {"format", "kanon_sql", "duckdb", "call"}
RELEASE = {"number", "rows_sha256", "sql_sha256"}
UNTOLD = {"hierarchies", "release", "detail", "progress", "show_values", "by_part"}
"""The options that no manifest tells, or not there."""


def is_number(value: Any) -> bool:
    """Whether a value of JSON is a number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def models_of(options: Json) -> Iterator[tuple[str, str, Any]]:
    """Option, column and threshold of each privacy model that options ask for; the name of a column
    as ``sensitive`` has it."""
    columns = options.get("sensitive") or []
    known = {caseless(name): name for name in columns}
    for option in MODEL_KINDS:
        limits = options.get(option)
        if limits is None:
            continue
        by_column = limits if isinstance(limits, Mapping) else dict.fromkeys(columns, limits)
        for column, limit in by_column.items():
            yield option, known.get(caseless(column), column), limit


def of_column(option: Any, column: str, default: Any) -> Any:
    """What an option says of a column."""
    if isinstance(option, Mapping):
        by_name = {caseless(name): word for name, word in option.items()}
        return by_name.get(caseless(column), default)
    return option


def model_asked(options: Json, option: str, column: str) -> type[PrivacyModel]:
    """The model that options ask for by a threshold of a column."""
    return model_of(option, {
        name: of_column(options.get(name), column, known.default)
        for name, known in options_of(MODEL_KINDS[option]).items()
    })


def option_names(options: Json) -> tuple[set[str], set[str]]:
    """The options that a manifest must have, and those that it may have besides."""
    holders: list[Any] = [RoleOptions, GroupOptions, ReleaseOptions, MeasureOptions, RunOptions]
    method = CHOICES.get(str(options.get("method")))
    needed = {name for holder in holders for name in options_of(holder)} - UNTOLD
    needed |= set(options_of(method.own)) if method is not None else set()
    needed -= {"entity", "entity_rows"}
    if method is not None and method.searches:
        needed -= {"effort"}
    may = {"sampling_weight", "entity", "entity_rows", *OF_ALL_CLASSES}
    if set(OF_PEOPLE) & set(options):
        needed |= {"population", *OF_PEOPLE}
    models = set(options_of(ModelOptions))
    # a seed is told where nothing is secret
    if options.get("seed") is None or models & set(options):
        needed |= models
    for holder in (LedgerOptions, PartOptions):
        group = set(options_of(holder)) - UNTOLD
        if group & set(options):
            needed |= group
    if "ledger" in options:
        needed |= {"entity"}
    elif {"entity", "entity_rows"} & set(options):
        needed |= {"entity", "entity_rows"}
    return needed, may


def metric_names(manifest: Json) -> set[str]:
    """The metrics that a manifest must have; it may have no other."""
    options, roles = manifest["options"], manifest["roles"]
    sensitive = options.get("sensitive") or []
    known = list(METRICS)
    known += PERSONS if options.get("entity") is not None and "entity_rows" in options else ()
    known += PARTS if options.get("within") else ()
    known += LEDGER if "ledger" in options else ()
    known += OF_HEADROOM if options.get("headroom") == "auto" else ()
    known += [asked for name, asked in OF_ALL_CLASSES.items() if options.get(name) is not None]
    known += [m for name, both in OF_PEOPLE.items() if name in options for m in both]
    names = {metric.name for metric in known if metric.public != "no"}
    for metric in DIVERSITY:
        names |= (
            {f"{metric.name} ({column})" for column in sensitive} if len(sensitive) > 1
            else {metric.name} if sensitive else set()
        )
    for option, column, _ in models_of(options):
        asked = [each.name for each in model_asked(options, option, column).thresholds]
        names |= {
            f"{metric.name} ({column})"
            for metric in (*(REQUESTED[name] for name in asked), REACHED[asked[-1]])
        }
    of_each = [name for name, role in roles.items() if role == "quasi_identifier"]
    return names | {
        f"{metric.name} ({name})" for metric in (ATTRIBUTE, OF_GROUPING) for name in of_each
    }


def added_columns(options: Json) -> set[str]:
    """The columns of a release that none of the relation has."""
    return {
        name for name, said in {"class_id": "class_id", "wkt": "wkt"}.items()
        if options.get(said) is True
    }


def resembles(name: str, other: str) -> bool:
    """Whether two names differ in case, blanks and forms of letters only."""
    plain = [
        "".join(normalize("NFKC", each).casefold().split()) for each in (name, other)
    ]
    return plain[0] == plain[1]


def are_letters_apart(name: str, other: str) -> bool:
    """Whether two names that resemble each other are two to DuckDB by other letters, not by blanks:
    an honest relation may have both, as it may have "É" and "é"."""
    folded = [caseless("".join(each.split())) for each in (name, other)]
    return folded[0] != folded[1] and len(name.split()) == len(other.split())
