"""What the verification says of privacy models, of labels that are given by hand: how many classes
miss one, by the reference."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import duckdb
import pytest

from kanon_sql.privacy import (
    AlphaFrequency,
    BetaLikeness,
    Closeness,
    DistinctDiversity,
    EntropyDiversity,
    PrivacyModel,
)
from tests.privacy.reference import passes
from tests.support.connections import registered
from tests.support.labelled import Asked, Given, refusal

Connection = duckdb.DuckDBPyConnection

ILL = ["Flu", "Cold", "Flu", "Cold", "Mumps", "Flu", "Flu", "Flu", "Cold", "Cold", None, "Mumps"]
PAY = [9, 10, 100, 9, 10, 100, 9, 9, 10, 100, 100, 10]
# the rows of a and of c have one disease, those of b two, and one of f is missing
WHO = ["a", "b", "a", "b", "b", "g", "c", "c", "d", "e", "f", "f"]
CODE = ["A1", "B1", "A1", "B2", "A2", "A1", "A2", "A1", "B1", "B2", "B1", "B2"]
DAY = ["mon"] * 6 + ["tue"] * 6


def create(con: Connection) -> None:
    con.execute("CREATE TABLE t (a INTEGER, b VARCHAR, ill VARCHAR, pay INTEGER, code VARCHAR, "
                "who VARCHAR, day VARCHAR)")
    cells = zip(ILL, PAY, CODE, WHO, DAY, strict=True)
    rows = [[i, "xy"[i % 2], *row] for i, row in enumerate(cells)]
    con.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)", rows)


con = registered("SET threads = 1", create)

CALL = Asked("anonymize", "t", {
    "k": 2, "suppress": 0.5, "quasi_identifiers": ["a"], "sensitive": ["ill", "pay"],
    "others": "drop", "representation": "median", "seed": 1,
})
ASKED: dict[str, tuple[dict[str, Any], PrivacyModel]] = {
    "distinct": ({"l": {"ill": 2}}, DistinctDiversity(column="ill", l=2)),
    "entropy": ({"l": {"ill": 2}, "diversity_kind": "entropy"},
                EntropyDiversity(column="ill", l=2.0)),
    "alpha": ({"alpha": {"ill": 0.5}}, AlphaFrequency(column="ill", alpha=0.5)),
    "equal": ({"t": {"ill": 0.4}}, Closeness(column="ill", t=0.4, distance="equal")),
    "ordered": ({"t": {"pay": 0.25}}, Closeness(column="pay", t=0.25, distance="ordered")),
    "numeric": ({"t": {"pay": 0.25}, "closeness": "numeric"},
                Closeness(column="pay", t=0.25, distance="numeric")),
    "beta": ({"beta": {"ill": 1}}, BetaLikeness(column="ill", beta=1.0)),
}
"""Each option, and what it means."""


def values_of(
    column: str, labels: Sequence[int], persons: bool, in_parts: bool
) -> dict[str, dict[int, list[Any]]]:
    """The values of each class of each part: of its rows that are released, or of persons, one
    whose rows differ having none."""
    cells: dict[tuple[str, int, Any], set[Any]] = defaultdict(set)
    column_values = ILL if column == "ill" else PAY
    for i, (label, value) in enumerate(zip(labels, column_values, strict=True)):
        if label >= 0:
            whose = WHO[i] if persons else i
            cells[DAY[i] if in_parts else "", label, whose].add(value)
    found: dict[str, dict[int, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for (part, label, _), own in cells.items():
        found[part][label].append(own.pop() if len(own) == 1 else None)
    return found


def missed(model: PrivacyModel, labels: Sequence[int], persons: bool, in_parts: bool) -> int:
    """How many classes miss a model, by the reference."""
    count = 0
    for classes in values_of(model.column, labels, persons, in_parts).values():
        everything = [value for own in classes.values() for value in own]
        count += sum(not passes(model, own, everything) for own in classes.values())
    return count


SORTS: dict[str, dict[str, Any]] = {
    "rows": {}, "persons": {"entity": "who", "k": 1}, "in parts": {"within": ["day"]},
    "persons in parts": {"entity": "who", "k": 1, "within": ["day"]},
}
LABELS = [
    [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1],
    [0, 1, 0, 1, 1, 0, 2, 2, 3, 3, 2, 2],
    [0, 1, 0, 1, 1, 0, 2, 2, -1, 2, -1, -1],
]
"""All rows of a person are in one class, or left out."""


@pytest.mark.sample(9)
@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("kind", ASKED)
def test_a_release_is_refused_for_the_classes_that_miss_a_model(
    con: Connection, kind: str, sort: str
) -> None:
    said, model = ASKED[kind]
    persons, in_parts = "entity" in SORTS[sort], "within" in SORTS[sort]
    for labels in LABELS:
        found = refusal(con, CALL.also(**said, **SORTS[sort]), Given(labels))
        count = missed(model, labels, persons, in_parts)
        expected = f"{count} of its classes don't keep {model.name}" if count else ""
        assert expected in found, found
        assert bool(found) is bool(count), found


@pytest.mark.parametrize(("labels", "refused"), [
    ([1, 1, 2, 0, 1, 2, 0, 2, 0, 1, 0, 2], (0, 0)),
    ([1, 2, 2, 1, 2, 0, 2, 1, 0, 0, 0, 1], (0, 2)),
    ([0, 2, 1, 2, 1, 0, 0, 1, 2, 2, 0, 1], (2, 0)),
])
def test_each_of_two_models_is_asked_by_itself(
    con: Connection, labels: list[int], refused: tuple[int, int]
) -> None:
    models = [ASKED[kind][1] for kind in ("distinct", "ordered")]
    assert tuple(missed(model, labels, False, False) for model in models) == refused
    found = refusal(con, CALL.also(l={"ill": 2}, t={"pay": 0.25}), Given(labels))
    told = [
        f"The release was stopped: {count} of its classes don't keep {model.name}"
        for count, model in zip(refused, models, strict=True) if count
    ]
    assert found.startswith(tuple(told)) if told else not found


def test_classes_that_release_the_same_are_one_for_a_model(con: Connection) -> None:
    """The first class has one disease, and with the second two; the third has two by itself."""
    labels = [0, 1, 0, 1, 2, 2, 0, 0, 1, 1, 2, 2]
    model, call = DistinctDiversity(column="ill", l=2), CALL.also(l={"ill": 2})
    assert missed(model, labels, False, False) == 2
    assert "2 of its classes don't keep" in refusal(con, call, Given(labels))
    same = "SELECT __kanon_class, CASE WHEN __kanon_class < 2 THEN 1 ELSE 2 END AS a FROM ({})"
    assert refusal(con, call, Given(labels, classes=same)) == ""


LEVELS = [{code: code for code in CODE}, {code: code[0] for code in CODE}]


@pytest.mark.parametrize("trees", [{}, {"a": "bins"}, {"a": "bins", "b": "flat"}], ids=len)
@pytest.mark.parametrize("model", [
    Closeness(column="code", t=0.35, distance="hierarchy"), DistinctDiversity(column="code", l=2),
], ids=["t", "l"])
def test_a_model_goes_by_the_hierarchy_of_its_column(
    con: Connection, model: PrivacyModel, trees: dict[str, str]
) -> None:
    call = CALL.also(
        **{model.option: getattr(model, model.option)}, quasi_identifiers=["a", "b"],
        sensitive=["code"], hierarchies={**trees, "code": "prefix"},
    )
    for labels in LABELS:
        own = [
            [code for code, other in zip(CODE, labels, strict=True) if other == label]
            for label in {*labels} - {-1}
        ]
        everything = [code for codes in own for code in codes]
        count = sum(not passes(model, codes, everything, LEVELS) for codes in own)
        found = refusal(con, call, Given(labels))
        assert found.startswith(f"The release was stopped: {count} of its") if count else not found


@pytest.mark.parametrize(("column", "more"), [
    ("nothing", ""), ("half", ", within := ['site']"), ("both", ", entity := 'who'"),
], ids=["rows", "a part", "persons"])
def test_a_sensitive_column_without_a_known_value_may_have_a_hierarchy(
    con: Connection, column: str, more: str
) -> None:
    con.execute("""
        CREATE OR REPLACE TABLE unknown AS
        SELECT i AS a, i % 2 AS site, i // 2 AS who, NULL::VARCHAR AS nothing,
               CASE WHEN i % 2 = 0 THEN ['flu', 'cold'][1 + i // 2 % 2] END AS half,
               ['flu', 'cold'][1 + i % 2] AS both
        FROM range(40) AS r(i)
    """)
    call = (
        "SELECT a FROM anonymize('unknown', k := 2, quasi_identifiers := ['a'], others := 'drop', "
        f"seed := 1, t := 0.4, sensitive := ['{column}']{more}{{}})"
    )
    found = con.execute(call.format(f", hierarchies := {{'{column}': 'flat'}}")).fetchall()
    assert found == con.execute(call.format("")).fetchall()
