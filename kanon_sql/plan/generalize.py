"""The SQL that generalizes: what each class releases in place of its rows' values."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from kanon_sql.call.call import GroupingCall
from kanon_sql.call.choices import MEANS, REPRESENTATIONS
from kanon_sql.methods.single_attribute.geometry import AttributeGeometry
from kanon_sql.names import caseless, literal, quoted
from kanon_sql.plan.fragments import chosen, classes_sql, helpers, listed, quasi, represented
from kanon_sql.plan.hierarchies import Hierarchies
from kanon_sql.plan.ledger import classes_after, goes_on
from kanon_sql.plan.parts import classes_of_parts
from kanon_sql.plan.risk import WEIGHTLESS
from kanon_sql.plan.single_attribute import attribute_classes, attribute_representation
from kanon_sql.sql import expression, statement

WEIGHT = "__kanon_weight"
"""The helper column of weights, where classes count rows by them."""


def publishes_centers(call: GroupingCall) -> bool:
    """Whether the method has centers, and they are what its classes release."""
    release = call.release
    return (
        call.task.geometry.has_centers and release.representation == "centroid"
        and not release.by_hierarchy
    )


def released_classes(call: GroupingCall, trees: Hierarchies) -> str:
    """What each class releases: by its hierarchy, as its published center, or in the
    representation; with its number if that is asked for."""
    classes = _classes(call, trees)
    if call.roles.open:
        classes = statement("generalize.hidden", classes=classes)
    classes = classes_of_parts(call, classes_after(call, classes))
    if not call.release.class_id:
        return classes
    return statement("generalize.class_id", seed=call.task.seed, classes=classes)


def _classes(call: GroupingCall, trees: Hierarchies) -> str:
    if isinstance(call.task.geometry, AttributeGeometry):
        return attribute_classes(call)
    if publishes_centers(call):
        return "FROM __kanon_published"
    if not trees.labelled:
        return class_rows(call)
    plain = class_rows(call, trees.emptied("__kanon_labelled", trees.labelled))
    return trees.classes(plain, call.release.same_level)


CATEGORICAL = {
    "centroid": "most_frequent", "rounded": "most_frequent", "median": "most_frequent",
    "interval": "set", "bounds": "members",
}
"""What stands for a representation where values are categories whatever their type."""


def class_rows(
    call: GroupingCall, stage: str = "__kanon_labelled",
    only: Collection[str] = REPRESENTATIONS,
) -> str:
    """What each class of a stage of labelled rows releases, columns in their order in the relation.

    Args:
        call, only: as in ``released_values``.
        stage: rows with their class.
    """
    columns = quasi(call.roles, ("__kanon_class", *helpers(call.roles)))
    single = call.categorical or call.release.by_column
    # the centroid leaves NaN out by itself, and so in less time
    centroids = not single and _macro(call, call.release.representation, only) == "centroid"
    weight = call.risk.sampling_weight if call.release.weighted else None
    if weight is None:
        classes = classes_sql(released_values(call, only), columns, stage, centroids)
    else:
        values = released_values(call, only, ("__kanon_class", WEIGHT), weighted=True)
        checked = expression(
            "generalize.weight", weight=quoted(weight), said=literal(WEIGHTLESS.format(weight))
        )
        classes = classes_sql(values, columns, stage, centroids, f", {checked} AS {WEIGHT}")
    classes = _precise(call, classes, only)
    if not single:
        return classes
    columns = quasi(call.roles, helpers(call.roles))
    return statement("generalize.classes_ordered", columns=columns, classes=classes)


def _precise(call: GroupingCall, classes: str, only: Collection[str]) -> str:
    """What classes release, with the means of the columns that are 'rounded' in the precision of
    these: as it was learned of all rows, where those of the query are a block of them, else as the
    grouping tells it."""
    release, beside = call.release, ("__kanon_class", "__kanon_precisions")
    if not release.rounds or "rounded" not in only:
        return classes
    known = {caseless(name): name for name in (*release.by_column, *call.categorical)}
    away = [name for each, name in known.items() if release.of(each) != "rounded"]
    if release.representation == "rounded":
        columns = f"COLUMNS(* EXCLUDE ({listed((*beside, *away))}))"
        others = f"{chosen(away)}, " if away else ""
    else:
        meant = [name for each, name in known.items() if release.of(each) == "rounded"]
        columns = chosen(meant)
        others = f"COLUMNS(* EXCLUDE ({listed((*beside, *meant))})), "
    precisions = statement("generalize.precisions")
    if release.precisions is not None:
        precisions = statement(
            "blocks.precisions",
            precisions=", ".join(
                f"{{'name': {literal(name)}, 'steps': {steps}}}"
                for name, steps in release.precisions.items()
            ),
        )
    return statement(
        "generalize.precise", others=others, columns=columns, precisions=precisions,
        classes=classes,
    )


def released_values(
    call: GroupingCall, only: Collection[str] = REPRESENTATIONS,
    helpers: tuple[str, ...] = ("__kanon_class",),
    weighted: bool = False,
) -> str:
    """What a class releases of each quasi-identifier: a list of COLUMNS expressions, each in its
    representation, over a stage that has nothing but them and helper columns.

    Args:
        call: the call.
        only: the representations that are meant; for all others it is the centroid.
        helpers: the helper columns of the stage.
        weighted: whether WEIGHT is one of them, by which chosen centroids count rows.
    """
    release = call.release

    def aggregated(word: str, chosen_word: str, columns: str) -> str:
        counts = weighted and word == chosen_word and word in MEANS
        return represented(word, columns, WEIGHT if counts else None)

    single = {caseless(name): name for name in (*call.categorical, *release.by_column)}
    for name in list(single):
        if release.of(name) == "hierarchy":  # its labels stand beside these
            del single[name]
    groups: dict[tuple[str, str], list[str]] = {}
    for lowered, name in single.items():
        word = _macro(call, release.of(lowered), only, lowered)
        groups.setdefault((word, release.of(lowered)), []).append(name)
    expressions = [aggregated(*words, chosen(names)) for words, names in groups.items()]
    known = {caseless(name) for name in call.roles.known_columns(call.source)}
    if not (known and known <= set(single)):
        away = listed((*helpers, *single.values()))
        rest = f"COLUMNS(* EXCLUDE ({away}))" if away else "COLUMNS(*)"
        word = _macro(call, release.representation, only)
        expressions.insert(0, aggregated(word, release.representation, rest))
    return ", ".join(expressions)


def _macro(call: GroupingCall, word: str, only: Collection[str], column: str = "") -> str:
    """The macro of a representation, of one column or of all that aren't single."""
    word = word if word in only else "centroid"
    if column in {caseless(name) for name in call.categorical}:
        return CATEGORICAL.get(word, word)
    return word


FORMS = {
    "centroid": "point", "rounded": "point", "median": "point",
    "interval": "range", "bounds": "range",
    "suppress": "agreed", "number": "number", "set": "set", "members": "set",
    "most_frequent": "point",
    "box": "box", "closed_box": "closed_box",
}
"""What a class publishes in a representation, as kanon_sql/measure/released.py has it."""


def published_forms(call: GroupingCall) -> dict[str, Any]:
    """What classes publish of columns without a hierarchy, of those with one, and of single
    columns."""
    release, shown = call.release, attribute_representation(call)
    form = FORMS[shown]
    of_trees = form
    if release.by_hierarchy:
        of_trees = "level" if release.same_level else "node"
    by_column = _forms_by_column(call)
    if goes_on(call):
        # what a class published before may stand for more than the rows that it has now
        form, of_trees = _untold(form), _untold(of_trees)
        by_column = {name: _untold(each) for name, each in by_column.items()}
    return {"form": form, "of_trees": of_trees, "by_column": by_column}


def _untold(form: str) -> str:
    return form if form == "point" else "untold"


def _forms_by_column(call: GroupingCall) -> dict[str, str]:
    trees = {caseless(spec.column) for spec in call.hierarchies}
    nominal = {caseless(name) for name in call.categorical}
    forms = {}
    for name in sorted(nominal | set(call.release.by_column)):
        word = call.release.of(name, has_hierarchy=name in trees)
        if word == "hierarchy":
            forms[name] = "level" if call.release.same_level else "node"
        elif name in trees:
            forms[name] = "untold"  # it is released as values, and measured by its labels
        else:
            forms[name] = FORMS[CATEGORICAL.get(word, word) if name in nominal else word]
    return forms
