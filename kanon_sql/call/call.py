"""A call, read and checked: all that the plan of its SQL needs to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from kanon_sql.call.catalog import Catalog
from kanon_sql.call.choices import EFFORT_OF, POINTS
from kanon_sql.call.hierarchies import HierarchySpec, read_hierarchy
from kanon_sql.call.ledger import Ledger, read_ledger, used_ledger_options
from kanon_sql.call.models import read_models, secret_seed, used_hierarchies
from kanon_sql.call.options import GROUPING_CALLS, MeasureOptions, Options, read_options
from kanon_sql.call.parts import refuse_audit_in_parts, refuse_parts, used_part_options, within_of
from kanon_sql.call.persons import of_persons
from kanon_sql.call.population import named_population, of_population, used_population
from kanon_sql.call.referenced_columns import audited_relation, lacking_columns
from kanon_sql.call.relation import Relation, find_relation
from kanon_sql.call.risk_options import RiskOptions
from kanon_sql.call.role_table import RoleTable, read_role_table, with_table
from kanon_sql.call.roles import Roles, resolve_roles
from kanon_sql.call.rules import ReleaseForm, refuse_beside_k, resolve
from kanon_sql.call.suggested import all_hierarchies
from kanon_sql.errors import OptionError, did_you_mean
from kanon_sql.methods import GroupTask
from kanon_sql.methods.single_attribute.geometry import AttributeGeometry
from kanon_sql.names import caseless
from kanon_sql.option import options_of
from kanon_sql.privacy import MODEL_KINDS, WHOLE, ModelOptions, PrivacyModel
from kanon_sql.privacy.whole import read_whole

TAKEN = (
    "The relation has a column '{}', a name that the query needs for itself. Rename it first."
)


PASSING = 5
"""A text that passes unchanged is nobody's own where so many rows have it, however large k is."""

OF_CLUSTERS = ("num_points", "radius")
"""The columns that anonymize_clusters adds to the centers and the sensitive columns."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call that measures: k_anonymity, anonymize_audit or anonymize_risk; see GroupingCall for
    all others.

    Attributes:
        name: the SQL call.
        source: its relation.
        roles: the columns by role.
        k: the k that was given, if any.
        measure: what is looked at.
        weights: what columns count that don't count 1.
        class_label: the column that holds the class label, if there is one.
        risk: how risk is measured.
        show_values: whether messages may name values.
        categorical: the columns whose values are categories whatever their type.
        checked: the columns beside those of the roles that the call names and that must exist.
        role_table: the relation that roles were read from.
        seen: the comments that the planner saw, as Catalog.comments gives them.
        hierarchies: of the columns that have one.
        audited: the release that anonymize_audit looks at.
        models: what every class is to keep beside k.
        asked: what was said of these, which also says how columns are measured that have none.
        measured_columns: the sensitive columns that k_anonymity measures.
        population: the relation of the people among whom anonymize_risk or k_map looks.
        by_persons: whether k_anonymity counts persons, too.
        by_part: whether all is told once for each part.
    """

    name: str
    source: Relation
    roles: Roles
    k: int | None
    measure: MeasureOptions
    weights: Mapping[str, float]
    class_label: str | None
    risk: RiskOptions
    show_values: bool
    categorical: tuple[str, ...] = ()
    checked: tuple[str, ...] = ()
    role_table: RoleTable | None = None
    seen: tuple[str, ...] = ()
    hierarchies: tuple[HierarchySpec, ...] = ()
    audited: Relation | None = None
    models: tuple[PrivacyModel, ...] = ()
    asked: ModelOptions = field(default_factory=ModelOptions)
    measured_columns: tuple[str, ...] = ()
    population: Relation | None = None
    by_persons: bool = False
    by_part: bool = False


@dataclass(frozen=True, kw_only=True)
class GroupingCall(Call):
    """A call that makes classes.

    Attributes:
        task: how they are made.
        release: what they release.
        of_sensitive: hierarchies of sensitive columns, by which models go.
        tables: the other relations that the method reads, by the option that names them.
        progress: whether it is shown how far the grouping is.
        threads: how many it takes; None: as many as DuckDB.
        used: all options as they are used, by name, as the metrics tell them.
        ledger: how it goes on from earlier releases, if it does.
        block: the name under which facts are kept, where the rows are a block of many.
        small_parts: what becomes of parts that are too small.
        uncounted: columns that pass, and have no say in which rows are alike.
        domains: where the rows are a block of many, relations of the values of all rows and how
            many have each, by sensitive columns in lower case.
    """

    task: GroupTask
    release: ReleaseForm
    of_sensitive: tuple[HierarchySpec, ...]
    tables: Mapping[str, Relation]
    progress: bool
    used: Mapping[str, Any]
    threads: int | None = None
    ledger: Ledger | None = None
    block: str | None = None
    small_parts: str = "error"
    uncounted: tuple[str, ...] = ()
    domains: Mapping[str, Relation] = field(default_factory=dict)

    @property
    def least(self) -> int:
        """A text that fewer rows have is a person's own: of columns that nobody named and that
        are generalized k, where a class releases one value, and 2, where it releases all its
        values; of those that pass unchanged k, and no more than PASSING, as where no k is given."""
        k = max(self.k or PASSING, 2)
        if self.roles.rest == "release":
            return min(k, PASSING)
        words = {self.release.representation, *self.release.by_column.values()}
        return 2 if words.isdisjoint(POINTS) else k

    @property
    def reserved(self) -> tuple[str, ...]:
        """The names that no column may have, where only the query knows its columns."""
        roles = self.roles
        if self.name != "anonymize_clusters" or roles.quasi_identifiers:
            return self.release.added
        # columns that are no part of the clusters may have any name
        away = {caseless(name) for name in (*roles.identifiers, *roles.other)}
        return (*self.release.added, *(name for name in OF_CLUSTERS if name not in away))


def read_call(
    name: str, relation: object, arguments: Mapping[str, Any], catalog: Catalog
) -> Call | GroupingCall:
    """A call from what a user typed.

    Args:
        name: the SQL call, one of ALL_CALLS.
        relation: what the user calls the relation.
        arguments: raw option values by name; None stands for "not given".
        catalog: finds the columns and comments of a committed table or view.

    Raises:
        OptionError: anything about the call that can't be used as given.
    """
    source = find_relation(relation, catalog)
    options = read_options(name, arguments)
    source = replace(source, lacking=lacking_columns(source, arguments))
    chosen = options.roles.roles
    table = read_role_table(chosen, source, catalog) if chosen is not None else None
    options = with_table(options, table)
    if name in GROUPING_CALLS:
        return _grouping_call(source, options, table, catalog)
    if name == "anonymize_audit" and options.measure.release is None:
        raise OptionError(
            "release is not given. Name the released table in addition to its source, for example "
            "anonymize_audit('patients', release='released')."
        )
    _refuse_taken(source, ())
    roles = resolve_roles(
        options.roles, source, table.roles if table else None, audits=True,
        weight=options.risk.sampling_weight, within=within_of(options),
    )
    hierarchies = all_hierarchies(options.release.hierarchies, roles, source, catalog)
    release, population = options.measure.release, options.risk.population
    shared = _shared(options, source, roles, table, catalog)
    measures = name == "k_anonymity" and not options.explicit.isdisjoint(
        {"sensitive", *options_of(ModelOptions)}
    )
    if population is not None and not roles.known_columns(source):
        raise OptionError(
            "population is joined by the quasi-identifiers, which are not known before the query "
            "runs. Name them in quasi_identifiers=[...]."
        )
    by_persons = "entity" in options.explicit
    refuse_audit_in_parts(options, roles, by_persons, measures)
    return Call(
        **shared,
        by_persons=by_persons,
        measured_columns=roles.sensitive if measures else (),
        hierarchies=hierarchies,
        audited=None if release is None else audited_relation(release, roles, arguments, catalog),
        population=named_population(population, roles.known_columns(source), catalog),
    )


def _shared(
    options: Options, source: Relation, roles: Roles, table: RoleTable | None, catalog: Catalog
) -> dict[str, Any]:
    """What calls of both kinds hold."""
    categorical, by_column = options.roles.categorical, options.release.by_column
    for option, named in {
        "categorical": categorical, "representation": tuple(by_column),
        "column_weights": tuple(options.group.column_weights),
    }.items():
        _refuse_no_quasi_identifier(option, named, roles)
    names = (caseless(source.parts[-1]), *(source.entry.names if source.entry else ()))
    return {
        "name": options.call,
        "source": source,
        "roles": roles,
        "categorical": categorical,
        "checked": (*categorical, *by_column),
        "role_table": table,
        "seen": catalog.comments(tuple(dict.fromkeys(names))),
        "k": options.group.k,
        "measure": options.measure,
        "weights": options.group.column_weights,
        "class_label": options.roles.class_label,
        "risk": options.risk,
        "show_values": options.run.show_values,
        "models": read_models(options, roles),
        "asked": options.models,
        "by_part": options.parts.by_part,
    }


def _refuse_no_quasi_identifier(option: str, names: tuple[str, ...], roles: Roles) -> None:
    """Raises OptionError for a column that an option names and that is no quasi-identifier."""
    others = {caseless(name) for name in roles.others}
    known = {caseless(name) for name in roles.quasi_identifiers}
    for name in names:
        if caseless(name) in others or not (roles.open or caseless(name) in known):
            hint = (
                "Name it in quasi_identifiers, or leave it out." if caseless(name) in others
                else did_you_mean(name, roles.quasi_identifiers)
            )
            raise OptionError(
                f"{option} names the column {name!r}, which is not a quasi-identifier. {hint}"
            )


def _refuse_taken(source: Relation, added: tuple[str, ...]) -> None:
    """Raises OptionError for a column with a name that the query, or the release, needs."""
    for name in source.columns or ():
        if caseless(name).startswith("__kanon_") or caseless(name) in added:
            raise OptionError(TAKEN.format(name))


def _refuse_beside_clusters(roles: Roles, source: Relation) -> None:
    """Raises OptionError for a column of the clusters with a name that they give to what they tell.
    Where columns are not known yet, the query itself refuses them (plan/bind_checks.py)."""
    for name in (*roles.known_columns(source), *roles.sensitive):
        if caseless(name) in OF_CLUSTERS:
            raise OptionError(TAKEN.format(name))


def _grouping_call(
    source: Relation, options: Options, table: RoleTable | None, catalog: Catalog
) -> GroupingCall:
    options, of_sensitive = _without_sensitive(options, source, table)
    task, release = resolve(options)
    _refuse_taken(source, release.added)
    roles = resolve_roles(
        options.roles, source, table.roles if table else None, task.own.cost_column,
        releases=options.call != "anonymize_roles", weight=options.risk.sampling_weight,
        within=within_of(options),
    )
    if roles.within:
        task, release = resolve(options, in_parts=True)
    if task.own.needs_sensitive and len(roles.sensitive) != 1:
        raise OptionError(
            "diversity_preference needs one sensitive column, and there are "
            f"{len(roles.sensitive)}. Name it in sensitive=[...]."
        )
    if options.call == "anonymize_clusters":
        _refuse_beside_clusters(roles, source)
    _check_width(task, release, roles, source)
    every = f"method {task.method.name!r}" if release.same_level else (
        "The metric 'taxonomy'" if task.own.in_metric == "taxonomy" else None
    )
    hierarchies = all_hierarchies(
        options.release.hierarchies, roles, source, catalog, every, options.roles.categorical
    )
    named = {
        name: getattr(task.own, name)
        for name, option in options_of(task.own).items() if option.relation
    }
    shared = _shared(options, source, roles, table, catalog)
    trees = tuple(read_hierarchy(name, spec, catalog) for name, spec in of_sensitive.items())
    if shared["models"]:
        seed = task.seed if "seed" in options.explicit else secret_seed()
        task = replace(task, beside_k=shared["models"], seed=seed)
    task = replace(task, beside_k=(*task.beside_k, *read_whole(WHOLE, options.whole)))
    refuse_beside_k(task)
    task, population = of_population(task, roles, options, catalog)
    ledger = read_ledger(options, roles, task, release, catalog, bool(trees))
    refuse_parts(options, task, roles, ledger is not None)
    task = of_persons(task, roles, options)
    return GroupingCall(
        **shared,
        hierarchies=hierarchies,
        task=task,
        release=release,
        of_sensitive=trees,
        tables={name: find_relation(value, catalog) for name, value in named.items() if value},
        progress=options.run.progress,
        used=_used(options, task, release, roles, hierarchies, trees) | used_ledger_options(ledger)
        | used_part_options(options, roles) | used_population(task, population),
        population=population,
        ledger=ledger,
        small_parts=options.parts.small_parts,
    )


def _without_sensitive(
    options: Options, source: Relation, table: RoleTable | None
) -> tuple[Options, dict[str, Any]]:
    """The options without the hierarchies of sensitive columns, by which nothing is generalized,
    and these."""
    if options.explicit.isdisjoint(MODEL_KINDS):
        return options, {}
    roles = resolve_roles(
        options.roles, source, table.roles if table else None, options.own.cost_column,
        releases=options.call != "anonymize_roles", within=within_of(options),
    )
    hierarchies = options.release.hierarchies
    of_sensitive = used_hierarchies(read_models(options, roles), hierarchies, roles)
    left = {name: spec for name, spec in hierarchies.items() if name not in of_sensitive}
    return replace(options, release=replace(options.release, hierarchies=left)), of_sensitive


def _check_width(task: GroupTask, release: ReleaseForm, roles: Roles, source: Relation) -> None:
    """Raises OptionError where the method takes another number of quasi-identifiers, or where the
    query must name them and doesn't know them."""
    geometry, method = task.geometry, task.method.name
    if not isinstance(geometry, AttributeGeometry):
        return
    names = roles.known_columns(source)
    if names:
        geometry.refuse_width(method, names)
    elif geometry.domain == "places" or release.representation == "number":
        raise OptionError(
            f"The method {method!r} needs to know its columns before it runs. Name them in "
            "quasi_identifiers=[...]."
        )


def _used(
    options: Options, task: GroupTask, release: ReleaseForm, roles: Roles,
    hierarchies: tuple[HierarchySpec, ...], of_sensitive: tuple[HierarchySpec, ...],
) -> dict[str, Any]:
    """All options as they are used, defaults filled in: what makes the same release again."""
    shown = hierarchies and release.by_hierarchy
    parts = (options.roles, options.group, options.release, options.measure, options.run)
    used = {name: value for part in parts for name, value in asdict(part).items()}
    if roles.entity is None:
        del used["entity"], used["entity_rows"]
    else:
        used["entity"] = roles.entity
    del used["release"], used["detail"]  # of no consequence for the release
    if task.method.searches:
        del used["effort"]
    else:
        used["effort"] = options.group.effort or EFFORT_OF[task.refine]
    if options.risk.sampling_weight is not None:
        used["sampling_weight"] = options.risk.sampling_weight
    if task.secret:
        # who knows the seed could try what sensitive values give these classes
        used |= {**asdict(options.models), "seed": None}
    used |= {each.option: each.limit for each in task.whole}
    return used | asdict(task.own) | {
        "quasi_identifiers": (
            "all other columns" if roles.open else list(roles.quasi_identifiers)
        ),
        "others": roles.rest,
        "sensitive": list(roles.sensitive),
        "identifiers": [name for name in roles.identifiers if name != roles.entity],
        "k": task.promised,
        "method": task.method.name,
        "distance": task.distance,
        "representation": _told(release, bool(shown)),
        "hierarchies": {each.column: each.as_used for each in (*hierarchies, *of_sensitive)},
    }


def _told(release: ReleaseForm, shown: bool) -> str | dict[str, str]:
    """What the metrics tell of the representation."""
    for_all = f"hierarchy, else {release.representation}" if shown else release.representation
    return {**release.by_column, "*": for_all} if release.by_column else for_all
