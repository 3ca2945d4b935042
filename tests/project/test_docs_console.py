"""What a page of docs/ shows of a console is what the shell prints.

After an intended change, ``GOLDEN=write pytest tests/project/test_docs_console.py`` renews it.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
from pathlib import Path

import pytest

from kanon_sql.shell.main import STATUSES, main

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "shell.md"
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```\n", re.DOTALL | re.M)
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if "```console\n" in page.read_text("utf-8")]
SECONDS = re.compile(r"\b\d+\.\d s$", re.M)
FIRST_USE = re.compile(r"^kanon_sql: compil.*\n", re.M)


class _Stream(io.TextIOWrapper):
    """Text and bytes, kept."""

    def __init__(self, given: bytes = b"") -> None:
        super().__init__(io.BytesIO(given), encoding="utf-8", write_through=True)

    def kept(self) -> bytes:
        self.flush()
        held = self.buffer
        assert isinstance(held, io.BytesIO)
        return held.getvalue()


def run(line: str) -> str:
    """What a line prints: commands of ours, joined by pipes, into a file or head -N at the end."""
    line, _, place = line.partition(" > ")
    piped, said = b"", ""
    for command in line.split(" | "):
        words = shlex.split(command)
        if words[0] == "head":
            piped = b"".join(piped.splitlines(keepends=True)[: int(words[1][1:])])
            continue
        assert words[0] == "kanon"
        out, err = _Stream(), io.StringIO()
        before = sys.stdin
        sys.stdin = _Stream(piped)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                main(words[1:])
        finally:
            sys.stdin = before
        piped, said = out.kept(), said + err.getvalue()
    if place:
        Path(place).write_bytes(piped)
        piped = b""
    return SECONDS.sub("1.0 s", FIRST_USE.sub("", said) + piped.decode())


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_console_shows_what_is_printed(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    names: dict[str, object] = {}

    def renewed(block: re.Match[str]) -> str:
        language, text = block.groups()
        if language == "python":
            exec(compile(text, page.name, "exec"), names)
            return block[0]
        lines = [line for line in text.splitlines() if line.startswith("$ ")]
        shown = "".join(f"{line}\n{run(line[2:])}" for line in lines)
        return f"```console\n{shown}```\n"

    before = page.read_text(encoding="utf-8")
    after = BLOCK.sub(renewed, before)
    if os.environ.get("GOLDEN") == "write":
        page.write_text(after, encoding="utf-8")
    else:
        assert after == before


def test_the_statuses_are_those_of_the_shell() -> None:
    told = dict(re.findall(r"^\| (\d+) \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.M))
    assert {int(status) for status in told} == set(STATUSES)
    for status, said in STATUSES.items():
        assert told[str(status)].replace("`", "") == said
