"""examples/releases.py: nobody in a small crowd beside a ledger, and many without."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parents[2] / "examples" / "releases.py"


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    folder = tmp_path_factory.mktemp("releases")
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--quick", "--out", str(folder)],
        capture_output=True, text=True, timeout=500, check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    with (folder / "releases-adult.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_it_has_every_release(lines: list[dict[str, str]]) -> None:
    found = [(line["churn"], line["against"], int(line["release"])) for line in lines]
    assert found == [
        (churn, against, release) for churn in ("random", "clustered")
        for against in ("nobody", "presence", "absence") for release in (1, 2, 3)
    ]


def test_made_anew_many_end_alone(lines: list[dict[str, str]]) -> None:
    last = [x for x in lines if x["against"] == "nobody" and x["release"] == "3"]
    for line in last:
        assert int(line["crowd"]) == 1
        assert int(line["alone"]) > 200
        assert int(line["alone_in_history"]) >= int(line["alone"])


def test_beside_a_ledger_nobody_does(lines: list[dict[str, str]]) -> None:
    for line in lines:
        if line["against"] != "nobody":
            assert int(line["crowd"]) >= 5
            assert int(line["alone"]) == 0
    against_absence = [x for x in lines if x["against"] == "absence"]
    assert all(int(line["alone_in_history"]) == 0 for line in against_absence)


def test_what_it_costs(lines: list[dict[str, str]]) -> None:
    """Room for the data to change, none for a loss of another order."""
    last = {(x["churn"], x["against"]): x for x in lines if x["release"] == "3"}
    first = {(x["churn"], x["against"]): x for x in lines if x["release"] == "1"}
    for key, line in last.items():
        if key[1] == "presence":
            assert float(line["withheld"]) < 2.0
            assert float(line["loss"]) < 1.2 * float(first[key]["loss"])
        if key[1] == "absence":
            assert float(line["withheld"]) < 12.0
            assert float(line["loss"]) < 1.4 * float(first[key]["loss"])
