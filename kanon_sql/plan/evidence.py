"""The SQL of kanon_sql.evidence: which rows are held out, and rows as an attacker compares them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kanon_sql.call.relation import Relation
from kanon_sql.names import literal, quoted
from kanon_sql.plan.macro_shadowing import unshadowed_sql
from kanon_sql.sql import expression, statement

PLACE, HALF = "__kanon_place", "'8'"
"""The column of the places of rows, and the place before which half of them are."""


def halves(
    relation: Relation, columns: Sequence[str], entity: str | None, seed: int
) -> tuple[Relation, Relation]:
    """The rows that are released, and those that are held out.

    Args:
        relation: the rows.
        columns: all columns.
        entity: the column that says whose a row is, if there is one.
        seed: of the draw.
    """
    placed = _placed(relation, columns, entity, f"split {seed}")
    released, held_out = (
        replace(relation, sql=expression(
            "evidence.half", placed=placed, place=PLACE, side=side, cut=HALF
        ))
        for side in (">=", "<")
    )
    return released, held_out


def people_sql(
    relation: Relation, columns: Sequence[str], entity: str | None, seed: int
) -> str:
    """SQL of the rows of people as texts, in an order that is drawn; arguments as in ``halves``."""
    return statement(
        "evidence.rows", unshadowed=unshadowed_sql(), place=PLACE,
        placed=_placed(relation, columns, entity, f"people {seed}"), cells=_cells(columns),
        person=PLACE if entity is None else f"__kanon_key({quoted(entity)})",
    )


def cells_sql(relation: Relation, columns: Sequence[str]) -> str:
    """SQL of the rows of a release as texts."""
    return statement(
        "evidence.cells", unshadowed=unshadowed_sql(), relation=relation.sql,
        cells=_cells(columns),
    )


def _placed(
    relation: Relation, columns: Sequence[str], entity: str | None, salt: str
) -> str:
    """SQL of the rows with their places."""
    by = columns if entity is None else [entity]
    number = "row_number() OVER (PARTITION BY __kanon_text)" if entity is None else "0"
    return expression(
        "evidence.placed", relation=relation.sql, place=PLACE, number=number,
        columns=", ".join(f"__kanon_key({quoted(name)})" for name in by), seed=literal(salt),
    )


def _cells(names: Sequence[str]) -> str:
    return ", ".join(f"__kanon_key({quoted(name)}) AS {quoted(name)}" for name in names)
