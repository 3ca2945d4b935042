"""What must hold for every release in parts, over random tables of mixed types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.release.test_properties import base, keys, often, takes_part
from tests.support import tables
from tests.support.tables import KINDS, Case

__all__ = ["base"]

Connection = duckdb.DuckDBPyConnection
SMALL = ("error", "suppress", "join")


@st.composite
def cases_in_parts(draw: st.DrawFn) -> tuple[Case, tables.Column]:
    """A case, and one more column that divides its rows."""
    case = draw(tables.cases(nulls=("value", "suppress"), most_rows=30))
    within = draw(tables.columns_of("__part", case.rows, tuple(KINDS)))
    name = draw(st.sampled_from(("day", "Value", "the 'site'", "row")))
    taken = {column.name.lower() for column in case.columns}
    name = name if name.lower() not in taken else "part of it"
    return case, tables.Column(name, within.kind, within.values)


def starred(kind: str) -> Hashable:
    """What the column of a joined part comes out as."""
    return tables.exact("*" if KINDS[kind].sql.startswith(("VARCHAR", "ENUM")) else None)


def joined(sizes: Counter[Hashable], k: int, star: Hashable) -> set[Hashable]:
    """The parts that are put together, worked out anew; of equally large ones any."""
    taken = {part for part, size in sizes.items() if size < k}
    if taken:
        taken |= {star} & set(sizes)
    for part in sorted(set(sizes) - taken, key=lambda part: sizes[part]):
        if not taken or sum(sizes[each] for each in taken) >= k:
            break
        taken.add(part)
    return taken


@pytest.mark.slow
@often(40)
@given(case=cases_in_parts(), small=st.sampled_from(SMALL))
def test_a_release_in_parts_keeps_its_promises(
    base: Connection, case: tuple[Case, tables.Column], small: str
) -> None:
    made, within = case
    tables.create(base, "t", (*made.columns, within))
    source = tables.fetch(base, "FROM t")
    kept = source.filter(pa.array(takes_part(made, source), pa.bool_()))
    options = {**made.roles, **made.options, "within": [within.name], "small_parts": small}
    call = tables.call("anonymize", "t", **options)
    values = list(map(tables.exact, kept[within.name].to_pylist()))
    sizes = Counter(values)
    few = {part for part, size in sizes.items() if size < made.k}
    refused = kept.num_rows == 0 or (small == "error" and bool(few)) or (
        small == "suppress" and few == set(sizes)) or (
        small == "join" and bool(few) and kept.num_rows < made.k)
    if refused:
        with pytest.raises(duckdb.Error, match=r"too small|no rows to anonymize"):
            base.execute(f"FROM {call}").fetchall()
        return
    released = tables.fetch(base, f"FROM {call}")
    # no class is smaller than k, whatever is read of it
    combined = keys(released, (*made.quasi, within.name))
    assert min(Counter(combined).values()) >= made.k
    out = Counter(map(tables.exact, released[within.name].to_pylist()))
    if small == "suppress":
        assert out == {part: size for part, size in sizes.items() if part not in few}
    elif small == "join":
        star, together = starred(within.kind), joined(sizes, made.k, starred(within.kind))
        if together:
            assert out[star] == sum(sizes[part] for part in together)
            assert sorted(out.values()) == sorted(
                [out[star], *(size for part, size in sizes.items() if part not in together)]
            )
        else:
            assert out == sizes
    else:
        assert out == sizes


@pytest.mark.slow
@often(10, shrink=False)
@given(case=cases_in_parts())
def test_each_part_is_what_its_rows_give_alone(
    base: Connection, case: tuple[Case, tables.Column]
) -> None:
    made, within = case
    tables.create(base, "t", (*made.columns, within))
    options = {**made.roles, **made.options}
    call = tables.call("anonymize", "t", **options, within=[within.name], small_parts="suppress")
    try:
        released = tables.fetch(base, f"FROM {call}")
    except duckdb.Error as refusal:
        assert "too small" in str(refusal) or "no rows" in str(refusal)
        return
    source = tables.fetch(base, "FROM t")
    parts = dict.fromkeys(map(tables.exact, released[within.name].to_pylist()))
    for part in list(parts)[:2]:
        mask = [tables.exact(v) == part for v in source[within.name].to_pylist()]
        base.register("picked", pa.table({"picked": mask}))
        base.execute(
            "CREATE OR REPLACE TABLE one AS "
            f"SELECT * EXCLUDE (picked, {tables.quoted(within.name)}) "
            "FROM t POSITIONAL JOIN picked WHERE picked"
        )
        base.unregister("picked")
        alone = tables.fetch(base, f"FROM {tables.call('anonymize', 'one', **options)}")
        here = released.filter(pa.array(
            [tables.exact(v) == part for v in released[within.name].to_pylist()], pa.bool_()
        )).drop_columns([within.name])
        assert Counter(map(tables.exact, tables.records(here))) == Counter(
            map(tables.exact, tables.records(alone))
        )
