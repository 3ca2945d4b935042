"""What could change the meaning of the query: macros of the caller's database, and a setting.

A macro in a schema of the search path hides the built-in function of its name, operators and
[brackets] among them; with ``CREATE MACRO min(x) AS 99`` in a file, every k that is counted there
is 99. Operators can't be qualified, so macros of such names are refused. The check itself
(sql/macro_shadowing.sql) has nothing in it but qualified names, comparisons, CASE and the like,
which no macro hides.
"""

from __future__ import annotations

from textwrap import fill

from kanon_sql.errors import OptionError
from kanon_sql.names import literal, quoted
from kanon_sql.sql import statement

NAMED = (
    "abs", "alias", "any_value", "array_to_string", "avg", "bool_and", "bool_or", "cast_to_type",
    "concat", "contains", "count", "create_sort_key", "decode", "dense_rank", "duckdb_columns",
    "encode", "epoch_ns", "epoch_us", "floor", "format", "from_json", "generate_subscripts",
    "greatest", "hash", "isfinite", "isinf", "isnan", "least", "len", "list", "list_aggregate",
    "list_concat", "list_contains", "list_distinct", "list_filter", "list_grade_up", "list_max",
    "list_min", "list_position", "list_select", "list_sort", "list_sum", "list_transform",
    "list_zip", "make_timestamp", "make_timestamp_ns", "make_timestamptz", "map_entries",
    "map_values", "max", "md5", "md5_number", "min", "nullif", "quantile_disc", "range",
    "regexp_full_match", "regexp_matches", "regexp_replace", "replace", "round_even", "row",
    "row_number", "sha256", "signbit", "split_part", "starts_with", "strlen", "sum", "to_json",
    "to_microseconds", "translate", "typeof", "unnest", "version",
)
"""The functions that the query and our macros call by their names."""

WRITTEN = {
    "+": "a + b", "-": "a - b", "*": "a * b", "/": "a / b", "//": "a // b", "%": "a % b",
    "||": "a || b", "~~": "a LIKE b", "json_extract": "a -> b", "->>": "a ->> b",
    "list_value": "[a, b]", "struct_pack": "{'a': b}", "struct_extract": "a.b",
    "array_extract": "a[1]", "count_star": "count(*)", ">>": "a >> b",
}
"""Those that it calls by other signs, and how they are written."""

WITHIN = (
    "array_length", "array_slice", "generate_series", "histogram", "if", "list_aggr",
    "map_to_pg_oid", "power", "round", "string_split",
)
"""Those that DuckDB's own macros call, of which some of the above are, and its own views, which
DuckDB 1.4 binds to list columns."""

OURS = (
    "__kanon_audit", "__kanon_audited", "__kanon_centers", "__kanon_class_of", "__kanon_clock",
    "__kanon_finish", "__kanon_measure", "__kanon_risk", "__kanon_roles", "__kanon_start",
    "__kanon_take", "__kanon_tree", "__kanon_wait",
)
"""Our functions, which lie beside the built-in ones. Our macros are temporary, and so found before
those of any database."""

FUNCTIONS = tuple(sorted((*NAMED, *WRITTEN, *WITHIN, *OURS)))
"""Every function that the query uses."""

BOUND = {
    "": ("count_star", "version"),
    "1": (
        "+", "-", "__kanon_clock", "abs", "alias", "any_value", "avg", "concat", "count", "floor",
        "generate_series", "greatest", "hash", "histogram", "isfinite", "isinf", "isnan",
        "least", "list", "list_value", "make_timestamp", "make_timestamp_ns", "make_timestamptz",
        "map_to_pg_oid", "max", "min", "range", "row", "signbit", "sum", "to_json",
        "to_microseconds",
    ),
    "1, 1": (
        "%", "*", "/", "//", ">>", "__kanon_audited", "__kanon_class_of", "__kanon_finish",
        "__kanon_wait", "cast_to_type", "nullif", "power", "quantile_disc", "round",
        "round_even", "||",
    ),
    "'a'": ("decode", "encode", "format", "len", "md5", "md5_number", "sha256", "strlen"),
    "'a', 'a'": (
        "->>", "array_to_string", "contains", "json_extract", "list_contains", "list_position",
        "regexp_full_match", "regexp_matches", "starts_with", "string_split", "~~",
    ),
    "'a', 'ASC NULLS FIRST'": ("create_sort_key",),
    "'a', 'a', 'a'": ("replace", "translate"),
    "[1]": (
        "array_length", "list_concat", "list_distinct", "list_grade_up", "list_max", "list_min",
        "list_sort", "list_sum", "unnest",
    ),
    "[1], 1": ("array_extract", "generate_subscripts"),
    "[1], [1]": ("list_select", "list_zip"),
    "[1], lambda x: x": ("list_filter", "list_transform"),
    "{'a': 1}, 'a'": ("struct_extract",),
    "a := 1": ("struct_pack",),
    "true": ("bool_and", "bool_or"),
    "'1', '\"BIGINT\"'": ("from_json",),
    "TIMESTAMP '2020-01-01'": ("epoch_ns", "epoch_us"),
    "NULL": ("map_entries", "map_values", "typeof"),
    "NULL, NULL": ("list_aggr", "list_aggregate"),
    "NULL, NULL, NULL": ("array_slice", "if", "regexp_replace", "split_part"),
    "NULL, NULL, NULL, NULL, NULL": ("__kanon_centers", "__kanon_tree"),
    "NULL, NULL, NULL, NULL, NULL, NULL": ("__kanon_audit", "__kanon_risk", "__kanon_roles"),
    "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL": ("__kanon_take",),
    "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL": ("__kanon_measure",),
    "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL": ("__kanon_start",),
}
"""The FUNCTIONS by arguments with which DuckDB binds them, save those that only number rows."""

NUMBERING = ("dense_rank", "row_number")
TABLES = {"duckdb_columns": "", "generate_series": "1", "range": "1", "unnest": "[1]"}
"""Those that give tables, with arguments."""

SHADOWED = (
    "The database has a macro named '{}', which would change what the query means. Drop or rename "
    "it, or attach the database to another one and name the table with its database, for example "
    "'file.main.patients'."
)
UNLISTED = (
    "The columns of the database can't be listed, since one of its macros or views is in the way. "
    "Drop it, or attach the database to another one and name the table with its database, for "
    "example 'file.main.patients'."
)
"""DuckDB 1.4 binds all views, its own among them, to list columns."""

COLLATED = (
    "The setting default_collation is on, which would change what the query means. RESET it, and "
    "give a collation to the columns that need one."
)


HERE = ("system.main.current_database()", "system.main.current_setting('search_path')")
"""SQL of the database and of the search path of the connection that asks."""


def shadows_sql(database: str, path: str) -> str:
    """SQL of the first of the FUNCTIONS that a macro on the search path hides, or NULL.

    Args:
        database: SQL of the current database.
        path: SQL of the setting search_path.
    """
    functions = fill(
        ", ".join(map(literal, FUNCTIONS)), 96, subsequent_indent=" " * 8, break_on_hyphens=False
    )
    return statement("macro_shadowing.stages", database=database, path=path, functions=functions)


def bound_sql() -> str:
    """SQL that calls each of the FUNCTIONS by its bare name, not to be run: its plan tells what
    DuckDB takes each name for, in a third of the time of ``shadows_sql``. A macro for some other
    number of arguments doesn't show in it, so it only saves a look at a state that is known."""
    calls = [f"{quoted(n)}({arguments})" for arguments, names in BOUND.items() for n in names]
    calls += [f"{quoted(name)}() OVER ()" for name in NUMBERING]
    tables = [f"{quoted(name)}({arguments})" for name, arguments in TABLES.items()]
    return f"SELECT {', '.join(calls)} FROM {', '.join(tables)}"


def unshadowed_sql() -> str:
    """The stage __kanon_unshadowed, first of every query: it refuses what would change the meaning
    of the others, also what no other connection sees, such as temporary macros."""
    return statement(
        "macro_shadowing.unshadowed",
        shadow=shadows_sql(*HERE),
        shadowed=literal(SHADOWED),
        collated=literal(COLLATED),
    )


def refuse_changed(shadow: str | None, collation: str) -> None:
    """Raises OptionError for a macro found by ``shadows_sql``, and for a default collation."""
    if collation:
        raise OptionError(COLLATED)
    if shadow:
        raise OptionError(SHADOWED.format(shadow))
