"""Answers as HTML: nothing of a table becomes a tag, and what is told is there."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.explore.answers import (
    ColumnFacts,
    FrontierPoint,
    Preview,
    PreviewedLevel,
    ReleaseNumbers,
    ShownRows,
)
from kanon_sql.explore.frontier import frontier_svg
from kanon_sql.reporting.facts import Bar, Distribution

pytest.importorskip("vl_convert", reason="the extra 'explore' isn't installed")

from kanon_sql.explore import views

BAD = '<script>alert("1")</script>&amp;\'"><img src=x onerror=alert(1)>'


class Tags(HTMLParser):
    """The tags and the attributes of a text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[Any]) -> None:
        self.found |= {tag, *(name for name, _ in attrs)}


def test_what_comes_from_a_table_is_no_html() -> None:
    shown = ShownRows((Bar(BAD, 1.0, 2.0),), (), (BAD,), ((BAD,), (None,)))
    distribution = Distribution(BAD, (Bar(BAD, 1.0, 2.0),), Bar(BAD, 0.0, 1.0), BAD)
    for text in (
        views.rows_of(shown), views.class_sizes(shown), views.before_and_after([distribution]),
        views.levels(Preview(BAD, "flat", (PreviewedLevel(0, 1, (BAD, None)),)), False),
        views.cards(ReleaseNumbers({}, {}, (BAD,)), 5), views.listed([BAD]),
        views.frontier({3: FrontierPoint(3, refused=BAD)}, 3),
    ):
        assert not {"script", "img", "onerror"} & Tags(text).found
        assert "alert" in text


def test_warnings_are_sentences_and_each_is_there_once() -> None:
    column = ColumnFacts("zip", "VARCHAR", 3, None, None, ("determines 'town'", "a.", "a"))
    assert views.warnings_of(column, "sensitive") == ["Determines 'town'.", "A."]
    assert views.warnings_of(column, "")[0].startswith("No role yet")


points = st.lists(
    st.builds(FrontierPoint, st.integers(2, 100), st.floats(0, 1), st.floats(0, 1)),
    max_size=8, unique_by=lambda point: point.k,
)


@given(points)
def test_points_of_the_frontier_are_where_their_numbers_say(found: list[FrontierPoint]) -> None:
    text = frontier_svg(found, 5)
    places = re.findall(r'<circle[^>]* cx="([\d.]+)" cy="([\d.]+)"', text)
    marks = [(float(x), float(y)) for x, y in places]
    assert len(marks) == len(found)
    assert all(0 <= x <= 380 and 0 <= y <= 230 for x, y in marks)
    for (x, y), one in zip(marks, found, strict=True):
        for (other_x, other_y), other in zip(marks, found, strict=True):
            if one.loss < other.loss:
                assert x <= other_x
            if one.risk < other.risk:  # risk goes upwards
                assert y >= other_y
