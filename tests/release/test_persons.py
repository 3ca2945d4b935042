"""What must hold for every release of a table in which persons have several rows: held against the
rows that went in, each known again by a number that passes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.stages import remembered
from tests.support import tables
from tests.support.connections import registered
from tests.support.partitions import partitions
from tests.support.queries import metrics_of, refusal_of
from tests.support.tables import KINDS
from tests.support.thoroughness import often
from tests.support.visits import (
    ILL,
    VISIT,
    WHO,
    Crowds,
    Visits,
    classes_of,
    kept,
    refusal,
    visits,
)

Connection = duckdb.DuckDBPyConnection


base = registered("SET TimeZone = 'UTC'; SET threads = 1")


def released(con: Connection, case: Visits) -> pa.Table | None:
    """The release in the order of the table, with class_id; None where it must be refused, and
    is."""
    case.create(con)
    query = f"FROM {case.call(keep_order=True, class_id=True)}"
    expected = refusal(case)
    if not expected:
        return tables.fetch(con, query)
    assert expected in refusal_of(con, query)
    return None


def check_persons(case: Visits, table: pa.Table) -> Crowds:
    """Every class has its persons, and nobody's rows are lost."""
    numbers = table[VISIT].to_pylist()
    assert WHO not in table.column_names
    assert sorted(numbers) == kept(case)
    crowds = Crowds.of(classes_of(table, case.quasi), [case.values(WHO)[i] for i in numbers])
    assert crowds.persons >= case.options["k"]
    if case.together:
        assert set(crowds.places.values()) == {1}
    else:
        assert crowds.apart >= case.options["k"]
    return crowds


@pytest.mark.slow
@often(120)
@given(case=visits())
def test_every_class_has_k_persons(base: Connection, case: Visits) -> None:
    table = released(base, case)
    if table is None:
        return
    check_persons(case, table)
    names = [column.name for column in case.columns if column.name != WHO]
    assert table.column_names == [*names, "class_id"]
    assert list(map(tables.exact, table[ILL].to_pylist())) == [
        tables.exact(case.values(ILL)[i]) for i in table[VISIT].to_pylist()
    ]
    # a class releases what its rows have: these are those of all its persons
    texts = tables.fetch(base, "SELECT COLUMNS(*)::VARCHAR FROM t")
    written = tables.fetch(base, "FROM t")
    members: dict[int, list[int]] = {}
    for place, number in enumerate(table["class_id"].to_pylist()):
        members.setdefault(number, []).append(place)
    rows = table[VISIT].to_pylist()
    kinds = {column.name: KINDS[column.kind] for column in case.columns}
    for name in case.quasi:
        shown, here, words = (
            source[name].to_pylist() for source in (table, written, texts)
        )
        for places in members.values():
            own = [rows[place] for place in places]
            assert len({tables.exact(shown[place]) for place in places}) == 1
            assert tables.is_released(
                case.options["representation"], kinds[name], [here[i] for i in own],
                [words[i] for i in own], shown[places[0]],
            ), (name, [here[i] for i in own], shown[places[0]])


@pytest.mark.slow
@often(40)
@given(case=visits(methods=tables.CENTERED, representations=("centroid",)))
def test_so_has_every_class_with_a_center(base: Connection, case: Visits) -> None:
    table = released(base, case)
    if table is not None:
        check_persons(case, table)


@pytest.mark.slow
@often(60)
@given(
    case=visits(methods=("mdav", "k_member", "mondrian", "forest", "r_gather", "r_cellular"),
                representations=("centroid", "interval")),
    data=st.data(),
)
def test_neither_the_order_nor_who_they_are_changes_the_release(
    base: Connection, case: Visits, data: st.DataObject
) -> None:
    """Rows in another order, and persons under other names of another type: the same bytes."""
    if refusal(case):
        return
    case.create(base)
    centers: dict[str, Any] = {"centers": "rows", "representation": None}
    chosen = centers if case.options["method"].startswith("r_") else {}
    query = f"FROM {case.call(class_id=True, **chosen)}"
    first = tables.arrow_bytes(tables.fetch(base, query))
    order = data.draw(st.permutations(range(len(kept(case) and case.values(VISIT)))))
    persons = sorted(set(case.values(WHO)), key=repr)
    names = dict(zip(persons, data.draw(st.permutations(range(1000, 1000 + len(persons)))),
                     strict=True))
    columns = tuple(
        tables.Column(column.name, "integer" if column.name == WHO else column.kind, tuple(
            names[column.values[i]] if column.name == WHO else column.values[i] for i in order
        ))
        for column in case.columns
    )
    Visits(columns, case.quasi, case.options).create(base)
    remembered.forget()
    base.execute("SET threads = 2")
    again = tables.arrow_bytes(tables.fetch(base, query))
    base.execute("SET threads = 1")
    assert again == first


# --- tiny tables: every way to part them --------------------------------------------------------

VISITS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=2, max_size=7
)
"""Whose a row is, and its one number."""


def squared(values: Sequence[int]) -> Fraction:
    """The squared error of values to their mean."""
    mean = Fraction(sum(values), len(values))
    return sum(((value - mean) ** 2 for value in values), Fraction(0))


def allowed(rows: Sequence[tuple[int, int]], k: int, together: bool) -> list[list[list[int]]]:
    """Every way to part the rows that keeps persons."""
    found = []
    for parts in partitions(len(rows), k):
        owners = [Counter(rows[i][0] for i in part) for part in parts]
        if together:
            whole = sum(map(len, owners)) == len({who for who, _ in rows})
            right = whole and min(map(len, owners)) >= k
        else:
            right = all(max(own.values()) * k <= own.total() for own in owners)
        if right:
            found.append(parts)
    return found


@pytest.mark.slow
@often(120)
@given(
    rows=VISITS, k=st.integers(1, 3), together=st.booleans(),
    method=st.sampled_from(("mdav", "mdav_star", "k_member", "mondrian", "best")),
)
def test_what_can_be_released_is_and_is_one_of_all_ways(
    base: Connection, rows: Sequence[tuple[int, int]], k: int, together: bool, method: str
) -> None:
    """A release comes out exactly if there is a way to part the rows, and is none that is better
    than the best of all."""
    base.execute("CREATE OR REPLACE TABLE tiny (whose INTEGER, x INTEGER)")
    base.executemany("INSERT INTO tiny VALUES (?, ?)", list(rows))
    call = tables.call(
        "anonymize_metrics", "tiny", k=k, method=method, quasi_identifiers=["x"], entity="whose",
        entity_rows="together" if together else "apart",
        refine_steps=500 if method == "best" else None,
    )
    ways = allowed(rows, k, together)
    if not ways:
        with pytest.raises(duckdb.Error, match=r"fewer than k|persons in every class"):
            base.execute(f"FROM {call}").fetchall()
        return
    found = metrics_of(base, call)
    total = squared([x for _, x in rows])
    if total == 0:
        return
    losses = [
        100 * sum(squared([rows[i][1] for i in part]) for part in parts) / total for parts in ways
    ]
    assert any(abs(float(loss) - found["information_loss"]) < 1e-9 for loss in losses)
