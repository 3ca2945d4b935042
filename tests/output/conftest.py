from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.shell import Shell


@pytest.fixture
def shell(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Shell:
    """``kanon``, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return Shell(capsys, monkeypatch)
