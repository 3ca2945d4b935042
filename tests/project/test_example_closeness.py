"""The example of t-closeness: the algorithms of the paper, and what it says of them and of ours."""

from __future__ import annotations

import csv
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_sql.privacy import Closeness
from tests.privacy.reference import passes, value
from tests.support.thoroughness import examples

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def beside() -> Iterator[None]:
    """The folder of the examples, as it is where a script of it is started."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EXAMPLES))
        yield


def load(name: str) -> Any:
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


paper = load("soria_comas2015")


def records_of(n: int, seed: int, values: int) -> Any:
    """Random records, with ties in the confidential values unless there are many of them."""
    rng = np.random.default_rng(seed)
    confidential = rng.permutation(n) if values >= n else rng.integers(0, values, n)
    places = rng.integers(0, 9, (n, 2)) * 1.0
    return paper.Records(places, np.unique(confidential, return_inverse=True)[1].astype(np.int64))


@pytest.mark.parametrize("name", list(paper.ALGORITHMS))
@settings(max_examples=examples(60))
@given(
    st.integers(2, 60), st.integers(0, 10**6), st.integers(2, 5), st.sampled_from((3, 99)),
    st.sampled_from((0.05, 0.15, 0.25, 0.5)),
)
def test_the_algorithms_keep_k_and_t(
    name: str, n: int, seed: int, k: int, values: int, t: float
) -> None:
    records = records_of(n, seed, values)
    clusters = paper.ALGORITHMS[name](records, min(k, n), t)
    assert sorted(np.concatenate(clusters).tolist()) == list(range(n))
    assert min(map(len, clusters)) >= min(k, n)
    model = Closeness(column="x", t=t, distance="ordered")
    table = records.rank.tolist()
    for cluster in clusters:
        own = records.rank[cluster].tolist()
        assert passes(model, own, table)
        assert records.distance(cluster) == pytest.approx(float(value(model, own, table)))


@settings(max_examples=examples(60))
@given(st.integers(2, 80), st.integers(0, 10**6), st.integers(2, 6), st.sampled_from((0.03, 0.1)))
def test_slices_bring_every_cluster_near_enough(n: int, seed: int, k: int, t: float) -> None:
    """What the paper proves of algorithm 3, where the slices are equally large and no two
    confidential values are equal: no cluster has to be merged."""
    records = records_of(n, seed, n)
    clusters = paper.t_first(records, min(k, n), t)
    sizes = {len(cluster) for cluster in clusters}
    for size in sizes if len(sizes) == 1 else ():
        bound = (n - size) / (2.0 * (n - 1) * size)
        assert max(map(records.distance, clusters)) <= bound + 1e-12
        assert bound <= t + 1e-12


@settings(max_examples=examples(60))
@given(st.integers(6, 40), st.integers(0, 10**6), st.integers(2, 5))
def test_an_exchange_is_the_best_there_is(n: int, seed: int, k: int) -> None:
    """What algorithm 2 does with the next record, by the distances of all clusters it could make;
    with all others, it only comes nearer."""
    records = records_of(n, seed, 12)
    nearest = records.nearest(np.arange(n), seed % n)
    others = [np.append(np.delete(nearest[:k], i), nearest[k]) for i in range(k)]
    before = records.distance(nearest[:k])
    expected = before if before <= 0.1 else min(before, *map(records.distance, others))
    one = paper.exchanged(records, nearest[: k + 1], k, 0.1)
    assert records.distance(one) == pytest.approx(expected)
    found = paper.exchanged(records, nearest, k, 0.1)
    assert records.distance(found) <= expected + 1e-9
    assert len(set(found.tolist())) == k


def test_census_is_standardized() -> None:
    records = paper.census("FICA")
    assert len(records) == 1080 and np.allclose(records.places.std(axis=0), 1.0)
    assert records.loss([np.arange(1080)]) == pytest.approx(100.0)
    assert records.distance(np.arange(1080)) == 0.0


@pytest.mark.slow
def test_ours_loses_less_than_the_best_of_the_three(
    beside: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    example = load("closeness")
    assert example.main(["--quick", "--out", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "Ours loses less in 4 of 4 cells" in told and "BROKEN" not in told
    with (tmp_path / "closeness-census.csv").open(encoding="utf-8") as source:
        cells = list(csv.DictReader(source))
    assert len(cells) == 4
    for cell in cells:
        best = min(float(cell[name]) for name in paper.ALGORITHMS)
        assert float(cell["ours"]) < best
        assert int(cell["least_class"]) >= int(cell["k"])
        assert float(cell["distance"]) <= float(cell["t"]) + 1e-12
    with (tmp_path / "closeness-adult.csv").open(encoding="utf-8") as source:
        prices = list(csv.DictReader(source))
    assert {row["sensitive"] for row in prices} == set(example.DEMANDS)
    for row in prices:
        (without,) = (float(other["total_il_grouping"]) for other in prices
                      if other["sensitive"] == row["sensitive"] and not other["demand"])
        # the same search with less freedom; it is no optimum, so that chance may favour it a little
        assert float(row["total_il_grouping"]) >= 0.97 * without
        assert float(row["k"]) >= example.K_OF_DEMANDS
    assert sum(bool(row["demand"]) for row in prices) == sum(map(len, example.DEMANDS.values()))


def test_a_cell_is_won_only_if_the_promises_are_kept(beside: None) -> None:
    example = load("closeness")
    theirs = {"algorithm 1": 30.0, "algorithm 2": 20.0, "algorithm 3": 25.0}
    for ours, distance, least, kept, won in (
        (19.0, 0.1, 5, True, True), (20.0, 0.1, 5, True, False), (19.0, 0.11, 5, False, False),
        (19.0, 0.1, 4, False, False),
    ):
        cell = example.Cell("FICA", 5, 0.1, theirs, ours, distance, least, 1.0)
        assert cell.best == 20.0 and (cell.kept, cell.won) == (kept, won)
