"""Every method with every privacy model: of what comes out each class keeps the model, by the
reference on the released rows; or nothing comes out, with a sentence that says why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import numpy as np
import pytest

from kanon_sql.methods import METHODS
from kanon_sql.privacy import (
    AlphaFrequency,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    PrivacyModel,
    RecursiveDiversity,
)
from tests.privacy.reference import passes
from tests.support.connections import registered
from tests.support.each_method import call_of, create_borders, least_of, names_of
from tests.support.tables import fetch

Connection = duckdb.DuckDBPyConnection

ROWS = 96
PREFIXES = "hierarchies := {'ill': 'prefix'}"
"""A1 and A2 below A, B1 and B2 below B."""

MODELS: dict[str, tuple[str, tuple[PrivacyModel, ...]]] = {
    "distinct": ("l := {'ill': 3}", (DistinctDiversity(column="ill", l=3),)),
    "entropy": (
        "l := {'ill': 2}, diversity_kind := 'entropy'", (EntropyDiversity(column="ill", l=2.0),)
    ),
    "recursive": (
        "l := {'ill': 2}, c := 3, diversity_kind := 'recursive'",
        (RecursiveDiversity(column="ill", l=2, c=3.0),),
    ),
    "equal": ("t := {'ill': 0.25}", (Closeness(column="ill", t=0.25, distance="equal"),)),
    "hierarchy": (
        f"t := {{'ill': 0.2}}, {PREFIXES}", (Closeness(column="ill", t=0.2, distance="hierarchy"),)
    ),
    "ordered": (
        "t := {'pay': 0.2}, closeness := 'ordered'",
        (Closeness(column="pay", t=0.2, distance="ordered"),),
    ),
    "numeric": (
        "t := {'pay': 0.15}, closeness := 'numeric'",
        (Closeness(column="pay", t=0.15, distance="numeric"),),
    ),
    "alpha": ("alpha := {'ill': 0.7}", (AlphaFrequency(column="ill", alpha=0.7),)),
    "alpha of a value": (
        "alpha := {'ill': MAP {'B2': 0.3}}",
        (AlphaFrequency(column="ill", by_value=(("B2", 0.3),)),),
    ),
    "delta": ("delta := {'ill': 2}", (DeltaDisclosure(column="ill", delta=2.0),)),
    "basic": (
        "beta := {'ill': 2}, beta_kind := 'basic'",
        (BetaLikeness(column="ill", beta=2.0, kind="basic"),),
    ),
    "enhanced": (
        "beta := {'ill': 1.5}", (BetaLikeness(column="ill", beta=1.5, kind="enhanced"),)
    ),
    "missing as a value": (
        "l := {'ill': 3}, t := {'pay': 0.3}, closeness := 'ordered', sensitive_nulls := 'value'",
        (
            DistinctDiversity(column="ill", l=3, nulls="value"),
            Closeness(column="pay", t=0.3, distance="ordered", nulls="value"),
        ),
    ),
    "two columns": (
        "l := {'ill': 2}, t := {'pay': 0.25}, closeness := 'numeric', alpha := {'ill': 0.8}",
        (
            DistinctDiversity(column="ill", l=2),
            AlphaFrequency(column="ill", alpha=0.8),
            Closeness(column="pay", t=0.25, distance="numeric"),
        ),
    ),
}
"""Options, and what they ask for."""

def fill(con: Connection) -> None:
    """A table with skewed sensitive values, some of them missing, which lean towards places."""
    rng = np.random.default_rng(5)
    age, code = rng.integers(20, 60, ROWS), rng.integers(0, 12, ROWS)
    lat, lon = rng.integers(0, 40, (2, ROWS)) / 4.0
    draw = rng.random(ROWS) + age / 300.0
    ill = np.select([draw < 0.5, draw < 0.8, draw < 1.0], ["A1", "A2", "B1"], "B2")
    pay = 100 * rng.integers(1, 12, ROWS) + age * 10
    con.execute("CREATE TABLE people (age INTEGER, code VARCHAR, lat DOUBLE, lon DOUBLE, "
                "job VARCHAR, ill VARCHAR, pay INTEGER)")
    rows = [
        (int(a), f"c{c:02}", float(x), float(y), ("clerk", "cook", "nurse")[c % 3],
         None if i % 19 == 7 else str(what), None if i % 23 == 3 else int(much))
        for i, (a, c, x, y, what, much)
        in enumerate(zip(age, code, lat, lon, ill, pay, strict=True))
    ]
    con.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    create_borders(con, 12)

con = registered("SET threads = 1", fill)


def merged_options(method: str, options: str) -> str:
    """Options of a model, with the hierarchies that full_domain needs."""
    if method != "full_domain":
        return options
    own = "'age': 'bins', 'job': 'flat'"
    if PREFIXES in options:
        return options.replace("{'ill': 'prefix'}", f"{{{own}, 'ill': 'prefix'}}")
    return f"{options}, hierarchies := {{{own}}}"


LEVELS: Sequence[Mapping[Any, Any]] = (
    {v: v for v in ("A1", "A2", "B1", "B2")}, {v: v[0] for v in ("A1", "A2", "B1", "B2")},
)


def broken(
    rows: list[dict[str, Any]], names: Sequence[str], models: Sequence[PrivacyModel]
) -> list[str]:
    """What the classes of released rows break."""
    classes: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        classes[repr([row[name] for name in names])].append(row)
    found = []
    for model in models:
        table = [row[model.column] for row in rows]
        tree = LEVELS if getattr(model, "distance", None) == "hierarchy" else ()
        found += [
            f"{model} in {own}" for members in classes.values()
            if not passes(model, own := [row[model.column] for row in members], table, tree)
        ]
    return found


PROMISING = [name for name, method in METHODS.items() if method.promises_k]


def check(con: Connection, method: str, model: str, *options: str) -> list[dict[str, Any]]:
    """Releases, and holds what comes out to the reference; the released rows."""
    asked, models = MODELS[model]
    query = call_of("people", method, merged_options(method, asked), *options)
    rows: list[dict[str, Any]] = fetch(con, f"FROM {query}").to_pylist()
    names = names_of(method)
    assert not broken(rows, names, models)
    sizes: dict[str, int] = defaultdict(int)
    for row in rows:
        sizes[repr([row[name] for name in names])] += 1
    assert min(sizes.values()) >= (least_of(method))
    return rows


@pytest.mark.sample(1)
@pytest.mark.parametrize("method", PROMISING)
@pytest.mark.parametrize("model", MODELS)
def test_classes_keep_the_model_or_nothing_comes_out(
    con: Connection, method: str, model: str
) -> None:
    assert len(check(con, method, model)) == ROWS


OTHERWISE: dict[str, tuple[Sequence[str], Sequence[str]]] = {
    "refined": (
        ("mdav", "k_member", "forest", "mondrian", "r_gather", "r_cellular"),
        ("effort := 'balanced', refine_steps := 3000",),
    ),
    "in blocks": (("mdav_plus", "nearest", "r_gather", "forest"), ("block_rows := 30",)),
    "suppressed": (("mdav", "k_member", "v_mdav", "mondrian"), ("suppress := 0.1",)),
    "by loss": (("mdav", "best"), ("distance := 'loss'",)),
    "outliers": (("r_gather", "r_cellular"), ("epsilon := 0.1",)),
    "centers of rows": (("r_gather", "r_cellular"), ("centers := 'rows'",)),
}
"""Methods, and other options that change what is held to a model."""

CASES = [(name, method) for name, (methods, _) in OTHERWISE.items() for method in methods]


@pytest.mark.sample(2)
@pytest.mark.parametrize("model", ["distinct", "numeric", "two columns"])
@pytest.mark.parametrize(("case", "method"), CASES)
def test_so_it_is_with_other_options(
    con: Connection, case: str, method: str, model: str
) -> None:
    rows = check(con, method, model, *OTHERWISE[case][1])
    share = 0.1 if case in ("suppressed", "outliers") else 0.0
    assert ROWS * (1.0 - share) <= len(rows) <= ROWS


def test_what_a_method_can_not_keep_is_refused(con: Connection) -> None:
    """In one sentence, before anything is read."""
    asked = merged_options("full_domain", MODELS["distinct"][0])
    refused = {
        "'full_domain' can't suppress rows and keep l": call_of(
            "people", "full_domain", asked, "suppress := 0.1"
        ),
        "'cellular' promises no class size, and nothing that l asks": call_of(
            "people", "cellular", MODELS["distinct"][0], name="anonymize_clusters"
        ).replace("k := 4, ", ""),
    }
    for said, query in refused.items():
        with pytest.raises(duckdb.Error, match=said):
            con.execute(f"FROM {query}")
