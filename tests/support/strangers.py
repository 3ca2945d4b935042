"""A stranger's database, with macros and settings that could change what our calls mean."""

from __future__ import annotations

import duckdb

from kanon_sql.stages import remembered
from tests.support.queries import refusal_of

Connection = duckdb.DuckDBPyConnection
ROWS = """
    SELECT 20 + (i * 7) % 50 AS age, ['Anna', 'anna', 'Zoe'][1 + (i * i) % 3] AS name,
           CASE WHEN i % 5 > 0 THEN 1.5::DOUBLE * (i % 9) END AS x,
           TIMESTAMPTZ '2024-01-01 12:00:00+00' + to_days((i % 6)::INTEGER) AS seen,
           ['Flu', 'Cold', NULL][1 + (i // 4) % 3] AS disease
    FROM range(24) AS r(i)
"""
ROLES = "quasi_identifiers := ['age', 'name', 'x', 'seen'], sensitive := ['disease']"
LEVELS = "hierarchies := {'name': 'flat', 'age': 'bins'}"
CALLS = {
    "k_anonymity": f"FROM k_anonymity('patients', k := 3, {ROLES})",
    "anonymize": f"FROM anonymize('patients', k := 3, {ROLES})",
    "interval": f"FROM anonymize('patients', k := 3, {ROLES}, representation := 'interval', "
                "class_id := true)",
    "bounds": f"FROM anonymize('patients', k := 3, {ROLES}, representation := 'bounds', "
              "nulls := 'suppress', keep_order := true)",
    "suppress": f"FROM anonymize('patients', k := 3, {ROLES}, representation := 'suppress')",
    "median": f"FROM anonymize('patients', k := 3, {ROLES}, representation := 'median')",
    "hierarchies": f"FROM anonymize('patients', k := 3, {ROLES}, method := 'r_gather', {LEVELS})",
    "suppressed_rows": f"FROM suppressed_rows('patients', k := 3, {ROLES}, {LEVELS}, "
                            "method := 'full_domain', suppress := 0.2)",
    "anonymize_clusters": f"FROM anonymize_clusters('patients', k := 3, {ROLES})",
    "anonymize_metrics": "SELECT metric, CASE WHEN unit = 'seconds' THEN 0 ELSE value END, "
                         "CASE WHEN metric = 'grouping_cache' THEN '' ELSE text END "
                         f"FROM anonymize_metrics('patients', detail=true, k := 3, {ROLES}, "
                         f"{LEVELS}, "
                         "sensitive_values := ['Flu'], class_label := 'disease')",
    "anonymize_audit": f"FROM anonymize_audit('patients', release := 'patients', {ROLES})",
    "anonymize_risk": f"FROM anonymize_risk('patients', k := 3, population := 'patients', {ROLES})",
    "hierarchy": "FROM hierarchy('patients', 'name', kind := 'prefix')",
    "anonymize_sql": f"FROM anonymize_sql('patients', k := 3, {ROLES})",
    "anonymize_methods": "FROM anonymize_methods()",
}
GUARDED = tuple(name for name in CALLS if name != "anonymize_methods")
QUICK = ("k_anonymity", "hierarchy", "anonymize_sql", "anonymize")
SAID = "The database has a macro named '{}', which would change what the query means"


def answer(con: Connection, call: str) -> str:
    """The rows of a call as text; names of databases aside, which only SQL text tells."""
    remembered.forget()
    return repr(con.execute(call).fetchall()).replace('"file".', "")


def shadow(con: Connection, name: str, body: str = "'shadow'", kind: str = "MACRO") -> None:
    """Makes a macro of a name, for any number of arguments up to five."""
    quoted = '"' + name.replace('"', '""') + '"'
    heads = (", ".join(f"a{j}" for j in range(i)) for i in range(6))
    overloads = ", ".join(f"({head}) AS ({body})" for head in heads)
    con.execute(f"CREATE {kind} {quoted}{overloads}")


def refused(con: Connection, call: str, said: str) -> None:
    assert said in refusal_of(con, call, duckdb.InvalidInputException)
