"""Texts that Arrow reads all at once are the numbers that they are one by one."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.audit import text as text_module
from kanon_sql.audit.text import values_as_numbers

ONE_BY_ONE = {
    "DOUBLE": text_module._number, "DECIMAL(9,2)": text_module._number,
    "FLOAT": text_module._single, "DATE": text_module._day, "TIMESTAMP": text_module._moment,
    "TIMESTAMP_NS": text_module._moment, "TIME": text_module._clock,
}
NUMBERS = [
    "1", "-2.50", "007", "4.35e3", "1E-5", "-0", "0.1", "16777217", "123456789012345678901234567",
    "1e-400", "1e999", "3.4028236e38", "+5", "1.", ".5", "\u0661\u0662", "0.1\n", "\n1", "1 ", "x",
    "", "nan", "inf", "1_000",
]
MOMENTS = [
    "2020-01-31", "1600-02-29", "0001-01-01", "0000-12-31", "9999-12-31", "0044-03-15 (BC)",
    "2020-01-31 10:11:12", "2020-01-31 10:11:12.5", "1969-12-31 23:59:59.999999",
    "2020-01-31 10:11:12.123456789", "2020-01-31T10:00:00", "2020-01-31 10:00",
    "2020-01-31 10:11:12+02", "294247-01-10 04:00:54.775806", "12:30:01.25", "2020-01-31 ",
]
IMPOSSIBLE = ["2020-02-30", "2021-02-29 00:00:00", "2020-01-31 23:59:60", "2020-13-01"]


def slowly(texts: list[str], kind: str) -> list[float]:
    parse = ONE_BY_ONE[kind]
    return [float("nan") if (value := parse(text)) is None else value for text in texts]


@pytest.mark.parametrize("kind", ONE_BY_ONE)
@pytest.mark.parametrize("texts", [NUMBERS + MOMENTS, NUMBERS + MOMENTS + IMPOSSIBLE, []])
def test_texts_as_numbers(kind: str, texts: list[str]) -> None:
    found = values_as_numbers(pa.array(texts, pa.string()), kind)
    assert found.dtype == np.float64
    assert np.array_equal(found, slowly(texts, kind), equal_nan=True)


@pytest.mark.parametrize("kind", ONE_BY_ONE)
@pytest.mark.parametrize("text", NUMBERS + MOMENTS + IMPOSSIBLE)
def test_a_text_alone(kind: str, text: str) -> None:
    found = values_as_numbers(pa.array([text]), kind)
    assert np.array_equal(found, slowly([text], kind), equal_nan=True)


@given(st.lists(st.one_of(
    st.floats().map(repr), st.decimals().map(str), st.integers().map(str), st.datetimes().map(str),
    st.dates().map(str), st.text("0123456789.-+eE: ", max_size=12),
)), st.sampled_from(sorted(ONE_BY_ONE)))
def test_any_texts(texts: list[str], kind: str) -> None:
    found = values_as_numbers(pa.array(texts, pa.string()), kind)
    assert np.array_equal(found, slowly(texts, kind), equal_nan=True)


def test_it_can_be_stopped() -> None:
    def check() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        values_as_numbers(pa.array(["12:30:01", "12:30:02"]), "TIME", check)
