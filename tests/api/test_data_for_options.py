"""A frame, or a column of one, given for an option: refused where it means nothing, and none of its
values told."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import kanon_sql
from kanon_sql.call.options import OPTIONS
from kanon_sql.errors import OptionError, shown

FRAME = pd.DataFrame({
    "zip": [f"SECRET{i}" for i in range(5)], "age": range(5), "ill": ["flu", "gout"] * 2 + ["flu"],
})
POLARS = pl.from_pandas(FRAME)
COLUMNS = [FRAME["zip"], POLARS["zip"], pa.array(FRAME["zip"]), pa.chunked_array([FRAME["zip"]])]
ASKED: dict[str, Any] = {
    "k": 2, "quasi_identifiers": ["age"], "identifiers": ["zip"], "sensitive": ["ill"],
}


def refused(name: str, value: Any) -> bool:
    """Whether a value is refused for an option, in a sentence without any of its values."""
    asked: dict[str, Any] = {"quasi_identifiers": ["age"], name: value}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            kanon_sql.k_anonymity(FRAME, **asked)
        except kanon_sql.KanonError as error:
            assert "SECRET" not in str(error), (name, str(error))
            return True
    return False


@pytest.mark.parametrize("data", [*COLUMNS, FRAME, POLARS, POLARS.lazy(), pa.table(POLARS)],
                         ids=lambda data: f"{type(data).__module__}.{type(data).__name__}")
def test_none_of_its_values_is_in_a_message(data: Any) -> None:
    for name, value in (("k", data), ("quasi_identifiers", [data]), ("hierarchies", {"age": data}),
                        ("column_weights", {"age": data})):
        assert refused(name, value)


@pytest.mark.slow
@pytest.mark.parametrize("data", [FRAME["zip"], POLARS.lazy()])
def test_no_option_tells_of_it(data: Any) -> None:
    for name, option in OPTIONS.items():
        assert refused(name, data) or option.relation or name == "sensitive_values", name


@pytest.mark.parametrize(("given", "said"), [
    ({"k": FRAME["age"]}, "k is given as a Series, which is data. Write the value itself, or the "
                          "name of a column."),
    ({"hierarchies": FRAME}, "hierarchies is given as a DataFrame, which is data. Give a frame of "
                             "levels for a column, such as {'zip': levels}."),
    ({"hierarchies": {"age": POLARS["age"]}}, "hierarchies is given as a Series, which is data. "
                                              "Give a frame of levels for a column, such as "
                                              "{'zip': levels}."),
    ({"k": ["SECRET"] * 50}, "k must be a whole number of 1 or more. Got a list of 50."),
    ({"method": "z" * 200}, f"The method '{'z' * 99}... is not known."),
])
def test_the_message(given: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError) as refused:
        kanon_sql.anonymize(FRAME, **{**ASKED, **given})
    assert str(refused.value).startswith(said)


def test_where_names_or_values_are_listed_an_index_an_array_or_a_column_may_list_them() -> None:
    expected = kanon_sql.anonymize(FRAME, **ASKED, seed=1)
    for names in (FRAME.columns[1:2], np.array(["age"]), ("age",)):
        found = kanon_sql.anonymize(FRAME, **{**ASKED, "quasi_identifiers": names}, seed=1)
        assert found.equals(expected)
    ranked = {"age": {"kind": "ordered", "ranking": FRAME["age"]}}
    found = kanon_sql.anonymize(FRAME, **ASKED, hierarchies=ranked, method="full_domain")
    assert len(found) == 5


@pytest.mark.parametrize(("value", "text"), [
    (None, "None"), ("a'b", '"a\'b"'), (1.5, "1.5"), ([1, "b"], "[1, 'b']"), ({"a": 1}, "{'a': 1}"),
    (list(range(1234)), "a list of 1,234"), (dict.fromkeys(range(99)), "a dict of 99"),
    (object(), "an object"), (10**200, f"1{'0' * 99}..."),
])
def test_what_a_message_repeats(value: object, text: str) -> None:
    assert shown(value) == text
