"""What is rounded keeps away from its bound by the same in Python and in SQL."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from kanon_sql.privacy.rational import SURE


@pytest.mark.parametrize("name", ["entropy", "delta_fits", "model_line", "beta_enhanced"])
def test_sql_is_as_sure(name: str) -> None:
    text = (files("kanon_sql.sql") / "models.sql").read_text(encoding="utf-8")
    (block,) = re.findall(rf"(?ms)^-- name: {name}\n(.*?)(?=\Z|^-- name: )", text)
    written = re.findall(r"\b1e-\d+", block)
    assert written
    assert {float(number) for number in written} == {SURE}
