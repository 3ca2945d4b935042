"""The example of models on released rows: its models, its scores, and what docs/ says of them."""

from __future__ import annotations

import csv
import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
PATH = ROOT / "examples" / "model_survives.py"
PAGE = ROOT / "docs" / "model-survives.md"
ROW = re.compile(r"^\| `?([^|`]+?)`? \|(.*)\|$", re.M)


def load() -> Any:
    """The example as a module."""
    spec = importlib.util.spec_from_file_location("example_model_survives", PATH)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


example = load()


def test_a_logistic_regression_has_the_greatest_likelihood() -> None:
    rng = np.random.default_rng(1)
    x = np.column_stack([np.ones(400), rng.normal(size=(400, 2))])
    y = (rng.random(400) < 1 / (1 + np.exp(-x @ [0.3, 1.0, -2.0]))).astype(float)
    beta = example.logistic(x, y)
    p = 1 / (1 + np.exp(-x @ beta))
    assert np.allclose(x.T @ (y - p), beta, atol=1e-6)  # the gradient is that of the ridge
    assert np.allclose(beta, [0.3, 1.0, -2.0], atol=0.5)


def test_a_linear_regression_finds_its_coefficients() -> None:
    x = np.column_stack([np.ones(9), np.arange(9.0)])
    assert np.allclose(example.linear(x, x @ [2.0, -1.0]), [2.0, -1.0])


@pytest.mark.parametrize(("y", "score"), [
    ([0, 0, 1, 1], [1, 2, 3, 4]), ([0, 1, 0, 1], [1, 1, 1, 1]), ([1, 0, 1, 0, 0], [3, 3, 1, 2, 5]),
])
def test_auc_counts_pairs(y: list[float], score: list[float]) -> None:
    pairs = [(a > b) + (a == b) / 2 for a, one in zip(score, y, strict=True) if one
             for b, other in zip(score, y, strict=True) if not other]
    found = example.auc(np.array(y, float), np.array(score, float))
    assert found == pytest.approx(sum(pairs) / len(pairs))


def test_r2_is_0_for_the_mean() -> None:
    y = np.array([1.0, 2.0, 6.0])
    assert example.r2(y, y) == 1.0 and example.r2(y, np.full(3, 3.0)) == 0.0
    assert example.mae(y, np.full(3, 3.0)) == 2.0


def numbers(cells: str) -> list[float]:
    return [float(cell.replace(",", "")) for cell in cells.split("|")]


def tables() -> list[dict[str, list[float]]]:
    """The tables of the page, in their order."""
    parts = re.findall(r"(?:^\|.*\n)+", PAGE.read_text(encoding="utf-8"), re.M)
    return [
        {name: numbers(cells) for name, cells in ROW.findall(part) if re.search(r"\d", cells)}
        for part in parts
    ]


def check(folder: Path, digits: tuple[int, int, int]) -> None:
    """What the page says is what the script has written."""
    with (folder / "model-survives.csv").open(encoding="utf-8") as source:
        lines = list(csv.DictReader(source))
    for (task, names), shown in zip(
        ((example.TASKS[0], ("held_out", "worst_change", "own_rows", "categories")),
         (example.TASKS[1], ("held_out", "worst_change", "own_rows", "error"))),
        tables()[:2], strict=True,
    ):
        found = {
            ", ".join(filter(None, (f"k={line['k']}", line["options"])))
            if line["k"] != "0" else "original rows": [float(line[name]) for name in names]
            for line in lines if line["task"] == task.name
        }
        assert shown.keys() == found.keys()
        for name, values in shown.items():
            assert values[:3] == pytest.approx(found[name][:3], abs=digits[0] * 0.001)
            assert values[3] == pytest.approx(found[name][3], abs=digits[1])
    with (folder / "model-survives-means.csv").open(encoding="utf-8") as source:
        means = list(csv.DictReader(source))
    shown = tables()[2]
    found = {
        f"{one['column']}, k={one['k']}": [float(one[name]) for name in
                                           ("original", "centroid", "median", "middle", "spread")]
        for one in means if f"{one['column']}, k={one['k']}" in shown
    }
    assert shown.keys() == found.keys()
    for name, values in shown.items():
        assert values[:4] == pytest.approx(found[name][:4], abs=0.51)
        assert values[4] == pytest.approx(found[name][4], abs=0.0051)


@pytest.mark.slow
def test_the_page_shows_what_the_script_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert example.main(["--out", str(tmp_path)]) == 0
    assert "Adult: salary class, 5 splits, AUC" in capsys.readouterr().out
    check(tmp_path, (2, 2, 0))
    assert (tmp_path / "model-survives.png").stat().st_size > 5000


@pytest.mark.slow
def test_a_quick_run_keeps_the_order(tmp_path: Path) -> None:
    assert example.main(["--quick", "--out", str(tmp_path)]) == 0
    with (tmp_path / "model-survives.csv").open(encoding="utf-8") as source:
        lines = list(csv.DictReader(source))
    for task in example.TASKS:
        found = {(line["k"], line["options"]): float(line["held_out"])
                 for line in lines if line["task"] == task.name}
        ks = [k for k, more in task.releases if not more]
        assert found[str(ks[0]), ""] > found[str(ks[-1]), ""]
        assert found["0", ""] > found[str(ks[-1]), ""]
