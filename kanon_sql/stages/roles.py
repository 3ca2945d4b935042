"""What each column of a relation is, what it looks like, and what will be released of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from kanon_sql.encode.arrow import Column
from kanon_sql.encode.identifier_detection import (
    NEARLY,
    Looks,
    OfPersons,
    Profile,
    judge,
    key_notice,
    notices_of,
)
from kanon_sql.encode.repeated import determines, independent, is_repeated, may_be_a_key
from kanon_sql.hierarchies.codes import (
    CodeFacts,
    Suggestion,
    WrittenForm,
    code_notice,
    is_number,
    suggest,
)
from kanon_sql.names import caseless
from kanon_sql.points.points import Labels

SAMPLE = 10_000
"""Rows by which most pairs of columns are cleared without looking at all rows."""
SEPARATES = 0.5
"""A column in which two rows, chosen at random, differ as often as this may tell persons apart."""

NO_ROLE = (
    "The column {!r} has no role, so a release is refused. Name it in sensitive=[...], "
    "identifiers=[...] or quasi_identifiers=[...]."
)


@dataclass(frozen=True)
class CountedColumn:
    """A column by the hashes of its values.

    Attributes:
        profile: what it is judged by.
        form: how its texts are written.
        codes: int64, shape (rows,); the values, numbered from 0, NULL among them.
        sizes: int64, shape (values,); the rows of each, in the order of the hashes, by which a sum
            over them is the same for any order of the rows.
    """

    profile: Profile
    form: WrittenForm
    codes: Labels
    sizes: Labels

    @staticmethod
    def of(
        column: Column, counts: Mapping[str, Any], hashes: pa.Array, least: int
    ) -> CountedColumn:
        """Counts the values.

        Args:
            column: name and type.
            counts: the struct of SQL, as JSON (see __kanon_counted in sql/macros/columns.sql).
            hashes: uint64, shape (rows,); of the values as they are printed.
            least: as in Profile.common.
        """
        found = hashes.dictionary_encode()
        codes = found.indices.to_numpy().astype(np.int64)
        values, sizes = found.dictionary.to_numpy(), np.bincount(codes)
        known = sizes
        if counts["values"] < counts["rows"]:
            known = sizes[values != np.uint64(counts["null"])]
        profile = Profile.of(column, {
            **counts, "distinct": len(known), "common": int(known[known >= least].sum()),
        })
        form = WrittenForm(**counts["form"])
        return CountedColumn(profile, form, codes, sizes[np.argsort(values)])


def describe_columns(
    counted: Sequence[CountedColumn], released: Sequence[Column], rules: Mapping[str, Any],
    persons: Mapping[str, OfPersons],
) -> list[dict[str, Any]]:
    """One object per column.

    Args:
        counted: the columns.
        released: name and type of what is released of the quasi-identifiers.
        rules: the roles by name, what all others are, and how quasi-identifiers are released.
        persons: what is counted of columns by persons, by name, where the entity is known.
    """
    named: Mapping[str, Any] = rules["named"]
    profiles = [each.profile for each in counted]
    codes, sizes = [each.codes for each in counted], [each.sizes for each in counted]
    whose = [p.name for p in profiles if named.get(caseless(p.name), {}).get("role") == "entity"]
    pairs = determined(codes, [len(s) for s in sizes])
    types = {caseless(column.name): column.sql_type for column in released}
    descriptions = []
    for j, profile in enumerate(profiles):
        known = rules["named"].get(caseless(profile.name))
        looks, own = judge(profile), persons.get(profile.name)
        if own is not None:
            looks = _by_persons(profile, own, rules["rest"])
        hidden = looks.identifier and known is None and rules["rest"] in (
            "quasi_identifier", "release"
        ) and caseless(profile.name) not in rules["trusted"]
        separation = 1.0 - float(np.sum((sizes[j] / max(len(codes[j]), 1)) ** 2))
        share = float(np.sum(sizes[j] == 1)) / max(len(codes[j]), 1)
        role = _role(profile, known, rules["rest"])
        targets = [b for a, b in pairs if a == j]
        is_key = looks.identifier or (known or {}).get("role") == "identifier"
        own_rows = bool(targets) and not whose and may_be_a_key(profile.sql_type) and (
            is_repeated(sizes[j]) and (is_key or independent([codes[b] for b in targets]))
        )
        # codes and places of few rows each are joined by a hierarchy, names of one each aren't
        all_differ = looks.identifier and profile.distinct >= NEARLY * profile.values
        tells = own is not None and own.like_entity(NEARLY)
        tree = _suggestion(profile, counted[j].form)
        if (known or {}).get("role") != "quasi_identifier" and (all_differ or tells):
            tree = None
        shown, shown_type = _released(profile, role["role"], hidden, types, rules)
        remarks = _remarks(profile, known, role["role"], rules, looks, tree)
        if tells and shown == "unchanged":
            remarks.append(key_notice(profile.name, *whose))
        remarks += [f"determines {_listed(profiles, targets)}"] if targets else []
        remarks += [f"constant within {_listed(profiles, sources)}" for sources in [
            [a for a, b in pairs if b == j]] if sources]
        descriptions.append({
            "column_name": profile.name,
            "column_type": profile.sql_type,
            **role,
            "suggested_role": _suggested(looks.identifier or tells, own_rows, separation),
            "suggested_hierarchy": None if tree is None else tree.text,
            "hierarchy_reason": None if tree is None else tree.reason,
            "distinct_values": profile.distinct,
            "nulls": profile.rows - profile.values,
            "unique_share": share,
            "separation": separation,
            "released_as": shown,
            "released_type": shown_type,
            "remarks": remarks,
        })
    return descriptions


def _by_persons(profile: Profile, own: OfPersons, rest: str) -> Looks:
    """What a column looks like where persons have several rows."""
    looks = judge(own.of(profile))
    passes = rest == "release" and (judge(profile).identifier or own.is_entity(profile.sql_type))
    return replace(looks, identifier=True) if passes else looks


def _listed(profiles: Sequence[Profile], numbers: Sequence[int]) -> str:
    return ", ".join(repr(profiles[number].name) for number in numbers)


def _role(profile: Profile, known: Mapping[str, str] | None, rest: str) -> dict[str, Any]:
    if known is not None:
        return {"role": known["role"], "role_from": known["from"]}
    if rest == "quasi_identifier":
        return {"role": "quasi_identifier", "role_from": "default"}
    if rest == "release":
        return {"role": "other", "role_from": "others"}
    return {"role": None, "role_from": None if rest == "error" else "others"}


def _suggested(is_identifier: bool, is_entity: bool, separation: float) -> str | None:
    if is_entity:
        return "entity"
    if is_identifier:
        return "identifier"
    return "quasi_identifier" if separation >= SEPARATES else None


def _suggestion(profile: Profile, written: WrittenForm) -> Suggestion | None:
    """The hierarchy that goes with a column, by its type, its values and its name; None where there
    is nothing to join, or where no kind takes the type."""
    return suggest(CodeFacts(
        profile.name, profile.sql_type, profile.values, profile.distinct, profile.low,
        profile.high, written,
    ))


def _released(
    profile: Profile, role: str | None, hidden: bool, types: Mapping[str, str],
    rules: Mapping[str, Any],
) -> tuple[str, str | None]:
    """How a column is released, and its type then."""
    name = caseless(profile.name)
    if role == "quasi_identifier":
        word = rules["by_column"].get(name, rules["representation"])
        sql_type = "VARCHAR" if word == "hierarchy" else types.get(name)
        return ("NULL" if hidden else word), sql_type
    if role in ("identifier", "entity"):
        return "dropped", None
    if role is None:
        return ("dropped" if rules["rest"] == "drop" else "refused"), None
    return ("NULL" if hidden else "unchanged"), profile.sql_type


def _remarks(
    profile: Profile, known: Mapping[str, str] | None, role: str | None, rules: Mapping[str, Any],
    looks: Looks, tree: Suggestion | None,
) -> list[str]:
    """What is said of a column by what it looks like, and of its lack of a role."""
    name = caseless(profile.name)
    trusted = known is not None or name in rules["trusted"]
    remarks = [NO_ROLE.format(profile.name)] if role is None and rules["rest"] == "error" else []
    if role == "quasi_identifier" and name in (*rules["categorical"], *rules["trusted"]):
        looks, tree = replace(looks, coded=False), None
    if role == "quasi_identifier" and tree is not None and tree.reason is not None and (
        not looks.identifier or trusted
    ) and is_number(profile.sql_type) and name not in rules["by_tree"]:
        remarks.append(code_notice(profile.name, tree))
        looks = replace(looks, coded=False)
    if role in ("quasi_identifier", "other"):
        remarks += notices_of(profile.name, looks, trusted, role == "quasi_identifier")
    if looks.identifier and (trusted or role is None) and (
        role not in ("identifier", "entity")
    ):
        remarks.append("looks like an identifier")
    if profile.distinct + (profile.values < profile.rows) <= 1 and profile.rows > 1:
        remarks.append("constant: all rows have the same value")
    return remarks


def determined(codes: Sequence[Labels], sizes: Sequence[int]) -> list[tuple[int, int]]:
    """The pairs (a, b) of columns where rows that agree in a agree in b, without constants and
    without columns that nearly tell all rows apart.

    Args:
        codes: int64, shape (rows,) each; the values, numbered from 0.
        sizes: how many values each column has.
    """
    if not codes:
        return []
    rows = len(codes[0])
    able = [j for j, size in enumerate(sizes) if 1 < size <= 0.9 * rows]
    return [
        (a, b) for a in able for b in able
        if a != b and sizes[a] >= sizes[b]
        and determines(codes[a][:SAMPLE], codes[b][:SAMPLE], sizes[a])
        and (rows <= SAMPLE or determines(codes[a], codes[b], sizes[a]))
    ]
