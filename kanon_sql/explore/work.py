"""What is computed for the page, part by part, on a connection that can be interrupted."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from kanon_sql.api.dataframe import anonymize, anonymize_metrics, anonymize_roles
from kanon_sql.api.dataframe import hierarchy as levels
from kanon_sql.duckdb.session import Connection, Session, bound
from kanon_sql.errors import KanonError, OptionError
from kanon_sql.explore.answers import (
    ColumnFacts,
    ColumnsFound,
    FrontierPoint,
    Preview,
    ReleaseNumbers,
    ShownRows,
    Stage,
)
from kanon_sql.explore.choices import (
    BY_ROLE,
    GENERALIZED,
    Choices,
    hierarchies_of,
    options_of,
    read_hierarchy,
)
from kanon_sql.explore.preview import preview_of
from kanon_sql.explore.source import RELATION, ExploredTable
from kanon_sql.names import quoted
from kanon_sql.reporting.classes import sizes
from kanon_sql.reporting.distributions import read_column
from kanon_sql.reporting.readings import RELEASE, SOURCE, TablePair

KS = (2, 3, 5, 10, 20, 50)
"""The k of the frontier, beside the one that was chosen."""

EXAMPLES = 5
"""Released rows that are shown, each of another class."""

PASSING = 5
"""From this k on it has no effect on which columns that pass unchanged look like identifiers."""

KEPT = 400
"""Answers that are remembered."""

NO_LEVELS = (
    "The column {!r} is not generalized by a hierarchy. Give it the role quasi_identifier, and "
    "choose one."
)
PASSED = (
    "The column {!r} looks like an identifier, so it can't be kept unchanged. Drop it, or "
    "generalize it."
)

Answer = TypeVar("Answer", bound=Stage)


@dataclass
class Workbench:
    """The explored table, and the answers about it so far.

    Attributes:
        table: the table.
        kept: the answers by what was asked, the newest last.
    """

    table: ExploredTable
    kept: OrderedDict[tuple[Any, ...], Stage] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def stages(self, con: Connection, choices: Choices, show_values: bool) -> Iterator[Stage]:
        """All that there is to tell of the choices: the columns, the numbers, the rows, and then
        the frontier.

        Args:
            con: a connection that has the table.
            choices: what was chosen.
            show_values: whether values of the source may be shown.

        Raises:
            OptionError, DataError, ReleaseError: no release can be made with the choices.
        """
        columns = self.columns(con, choices)
        yield columns
        refuse_withheld(columns, choices)
        options = options_of(choices) | ({"show_values": True} if show_values else {})
        yield self._numbers(con, choices, options, show_values)
        yield self._once(
            ("rows", choices.key(), show_values),
            lambda: _shown(con, self.table, choices, options, show_values),
        )
        for k in sorted({*KS, choices.k}, key=lambda k: (k != choices.k, k)):
            try:
                measured = self._numbers(
                    con, replace(choices, k=k), {**options, "k": k}, show_values
                )
            except KanonError as refusal:
                yield FrontierPoint(k, refused=str(refusal))
            else:
                yield _point(k, measured)

    def _numbers(
        self, con: Connection, choices: Choices, options: Mapping[str, Any], show_values: bool
    ) -> ReleaseNumbers:
        return self._once(
            ("numbers", choices.key(), show_values), lambda: _measured(con, options)
        )

    def columns(self, con: Connection, choices: Choices | None) -> ColumnsFound:
        """The columns, with the roles that were chosen; with those that are suggested for None."""
        asked = None if choices is None else (*choices.roles.items(), min(choices.k, PASSING))
        return self._once(("columns", asked), lambda: _columns(con, choices))

    def preview(
        self, con: Connection, choices: Choices, column: str, show_values: bool
    ) -> Iterator[Stage]:
        """The levels of the hierarchy of a column. Raises OptionError, DataError."""
        def made() -> Preview:
            chosen = read_hierarchy(column, choices.hierarchies[column])
            return preview_of(con, column, chosen, choices.k, show_values)

        if choices.roles.get(column) != GENERALIZED or column not in choices.hierarchies:
            raise OptionError(NO_LEVELS.format(column))
        hierarchy = choices.hierarchies[column]
        key = (column, hierarchy.kind, *hierarchy.options.items(), choices.k, show_values)
        yield self._once(("levels", *key), made)

    def _once(self, key: tuple[Any, ...], make: Callable[[], Answer]) -> Answer:
        """An answer, made where it is not remembered."""
        with self.lock:
            if key in self.kept:
                self.kept.move_to_end(key)
                return self.kept[key]  # type: ignore[return-value]
        answer = make()
        with self.lock:
            self.kept[key] = answer
            while len(self.kept) > KEPT:
                self.kept.popitem(last=False)
        return answer


def suggestions(con: Connection) -> list[dict[str, Any]]:
    """What anonymize_roles reports of each column without any choice."""
    rows: list[dict[str, Any]] = anonymize_roles(RELATION, con=con, progress=False).to_pylist()
    return rows


def _columns(con: Connection, choices: Choices | None) -> ColumnsFound:
    options: dict[str, Any] = {}
    if choices is not None:
        options = {
            option: named for role, option in BY_ROLE.items() if (named := choices.of_role(role))
        }
        if entities := choices.of_role("entity"):
            options["entity"] = entities[0]
            options.setdefault("identifiers", []).extend(entities[1:])
            options = {name: named for name, named in options.items() if named}
        if "quasi_identifiers" not in options:
            options = {}
        elif choices.of_role("other"):
            options["others"] = "release"
        options["k"] = min(choices.k, PASSING)
    rows = anonymize_roles(RELATION, con=con, progress=False, **options).to_pylist()
    return ColumnsFound(tuple(
        ColumnFacts(
            row["column_name"], row["column_type"], row["distinct_values"], row["suggested_role"],
            row["suggested_hierarchy"], tuple(row["remarks"]), row["released_as"] == "NULL",
        )
        for row in rows
    ))


def _metrics(con: Connection, options: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = anonymize_metrics(
        RELATION, con=con, progress=False, **options
    ).to_pylist()
    return rows


def _measured(con: Connection, options: Mapping[str, Any]) -> ReleaseNumbers:
    rows = _metrics(con, options)
    return ReleaseNumbers(
        {row["metric"]: row["value"] for row in rows if row["value"] is not None},
        {row["metric"]: row["in_words"] for row in rows if row["in_words"]},
        tuple(dict.fromkeys(row["text"] for row in rows if row["metric"] == "notice")),
    )


def _point(k: int, measured: ReleaseNumbers) -> FrontierPoint:
    values = measured.values
    return FrontierPoint(
        k, values.get("information_loss", 0.0) / 100, values.get("prosecutor_risk_max", 0.0),
        int(values.get("classes", 0)),
    )


def _shown(
    con: Connection, table: ExploredTable, choices: Choices, options: Mapping[str, Any],
    show_values: bool,
) -> ShownRows:
    """The rows of the release, and what they are beside those of the source."""
    released = anonymize(RELATION, con=con, progress=False, **options)
    quasi, entities = choices.of_role("quasi_identifier"), choices.of_role("entity")
    known = [*quasi, *choices.of_role("within")]
    trees = {
        column: _paths(con, column, chosen)
        for column, chosen in hierarchies_of(choices).items()
    }
    needed = ", ".join(map(quoted, [*known, *entities]))
    rows = bound(con, f"SELECT {needed} FROM {RELATION}").to_arrow_table()
    with Session(None) as own:
        own.con.register(SOURCE, rows)
        own.con.register(RELEASE, released)
        read = TablePair(own.con)
        read.prepare()
        unit = choices.k * max((read.most_rows(name) for name in entities), default=1)
        distributions = tuple(
            read_column(read, name, unit, show_values, paths=trees.get(name, ()))[0]
            for name in quasi
        )
        counts = sizes(read, known, choices.k, unit, show_values)
        texts = ", ".join(f"{quoted(name)}::VARCHAR" for name in released.column_names)
        alike = ", ".join(map(quoted, known))
        first = own.con.execute(f"""
            SELECT {texts} FROM (SELECT *, row_number() OVER () AS __kanon_row FROM {RELEASE})
            QUALIFY row_number() OVER (PARTITION BY {alike} ORDER BY __kanon_row) = 1
            ORDER BY __kanon_row LIMIT {EXAMPLES}
        """).fetchall()
    return ShownRows(counts, distributions, tuple(released.column_names), tuple(map(tuple, first)))


def _paths(con: Connection, column: str, chosen: str | dict[str, Any]) -> list[tuple[str, ...]]:
    options = {"kind": chosen} if isinstance(chosen, str) else dict(chosen)
    table = levels(RELATION, column, con=con, **options)
    return list(zip(*(each.to_pylist() for each in table.columns), strict=True))


def refuse_withheld(columns: ColumnsFound, choices: Choices) -> None:
    """Raises OptionError for a column that passes unchanged and looks like an identifier: a line of
    SQL withholds it, and a file of roles would not."""
    for column in columns.columns:
        if column.withheld and choices.roles.get(column.name) == "other":
            raise OptionError(PASSED.format(column.name))
