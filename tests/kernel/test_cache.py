"""What several processes compile at once all gets into the cache."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from numba import njit
from numba.core.caching import IndexDataCacheFile

from kanon_sql.kernel.cache import alone, one_writer


def twin(folder: Path) -> Any:
    """The same function as another process has it: its own file object for the same index."""

    def function(a: Any) -> Any:
        return a + 1

    made = njit(function)
    made._cache = type("Cache", (), {})()
    made._cache._cache_file = IndexDataCacheFile(str(folder), "function", "stamp")
    return one_writer(made)._cache._cache_file


def test_of_two_that_save_at_once_none_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = twin(tmp_path), twin(tmp_path)
    second = threading.Thread(target=other.save, args=("floats", "code for floats"))
    read = one._load_index

    def slowly() -> Any:
        known = read()
        # between reading and writing there is time for the other to save all of its own
        second.start()
        second.join(1.0)
        return known

    monkeypatch.setattr(one, "_load_index", slowly)
    one.save("integers", "code for integers")
    second.join()
    found = twin(tmp_path)
    assert found.load("integers") == "code for integers"
    assert found.load("floats") == "code for floats"


def test_a_folder_without_locks_is_no_error(tmp_path: Path) -> None:
    with alone(str(tmp_path / "nowhere")):
        pass


def test_kernels_are_saved_so() -> None:
    from kanon_sql.search import planting

    assert planting._fill._cache._cache_file.save.__name__ == "save_alone"
