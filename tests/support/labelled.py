"""The stages of a call from its labels on, where the labels are given by hand: what no method would
make is verified, in pure SQL and without a method."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import numpy as np

from kanon_sql.duckdb.catalog import ConnectionCatalog
from kanon_sql.plan.query import plan
from kanon_sql.stages.labels import UNKNOWN, hold

Connection = duckdb.DuckDBPyConnection
_tickets = itertools.count(-1000, -1)


@dataclass(frozen=True)
class Given:
    """What stands in the place of what a method makes.

    Attributes:
        labels: the class of each row, -1 for one that is left out, None for one without a label.
        counted: how many labels there are said to be; by default, as many as rows.
        classes: SQL over the classes as they come out of the representation, ``{}``.
    """

    labels: Sequence[int | None]
    counted: int | None = None
    classes: str = "FROM ({})"


@dataclass(frozen=True)
class Asked:
    """A call: its name, its relation, and its options."""

    name: str
    relation: str
    options: Mapping[str, Any]

    def also(self, **options: Any) -> Asked:
        """The same with other options."""
        return replace(self, options={**self.options, **options})


def labelled_sql(con: Connection, call: Asked, given: Given) -> str:
    """The query of a call with these labels."""
    catalog = ConnectionCatalog(lambda: nullcontext(con))
    sql = plan(call.name, call.relation, call.options, catalog).text
    ticket = next(_tickets)
    numbers = [UNKNOWN, *(UNKNOWN if label is None else label for label in given.labels)]
    hold(ticket, np.array(numbers, np.int64))
    counted = len(given.labels) if given.counted is None else given.counted
    grouped = (
        f"__kanon_grouped AS MATERIALIZED (SELECT {ticket}::BIGINT AS ticket, "
        f"{{'rows': {counted}::BIGINT, 'hidden': []::VARCHAR[], "
        "'precisions': []::STRUCT(name VARCHAR, steps BIGINT)[]} AS grouped FROM __kanon_accounted "
        "WHERE passed),\n"
    )
    begins, ends = sql.index("__kanon_cells AS ("), sql.index("__kanon_labels AS (")
    sql = sql[:begins] + grouped + sql[ends:]
    begins = sql.index("__kanon_classes AS MATERIALIZED (")
    ends = sql.index("\n),", begins)
    opened, _, classes = sql[begins:ends].partition("\n")
    return sql[:begins] + f"{opened}\n{given.classes.format(classes)}" + sql[ends:]


def released(con: Connection, call: Asked, given: Given) -> list[Any]:
    """The rows that come out, in order of their text."""
    return sorted(con.execute(labelled_sql(con, call, given)).fetchall(), key=str)


def refusal(con: Connection, call: Asked, given: Given) -> str:
    """The sentence that refuses it; empty where rows come out."""
    query = labelled_sql(con, call, given)
    try:
        con.execute(query).fetchall()
    except duckdb.Error as error:
        return str(error).partition(": ")[2]
    return ""
