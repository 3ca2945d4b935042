"""The examples that rerun du2009: what they print follows from their tables; figures are drawn."""

from __future__ import annotations

import csv
import importlib.util
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
ALGORITHMS = ("random_fold", "random_spread", "sorted_fold", "sorted_spread")


def load(name: str) -> Any:
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


example, maps = load("du2009"), load("du2009_maps")


@dataclass(frozen=True)
class Done:
    """A quick run: its exit status, what it printed, the rows of its CSV, and its folder."""

    status: int
    told: str
    rows: list[dict[str, str]]
    folder: Path


def quick(module: Any, table: str, folder: Path) -> Done:
    with pytest.MonkeyPatch.context() as patch:
        told: list[str] = []
        patch.setattr(module, "show", lambda *texts: told.extend(texts))
        status = module.main(["--quick", "--out", str(folder / "new")])
    with (folder / "new" / table).open(encoding="utf-8") as source:
        return Done(status, "\n".join(told), list(csv.DictReader(source)), folder / "new")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    return quick(example, "du2009.csv", tmp_path_factory.mktemp("du2009"))


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Done:
    return quick(maps, "du2009_maps.csv", tmp_path_factory.mktemp("maps"))


@pytest.fixture(scope="module")
def con() -> Any:
    """A connection with the tables of the maps, thinned."""
    return maps.prepared(maps.THIN)


Columns = dict[str, Any]


def columns(done: Done, name: str) -> Columns:
    """The numbers of one data set; largest classes in records, float64, shape (k's,)."""
    rows = [row for row in done.rows if row["data"] == name]
    found = {key: np.array([float(row[key]) for row in rows]) for key in rows[0] if key != "data"}
    for key in ("lower_bound", "theorem_7", *ALGORITHMS):
        found[f"{key}_ratio"] = found[key]
        found[key] = np.round(found[key] * found["k"])
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("name", "items", "commonest", "rarest"),
                         [("FEMALE-1990", 4275, 2629, 1), ("MALE-1990", 1219, 3318, 4)])
def test_k_runs_from_the_commonest_name_to_two_classes(
    done: Done, name: str, items: int, commonest: int, rarest: int
) -> None:
    sizes, found = example.names(example.SETS[name]), columns(done, name)
    assert (len(sizes), sizes.max(), sizes.min()) == (items, commonest, rarest)
    last = example.last_k(sizes, 0)
    assert found["k"].tolist() == list(range(commonest, last + 1, example.STEP))
    counts = {
        k: [len(example.levels(sizes, k, (order, "fold"), 0)) for order in example.SEQUENCES]
        for k in (last, last + 1)
    }
    assert counts[last] == [2, 2] and min(counts[last + 1]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", example.SETS)
def test_all_ratios_are_between_the_bounds(done: Done, name: str) -> None:
    found, most = columns(done, name), example.names(example.SETS[name]).max()
    k, total = found["k"], example.names(example.SETS[name]).sum()
    assert np.array_equal(found["theorem_7"], np.maximum(k - 1 + most, 3 * k - 3))
    for key in ALGORITHMS:
        assert np.all(found[f"{key}_ratio"] >= 1.0)
        assert np.all((found["lower_bound"] <= found[key]) & (found[key] <= found["theorem_7"]))
        classes = found[f"{key}_classes"]
        assert np.all(np.diff(classes) <= 0) and classes[0] > 20 and classes[-1] == 2
        assert np.all((classes * k <= total) & (total <= classes * found[key]))
    assert done.status == 0 and "BROKEN" not in done.told


def is_superior(found: Columns) -> list[bool]:
    pairs = [(found[f"{order}_spread"], found[f"{order}_fold"]) for order in example.SEQUENCES]
    return [bool(np.all(ours <= theirs) and np.count_nonzero(ours < theirs) > len(ours) / 2)
            for ours, theirs in pairs]


def is_often_better_at_random(found: Columns) -> list[bool]:
    return [3 * np.count_nonzero(found[f"random_{way}"] < found[f"sorted_{way}"]) >= len(found["k"])
            for way in example.WAYS]


def suffers_where_classes_drop(found: Columns) -> list[bool]:
    rises = {}
    for key in ALGORITHMS:
        ratio, classes = found[key] / found["k"], found[f"{key}_classes"]
        rises[key] = [ratio[i] - ratio[i - 1] for i in range(1, len(ratio))
                      if classes[i] < classes[i - 1]]
    frequent = [4 * sum(rise > 0 for rise in each) >= 3 * len(each) for each in rises.values()]
    means = {key: sum(each) / len(each) for key, each in rises.items()}
    return frequent + [means[f"{order}_fold"] >= max(0.0, 1.5 * means[f"{order}_spread"])
                       for order in example.SEQUENCES]


def is_far_from_the_worst(found: Columns) -> list[bool]:
    k = found["k"]
    return [10 * np.count_nonzero(2 * (found[key] - k) <= found["theorem_7"] - k) >= 9 * len(k)
            for key in ALGORITHMS]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "holds"), [
    (1, is_superior), (2, is_often_better_at_random),
    (3, suffers_where_classes_drop), (4, is_far_from_the_worst),
])
def test_the_verdicts_follow_from_the_numbers(
    done: Done, number: int, holds: Callable[[Columns], list[bool]]
) -> None:
    part = done.told.split(f"\n{number}. ")[1].split("\n\n")[0]
    expected = [each for name in example.SETS for each in holds(columns(done, name))]
    assert [said == "yes" for said in re.findall(r"^     (yes|NO) ", part, re.M)] == expected
    verdict = re.search(rf"^  (agrees|DIFFERS): +{number}\. ", part, re.M)
    assert verdict is not None and (verdict[1] == "agrees") is all(expected)


def test_the_shares_that_are_told_are_those_of_the_table(done: Done) -> None:
    told = re.findall(r"smaller at ([\d.]+)% of the k, larger at ([\d.]+)%", done.told)
    expected = []
    for ours, theirs in (("{}_spread", "{}_fold"), ("random_{}", "sorted_{}")):
        for name in example.SETS:
            found = columns(done, name)
            for each in example.SEQUENCES if ours == "{}_spread" else example.WAYS:
                one, other = found[ours.format(each)], found[theirs.format(each)]
                expected.append((f"{100 * np.mean(one < other):.1f}",
                                 f"{100 * np.mean(one > other):.1f}"))
    assert told == expected


def test_a_wrong_packing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, ks = np.array([5, 4, 3, 2, 2]), np.array([6, 7])
    assert example.measured("x", sizes, ks, 0).wrong == []
    monkeypatch.setattr(example, "levels", lambda *_: np.array([11, 5]))
    wrong = example.measured("x", sizes, ks, 0).wrong
    assert "x, k = 6: Random Fold has a class of 5" in wrong and len(wrong) == 8
    monkeypatch.setattr(example, "levels", lambda *_: np.array([20]))
    assert len(example.measured("x", sizes, ks, 0).wrong) == 8
    monkeypatch.setattr(example, "levels", lambda *_: np.array([7]))
    assert len(example.measured("x", sizes, ks, 0).wrong) == 8  # 16 need 8 in one of two classes


def test_the_exit_status_is_1_if_a_packing_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def short(sizes: Any, k: int, *_: Any) -> Any:
        return np.array([k - 1, 2 * k]) if 3 * k < sizes.sum() else np.array([sizes.sum()])

    monkeypatch.setattr(example, "levels", short)
    monkeypatch.setattr(example, "draw", lambda *_: None)
    monkeypatch.setattr(example, "report", lambda *_: None)
    assert example.main(["--quick", "--out", str(tmp_path)]) == 1
    assert "BROKEN: MALE-1990, k = 3318: Sorted Spread has a class of 3317" in (
        capsys.readouterr().out
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["figure7", "regions", "rectangles"])
@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_the_figures_are_drawn(done: Done, drawn: Done, name: str, suffix: str) -> None:
    folder = done.folder if name == "figure7" else drawn.folder
    assert (folder / f"du2009-{name}.{suffix}").stat().st_size > 5000


@pytest.mark.slow
def test_the_maps_keep_their_guarantees(drawn: Done) -> None:
    assert drawn.status == 0 and "BROKEN" not in drawn.told
    assert [row["metric"] for row in drawn.rows] == list(maps.METRICS)
    for method in ("zip_regions", "gps_rectangles"):
        found = {row["metric"]: float(row[method] or "nan") for row in drawn.rows}
        assert 1.0 <= found["ratio"] <= found["guaranteed_ratio"] <= 5.0
        assert found["ratio"] == found["class_size_max"] / found["lower_bound"]
        assert found["overfull_ratio"] == found["class_size_max"] / 50
        assert found["classes"] * 50 <= found["rows"] - found["rows_suppressed"]


def test_counties_are_those_of_the_zip_codes(con: Any) -> None:
    found = dict(con.execute("SELECT code, fips FROM zips").fetchall())
    assert found["10025"] == "36061"  # New York County
    assert found["60645"] == "17031"  # Cook County
    wanted = {("ST LOUIS", "MO"): "29189", ("SAINT LOUIS CITY", "MO"): "29510",
              ("DE KALB", "GA"): "13089", ("LAFOURCHE", "LA"): "22057",
              ("RICHMOND CITY", "VA"): "51760", ("JAMES CITY", "VA"): "51095"}
    for (name, state), fips in wanted.items():
        assert con.execute(
            "SELECT fips FROM counties WHERE name = plain(?) AND state = ?", [name, state]
        ).fetchall() == [(fips,)]
    assert con.execute(
        "SELECT count(*), count(DISTINCT (state, name)) FROM counties"
    ).fetchall()[0] == (3240, 3240)  # no name means two counties
    matched, every = con.execute("SELECT count(fips), count(*) FROM zips").fetchall()[0]
    assert matched > 0.99 * every


def test_links_are_those_of_the_file_but_for_a_county_mixed_up_with_another(con: Any) -> None:
    near = maps.links(con)
    assert len(near["27165"]) == 5 and maps.MIXED_UP not in near["27165"]
    assert near["36061"] == {"34003", "34017", "36005", "36047", "36081"}
    assert all(one in near[other] for one, others in near.items() for other in others)


def test_regions_and_rectangles_are_classes(con: Any) -> None:
    found = maps.regions(con, maps.REGIONS.format(k=50))
    members = [fips for region, _ in found for fips in region]
    assert len(members) == len(set(members)) and all(re.fullmatch(r"\d{5}", m) for m in members)
    counts = dict(con.execute("SELECT fips, count(*) FROM records GROUP BY fips").fetchall())
    for region, size in found:
        assert size == sum(counts.get(fips, 0) for fips in region) >= 50
    boxes = maps.rectangles(con, maps.RECTANGLES.format(k=50))
    points = con.execute("FROM positions").fetchall()
    assert sum(box.size for box in boxes) == len(points)
    for box in boxes:
        held = sum(box.south <= lat <= box.north and box.west <= lon <= box.east
                   for lat, lon in points)
        assert held >= box.size >= 50


def test_what_contradicts_a_guarantee_is_told() -> None:
    good = {"ratio": 2.0, "guaranteed_ratio": 2.0, "class_size_max": 9.0}
    assert maps.broken("m", 5, [5, 9], good) == []
    assert len(maps.broken("m", 6, [5, 9], good)) == 1
    assert len(maps.broken("m", 5, [5, 8], good)) == 1
    assert len(maps.broken("m", 5, [5, 9], good | {"ratio": 2.1})) == 1
    assert len(maps.broken("m", 5, [5, 9], good | {"guaranteed_ratio": None})) == 1
    near = {"a": {"b"}, "b": {"a", "c"}, "c": {"b"}}
    assert maps.connected({"a", "b", "c"}, set(), near) and maps.connected({"a", "c"}, {"b"}, near)
    assert not maps.connected({"a", "c"}, set(), near)
    box = maps.Rectangle(0.0, 1.0, 0.0, 1.0, 5)
    assert not box.overlaps(maps.Rectangle(1.0, 2.0, 0.0, 1.0, 5))
    assert box.overlaps(maps.Rectangle(0.9, 2.0, 0.9, 2.0, 5))


@pytest.mark.parametrize(("name", "wrong"), [
    ("regions", [({"01001", "36061"}, 60)]),
    ("rectangles", [maps.Rectangle(0.0, 1.0, 0.0, 1.0, 60), maps.Rectangle(0.5, 1.5, 0, 1, 60)]),
])
def test_a_wrong_map_is_told(
    con: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, wrong: Any
) -> None:
    monkeypatch.setattr(maps, name, lambda *_: wrong)
    monkeypatch.setattr(maps, "if_drawn", lambda _: None)
    _, told = getattr(maps, f"map_{name}")(con, 50, tmp_path)
    assert told[-1] == {"regions": "the region of 01001 is not connected",
                        "rectangles": "rectangles 0 and 1 overlap"}[name]


@pytest.mark.parametrize("name", ["regions", "rectangles"])
def test_the_exit_status_is_1_if_a_map_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    told = dict.fromkeys(maps.METRICS)
    monkeypatch.setattr(maps, "prepared", lambda _: None)
    for each in ("regions", "rectangles"):
        wrong = [f"{each} are wrong"] if each == name else []
        monkeypatch.setattr(maps, f"map_{each}", lambda *_, wrong=wrong: (told, wrong))
    assert maps.main(["--quick", "--out", str(tmp_path)]) == 1
    assert f"BROKEN: {name} are wrong" in capsys.readouterr().out


@pytest.mark.parametrize("count", [3, 6, 40])
def test_neighbours_have_different_colors(count: int) -> None:
    wheel = {i: {0, 1 + (i % count), 1 + (i - 2) % count} for i in range(1, count + 1)}
    near = wheel | {0: set(range(1, count + 1))}
    found = maps.coloring({i: others - {i} for i, others in near.items()})
    assert all(found[i] != found[j] for i, others in near.items() for j in others - {i})
    assert max(found.values()) < len(maps.COLORS)


def test_the_map_keeps_areas() -> None:
    def area(lat: float, lon: float) -> float:
        a, b, d = maps.albers([(lat, lon), (lat, lon + 0.1), (lat + 0.1, lon)])
        return abs(float(np.linalg.det([b - a, d - a])))

    for lat, lon in ((25.0, -80.0), (37.5, -96.0), (48.0, -123.0)):
        true = np.radians(0.1) * (np.sin(np.radians(lat + 0.1)) - np.sin(np.radians(lat)))
        assert area(lat, lon) == pytest.approx(true, rel=2e-3)


@pytest.mark.parametrize(("module", "given"), [(example, "--seed=-1"), (maps, "--k=1")])
def test_wrong_arguments_are_refused(module: Any, given: str) -> None:
    with pytest.raises(SystemExit):
        module.arguments([given])
