"""The built-in kinds of hierarchies: labels against what they say, and refusals."""

from __future__ import annotations

import random
from datetime import date, datetime
from decimal import Context, Decimal, localcontext
from itertools import groupby
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kanon_sql.errors import DataError, OptionError
from kanon_sql.hierarchies.build import built_in
from kanon_sql.hierarchies.kinds import KINDS, check_kind, level_count
from tests.support.trees import build, path_of, paths


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


@pytest.mark.slow
@settings(deadline=None)
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
            assert len(starts) == 1 and label.startswith(tuple(starts))
            assert members == {code for code in codes if code[:keep] in starts}
            assert len(label) == max(map(len, members))
            assert meaning.setdefault(label, members) == members  # on every level


def test_a_mask_that_codes_contain_is_refused() -> None:
    with pytest.raises(DataError, match="2 codes of 'zip' already contain the mask"):
        build("prefix", ["4#", "4##", "5"], mask="#")
    with pytest.raises(DataError, match="1 code of 'zip' already contains one of the masks"):
        build("prefix", ["*#?_~@"])


@pytest.mark.slow
@settings(deadline=None)
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
        told = str(refused.value).replace("(another format, BC or infinity)", "")
        assert not wrong or wrong not in told


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


@pytest.mark.slow
@settings(deadline=None)
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
            with localcontext(Context(prec=99)):
                first = first or high - low
            if all(abs(e) < 10**9 for e in (low, high)) and first > Decimal("1e-9"):
                with localcontext(Context(prec=99)):  # labels may have more digits than 28
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
    assert path_of(build("bins", ["0.29999999999999999"], width=0.1), "0.29999999999999999")[1] == (
        "[0.2, 0.3)"
    )
    below = "3.4999999999999996"  # as doubles, 5 times 0.7
    assert path_of(build("bins", [below], width=0.7), below)[1] == "[2.8, 3.5)"
    tenths = [str(Decimal(i) / 10) for i in range(-500, 500)]
    for column in build("bins", tenths, width=0.1).levels[1:2]:
        assert [edges_of(label)[0] for label in column.to_pylist()] == list(map(Decimal, tenths))
    assert path_of(build("bins", ["-9007199254740993"], width=2), "-9007199254740993")[1] == (
        "[-9007199254740994, -9007199254740992)"
    )
    assert path_of(build("bins", ["39.0", "39"], width=10), "39")[1] == "[30, 40)"
    assert path_of(build("bins", ["-1", "7"], width=2.5, factor=10), "-1")[1:3] == [
        "[-2.5, 0)", "[-25, 0)",
    ]
    assert path_of(build("bins", ["1e+20"], width=1e19), "1e+20")[1] == "[1e+20, 1.1e+20)"
    assert path_of(build("bins", ["18"], start=18, width=5), "18")[1] == "[18, 23)"
    assert build("bins", []).levels[0].to_pylist() == []


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=9, unique=True))
def test_an_automatic_width_is_nice_and_makes_about_32_bins(values: list[float]) -> None:
    assume(max(values) - min(values) > 1e-9 * max(map(abs, values)))
    tree = build("bins", [repr(v) for v in values])
    low, high = edges_of(tree.levels[1][0].as_py())
    digits = (high - low).normalize().as_tuple().digits
    assert digits in ((1,), (2,), (2, 5), (5,))
    count = (Decimal(max(values)) - Decimal(min(values))) / (high - low)
    assert 12 <= count <= 32 or high - low == 1


@pytest.mark.slow
def test_a_million_numbers() -> None:
    values = pl.Series(range(1_000_000)).cast(pl.String).to_arrow()
    tree = built_in("zip", "bins", {}, values, True)
    assert len(tree.levels[0]) == 1_000_000
    assert len(set(tree.levels[1].unique().to_pylist())) == 20


@pytest.mark.slow
def test_many_codes_keep_their_neighbours() -> None:
    build("prefix", [f"{(i * 7919) % 100_003:06}" for i in range(100_000)], ordered=False)


@pytest.mark.parametrize(("kind", "values", "said"), [
    ("date", ["34", "57"], "No value of 'zip' is a date such as 2024-05-17, so the kind 'date' "
     "doesn't fit the column. Did you mean 'bins'?"),
    ("date", ["x1", "y2", "3"], "Did you mean 'prefix'?"),
    ("bins", ["x1", "y2"], "No value of 'zip' is a number, so the kind 'bins' doesn't fit the "
     "column. Did you mean 'prefix'?"),
    ("bins", ["2024-05-17", "2024-05-18"], "Did you mean 'date'?"),
    ("rectangles", ["x", "y"], "No value of 'zip' is a pair of numbers such as '-10.9 -37.0', so "
     "the kind 'rectangles' doesn't fit the column. Did you mean 'prefix'?"),
])
def test_a_kind_that_fits_no_value_is_told_with_one_that_does(
    kind: str, values: list[str], said: str
) -> None:
    with pytest.raises(DataError) as err:
        build(kind, values, ordered=False)
    assert str(err.value).endswith(said)


def test_bins_refuse_what_is_no_number() -> None:
    values = ["1", "x", "inf", "nan", "1e999", "0x1F", "1_000"]
    with pytest.raises(DataError, match="6 distinct values of 'zip' are no finite number") as err:
        build("bins", values, ordered=False)
    assert "'prefix'" in str(err.value) and "0x1F" not in str(err.value)


def test_ordered_by_hand() -> None:
    tree = build("ordered", ["mid", None], ranking=["low", "mid", "high"])
    assert paths(tree) == [
        ("low", "low .. mid", "*"), ("mid", "low .. mid", "*"), ("high", "high", "*"),
    ]
    dotted = build("ordered", [], ranking=["a", "b", "a .. b"])
    assert dotted.levels[1].to_pylist() == ["a ... b", "a ... b", "a .. b"]
    assert paths(build("ordered", ["1"], ranking=[1.0])) == [("1", "*")]
    assert paths(build("ordered", ["2.00"], ranking=["2.0", "2"])) == [("2", "*")]
    with pytest.raises(DataError, match="2 distinct values of 'zip' are not in the list") as err:
        build("ordered", ["low", "Quito", "Zanzibar"], ranking=["low", "high"])
    assert "Quito" not in str(err.value)


@settings(deadline=None)
@given(st.lists(st.text("a. ", max_size=5), min_size=1, max_size=17, unique=True))
def test_ordered_keeps_the_order_and_nests(listed: list[str]) -> None:
    tree = build("ordered", listed[:1], ordered=False, ranking=listed)
    assert tree.levels[0].to_pylist() == listed
    for level, column in enumerate(tree.levels[:-1]):
        found = [list(group) for _, group in groupby(column.to_pylist())]
        assert [len(g) for g in found[:-1]] == [2**level] * (len(found) - 1)


# --- the registry


def test_the_registry_describes_itself() -> None:
    for name, kind in KINDS.items():
        assert kind.name == name
        told = [kind.description, *(option.description for option in kind.options.values())]
        assert all(text.endswith(".") for text in told)


def test_check_kind_fills_in_defaults() -> None:
    assert check_kind("zip", {"kind": "flat"}) == {"kind": "flat"}
    assert check_kind("zip", {"kind": "bins", "width": 10, "levels": 3.0, "start": None}) == {
        "kind": "bins", "width": 10, "levels": 3, "factor": 2, "start": 0,
    }
    assert level_count("bins", {"levels": 3}) == 4
    assert level_count("ordered", {"ranking": list("abcde")}) == 5 - 1
    assert [level_count(kind, {}) for kind in ("flat", "prefix", "date")] == [2, 6, 7]


@pytest.mark.parametrize(
    ("spec", "fact"),
    [
        ({}, "names no kind"),
        ({"knd": "bins"}, "has 'knd' and no kind. Did you mean 'kind'?"),
        ({"kind": "bin"}, "Did you mean 'bins'?"),
        ({"kind": "bins", "widht": 3}, "Did you mean 'width'?"),
        ({"kind": "flat", "levels": 3}, "has no option 'levels'. It takes none; leave it out."),
        ({"kind": "bins", "width": 0}, "must be a number above 0"),
        ({"kind": "bins", "width": "ten"}, "must be a number above 0"),
        ({"kind": "bins", "width": float("inf")}, "must be a number above 0"),
        ({"kind": "bins", "width": True}, "must be a number above 0"),
        ({"kind": "bins", "start": float("nan")}, "must be a finite number"),
        ({"kind": "bins", "factor": 1}, "whole number from 2"),
        ({"kind": "prefix", "levels": 0}, "whole number from 1"),
        ({"kind": "prefix", "levels": 2.5}, "whole number from 1"),
        ({"kind": "prefix", "mask": "**"}, "must be one character"),
        ({"kind": "ordered"}, "needs the option 'ranking'. Give it, such as {'kind': 'ordered', "
         "'ranking': ['low', 'mid', 'high']}."),
        ({"kind": "ordered", "ranking": []}, "must list the values"),
        ({"kind": "ordered", "ranking": ["a", None]}, "must list the values"),
        ({"kind": "ordered", "ranking": ["1", 1]}, "lists '1' twice"),
    ],
)
def test_specs_that_can_not_be_are_refused(spec: dict[str, Any], fact: str) -> None:
    with pytest.raises(OptionError) as refused:
        check_kind("zip", spec)
    assert fact in str(refused.value) and "'zip'" in str(refused.value)
