"""The shell as tests call it: in this process, what it prints kept."""

from __future__ import annotations

import io
import sys

import pytest

from kanon_sql.cli.main import main


class Shell:
    """Runs ``kanon`` with some arguments; ``out`` and ``err`` are what the last run printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self._capsys, self._patch = capsys, patch
        self.out = self.err = ""

    def __call__(self, *arguments: str, stdin: bytes | None = None) -> int:
        with self._patch.context() as patch:
            if stdin is not None:
                patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
            self._capsys.readouterr()
            status = main(arguments)
        self.out, self.err = self._capsys.readouterr()
        return status
