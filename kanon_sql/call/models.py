"""From options and roles to the privacy models that every class must keep."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from kanon_sql.call.options import Options
from kanon_sql.call.roles import Roles
from kanon_sql.errors import OptionError, did_you_mean
from kanon_sql.names import caseless
from kanon_sql.option import options_of
from kanon_sql.privacy import MODEL_KINDS, MODELS, OF_MODEL, ModelOptions, PrivacyModel, model_of

AUDITED = tuple(name for kind in MODEL_KINDS.values() for name in kind.audited)
"""The options that say more of a model, which k_anonymity takes though nobody asks for it."""

BY_HIERARCHY = " or ".join(dict.fromkeys(
    model.option for model in MODELS if model.by_hierarchy
))
"""The options of models that may go by a hierarchy, in words."""

_secret: dict[int, int] = {}
"""The seed of each process that has drawn one."""


def secret_seed() -> int:
    """A seed that nobody else knows: the same for all calls of this process, so that the metrics
    speak of the release, and another in a process that was forked."""
    pid = os.getpid()
    if pid not in _secret:
        _secret.clear()
        # within a BIGINT
        _secret[pid] = int.from_bytes(os.urandom(8), "big") >> 1
    return _secret[pid]


def read_models(options: Options, roles: Roles) -> tuple[PrivacyModel, ...]:
    """The models that a call asks for: by the order of its sensitive columns, and of each in the
    order of MODEL_KINDS.

    Raises:
        OptionError: options that don't go together, or name no sensitive column.
    """
    thresholds = {
        name: getattr(options.models, name) for name in MODEL_KINDS if name in options.explicit
    }
    audits = options.call == "k_anonymity"  # which measures without being asked for a threshold
    for name, threshold in OF_MODEL.items():
        if name in options.explicit and threshold not in thresholds and not (
            audits and name in AUDITED
        ):
            raise OptionError(
                f"{name} is given without {threshold}. Add {threshold}, or leave {name} out."
            )
    if audits:
        _refuse_unaudited(options, roles)
    elif options.measure.sensitive_values and not roles.sensitive:
        raise OptionError(
            "sensitive_values is given, and there is no sensitive column. Name it in "
            "sensitive=[...], or leave sensitive_values out."
        )
    if not thresholds:
        if "sensitive_nulls" in options.explicit and not audits:
            asking = list(MODEL_KINDS)
            raise OptionError(
                "sensitive_nulls is given, and k is the only requirement on the classes. Add "
                f"{', '.join(asking[:-1])} or {asking[-1]}, or leave sensitive_nulls out."
            )
        return ()
    if not roles.sensitive:
        raise OptionError(
            f"{next(iter(thresholds))} is given, and there is no sensitive column. Name it in "
            "sensitive=[...]."
        )
    by_option = {
        name: _by_column(name, limit, roles, options.measure.sensitive_values)
        for name, limit in thresholds.items()
    }
    known = [caseless(column) for column in roles.sensitive]
    more = {
        name: _of_columns(name, getattr(options.models, name), set(
            known if audits and name in AUDITED else by_option.get(threshold, ())
        ))
        for name, threshold in OF_MODEL.items()
    }
    for name, limits in by_option.items():
        MODEL_KINDS[name].refuse_odd(limits, more, options.models)
    models = []
    for column in roles.sensitive:
        said = {name: values.get(caseless(column)) for name, values in more.items()}
        for name, limits in by_option.items():
            if caseless(column) in limits:
                models.append(model_of(name, said).read(
                    limits[caseless(column)], said, column=column,
                    nulls=options.models.sensitive_nulls,
                ))
    return tuple(models)


def measured_models(
    models: Iterable[PrivacyModel], asked: ModelOptions, column: str
) -> dict[str, PrivacyModel]:
    """What k_anonymity measures of a sensitive column, by the name under which it tells it: those
    that are asked for, where they measure the same, else with thresholds that say nothing.

    Args:
        models: those that are asked for.
        asked: what is said of them.
        column: the sensitive column.
    """
    models = tuple(models)
    measured = {
        model.audited_as: model.measuring(asked, models, column=column, nulls=asked.sensitive_nulls)
        for model in MODELS
    }
    for model in models:
        if caseless(model.column) == caseless(column) and model.measures_all:
            measured[model.audited_as] = model
    return measured


def _refuse_unaudited(options: Options, roles: Roles) -> None:
    """Raises OptionError for what k_anonymity can't measure."""
    for kind in MODEL_KINDS.values():
        kind.refuse_audit(options.models)
    for name in (*AUDITED, "sensitive_nulls"):
        if name in options.explicit and not roles.sensitive:
            raise OptionError(
                f"{name} is given, and there is no sensitive column. Name it in sensitive=[...]."
            )
    for name in AUDITED:
        said = getattr(options.models, name)
        if isinstance(said, Mapping):
            _of_columns(name, said, {caseless(column) for column in roles.sensitive})


def used_hierarchies(
    models: Iterable[PrivacyModel], hierarchies: Mapping[str, Any], roles: Roles
) -> dict[str, Any]:
    """Those of the hierarchies that are of sensitive columns, where a model goes by them: t by the
    lowest common ancestors, l by the nodes just above the values. They generalize nothing.

    Raises:
        OptionError: no model goes by one, or closeness asks for one that isn't given.
    """
    sensitive = {caseless(column) for column in roles.sensitive}
    used = {name: spec for name, spec in hierarchies.items() if caseless(name) in sensitive}
    going = {caseless(model.column) for model in models if model.goes_by_hierarchy}
    for name in used:
        if caseless(name) not in going:
            raise OptionError(
                f"hierarchies names the sensitive column {name!r}, and no {BY_HIERARCHY} uses it. "
                "Leave it out, or request one."
            )
    with_one = {caseless(name) for name in used}
    for model in models:
        if model.without_hierarchy is not None and caseless(model.column) not in with_one:
            raise OptionError(model.without_hierarchy)
    return used


def _by_column(
    name: str, limit: Any, roles: Roles, sensitive_values: tuple[str, ...]
) -> dict[str, Any]:
    """The limit of each sensitive column, by its name in lower case."""
    known = {caseless(column) for column in roles.sensitive}
    kind = MODEL_KINDS[name]
    values = kind.by_value and isinstance(limit, Mapping) and known.isdisjoint(
        map(caseless, limit)
    )
    if not isinstance(limit, Mapping) or (values and len(known) == 1):
        if len(known) > 1:
            listed = ", ".join(map(repr, roles.sensitive))
            raise OptionError(
                f"{name} is one number, and there are {len(known)} sensitive columns: {listed}. "
                f"Name the column, for example {name} := "
                f"{{'{roles.sensitive[0]}': {kind.example}}}."
            )
        limits = {caseless(roles.sensitive[0]): limit}
    else:
        for column in limit:
            if caseless(column) not in known:
                raise OptionError(
                    f"{name} names {column!r}, which is not a sensitive column. "
                    f"{did_you_mean(column, roles.sensitive)}"
                )
        if len({caseless(column) for column in limit}) < len(limit):
            raise OptionError(f"{name} names a column twice. Name it once.")
        limits = {caseless(column): value for column, value in limit.items()}
    return {
        column: kind.limit_of(value, sensitive_values, len(known))
        for column, value in limits.items()
    }


def _of_columns(name: str, said: Any, asked: set[str]) -> dict[str, Any]:
    """What an option of OF_MODEL says of each column that asks for the model."""
    if not isinstance(said, Mapping):
        return dict.fromkeys(asked, said)
    for column in said:
        if caseless(column) not in asked:
            raise OptionError(
                f"{name} names the column {column!r}, which has no {OF_MODEL[name]}. "
                f"{did_you_mean(column, asked)}"
            )
    default = options_of(MODEL_KINDS[OF_MODEL[name]])[name].default
    defaults: dict[str, Any] = dict.fromkeys(asked, default)
    return defaults | {caseless(column): value for column, value in said.items()}
