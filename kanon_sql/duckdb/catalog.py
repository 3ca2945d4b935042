"""Reads the catalog of a DuckDB database, from where a caller stands in it.

Which table a name means, nobody knows better than DuckDB: the name is bound from the caller's
search path, and so is the full name of every table that may be meant; where both give the same
plan, that is the table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase
from typing import Any

import duckdb

from kanon_sql.call.catalog import Base, CatalogEntry, Content, Place, ViewColumn
from kanon_sql.call.declarations import may_declare
from kanon_sql.call.relation import is_file
from kanon_sql.duckdb.lineage import nodes, shown_by, shown_by_text
from kanon_sql.errors import OptionError
from kanon_sql.hierarchies.codes import CodeFacts, facts_of
from kanon_sql.names import caseless, quoted
from kanon_sql.plan.hierarchies import facts_sql
from kanon_sql.plan.macro_shadowing import UNLISTED

LETTERS = f"'{ascii_uppercase}', '{ascii_lowercase}'"
COLUMNS = f"""
    SELECT database_name, schema_name, table_name, column_name, comment
    FROM system.main.duckdb_columns()
    WHERE system.main.translate(table_name, {LETTERS}) = ? AND NOT internal
    ORDER BY database_name ASC, schema_name ASC, table_name ASC, column_index ASC
"""
VIEWS = """
    SELECT sql FROM system.main.duckdb_views()
    WHERE database_name = ? AND schema_name = ? AND view_name = ?
"""

Open = Callable[[], "AbstractContextManager[duckdb.DuckDBPyConnection]"]
Comments = Mapping[str, "str | None"]


class ConnectionCatalog:
    """The catalog as a connection sees it; see kanon_sql.call.catalog.Catalog."""

    def __init__(self, opened: Open) -> None:
        """``opened`` gives a connection with the caller's search path, to be closed by leaving."""
        self._opened = opened

    def entry(self, parts: tuple[str, ...]) -> CatalogEntry | None:
        """The table or view that DuckDB takes for a name, or None."""
        with self._opened() as con:
            return _entry(con, parts, set())

    def comments(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """All comments on relations of these names that may declare a role."""
        with self._opened() as con:
            return tuple(sorted(
                f"{'.'.join(place)}.{column} {comment}"
                for name in names
                for place, columns in _relations(con, name).items()
                for column, comment in columns.items() if may_declare(comment)
            ))

    def content(self, sql: str) -> Content:
        """The rows of a relation."""
        with self._opened() as con:
            try:
                cursor = con.execute(f"FROM {sql}")
                names = tuple(column[0] for column in cursor.description or ())
                rows = tuple(cursor.fetchall())
                lines = con.execute(
                    f"SELECT row(*COLUMNS(*))::VARCHAR AS line FROM {sql} ORDER BY line ASC"
                ).fetchall()
            except duckdb.Error as error:
                why = str(error).partition("\n")[0].partition(": ")[2].rstrip(".! ")
                raise OptionError(
                    f"The relation {sql} can't be read before the query runs: {why}. Name a table, "
                    "view or file that is committed."
                ) from None
        return Content(names, rows, tuple(line for (line,) in lines))

    def facts(self, sql: str, columns: Iterable[str]) -> tuple[CodeFacts, ...]:
        """What is known of columns of a relation: one scan for each."""
        with self._opened() as con:
            try:
                found = [con.execute(facts_sql(sql, name)).fetchall() for name in columns]
            except duckdb.Error as error:  # its text may hold a value
                raise OptionError(
                    f"The relation {sql} can't be read before the query runs "
                    f"({type(error).__name__}). Name a table, view or file that is committed."
                ) from None
        return tuple(facts_of(json.loads(told)) for ((told,),) in found)


def _relations(con: duckdb.DuckDBPyConnection, name: str) -> dict[Place, Comments]:
    """All tables and views of a name, wherever they stand, with the comments of their columns."""
    relations: dict[Place, dict[str, str | None]] = {}
    try:
        rows = con.execute(COLUMNS, [caseless(name)]).fetchall()
    except (duckdb.BinderException, duckdb.CatalogException):
        raise OptionError(UNLISTED) from None
    for database, schema, table, column, comment in rows:
        relations.setdefault((database, schema, table), {})[column] = comment
    return dict(relations)


def _sql(parts: Sequence[str]) -> str:
    return ".".join(map(quoted, parts))


@dataclass(frozen=True)
class _Bound:
    """How DuckDB binds a name.

    Attributes:
        plan: its plan as JSON; None where a part of it has no such form, or where it isn't bound.
        refused: why it isn't bound, if so.
    """

    plan: str | None
    refused: str | None = None


def _tree(told: str) -> Any:
    """What DuckDB tells of a query as JSON."""
    try:
        return json.loads(told)
    except RecursionError:
        raise OptionError(
            "A view that is read holds an expression of hundreds of terms, too deep to be looked "
            "into. Put its rows into a table first."
        ) from None


def _bind(con: duckdb.DuckDBPyConnection, parts: Sequence[str]) -> _Bound:
    ((serialized,),) = con.execute(
        "SELECT system.main.json_serialize_plan(?)", [f"SELECT * FROM {_sql(parts)}"]
    ).fetchall()
    plan = _tree(serialized)
    if not plan.get("error"):
        return _Bound(str(serialized))
    bound = plan["error_type"] not in ("binder", "catalog")
    return _Bound(None, None if bound else str(plan["error_message"]))


def _candidates(
    con: duckdb.DuckDBPyConnection, parts: tuple[str, ...]
) -> dict[Place, Comments]:
    """The tables and views that a name may mean, by its words alone."""
    relations = _relations(con, parts[-1])
    if len(parts) == 1:
        return relations
    wanted = [caseless(part) for part in parts[:-1]]
    fits = {
        place: columns for place, columns in relations.items()
        if [caseless(part) for part in place[:-1]][-len(wanted):] == wanted
        or (len(wanted) == 1 and caseless(place[0]) == wanted[0])
    }
    return fits


def _entry(
    con: duckdb.DuckDBPyConnection, parts: tuple[str, ...], within: set[Place]
) -> CatalogEntry | None:
    """The table or view of a name; ``within`` are the views that are being read already."""
    fitting = _candidates(con, parts)
    if not fitting:
        return None
    bound = _bind(con, parts)
    if bound.refused is not None:
        return _unbound(con, fitting, parts, bound.refused)
    meant = [place for place in fitting if _bind(con, place) == bound]
    if not meant:
        return None
    declared = {tuple((c, fitting[p][c]) for c in fitting[p] if fitting[p][c]) for p in meant}
    if len(meant) > 1 and len(declared) > 1:
        raise OptionError(
            f"The relation {'.'.join(parts)!r} may be one of {len(meant)}, which declare different "
            "roles. Write it with its database and its schema."
        )
    place = meant[0]
    bases = _bases(con, place, bound.plan, within)
    shown = _shown(con, place, tuple(fitting[place]), bound.plan, within)
    return CatalogEntry(fitting[place], place, bases, shown)


def _shown(
    con: duckdb.DuckDBPyConnection, place: Place, names: Sequence[str], bound: str | None,
    within: set[Place],
) -> dict[str, ViewColumn]:
    """What the columns show that don't show one of their own name as it is."""
    if bound is not None:
        columns = shown_by(_tree(bound), names)
    else:
        text = _text(con, place)
        if not text or place in within:  # a table, or a frame
            return {}

        def below(relation: Mapping[str, Any]) -> Collection[str] | None:
            parts = _parts_of(relation)
            if is_file(parts[-1]):
                return ()
            read = [
                entry for reading in _readings(place, parts)
                if (entry := _entry(con, reading, within | {place})) is not None
            ]
            return [name for entry in read for name in entry.shown] if read else None

        # a name with a bracket in it, or a list of names for the columns
        renamed = "(" in _head(con, place)
        columns = shown_by_text({} if renamed else _parsed(con, place, text), names, below)
    return {name: shown for name, shown in columns.items() if shown.plain != caseless(name)}


def _unbound(
    con: duckdb.DuckDBPyConnection, fitting: Mapping[Place, Comments], parts: tuple[str, ...],
    refused: str,
) -> CatalogEntry | None:
    """What a name means that isn't bound here: nothing that is committed, or a view that reads
    what only the caller's connection has."""
    if "Ambiguous" in refused:
        raise OptionError(
            f"The relation {'.'.join(parts)!r} may mean a schema or a database. Write it with its "
            "database and its schema."
        )
    views = [place for place in fitting if _bind(con, place).refused is not None]
    if len(views) == 1:
        calls = frozenset(_calls(con, views[0], set()))
        return CatalogEntry(fitting[views[0]], views[0], calls=calls)
    return None


def _calls(con: duckdb.DuckDBPyConnection, view: Place, within: set[Place]) -> Iterator[str]:
    """The table functions in the texts of a view and of those that it reads, in lower case; where a
    name may mean several, or a text can't be read, none."""
    text = None if view in within else _text(con, view)
    if text is None:
        return
    within.add(view)
    try:
        tree = _parsed(con, view, text)
    except OptionError:
        return
    for call in nodes(tree, lambda node: node.get("type") == "TABLE_FUNCTION"):
        yield caseless(str(call["function"]["function_name"]))
    maps = nodes(tree, lambda node: "cte_map" in node)
    ctes = {(caseless(cte["key"]),) for node in maps for cte in node["cte_map"]["map"]}
    for parts in _named_in(con, view, text):
        read = [places for each in _readings(view, parts) if (places := _candidates(con, each))]
        if tuple(map(caseless, parts)) not in ctes and read and len(read[0]) == 1:
            yield from _calls(con, next(iter(read[0])), within)


def _text(con: duckdb.DuckDBPyConnection, place: Place) -> str | None:
    """The text of a view; None of a table."""
    row = con.execute(VIEWS, list(place)).fetchone()
    return None if row is None else str(row[0]).partition(" AS ")[2]


def _head(con: duckdb.DuckDBPyConnection, place: Place) -> str:
    """What stands before the text of a view: its name, and names of its columns."""
    ((definition,),) = con.execute(VIEWS, list(place)).fetchall()
    return str(definition).partition(" AS ")[0]


def _bases(
    con: duckdb.DuckDBPyConnection, place: Place, bound: str | None, within: set[Place]
) -> tuple[Base, ...]:
    """The tables that a view reads, and the views between that have comments of their own; none of
    a table."""
    text = _text(con, place)
    if text is None or place in within:
        return ()
    named = _bases_by_name(con, place, text, within | {place})
    if bound is None:
        return named
    # the plan knows the tables better than their names do, and nothing of the views
    views = (base for base in named if _text(con, base.place) is not None)
    return (*_read_by(con, _tree(bound)), *views)


def _bases_by_name(
    con: duckdb.DuckDBPyConnection, view: Place, text: str, within: set[Place]
) -> tuple[Base, ...]:
    """What a view reads, by the names in its text."""
    bases: dict[Place, Base] = {}
    for parts in _named_in(con, view, text):
        for reading in _readings(view, parts):
            entry = _entry(con, reading, within)
            if entry is None or entry.place is None or entry.place in within:
                continue
            declared = {name: said for name, said in entry.columns.items() if said}
            for base in (Base(entry.place, declared), *entry.bases):
                bases[base.place] = base
    return tuple(bases.values())


def _readings(view: Place, parts: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """What a name in a view may mean: it is looked for beside the view, then where the caller
    stands."""
    return tuple(dict.fromkeys(((*view[:3 - len(parts)], *parts), parts)))


def _parsed(con: duckdb.DuckDBPyConnection, view: Place, text: str) -> Any:
    """The text of a view as JSON."""
    ((parsed,),) = con.execute("SELECT system.main.json_serialize_sql(?)", [text]).fetchall()
    tree = _tree(parsed)
    if tree.get("error"):
        raise OptionError(
            f"The view {'.'.join(view)!r} can't be looked into for the tables that it reads. Put "
            "its rows into a table first."
        )
    return tree


def _parts_of(relation: Mapping[str, Any]) -> tuple[str, ...]:
    words = ("catalog_name", "schema_name", "table_name")
    return tuple(filter(None, (relation[word] for word in words)))


def _named_in(
    con: duckdb.DuckDBPyConnection, view: Place, text: str
) -> tuple[tuple[str, ...], ...]:
    """The names of relations in the text of a view, those of its CTEs among them."""
    tree = _parsed(con, view, text)
    named = map(_parts_of, nodes(tree, lambda node: node.get("type") == "BASE_TABLE"))
    return tuple(dict.fromkeys(named))


def _scans_a_table(node: Mapping[str, Any]) -> bool:
    """Whether a node of a plan reads a table."""
    return node.get("type") == "LOGICAL_GET" and "table" in (node.get("function_data") or {})


def _read_by(con: duckdb.DuckDBPyConnection, plan: Any) -> tuple[Base, ...]:
    """The tables that a plan scans, with the columns that it reads of each."""
    read: dict[Place, set[str]] = {}
    for scan in nodes(plan, _scans_a_table):
        data, names = scan["function_data"], scan["names"]
        place = (data["catalog"], data["schema"], data["table"])
        numbers = [column["index"] for column in scan["column_indexes"]]
        read.setdefault(place, set()).update(
            caseless(names[number]) for number in numbers if number < len(names)
        )
    return tuple(
        Base(place, _relations(con, place[-1]).get(place, {}), frozenset(columns))
        for place, columns in read.items()
    )
