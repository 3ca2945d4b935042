"""From options and roles to the privacy models that every class must keep."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from kanon_sql.call.options import ModelOptions, Options
from kanon_sql.call.roles import Roles
from kanon_sql.constraints import (
    AlphaFrequency,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    PrivacyModel,
    RecursiveDiversity,
)
from kanon_sql.errors import OptionError, did_you_mean
from kanon_sql.names import caseless

THRESHOLDS = {"l": "3", "t": "0.2", "alpha": "0.5", "delta": "1.5", "beta": "2"}
"""The options that each ask for a model, in the order of a column's models, with an example."""

OF_MODEL = {"diversity_kind": "l", "c": "l", "closeness": "t", "beta_kind": "beta"}
"""The options that say more of one of those."""

_secret: dict[int, int] = {}
"""The seed of each process that has drawn one."""


def secret_seed() -> int:
    """A seed that nobody else knows: the same for all calls of this process, so that the metrics
    speak of the release, and another in a process that was forked."""
    here = os.getpid()
    if here not in _secret:
        _secret.clear()
        # within a BIGINT
        _secret[here] = int.from_bytes(os.urandom(8), "big") >> 1
    return _secret[here]


def read_models(options: Options, roles: Roles) -> tuple[PrivacyModel, ...]:
    """The models that a call asks for: by the order of its sensitive columns, and of each in the
    order of THRESHOLDS.

    Raises:
        OptionError: options that don't go together, or name no sensitive column.
    """
    given = {name: getattr(options.models, name) for name in THRESHOLDS if name in options.given}
    audits = options.call == "k_anonymity"  # which measures without being asked for a threshold
    for name, threshold in OF_MODEL.items():
        if name in options.given and threshold not in given and not (
            audits and name == "closeness"
        ):
            raise OptionError(
                f"{name} is given without {threshold}. Add {threshold}, or leave {name} out."
            )
    if audits:
        _refuse_unaudited(options, roles)
    if not given:
        if "sensitive_nulls" in options.given and not audits:
            raise OptionError(
                "sensitive_nulls is given, and no class is held to anything but k. Add "
                f"{', '.join(list(THRESHOLDS)[:-1])} or beta, or leave sensitive_nulls out."
            )
        return ()
    if not roles.sensitive:
        raise OptionError(
            f"{next(iter(given))} is given, and there is no sensitive column. Name it in "
            "sensitive=[...]."
        )
    by_option = {
        name: _by_column(name, limit, roles, options.measure.sensitive_values)
        for name, limit in given.items()
    }
    known = [caseless(column) for column in roles.sensitive]
    more = {
        name: _of_columns(name, getattr(options.models, name), set(
            known if audits and name == "closeness" else by_option.get(threshold, ())
        ))
        for name, threshold in OF_MODEL.items()
    }
    named = tuple(options.models.c) if isinstance(options.models.c, Mapping) else ()
    _refuse_odd_kinds(by_option.get("l", {}), more["diversity_kind"], more["c"], named)
    found = []
    for column in roles.sensitive:
        said = {name: values.get(caseless(column)) for name, values in more.items()}
        for name, limits in by_option.items():
            if caseless(column) in limits:
                shared = {"column": column, "nulls": options.models.sensitive_nulls}
                found.append(_model(name, limits[caseless(column)], said, shared))
    return tuple(found)


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
    nulls, closeness = asked.sensitive_nulls, asked.closeness
    if isinstance(closeness, str) and any(isinstance(model, Closeness) for model in models):
        closeness = None  # it is said of the columns for which t is asked
    if isinstance(closeness, Mapping):
        closeness = {caseless(name): word for name, word in closeness.items()}.get(caseless(column))
    own = [model for model in models if caseless(model.column) == caseless(column)]
    # of a whole l at least
    rank = next((int(model.l) for model in own if isinstance(model, DIVERSITIES)), 2)
    found: dict[str, PrivacyModel] = {
        "l_distinct": DistinctDiversity(column, nulls, l=2),
        "l_entropy": EntropyDiversity(column, nulls, l=2.0),
        "c": RecursiveDiversity(column, nulls, l=rank, c=1.0),
        "t": Closeness(column, nulls, t=1.0, distance=closeness),
        "alpha": AlphaFrequency(column, nulls, alpha=1.0),
        "delta": DeltaDisclosure(column, nulls, delta=1.0),
        "beta": BetaLikeness(column, nulls, beta=1.0, kind="basic"),
    }
    for model in own:
        for name, measured in found.items():
            of_some = isinstance(model, AlphaFrequency) and model.by_value
            if type(measured) is type(model) and not of_some:
                found[name] = model
    return found


DIVERSITIES = (DistinctDiversity, EntropyDiversity, RecursiveDiversity)


def _refuse_unaudited(options: Options, roles: Roles) -> None:
    """Raises OptionError for what k_anonymity can't measure."""
    said = options.models.closeness
    if "hierarchy" in (said.values() if isinstance(said, Mapping) else (said,)):
        raise OptionError(
            "closeness 'hierarchy' needs a hierarchy, and k_anonymity takes none. Choose another."
        )
    for name in ("closeness", "sensitive_nulls"):
        if name in options.given and not roles.sensitive:
            raise OptionError(
                f"{name} is given, and there is no sensitive column. Name it in sensitive=[...]."
            )
    if isinstance(said, Mapping):
        _of_columns("closeness", said, {caseless(column) for column in roles.sensitive})


def used_hierarchies(
    models: Iterable[PrivacyModel], given: Mapping[str, Any], roles: Roles
) -> dict[str, Any]:
    """Those of the hierarchies that are of sensitive columns, where a model goes by them: t by the
    lowest common ancestors, l by the nodes just above the values. They generalize nothing.

    Raises:
        OptionError: no model goes by one, or closeness asks for one that isn't given.
    """
    sensitive = {caseless(column) for column in roles.sensitive}
    found = {name: spec for name, spec in given.items() if caseless(name) in sensitive}
    going = {
        caseless(model.column) for model in models
        if isinstance(model, DIVERSITIES)
        or (isinstance(model, Closeness) and model.distance in (None, "hierarchy"))
    }
    for name in found:
        if caseless(name) not in going:
            raise OptionError(
                f"hierarchies names the sensitive column {name!r}, and no l or t goes by it. Leave "
                "it out, or ask for one."
            )
    with_one = {caseless(name) for name in found}
    for model in models:
        if isinstance(model, Closeness) and model.distance == "hierarchy" and (
            caseless(model.column) not in with_one
        ):
            raise OptionError(
                f"closeness 'hierarchy' needs a hierarchy of the column {model.column!r}. Add it "
                "to hierarchies, or choose another closeness."
            )
    return found


def _model(
    option: str, limit: Any, said: Mapping[str, Any], shared: Mapping[str, Any]
) -> PrivacyModel:
    """One model.

    Args:
        option: the one of THRESHOLDS that asks for it.
        limit: its value for the column.
        said: those of OF_MODEL for the column.
        shared: the attributes that every model has.
    """
    if option == "l" and said["diversity_kind"] == "entropy":
        return EntropyDiversity(l=limit, **shared)
    if option == "l" and said["diversity_kind"] == "recursive":
        return RecursiveDiversity(l=int(limit), c=said["c"], **shared)
    if option == "l":
        return DistinctDiversity(l=int(limit), **shared)
    if option == "t":
        return Closeness(t=limit, distance=said["closeness"], **shared)
    if option == "alpha":
        plain = limit if not isinstance(limit, Mapping) else None
        values = limit if isinstance(limit, Mapping) else {}
        return AlphaFrequency(alpha=plain, by_value=tuple(sorted(values.items())), **shared)
    if option == "delta":
        return DeltaDisclosure(delta=limit, **shared)
    return BetaLikeness(beta=limit, kind=said["beta_kind"], **shared)


def _by_column(
    name: str, limit: Any, roles: Roles, sensitive_values: tuple[str, ...]
) -> dict[str, Any]:
    """The limit of each sensitive column, by its name in lower case."""
    known = {caseless(column) for column in roles.sensitive}
    values = name == "alpha" and isinstance(limit, Mapping) and known.isdisjoint(
        map(caseless, limit)
    )
    if not isinstance(limit, Mapping) or (values and len(known) == 1):
        if len(known) > 1:
            listed = ", ".join(map(repr, roles.sensitive))
            raise OptionError(
                f"{name} is one number, and there are {len(known)} sensitive columns: {listed}. "
                f"Say of which, for example {name} := {{'{roles.sensitive[0]}': "
                f"{THRESHOLDS[name]}}}."
            )
        limits = {caseless(roles.sensitive[0]): limit}
    else:
        for column in limit:
            if caseless(column) not in known:
                raise OptionError(
                    f"{name} names {column!r}, which is no sensitive column. "
                    f"{did_you_mean(column, roles.sensitive)}"
                )
        if len({caseless(column) for column in limit}) < len(limit):
            raise OptionError(f"{name} names a column twice. Name it once.")
        limits = {caseless(column): value for column, value in limit.items()}
    if name == "alpha":
        return {
            column: _of_values(value, sensitive_values, len(known))
            for column, value in limits.items()
        }
    return limits


def _of_values(limit: Any, sensitive_values: tuple[str, ...], columns: int) -> Any:
    """The alpha of one column: a number, or numbers by value where only some are bounded."""
    if isinstance(limit, Mapping):
        if any(isinstance(value, Mapping) for value in limit.values()):
            raise OptionError(
                "alpha has values within values. Give a number for each value of a column, such "
                "as {'disease': MAP {'HIV': 0.1}}."
            )
        return limit
    if not sensitive_values:
        return limit
    if columns > 1:
        raise OptionError(
            "alpha bounds the sensitive_values, and there are several sensitive columns. Give a "
            "number for each value instead, such as {'disease': MAP {'HIV': 0.1}}."
        )
    return dict.fromkeys(sensitive_values, limit)


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
    found: dict[str, Any] = dict.fromkeys(asked, DEFAULTS[name])
    return found | {caseless(column): value for column, value in said.items()}


DEFAULTS = {"diversity_kind": "distinct", "c": None, "closeness": None, "beta_kind": "enhanced"}
"""Of the options of OF_MODEL, where they name other columns only."""


def _refuse_odd_kinds(
    limits: Mapping[str, float], kinds: Mapping[str, str], c: Mapping[str, float | None],
    named: tuple[str, ...],
) -> None:
    """Raises OptionError for an l that its kind doesn't take, and for c where it means nothing;
    ``named`` are the columns that it names."""
    for column, limit in limits.items():
        kind = kinds[column]
        if kind == "recursive" and c[column] is None:
            raise OptionError(
                "diversity_kind 'recursive' needs c. Add it, for example c := 3."
            )
        if kind != "entropy" and limit != int(limit):
            raise OptionError(
                f"l must be a whole number with diversity_kind {kind!r}. Got {limit!r}."
            )
    for_nothing = [column for column in named if kinds.get(caseless(column)) != "recursive"]
    if for_nothing or (any(c.values()) and "recursive" not in kinds.values()):
        of = f" of {for_nothing[0]!r}" if for_nothing else ""
        raise OptionError(
            f"c is given, and diversity_kind{of} is not 'recursive'. Add diversity_kind := "
            "'recursive', or leave c out."
        )
