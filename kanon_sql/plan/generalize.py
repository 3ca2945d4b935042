"""The SQL that generalizes: what each class releases in place of its rows' values."""

from __future__ import annotations

from kanon_sql.call.call import GroupingCall
from kanon_sql.methods.single_attribute.geometry import AttributeGeometry
from kanon_sql.plan.fragments import ROW, classes_sql, quasi
from kanon_sql.plan.hierarchies import Hierarchies
from kanon_sql.plan.single_attribute import attribute_classes
from kanon_sql.sql import statement


def _publishes_centers(call: GroupingCall) -> bool:
    """Whether the method has centers, and they are what its classes release."""
    return call.task.geometry.has_centers and call.release.representation == "centroid"


def released_classes(call: GroupingCall, trees: Hierarchies) -> str:
    """What each class releases: by its hierarchy, as its published center, or in the
    representation; with its number if that is asked for."""
    classes = _classes(call, trees)
    if not call.release.class_id:
        return classes
    return statement("stages/class_id", seed=call.task.seed, classes=classes)


def _classes(call: GroupingCall, trees: Hierarchies) -> str:
    if isinstance(call.task.geometry, AttributeGeometry):
        return attribute_classes(call)
    labelled = quasi(call.roles, ("__kanon_class", *ROW))
    representation = call.release.representation
    if not (trees and call.release.by_hierarchy):
        if _publishes_centers(call):
            return "FROM __kanon_published"
        return classes_sql(representation, labelled)
    plain = classes_sql(representation, labelled, trees.emptied("__kanon_labelled"))
    return trees.classes(plain, call.release.same_level)


def released_columns(call: GroupingCall) -> str:
    """The generalized columns of __kanon_released: quasi-identifiers, and what the release adds."""
    roles = call.roles
    hidden = ("__kanon_row",) if call.release.keep_order else ()
    columns = quasi(roles, hidden, dropped=roles.identifiers)
    return ", ".join([columns, *call.release.added]) if roles.quasi_identifiers else columns
