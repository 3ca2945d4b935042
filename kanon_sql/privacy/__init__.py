"""What every class of a release must keep: k-anonymity, and the privacy models beside it; and what
all classes must keep together.

Each of these is kept by the union of two classes that keep it, so that merging always repairs and
never breaks. A model is one class of one module, and stands here in MODELS, its options in
ModelOptions; see model.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kanon_sql.option import options_of
from kanon_sql.privacy.average_risk import AverageRisk, AverageRiskOptions
from kanon_sql.privacy.beta import BetaLikeness, BetaOptions
from kanon_sql.privacy.delta import DeltaDisclosure, DeltaOptions
from kanon_sql.privacy.entity import EntityShare
from kanon_sql.privacy.frequency import AlphaFrequency, AlphaOptions
from kanon_sql.privacy.k_anonymity import KAnonymity
from kanon_sql.privacy.k_map import KMap, KMapOptions
from kanon_sql.privacy.l_diversity import (
    DistinctDiversity,
    DiversityOptions,
    EntropyDiversity,
    RecursiveDiversity,
)
from kanon_sql.privacy.model import (
    NULLS,
    Constraint,
    KindOptions,
    NullOptions,
    PrivacyModel,
    Threshold,
)
from kanon_sql.privacy.population import PopulationConstraint
from kanon_sql.privacy.t_closeness import Closeness, ClosenessOptions
from kanon_sql.privacy.whole import WholeConstraint

__all__ = [
    "CONSTRAINTS",
    "MODELS",
    "MODEL_KINDS",
    "NULLS",
    "OF_MODEL",
    "OF_POPULATION",
    "THRESHOLDS",
    "WHOLE",
    "AlphaFrequency",
    "AverageRisk",
    "BetaLikeness",
    "Closeness",
    "Constraint",
    "DeltaDisclosure",
    "DistinctDiversity",
    "EntityShare",
    "EntropyDiversity",
    "KAnonymity",
    "KMap",
    "ModelOptions",
    "PopulationConstraint",
    "PopulationOptions",
    "PrivacyModel",
    "RecursiveDiversity",
    "Threshold",
    "WholeConstraint",
    "WholeOptions",
    "for_mergers",
    "for_trial",
    "model_of",
    "read_constraint",
]

MODELS: tuple[type[PrivacyModel], ...] = (
    DistinctDiversity, EntropyDiversity, RecursiveDiversity, Closeness, AlphaFrequency,
    DeltaDisclosure, BetaLikeness,
)
"""Those that options ask for, in the order of a column's models."""


@dataclass(frozen=True)
class ModelOptions(
    NullOptions,
    BetaOptions, DeltaOptions, AlphaOptions, ClosenessOptions, DiversityOptions,
):
    """What every class must keep beside k; each is checked on the released values. The fields of
    the last class come first, as Python has it."""


MODEL_KINDS: dict[str, type[KindOptions]] = {model.option: model.options for model in MODELS}
"""The kinds of models, by the option that asks for each."""

OF_MODEL = {
    name: threshold for threshold, kind in MODEL_KINDS.items() for name in options_of(kind)
    if name != threshold
}
"""The options that say more of a model, and that which asks for it."""

THRESHOLDS = tuple({
    threshold.name: threshold for model in MODELS for threshold in model.thresholds
}.values())
"""What can be asked of the models, each once."""

WHOLE: tuple[type[WholeConstraint], ...] = (AverageRisk,)
"""What options ask of all classes together."""


@dataclass(frozen=True)
class WholeOptions(AverageRiskOptions):
    """What all classes must keep together; it is checked on the released values."""


OF_POPULATION: tuple[type[PopulationConstraint], ...] = (KMap,)
"""What options ask of the classes, held against a population."""


@dataclass(frozen=True)
class PopulationOptions(KMapOptions):
    """What every class must have of a population; it is checked on the released classes."""


_KINDS: tuple[type[Constraint], ...] = (
    KAnonymity, EntityShare, *MODELS, *WHOLE, *OF_POPULATION
)
CONSTRAINTS: dict[str, type[Constraint]] = {kind.name: kind for kind in _KINDS}
"""By its word, all that classes can be asked to keep."""


def model_of(option: str, said: Mapping[str, Any]) -> type[PrivacyModel]:
    """The model that an option asks for.

    Args:
        option: one of MODEL_KINDS.
        said: what the other options of the kind say; where that is nothing that one could say,
            the first of its models.
    """
    kind = [model for model in MODELS if model.option == option]
    return next((model for model in kind if model.is_meant(said)), kind[0])


def for_trial(column: str) -> PrivacyModel:
    """A model for a trial run: kernels are the same for all but those that bound each value."""
    return Closeness(column=column, t=0.1)


def for_rare_values(column: str) -> PrivacyModel:
    """A model for a trial run that bounds each value."""
    return BetaLikeness(column=column, beta=1.0)


def for_mergers() -> WholeConstraint:
    """A demand for a trial run that merges half of the classes of two records."""
    return AverageRisk(0.25)


def read_constraint(data: Mapping[str, Any]) -> Constraint:
    """The constraint that ``Constraint.as_json`` wrote."""
    values = {name: _tuples(value) for name, value in data.items() if name != "name"}
    return CONSTRAINTS[data["name"]](**values)


def _tuples(value: Any) -> Any:
    """The value with tuples where JSON has lists."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
