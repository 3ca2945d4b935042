"""What comes out stays what it was: releases, clusters and metrics of a matrix of calls.

Each case is run, and what comes out is held as a digest against the folder recorded/: a release is
its rows in their order, metrics are all but times, versions and the text of the options. Numbers
count with nine digits, since sums may differ in the last bits between processors.

A change that is meant to alter releases renews them: ``RECORD=1 pytest -n 0 -m "" -k unchanged``;
the files then show which cases changed. The SQL text has a file of its own.
"""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

from kanon_sql.data import adult
from kanon_sql.methods import METHODS as REGISTRY
from tests.support.connections import registered
from tests.support.digests import MEASURED_ANEW, digest, held

DATA = Path(__file__).parents[1] / "data"

TABLES = f"""
    CREATE TABLE people AS  -- ties, NULLs, skew, every type that has its own way
    SELECT CASE WHEN i % 17 = 3 THEN NULL ELSE 18 + (i * i * 7 + i) % 61 END AS age,
           CASE WHEN i % 29 = 5 THEN NULL ELSE ((i * 37) % 211) ** 2 / 8 END AS income,
           ['clerk', 'nurse', 'cook', 'farmer', 'priest', NULL][1 + (i * i + i // 7) % 6] AS job,
           (47000 + (i * i * 13) % 97)::VARCHAR AS zip,
           DATE '1950-01-01' + ((i * 719) % 20000)::INT AS born,
           ['Flu', 'Cold', 'HIV', 'Angina'][1 + (i * 7 + i // 5) % 4] AS disease
    FROM range(360) AS r(i);
    CREATE TABLE census AS FROM '{DATA / "census.parquet"}' LIMIT 300;
    CREATE TABLE adult AS SELECT age, sex, race, education, occupation, "salary-class"
    FROM '{adult()}' LIMIT 700;
    CREATE TABLE levels AS
    SELECT DISTINCT zip AS level0, zip[:4] || '*' AS level1, zip[:3] || '**' AS level2,
           '*' AS level3 FROM people;
    CREATE TABLE pairs AS SELECT (47000 + i)::VARCHAR AS a, (47000 + (i + 1) % 97)::VARCHAR AS b
    FROM range(97) AS r(i);
    CREATE TABLE spots AS SELECT (47000 + i)::VARCHAR AS code, 30 + i % 10 AS lat, i // 10 AS lon
    FROM range(97) AS r(i);
    CREATE TABLE visits AS
    SELECT 40 + ((i * i * 31) % 401) / 401 AS lat, -74 + ((i * 57) % 389) / 389 AS lon,
           ['Flu', 'Cold'][1 + i % 2] AS disease FROM range(400) AS r(i);
    CREATE TABLE places AS SELECT lat || ' ' || lon AS place, disease FROM visits;
    CREATE TABLE bare AS SELECT age, job FROM people WHERE age IS NOT NULL LIMIT 40;
    CREATE TABLE large AS
    SELECT (i * i * 13 % 997) AS a, (i * 7919 % 1009) AS b, ['x', 'y', 'z'][1 + i % 3] AS c
    FROM range(1500) AS r(i);
"""

PEOPLE = "sensitive := ['disease'], "
MIXED = PEOPLE + "quasi_identifiers := ['age', 'income', 'job', 'zip', 'born'], "
ONE = PEOPLE + "identifiers := ['age', 'income', 'job', 'born'], quasi_identifiers := ['zip'], "
METHODS = {
    **dict.fromkeys(
        ("mdav", "mdav_plus", "v_mdav", "mdav_star", "k_member", "nearest", "mondrian", "r_gather",
         "r_cellular", "forest", "full_domain"),
        ("people", MIXED + "k := 4"),
    ),
    "best": ("people", MIXED + "k := 4, refine_steps := 4000"),
    "optimal_1d": ("census", "k := 3, quasi_identifiers := ['AFNLWGT'], others := 'release'"),
    "cellular": ("people", MIXED + "allow_small := true"),
    "pairs": ("bare", "k := 2"),
    "triples": ("bare", "k := 3"),
    "zip_regions": ("people", ONE + "k := 9, adjacency := 'pairs'"),
    "gps_rectangles": ("visits", PEOPLE + "k := 9"),
    **dict.fromkeys(("fold", "spread", "five_halves", "ordered"), ("people", ONE + "k := 9")),
    "bin_cover": (
        "people", PEOPLE + "k := 40, quasi_identifiers := ['job'], others := 'release'"
    ),
}
REPRESENTATIONS = ("centroid", "median", "interval", "bounds", "suppress")
HIERARCHIES = {
    "prefix": "{'zip': 'prefix'}",
    "date": "{'born': 'date'}",
    "bins": "{'age': {'kind': 'bins', 'width': 5}, 'income': 'bins'}",
    "ordered": "{'job': {'kind': 'ordered', "
               "'ranking': ['clerk', 'cook', 'nurse', 'farmer', 'priest']}}",
    "flat": "{'job': 'flat', 'zip': 'flat'}",
    "adjacency": "{'zip': {'kind': 'adjacency', 'adjacency': 'pairs'}}",
    "near": "{'zip': {'kind': 'adjacency', 'places': 'spots', 'levels': 3}}",
    "cover": "{'job': 'cover', 'zip': {'kind': 'cover', 'packing': 'fold'}}",
    "table": "{'zip': 'levels'}",
}


def _cases() -> dict[str, tuple[str, str]]:
    """Name to relation and options, as they stand in the calls."""
    cases = {
        f"method {name}": (table, f"{options}, method := '{name}'")
        for name, (table, options) in METHODS.items()
    }
    for name in ("mdav_star", "mondrian", "r_gather", "forest"):
        for shown in REPRESENTATIONS:
            cases[f"{name} {shown}"] = (
                "people", MIXED + f"k := 5, method := '{name}', representation := '{shown}'"
            )
    for name in ("fold", "zip_regions", "gps_rectangles", "ordered"):
        table, options = METHODS[name]
        for shown in ("interval", "bounds", "number", "centroid"):
            if name == "gps_rectangles" and shown == "number":
                options += ", quasi_identifiers := ['lat', 'lon']"
            cases[f"{name} {shown}"] = (
                table, f"{options}, method := '{name}', representation := '{shown}'"
            )
    for name in ("k_member", "mdav_plus", "r_gather", "forest", "mondrian"):
        for kind, spec in HIERARCHIES.items():
            cases[f"{name} hierarchy {kind}"] = (
                "people", MIXED + f"k := 5, method := '{name}', hierarchies := {spec}"
            )
    for nulls in ("value", "suppress"):
        for name in ("mdav", "k_member", "r_cellular", "gps_rectangles"):
            table, options = METHODS[name]
            cases[f"{name} nulls {nulls}"] = (
                table, f"{options}, method := '{name}', nulls := '{nulls}', seed := 11"
            )
    for name in ("mdav_plus", "mdav_star", "v_mdav", "k_member", "nearest", "forest", "r_gather"):
        cases[f"{name} blocks"] = (
            "large", f"k := 5, block_rows := 400, method := '{name}', seed := 3"
        )
    for name in ("mdav", "k_member", "mondrian", "forest", "r_gather", "r_cellular", "optimal_1d"):
        table, options = METHODS[name]
        cases[f"{name} refined"] = (
            table, f"{options}, method := '{name}', effort := 'balanced', refine_steps := 3000"
        )
    more = {
        "refined in blocks": ("large", "k := 5, block_rows := 400, effort := 'balanced', "
                              "refine_steps := 3000"),
        "suppress": ("people", MIXED + "k := 5, method := 'k_member', suppress := 0.05"),
        "suppress by sse": ("people", MIXED + "k := 5, method := 'mdav_star', suppress := 0.05"),
        "suppress cells": ("people", MIXED + "k := 5, method := 'forest', suppress := 0.05"),
        "mean risk": ("people", MIXED + "k := 3, max_average_risk := 0.06"),
        "mean risk by loss": ("people", MIXED + "k := 3, method := 'k_member', "
                              "max_average_risk := 0.06"),
        "full_domain": ("people", MIXED + "k := 5, method := 'full_domain', suppress := 0.1, "
                   "hierarchies := {'zip': 'prefix'}"),
        "column_weights": ("people", MIXED + "k := 5, column_weights := {'age': 4, 'job': 0}"),
        "loss of squares": ("people", MIXED + "k := 5, distance := 'loss'"),
        "best by loss": ("people", MIXED + "k := 5, method := 'best', distance := 'loss', "
                         "loss := 'range_distinct', refine_steps := 3000"),
        "best effort": ("bare", "k := 3, effort := 'thorough'"),
        "range_distinct": ("people", MIXED + "k := 5, method := 'k_member', "
                           "loss := 'range_distinct', hierarchies := {'zip': 'prefix'}"),
        "start seed": ("people", MIXED + "k := 5, method := 'k_member', start := 'seed'"),
        "class label": ("people", PEOPLE + "k := 5, method := 'k_member', class_label := 'job'"),
        "diversity": ("people",
                      PEOPLE + "k := 5, method := 'k_member', diversity_preference := 'sensitive', "
                      "sensitive_values := ['HIV']"),
        "relaxed": ("people", MIXED + "k := 5, method := 'mondrian', partitioning := 'relaxed'"),
        "gamma": ("people", MIXED + "k := 5, method := 'v_mdav', gamma := 0.2"),
        "class_id": ("people", MIXED + "k := 5, class_id := true, keep_order := true"),
        "every column": ("people", "k := 5"),
        "census": ("census", "k := 3"),
        "adult": ("adult", "k := 5, sensitive := ['salary-class']"),
        "adult k_member": ("adult", "k := 5, method := 'k_member', sensitive := ['salary-class']"),
        "islands": ("people", ONE + "k := 9, method := 'zip_regions', places := 'spots', "
                    "islands := 'nearest'"),
        "extent": ("visits", PEOPLE + "k := 9, method := 'gps_rectangles', quasi_identifiers := "
                   "['lat', 'lon'], wkt := true, extent := {'lat': [39, 42], 'lon': [-75, -72]}"),
        "tight": ("visits", PEOPLE + "k := 9, method := 'gps_rectangles', "
                  "quasi_identifiers := ['lat', 'lon'], tight := true, progress := false"),
        "random fold": ("people", ONE + "k := 9, method := 'fold', sequence := 'random'"),
        "quadratic": ("people", ONE + "k := 9, method := 'ordered', objective := 'quadratic'"),
        "coarse cover": (
            "people", METHODS["bin_cover"][1] + ", method := 'bin_cover', epsilon := 0.25"
        ),
        "rectangles": ("places", PEOPLE + "k := 9, method := 'k_member', "
                       "hierarchies := {'place': {'kind': 'rectangles', 'levels': 3}}"),
        "facility": ("people", PEOPLE + "method := 'cellular', facility_cost := 0.5, "
                     "allow_small := true"),
        "diameter": ("people", MIXED + "k := 4, method := 'r_cellular', max_diameter := 50.0"),
        "outliers": ("people", MIXED + "k := 4, method := 'r_gather', epsilon := 0.1, "
                     "max_clusters := 40"),
        "rows": ("people", MIXED + "k := 4, method := 'r_gather', centers := 'rows'"),
        "kilometres": ("visits", PEOPLE + "k := 9, method := 'r_gather', metric := 'haversine'"),
    }
    for metric in ("hamming", "taxonomy"):
        more[metric] = ("people", MIXED + f"k := 5, method := 'r_cellular', metric := '{metric}'")
    return cases | more


CASES = _cases()
AUDITS = {
    "k_anonymity": ("k_anonymity", "'people', k := 5"),
    "audit": ("anonymize_audit", "'people', release := 'released', k := 5, sensitive := "
              "['disease'], class_label := 'disease', sensitive_values := ['HIV']"),
    **{f"hierarchy {kind}": ("hierarchy", text) for kind, text in {
        "prefix": "'people', 'zip', kind := 'prefix'",
        "bins": "'people', 'income', kind := 'bins'",
        "date": "'people', 'born', kind := 'date'",
        "cover": "'people', 'zip', kind := 'cover'",
        "adjacency": "'people', 'zip', kind := 'adjacency', adjacency := 'pairs'",
        "rectangles": "'places', 'place', kind := 'rectangles'",
    }.items()},
}


con = registered(
    TABLES,
    f"CREATE TABLE released AS FROM anonymize('people', {PEOPLE} k := 5, "
    "method := 'k_member')",
)


def test_every_method_is_in_the_matrix() -> None:
    assert set(METHODS) == set(REGISTRY)


@pytest.mark.sample(4)
@pytest.mark.parametrize("case", CASES)
def test_release_clusters_and_metrics_are_unchanged(
    con: duckdb.DuckDBPyConnection, case: str
) -> None:
    relation, options = CASES[case]
    found = {}
    for call in ("anonymize", "anonymize_clusters", "anonymize_metrics", "suppressed_rows"):
        if "cellular'" in options and "r_cellular" not in options and call not in (
            "anonymize_clusters", "anonymize_metrics"
        ):
            continue  # a method that promises no class size releases no rows
        more = ", detail := true" if call == "anonymize_metrics" else ""
        rows = con.execute(f"FROM {call}('{relation}', {options}{more})").fetchall()
        if more:  # their names, numbers and texts, and no description
            rows = [row[:3] for row in rows if not row[0].startswith(MEASURED_ANEW)]
        found[call] = f"{len(rows)} {digest(rows)}"
    held("releases", case, found)


@pytest.mark.parametrize("case", AUDITS)
def test_audits_and_hierarchies_are_unchanged(con: duckdb.DuckDBPyConnection, case: str) -> None:
    call, given = AUDITS[case]
    names = "metric, value, text" if call == "anonymize_audit" else "*"
    rows = con.execute(f"SELECT {names} FROM {call}({given})").fetchall()
    held("audits", case, f"{len(rows)} {digest(rows)}")


@pytest.mark.whole
@pytest.mark.slow
def test_the_sql_is_unchanged(con: duckdb.DuckDBPyConnection) -> None:
    """The text that anonymize_sql gives, but for the task, which travels in it as JSON."""
    found = {}
    for case, (relation, options) in CASES.items():
        if "facility" in case or case == "method cellular":
            continue
        call = f"FROM anonymize_sql('{relation}', {options})"
        ((text,),) = con.execute(call).fetchall()
        found[case] = digest([re.sub(r"'\{\"[^\n]*\}'", "'{}'", text)])
    for case, value in found.items():
        held("sql", case, value)
