"""The planner: DuckDB calls it while it binds a query, and binds the SQL text that it returns."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from typing import Any

from kanon_sql.call.arguments import read_arguments
from kanon_sql.call.relation import Catalog, literal
from kanon_sql.errors import KanonError
from kanon_sql.plan.macros import parameters
from kanon_sql.plan.query import plan

CatalogOf = Callable[[str, str], Catalog]
PARAMETERS = ("VARCHAR", "VARCHAR", "VARCHAR", "VARCHAR", "VARCHAR[]", "VARCHAR[]")


def planner(catalog_of: CatalogOf) -> Callable[..., str]:
    """The planner function over a catalog: (database, schema) of the caller to a Catalog."""

    def plan_call(
        call: str, relation: Any, database: str, schema: str, positional: Any, named: Any
    ) -> str:
        try:
            texts = zip_longest(parameters(call), named[0::2], named[1::2])
            given = read_arguments(positional, texts)
            return plan(call, relation, given, catalog_of(database, schema))
        except KanonError as refusal:
            # binding this raises the sentence itself, without a traceback around it
            return f"FROM query(error({literal(str(refusal))}))"

    return plan_call
