"""Texts that join known words are taken apart as by trying every run of parts, only faster."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kanon_sql.audit import joined
from kanon_sql.audit.joined import JoinedWords
from kanon_sql.audit.text import quoted_items
from kanon_sql.kernel.watch import StoppedError, Watch
from tests.audit.reference import split_known
from tests.support.thoroughness import examples

often = settings(
    max_examples=examples(500), deadline=None, suppress_health_check=list(HealthCheck)
)
PARTS = st.sampled_from(["", "a", "b", "c", ",", " ", "a,", " b", "1"])


def both(
    words: list[str], text: str, separator: str, single: str
) -> tuple[list[str] | None, list[str] | None]:
    """What the reference finds, and what JoinedWords does; ``single`` holds words that nothing
    lists, as numbers are."""
    known = set(words)

    def knows(word: str) -> bool:
        return word in known or (separator not in word and word in single.split("|"))

    longest = 1 + max((word.count(separator) for word in words), default=0)
    return (
        split_known(text, separator, knows, longest),
        JoinedWords(separator, words, knows, lambda: None).split(text),
    )


@often
@given(
    st.lists(st.lists(PARTS, min_size=1, max_size=5), max_size=8),
    st.lists(PARTS, min_size=1, max_size=14), st.sampled_from([", ", ","]),
    st.sampled_from(["", "b", "1|c"]), st.booleans(),
)
def test_texts_are_taken_apart_as_before(
    words: list[list[str]], parts: list[str], separator: str, single: str, one_hash: bool
) -> None:
    known = [separator.join(word) for word in words]
    with pytest.MonkeyPatch.context() as patch:
        if one_hash:  # words are told apart by more than their hashes
            patch.setattr(joined, "hash", lambda part: 1, raising=False)
        expected, found = both(known, separator.join(parts), separator, single)
    assert found == expected


@often
@given(st.lists(st.lists(PARTS, min_size=1, max_size=4), min_size=1, max_size=6), st.data())
def test_joined_words_are_found(words: list[list[str]], data: Any) -> None:
    known = [", ".join(word) for word in words]
    chosen = data.draw(st.lists(st.sampled_from(known), min_size=1, max_size=8))
    expected, found = both(known, ", ".join(chosen), ", ", "")
    assert found is not None and found == expected


def test_a_long_text_is_looked_up_a_few_times_for_each_part() -> None:
    """A value of thousands of parts, and a set of it with thousands of others."""
    dice = random.Random(7)
    whole = ", ".join(f"item {dice.randrange(90)}" for _ in range(3000))
    words = [whole, *(f"item {i}" for i in range(90)), "item 3, item 4"]
    asked: Counter[int] = Counter()

    def knows(word: str) -> bool:
        asked[word.count(", ")] += 1
        return word in words

    pieces = JoinedWords(", ", words, knows, lambda: None)
    others = sorted(f"item {i % 90}" for i in range(3000))
    found = pieces.split(", ".join([*others, whole]))
    assert found is not None and len(found) == 6000
    assert asked[0] == 6000 and asked[2999] == 1 and asked.total() < 6100


def test_equal_parts_of_one_long_value() -> None:
    """Ascending words first, and most of them else."""
    words = ["a", ", ".join(["a"] * 500), ", ".join(["a"] * 501)]
    text = ", ".join(["a"] * 1001)
    assert JoinedWords(", ", words, words.__contains__, lambda: None).split(text) == words[1:]
    many = JoinedWords(", ", words[:2], words[:2].__contains__, lambda: None).split(text)
    assert many == ["a"] * 1001


def test_it_stops_when_it_is_told_to() -> None:
    watch = Watch()
    words = ["a, b", "a", "b"]
    pieces = JoinedWords(", ", words, words.__contains__, watch.check)
    assert pieces.split("a, b, a") == ["a", "b", "a"]
    watch.stop()
    with pytest.raises(StoppedError):
        pieces.split("a, b, a")


def test_blanks_in_a_list_that_does_not_end_well() -> None:
    assert quoted_items("a" + " " * 30_000 + "b, 'c'") == ["a" + " " * 30_000 + "b", "c"]
    assert quoted_items(" " * 30_000 + "'") is None
    assert quoted_items("a " * 30_000 + "'") is None
