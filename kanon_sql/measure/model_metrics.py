"""The metrics of privacy models: what was asked of the classes, and what they have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from kanon_sql.constraints import AlphaFrequency, EntityShare, PrivacyModel, RecursiveDiversity
from kanon_sql.measure.metrics import Metric, filled

UNITS = {"l": "values", "c": "ratio", "t": "share", "alpha": "share", "delta": "", "beta": "ratio"}

WORST = {
    "l": "the smallest number of values of a class, as diversity_kind counts them (of 'recursive' "
    "see c_reached); at least l_requested",
    "c": "the largest share of the most frequent value of a class over that of the l-th most "
    "frequent and all rarer ones; below c_requested",
    "t": "the largest distance of a class from all released rows; at most t_requested",
    "alpha": "the largest share of a bounded value of a class; at most alpha_requested",
    "delta": "the largest logarithm of a share of a class over that of all released rows; at most "
    "delta_requested",
    "beta": "the largest gain of a share in a class over that of all released rows; at most "
    "beta_requested",
}

REQUESTED = {
    name: Metric(f"{name}_requested", "", unit, f"the {name} that was asked for", public="yes")
    for name, unit in UNITS.items()
}
REACHED = {
    name: Metric(
        f"{name}_reached", "", unit, f"{WORST[name]}; counted on the released values",
        public="yes",
    )
    for name, unit in UNITS.items()
}
LEAST = {
    name: Metric(
        f"{name}_least_class_size", "", "rows",
        f"no class of fewer rows keeps {name}, given what all rows have",
    )
    for name in UNITS if name != "c"
}
BEFORE = {
    name: Metric(
        f"{name}_violating_before", "", "classes",
        f"classes of the method that didn't keep {name}, before they were changed",
    )
    for name in UNITS if name != "c"
}
LOSS = Metric(
    "constraint_loss", "", "${constraint_unit}",
    "what the privacy models cost: information_loss, or total_il_grouping where the method makes "
    "that small, with them minus that of the classes before",
)
OF_MODELS = (*REQUESTED.values(), *REACHED.values(), *LEAST.values(), *BEFORE.values())
"""Measured once for each model, with the name of its column."""


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
        if isinstance(model, EntityShare):
            continue  # see kanon_sql/measure/person_metrics.py
        option, of = model.option, partial(_of, model.column)
        limit = getattr(model, option)
        by_value = isinstance(model, AlphaFrequency) and bool(model.by_value)
        yield of(
            REQUESTED[option], "NULL" if limit is None else str(limit),
            "'by value'" if by_value else "NULL",
        )
        measured = option
        if isinstance(model, RecursiveDiversity):
            measured = "c"
            yield of(REQUESTED["c"], str(model.c))
        has = filled("(SELECT has FROM __kanon_models${of_models} model = ${j})", j=str(j))
        yield of(REACHED[measured], has)
        yield of(LEAST[option], _fact(f"least_size {j}"))
        yield of(BEFORE[option], _fact(f"violating {j}"))
    if models:
        yield replace(
            LOSS, expression=f"{_fact('loss_with')} - {_fact('loss_without')}"
        )
