"""What a manifest says against itself: what needs no file to be seen.

kanon_sql.verify() holds the rest against the file, and with the source against the release run
again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kanon_sql.call.choices import EFFORT_OF, REPRESENTATIONS
from kanon_sql.call.options import OPTIONS
from kanon_sql.errors import OptionError
from kanon_sql.hierarchies.kinds import BY_TYPE, KINDS
from kanon_sql.methods import CHOICES
from kanon_sql.methods.auto import AUTO, BY_ESTIMATE
from kanon_sql.names import caseless
from kanon_sql.option import options_of
from kanon_sql.plan.entries import (
    MADE,
    RELEASE,
    Json,
    is_number,
    metric_names,
    model_asked,
    models_of,
    of_column,
    option_names,
)
from kanon_sql.plan.impossible_numbers import impossible_numbers
from kanon_sql.privacy import MODEL_KINDS, OF_POPULATION, WHOLE

ROLES = {
    "quasi_identifier": "quasi_identifiers", "sensitive": "sensitive", "identifier": "identifiers",
    "within": "within", "entity": "entity", "other": "", "withheld": "",
}
"""The roles of columns, and which option names those of a role."""

ALWAYS = ("others", "loss", "nulls", "representation", "diversity_kind", "sensitive_nulls")
"""Options that have a value in each release that has them at all."""

UNCHANGED = ("sensitive", "other", "within")
"""The roles of columns whose values are released as they are."""

BY_VALUE = {name for name, kind in MODEL_KINDS.items() if kind.by_value}
"""The options that may hold values of the data."""

Said = Iterator[tuple[str, str]]
"""Entries, and what is wrong with each."""

DIGEST = re.compile(r"[0-9a-f]{64}")
UNREAD = "The manifest of the file can't be understood: it was changed."


def is_count(value: Any) -> bool:
    """Whether a value of JSON is a whole number of 0 or more."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def contradictions(manifest: Json) -> dict[str, str]:
    """What of a manifest can't be, by entry: a sentence for each.

    Args:
        manifest: by section and entry; each section is an object.
    """
    faults: dict[str, str] = {}
    parts = (
        _names, _made, _options, _roles, _trees, _release, impossible_numbers, _models, _whole,
        _people,
    )
    for part in parts:
        try:
            for entry, said in part(manifest):
                faults.setdefault(entry, said)
        except (AttributeError, LookupError, TypeError, ValueError):
            faults.setdefault("manifest", UNREAD)
    return faults


def _names(manifest: Json) -> Said:
    """Entries that lack, and those that nobody knows."""
    options = manifest["options"]
    needed, may = option_names(options)
    release = RELEASE | ({"method"} if options.get("method") == AUTO.name else set())
    whole = {
        "made": (MADE, set()), "options": (needed, may), "release": (release, set()),
        "metrics": (metric_names(manifest), set()),
    }
    for section, (wanted, besides) in whole.items():
        present = set(manifest[section])
        if section == "metrics":  # which name a column as the relation does, or as the call does
            by_name = {caseless(name): name for name in present}
            wanted = {by_name.get(caseless(name), name) for name in wanted}
        for name in sorted(wanted - present):
            yield f"{section}.{name}", f"The manifest lacks the entry {name!r} of {section}."
        for name in sorted(present - wanted - besides):
            yield (
                f"{section}.{name}",
                f"The manifest has an entry {name!r} of {section}, which none of its kind has.",
            )


def _made(manifest: Json) -> Said:
    origin = manifest["made"]
    if origin.get("call") != "anonymize":
        yield "made.call", "The manifest is of another call than anonymize."
    for name in ("kanon_sql", "duckdb"):
        if not re.match(r"v?\d+\.\d+", str(origin.get(name))):
            yield f"made.{name}", f"The manifest has no version of {name}."


def _options(manifest: Json) -> Said:
    """Values that no call takes."""
    options = manifest["options"]
    method = CHOICES.get(str(options.get("method")))
    if method is None:
        yield "options.method", "The manifest names a method that this version doesn't know."
        return
    if options.get("k") is None and method.promises_k:
        yield "options.k", "The manifest asks for no k."
    known = {**OPTIONS, **options_of(method.own)}
    for name, value in options.items():
        option = known.get(name)
        if option is None or _is_told_otherwise(name, option.relation, value):
            continue
        said = f"options.{name}", f"The manifest says a {name} that no call takes."
        if value is None:
            if name in ALWAYS:
                yield said
            continue
        try:
            option.read(value)
            # a release states the word that was read; only the name of a column may have blanks
            if isinstance(value, str) and value != value.strip() and not option.columns:
                yield said
        except OptionError:
            yield said
    asked = any(True for _ in models_of(options))
    if asked != (options.get("seed") is None) or (asked and not options.get("sensitive")):
        yield "options.seed", "The manifest states a secret seed, or lacks a public one."


def _is_told_otherwise(name: str, is_relation: bool, value: Any) -> bool:
    """Whether a manifest tells a value of an option in words that no call takes."""
    if is_relation:
        return bool(value == "a relation")
    if name in ("quasi_identifiers", "effort"):
        # the last is what manifests of earlier versions say
        return value in ("all other columns", EFFORT_OF[BY_ESTIMATE], "by the number of rows")
    if name == "representation":
        words = [*value.values()] if isinstance(value, Mapping) else [value]
        return all(
            isinstance(word, str) and word.removeprefix("hierarchy, else ") in (
                *REPRESENTATIONS, "describe"
            )
            for word in words
        )
    if name == "sensitive_values":
        return _is_sealed(value)
    if name in BY_VALUE and isinstance(value, Mapping):
        return all(_is_sealed(limit) or is_number(limit) for limit in value.values())
    return False


def _is_sealed(value: Any) -> bool:
    return isinstance(value, Mapping) and set(value) == {"sha256"} and bool(
        DIGEST.fullmatch(str(value["sha256"]))
    )


def _roles(manifest: Json) -> Said:
    """Roles that are none, and those that the options don't say, or say otherwise."""
    roles, options = manifest["roles"], manifest["options"]
    seen: set[str] = set()
    for name, role in roles.items():
        if role not in ROLES:
            yield f"roles.{name}", f"The column {name!r} has a role that there isn't."
        if caseless(name) in seen:
            yield f"roles.{name}", f"The column {name!r} has two roles."
        seen.add(caseless(name))
    for role, option in ROLES.items():
        if not option:
            continue
        value = options.get(option)
        if role == "quasi_identifier" and value == "all other columns":
            continue
        columns = {caseless(name): name for name, own in roles.items() if own == role}
        named = {caseless(value)} if isinstance(value, str) else {
            caseless(str(name)) for name in value or ()
        }
        for name in sorted(set(columns) - named):
            yield (
                f"roles.{columns[name]}",
                f"The role of {columns[name]!r} is {role}, and the option {option} doesn't name "
                "it.",
            )
        if named - set(columns):
            yield f"options.{option}", f"The option {option} names a column with another role."
    label = options.get("class_label")
    if label is not None and not any(
        caseless(name) == caseless(str(label)) and role in UNCHANGED
        for name, role in roles.items()
    ):
        yield "options.class_label", "The option class_label names no column released unchanged."
    for option in ("column_weights", "categorical"):
        for name in options.get(option) or ():
            if caseless(str(name)) not in seen:
                yield f"options.{option}", f"The option {option} names a column without a role."


def _trees(manifest: Json) -> Said:
    roles = {caseless(name): role for name, role in manifest["roles"].items()}
    for name, hierarchy in manifest.get("hierarchies", {}).items():
        at = f"hierarchies.{name}"
        # what is withheld was a quasi-identifier until its values were seen
        if roles.get(caseless(name)) not in ("quasi_identifier", "sensitive", "withheld"):
            yield at, f"The manifest has a hierarchy for {name!r}, whose role takes none."
        if not isinstance(hierarchy, Mapping) or not hierarchy or set(hierarchy) - {
            "kind", "rows_sha256", "options_sha256"
        } or not all(
            word in (*KINDS, BY_TYPE, "by the column's type") if name == "kind"
            else DIGEST.fullmatch(str(word)) for name, word in hierarchy.items()
        ):
            yield at, f"The hierarchy of {name!r} is described in a form that no release writes."


def _release(manifest: Json) -> Said:
    release = manifest["release"]
    for name in ("rows_sha256", "sql_sha256"):
        if not isinstance(release.get(name), str) or not DIGEST.fullmatch(release[name]):
            yield f"release.{name}", f"The manifest has no digest as {name}."
    if "method" in release and release["method"] not in set(CHOICES) - {AUTO.name}:
        yield "release.method", "The manifest names a method that no release was grouped by."
    number, has_ledger = release.get("number"), "ledger" in manifest["options"]
    if (number is not None) != has_ledger or not (number is None or (is_count(number) and number)):
        yield "release.number", "The number of the release doesn't go with its ledger."
    if has_ledger and number != manifest["metrics"].get("release"):
        yield "metrics.release", "The manifest numbers the release twice, and not alike."


def _models(manifest: Json) -> Said:
    """What was reached, against what was asked for."""
    options, metrics = manifest["options"], manifest["metrics"]
    k = options.get("k")
    if metrics.get("k_requested") != k:
        yield "metrics.k_requested", "The manifest says another k_requested than its option k."
    for name in ("k", "k_persons", "anonymity_set_min", "part_rows_min"):
        value = metrics.get(name)
        if is_number(k) and is_number(value) and value < k and metrics.get("rows_released"):
            yield f"metrics.{name}", f"The manifest asks for k = {k}, and says {name} = {value}."
    for option, column, limit in models_of(options):
        thresholds = model_asked(options, option, column).thresholds
        asked = [(option, limit), *(
            (each.name, of_column(options.get(each.name), column, None)) for each in thresholds[1:]
        )]
        for name, threshold in asked:
            entry = f"{name}_requested ({column})"
            number = None if isinstance(threshold, Mapping) else threshold
            if metrics.get(entry) != number or (number is not None and not is_number(number)):
                yield f"metrics.{entry}", f"The manifest says another {entry} than the option."
        (measured, threshold), bound = asked[-1], thresholds[-1].bound
        entry = f"{measured} ({column})"
        has = metrics.get(entry)
        if isinstance(threshold, Mapping) or not is_number(threshold):
            continue
        if not _keeps(bound, has, threshold) and metrics.get("rows_released"):
            yield (
                f"metrics.{entry}",
                f"The manifest asks for {measured} = {threshold:g} of {column!r}, and says that "
                f"{has} was reached.",
            )


def _whole(manifest: Json) -> Said:
    """What all classes together have, against what was asked of them."""
    options, metrics = manifest["options"], manifest["metrics"]
    for kind in WHOLE:
        limit = options.get(kind.option)
        if limit is None:
            continue
        asked = kind.requested.name
        if not is_number(limit) or metrics.get(asked) != limit:
            yield f"metrics.{asked}", f"The manifest says another {asked} than the option."
            continue
        whole = kind(**{kind.option: limit})
        for name in kind.reached:
            has = metrics.get(name)
            if is_number(has) and not whole.keeps(has):
                yield (
                    f"metrics.{name}",
                    f"The manifest asks for {whole.in_words}, and says that {name} is {has:g}.",
                )


def _people(manifest: Json) -> Said:
    """What classes have of a population, against what was asked of them."""
    options, metrics = manifest["options"], manifest["metrics"]
    for kind in OF_POPULATION:
        limit, name = options.get(kind.option), kind.reached.name
        if limit is None:
            continue
        if metrics.get(kind.requested.name) != limit:
            yield (
                f"metrics.{kind.requested.name}",
                f"The manifest says another {kind.requested.name} than the option.",
            )
        has = metrics.get(name)
        if not is_number(limit) or not is_number(has) or has < limit:
            yield (
                f"metrics.{name}",
                f"The manifest asks for {kind.option} = {limit}, and says {name} = {has}.",
            )


def _keeps(bound: str, has: Any, threshold: float) -> bool:
    """Whether what was reached is what was asked for."""
    if not is_number(has):
        return False
    if bound == "at least":
        return bool(has >= threshold * (1 - 1e-9))
    if bound == "below":
        return bool(has < threshold)
    return bool(has <= threshold * (1 + 1e-9) + 1e-12)
