"""The SQL of hierarchies: how each is read, and what a class releases of a column that has one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from kanon_sql.call.catalog import Catalog
from kanon_sql.call.hierarchies import HierarchySpec, read_hierarchy
from kanon_sql.call.relation import Relation
from kanon_sql.errors import OptionError
from kanon_sql.hierarchies.kinds import BY_TYPE, KINDS, KINDS_BY_TYPE, level_count
from kanon_sql.names import caseless, literal, quoted
from kanon_sql.plan.fragments import contents, rows_of
from kanon_sql.plan.macro_shadowing import unshadowed_sql
from kanon_sql.sql import expression, statement

MIXED = (
    "The release was stopped: a class has more than one value at the level chosen for its column. "
    "Nothing was released; please report this as a bug."
)


def _plain(value: Any) -> Any:
    """What JSON has no form for: a Decimal as a number, all else as text."""
    return float(value) if isinstance(value, Decimal) else str(value)


class Hierarchies:
    """The stages of all hierarchies of a call.

    Attributes:
        columns: the columns that have one, in the order of their numbers 1, 2, ...
        labelled: those of them of which classes release a label.
    """

    def __init__(
        self, specs: Sequence[HierarchySpec], show_values: bool, values: str,
        categorical: tuple[str, ...] = (), labelled: tuple[str, ...] = (), first: int = 1,
        domains: Mapping[str, Relation] | None = None,
    ) -> None:
        """``values``: the stage that holds the values of the columns; ``categorical``: the columns
        that are taken as text without having a hierarchy; ``first``: the number of the first
        column; ``domains``: the values of columns, in lower case, of which the stage has some."""
        self._domains = domains or {}
        self.columns = tuple(spec.column for spec in specs)
        with_tree = {caseless(name) for name in self.columns}
        self._texts = (*self.columns, *(c for c in categorical if caseless(c) not in with_tree))
        self.labelled = labelled
        self._specs = specs
        self._show_values = show_values
        self._values = values
        self._first = first

    def __bool__(self) -> bool:
        return bool(self.columns)

    def keyed(self, stage: str) -> str:
        """A stage with these columns, and all categories, as texts: so they are found in trees."""
        return self._replaced(stage, self._texts, lambda column: f"__kanon_key({column})")

    def stages(self) -> str:
        """Reads the trees."""
        return "".join(
            self._tree(i, spec) + ",\n" for i, spec in enumerate(self._specs, start=self._first)
        )

    def _tree(self, i: int, spec: HierarchySpec) -> str:
        read = spec.levels or spec.table
        names, rows = contents(read) if read is not None else ("NULL", "NULL")
        description = {"column": spec.column, "show_values": self._show_values, **spec.spec}
        domain, values = self._domains.get(caseless(spec.column)), self._values
        if domain is not None:
            values = f"(SELECT label AS {quoted(spec.column)} FROM {domain.sql})"
        return statement(
            "hierarchies.hierarchy", i=i, column=quoted(spec.column), values=values,
            names=names, rows=rows,
            spec=literal(json.dumps(description, sort_keys=True, default=_plain)),
        )

    def argument(self) -> str:
        """The trees, for the functions inside the query."""
        return trees_argument(self)

    def entries(self) -> list[str]:
        """Each of them."""
        return [
            f"{{'name': {literal(name)}, 'paths': (SELECT paths FROM __kanon_tree_{i})}}"
            for i, name in self.numbered()
        ]

    def numbered(self) -> list[tuple[int, str]]:
        """The columns and their numbers."""
        return list(enumerate(self.columns, start=self._first))

    def classes(self, plain: str, same_level: bool) -> str:
        """What each class releases: ``plain`` says it for the columns without a hierarchy.

        Args:
            plain: SQL of __kanon_class and all quasi-identifiers, over __kanon_labelled.
            same_level: whether all classes release the level that the method chose.
        """
        shown = [(i, n) for i, n in enumerate(self.columns, start=1) if n in self.labelled]
        labels = ", ".join(f"__kanon_ancestors_{i}.label AS {quoted(name)}" for i, name in shown)
        joins = "".join(
            f"\n    JOIN __kanon_ancestors_{i} USING (__kanon_class)" for i, _ in shown
        )
        ancestors = ",\n".join(
            statement(
                "hierarchies.ancestors", i=i, column=quoted(name), label=self._label(i, same_level)
            )
            for i, name in shown
        )
        return statement(
            "hierarchies.ancestors_released", ancestors=ancestors, labels=labels, plain=plain,
            joins=joins,
        )

    def _label(self, i: int, same_level: bool) -> str:
        if not same_level:
            return statement("hierarchies.ancestors_lowest")
        level = statement(
            "hierarchies.chosen_level", fact=literal(f"level {caseless(self.columns[i - 1])}")
        )
        return statement(
            "hierarchies.ancestors_same_level", name=literal(self.columns[i - 1]), level=level, i=i,
            mixed=literal(MIXED),
        )

    def emptied(self, stage: str, names: tuple[str, ...]) -> str:
        """A stage in which these columns hold nothing, so that aggregating them costs nothing."""
        return self._replaced(stage, names, lambda column: "0")

    def _replaced(
        self, stage: str, names: tuple[str, ...], value: Callable[[str], str]
    ) -> str:
        """A stage in which each of these columns is what ``value`` makes of its name in quotes."""
        if not names:
            return stage
        columns = ", ".join(f"{value(name)} AS {name}" for name in map(quoted, names))
        return statement("hierarchies.replaced", columns=columns, stage=stage)


def trees_argument(*hierarchies: Hierarchies) -> str:
    """All these trees, for the functions inside the query."""
    trees = ", ".join(entry for some in hierarchies for entry in some.entries())
    return f"[{trees}]" if trees else "NULL"


def hierarchy_spec(options: Mapping[str, Any], catalog: Catalog) -> HierarchySpec:
    """What hierarchy('t', 'zip', kind='prefix') makes.

    Raises:
        OptionError: no column, an unknown kind or option.
    """
    column = options.get("column_name")
    if not isinstance(column, str) or not column.strip():
        raise OptionError(
            "The column is missing. Give it after the relation, for example "
            "hierarchy('patients', 'zip', kind='prefix')."
        )
    spec = {name: value for name, value in options.items() if name != "column_name"}
    if "kind" not in spec:
        raise OptionError(f"kind is not given. There are: {', '.join(KINDS)}.")
    return read_hierarchy(column, spec, catalog)


def hierarchy_sql(source: Relation, spec: HierarchySpec) -> str:
    """The level table of a column, with as many levels as the kind makes at most."""
    stages = Hierarchies([spec], False, "__kanon_values")
    kinds = KINDS_BY_TYPE if spec.kind == BY_TYPE else (spec.kind,)
    levels = ", ".join(
        f"coalesce(path[{level + 1}], path[len(path)]) AS level{level}"
        for level in range(max(level_count(kind, spec.options) for kind in kinds))
    )
    return statement(
        "hierarchies.hierarchy_call",
        unshadowed=unshadowed_sql(),
        column=quoted(spec.column),
        relation=rows_of(source, [spec.column]),
        tree=stages.stages().rstrip().rstrip(","),
        levels=levels,
    )


def facts_sql(relation: str, column: str) -> str:
    """A query of one value: what is known of a column, as kanon_sql.hierarchies.codes reads it.

    Args:
        relation: as it stands in FROM.
        column: the column.
    """
    return statement(
        "roles.facts", name=literal(column), column=quoted(column), relation=relation,
        written=expression("roles.written", x="x"),
    )
