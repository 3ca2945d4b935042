"""The example that compares all methods: its table, what it says of it, and its figure."""

from __future__ import annotations

import csv
import importlib.util
import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kanon_sql.methods import METHODS

pytestmark = pytest.mark.slow

PATH = Path(__file__).parents[2] / "examples" / "guarantees.py"


def load() -> Any:
    """The example as a module."""
    spec = importlib.util.spec_from_file_location("example_guarantees", PATH)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


example = load()


@pytest.fixture(scope="module")
def con() -> Any:
    """A connection with the example's tables."""
    return example.prepared(200, 12, 5)


@dataclass(frozen=True)
class Done:
    """A quick run: its exit status, what it printed, the rows of its CSV, and its folder."""

    status: int
    told: str
    rows: list[dict[str, str]]
    folder: Path

    def table(self, name: str) -> list[dict[str, str]]:
        return [row for row in self.rows if row["table"] == name]

    def part(self, title: str) -> str:
        return self.told.split(f"\n{title}: ")[1].split("\n\n")[0]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    folder = tmp_path_factory.mktemp("guarantees")
    with pytest.MonkeyPatch.context() as patch:
        told: list[str] = []
        patch.setattr(example, "show", lambda *texts: told.extend(texts))
        status = example.main(["--quick", "--out", str(folder)])
    with (folder / "guarantees.csv").open(encoding="utf-8") as source:
        rows = list(csv.DictReader(source))
    return Done(status, "\n".join(told), rows, folder)


def number(row: dict[str, str], name: str) -> float:
    return float(row[name])


def label(row: dict[str, str]) -> str:
    """What the printed tables call it."""
    return ", ".join(filter(None, (row["method"], row["options"].replace("=", " "))))


def comparable(row: dict[str, str]) -> bool:
    return row["k"] != "" and number(row, "rows_suppressed") == 0.0


def test_every_method_is_compared_or_left_out_with_a_reason(done: Done) -> None:
    assert {row["method"] for row in done.rows} | set(example.LEFT_OUT) == set(METHODS)
    for name, why in example.LEFT_OUT.items():
        assert f"{name}, as {why}" in done.told
    for table, rows, k in (
        ("all methods", 600, "5"), ("pairs", 40, "2"), ("triples", 40, "3"), ("figure 2", 300, "20")
    ):
        runs = done.table(table)
        assert {number(row, "rows") for row in runs} == {rows}
        assert {row["k"] for row in runs} - {""} == {k}
        assert [row["method"] for row in runs if row["k"] == ""] == (
            ["cellular"] if table == "all methods" else []
        )
    assert {row["method"] for row in done.table("pairs")} >= {"pairs", "forest", "k_member"}


def test_each_ratio_is_within_what_is_guaranteed(done: Done) -> None:
    promised = [row for row in done.rows if METHODS[row["method"]].geometry().objective]
    assert len(promised) >= 15
    for row in promised:
        assert 1.0 <= number(row, "ratio") <= number(row, "guaranteed_ratio"), row
        assert number(row, "ratio") == number(row, "cost") / number(row, "lower_bound")
    assert done.status == 0 and "BROKEN" not in done.told
    assert all(row["ratio"] == "" for row in done.rows if row not in promised)


@pytest.mark.parametrize(
    ("objective", "quantity"),
    [("radius", "max_radius"), ("cellular", "cellular_cost"), ("cells", "cells")],
)
def test_no_method_is_below_a_bound_of_another(
    done: Done, objective: str, quantity: str
) -> None:
    compared = 0
    for table in {row["table"] for row in done.rows}:
        runs = [row for row in done.table(table) if row["k"] != ""]
        bounds = [number(row, "lower_bound") for row in runs if row["objective"] == objective]
        values = [number(row, quantity) for row in runs if comparable(row) and row[quantity]]
        compared += len(bounds) * len(values)
        assert min(values, default=math.inf) >= max(bounds, default=0.0) * (1.0 - 1e-9)
    assert compared >= 20


def test_suppressed_cells_are_what_forest_pairs_and_triples_pay_for(done: Done) -> None:
    paid = [row for row in done.rows if row["objective"] == "cells"]
    assert {row["method"] for row in paid} == {"forest", "pairs", "triples"}
    for row in paid:
        assert number(row, "cells") == number(row, "cost") > 0.0
    for row in done.table("all methods"):
        if row["cells"]:
            assert 8.0 * number(row, "rows_suppressed") <= number(row, "cells") <= 8.0 * 600


def test_the_lines_under_the_tables_say_what_the_numbers_show(done: Done) -> None:
    titles = {"all methods": "All methods", "figure 2": "Figure 2",
              "pairs": "For k = 2 only", "triples": "For k = 3 only"}
    checked = 0
    for table, title in titles.items():
        part = done.part(title)
        for quantity, (text, _) in example.MEASURED.items():
            said = re.search(rf"least {text} ([\d,.]+)(?: \(.*\))?: (.*)", part)
            if said is None:
                continue
            values = {label(row): number(row, quantity)
                      for row in done.table(table) if comparable(row)}
            least = min(values.values())
            assert said[2] == "; ".join(n for n, value in values.items() if value == least)
            assert float(said[1].replace(",", "")) == pytest.approx(least, abs=0.06)
            checked += 1
        ratios = {label(row): number(row, "ratio") for row in done.table(table) if row["ratio"]}
        worst = max(ratios, key=lambda name: ratios[name])
        assert f"all {len(ratios)} ratios are within" in part
        assert part.endswith(f"the largest is {ratios[worst]:.2f}: {worst}")
    assert checked == 5 + 2 + 1 + 1


def test_the_figure_is_drawn(done: Done) -> None:
    for suffix in ("png", "svg"):
        assert (done.folder / f"guarantees-figure2.{suffix}").stat().st_size > 5000


@pytest.mark.parametrize("method", ["r_gather", "r_cellular"])
def test_circles_contain_their_points(done: Done, con: Any, method: str) -> None:
    found = example.clusters(con, method)
    points = [point for cluster in found for point in cluster.members]
    assert len(points) == sum(cluster.size for cluster in found) == example.POINTS
    for cluster in found:
        assert len(cluster.members) == cluster.size >= example.K_OF_POINTS
        reach = max(math.dist(cluster.center, point) for point in cluster.members)
        assert reach * (1.0 - 1e-9) <= cluster.radius <= reach * 1.1
    for axis in zip(*points, strict=True):  # standard deviations from the mean, else no circles
        assert math.fsum(axis) / len(axis) == pytest.approx(0.0, abs=1e-9)
        assert math.fsum(x * x for x in axis) / len(axis) == pytest.approx(1.0)
    (row,) = (row for row in done.table("figure 2") if row["method"] == method)
    radii = [
        (max(math.dist(cluster.center, point) for point in cluster.members), cluster.size)
        for cluster in found
    ]
    assert number(row, "max_radius") == pytest.approx(max(radii)[0])
    assert number(row, "cellular_cost") == pytest.approx(sum(r * size for r, size in radii))


@pytest.mark.parametrize(
    ("table", "source", "count"),
    [("points", f"SELECT agi, emcontrb FROM '{example.CENSUS}'", example.POINTS),
     ("many", "FROM adult", 200), ("few", "FROM adult", 12)],
)
def test_the_samples_are_rows_of_the_tables(
    con: Any, table: str, source: str, count: int
) -> None:
    assert con.execute(f"FROM {table} EXCEPT ALL {source}").fetchall() == []
    assert con.execute(f"SELECT count(*) FROM {table}").fetchall() == [(count,)]


def a_run(method: str, k: int | None = 5, **found: float | None) -> Any:
    names = (*example.MEASURED, "rows_suppressed", "cost", "lower_bound", "ratio",
             "guaranteed_ratio", "seconds_group", "rows", "classes")
    return example.Run(method, "", k, {**dict.fromkeys(names, 0.0), "lower_bound": None,
                                       "ratio": None, "guaranteed_ratio": None, **found})


def test_what_contradicts_a_guarantee_is_told() -> None:
    good = a_run("r_gather", max_radius=3.0, lower_bound=2.0, ratio=1.5, guaranteed_ratio=2.0)
    assert example.broken([good, a_run("mdav", max_radius=2.0)]) == []
    bad = a_run("r_gather", max_radius=5.0, lower_bound=2.0, ratio=2.5, guaranteed_ratio=2.0)
    assert example.broken([bad]) == ["r_gather has the ratio 2.5, above 2"]
    assert example.broken([good, a_run("mdav", max_radius=1.9)]) == [
        "mdav has the max_radius 1.9, below 2"
    ]
    fewer_rows = a_run("mdav", max_radius=1.9, rows_suppressed=1.0)
    no_k = a_run("cellular", None, lower_bound=9.0, cellular_cost=1.0)
    assert example.broken([good, fewer_rows, no_k]) == []


def test_the_exit_status_is_1_if_a_guarantee_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = a_run("forest", cells=9.0, lower_bound=1.0, ratio=90.0, guaranteed_ratio=10.0)
    monkeypatch.setattr(example.Lab, "run", lambda *_: bad)
    monkeypatch.setattr(example, "figure_2", lambda *_: None)
    assert example.main(["--quick", "--out", str(tmp_path / "new")]) == 1
    assert "BROKEN: forest has the ratio 90, above 10" in capsys.readouterr().out


@pytest.mark.parametrize("given", [["--k", "1"], ["--rows", "30"], ["--few", "5"]])
def test_wrong_arguments_are_refused(given: list[str]) -> None:
    with pytest.raises(SystemExit):
        example.arguments(given)
