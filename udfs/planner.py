"""The planner: DuckDB calls it while it binds a query, and binds the SQL text that it returns."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import zip_longest
from typing import Any

from kanon_sql.call.arguments import read_arguments
from kanon_sql.call.catalog import Catalog
from kanon_sql.errors import KanonError, OptionError
from kanon_sql.jobs.forks import refuse_forked
from kanon_sql.names import literal
from kanon_sql.plan.bound_relations import resolved_sql
from kanon_sql.plan.macro_shadowing import refuse_changed
from kanon_sql.plan.macros import FIRST, at_home, parameters
from kanon_sql.plan.query import plan

CatalogOf = Callable[[int, str], Catalog]
ShadowOf = Callable[[int, str, str, bool], "str | None"]
PARAMETERS = (*("VARCHAR",) * 3, *("VARCHAR[]",) * 2, *("VARCHAR",) * 2, "UBIGINT", "VARCHAR")

FAILED = "The call can't be planned: {} inside. Nothing was released; please report this as a bug."

RECURSIVE = (
    "The view {0!r} calls {1} itself, and DuckDB runs no {1} within another. Put the rows of the "
    "view into a table first."
)


def planner(catalog_of: CatalogOf, shadow_of: ShadowOf) -> Callable[..., str]:
    """The planner function over a catalog: the caller's connection and search path to a Catalog,
    (connection, database, search path, whether the text is run now) to the name of a macro that
    hides a function."""

    def plan_call(
        call: str, relation: Any, path: str, positional: Any, named: Any, database: str,
        collation: str | None, caller: int, home: str,
    ) -> str:
        try:
            refuse_forked()
            runs = call != "anonymize_sql"
            refuse_changed(shadow_of(caller, database, path or "", runs), collation or "")
            texts = zip_longest(parameters(call), named[0::2], named[1::2])
            given = read_arguments(positional, texts, FIRST.get(call))
            named_relation = None if relation is None else json.loads(relation)
            planned = plan(call, named_relation, given, catalog_of(caller, path))
            for sought in planned.relations:
                if runs and sought.relation.entry and call in sought.relation.entry.calls:
                    raise OptionError(RECURSIVE.format(sought.name, call))
            if not runs:  # it names relations, and reads none
                return at_home(planned.text, home)
            return resolved_sql(at_home(planned.text, home), [
                sought for sought in planned.relations
                if sought.may_be_missing and sought.is_no_cte
            ], planned.columns)
        except KanonError as refusal:
            # binding this raises the sentence itself, without a traceback around it
            return f"FROM system.main.query(system.main.error({literal(str(refusal))}))"
        except Exception as failure:
            said = FAILED.format(type(failure).__name__)
            return f"FROM system.main.query(system.main.error({literal(said)}))"

    return plan_call
