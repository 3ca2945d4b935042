"""Hierarchies in tables: trees against a naive walk, and refusals."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_sql import data
from kanon_sql.errors import DataError
from kanon_sql.hierarchies.tables import read_tree
from kanon_sql.hierarchies.tree import check_values, key
from tests.support.trees import Table, assert_sound, meet, path_of, paths, read, texts

ADULT = Path(__file__).parents[1] / "data" / "hierarchies"
ADULT_NAMES = {path.stem.removeprefix("adult_hierarchy_") for path in ADULT.glob("*.parquet")}


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
    pool = st.text("ab1.0*é ", min_size=1, max_size=4).filter(
        lambda text: key(texts([text])).to_pylist() == [text]
    )
    return Naive(links, draw(st.lists(pool, min_size=size, max_size=size, unique=True)))


# --- child/parent and level tables


@pytest.mark.slow
@settings(deadline=None)
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


@pytest.mark.slow
@settings(deadline=None)
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


@pytest.mark.slow
@settings(deadline=None)
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
    again: Table = {f"level{i}": list(cells) for i, cells in enumerate(zip(*rows, strict=True))}
    assert read(again) == first


def test_a_hierarchy_by_hand() -> None:
    # the country taxonomy of byun2006, figure 1: height 3
    countries: Table = {
        "child": ["USA", "Canada", "Brazil", "India", "Iran", "North", "South", "West", "East",
                  "America", "Asia"],
        "parent": ["North", "North", "South", "East", "West", "America", "America", "Asia", "Asia",
                   "World", "World"],
    }
    tree = read(countries)
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
    assert paths(read({"level0": ["a"], "level1": ["a"], "level2": ["a"]})) == [("a", "*")]
    hangs_higher = read({"level0": ["A1", "B"], "level1": [None, "B1"], "level2": ["A", "A"]})
    assert path_of(hangs_higher, "A1") == ["A1", "A1", "A"]


def test_a_value_is_no_label_of_others() -> None:
    lent: Table = {"level0": ["a", "b", "x"], "level1": ["x", "x", "y"], "level2": ["*"] * 3}
    with pytest.raises(DataError, match="uses 1 value of level0 as labels of level1") as caught:
        read(lent)
    assert "'x'" not in str(caught.value)
    below = read({"level0": ["a", "b", "x"], "level1": ["x"] * 3, "level2": ["*"] * 3})
    assert path_of(below, "x") == ["x", "x", "*"]


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
BAD: dict[str, tuple[Table, str, list[str]]] = {
    "under two parents": (
        {"level0": ["Zanzibar", "Zanzibar", "b"], "level1": ["x", "y", "x"]},
        "puts 1 value of level0 under two parents or more",
        ["Zanzibar"],
    ),
    "does not nest": (
        {"level0": ["a", "b", "c", "d"], "level1": ["Zanzibar", "Zanzibar", "Quito", "Quito"],
         "level2": ["x", "y", "x", "y"]},
        "does not nest: 2 labels of level1 stand under more than one label of level2",
        SECRETS,
    ),
    "two parents": (
        {"child": ["Zanzibar", "Zanzibar", "Quito", "Quito"], "parent": ["x", "y", "x", None]},
        "puts 2 values under two parents or more",
        SECRETS,
    ),
    "circle": (
        {"child": ["Zanzibar", "Quito", "c"], "parent": ["Quito", "Zanzibar", "Quito"]},
        "turns in a circle: 2 values are among their own ancestors",
        SECRETS,
    ),
    "own parent": (
        {"child": ["Zanzibar", "c"], "parent": ["Zanzibar", "Zanzibar"]},
        "turns in a circle: 1 value is among their own ancestors",
        ["Zanzibar"],
    ),
    "gap": ({"level0": ["a"], "level2": ["b"]}, "lacks level1", []),
    "no leaf": ({"level1": ["a"], "level2": ["b"]}, "lacks level0", []),
    "other names": ({"city": ["a"], "country": ["b"]}, "has the columns city, country", []),
    "one more": ({"child": ["a"], "parent": ["b"], "note": ["c"]}, "note", []),
    "a note": ({"level0": ["a"], "level1": ["b"], "note": ["c"]}, "note is no part", []),
    "twice": ({"level0": ["a"], "LEVEL0": ["b"]}, "two columns of one name", []),
    "nothing": ({"level0": [None], "level1": ["*"]}, "holds no values", []),
    "no child": ({"child": [None], "parent": ["*"]}, "holds no values", []),
    "no columns": ({}, "lacks level0", []),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_tree_is_refused_without_its_values(name: str) -> None:
    table, fact, shown = BAD[name]
    with pytest.raises(DataError) as refused:
        read(table)
    message = str(refused.value)
    assert fact in message and "'zip'" in message and message.endswith(".")
    assert not any(secret in message for secret in SECRETS)
    with pytest.raises(DataError) as refused:
        read(table, show_values=True)
    assert [s for s in SECRETS if repr(s) in str(refused.value)] == shown


def test_a_chain_without_end_is_refused() -> None:
    chain: list[str | None] = [str(i) for i in range(400)]
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
    assert "1 would match except for spaces or upper and lower case" in message
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
