"""The notebook and the marimo app run from beginning to end, as their users run them."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.slow
def test_the_notebook_runs_and_shows_the_release(tmp_path: Path) -> None:
    nbclient = pytest.importorskip("nbclient", reason="nbclient runs notebooks: pip install it")
    pytest.importorskip("ipykernel", reason="a notebook needs the kernel of ipykernel")
    import nbformat

    notebook = nbformat.read(EXAMPLES / "adult.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "keep it without outputs"
    root = str(EXAMPLES.parent)
    kernel = {"metadata": {"path": str(tmp_path)}}
    client = nbclient.NotebookClient(notebook, timeout=300, resources=kernel)
    paths = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    client.execute(env={**os.environ, "PYTHONPATH": paths})
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", ())]
    shown = [out.get("data", {}) for out in outputs]
    assert any("kanon-release" in data.get("text/html", "") for data in shown)
    assert any("image/png" in data for data in shown)
    assert not any("widget" in kind for data in shown for kind in data)
    said = "".join(out.get("text", "") for out in outputs)
    assert "of the others is wrong" in said
    assert (tmp_path / "adult_released.parquet").exists()


LONG = """
import kanon_sql
frame = {"a": [i * 7919 % 1009 for i in range(3000)], "b": [i * 104729 % 997 for i in range(3000)]}
kanon_sql.release(frame, k=5, method="best", refine_steps=12_000_000, progress=PROGRESS)
"""


@pytest.mark.slow
@pytest.mark.parametrize("progress", [True, False])
def test_a_long_call_shows_how_far_it_is_below_its_cell(progress: bool) -> None:
    nbclient = pytest.importorskip("nbclient", reason="nbclient runs notebooks: pip install it")
    pytest.importorskip("ipykernel", reason="a notebook needs the kernel of ipykernel")
    from nbformat.v4 import new_code_cell, new_notebook

    notebook = new_notebook(cells=[new_code_cell(LONG.replace("PROGRESS", str(progress)))])
    paths = os.pathsep.join(filter(None, [str(EXAMPLES.parent), os.environ.get("PYTHONPATH")]))
    client = nbclient.NotebookClient(notebook, timeout=300)
    client.execute(env={**os.environ, "PYTHONPATH": paths})
    said = "".join(out.get("text", "") for out in notebook.cells[0].outputs)
    assert ("kanon_sql: refining" in said) == progress
    assert not progress or " steps/s" in said


@pytest.fixture
def explore() -> Iterator[Any]:
    """The app as a module."""
    pytest.importorskip("marimo", reason="examples/explore.py is an app of marimo: pip install it")
    pytest.importorskip("matplotlib")
    spec = importlib.util.spec_from_file_location("explore", EXAMPLES / "explore.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    module.released.cache_clear()


@pytest.mark.slow
def test_the_app_shows_risk_against_loss(explore: Any) -> None:
    outputs, known = explore.app.run()
    risks, losses = known["risks"], known["losses"]
    assert risks == sorted(risks, reverse=True) and losses == sorted(losses)
    assert risks[explore.KS.index(5)] == 20.0
    assert known["name"] == explore.METHODS[0] and known["release"].rows == 3000
    figures = [out for out in outputs if type(out).__name__ in ("Figure", "Shown")]
    assert len(figures) == 1
