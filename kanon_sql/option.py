"""An option: described once, as a field of the dataclass that holds it.

These dataclasses are the registry. The SQL macros, the Python functions, the shell and the
documentation are made from them; ``options_of(KMemberOptions)`` gives what the fields say.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from kanon_sql.validators import Check

GROUPING_CALLS = (
    "anonymize", "anonymize_clusters", "anonymize_metrics", "suppressed_rows", "anonymize_sql",
    "anonymize_roles", "anonymize_ledger", "anonymize_manifest",
)
AUDITS = ("k_anonymity", "anonymize_audit", "anonymize_risk")
ALL_CALLS = (*GROUPING_CALLS, *AUDITS)
LEDGER_CHECK = "ledger_check"
"""The audit of a ledger, whose columns have no roles: of all options it takes k."""
MEASURED_CALLS = (*GROUPING_CALLS, "anonymize_audit")


@dataclass(frozen=True)
class Option:
    """One option.

    Attributes:
        name: what a user types, in every face.
        type: its SQL type, for the documentation.
        default: the value when it isn't given, as checked.
        default_text: how the documentation names the default.
        description: one sentence or more; of a method's option without the method's name.
        check: checks a value and brings it to its Python form; raises OptionError.
        calls: the SQL calls that take it.
        columns: whether its value names columns of the relation.
        relation: whether its value names another relation.
        common: whether most users want it, so that the help of a command lists it.
        topic: what it is about, in the help of a command, where not what its dataclass is about.
        proven: whether the query checks that the release keeps it, by the argument in
            docs/proof.md. What any other option is for is measured at most.
        compiles: a value with which a method needs other kernels than without, if there is one.
    """

    name: str
    type: str
    default: Any
    default_text: str
    description: str
    check: Check[Any]
    calls: tuple[str, ...] = GROUPING_CALLS
    columns: bool = False
    relation: bool = False
    common: bool = False
    topic: str | None = None
    proven: bool = False
    compiles: Any = None

    def read(self, value: Any) -> Any:
        """The value in its Python form. Raises OptionError."""
        return self.check(self.name, value)


def _text_of(default: Any) -> str:
    if default is None or default == () or default == {}:
        return "none"
    if isinstance(default, bool):
        return str(default).lower()
    return f"{default:g}" if isinstance(default, float) else repr(default)


def option(
    default: Any, check: Check[Any], description: str, *, type: str = "VARCHAR",
    default_text: str | None = None, **more: Any,
) -> Any:
    """A field of a dataclass of options: its default, its check, and what it means.

    Args:
        default: the value when it isn't given, in its Python form.
        check: see kanon_sql.validators.
        description: what it means.
        type: its SQL type.
        default_text: how the documentation names the default, where the value doesn't say it.
        more: the other attributes of Option.
    """
    said = {
        "type": type, "default": default, "check": check, "description": description,
        "default_text": _text_of(default) if default_text is None else default_text, **more,
    }
    if isinstance(default, dict):
        return field(default_factory=dict, metadata=said)
    return field(default=default, metadata=said)


def options_of(holder: Any) -> dict[str, Option]:
    """The options that a dataclass of options has, by name, in its order."""
    return {f.name: Option(f.name, **f.metadata) for f in fields(holder)}
