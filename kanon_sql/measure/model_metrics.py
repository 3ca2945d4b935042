"""The metrics of privacy models: what was asked of the classes, and what they have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from kanon_sql.measure.metrics import Metric, filled
from kanon_sql.privacy import (
    MODEL_KINDS,
    OF_POPULATION,
    THRESHOLDS,
    WHOLE,
    PopulationConstraint,
    PrivacyModel,
    WholeConstraint,
)

REQUESTED = {
    each.name: Metric(
        f"{each.name}_requested", "", each.unit, f"the requested {each.name}",
        public="yes",
    )
    for each in THRESHOLDS
}
REACHED = {
    each.name: Metric(
        each.name, "", each.unit,
        f"{each.reached}; {each.bound} {each.name}_requested; counted on the released values",
        public="yes",
    )
    for each in THRESHOLDS
}
LEAST = {
    name: Metric(
        f"{name}_least_class_size", "", "rows",
        f"no class of fewer rows can keep {name}, given the values of all rows",
    )
    for name in MODEL_KINDS
}
BEFORE = {
    name: Metric(
        f"{name}_violating_before", "", "classes",
        f"classes of the method that violated {name}, before they were repaired",
    )
    for name in MODEL_KINDS
}
LOSS = Metric(
    "constraint_loss", "", "${constraint_unit}",
    "the cost of the privacy models: information_loss (total_il_grouping for methods that minimize "
    "it) with them, minus that of the classes before",
)
OF_MODELS = (*REQUESTED.values(), *REACHED.values(), *LEAST.values(), *BEFORE.values())
"""Measured once for each model, with the name of its column."""


OF_ALL_CLASSES = {
    kind.option: Metric(kind.requested.name, "", *kind.requested[1:], public="yes")
    for kind in WHOLE
}
"""What was asked of all classes together, by the option; other metrics tell what was reached."""

OF_PEOPLE = {
    kind.option: tuple(
        Metric(each.name, expression, *each[1:], public="yes") for each, expression in (
            (kind.requested, ""), (kind.reached, "(SELECT least FROM __kanon_covered)")
        )
    ) for kind in OF_POPULATION
}
"""What was asked of the people whom classes cover, and what was reached, by the option."""


def _fact(name: str) -> str:
    """SQL of a fact that the enforcement reports; NULL where it didn't."""
    return filled("(grouped ->> '${name}')::DOUBLE", name=name)


def _of(column: str, metric: Metric, expression: str, beside: str = "NULL") -> Metric:
    """A metric of a column."""
    return replace(
        metric, name=f"{metric.name} ({column})", expression=expression, beside=beside
    )


def model_metrics(models: Sequence[PrivacyModel]) -> Iterator[Metric]:
    """The metrics of the models of a call, over the columns of ``_facts`` and __kanon_models."""
    for j, model in enumerate(models):
        if not model.thresholds:
            continue  # see kanon_sql/measure/person_metrics.py
        of = partial(_of, model.column)
        for name in (each.name for each in model.thresholds):
            limit = getattr(model, name)
            yield of(
                REQUESTED[name], "NULL" if limit is None else str(limit),
                "'by value'" if model.of_values else "NULL",
            )
        has = filled("(SELECT has FROM __kanon_models${of_models} model = ${j})", j=str(j))
        yield of(REACHED[model.thresholds[-1].name], has)
        yield of(LEAST[model.option], _fact(f"least_size {j}"))
        yield of(BEFORE[model.option], _fact(f"violating {j}"))
    if models:
        yield replace(
            LOSS, expression=f"{_fact('loss_with')} - {_fact('loss_without')}"
        )


def metrics_of_others(
    whole: Sequence[WholeConstraint], people: Sequence[PopulationConstraint]
) -> Iterator[Metric]:
    """The metrics of what a call asks of all classes together, and of a population."""
    for each in whole:
        yield replace(OF_ALL_CLASSES[each.option], expression=str(each.limit))
    for demand in people:
        requested, reached = OF_PEOPLE[demand.option]
        yield from (replace(requested, expression=str(demand.limit)), reached)
