"""The SQL of methods of one attribute: the relations they read, and what their classes release."""

from __future__ import annotations

from collections.abc import Mapping

from kanon_sql.call.call import GroupingCall
from kanon_sql.call.relation import Relation, literal, quoted
from kanon_sql.encode.coordinates import geographic
from kanon_sql.methods.single_attribute.geometry import AttributeGeometry
from kanon_sql.plan.fragments import ROW, contents, quasi
from kanon_sql.sql import statement

SETS = {"interval": "set", "bounds": "members"}
"""What stands in for a representation where values have no order."""


def tables_sql(tables: Mapping[str, Relation]) -> str:
    """The relations beside the one that is anonymized, for the functions inside the query."""
    entries = []
    for option, relation in tables.items():
        names, rows = contents(relation)
        entries.append(
            f"{{'name': {literal(option)}, 'names': {names},\n         'rows': {rows}}}"
        )
    return f"[{', '.join(entries)}]" if entries else "NULL"


def attribute_classes(call: GroupingCall) -> str:
    """What each class releases."""
    geometry, release = call.task.geometry, call.release
    assert isinstance(geometry, AttributeGeometry)
    representation, names = release.representation, call.roles.known_columns(call.source)
    labelled = quasi(call.roles, ("__kanon_class", *ROW))
    if representation == "number":
        numbers = ", ".join(f"__kanon_class + 1 AS {quoted(name)}" for name in names)
        plain = f"SELECT DISTINCT __kanon_class, {numbers} FROM _labelled"
    else:
        sets = SETS if geometry.domain in ("labels", "nodes") else {}
        shown = sets.get(representation, representation)
        plain = (
            f"SELECT __kanon_class, __kanon_{shown}({labelled}) FROM _labelled"
            " GROUP BY __kanon_class"
        )
    if geometry.domain != "places" or not (representation in SETS or release.wkt):
        return plain
    columns = ["__kanon_class"]
    for number, name in enumerate(names, start=1):
        shown = _side(representation, number) if representation in SETS else quoted(name)
        columns.append(f"{shown} AS {quoted(name)}")
    if release.wkt:
        columns.append(_wkt(names) + " AS wkt")
    return statement(
        "stages/rectangles", columns=",\n           ".join(columns), plain=plain,
        boxes=_boxes(names, release.tight),
    )


def _boxes(names: tuple[str, ...], tight: bool) -> str:
    """low, high and closed of each class by column: of its k-d cell, or of its own places."""
    ends = []
    for number, name in enumerate(names, start=1):
        value = f"__kanon_value({quoted(name)})"
        if tight:
            ends += [f"min({value})::DOUBLE AS __kanon_low_{number}", f"max({value})::DOUBLE AS "
                     f"__kanon_high_{number}", f"true AS __kanon_closed_{number}"]
            continue
        for end in ("low", "high", "closed"):
            ends.append(
                f"any_value(cell.{end}) FILTER (WHERE lower(columns[cell.number][1]) = "
                f"lower({literal(name)})) AS __kanon_{end}_{number}"
            )
    source = (
        "_labelled GROUP BY __kanon_class" if tight
        else "(SELECT unnest(grouped.cells) AS cell FROM _grouped) CROSS JOIN _columns "
        "GROUP BY cell.class"
    )
    own = "__kanon_class" if tight else "cell.class AS __kanon_class"
    return f"SELECT {own}, {', '.join(ends)} FROM {source}"


def _side(representation: str, number: int) -> str:
    """One side of a rectangle; NULL where the class has no place."""
    low, high, closed = (f"__kanon_{end}_{number}" for end in ("low", "high", "closed"))
    if representation == "bounds":
        return f"CASE WHEN {low} IS NOT NULL THEN {{'min': {low}, 'max': {high}}} END"
    return (
        f"CASE WHEN {low} = {high} THEN {low}::VARCHAR WHEN {low} IS NOT NULL "
        f"THEN concat('[', {low}, ', ', {high}, CASE WHEN {closed} THEN ']' ELSE ')' END) "
        "END"
    )


def _wkt(names: tuple[str, ...]) -> str:
    """A polygon in well-known text, x first."""
    x = 2 if geographic(names) == (0, 1) else 1
    corners = ("low", "low"), ("high", "low"), ("high", "high"), ("low", "high"), ("low", "low")
    text = ", ', ', ".join(f"__kanon_{a}_{x}, ' ', __kanon_{b}_{3 - x}" for a, b in corners)
    return f"CASE WHEN __kanon_low_1 IS NOT NULL THEN concat('POLYGON((', {text}, '))') END"
