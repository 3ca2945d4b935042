"""What is made on several threads is what one thread makes: trees, and groups whose searches were
made before their turn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kanon_sql.kernel.parallel import on_threads
from kanon_sql.kernel.watch import StoppedError, Watch
from kanon_sql.methods import task_for
from kanon_sql.search import build_pool, prefetch, unassigned
from kanon_sql.search.axes import make_space
from tests.methods.microaggregation import reference_fast
from tests.support.kernels import from_python
from tests.support.records import points_of

plant = from_python(unassigned.plant)
REFERENCES = {"mdav_plus": reference_fast.mdav_plus, "mdav_star": reference_fast.mdav_star}


def batches_of(size: int, patch: pytest.MonkeyPatch) -> None:
    """Has all batches be of that size, on other threads too, however few the records."""
    for name in ("FIRST", "LEAST", "MOST"):
        patch.setattr(prefetch, name, size)
    patch.setattr(prefetch, "FEW", 0)
    patch.setattr(prefetch, "PLAIN", 40)


@pytest.mark.slow
@pytest.mark.parametrize("threads", (2, 3))
@pytest.mark.parametrize("size", (1, 2, 7, 1_000))
@pytest.mark.parametrize("name", REFERENCES)
def test_groups_are_those_of_the_reference(
    name: str, size: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers, ties and categories, with batches of any size."""
    batches_of(size, monkeypatch)
    for kind in ("normal", "grid", "few", "mixed", "six_texts"):
        for n, k in ((1_200, 2), (403, 5)):
            points = points_of(kind, n)
            with on_threads(threads):
                labels = task_for(name, k).group(points).labels
            assert labels.tolist() == REFERENCES[name](points, k), (kind, n)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", REFERENCES)
def test_groups_of_many_records_are_those_of_one_thread(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where answers are asked for in vain, and where trees are renewed while others search."""
    vain, next_size = [], prefetch._next_size

    def noted(many: int, batch: prefetch.Batch) -> int:
        vain.append(int(batch.counts[prefetch.AGAIN]))
        return next_size(many, batch)

    monkeypatch.setattr(prefetch, "_next_size", noted)
    for kind in ("normal", "mixed"):
        points = points_of(kind, 30_000)
        with on_threads(1):
            expected = task_for(name, 5).group(points).labels
        assert not vain
        for threads in (2, 3):
            with on_threads(threads):
                labels = task_for(name, 5).group(points).labels
            assert np.array_equal(labels, expected)
            assert len(vain) > 3 and sum(vain) > 0
            vain.clear()


def test_a_stop_ends_it_on_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is raised here, and nobody works on."""
    watch, next_size = Watch(), prefetch._next_size

    def stopping(many: int, batch: prefetch.Batch) -> int:
        watch.stop()
        return next_size(many, batch)

    monkeypatch.setattr(prefetch, "_next_size", stopping)
    with on_threads(2), pytest.raises(StoppedError):
        task_for("mdav_plus", 5).group(points_of("normal", 30_000), watch)
    assert 0 < watch.done < 30_000


def flat(part: Any) -> list[Any]:
    """All arrays of a pool."""
    if isinstance(part, np.ndarray):
        return [part]
    return [array for each in part for array in flat(each)]


@pytest.mark.slow
@pytest.mark.parametrize("threads", (1, 2, 3, 7))
@pytest.mark.parametrize("kind", ("normal", "grid", "mixed", "correlated", "alike"))
def test_tree_is_that_of_one_thread(
    kind: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the last leaf, whatever the number of leaves is."""
    monkeypatch.setattr(build_pool, "WORTH", 16)
    for n in (1, 16, 17, 257, 5_000, 9_999):
        where = make_space(points_of(kind, n))
        members = np.random.default_rng(n).permutation(n)[: n - n // 3]
        one = plant(where, members)
        with on_threads(threads):
            other = build_pool.new_pool(where, members)
        for a, b in zip(flat(one._replace(stack=())), flat(other._replace(stack=())), strict=True):
            assert np.array_equal(a, b)
