"""The examples of docs/spark.md run, and print what the page says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "spark.md"
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n(?:^```text\n(.*?)^```\n)?", re.DOTALL | re.M)


def test_the_examples_of_the_page_run(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    found = EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))
    assert len(found) >= 3
    for code, printed in found:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(code, PAGE.name, "exec"), names)
        assert output.getvalue() == printed
