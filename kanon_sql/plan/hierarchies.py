"""The SQL of hierarchies: how each is read, and what a class releases of a column that has one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from kanon_sql.call.relation import Catalog, Relation, find_relation, literal, quoted
from kanon_sql.call.roles import Roles
from kanon_sql.errors import OptionError, did_you_mean
from kanon_sql.hierarchies.kinds import KINDS, check_kind, level_count
from kanon_sql.sql import statement

AUTO = ""
"""Stands for the kind that a column gets by its type, where every column needs one."""

STAGE = re.compile(r"_(source|kept|released|values|columns|taken|cells|tree_\d+)", re.IGNORECASE)
"""Names that mean a stage of the query where a hierarchy or a release is read."""

LOWEST = """CASE
        WHEN span.known = 0 THEN NULL
        WHEN span.known < span.total THEN low.path[len(low.path)]
        ELSE low.path[list_filter(
            range(1, len(low.path) + 1),
            lambda level: encode(low.path[level]) = encode(high.path[level]))[1]] END"""

SAME_LEVEL = """CASE
        WHEN {level} IS NULL OR encode(low.path[{level} + 1]) <> encode(high.path[{level} + 1])
            OR (span.known < span.total AND {level} < (SELECT len(paths[1]) - 1 FROM _tree_{i})
                AND span.known > 0) THEN error({mixed})
        WHEN span.known > 0 THEN low.path[{level} + 1]
        WHEN {level} = (SELECT len(paths[1]) - 1 FROM _tree_{i})
            THEN (SELECT paths[1][{level} + 1] FROM _tree_{i}) END"""

MIXED = (
    "The release was stopped: a class has more than one value at the level chosen for its column. "
    "Nothing came out; please report this as a bug."
)


def _spec(column: str, given: str | Mapping[str, Any], catalog: Catalog) -> Any:
    """The kind with its options, or the relation that holds the levels."""
    if isinstance(given, str):
        return {"kind": given} if given in KINDS or given == AUTO else outside(given, catalog)
    named = {
        name: value.tolist() if hasattr(value, "tolist") else value  # of numpy
        for name, value in given.items() if value is not None
    }
    check_kind(column, named)
    return named


def _plain(value: Any) -> Any:
    """What JSON has no form for: a Decimal as a number, all else as text."""
    return float(value) if isinstance(value, Decimal) else str(value)


def outside(name: str, catalog: Catalog) -> Relation:
    """The relation that a user means, which must not have the name of a stage of the query.

    Raises:
        OptionError: it has.
    """
    found = find_relation(name, catalog)
    if len(found.parts) == 1 and STAGE.fullmatch(found.parts[0]):
        raise OptionError(
            f"The relation {name!r} has the name of a part of the query. Write it with its schema, "
            f"such as 'main.{name}'."
        )
    return found


def known_columns(roles: Roles, source: Relation) -> tuple[str, ...]:
    """The quasi-identifiers, as far as they are known before the query runs."""
    others = {name.lower() for name in (*roles.sensitive, *roles.identifiers, *roles.other)}
    return roles.quasi_identifiers or tuple(
        name for name in source.columns or () if name.lower() not in others
    )


def all_hierarchies(
    options: Mapping[str, Any], roles: Roles, source: Relation
) -> dict[str, str | dict[str, Any]]:
    """The hierarchy of each column that has one; with recoding 'global' and metric 'taxonomy' every
    column gets one.

    Raises:
        OptionError: a hierarchy for a column that is no quasi-identifier, or columns that are not
            known where every one of them needs a hierarchy.
    """
    given = dict(options["hierarchies"])
    others = {name.lower() for name in (*roles.sensitive, *roles.identifiers, *roles.other)}
    known = known_columns(roles, source)
    for name in given:
        if name.lower() in others or (known and name.lower() not in map(str.lower, known)):
            raise OptionError(
                f"hierarchies names the column {name!r}, which is no quasi-identifier. "
                + (did_you_mean(name, known) if known else "Give it another role, or leave it out.")
            )
    globally, by_taxonomy = options.get("recoding") == "global", options.get("metric") == "taxonomy"
    if not globally and not by_taxonomy:
        return given
    if not known:
        choice = "recoding 'global'" if globally else "The metric 'taxonomy'"
        raise OptionError(
            f"{choice} needs to know the columns before it runs. Name them in "
            "quasi_identifiers := [...]."
        )
    named = {name.lower() for name in given}
    return given | {name: AUTO for name in known if name.lower() not in named}


def contents(relation: Relation) -> tuple[str, str]:
    """SQL of the column names and of the rows of a relation, as text: VARCHAR[], VARCHAR[][]."""
    return (
        "(SELECT any_value(names) FROM (SELECT [*COLUMNS(*)] AS names FROM "
        f"(SELECT __kanon_name(COLUMNS(*)) FROM {relation.sql} LIMIT 1)))",
        "(SELECT list(cells) FROM (SELECT [*COLUMNS(*)] AS cells FROM "
        f"(SELECT __kanon_key(COLUMNS(*)) FROM {relation.sql})))",
    )


class Hierarchies:
    """The stages of all hierarchies of a call.

    Attributes:
        columns: the columns that have one, in the order of their numbers 1, 2, ...
    """

    def __init__(
        self, given: Mapping[str, str | dict[str, Any]], catalog: Catalog, show_values: bool,
        values: str,
    ) -> None:
        self.columns = tuple(given)
        self._specs = {name: _spec(name, spec, catalog) for name, spec in given.items()}
        self._show_values = show_values
        self._values = values
        self._catalog = catalog

    def __bool__(self) -> bool:
        return bool(self.columns)

    def told(self) -> dict[str, Any]:
        """What each column's hierarchy is, in words that can be written as JSON."""
        told: dict[str, Any] = {}
        for name, spec in self._specs.items():
            if isinstance(spec, Relation):
                told[name] = spec.sql
            elif spec["kind"] == AUTO:
                told[name] = "a kind by the column's type"
            else:
                told[name] = spec if len(spec) > 1 else spec["kind"]
        return told

    def keyed(self, stage: str) -> str:
        """A stage with these columns as the texts by which they are found in their trees."""
        if not self.columns:
            return stage
        keys = ", ".join(f"__kanon_key({quoted(n)}) AS {quoted(n)}" for n in self.columns)
        return f"(SELECT * REPLACE ({keys}) FROM {stage})"

    def stages(self) -> str:
        """Reads the trees."""
        return "".join(
            self._tree(i, name) + ",\n" for i, name in enumerate(self.columns, start=1)
        )

    def _tree(self, i: int, name: str) -> str:
        spec, names, rows = self._specs[name], "NULL", "NULL"
        if isinstance(spec, Relation):
            names, rows = contents(spec)
            spec = {"relation": spec.sql}
        elif spec["kind"] != AUTO:
            for option in KINDS[spec["kind"]].tables:
                if spec.get(option) is not None:
                    names, rows = contents(outside(spec[option], self._catalog))
        told = {"column": name, "show_values": self._show_values, **spec}
        return statement(
            "stages/hierarchy", i=i, column=quoted(name), values=self._values, names=names,
            rows=rows, spec=literal(json.dumps(told, sort_keys=True, default=_plain)),
        )

    def argument(self) -> str:
        """The trees, for the functions inside the query."""
        trees = ", ".join(
            f"{{'name': {literal(name)}, 'paths': (SELECT paths FROM _tree_{i})}}"
            for i, name in enumerate(self.columns, start=1)
        )
        return f"[{trees}]" if trees else "NULL"

    def classes(self, plain: str, same_level: bool) -> str:
        """What each class releases: ``plain`` says it for the columns without a hierarchy.

        Args:
            plain: SQL of __kanon_class and all quasi-identifiers, over _labelled.
            same_level: whether all classes release the level that the method chose.
        """
        labels = ", ".join(
            f"_ancestors_{i}.label AS {quoted(name)}"
            for i, name in enumerate(self.columns, start=1)
        )
        joins = "".join(
            f"\n    JOIN _ancestors_{i} USING (__kanon_class)"
            for i in range(1, len(self.columns) + 1)
        )
        stages = ",\n".join(
            statement(
                "stages/ancestors", i=i, column=quoted(name), label=self._label(i, same_level)
            )
            for i, name in enumerate(self.columns, start=1)
        )
        return (
            f"WITH {stages}\n"
            f"SELECT _plain.* REPLACE ({labels})\n    FROM ({plain}) AS _plain{joins}"
        )

    def _label(self, i: int, same_level: bool) -> str:
        if not same_level:
            return LOWEST
        fact = literal(f"level {self.columns[i - 1].lower()}")
        level = f"(SELECT (grouped.facts::JSON ->> {fact})::DOUBLE::BIGINT FROM _grouped)"
        return SAME_LEVEL.format(level=level, i=i, mixed=literal(MIXED))

    def emptied(self, stage: str) -> str:
        """A stage in which these columns hold nothing, so that aggregating them costs nothing."""
        if not self.columns:
            return stage
        nothing = ", ".join(f"0 AS {quoted(name)}" for name in self.columns)
        return f"(SELECT * REPLACE ({nothing}) FROM {stage})"


def hierarchy_sql(source: Relation, given: Mapping[str, Any], catalog: Catalog) -> str:
    """The SQL of hierarchy('t', 'zip', kind := 'prefix'): the level table of a column.

    Raises:
        OptionError: no column, an unknown kind or option.
    """
    column = given.get("column_name")
    if not isinstance(column, str) or not column.strip():
        raise OptionError(
            "The column is missing. Give it after the relation, for example "
            "hierarchy('patients', 'zip', kind := 'prefix')."
        )
    spec = {name: value for name, value in given.items() if name != "column_name"}
    if "kind" not in spec:
        raise OptionError(f"kind is not given. There are: {', '.join(KINDS)}.")
    options = check_kind(column, spec)
    stages = Hierarchies({column: spec}, catalog, False, "_values")
    levels = ", ".join(
        f"coalesce(path[{level + 1}], path[len(path)]) AS level{level}"
        for level in range(level_count(spec["kind"], options))
    )
    return statement(
        "calls/hierarchy",
        column=quoted(column),
        relation=source.sql,
        tree=stages.stages().rstrip().rstrip(","),
        levels=levels,
    )
