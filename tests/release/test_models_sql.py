"""The SQL that holds a release to privacy models says of each class what the reference says."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_sql.call.relation import Relation
from kanon_sql.plan.models import Checked, checked, domain_sql, model_stages, stages_of
from kanon_sql.privacy import AlphaFrequency, Closeness, PrivacyModel
from tests.privacy.histograms import (
    KINDS,
    NUMBERS,
    THRESHOLDS,
    T,
    Table,
    levels_of,
    model_of,
    models,
    tables,
)
from tests.privacy.reference import Levels, passes, value
from tests.support.connections import registered
from tests.support.thoroughness import examples

Connection = duckdb.DuckDBPyConnection

HISTOGRAM = """SELECT class AS combination, __kanon_key({0}) AS label,
    min(__kanon_value({0})) AS sorted, min((__kanon_cell({0})).number) AS number, count(*) AS size
    FROM rows GROUP BY class, __kanon_key({0})"""


con = registered("SET threads = 1")


def word_of(number: float) -> str:
    """A number as SQL has it as text."""
    return str(number).removesuffix(".0")


def found_by_sql(
    con: Connection, model: PrivacyModel, paths: list[list[str]] | None = None
) -> dict[int, tuple[bool, float]]:
    """Of each class of the table ``rows`` (class, x) whether it passes, and what it has."""
    return passing(con, model, HISTOGRAM.format('"x"'), paths)


def passing(
    con: Connection, model: PrivacyModel, histogram: str, paths: list[list[str]] | None = None,
    in_parts: bool = False, domain: Relation | None = None,
) -> dict[int, tuple[bool, float]]:
    """The same by SQL of a histogram; ``in_parts``: it tells the part of each class; ``domain``:
    the values of all rows, where it counts some."""
    if isinstance(model, AlphaFrequency):  # the texts of values, as SQL has them
        by_value = tuple((word_of(float(word)), share) for word, share in model.by_value)
        model = replace(model, by_value=by_value)
    domains = {} if domain is None else {"x": domain}
    (each,) = checked([model], ["x"], in_parts, domains)
    trees = {} if paths is None else {"x": 1}
    stages = model_stages([each], ["x"], lambda i, column: histogram, trees, in_parts, domains)
    if paths is not None:
        stages = f"__kanon_tree_1 AS (SELECT {paths!r}::VARCHAR[][] AS paths),\n{stages}"
    query = f"WITH {stages.rstrip().rstrip(',')} SELECT combination, passes, has FROM {each.stage}"
    found = con.execute(query).fetchall()
    assert len({group for group, *_ in found}) == len(found)
    return {group: (kept, has) for group, kept, has in found}


def write(con: Connection, values: Any, labels: Any, sql_type: str = "DOUBLE") -> None:
    con.execute(f"CREATE OR REPLACE TEMP TABLE rows (class BIGINT, x {sql_type})")
    if len(values):
        con.executemany("INSERT INTO rows VALUES (?, ?)", list(zip(labels, values, strict=True)))


def compare(
    con: Connection, model: PrivacyModel, values: list[Any], labels: list[int],
    levels: Levels = (),
) -> None:
    hold(found_by_sql(con, model, paths_of(levels)), model, values, labels, levels)


def paths_of(levels: Levels) -> list[list[str]] | None:
    """The paths of a hierarchy; None without one."""
    return [
        [word_of(leaf), *(f"{depth} {level[leaf]}" for depth, level in enumerate(levels[1:])), "*"]
        for leaf in levels[0]
    ] if levels else None


def hold(
    found: dict[int, tuple[bool, float]], model: PrivacyModel, values: list[Any],
    labels: list[int], levels: Levels = (),
) -> None:
    """Holds what was found of classes to the reference; ``values``: of all rows."""
    assert set(found) == set(labels)
    for group, (kept, has) in found.items():
        own = [v for v, g in zip(values, labels, strict=True) if g == group]
        assert kept is passes(model, own, values, levels), (own, has)
        expected = float(value(model, own, values, levels))
        assert has == expected or math.isclose(has, expected, rel_tol=1e-9, abs_tol=1e-12)


FLAT = [kind for kind in KINDS if kind != "hierarchy"]


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", FLAT)
@settings(max_examples=examples(40))
@given(data=st.data(), table=tables(40), classes=st.integers(1, 8), seed=st.integers(0, 10**6))
def test_a_class_passes_exactly_if_the_reference_says_so(
    con: Connection, kind: str, data: st.DataObject, table: Table, classes: int, seed: int
) -> None:
    _, model = data.draw(models([kind]))
    labels = np.random.default_rng(seed).integers(0, classes, len(table.values)).tolist()
    values = list(table.values)
    if seed % 2:
        values = [math.nan if v is None and seed % 3 else v for v in values]
    write(con, values, labels)
    compare(con, model, values, labels)


@pytest.mark.slow
def test_a_hierarchy_says_how_far_values_are_apart(con: Connection) -> None:
    rng = np.random.default_rng(5)
    for many in (1, 2, 5, 8):
        for share in (0.0, 0.3):
            values = [
                None if rng.random() < share else NUMBERS[i] for i in rng.integers(0, many, 40)
            ]
            labels = rng.integers(0, 4, 40).tolist()
            write(con, values, labels)
            for height in (1, 2, 3):
                levels = levels_of(many)[:height]
                for nulls in ("worst", "value"):
                    for t in T:
                        model = model_of("hierarchy", t, nulls)
                        compare(con, model, values, labels, levels)
                    for kind in ("distinct", "entropy", "recursive"):
                        model = model_of(kind, THRESHOLDS[kind][0], nulls)
                        compare(con, model, values, labels, levels)


EDGES = {
    "one value": [NUMBERS[0]] * 5,
    "all missing": [None] * 5,
    "one and missing": [NUMBERS[0], NUMBERS[0], None, None, None],
    "all different": list(NUMBERS),
    "equally many": list(NUMBERS[::-1]) * 3,
    "two and missing": [NUMBERS[0], NUMBERS[7], None] * 4,
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", FLAT)
@pytest.mark.parametrize("edge", EDGES)
def test_tables_at_the_edge(con: Connection, kind: str, edge: str) -> None:
    values = EDGES[edge]
    for labels in ([0] * len(values), [i % 2 for i in range(len(values))]):
        write(con, values, labels)
        for nulls in ("worst", "value"):
            for threshold in THRESHOLDS.get(kind, T)[:2]:
                compare(con, model_of(kind, threshold, nulls), values, labels)


MIXED = [NUMBERS[i] for i in (0, 0, 1, 1, 2, 4, 6, 6, 7, 0, 1, 1)] + [None, None, None]
OF_THREE = [0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 0, 1, 2]


@pytest.mark.sample(5)
@pytest.mark.parametrize("kind", KINDS)
def test_three_classes_of_few_rows(con: Connection, kind: str) -> None:
    """Each model on the same rows: with ties, a value in all classes, and missing ones."""
    levels = levels_of(len(NUMBERS)) if kind == "hierarchy" else ()
    for values in (MIXED, MIXED[:12]):
        labels = OF_THREE[: len(values)]
        write(con, values, labels)
        for nulls in ("worst", "value"):
            for threshold in THRESHOLDS.get(kind, T)[:2]:
                compare(con, model_of(kind, threshold, nulls, 3), values, labels, levels)
    if levels:
        compare(con, model_of("distinct", 3, "worst"), values, labels, levels)


def test_a_value_that_is_too_rare_breaks_delta_by_itself(con: Connection) -> None:
    """A tenth of one half: its share is below the bound, and no share is above one."""
    values = [NUMBERS[0]] + [NUMBERS[1]] * 9 + [NUMBERS[0]] * 9 + [NUMBERS[1]]
    labels = [0] * 10 + [1] * 10
    write(con, values, labels)
    for delta, kept in ((1.0, False), (1.5, False), (1.7, True)):
        model = model_of("delta", delta, "worst")
        compare(con, model, values, labels)
        assert all(passes is kept for passes, _ in found_by_sql(con, model).values())


def test_a_missing_value_counts_for_a_bound_in_millionths(con: Connection) -> None:
    """A third of the rows is missing, and may be the bounded value that none of them has."""
    values = [NUMBERS[0]] + [NUMBERS[1]] * 5 + [None, NUMBERS[2], NUMBERS[3]]
    labels = [0] * 6 + [1] * 3
    write(con, values, labels)
    for share, kept in ((0.333333, False), (0.333334, True)):
        model = model_of("by_value", share, "worst")
        compare(con, model, values, labels)
        assert found_by_sql(con, model)[1][0] is kept


def test_a_value_that_is_too_frequent_breaks_delta_by_itself(con: Connection) -> None:
    """Five eighths of a quarter: no other share is too low, and the other class is near enough."""
    values = [*NUMBERS[:4], *[NUMBERS[0]] * 4, *[NUMBERS[0]] * 3, *NUMBERS[1:4] * 7]
    labels = [0] * 8 + [1] * 24
    write(con, values, labels)
    for delta, kept in ((0.9, False), (math.log(2.5), False), (0.95, True)):
        model = model_of("delta", delta, "worst")
        compare(con, model, values, labels)
        assert found_by_sql(con, model)[0][0] is kept


def test_missing_values_may_have_as_large_a_share_as_the_bound(con: Connection) -> None:
    """Half of the rows might have the bounded value, and no row has it; or all rows may."""
    for values, model in (
        ([None, NUMBERS[1]], model_of("by_value", 0.5, "worst")),
        ([None, None], model_of("alpha", 1.0, "worst")),
    ):
        write(con, values, [0, 0])
        assert passes(model, values, values)
        assert found_by_sql(con, model)[0][0] is True


@pytest.mark.parametrize("kind", ["equal", "ordered", "hierarchy"])
def test_a_distance_may_be_the_threshold(con: Connection, kind: str) -> None:
    """Two classes of one value each, of two: a half of the rows is moved from end to end."""
    values = [NUMBERS[0]] * 4 + [NUMBERS[1]] * 4
    levels = [{NUMBERS[0]: 0, NUMBERS[1]: 1}] if kind == "hierarchy" else ()
    labels = [0] * 4 + [1] * 4
    write(con, values, labels)
    for t, kept in ((0.5, True), (0.499999, False)):
        model = model_of(kind, t, "worst")
        compare(con, model, values, labels, levels)
        assert found_by_sql(con, model, paths_of(levels))[0] == (kept, 0.5)


@pytest.mark.parametrize("many", [3, 5, 6, 7])
def test_equally_frequent_values_are_counted_exactly(con: Connection, many: int) -> None:
    write(con, NUMBERS[:many], [0] * many)
    assert found_by_sql(con, model_of("entropy", many, "worst"))[0] == (True, many)


def test_what_rounding_cannot_tell_from_the_bound_is_refused(con: Connection) -> None:
    """The bound of each model is what the class has, as far as doubles tell."""
    values = [NUMBERS[0]] * 3 + [NUMBERS[7]] + [NUMBERS[0]] * 3 + [NUMBERS[7]] * 3
    labels = [0] * 4 + [1] * 6
    write(con, values, labels)
    for kind in ("entropy", "numeric", "delta"):
        has = found_by_sql(con, model_of(kind, 2, "worst"))[0][1]
        for near, kept in ((1 - 1e-9, False), (1, False), (1 + 1e-9, True)):
            bound = has / near if kind == "entropy" else has * near
            model = model_of(kind, bound, "worst")
            compare(con, model, values, labels)
            assert found_by_sql(con, model)[0][0] is kept


@pytest.mark.parametrize("height", [1, 3])
def test_without_a_known_value_a_hierarchy_has_no_distance(con: Connection, height: int) -> None:
    values, levels = [None] * 4, levels_of(0)[:height]
    write(con, values, [0, 0, 1, 1])
    model = model_of("hierarchy", 0.1, "worst")
    compare(con, model, values, [0, 0, 1, 1], levels)
    assert set(found_by_sql(con, model, []).values()) == {(True, 0.0)}


@pytest.mark.parametrize(("most", "rows", "kept"), [
    (350782, 414355, True), (1691697, 1998287, False),
])
def test_a_gain_that_is_as_large_as_beta_allows(
    con: Connection, most: int, rows: int, kept: bool
) -> None:
    """Two values, each a half of all rows and so many of a class. No share is (1 + ln 2) / 2: the
    first is below it by more than a trillionth of it, the second above it by less."""
    counts = [(0, "a", most), (0, "b", rows - most), (1, "b", most), (1, "a", rows - most)]
    histogram = " UNION ALL ".join(
        f"SELECT {group} AS combination, '{label}' AS label, '{label}' AS sorted, NULL::DOUBLE AS"
        f" number, {size}::BIGINT AS size" for group, label, size in counts
    )
    found = passing(con, model_of("enhanced", 1, "worst"), histogram)
    assert [each[0] for each in found.values()] == [kept, kept]


@pytest.mark.parametrize("nulls", ["worst", "value"])
def test_without_a_word_numbers_have_an_order_and_texts_have_none(
    con: Connection, nulls: str
) -> None:
    numbers, labels = [9, 9, 10, 100, 9, 100, None], [0, 0, 0, 1, 1, 1, 1]
    for values, sql_type, distance in (
        (numbers, "INTEGER", "ordered"), ([n and str(n) for n in numbers], "VARCHAR", "equal"),
        (numbers[:1] * 7, "INTEGER", "ordered"), ([None] * 7, "INTEGER", "equal"),
    ):
        write(con, values, labels, sql_type)
        for t in (0.0, 0.1, 0.4, 0.6):
            unsaid = Closeness(column="x", nulls=nulls, t=t)
            said = Closeness(column="x", nulls=nulls, t=t, distance=distance)
            hold(found_by_sql(con, unsaid), said, values, labels)


@pytest.mark.parametrize("kind", ["equal", "ordered", "numeric"])
def test_where_there_is_one_value_no_row_is_moved(con: Connection, kind: str) -> None:
    values, labels = [NUMBERS[1]] * 4, [0, 0, 1, 1]
    write(con, values, labels)
    model = model_of(kind, 0.0, "worst")
    compare(con, model, values, labels)
    assert set(found_by_sql(con, model).values()) == {(True, 0.0)}


@pytest.mark.parametrize(("value", "sql_type", "ordered"), [
    (7, "INTEGER", True), ("7", "VARCHAR", False), (None, "INTEGER", False),
])
def test_a_single_number_has_an_order(
    con: Connection, value: Any, sql_type: str, ordered: bool
) -> None:
    write(con, [value, value], [0, 1], sql_type)
    stages = model_stages([], ["x"], lambda i, column: HISTOGRAM.format(column))
    query = f"WITH {stages.rstrip().rstrip(',')} SELECT many, ordered FROM __kanon_whole_0"
    assert con.execute(query).fetchall() == [(2, ordered)]


def test_the_values_of_all_rows_in_their_order(con: Connection) -> None:
    """Once each, numbers by their size, and a missing one last."""
    write(con, [100.0, 9.0, None, 9.0, 10.0, None, -0.0], [0, 0, 0, 1, 1, 1, 1])
    found = con.execute(domain_sql(f"({HISTOGRAM.format('x')})")).fetchall()
    assert [row[:3] for row in found] == [
        ("0", 1, 0.0), ("9", 2, 9.0), ("10", 1, 10.0), ("100", 1, 100.0), (None, 2, None),
    ]
    assert [after[3] - before[3] for before, after in pairwise(found)] == [1, 1, 1, 1]


@pytest.mark.parametrize("kind", ["equal", "ordered", "delta"])
def test_unless_it_is_said_rows_are_in_no_parts_and_it_is_asked_what_passes(
    con: Connection, kind: str
) -> None:
    values, labels = [*NUMBERS[:2] * 2, NUMBERS[0]], [0, 0, 1, 1, 1]
    write(con, values, labels)
    model = model_of(kind, 0.4, "worst")
    stages = model_stages([], ["x"], lambda i, column: HISTOGRAM.format(column))
    stages += "\n".join(stages_of([Checked(model, 0, 0)]))
    found = con.execute(
        f"WITH {stages.rstrip().rstrip(',')} SELECT combination, passes, has FROM __kanon_model_0"
    ).fetchall()
    hold({group: (kept, has) for group, kept, has in found}, model, values, labels)


def test_numbers_far_from_zero_are_as_far_apart_as_they_are(con: Connection) -> None:
    """The largest whole numbers that a double tells apart."""
    values = [2.0**53 - 3, 2.0**53 - 3, 2.0**53 - 2, 2.0**53 - 2, 2.0**53 - 1, 2.0**53 - 1]
    labels = [0, 0, 1, 1, 1, 1]
    write(con, values, labels)
    for t in (0.499999, 0.500001):
        compare(con, model_of("numeric", t, "worst"), values, labels)
