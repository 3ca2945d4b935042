"""Parts of the SQL text that several calls share: the columns by role."""

from __future__ import annotations

from collections.abc import Iterable

from kanon_sql.call.call import Call
from kanon_sql.call.relation import Relation
from kanon_sql.call.roles import Roles
from kanon_sql.names import caseless, literal, quoted
from kanon_sql.sql import expression

ROW = ("__kanon_row", "__kanon_hash")
"""The helper columns of each row."""

PART = "__kanon_part"
"""The one beside them where there are parts: the number of that in which the row is."""


def helpers(roles: Roles) -> tuple[str, ...]:
    """The helper columns of the rows of a call."""
    return (*ROW, PART) if roles.within else ROW


def listed(names: tuple[str, ...]) -> str:
    """Names in double quotes, with commas."""
    return ", ".join(map(quoted, names))


def chosen(names: Iterable[str]) -> str:
    """These columns, as a COLUMNS expression."""
    return f"COLUMNS([{', '.join(map(literal, names))}])"


def quasi(roles: Roles, helpers: tuple[str, ...], dropped: tuple[str, ...] = ()) -> str:
    """The quasi-identifiers, as a COLUMNS expression over a stage with these helper columns,
    where the columns ``dropped`` are gone."""
    if not roles.open:
        return chosen(roles.quasi_identifiers)
    away = (*helpers, *(name for name in roles.others if name not in dropped))
    return f"COLUMNS(* EXCLUDE ({listed(away)}))" if away else "COLUMNS(*)"


def one_empty_row(stage: str) -> str:
    """A relation of one row with the columns of that stage: their names and types, no values."""
    return expression("fragments.one_empty_row", stage=stage)


def seen(columns: str) -> str:
    """The values of a COLUMNS expression as a reader tells them apart: what classes are counted
    by, see sql/macros/represent.sql."""
    return f"__kanon_seen({columns}), __kanon_printed({columns})"


def classes_sql(
    values: str, columns: str, stage: str = "__kanon_labelled", plain: bool = False,
    beside: str = "",
) -> str:
    """What each class releases.

    Args:
        values: it, of the quasi-identifiers alone.
        columns: these, as a COLUMNS expression over the stage.
        stage: rows with their class.
        plain: whether NaN may stay among the values.
        beside: a helper column that the values need, after a comma.
    """
    if not plain:
        columns = f"__kanon_value({columns})"
    return expression("fragments.classes", values=values, columns=columns + beside, stage=stage)


def represented(word: str, columns: str, weight: str | None = None) -> str:
    """What a class releases of columns in a representation, by its macro.

    Args:
        word: the representation, or what stands in for it.
        columns: the columns, as a COLUMNS expression or one name.
        weight: the column by which rows count, where they do.
    """
    # a macro that is chosen by type gets its values cast, and what must have the type beside them;
    # a macro of that name would have another type, which DuckDB refuses before we say why
    ends = f"system.main.min({columns}), system.main.max({columns})"
    arguments = f"{columns}, {ends}" if word == "rounded" else columns
    if weight is None:
        return f"__kanon_{word}({arguments})"
    return f"__kanon_weighted_{word}({arguments}, {weight})"


def where(relation: Relation, roles: Roles, checked: tuple[str, ...] = ()) -> str:
    """Names every column that the call names and the catalog knows, all at once, so that one that
    is gone is refused by its name; the others see to that in ``rows_of``."""
    known = {caseless(name) for name in relation.columns or ()}
    together = [n for n in dict.fromkeys((*roles.named, *checked)) if caseless(n) in known]
    return f"\n    WHERE __kanon_has({chosen(together)})" if together else ""


def rows_of(relation: Relation, names: Iterable[str]) -> str:
    """A relation as it stands in FROM. Where only the query knows whether it has all of these
    columns, they are looked up before all else, and a missing one is refused by its name."""
    if relation.lacking:
        nothing = ", ".join(f"NULL AS {quoted(name)}" for name in relation.lacking)
        return expression("bound_relations.with_nothing", relation=relation.sql, columns=nothing)
    known = {caseless(name) for name in relation.columns or ()}
    unsure = [name for name in dict.fromkeys(names) if caseless(name) not in known]
    if not unsure:
        return relation.sql
    return expression(
        "fragments.with_columns",
        relation=relation.sql,
        checks=" AND ".join(f"__kanon_has({quoted(name)})" for name in unsure),
    )


def source_rows(call: Call) -> str:
    """The relation of a call as it stands in FROM, with all columns that the call names."""
    return rows_of(call.source, (*call.roles.named, *call.checked))


def contents(relation: Relation) -> tuple[str, str]:
    """SQL of the column names and of the rows of a relation, as text: VARCHAR[], VARCHAR[][]."""
    return (
        expression("fragments.table_names", one_row=one_empty_row(relation.sql)),
        expression("fragments.table_rows", relation=relation.sql),
    )
