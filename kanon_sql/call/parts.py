"""What a call asks for where parts of the rows are releases of their own."""

from __future__ import annotations

from typing import Any

from kanon_sql.call.options import Options
from kanon_sql.call.part_options import PART_CALLS
from kanon_sql.call.roles import Roles
from kanon_sql.errors import OptionError
from kanon_sql.methods import GroupTask
from kanon_sql.methods.auto import AUTO
from kanon_sql.methods.single_attribute.geometry import AttributeGeometry
from kanon_sql.names import caseless
from kanon_sql.option import options_of

TOLD = ("metric", "value", "text", "unit", "description")
"""The columns of metrics, beside which by_part puts those of within."""


def within_of(options: Options) -> tuple[str, ...] | None:
    """The columns that the call names in within; None of a call that knows no parts."""
    if options.call not in (*PART_CALLS, "k_anonymity"):
        return None
    return options.parts.within


def _refuse_without_parts(options: Options, roles: Roles) -> None:
    """Raises OptionError for what is asked of parts where there are none."""
    if roles.within:
        return
    for name in options_of(options.parts):
        if name in options.explicit and name != "within":
            raise OptionError(
                f"{name} is given, and no column divides the rows into parts. Name those that do "
                "in within=['day'], for example."
            )


def refuse_parts(options: Options, task: GroupTask, roles: Roles, has_ledger: bool) -> None:
    """Raises OptionError for what can't be kept in each part by itself."""
    _refuse_without_parts(options, roles)
    if not roles.within:
        return
    if has_ledger:
        raise OptionError(
            "A ledger follows persons through whole releases, and within makes each part one of "
            "its own. Leave within out, or keep a ledger for each part."
        )
    if options.parts.by_part:
        _refuse_by_part(task, roles)
    if task.method is AUTO:
        raise OptionError(
            f"The method {AUTO.name!r} looks at all rows to choose one, and within makes each part "
            "a release of its own. Name a method, or leave within out."
        )
    of_all = isinstance(task.geometry, AttributeGeometry) or task.method.keeps_models
    if of_all:
        raise OptionError(
            f"The method {task.method.name!r} generalizes the values of all rows alike, and within "
            "makes each part a release of its own. Leave within out, or use another method."
        )


def _refuse_by_part(task: GroupTask, roles: Roles) -> None:
    """Raises OptionError for metrics that can't be told of each part."""
    if task.nulls == "suppress":
        raise OptionError(
            "by_part counts the rows of each part, and nulls 'suppress' leaves rows out before "
            "parts are formed. Leave one of them out."
        )
    for name in roles.within:
        if caseless(name) in TOLD:
            raise OptionError(
                f"The column {name!r} of within has the name of one that the metrics have. Rename "
                "it first."
            )


def refuse_audit_in_parts(
    options: Options, roles: Roles, by_persons: bool, measures: bool
) -> None:
    """Raises OptionError for what k_anonymity can't tell in one call."""
    _refuse_without_parts(options, roles)
    if roles.within and measures and (options.parts.by_part or by_persons):
        said = "by_part" if options.parts.by_part else "entity"
        raise OptionError(
            f"within, sensitive and {said} are given, and one call of k_anonymity takes only two "
            "of them. Call it twice."
        )
    if options.parts.by_part and by_persons:
        raise OptionError(
            "by_part and entity are given, and one call of k_anonymity counts either each part or "
            "persons. Call it twice."
        )


def used_part_options(options: Options, roles: Roles) -> dict[str, Any]:
    """The options as they are used, for the metrics; nothing where there are no parts."""
    if not roles.within:
        return {}
    return {"within": list(roles.within), "small_parts": options.parts.small_parts}
