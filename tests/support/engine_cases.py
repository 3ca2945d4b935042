"""What a query, files and Spark are asked alike: cases, a table for them, and plain SQL that says
whether a release keeps what its case promises."""

from __future__ import annotations

from typing import Any

import duckdb
import pyarrow as pa

QUASI = ["age", "zip", "job", "seen"]
ROWS = 900

TABLE = f"""
    SELECT i % 230 AS patient, 20 + i % 230 * 37 % 61 AS age,
           CASE WHEN i % 19 <> 3 THEN (470 + i * i % 7)::VARCHAR || (i % 13 % 10) END AS zip,
           ['clerk', 'cook', NULL, 'nurse', 'cook'][1 + (i + i // 9) % 5] AS job,
           DATE '2024-02-28' + (i * i % 401)::INT AS seen,
           ['north', 'south', 'east'][1 + i % 230 % 3] AS site,
           CASE WHEN i % 41 > 0 THEN ['Flu', 'Cold', 'HIV', 'Gout', 'Asthma', 'Flu', 'Cold'][
               1 + (i * 31 + i // 7) % 7] END AS disease,
           (i * 13 + i // 11) % 23 AS score, i % 10 < 4 AS flag
    FROM range({ROWS}) AS r(i)
"""
"""Visits, with NULLs, ties, skew, texts and dates."""

BASE: dict[str, Any] = {
    "k": 4, "quasi_identifiers": QUASI, "sensitive": ["disease"], "others": "drop", "seed": 1,
}
SCORE = {"sensitive": ["score"]}
FLAG = {"sensitive": ["flag"]}

CASES: dict[str, dict[str, Any]] = {
    "k alone": {},
    "l": {"l": 3},
    "l by entropy": {"l": 2.2, "diversity_kind": "entropy"},
    "l recursive": {"l": 2, "c": 2, "diversity_kind": "recursive"},
    "l by a hierarchy": {"l": 2, "hierarchies": {"disease": "prefix"}},
    "alpha": {"alpha": 0.6},
    "alpha by value": {"alpha": {"disease": {"HIV": 0.4, "Flu": 0.6}}},
    "t with equal distances": {"t": 0.45, "closeness": "equal"},
    "t by ranks": {**SCORE, "t": 0.3},
    "t by numbers": {**SCORE, "t": 0.3, "closeness": "numeric"},
    "t by a hierarchy": {"t": 0.5, "hierarchies": {"disease": "prefix"}},
    "delta": {**FLAG, "delta": 1.0},
    "beta": {"beta": 3.0},
    "beta basic": {"beta": 3.0, "beta_kind": "basic"},
    "t with suppress": {**FLAG, "t": 0.3, "suppress": 0.05},
    "entity, together": {"entity": "patient"},
    "entity, apart": {"entity": "patient", "entity_rows": "apart"},
    "entity and l": {"entity": "patient", "l": 2, "sensitive": ["site"]},
    "mean risk": {"max_average_risk": 0.06},
    "mean risk of persons": {"entity": "patient", "max_average_risk": 0.06},
    "mean risk, apart": {
        "entity": "patient", "entity_rows": "apart", "max_average_risk": 0.06
    },
    "within": {"within": ["site"]},
    "within and mean risk": {"within": ["site"], "max_average_risk": 0.06},
    "within and t": {**FLAG, "within": ["site"], "t": 0.4},
    "within, small parts joined": {"within": ["site", "flag"], "k": 140, "small_parts": "join"},
    "within, small parts left out": {
        "within": ["site", "flag"], "k": 125, "small_parts": "suppress"
    },
    "method auto": {"method": "auto"},
    "effort balanced": {"effort": "balanced"},
    "refine_seconds": {"effort": "balanced", "refine_seconds": 0.2},
    "suppress": {"suppress": 0.05},
    "nulls left out": {"nulls": "suppress"},
    "column_weights": {"column_weights": {"age": 3.0}},
    "hierarchies": {"hierarchies": {"zip": "prefix", "seen": "date"}},
    "suggested hierarchies": {"hierarchies": "suggested"},
    "categorical": {"categorical": ["age"]},
    "intervals": {"representation": "interval"},
    "rounded": {"representation": "rounded"},
    "class_id": {"class_id": True},
    "keep_order": {"keep_order": True},
    "k_member": {"method": "k_member"},
    "forest": {"method": "forest"},
    "r_gather": {"method": "r_gather"},
    "mondrian": {"method": "mondrian"},
    "full_domain": {
        "method": "full_domain", "hierarchies": dict.fromkeys(QUASI[1:3], "flat"),
        "suppress": 0.9,
    },
    "ledger": {"entity": "patient", "ledger": "ledger"},
    "ledger and l": {"entity": "patient", "ledger": "ledger", "l": 2},
}
"""By what is asked for, the options beside BASE. Blocks have 250 rows where there are any."""


def rows_of(text: str, released: pa.Table) -> list[Any]:
    """All rows of a query over ``released``."""
    with duckdb.connect() as con:
        con.register("released", released)
        return con.sql(text).fetchall()


def refusal_of_release(case: str, released: pa.Table, suppressed: int) -> str | None:
    """What is wrong with a release, in plain SQL; None where it keeps what its case promises."""
    asked = {**BASE, **CASES[case]}
    shown = [name for name in QUASI if name in released.column_names]
    names = ", ".join([*shown, *asked.get("within", [])])
    taking = 690 if asked.get("ledger") else ROWS
    if released.num_rows + suppressed != taking:
        return f"{released.num_rows} rows came out and {suppressed} were left out"
    sizes = rows_of(f"SELECT count(*) FROM released GROUP BY {names}", released)
    if min(sizes)[0] < asked["k"]:
        return f"a class has {min(sizes)[0]} rows"
    if len(sizes) > asked.get("max_average_risk", 1.0) * (
        released.num_rows if asked.get("entity") is None else 230
    ):
        return f"the release has {len(sizes)} classes"
    if "patient" in released.column_names:
        return "the entity came out"
    column = asked["sensitive"][0]
    for option, check in CHECKS.items():
        if option in asked and "hierarchies" not in asked and asked.get("entity") is None:
            text = check(asked, names, column)
            if text and (broken := rows_of(text, released)[0][0]):
                return f"{broken} classes don't keep {option}"
    return None


def _shares(names: str, column: str, within: list[str]) -> str:
    """For each class and value: n of size rows here, and of all rows (of the part) n_all of all."""
    part = ", ".join(within)
    by, of = (f"PARTITION BY {part}, v" if part else "PARTITION BY v"), (
        f"PARTITION BY {part}" if part else ""
    )
    return f"""(
        SELECT {names}, v, count(*) AS n, sum(count(*)) OVER (PARTITION BY {names}) AS size,
               sum(count(*)) OVER ({by}) AS n_all, sum(count(*)) OVER ({of}) AS size_all
        FROM (SELECT *, coalesce({column}::VARCHAR, '') AS v FROM released) GROUP BY {names}, v)"""


def _l(asked: dict[str, Any], names: str, column: str) -> str:
    kind, least = asked.get("diversity_kind"), asked["l"]
    known = f"(SELECT {names}, {column} AS v, count(*) AS n FROM released GROUP BY ALL)"
    if kind is None:
        return (
            f"SELECT count(*) FROM (SELECT count(DISTINCT {column}) AS l FROM released "
            f"GROUP BY {names}) WHERE l < {least}"
        )
    # a missing value counts as the most frequent one
    counts = f"""(SELECT {names}, n + CASE WHEN rank = 1 THEN missing ELSE 0 END AS n, rank FROM (
        SELECT *, row_number() OVER (PARTITION BY {names} ORDER BY v IS NULL, n DESC) AS rank,
               coalesce(sum(n) FILTER (v IS NULL) OVER (PARTITION BY {names}), 0) AS missing
        FROM {known}) WHERE v IS NOT NULL)"""
    if kind == "entropy":
        return f"""SELECT count(*) FROM (SELECT ln(sum(n)) - sum(n * ln(n)) / sum(n) AS h
            FROM {counts} GROUP BY {names}) WHERE h < ln({least}) - 1e-9"""
    return f"""SELECT count(*) FROM (SELECT max(n) AS top, sum(n) FILTER (rank >= {least}) AS tail
        FROM {counts} GROUP BY {names}) WHERE NOT coalesce(top < {asked['c']} * tail, false)"""


def _alpha(asked: dict[str, Any], names: str, column: str) -> str:
    bound = asked["alpha"]
    limit = str(bound)
    if isinstance(bound, dict):
        limit = "CASE v " + " ".join(
            f"WHEN '{value}' THEN {share}" for value, share in bound[column].items()
        ) + " ELSE 1.0 END"
    return f"""SELECT count(*) FROM (
        SELECT n + coalesce(sum(n) FILTER (v IS NULL) OVER (PARTITION BY {names}), 0) AS n,
               sum(n) OVER (PARTITION BY {names}) AS size, v
        FROM (SELECT {names}, {column}::VARCHAR AS v, count(*) AS n FROM released GROUP BY ALL))
        WHERE v IS NOT NULL AND n > {limit} * size + 1e-9"""


def _t(asked: dict[str, Any], names: str, column: str) -> str:
    shares = _shares(names, column, asked.get("within", []))
    if asked["sensitive"] == ["score"]:
        step = "1.0" if asked.get("closeness") is None else "v2 - v"
        return f"""WITH here AS (
                SELECT dense_rank() OVER (ORDER BY {names}) AS c, score FROM released),
            every AS (SELECT score AS v, count(*) AS n FROM released GROUP BY ALL),
            line AS (SELECT v, lead(v) OVER (ORDER BY v) AS v2,
                            sum(n) OVER (ORDER BY v) / sum(n) OVER () AS upto FROM every),
            share AS (SELECT c, v, v2, upto, avg((score <= v)::INT) AS own
                      FROM here CROSS JOIN line GROUP BY ALL)
            SELECT count(*) FROM (SELECT sum(abs(own - upto) * ({step})) / sum({step}) AS d
                FROM share WHERE v2 IS NOT NULL GROUP BY c) WHERE d > {asked['t']} + 1e-9"""
    return f"""SELECT count(*) FROM (
        SELECT sum(greatest(0, n / size - n_all / size_all)) AS d FROM {shares} GROUP BY {names}
        ) WHERE d > {asked['t']} + 1e-9"""


def _delta(asked: dict[str, Any], names: str, column: str) -> str:
    shares = _shares(names, column, [])
    return f"""SELECT count(*) FROM (
        SELECT max(abs(ln((n / size) / (n_all / size_all)))) AS far, count(*) AS there
        FROM {shares} GROUP BY {names}
        ) WHERE far > {asked['delta']} + 1e-9 OR there < (SELECT count(DISTINCT {column})
                                                          FROM released)"""


def _beta(asked: dict[str, Any], names: str, column: str) -> str:
    shares = _shares(names, column, [])
    most = "1.0 / 0" if asked.get("beta_kind") == "basic" else "-ln(n_all / size_all)"
    return f"""SELECT count(*) FROM {shares}
        WHERE (n / size) / (n_all / size_all) - 1 > least({asked['beta']}, {most}) + 1e-9"""


CHECKS = {"l": _l, "alpha": _alpha, "t": _t, "delta": _delta, "beta": _beta}
"""SQL that counts the classes which don't keep a model, by its option."""
