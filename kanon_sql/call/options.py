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
from kanon_sql.hierarchies.kinds import hierarchies
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
from kanon_sql.privacy import ModelOptions, PopulationOptions, WholeOptions
from kanon_sql.validators import (
    flag,
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
        (), names, "The columns to release unchanged, because the release is about their values.",
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
        "The column that identifies the person of each row, if persons have several rows. k then "
        "counts persons, and with entity_rows 'together' suppress and privacy models do too. The "
        "column is dropped.",
        default_text="declared, else none: each row is a different person",
        calls=(*GROUPING_CALLS, "k_anonymity"), columns=True, common=True, proven=True,
    )
    entity_rows: str = option(
        "together", one_of(ENTITY_ROWS),
        "Where the rows of a person are: "
        + "; ".join(f"'{name}' {text}" for name, text in ENTITY_ROWS.items()) + ".",
    )
    others: str | None = option(
        None, one_of(OTHERS),
        "How columns without a role are treated: "
        + "; ".join(f"'{name}' {text}" for name, text in OTHERS.items())
        + ". A column that looks like an identifier is released as NULL.",
        default_text="'error' if quasi-identifiers are named, else 'quasi_identifier'", common=True,
    )
    roles: str | None = option(
        None, name_like("'my_roles'"),
        "A relation with the roles of columns: column_name, role, and for quasi-identifiers also "
        "hierarchy, representation and column_weight. Options of the call override it, and it "
        "overrides comments.",
        default_text="none", calls=ALL_CALLS, relation=True,
    )
    categorical: tuple[str, ...] = option(
        (), names,
        "The quasi-identifiers to treat as categories, although their type has an order, such "
        "as integer codes.",
        type="VARCHAR[]", calls=MEASURED_CALLS, columns=True,
    )
    class_label: str | None = option(
        None, name_like("'income'"),
        "The column that a classifier will learn to predict from the release. It is released "
        "unchanged, classification_metric is measured for it, and k_member prefers rows with the "
        "majority label of their class.",
        calls=MEASURED_CALLS, columns=True,
    )


@dataclass(frozen=True)
class GroupOptions:
    """How rows are put into classes."""

    k: int | None = option(
        None, whole(1),
        "The minimum number of released rows that share each combination of quasi-identifiers. In "
        "audits, where it is optional, classes, rows and persons below k are counted.",
        type="INTEGER", default_text="must be given", calls=(*ALL_CALLS, LEDGER_CHECK),
        common=True, topic="models", proven=True,
    )
    method: str = option(
        "auto", one_of(CHOICES, elsewhere=WISHED_METHODS),
        "The method that groups the rows; anonymize_methods() lists all methods. 'auto' chooses "
        "one by the representation, the types of the columns and the number of rows, and the "
        "metrics name it.",
        default_text="'auto'; 'mdav_star' with within or a ledger", common=True,
    )
    distance: str | None = option(
        None, one_of(DISTANCES),
        "How a method measures the distance of rows: "
        + "; ".join(f"'{name}' is {text}" for name, text in DISTANCES.items()) + ".",
        default_text="the method's own, 'sse' for the MDAV family",
    )
    loss: str = option(
        "range_flat", one_of(LOSSES),
        "The loss of categories under distance 'loss': "
        + "; ".join(f"'{name}' is {text}" for name, text in LOSSES.items())
        + ". Numbers always lose range of the class / range of the column.",
    )
    column_weights: Mapping[str, float] = option(
        {}, weights,
        "The weight of a quasi-identifier in the grouping, which multiplies squared distances "
        "along the column and its information loss. 0 excludes the column from the grouping only.",
        type="STRUCT or MAP", default_text="1 for every column", calls=MEASURED_CALLS,
    )
    suppress: float = option(
        0.0, share,
        "The maximum share of the rows that are left out to lower the loss. Each costs as much as "
        "a row that is completely generalized in every quasi-identifier.",
        type="DOUBLE", default_text="0", common=True, topic="release",
    )
    nulls: str = option(
        "value", one_of(NULLS),
        "How a NULL or NaN in a quasi-identifier is treated: 'value' treats it as a value of its "
        "own, 'suppress' leaves its row out and counts it, 'error' rejects the call.",
    )
    seed: int = option(
        0, whole(0),
        "Determines the order of equal rows, the order of the release and class_id. The same seed "
        "gives the same release.",
        type="BIGINT", default_text="0; with a privacy model a secret seed, drawn once per process",
        common=True,
    )
    effort: str | None = option(
        None, one_of(EFFORTS, elsewhere=renamed.VALUES["effort"]),
        "How long to search for a better grouping: "
        + "; ".join(f"'{name}' {text}" for name, text in EFFORTS.items())
        + ". The search moves and swaps rows, and splits and merges classes. It never ends with a "
        "higher squared error than it began (total_il for k_member, nearest and mondrian; "
        "generalized cells for forest, pairs and triples). Classes with published centers are only "
        "split, so every guarantee holds.",
        default_text="'fast'; with method 'auto' by an estimate of the time", common=True,
    )
    refine_steps: int | None = option(
        None, whole(0),
        "The number of rows that the search visits (for the method best, each of its parallel "
        "searches). The release depends on it.",
        type="BIGINT", default_text="by effort and the number of rows",
    )
    refine_seconds: float | None = option(
        None, positive,
        "Stops the search after this number of seconds. anonymize_metrics reports the steps taken; "
        "the same number as refine_steps gives the same release again.",
        type="DOUBLE", default_text="no limit",
    )
    block_rows: int | None = option(
        None, whole(1),
        "The maximum number of rows that are grouped as one block: at least 50 times k. Larger "
        "tables are cut into blocks of similar rows, which are grouped on all cores. The groups "
        "along the cuts are then refined, except by methods that choose centers. "
        + ", ".join(m.name for m in METHODS.values() if not m.in_blocks)
        + " group all rows as one block.",
        type="BIGINT",
        default_text="500,000; 250,000 for r_gather, 50,000 for cellular and r_cellular",
    )


@dataclass(frozen=True)
class ReleaseOptions:
    """What a class releases, and in which form."""

    hierarchies: Mapping[str, Any] = option(
        {}, hierarchies,
        "Generalization hierarchies by column (of sensitive columns for l and t only): tables, "
        "views or files with columns level0 (leaf) .. levelN, or child and parent; or kinds, "
        "see hierarchy(). 'suggested' stands for those that have a hierarchy_reason "
        "in anonymize_roles.",
        type="VARCHAR, or STRUCT or MAP", default_text="none", calls=MEASURED_CALLS, common=True,
    )
    representation: str | Mapping[str, str] | None = option(
        None, one_by_column(REPRESENTATIONS),
        "The form in which a class releases its values: "
        + "; ".join(f"'{name}' is {text}" for name, text in REPRESENTATIONS.items())
        + ". Give one for all columns, or one by column, with '*' for all others: {'age': "
        "'median', '*': 'interval'}.",
        type="VARCHAR, or STRUCT or MAP", default_text="'hierarchy' for columns that have "
        "one, else that of the method; methods that choose centers publish the centers",
        common=True,
    )
    class_id: bool = option(
        False, flag, "Adds the number of each row's class as the column class_id.", type="BOOLEAN"
    )
    keep_order: bool = option(
        False, flag, "Releases the rows in the order of the relation. That order may reveal who "
        "they are.", type="BOOLEAN",
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
        "The values of sensitive columns that need protection, for homogeneous_sensitive_rows, "
        "alpha and diversity_preference 'sensitive'.",
        type="VARCHAR[]", calls=MEASURED_CALLS,
    )
    detail: bool = option(
        False, flag,
        "Shows all metrics; without it anonymize_metrics shows at most 30.",
        type="BOOLEAN", calls=("anonymize_metrics",),
    )
    release: str | None = option(
        None, name_like("'released'"),
        "anonymize_audit only: the released table, view or file to compare with the relation.",
        default_text="must be given", calls=("anonymize_audit",), relation=True, common=True,
    )


GROUPS = {
    "roles": RoleOptions, "grouping": GroupOptions, "models": ModelOptions,
    "all classes": WholeOptions, "people": PopulationOptions,
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
        explicit: the names of those that were given.
        roles, group, models, whole, people, release, measure, risk, run, ledger, parts: as their
            classes say; max_risk has become k.
        own: those of the method.
    """

    call: str
    explicit: frozenset[str]
    roles: RoleOptions
    group: GroupOptions
    models: ModelOptions
    whole: WholeOptions
    people: PopulationOptions
    release: ReleaseOptions
    measure: MeasureOptions
    risk: RiskOptions
    run: RunOptions
    ledger: LedgerOptions
    parts: PartOptions
    own: MethodOptions


def read_options(call: str, arguments: Mapping[str, Any]) -> Options:
    """All options of a call, each checked alone; how they go together is for rules.py.

    Args:
        call: the SQL call, one of ALL_CALLS.
        arguments: option names and raw values; None stands for "not given".

    Raises:
        OptionError: an unknown option, a value out of range, an option of another method, two
            that say the same.
    """
    known = {name: option for name, option in OPTIONS.items() if call in option.calls}
    for name in arguments:
        if name not in known:
            others = OPTIONS[name].calls if name in OPTIONS else ()
            raise OptionError(
                f"{call} has no option {name!r}. "
                + (f"Leave it out: it is for {others[0]}." if others else option_hint(name, known))
            )
    group = GroupOptions()
    if arguments.get("method") is not None and "method" in known:
        group = replace(group, method=known["method"].read(arguments["method"]))
    method = CHOICES[group.method]
    known |= options_of(method.own)  # an option of several methods is checked as this one has it
    values = {
        name: known[name].read(value)
        for name, value in arguments.items() if value is not None and name != "method"
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
        frozenset(name for name, value in arguments.items() if value is not None),
        part(RoleOptions),
        replace(part(GroupOptions), method=group.method, k=k),
        part(ModelOptions), part(WholeOptions), part(PopulationOptions),
        part(ReleaseOptions), part(MeasureOptions), risk, part(RunOptions), part(LedgerOptions),
        part(PartOptions), part(method.own),
    )
