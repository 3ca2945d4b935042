"""The graph of codes, against one that is put together from sets and dictionaries."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.encode.area_graph import AreaGraph, positions, read_graph
from kanon_sql.encode.arrow import SideTable
from kanon_sql.encode.delaunay import delaunay_links, flat_map
from kanon_sql.errors import DataError

CODES = st.sampled_from(("a", "b", "c", "d", "\u00e4", "B", ""))
PAIRS = st.lists(st.tuples(st.none() | CODES, st.none() | CODES), min_size=1, max_size=12)
NUMBERS = st.sampled_from((None, "0", "1", "-2.5", "7", "nan"))
PLACES = st.lists(st.tuples(st.none() | CODES, NUMBERS, NUMBERS), min_size=1, max_size=10)


def table(names: str, rows: Sequence[Sequence[Any]]) -> SideTable:
    columns = tuple(pa.array(column, pa.string()) for column in zip(*rows, strict=True))
    return SideTable(tuple(names.split()), columns)


def texts(*values: str) -> pa.Array:
    return pa.array(values, pa.string())


def by_bytes(values: set[str]) -> list[str]:
    return sorted(values, key=str.encode)


def spots_of(rows: Sequence[Sequence[Any]]) -> dict[str, tuple[float, float]]:
    """Where codes lie: the mean of the places that each has."""
    found: dict[str, list[tuple[float, float]]] = {}
    for code, x, y in rows:
        if code is not None and {x, y}.isdisjoint({None, "nan"}):
            found.setdefault(code, []).append((float(x), float(y)))
    return {
        code: (sum(x for x, _ in own) / len(own), sum(y for _, y in own) / len(own))
        for code, own in found.items()
    }


def check_places(graph: AreaGraph, rows: Sequence[Sequence[Any]]) -> None:
    spots = spots_of(rows)
    for code, place in zip(graph.codes.to_pylist(), graph.place.tolist(), strict=True):
        if code in spots:
            assert place == pytest.approx(spots[code])
        else:
            assert np.isnan(place).all() and len(place) == 2


@given(pairs=PAIRS, values=st.sets(CODES), rows=st.none() | PLACES)
def test_pairs_are_the_links_of_their_codes(
    pairs: list[tuple[str | None, str | None]], values: set[str], rows: Any
) -> None:
    whole = [(a, b) for a, b in pairs if a is not None and b is not None]
    known = {code for pair in whole for code in pair}
    places = None if rows is None else table("code x y", rows)
    if values and not values & known:
        with pytest.raises(DataError, match=r"^The relation adjacency doesn't know"):
            read_graph(texts(*values), table("a b", pairs), places)
        return
    graph = read_graph(texts(*values), table("a b", pairs), places)
    codes = by_bytes(values | known)
    assert graph.codes.to_pylist() == codes
    assert graph.known.tolist() == [code in known for code in codes]
    spot = codes.index
    expected = {(min(spot(a), spot(b)), max(spot(a), spot(b))) for a, b in whole if a != b}
    assert [tuple(link) for link in graph.links.tolist()] == sorted(expected)
    assert graph.links.shape[1] == 2
    if rows is None:
        assert graph.place.shape == (len(codes), 0)
    else:
        check_places(graph, rows)


@given(rows=PLACES, values=st.sets(CODES))
def test_without_pairs_places_are_triangulated(rows: Any, values: set[str]) -> None:
    known = set(spots_of(rows))
    if values and not values & known:
        with pytest.raises(DataError, match=r"^The relation places doesn't know"):
            read_graph(texts(*values), None, table("code x y", rows))
        return
    graph = read_graph(texts(*values), None, table("code x y", rows))
    codes = by_bytes(values | known)
    assert graph.codes.to_pylist() == codes
    assert graph.known.tolist() == [code in known for code in codes]
    check_places(graph, rows)
    assert graph.links.tolist() == delaunay_links(graph.place).tolist()


@pytest.mark.parametrize("names", ["code lat lon", "lat lon code", "lon code lat", "lat code lng"])
def test_degrees_are_found_by_name_and_laid_on_a_map(names: str) -> None:
    own = {"code": ["b", "a", "a"], "lat": ["10", "50", "70"], "lon": ["3", "170", "-170"]}
    own["lng"] = own["lon"]
    rows = list(zip(*(own[name] for name in names.split()), strict=True))
    graph = read_graph(texts("a"), None, table(names, rows))
    assert graph.codes.to_pylist() == ["a", "b"]
    expected = flat_map(np.array([60.0, 10.0]), np.array([0.0, 3.0]))
    assert graph.place == pytest.approx(expected)
    assert graph.links.tolist() == [[0, 1]]


def test_an_island_of_the_data_alone_is_a_node_without_links() -> None:
    graph = read_graph(texts("x", "b"), table("a b", [("a", "b"), ("b", "a"), ("c", "c")]), None)
    assert graph.codes.to_pylist() == ["a", "b", "c", "x"]
    assert graph.known.tolist() == [True, True, True, False]
    assert graph.links.tolist() == [[0, 1]]


def test_positions_are_those_among_the_codes() -> None:
    assert positions(texts("a", "b"), texts("b", "x", "a")).tolist() == [1, -1, 0]


CHUNKED = SideTable(
    ("a", "b"), tuple(pa.chunked_array([texts(*pair)]) for pair in (("a", "b"), ("b", "c")))
)


def test_columns_may_come_in_chunks() -> None:
    assert read_graph(texts("a"), CHUNKED, None).links.tolist() == [[0, 1], [1, 2]]


REFUSED: tuple[tuple[SideTable | None, SideTable | None, str], ...] = (
    (SideTable((), ()), None, "adjacency has no rows"),
    (table("one", [("a",)]), None, r"adjacency has one column \(one\)\. Give one with two"),
    (table("a b c", [("a", "b", "c")]), None, r"adjacency has 3 columns \(a, b, c\)\."),
    (None, SideTable((), ()), "places has no rows"),
    (None, table("a b", [("a", "1")]), r"places has 2 columns \(a, b\)\. Give one with three"),
    (None, table("code x y", [("a", "1", "two")]), "column 'y' of the relation places has values"),
    (None, table("lat lon code", [("north", "2", "a")]), "column 'lat' of the relation places"),
    (None, table("code x y", [("a", "1", "1e101"), ("b", "-2e100", "1"), ("c", "1e100", "1")]),
     r"places has 2 rows beyond 1e\+100"),
    (None, table("code lat lon", [("a", "91", "0"), ("b", "0", "181")]),
     "The latitude 'lat' has 1 rows beyond 90"),
    (None, table("lon lat code", [("91", "0", "a"), ("181", "0", "b")]),
     "The longitude 'lon' has 1 rows beyond 180"),
    (table("a b", [("1", "2")]), None, "adjacency doesn't know any of the 2 codes of the column"),
)


@pytest.mark.parametrize(("adjacency", "places", "said"), REFUSED)
def test_what_can_not_be_a_graph_is_refused(
    adjacency: SideTable | None, places: SideTable | None, said: str
) -> None:
    with pytest.raises(DataError, match=said):
        read_graph(texts("x", "y"), adjacency, places)


def test_one_code_that_is_unknown_is_called_the_only_one() -> None:
    with pytest.raises(DataError, match="places doesn't know the only code of the column"):
        read_graph(texts("x"), None, table("code x y", [("a", "1", "2")]))


def test_coordinates_at_the_end_of_what_is_allowed_are_used() -> None:
    graph = read_graph(texts("a"), None, table("code x y", [("a", "1e100", "-1e100")]))
    assert graph.place.tolist() == [[1e100, -1e100]]


def test_the_mean_of_the_places_of_a_code_depends_on_no_order_of_rows() -> None:
    """To the last bit, though sums of such numbers do."""
    rows = [("a", x, y) for x, y in (("0.1", "7"), ("0.2", "7"), ("0.3", "7"), ("1e9", "7"))]
    turned = [(code, y, x) for code, x, y in rows]
    for each in (rows, turned):
        orders = permutations(each)
        places = [read_graph(texts("a"), None, table("code x y", own)).place for own in orders]
        assert len({place.tobytes() for place in places}) == 1
