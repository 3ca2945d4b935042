"""The SQL of methods of one attribute: the relations they read, and what their classes release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kanon_sql.call.call import GroupingCall
from kanon_sql.call.relation import Relation
from kanon_sql.call.rules import ReleaseForm
from kanon_sql.encode.coordinates import geographic
from kanon_sql.methods.single_attribute.geometry import AttributeGeometry
from kanon_sql.names import literal, quoted
from kanon_sql.plan.fragments import classes_sql, contents, helpers, quasi, represented
from kanon_sql.sql import expression, statement

BOXES = {"interval": "box", "bounds": "closed_box"}
"""What classes of places publish; as two numbers a box doesn't say that its border is open."""

SETS = {"interval": "set", "bounds": "members"}
"""What stands in for a representation where values have no order."""


def tables_sql(tables: Mapping[str, Relation], more: Sequence[str] = ()) -> str:
    """The relations beside the one that is anonymized, for the functions inside the query;
    ``more`` are entries that stages of the query make."""
    entries = []
    for option, relation in tables.items():
        names, rows = contents(relation)
        entries.append(
            f"{{'name': {literal(option)}, 'names': {names},\n         'rows': {rows}}}"
        )
    entries += more
    return f"[{', '.join(entries)}]" if entries else "NULL"


def attribute_representation(call: GroupingCall) -> str:
    """The representation that a release is truly in: 'box' or 'closed_box', where classes of places
    publish one that they don't fill, or what stands in where values have no order."""
    geometry, shown = call.task.geometry, call.release.representation
    if not isinstance(geometry, AttributeGeometry):
        return shown
    if geometry.domain == "places":
        boxes = {} if call.release.tight else BOXES
        return boxes.get(shown, shown)
    return SETS.get(shown, shown) if geometry.domain in ("labels", "nodes") else shown


def attribute_classes(call: GroupingCall) -> str:
    """What each class releases."""
    geometry, release = call.task.geometry, call.release
    assert isinstance(geometry, AttributeGeometry)
    shown, names = release.representation, call.roles.known_columns(call.source)
    boxed = geometry.domain == "places" and (shown in SETS or "wkt" in release.of_method)
    if shown == "number":
        numbers = ", ".join(f"__kanon_class + 1 AS {quoted(name)}" for name in names)
        plain = statement("single_attribute.class_numbers", numbers=numbers)
    else:
        if geometry.domain != "places":
            shown = attribute_representation(call)
        columns = quasi(call.roles, ("__kanon_class", *helpers(call.roles)))
        values = represented(shown, "COLUMNS(* EXCLUDE (__kanon_class))")
        plain = classes_sql(values, columns)
    return _rectangles(names, release, plain) if boxed else plain


def _rectangles(names: tuple[str, ...], release: ReleaseForm, plain: str) -> str:
    """What classes of two coordinates release: their boxes, or what ``plain`` says beside them."""
    columns = {f"column_{i}": quoted(name) for i, name in enumerate(names, start=1)}
    sides = {f"side_{i}": quoted(name) for i, name in enumerate(names, start=1)}
    if release.representation in SETS:
        template = f"single_attribute.rectangles_{release.representation}"
        sides = {f"side_{i}": expression(template, i=i) for i in (1, 2)}
    if release.tight:
        boxes = expression("single_attribute.rectangles_tight", **columns)
    else:
        known = {f"name_{i}": literal(name) for i, name in enumerate(names, start=1)}
        boxes = expression("single_attribute.rectangles_cells", **known)
    wkt = ""
    if "wkt" in release.of_method:
        # well-known text has x first, and a longitude is x
        x, y = (2, 1) if geographic(names) == (0, 1) else (1, 2)
        wkt = f",\n           {expression('single_attribute.rectangles_wkt', x=x, y=y)} AS wkt"
    return statement(
        "single_attribute.rectangles", plain=plain, boxes=boxes, wkt=wkt, **columns, **sides
    )
