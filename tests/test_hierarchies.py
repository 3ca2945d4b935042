"""Hierarchies: trees against a naive walk, kinds against what their labels say, and refusals."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kanon_sql import data
from kanon_sql.errors import DataError, OptionError
from kanon_sql.hierarchies import (
    KINDS, Tree, built_in, check_kind, check_values, key, level_count, read_tree,
)

ADULT = Path(__file__).parent / "data" / "hierarchies"
ADULT_NAMES = {path.stem.removeprefix("adult_hierarchy_") for path in ADULT.glob("*.parquet")}

Table = dict[str, list[str | None]]


def texts(values: Sequence[str | None]) -> pa.Array:
    return pa.array(values, pa.string())


def read(table: Table, show_values: bool = False, **options: Any) -> Tree:
    return read_tree("zip", list(table), [texts(v) for v in table.values()], show_values, **options)


def build(kind: str, values: Sequence[str | None], ordered: bool = True, **options: Any) -> Tree:
    tree = built_in("zip", kind, options, texts(values), ordered)
    assert_sound(tree)
    assert len(tree.levels) <= level_count(kind, options)
    return tree


def paths(tree: Tree) -> list[tuple[str, ...]]:
    return list(zip(*(level.to_pylist() for level in tree.levels), strict=True))


def path_of(tree: Tree, leaf: str) -> list[str]:
    return [list(path) for path in paths(tree) if path[0] == leaf][0]


def assert_sound(tree: Tree) -> None:
    """What every Tree promises."""
    columns = [level.to_pylist() for level in tree.levels]
    assert tree.height == len(columns) - 1 >= 1
    assert all(level.type == pa.string() and level.null_count == 0 for level in tree.levels)
    assert len(set(columns[0])) == len(columns[0])
    assert len(set(columns[-1])) <= 1
    for low, high in pairwise(columns):
        assert len(set(zip(low, high, strict=True))) == len(set(low)), "does not refine"
    for column in columns:
        assert len(list(groupby(column))) == len(set(column)), "leaves of a node stand apart"


def meet(tree: Tree, one: str, other: str) -> tuple[str, int]:
    """The lowest common ancestor's label and level."""
    a, b = path_of(tree, one), path_of(tree, other)
    level = next(i for i in range(len(a)) if a[i] == b[i])
    return a[level], level


class Naive:
    """A tree as parent links, walked."""

    def __init__(self, links: list[int], names: list[str]) -> None:
        self.parent = {names[i]: names[link] if i else None for i, link in enumerate(links)}
        self.nodes = names
        self.children = {n: [c for c in names if self.parent[c] == n] for n in names}
        self.leaves = [n for n in names if not self.children[n]]

    def height(self, node: str) -> int:
        return max((self.height(child) + 1 for child in self.children[node]), default=0)

    def up(self, node: str) -> list[str]:
        above = self.parent[node]
        return [node, *(self.up(above) if above else [])]

    def meet(self, one: str, other: str) -> tuple[str, int]:
        top = next(node for node in self.up(one) if node in self.up(other))
        return top, self.height(top)


@st.composite
def naive_trees(draw: Any) -> Naive:
    size = draw(st.integers(2, 14))
    links = [0] + [draw(st.integers(0, i - 1)) for i in range(1, size)]
    pool = st.text("ab1.0*é ", min_size=1, max_size=4).filter(lambda t: key(texts([t]))[0].as_py() == t)
    return Naive(links, draw(st.lists(pool, min_size=size, max_size=size, unique=True)))


# --- child/parent and level tables


@given(naive_trees(), st.randoms(use_true_random=False), st.booleans())
def test_a_child_parent_table_is_the_tree_of_a_naive_walk(
    naive: Naive, chance: random.Random, root_row: bool
) -> None:
    edges = [(n, naive.parent[n]) for n in naive.nodes if naive.parent[n] or root_row]
    edges += edges[:2]  # repeated rows are harmless
    chance.shuffle(edges)
    tree = read({"Parent": [p for _, p in edges], "CHILD": [c for c, _ in edges]})
    assert_sound(tree)
    assert tree.height == naive.height(naive.nodes[0])
    assert set(tree.levels[0].to_pylist()) == set(naive.nodes)
    for one in naive.nodes:
        for other in naive.nodes:
            if one != other:
                assert meet(tree, one, other) == naive.meet(one, other)


@given(naive_trees(), st.randoms(use_true_random=False), st.booleans())
def test_a_level_table_is_the_tree_of_a_naive_walk(
    naive: Naive, chance: random.Random, ragged: bool
) -> None:
    top = naive.height(naive.nodes[0])
    rows: list[list[str | None]] = []
    for leaf in naive.leaves:
        by_height = {naive.height(node): node for node in naive.up(leaf)}
        row: list[str | None] = [leaf]
        for level in range(1, top + 1):
            gap = chance.choice([None, ""]) if ragged else row[-1]
            row.append(by_height.get(level, gap))
        rows.append(row)
    chance.shuffle(rows)
    columns = [(f"{chance.choice(['level', 'LEVEL'])}{i}", [row[i] for row in rows])
               for i in range(top + 1)]
    chance.shuffle(columns)
    tree = read(dict(columns))
    assert_sound(tree)
    assert tree.height == top
    for one in naive.leaves:
        for other in naive.leaves:
            if one != other:
                assert meet(tree, one, other) == naive.meet(one, other)


@given(naive_trees(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter_and_a_tree_reads_back_as_itself(
    naive: Naive, chance: random.Random
) -> None:
    edges = [(n, naive.parent[n]) for n in naive.nodes]
    first = read({"child": [c for c, _ in edges], "parent": [p for _, p in edges]})
    chance.shuffle(edges)
    assert read({"child": [c for c, _ in edges], "parent": [p for _, p in edges]}) == first
    rows = paths(first)
    chance.shuffle(rows)
    again = {f"level{i}": list(cells) for i, cells in enumerate(zip(*rows, strict=True))}
    assert read(again) == first


def test_a_hierarchy_by_hand() -> None:
    # the country taxonomy of byun2006, figure 1: height 3
    countries = {
        "child": ["USA", "Canada", "Brazil", "India", "Iran", "North", "South", "West", "East",
                  "America", "Asia"],
        "parent": ["North", "North", "South", "East", "West", "America", "America", "Asia", "Asia",
                   "World", "World"],
    }
    tree = read(countries)  # type: ignore[arg-type]
    assert tree.height == 3
    assert meet(tree, "USA", "Canada") == ("North", 1)
    assert meet(tree, "India", "Iran") == ("Asia", 2)
    assert meet(tree, "India", "USA") == ("World", 3)
    assert meet(tree, "Asia", "Iran") == ("Asia", 2)  # a value may be an inner node


def test_roots_are_added_and_repeated_roots_left_out() -> None:
    assert paths(read({"level0": ["b", "a", None]})) == [("a", "*"), ("b", "*")]
    two = read({"child": ["a", "b", "c"], "parent": ["X", "X", None]})
    assert [path_of(two, n) for n in "abc"] == [["a", "X", "*"], ["b", "X", "*"], ["c", "c", "*"]]
    many = read({"level0": ["a", "b"], "level1": ["*", "*"], "level2": ["*", None]})
    assert paths(many) == [("a", "*"), ("b", "*")]
    named = read({"level0": ["a", "b"], "level1": ["World", "World"], "level2": ["*", "*"]})
    assert named.height == 2  # two names for the root are two levels
    assert paths(read({"level0": ["a"], "level1": ["a"], "level2": ["a"]})) == [("a", "a")]
    hangs_higher = read({"level0": ["A1", "B"], "level1": [None, "B1"], "level2": ["A", "A"]})
    assert path_of(hangs_higher, "A1") == ["A1", "A1", "A"]


def test_numbers_are_in_order_and_known_by_their_key() -> None:
    table: Table = {"level0": ["10.00", "9", "-1.0", "9.0"], "level1": ["x", "y", "x", "y"]}
    assert read(table).levels[0].to_pylist() == ["-1", "10", "9"]  # x holds the least
    assert read({"level0": ["10", "9.0", "100"]}).levels[0].to_pylist() == ["9", "10", "100"]
    codes = read({"level0": ["250.0", "250"], "level1": ["a", "b"]}, numbers=False)
    assert codes.levels[0].to_pylist() == ["250", "250.0"]
    given_ = ["39", "39.0", "39.00", "39.50", "-0.0", "A01.0", "1e+20", "x.0", None, "0.0.0"]
    keys = ["39", "39", "39", "39.50", "-0", "A01.0", "1e+20", "x.0", None, "0.0.0"]
    assert key(texts(given_)).to_pylist() == keys


SECRETS = ["Zanzibar", "Quito"]
BAD: dict[str, tuple[Table, str]] = {
    "under two parents": (
        {"level0": ["Zanzibar", "Zanzibar", "b"], "level1": ["x", "y", "x"]},
        "puts 1 value of level0 under two parents or more",
    ),
    "does not nest": (
        {"level0": ["a", "b", "c", "d"], "level1": ["Zanzibar", "Zanzibar", "Quito", "Quito"],
         "level2": ["x", "y", "x", "y"]},
        "does not nest: 2 labels of level1 stand under more than one label of level2",
    ),
    "two parents": (
        {"child": ["Zanzibar", "Zanzibar", "Quito", "Quito"], "parent": ["x", "y", "x", None]},
        "puts 2 values under two parents or more",
    ),
    "circle": (
        {"child": ["Zanzibar", "Quito", "c"], "parent": ["Quito", "Zanzibar", "Quito"]},
        "turns in a circle: 2 values are among their own ancestors",
    ),
    "own parent": (
        {"child": ["Zanzibar", "c"], "parent": ["Zanzibar", "Zanzibar"]},
        "turns in a circle: 1 value is among their own ancestors",
    ),
    "gap": ({"level0": ["a"], "level2": ["b"]}, "lacks level1"),
    "no leaf": ({"level1": ["a"], "level2": ["b"]}, "lacks level0"),
    "other names": ({"city": ["a"], "country": ["b"]}, "has the columns city, country"),
    "one more": ({"child": ["a"], "parent": ["b"], "note": ["c"]}, "note"),
    "a note": ({"level0": ["a"], "level1": ["b"], "note": ["c"]}, "note is no part"),
    "twice": ({"level0": ["a"], "LEVEL0": ["b"]}, "two columns of one name"),
    "nothing": ({"level0": [None], "level1": ["*"]}, "holds no values"),
    "no child": ({"child": [None], "parent": ["*"]}, "holds no values"),
    "no columns": ({}, "lacks level0"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_tree_is_refused_without_its_values(name: str) -> None:
    table, fact = BAD[name]
    with pytest.raises(DataError) as refused:
        read(table)
    message = str(refused.value)
    assert fact in message and "'zip'" in message and message.endswith(".")
    assert not any(secret in message for secret in SECRETS)
    with pytest.raises(DataError) as shown:
        read(table, show_values=True)
    held = [s for s in SECRETS if any(s in cells for cells in table.values()) and s in fact + "".join(
        str(c) for c in (table.get("level0") or []) + (table.get("level1") or []) + (table.get("child") or []))]
    assert all(repr(secret) in str(shown.value) for secret in held)


def test_a_chain_without_end_is_refused() -> None:
    chain = [str(i) for i in range(400)]
    with pytest.raises(DataError, match="'zip' has more than 256 levels"):
        read({"child": chain[1:], "parent": chain[:-1]})


def test_values_missing_from_a_hierarchy_are_counted() -> None:
    tree = read({"level0": ["Private", "State-gov"]})
    check_values("zip", tree, texts(["Private", None, "Private"]), False)
    found = texts(["Private", " private", "Zanzibar", "Quito", "Quito", None])
    with pytest.raises(DataError) as refused:
        check_values("zip", tree, found, False)
    message = str(refused.value)
    assert "'zip' lacks 3 of the 4 distinct values of the column" in message
    assert "1 would be there but for spaces or upper and lower case" in message
    assert "Quito" not in message
    with pytest.raises(DataError, match="' private', 'Quito', 'Zanzibar'"):
        check_values("zip", tree, found, True)
    with pytest.raises(DataError, match=r"'0', '1', '10', '11', '12', \.\.\.\. Add"):
        check_values("zip", tree, texts([str(i) for i in range(20)]), True)


@pytest.mark.parametrize("name", sorted(ADULT_NAMES))
def test_the_hierarchies_of_arx_for_adult(name: str) -> None:
    table = pq.read_table(ADULT / f"adult_hierarchy_{name}.parquet")
    tree = read_tree(name, table.column_names, [c.combine_chunks() for c in table.columns])
    assert_sound(tree)
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    assert sorted(paths(tree)) == sorted(rows)
    values = pl.read_parquet(data.adult(), columns=[name])[name].cast(pl.String).unique()
    check_values(name, tree, values.to_arrow(), False)


def test_heights_of_the_hierarchies_of_arx() -> None:
    heights = {}
    for name in ADULT_NAMES:
        table = pq.read_table(ADULT / f"adult_hierarchy_{name}.parquet")
        heights[name] = read_tree(name, table.column_names, table.columns).height
    assert heights == {
        "age": 4, "education": 3, "marital-status": 2, "native-country": 2, "occupation": 2,
        "race": 1, "salary-class": 1, "sex": 1, "workclass": 2,
    }


# --- kinds


def test_flat() -> None:
    assert paths(build("flat", ["b", None, "a", "b"])) == [("a", "*"), ("b", "*")]


def test_prefix_by_hand() -> None:
    tree = build("prefix", ["47906", "47907", "12345"], ordered=False)
    assert path_of(tree, "47906") == ["47906", "4790*", "479**", "47***", "4****", "*"]
    mixed = build("prefix", ["47906", "4790", "47", "8"], ordered=False)
    assert path_of(mixed, "4790") == ["4790", "4790*", "479**", "47***", "4****", "*"]
    assert path_of(mixed, "47") == ["47", "47", "47", "47***", "4****", "*"]
    two = build("prefix", ["4790"], ordered=False, levels=2, mask="x")
    assert path_of(two, "4790") == ["4790", "47xx", "*"]
    starred = build("prefix", ["4790*", "47901"], ordered=False)
    assert path_of(starred, "4790*") == ["4790*", "4790#", "479##", "47###", "4####", "*"]
    assert build("prefix", ["abc", "abd"], ordered=False).height == 3


@given(
    st.lists(st.text("47*#é", max_size=7), max_size=12, unique=True), st.integers(1, 9),
    st.randoms(use_true_random=False),
)
def test_prefixes_are_nodes_and_labels_are_theirs_alone(
    codes: list[str], levels: int, chance: random.Random
) -> None:
    tree = build("prefix", codes, ordered=False, levels=levels)
    shuffled = chance.sample(codes, len(codes))
    assert build("prefix", shuffled, ordered=False, levels=levels) == tree
    assert sorted(tree.levels[0].to_pylist()) == sorted(codes)
    longest = max(map(len, codes), default=0)
    step = max(1, -(-longest // levels))
    meaning: dict[str, set[str]] = {}
    for level, column in enumerate(tree.levels[:-1]):
        keep = longest - level * step
        below: dict[str, set[str]] = {}
        for code, label in zip(tree.levels[0].to_pylist(), column.to_pylist(), strict=True):
            below.setdefault(label, set()).add(code)
        for label, members in below.items():
            starts = {code[:keep] for code in members}
            assert len(starts) == 1 and label.startswith(*starts)
            assert members == {code for code in codes if code[:keep] in starts}
            assert len(label) == max(map(len, members))
            assert meaning.setdefault(label, members) == members  # on every level


def test_a_mask_that_codes_contain_is_refused() -> None:
    with pytest.raises(DataError, match="2 codes of 'zip' already contain the mask"):
        build("prefix", ["4#", "4##", "5"], mask="#")
    with pytest.raises(DataError, match="1 code of 'zip' already contains one of the masks"):
        build("prefix", ["*#?_~@"])


@given(st.lists(st.dates(), min_size=1, max_size=10), st.booleans())
def test_dates(days: list[date], stamped: bool) -> None:
    values = [d.isoformat() for d in days]
    if stamped:
        values = [datetime(d.year, d.month, d.day, 10, 11, 12, 500_000).isoformat(" ")[:-5]
                  for d in days]
    tree = build("date", values)
    for d, value in zip(days, values, strict=True):
        year = f"{d.year:04}"
        labels = [f"{year}-{d.month:02}", f"{year}-Q{(d.month + 2) // 3}", year, f"{year[:3]}0s"]
        assert path_of(tree, value) == [value, *([d.isoformat()] if stamped else []), *labels, "*"]


def test_dates_as_duckdb_prints_them() -> None:
    values = ["12024-05-17 10:11:12+02", "2024-02-29 00:00:00", "1999-12-31 10:11:12.123456789"]
    tree = build("date", values)
    assert path_of(tree, values[0])[1:4] == ["12024-05-17", "12024-05", "12024-Q2"]
    for wrong in ("infinity", "-infinity", "0044-03-15 (BC)", "2023-02-29", "1900-02-29",
                  "0000-01-01", "17.05.2024", "2024-13-01", "2024-04-31", "", "20240517"):
        with pytest.raises(DataError, match="1 distinct value of 'zip' is none") as refused:
            build("date", [*values, wrong])
        assert not wrong or wrong not in str(refused.value)


def edges_of(label: str) -> tuple[Decimal, Decimal]:
    low, high = label[1:-1].split(", ")
    return Decimal(low), Decimal(high)


numbers = st.one_of(
    st.integers(-200, 200).map(str),
    st.integers(-(10**30), 10**30).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(-5, 5, places=1).map(str),
    st.sampled_from(["0.29999999999999999", "0.3", "-0.30000000000000000001", "1e+20", "-0.0"]),
)
widths = st.one_of(
    st.none(), st.sampled_from([1, 5, 0.1, 0.25, 3, 1e10, 1e-10, Decimal("0.01")]),
    st.floats(min_value=1e-5, max_value=1e9),
)


@given(
    st.lists(numbers, min_size=1, max_size=12), widths, st.integers(1, 6), st.integers(2, 10),
    st.one_of(st.none(), st.sampled_from([0.5, -3, 0.1]), st.floats(-100, 100)),
)
def test_bins_hold_what_their_labels_say(
    values: list[str], width: Any, levels: int, factor: int, start: float | None
) -> None:
    options = {"width": width, "levels": levels, "factor": factor, "start": start}
    tree = build("bins", values, **options)
    assert build("bins", values[::-1], **options) == tree
    origin = Decimal(str(start or 0))
    first = None
    for level, column in enumerate(tree.levels[1:-1]):
        for value, label in zip(tree.levels[0].to_pylist(), column.to_pylist(), strict=True):
            low, high = edges_of(label)
            assert low <= Decimal(value) < high
            first = first or high - low
            if all(abs(e) < 10**9 for e in (low, high)) and first > Decimal("1e-9"):
                assert high - low == first * factor**level
                assert (low - origin) % (high - low) == 0
    if width and first and first < 10**9 and levels > 1 and abs(origin) < 10**9:
        assert first == Decimal(str(width))


def test_bins_as_an_analyst_would_draw_them() -> None:
    ages = [str(a) for a in range(17, 91)]
    assert path_of(build("bins", ages), "39") == [
        "39", "[35, 40)", "[30, 40)", "[20, 40)", "[0, 40)", "*",
    ]
    assert path_of(build("bins", ["0.3", "1"], width=0.1), "0.3")[1] == "[0.3, 0.4)"
    assert path_of(build("bins", ["39.0", "39"], width=10), "39")[1] == "[30, 40)"
    assert path_of(build("bins", ["-1", "7"], width=2.5, factor=10), "-1")[1:3] == [
        "[-2.5, 0)", "[-25, 0)",
    ]
    assert path_of(build("bins", ["1e+20"], width=1e19), "1e+20")[1] == "[1e+20, 1.1e+20)"
    assert path_of(build("bins", ["18"], start=18, width=5), "18")[1] == "[18, 23)"
    assert build("bins", []).levels[0].to_pylist() == []


@given(st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=9, unique=True))
def test_an_automatic_width_is_nice_and_makes_about_32_bins(values: list[float]) -> None:
    assume(max(values) - min(values) > 1e-9 * max(map(abs, values)))
    tree = build("bins", [repr(v) for v in values])
    low, high = edges_of(tree.levels[1][0].as_py())
    digits = (high - low).normalize().as_tuple().digits
    assert digits in ((1,), (2,), (2, 5), (5,))
    count = (Decimal(max(values)) - Decimal(min(values))) / (high - low)
    assert 12 <= count <= 32 or high - low == 1


def test_a_million_numbers() -> None:
    values = pl.Series(range(1_000_000)).cast(pl.String).to_arrow()
    tree = built_in("zip", "bins", {}, values, True)
    assert len(tree.levels[0]) == 1_000_000
    assert len(set(tree.levels[1].unique().to_pylist())) == 20


def test_bins_refuse_what_is_no_number() -> None:
    values = ["1", "x", "inf", "nan", "1e999", "0x1F", "1_000"]
    with pytest.raises(DataError, match="6 distinct values of 'zip' are no finite number") as err:
        build("bins", values, ordered=False)
    assert "'prefix'" in str(err.value) and "0x1F" not in str(err.value)


def test_ordered_by_hand() -> None:
    tree = build("ordered", ["mid", None], values=["low", "mid", "high"])
    assert paths(tree) == [
        ("low", "low .. mid", "*"), ("mid", "low .. mid", "*"), ("high", "high", "*"),
    ]
    dotted = build("ordered", [], values=["a", "b", "a .. b"])
    assert dotted.levels[1].to_pylist() == ["a ... b", "a ... b", "a .. b"]
    assert paths(build("ordered", ["1"], values=[1.0])) == [("1", "*")]
    with pytest.raises(DataError, match="2 distinct values of 'zip' are not in the list") as err:
        build("ordered", ["low", "Quito", "Zanzibar"], values=["low", "high"])
    assert "Quito" not in str(err.value)


@given(st.lists(st.text("a. ", max_size=5), min_size=1, max_size=17, unique=True))
def test_ordered_keeps_the_order_and_nests(listed: list[str]) -> None:
    tree = build("ordered", listed[:1], ordered=False, values=listed)
    assert tree.levels[0].to_pylist() == listed
    for level, column in enumerate(tree.levels[:-1]):
        found = [list(group) for _, group in groupby(column.to_pylist())]
        assert [len(g) for g in found[:-1]] == [2**level] * (len(found) - 1)


# --- the registry


def test_the_registry_describes_itself() -> None:
    for name, kind in KINDS.items():
        assert kind.name == name
        assert all(o.description.endswith(".") for o in (kind, *kind.options.values()))


def test_check_kind_fills_in_defaults() -> None:
    assert check_kind("zip", {"kind": "flat"}) == {"kind": "flat"}
    assert check_kind("zip", {"kind": "bins", "width": 10, "levels": 3.0, "start": None}) == {
        "kind": "bins", "width": 10, "levels": 3, "factor": 2, "start": 0,
    }
    assert level_count("bins", {"levels": 3}) == 4
    assert level_count("ordered", {"values": list("abcde")}) == 5 - 1
    assert [level_count(kind, {}) for kind in ("flat", "prefix", "date")] == [2, 6, 7]


@pytest.mark.parametrize(
    ("spec", "fact"),
    [
        ({}, "names no kind"),
        ({"kind": "bin"}, "Did you mean 'bins'?"),
        ({"kind": "bins", "widht": 3}, "Did you mean 'width'?"),
        ({"kind": "flat", "levels": 3}, "has no option 'levels'. It takes none."),
        ({"kind": "bins", "width": 0}, "must be a number above 0"),
        ({"kind": "bins", "width": "ten"}, "must be a number above 0"),
        ({"kind": "bins", "width": float("inf")}, "must be a number above 0"),
        ({"kind": "bins", "width": True}, "must be a number above 0"),
        ({"kind": "bins", "start": float("nan")}, "must be a finite number"),
        ({"kind": "bins", "factor": 1}, "whole number from 2"),
        ({"kind": "prefix", "levels": 0}, "whole number from 1"),
        ({"kind": "prefix", "levels": 2.5}, "whole number from 1"),
        ({"kind": "prefix", "mask": "**"}, "must be one character"),
        ({"kind": "ordered"}, "needs the option 'values'"),
        ({"kind": "ordered", "values": []}, "must list the values"),
        ({"kind": "ordered", "values": ["a", None]}, "must list the values"),
        ({"kind": "ordered", "values": ["1", 1]}, "lists '1' twice"),
    ],
)
def test_specs_that_can_not_be_are_refused(spec: dict[str, Any], fact: str) -> None:
    with pytest.raises(OptionError) as refused:
        check_kind("zip", spec)
    assert fact in str(refused.value) and "'zip'" in str(refused.value)
