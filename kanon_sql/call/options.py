"""The options of the calls. Together with those of the methods, they are the registry from which
the SQL macros, the Python functions, the shell and the documentation are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kanon_sql import renamed
from kanon_sql.call.choices import (
    DISTANCES,
    EFFORTS,
    ENTITY_ROWS,
    LOSSES,
    NULLS,
    OTHERS,
    REPRESENTATIONS,
)
from kanon_sql.call.ledger_options import LedgerOptions
from kanon_sql.call.option_aliases import WISHED_METHODS, option_hint
from kanon_sql.call.part_options import PartOptions
from kanon_sql.call.risk_options import RiskOptions, k_of, refuse_together
from kanon_sql.call.run_options import RunOptions
from kanon_sql.errors import OptionError
from kanon_sql.methods import CHOICES, METHODS
from kanon_sql.methods.option import MethodOptions
from kanon_sql.option import (
    ALL_CALLS,
    AUDITS,
    GROUPING_CALLS,
    LEDGER_CHECK,
    MEASURED_CALLS,
    Option,
    option,
    options_of,
)
from kanon_sql.privacy import ModelOptions
from kanon_sql.validators import (
    flag,
    hierarchies,
    name_like,
    names,
    one_by_column,
    one_of,
    positive,
    share,
    texts,
    weights,
    whole,
)

__all__ = [
    "ALL_CALLS", "AUDITS", "GROUPING_CALLS", "GROUPS", "MEASURED_CALLS", "OPTIONS", "SPECIAL",
    "GroupOptions", "LedgerOptions", "MeasureOptions", "Options", "PartOptions",
    "ReleaseOptions", "RiskOptions", "RoleOptions", "RunOptions", "read_options",
]


@dataclass(frozen=True)
class RoleOptions:
    """Which column has which role."""

    quasi_identifiers: tuple[str, ...] = option(
        (), names, "The columns to generalize, because together they may identify a person.",
        type="VARCHAR[]", default_text="declared, else all columns without a role",
        calls=ALL_CALLS, columns=True, common=True,
    )
    sensitive: tuple[str, ...] = option(
        (), names, "The columns that pass unchanged because they are what the release is for.",
        type="VARCHAR[]", default_text="declared, else none", calls=ALL_CALLS, columns=True,
        common=True,
    )
    identifiers: tuple[str, ...] = option(
        (), names, "The columns to drop, because each alone identifies a person.",
        type="VARCHAR[]", default_text="declared, else none", calls=ALL_CALLS, columns=True,
        common=True,
    )
    entity: str | None = option(
        None, name_like("'patient_id'"),
        "The column that says whose row a row is, where persons have several: k, suppress and "
        "privacy models then count persons. It is dropped.",
        default_text="declared, else none: each row is a person's only one",
        calls=(*GROUPING_CALLS, "k_anonymity"), columns=True, common=True,
    )
    entity_rows: str = option(
        "together", one_of(ENTITY_ROWS),
        "Where the rows of a person go: "
        + "; ".join(f"'{name}': {text}" for name, text in ENTITY_ROWS.items()) + ".",
    )
    others: str | None = option(
        None, one_of(OTHERS),
        "What becomes of columns that nobody gave a role: "
        + "; ".join(f"'{name}' {text}" for name, text in OTHERS.items())
        + ". One that looks like an identifier comes out as NULL.",
        default_text="'error' where somebody names quasi-identifiers, else 'quasi_identifier'",
        common=True,
    )
    roles: str | None = option(
        None, name_like("'my_roles'"),
        "A relation that gives columns their roles: column_name, role, and for quasi-identifiers "
        "also hierarchy, representation and column_weight. The call wins over it, and it "
        "over comments.",
        default_text="none", calls=ALL_CALLS, relation=True,
    )
    categorical: tuple[str, ...] = option(
        (), names,
        "The quasi-identifiers whose values are categories though their type has an order, such as "
        "codes that are integers.",
        type="VARCHAR[]", calls=MEASURED_CALLS, columns=True,
    )
    class_label: str | None = option(
        None, name_like("'income'"),
        "A column that a classifier is to learn from the release; it passes unchanged, "
        "classification_metric is measured for it, and k_member prefers rows with the label of the "
        "majority of their class.",
        calls=MEASURED_CALLS, columns=True,
    )


@dataclass(frozen=True)
class GroupOptions:
    """How rows are put into classes."""

    k: int | None = option(
        None, whole(1),
        "The least number of released rows that share each combination of quasi-identifiers; for "
        "audits the k below which classes, rows and persons are counted (optional there).",
        type="INTEGER", default_text="must be given", calls=(*ALL_CALLS, LEDGER_CHECK),
        common=True, topic="models",
    )
    method: str = option(
        "mdav_star", one_of(CHOICES, elsewhere=WISHED_METHODS),
        "How rows are put into groups; anonymize_methods() lists all, and 'auto' chooses one by "
        "what is released, the types of the columns and the number of rows; the metrics say "
        "which.", common=True,
    )
    distance: str | None = option(
        None, one_of(DISTANCES),
        "The geometry in which a method works: "
        + "; ".join(f"'{name}' is {text}" for name, text in DISTANCES.items()) + ".",
        default_text="the method's own, 'sse' for the MDAV family",
    )
    loss: str = option(
        "range_flat", one_of(LOSSES),
        "What distance 'loss' charges beside the range of numbers: with "
        + "; with ".join(f"'{name}' {text}" for name, text in LOSSES.items()) + ".",
    )
    column_weights: Mapping[str, float] = option(
        {}, weights,
        "How much a quasi-identifier counts in the grouping: its total variance, so squared "
        "distances along it are multiplied by it, and so is its information loss; 0 leaves it out "
        "of the grouping only.",
        type="STRUCT or MAP", default_text="1 for every column", calls=MEASURED_CALLS,
    )
    suppress: float = option(
        0.0, share,
        "The share of the rows that may be left out where that lowers the loss; each costs what a "
        "row costs that is generalized to nothing in every quasi-identifier.",
        type="DOUBLE", default_text="0", common=True, topic="release",
    )
    nulls: str = option(
        "value", one_of(NULLS),
        "What a NULL or NaN in a quasi-identifier is: 'value' groups it nearest to its like, "
        "'suppress' leaves such rows out and counts them, 'error' refuses.",
    )
    seed: int = option(
        0, whole(0),
        "Decides the order among equal rows, the order of the release and class_id; the same seed "
        "gives the same release.",
        type="BIGINT", default_text="0; with a privacy model a secret one, drawn once per process",
        common=True,
    )
    effort: str | None = option(
        None, one_of(EFFORTS, elsewhere=renamed.VALUES["effort"]),
        "How long to search for a better grouping: "
        + "; ".join(f"'{name}': {text}" for name, text in EFFORTS.items())
        + ". The search moves, swaps, splits and merges classes while that lowers the squared "
        "error (total_il for k_member, nearest and mondrian; generalized cells for forest, pairs "
        "and triples), and never raises it. Classes with centers are only split, so every "
        "guarantee holds.",
        default_text="'fast'; with method 'auto' by the number of rows", common=True,
    )
    refine_steps: int | None = option(
        None, whole(0),
        "How many rows the search visits (of the method best, each of its parallel searches); the "
        "release depends on it.",
        type="BIGINT", default_text="by effort and the number of rows",
    )
    refine_seconds: float | None = option(
        None, positive,
        "Stops the search after that time. anonymize_metrics reports the steps made; given as "
        "refine_steps, they give the same release again.",
        type="DOUBLE", default_text="no limit",
    )
    block_rows: int | None = option(
        None, whole(1),
        "The most rows that are grouped as one, at least 50 times k; more are cut into blocks of "
        "rows close to each other, which are grouped on all cores, and the groups along the cuts "
        "refined (not of methods that choose centers). "
        + ", ".join(m.name for m in METHODS.values() if not m.in_blocks)
        + " group all rows as one.",
        type="BIGINT",
        default_text="500,000; 250,000 for r_gather, 50,000 for cellular and r_cellular",
    )


@dataclass(frozen=True)
class ReleaseOptions:
    """What a class releases, and in which form."""

    hierarchies: Mapping[str, Any] = option(
        {}, hierarchies,
        "A generalization hierarchy for each of some columns (of sensitive ones for l and t only): "
        "the name of a table, view or file with columns level0 (leaf) .. levelN or child and "
        "parent, or a kind such as 'prefix', or {'kind': 'bins', 'width': 10}; see hierarchy().",
        type="STRUCT or MAP", default_text="none", calls=MEASURED_CALLS, common=True,
    )
    representation: str | Mapping[str, str] | None = option(
        None, one_by_column(REPRESENTATIONS),
        "What a class releases in place of its values: "
        + "; ".join(f"'{name}' is {text}" for name, text in REPRESENTATIONS.items())
        + ". One for all columns, or by column, '*' standing for all others: {'age': 'median', "
        "'*': 'interval'}.",
        type="VARCHAR, or STRUCT or MAP", default_text="'hierarchy' for columns that have "
        "one, else the method's own; methods that choose centers publish those", common=True,
    )
    class_id: bool = option(
        False, flag, "Adds the number of each row's class as the column class_id.", type="BOOLEAN"
    )
    keep_order: bool = option(
        False, flag, "Releases the rows in the order of the relation. That order may say who they "
        "are.", type="BOOLEAN",
    )

    @property
    def for_all(self) -> str | None:
        """The representation of all columns without one of their own."""
        if isinstance(self.representation, str):
            return self.representation
        return (self.representation or {}).get("*")

    @property
    def by_column(self) -> dict[str, str]:
        """The representations of single columns."""
        if isinstance(self.representation, str):
            return {}
        return {name: r for name, r in (self.representation or {}).items() if name != "*"}


@dataclass(frozen=True)
class MeasureOptions:
    """What metrics and audits look at."""

    sensitive_values: tuple[str, ...] = option(
        (), texts,
        "The values of sensitive columns that are truly sensitive, for homogeneous_sensitive_rows "
        "and alpha.",
        type="VARCHAR[]", calls=MEASURED_CALLS,
    )
    detail: bool = option(
        False, flag,
        "Shows all metrics; without it anonymize_metrics shows at most 30.",
        type="BOOLEAN", calls=("anonymize_metrics",),
    )
    release: str | None = option(
        None, name_like("'released'"),
        "anonymize_audit only: the released table, view or file that is held against the relation.",
        default_text="must be given", calls=("anonymize_audit",), relation=True, common=True,
    )


GROUPS = {
    "roles": RoleOptions, "grouping": GroupOptions, "models": ModelOptions,
    "release": ReleaseOptions, "measuring": MeasureOptions, "risk": RiskOptions,
    "running": RunOptions, "releases": LedgerOptions, "parts": PartOptions,
}
"""The options of the calls, by what they are about."""


def _special() -> dict[str, Option]:
    """The options that only some methods take, each once, with what it means to which method."""
    takers: dict[str, dict[str, list[str]]] = {}
    first: dict[str, Option] = {}
    for method in METHODS.values():
        for name, known in options_of(method.own).items():
            first.setdefault(name, replace(known, default=None))
            takers.setdefault(name, {}).setdefault(known.description, []).append(method.name)
    return {
        name: replace(first[name], description="; ".join(
            f"{_listed(by)} only: {text}" if len(meanings) == 1
            else f"{_listed(by)}: {text}".rstrip("." if text != list(meanings)[-1] else "")
            for text, by in meanings.items()
        ))
        for name, meanings in takers.items()
    }


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


SPECIAL = _special()
"""The options that only some methods take, by name; what the defaults are, the methods say."""

OPTIONS: dict[str, Option] = {
    name: known for holder in GROUPS.values() for name, known in options_of(holder).items()
} | SPECIAL


@dataclass(frozen=True)
class Options:
    """All options of one call, those that weren't given with their defaults.

    Attributes:
        call: the SQL call.
        given: the names of those that were given.
        roles, group, models, release, measure, risk, run, ledger, parts: as their classes say;
            max_risk has become k.
        own: those of the method.
    """

    call: str
    given: frozenset[str]
    roles: RoleOptions
    group: GroupOptions
    models: ModelOptions
    release: ReleaseOptions
    measure: MeasureOptions
    risk: RiskOptions
    run: RunOptions
    ledger: LedgerOptions
    parts: PartOptions
    own: MethodOptions


def read_options(call: str, given: Mapping[str, Any]) -> Options:
    """All options of a call, each checked alone; how they go together is for rules.py.

    Args:
        call: the SQL call, one of ALL_CALLS.
        given: option names and raw values; None stands for "not given".

    Raises:
        OptionError: an unknown option, a value out of range, an option of another method, two
            that say the same.
    """
    known = {name: option for name, option in OPTIONS.items() if call in option.calls}
    for name in given:
        if name not in known:
            others = OPTIONS[name].calls if name in OPTIONS else ()
            raise OptionError(
                f"{call} has no option {name!r}. "
                + (f"Leave it out: it is for {others[0]}." if others else option_hint(name, known))
            )
    group = GroupOptions()
    if given.get("method") is not None and "method" in known:
        group = replace(group, method=known["method"].read(given["method"]))
    method = CHOICES[group.method]
    known |= options_of(method.own)  # an option of several methods is checked as this one has it
    values = {
        name: known[name].read(value)
        for name, value in given.items() if value is not None and name != "method"
    }
    for name in values:
        if name in SPECIAL and name not in method.options:
            takers = [m.name for m in METHODS.values() if name in m.options]
            raise OptionError(
                f"The method {method.name!r} takes no {name}. Leave it out, or use "
                f"{' or '.join(takers)}."
            )

    def part(holder: Any) -> Any:
        return holder(**{name: values[name] for name in options_of(holder) if name in values})

    risk: RiskOptions = part(RiskOptions)
    refuse_together(risk, values.get("k"))
    k = values.get("k", k_of(risk))
    return Options(
        call,
        frozenset(name for name, value in given.items() if value is not None),
        part(RoleOptions),
        replace(part(GroupOptions), method=group.method, k=k),
        part(ModelOptions), part(ReleaseOptions), part(MeasureOptions), risk,
        part(RunOptions), part(LedgerOptions), part(PartOptions), part(method.own),
    )
