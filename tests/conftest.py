from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import settings

from tests.support.connections import registered
from tests.support.shell import Shell

# the same examples in each run, so that a test fails by a change of the code alone;
# pytest --hypothesis-profile=random looks for new ones
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("random", deadline=None)
settings.load_profile("same")

PATIENTS = """
    CREATE TABLE patients AS
    SELECT 'person ' || i AS name, 20 + (i * 7) % 50 AS age, 10000 + (i * 37) % 90 AS zip,
           ['Private', 'State-gov', 'Never-worked'][1 + (i * i) % 3] AS job,
           ['Flu', 'Cold', 'Hypertension'][1 + (i // 4) % 3] AS disease
    FROM range(60) AS r(i)
"""

con = registered(PATIENTS, scope="function")
"""A connection with kanon_sql registered and a table of sixty patients."""


@pytest.fixture
def shell(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Shell:
    """``kanon``, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return Shell(capsys, monkeypatch)


IN_CI = 2
"""How many slow cases of a matrix CI runs; the others run at night."""

SHARE = 3
"""CI runs one of so many slow tests, always the same, and all that have the marker ``whole``."""


def is_nightly(test: str) -> bool:
    """Whether CI leaves out a slow test of this name."""
    return crc32(test.encode()) % SHARE != 0


def spread(count: int, n: int) -> set[int]:
    """The places of n cases among so many, as far apart as may be."""
    return {(2 * i + 1) * count // (2 * n) for i in range(n)}


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what is marked slow
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a matrix with the marker ``sample(n)``, marks all but n cases as slow, spread over it. Of
    slow tests marks all but a share as nightly, and of one matrix all cases but IN_CI, unless they
    have the marker ``whole``. What is nightly is slow."""
    matrices = defaultdict(list)
    for item in items:
        matrices[item.nodeid.partition("[")[0]].append(item)
    for test, cases in matrices.items():
        if sample := cases[0].get_closest_marker("sample"):
            kept = spread(len(cases), sample.args[0])
            for place, case in enumerate(cases):
                if place not in kept:
                    case.add_marker(pytest.mark.slow)
        slow = [case for case in cases if case.get_closest_marker("slow")]
        if not cases[0].get_closest_marker("whole"):
            kept = set() if is_nightly(test) else spread(len(slow), IN_CI)
            for place, case in enumerate(slow):
                if place not in kept:
                    case.add_marker(pytest.mark.nightly)
        for case in cases:
            if case.get_closest_marker("nightly"):
                case.add_marker(pytest.mark.slow)
