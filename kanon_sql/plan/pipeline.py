"""The SQL of the pipeline, which every grouping call shares: from a relation to its verified
release. The stages are in sql/pipeline.sql, in the order in which they run."""

from __future__ import annotations

import json

from kanon_sql.call.call import Call, GroupingCall
from kanon_sql.call.choices import POINTS
from kanon_sql.methods.single_attribute.geometry import AttributeGeometry
from kanon_sql.methods.task import Run
from kanon_sql.names import caseless, literal, quoted
from kanon_sql.plan.bind_checks import refusals
from kanon_sql.plan.centers import centers_sql
from kanon_sql.plan.fragments import (
    PART,
    helpers,
    listed,
    one_empty_row,
    quasi,
    seen,
    source_rows,
    where,
)
from kanon_sql.plan.generalize import class_rows, published_forms, released_classes
from kanon_sql.plan.hierarchies import Hierarchies, trees_argument
from kanon_sql.plan.ledger import (
    before_sql,
    centers_of_ledger,
    goes_on,
    ledger_json,
    publishes_points,
    refusals_of_ledger,
    tables_of_ledger,
)
from kanon_sql.plan.macro_shadowing import unshadowed_sql
from kanon_sql.plan.models import secret_trees
from kanon_sql.plan.parts import parts_sql, refusals_of_parts
from kanon_sql.plan.persons import described_entity, person_keys_sql
from kanon_sql.plan.population import people_stage, people_table
from kanon_sql.plan.repeated import repeated_sql, source_holes, unnamed_sql
from kanon_sql.plan.single_attribute import tables_sql
from kanon_sql.plan.verify import verify_holes
from kanon_sql.sql import expression, statement


def trees_of(call: GroupingCall) -> Hierarchies:
    """The stages of the call's hierarchies."""
    labelled = tuple(
        spec.column for spec in call.hierarchies
        if call.release.of(spec.column, has_hierarchy=True) == "hierarchy"
    )
    return Hierarchies(
        call.hierarchies, call.show_values, "__kanon_kept", call.categorical, labelled
    )


def run_sql(call: GroupingCall, measured: bool = False) -> str:
    """The run as the functions inside the query get it, a JSON literal; ``measured``: as in
    Run."""
    named = named_columns(call)
    parts = ("by_part" if call.by_part else "whole") if call.roles.within else None
    precise = call.release.rounds and call.release.precisions is None
    run = Run(
        call.task, call.progress, named, ledger_json(call), call.block, parts, call.least, precise,
        measured,
    )
    return literal(run.to_json())


def _room(call: GroupingCall) -> dict[str, str]:
    """The number of rows that are about to be handed over, and the memory that the caller leaves
    to the query, as text; NULL where nobody can tell, or nobody asks."""
    leaves_out = call.task.nulls == "suppress"
    return {
        "expected": "NULL" if leaves_out else "(SELECT count(*) FROM __kanon_source)",
        # a block of many is small, and has a limit that is meant for DuckDB alone
        "memory": "system.main.current_setting('memory_limit')" if call.block is None else "NULL",
    }


def _threads(call: GroupingCall) -> str:
    """How many threads the grouping takes."""
    if call.threads is None:
        return "system.main.current_setting('threads')"
    return str(call.threads)


def _divided(call: GroupingCall) -> str:
    """Whether the statement that runs divides a release of its own by columns, which made no part
    of it."""
    if call.name != "anonymize" or call.roles.within:
        return "false"
    return r"regexp_matches(system.main.current_query(), '(?is)\bcopy\b.*\bpartition_by\b')"


def named_columns(call: Call) -> tuple[str, ...] | None:
    """The quasi-identifiers that somebody named, in lower case; None where no others can be."""
    if not call.roles.open:
        return None
    trees = (spec.column for spec in call.hierarchies if spec.chosen)
    return tuple(sorted({caseless(n) for n in (*call.roles.quasi_identifiers, *trees)}))


def _cell(call: GroupingCall) -> str:
    """A cell of the encoding. Where values are generalized as they are, its category tells them
    apart, also where they are numbers."""
    column, geometry = quasi(call.roles, helpers(call.roles)), call.task.geometry
    if not isinstance(geometry, AttributeGeometry) or geometry.domain == "places":
        return f"__kanon_cell({column})"
    return f"{{'number': (__kanon_cell({column})).number, 'category': __kanon_key({column})}}"


def _extra(call: GroupingCall) -> str:
    """The number that some methods need of each row: what it costs, or the rank of its value."""
    geometry, cost = call.task.geometry, call.task.own.cost_column
    if isinstance(geometry, AttributeGeometry) and geometry.domain == "values":
        row = f"row(*{quasi(call.roles, helpers(call.roles))})"  # its key has no collation
        return f"dense_rank() OVER (ORDER BY create_sort_key({row}, 'ASC NULLS LAST'))"
    return "NULL" if cost is None else quoted(cost)


def _key(column: str | None) -> str:
    """A column as text; NULL without one."""
    return "NULL" if column is None else f"__kanon_key({quoted(column)})"


NO_CELLS = "NULL::STRUCT(number DOUBLE, category VARCHAR)[]"


def _sensitive(call: GroupingCall) -> tuple[str, ...]:
    """The sensitive columns that models or the method look at; and last the column that says whose
    row a row is, where persons are grouped."""
    asked = call.task.sensitive
    if call.task.own.needs_sensitive:  # the first of them
        own = {caseless(name): name for name in call.roles.sensitive}
        asked = (*own.values(), *(name for name in asked if caseless(name) not in own))
    if call.task.persons and call.roles.entity is not None:
        return (*asked, call.roles.entity)
    return asked


def _secrets(call: GroupingCall) -> dict[str, str]:
    """What fills the holes of the sensitive columns that are looked at: their cells, which tell
    values apart by their texts, also numbers; and their names and types."""
    names = tuple(map(quoted, _sensitive(call)))
    cells = ", ".join(
        f"{{'number': (__kanon_cell({name})).number, 'category': __kanon_key({name})}}"
        for name in names
    )
    entity = None if call.roles.entity is None else quoted(call.roles.entity)
    described = ", ".join(
        described_entity(name) if name == entity else f"__kanon_describe({name})"
        for name in names
    )
    if call.roles.within:  # last of all the number of the part
        cells += f"{', ' * bool(names)}{{'number': {PART}::DOUBLE, 'category': NULL::VARCHAR}}"
        described += f"{', ' * bool(names)}__kanon_describe({PART})"
    return {
        "secrets": f"[{cells}]" if cells else NO_CELLS,
        "secret_columns": (
            f"(SELECT [{described}] FROM {one_empty_row('__kanon_source')})" if cells else "NULL"
        ),
    }


def passing(call: GroupingCall) -> str:
    """The columns of __kanon_labelled that are released as they are, each after a comma."""
    roles = call.roles
    if roles.rest == "release":
        away = (
            "__kanon_class", *helpers(roles), *roles.quasi_identifiers, *roles.identifiers,
            *roles.within,
        )
        columns = f", __kanon_labelled.* EXCLUDE ({listed(away)})"
    else:
        names = map(quoted, roles.passing)
        columns = "".join(f", __kanon_labelled.{name}" for name in names)
    return columns + ", __kanon_labelled.__kanon_row" if call.release.keep_order else columns


def _hashed(seed: int, row: str) -> str:
    """A seeded hash of a row, given as SQL."""
    return f"(md5_number(concat('{seed} ', __kanon_row_text({row}))) >> 64)::UBIGINT"


def _without(names: tuple[str, ...]) -> str:
    """What follows a star to leave these columns out."""
    return f" EXCLUDE ({listed(names)})" if names else ""


def _ties(call: GroupingCall) -> dict[str, str]:
    """What fills the holes of the hashes by which rows stand that the encoding can't tell apart:
    first one of all that isn't sensitive, then one of all that a row has.

    So nothing that a sensitive column holds, nor whose row it is, decides which of two rows lands
    in which class, unless the rows are equal in all else, and then nobody can tell them apart.

    The last is left out of rows of which no others look alike there: where only quasi-identifiers
    come out, and their cells hold their values exactly. The first is left out where it would say
    nothing, without sensitive columns; and it is 0 where there are only quasi-identifiers beside
    them, of which the same holds, unless some are hidden (see stages/hidden.py). A hash takes
    longer than all else of a cell, so it is made where the cells are seen, if all columns are
    still there.

    The columns of within are no part of a hash: they are the same in all rows of a part, so each
    part is what its rows alone give.
    """
    seed, task, roles = call.task.seed, call.task, call.roles
    uncounted = (*roles.within, *call.uncounted)
    whole = f"row(*COLUMNS(__kanon.*{_without(uncounted)}))"
    hashed = _hashed(seed, whole)
    holes = {
        "hash": hashed, "tie": "__kanon_hash", "apart": "NULL::UBIGINT", "whole": "", "beside": "",
        "without": "",
    }
    secrets = (*roles.sensitive, *(() if roles.entity is None else (roles.entity,)))
    if secrets and (roles.identifiers or roles.other or roles.rest in ("release", "drop")):
        public = _without((*secrets, *uncounted))
        apart = _hashed(seed, f"row(*COLUMNS(__kanon.*{public}))")
        secret = ", ".join(f"__kanon.{name}" for name in map(quoted, secrets))
        both = _hashed(seed, f"row({apart}, {secret})")
        return holes | {
            "hash": f"{{'apart': {apart},\n            'whole': {both}}}",
            "tie": "__kanon_hash.whole",
            "apart": "__kanon_hash.apart",
        }
    if roles.sensitive:
        return holes | _seen_in_cells(call) | {"apart": _hashed_values(seed, "0::UBIGINT")}
    if passing(call) or call.name == "suppressed_rows" or task.needs_sensitive or (
        task.class_label is not None or task.own.cost_column is not None
    ):
        return holes
    if roles.rest == "drop" or call.hierarchies:
        exact = f"regexp_full_match(typeof({whole}), {literal(EXACT)})"
        return holes | {"hash": f"CASE WHEN {exact} THEN NULL ELSE {hashed} END"}
    tie = _hashed_values(seed, "NULL")
    return holes | _seen_in_cells(call) | {"hash": "NULL::UBIGINT", "tie": tie}


def _hashed_values(seed: int, needless: str) -> str:
    """A hash of the quasi-identifiers, and what stands for it in rows that the encoding tells apart
    by its cells."""
    return (
        f"CASE WHEN __kanon_exact THEN {needless} WHEN __kanon_whole_numbers AND "
        f"len(list_filter(cells, lambda cell: abs(cell.number) >= {2**53})) = 0 THEN {needless}\n"
        f"        ELSE {_hashed(seed, '__kanon_values')} END"
    )


def _seen_in_cells(call: GroupingCall) -> dict[str, str]:
    """What fills the holes by which the cells have the values that they are made of, too."""
    values = f"row(*{quasi(call.roles, helpers(call.roles))})"
    return {
        "whole": (
            f"{values} AS __kanon_values,\n                       "
            f"regexp_full_match(typeof({values}), {literal(EXACT)}) AS __kanon_exact,\n"
            f"                       regexp_full_match(typeof({values}), {literal(EXACT_BELOW)}) "
            "AS __kanon_whole_numbers,\n                       "
        ),
        "beside": ", '__kanon_values', '__kanon_exact', '__kanon_whole_numbers'",
        "without": ", __kanon_values, __kanon_exact, __kanon_whole_numbers",
    }


_TYPES = (
    r"U?(TINY|SMALL)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL\((\d|1[0-5]),\d+\)|BOOLEAN|VARCHAR|UUID|DATE|"
    r"TIME"
)
EXACT = rf"(STRUCT|TUPLE)\((({_TYPES})(, |\)))+"
"""Columns of which the encoding keeps apart what looks different: doubles hold their values
exactly, and text is a category. Not so of BIGINT, nor of microseconds."""

EXACT_BELOW = (
    rf"(STRUCT|TUPLE)\((({_TYPES}|U?(BIG|HUGE)INT|TIMESTAMP( WITH TIME ZONE)?)(, |\)))+"
)
"""Columns of which it does so where no number reaches 2 ** 53: a cell below is no rounded one."""

RELEASED = """SELECT __kanon_shown(COLUMNS(__kanon_source.*), __kanon_away.names)
    FROM __kanon_source CROSS JOIN (
        SELECT list_transform(names, lambda name: __kanon_caseless(name)) AS names
        FROM __kanon_withheld
    ) AS __kanon_away"""


def _withheld(call: GroupingCall) -> str:
    """The stages that find the columns that would pass unchanged, but look like identifiers."""
    roles = call.roles
    if roles.entity is not None:
        return person_keys_sql(roles, call.least)
    if roles.rest != "release":
        return ""
    named = listed((*helpers(roles), *roles.named))
    return statement("pipeline.withheld", named=named, least=call.least) + "\n"


def pipeline_sql(call: GroupingCall, clock: str = "", measured: bool = False) -> str:
    """All stages up to the verification.

    Args:
        call: the call.
        clock: SQL after the relation that makes a clock start first.
        measured: whether the stages of ``measured_sql`` follow.
    """
    roles, task, trees = call.roles, call.task, trees_of(call)
    columns = quasi(roles, helpers(roles))
    centers = centers_sql(call, trees, run_sql(call)) + "\n" if task.geometry.has_centers else ""
    without_nulls = f" WHERE __kanon_value({columns}) IS NOT NULL"
    return statement(
        "pipeline.stages",
        unshadowed=unshadowed_sql(),
        relation=source_rows(call),
        clock=clock,
        where=where(call.source, roles, call.checked),
        withheld=_withheld(call),
        row_helpers=", ".join(helpers(roles)),
        part=f"NULL::BIGINT AS {PART},\n           " if roles.within else "",
        taking="taking" if roles.within else "kept",
        parts=parts_sql(call),
        kept=RELEASED if roles.rest == "release" else "FROM __kanon_source",
        passing_hidden=(
            "(SELECT names FROM __kanon_withheld)" if roles.rest == "release" else "[]"
        ),
        repeated=repeated_sql(call, columns),
        unnamed=unnamed_sql(call),
        suppress=without_nulls if task.nulls == "suppress" else "",
        trees=trees.stages() + secret_trees(call).stages() + people_stage(call),
        keyed=trees.keyed("__kanon_kept"),
        one_keyed=one_empty_row(trees.keyed("__kanon_source")),
        one_source=one_empty_row("__kanon_source"),
        hierarchies=trees_argument(trees, secret_trees(call)),
        tables=tables_sql(call.tables, [*tables_of_ledger(call), *people_table(call)]),
        ledger=before_sql(call),
        label=_key(task.class_label),
        cell=_cell(call),
        extra=_extra(call),
        quasi=columns,
        threads=_threads(call),
        divided=_divided(call),
        **_room(call),
        options=run_sql(call, measured and not call.by_part),
        centers=centers,
        classes=released_classes(call, trees),
        seen=seen("COLUMNS(* EXCLUDE (__kanon_class, __kanon_rows))"),
        refusals=refusals(call) + refusals_of_ledger(call) + refusals_of_parts(call),
        **source_holes(call),
        **_secrets(call),
        **_ties(call),
        **verify_holes(call),
    )


def measured_sql(call: GroupingCall, only_radii: bool = False) -> str:
    """The stages that measure what the grouping costs, or only the radii of its classes."""
    trees, shown = trees_of(call), call.release.representation
    centers = class_rows(call, trees.keyed("__kanon_labelled"), POINTS)
    if call.task.geometry.has_centers and (shown == "centroid" or shown not in POINTS):
        centers = f"FROM {trees.keyed('__kanon_published')}"
    if goes_on(call) and publishes_points(call):
        centers = f"FROM {trees.keyed(centers_of_ledger(call))}"
    if centers == released_classes(call, trees):
        centers = "FROM __kanon_classes"  # made once
    columns = "COLUMNS(* EXCLUDE (__kanon_class))"
    told = {"only_radii": True} if only_radii else _bounded(call)
    return statement(
        "pipeline.measured_by_part" if call.by_part else "pipeline.measured",
        released=statement(
            "pipeline.released", quasi_classes=columns, seen_classes=seen(columns), centers=centers
        ),
        quasi=quasi(call.roles, helpers(call.roles)),
        options=run_sql(call),
        hierarchies=trees.argument(),
        one_source=one_empty_row("__kanon_source"),
        published=literal(json.dumps({**published_forms(call), **told})),
        outside=_outside(call, trees),
    )


def _bounded(call: GroupingCall) -> dict[str, bool]:
    """That what no grouping loses less than is told, where it is worth the time: where k counts
    the rows of a class, not persons, nor rows of earlier releases, and all may be in one class."""
    roles, k = call.roles, call.task.promised
    counted = k is not None and roles.entity is None and call.ledger is None
    whole = call.by_part or not roles.within
    return {"bounded": True} if call.measure.detail and counted and whole else {}


def _outside(call: GroupingCall, trees: Hierarchies) -> str:
    """SQL of the cells of the rows that nulls 'suppress' leaves out; NULL without any."""
    if call.task.nulls != "suppress":
        return "NULL"
    return expression(
        "pipeline.outside", cell=_cell(call), keyed_source=trees.keyed("__kanon_source")
    )
