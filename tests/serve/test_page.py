"""docs/serving.md is what happens: its file, its commands and its SQL, in their order."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import duckdb
import pytest

from tests.serve.conftest import KANON, SOURCE, Server, ended, free_port, in_cli
from tests.serve.conftest import running as process_of

PAGE = Path(__file__).parents[2] / "docs" / "serving.md"


def blocks(language: str) -> list[str]:
    """The examples in a language."""
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


@pytest.mark.slow
def test_the_page_is_what_happens(needed: None, tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "our.duckdb")) as con:
        con.execute(f"{SOURCE}; ALTER TABLE people DROP undeclared_canary")
    (config,) = blocks("toml")
    (tmp_path / "kanon.toml").write_text(config, encoding="utf-8")
    lines = [line for block in blocks("shell") for line in block.splitlines()]
    tokens = {}
    for line in lines:
        if line.startswith("kanon token"):
            words = shlex.split(line)
            done = subprocess.run([KANON, *words[1:]], cwd=tmp_path, capture_output=True,
                                  check=True, text=True)
            tokens[words[-1]] = done.stdout.strip()
    assert lines[-1] == "kanon serve our.duckdb" and set(tokens) == {"analyst", "reader"}
    port = free_port()
    process = process_of(tmp_path, port)
    statements = [
        part.strip().replace("9494", str(port)).replace("9495", str(port + 1))
        .replace("'READER'", f"'{tokens['reader']}'").replace("'ANALYST'", f"'{tokens['analyst']}'")
        for block in blocks("sql") for part in block.split(";\n") if part.strip()
    ]
    out, err = in_cli(statements, tmp_path)
    assert err == "" and out.count("\n") > 600 and "CANARY" not in out
    assert ended(Server(tmp_path, port, tokens, process)) == 0
