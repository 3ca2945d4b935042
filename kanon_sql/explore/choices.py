"""What a person chose on the page, and the options of a call that this is.

Everything here is pure: no page, no data and no connection.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kanon_sql.call.declarations import ROLES
from kanon_sql.errors import OptionError, did_you_mean
from kanon_sql.hierarchies.kinds import KINDS, check_kind

UNDECIDED = ""
"""The role of a column that has none yet."""

GENERALIZED = "quasi_identifier"
BY_ROLE = {
    "quasi_identifier": "quasi_identifiers", "sensitive": "sensitive",
    "identifier": "identifiers", "within": "within",
}
"""The options that list the columns of a role."""

CONTROLS = ("k", "l", "t", "method", "effort")
"""The controls that a refusal may be about, by the name of the option."""


@dataclass(frozen=True)
class ChosenHierarchy:
    """The hierarchy of a column.

    Attributes:
        kind: one of KINDS.
        options: the options of the kind by name, as they were typed.
    """

    kind: str
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Choices:
    """Everything that was chosen.

    Attributes:
        roles: the role of each column, one of ROLES or UNDECIDED; in the order of the columns.
        hierarchies: of the columns that have one. Those of columns that aren't generalized are kept
            for when they are again, and have no effect.
        k: the least rows of a class.
        l, t: of every sensitive column, or None.
        method: the method.
        effort: how long it searches; None for the method's own.
    """

    roles: Mapping[str, str]
    hierarchies: Mapping[str, ChosenHierarchy] = field(default_factory=dict)
    k: int = 5
    l: int | None = None
    t: float | None = None
    method: str = "mdav_star"
    effort: str | None = None

    def of_role(self, role: str) -> list[str]:
        """The columns of a role."""
        return [column for column, own in self.roles.items() if own == role]

    def with_role(self, column: str, role: str) -> Choices:
        """The same with another role of a column."""
        if role not in (*ROLES, UNDECIDED):
            raise OptionError(f"There is no role {role!r}. {did_you_mean(role, ROLES)}")
        return replace(self, roles={**self.roles, column: role})

    def with_hierarchy(self, column: str, kind: str, **options: str) -> Choices:
        """The same with another hierarchy of a column; with none where ``kind`` is empty."""
        others = {name: each for name, each in self.hierarchies.items() if name != column}
        if kind:
            others[column] = ChosenHierarchy(
                kind, {name: text for name, text in options.items() if text.strip()}
            )
        return replace(self, hierarchies=others)

    def key(self) -> str:
        """A text that is the same for the same choices."""
        return json.dumps([
            list(self.roles.items()),
            sorted((name, each.kind, *each.options.items())
                   for name, each in self.hierarchies.items()),
            self.k, self.l, self.t, self.method, self.effort,
        ])


def first_choices(columns: Sequence[Mapping[str, Any]]) -> Choices:
    """What to begin with: declared roles, else those that the values suggest, else a
    quasi-identifier, as in a call that names none.

    Args:
        columns: what anonymize_roles reports of each.
    """
    entities = [each for each in columns if each["suggested_role"] == "entity"]
    roles = {}
    for each in columns:
        if each["role_from"] not in ("default", None):
            roles[each["column_name"]] = str(each["role"])
            continue
        roles[each["column_name"]] = {
            "identifier": "identifier",
            "entity": "entity" if len(entities) == 1 else "identifier",
        }.get(each["suggested_role"], GENERALIZED)
    return Choices(roles)


def as_spec(suggested: str) -> Any:
    """A hierarchy as the option has it, from what anonymize_roles reports: a kind, or a kind with
    options as JSON."""
    return json.loads(suggested) if suggested.startswith("{") else suggested


def refuse_undecided(choices: Choices) -> None:
    """Raises OptionError for columns without a role."""
    left = choices.of_role(UNDECIDED)
    if left:
        named = ", ".join(map(repr, left[:5])) + (", ..." if len(left) > 5 else "")
        have = "1 column has" if len(left) == 1 else f"{len(left)} columns have"
        raise OptionError(f"{have} no role: {named}. Choose one for each.")


def options_of(choices: Choices) -> dict[str, Any]:
    """The options of anonymize.

    Raises:
        OptionError: a column has no role, several are the entity, or a hierarchy can't be read.
    """
    refuse_undecided(choices)
    options: dict[str, Any] = {"k": choices.k}
    for role, option in BY_ROLE.items():
        if named := choices.of_role(role):
            options[option] = named
    if GENERALIZED not in choices.roles.values():
        raise OptionError("There is no quasi-identifier. Give one column or more this role.")
    entities = choices.of_role("entity")
    if len(entities) > 1:
        raise OptionError(
            f"The column {entities[1]!r} is a second entity. Give it another role."
        )
    if entities:
        options["entity"] = entities[0]
    if choices.of_role("other"):
        options["others"] = "release"
    if hierarchies := hierarchies_of(choices):
        options["hierarchies"] = hierarchies
    options |= model_options(choices)
    options["method"] = choices.method
    if choices.effort is not None:
        options["effort"] = choices.effort
    return options


def model_options(choices: Choices) -> dict[str, Any]:
    """The privacy models, by sensitive column. Without such a column there are none."""
    sensitive = choices.of_role("sensitive")
    return {
        name: dict.fromkeys(sensitive, value)
        for name, value in (("l", choices.l), ("t", choices.t))
        if value is not None and sensitive
    }


def hierarchies_of(choices: Choices) -> dict[str, Any]:
    """The hierarchies of the columns that are generalized, as the option has them.

    Raises:
        OptionError: one can't be read.
    """
    return {
        column: read_hierarchy(column, choices.hierarchies[column])
        for column in choices.of_role(GENERALIZED) if column in choices.hierarchies
    }


def read_hierarchy(column: str, chosen: ChosenHierarchy) -> str | dict[str, Any]:
    """A hierarchy as the option has it: a kind, or a kind with options.

    Raises:
        OptionError: there is no such kind, or an option can't be what was typed.
    """
    if chosen.kind not in KINDS:
        raise OptionError(
            f"The kind {chosen.kind!r} of the hierarchy of {column!r} is not known. "
            f"{did_you_mean(chosen.kind, KINDS)}"
        )
    typed = {name: _value(name, text) for name, text in chosen.options.items() if text.strip()}
    check_kind(column, {"kind": chosen.kind, **typed})
    return {"kind": chosen.kind, **typed} if typed else chosen.kind


def _value(name: str, text: str) -> Any:
    """What was typed into a field: JSON, or a string; a ranking may be words with commas."""
    try:
        value = json.loads(text)
    except ValueError:
        value = text.strip()
    if isinstance(value, (bool, dict)) or value is None or value in (float("inf"), -float("inf")):
        value = text.strip()
    if name == "ranking" and not isinstance(value, list):
        value = [part.strip() for part in text.split(",")]
    return value


def control_of(sentence: str, choices: Choices) -> str:
    """Where a refusal is shown: 'k', 'l', 't', 'method', 'effort', 'column:' with a name, or '' for
    a place of its own."""
    named = re.match(rf"(?:The )?({'|'.join(CONTROLS)})\b", sentence)
    named = named or re.search(r"\b([klt]) = [\d.]", sentence)
    if named:
        return named[1]
    places = {
        column: place for column in choices.roles
        if (place := sentence.find(repr(column))) >= 0
    }
    if not places:
        return ""
    return f"column:{min(places, key=lambda column: (places[column], column))}"
