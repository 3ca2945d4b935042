"""The SQL that generalizes: what each class releases in place of its rows' values."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from kanon_sql.call.call import GroupingCall
from kanon_sql.call.choices import REPRESENTATIONS
from kanon_sql.methods.single_attribute.geometry import AttributeGeometry
from kanon_sql.plan.fragments import ROW, chosen, classes_sql, others, quasi, seen
from kanon_sql.plan.hierarchies import Hierarchies
from kanon_sql.plan.single_attribute import attribute_classes, attribute_representation
from kanon_sql.sql import statement


def publishes_centers(call: GroupingCall) -> bool:
    """Whether the method has centers, and they are what its classes release."""
    release = call.release
    by_hierarchy = bool(call.hierarchies) and release.by_hierarchy
    return (
        call.task.geometry.has_centers and release.representation == "centroid"
        and not by_hierarchy
    )


def released_classes(call: GroupingCall, trees: Hierarchies) -> str:
    """What each class releases: by its hierarchy, as its published center, or in the
    representation; with its number if that is asked for."""
    classes = _classes(call, trees)
    if call.roles.open:
        classes = statement("stages/hidden", classes=classes)
    if not call.release.class_id:
        return classes
    return statement("stages/class_id", seed=call.task.seed, classes=classes)


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
    "centroid": "most_frequent", "median": "most_frequent", "interval": "set", "bounds": "members",
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
    classes = classes_sql(released_values(call, only), stage)
    if not (call.categorical or call.release.by_column):
        return classes
    columns = quasi(call.roles, ROW)
    return statement("stages/classes_ordered", columns=columns, classes=classes)


def released_values(
    call: GroupingCall, only: Collection[str] = REPRESENTATIONS,
    helpers: tuple[str, ...] = ("__kanon_class", *ROW),
) -> str:
    """What each class of a stage of labelled rows releases of each quasi-identifier: a list of
    COLUMNS expressions, each in its representation.

    Args:
        call: the call.
        only: the representations that are meant; for all others it is the centroid.
        helpers: the helper columns of the stage.
    """
    nominal = {name.lower() for name in call.categorical}

    def macro(word: str, name: str = "") -> str:
        word = word if word in only else "centroid"
        return CATEGORICAL.get(word, word) if name.lower() in nominal else word

    release = call.release
    single = {name.lower(): name for name in (*call.categorical, *release.by_column)}
    for name in list(single):
        if release.of(name) == "hierarchy":  # its labels stand beside these
            del single[name]
    groups: dict[str, list[str]] = {}
    for lowered, name in single.items():
        groups.setdefault(macro(release.of(lowered), lowered), []).append(name)
    found = [f"__kanon_{word}({chosen(names)})" for word, names in groups.items()]
    rest = others(call.roles, helpers, tuple(single.values()), call.source)
    if rest is not None:
        found.insert(0, f"__kanon_{macro(release.representation)}({rest})")
    return ", ".join(found)


FORMS = {
    "centroid": "point", "median": "point", "interval": "range", "bounds": "range",
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
    return {"form": form, "of_trees": of_trees, "by_column": _forms_by_column(call)}


def _forms_by_column(call: GroupingCall) -> dict[str, str]:
    trees = {spec.column.lower() for spec in call.hierarchies}
    nominal = {name.lower() for name in call.categorical}
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


def released_columns(call: GroupingCall) -> str:
    """The generalized columns of __kanon_released as a reader sees them: quasi-identifiers, and
    what the release adds."""
    roles = call.roles
    hidden = ("__kanon_row",) if call.release.keep_order else ()
    columns = seen(quasi(roles, hidden, dropped=roles.identifiers))
    return columns if roles.open else ", ".join([columns, *call.release.added])
