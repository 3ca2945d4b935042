"""README.md says what is so: its tables come from the registries, its examples run.

After an intended change, ``GOLDEN=write pytest tests/project/test_docs.py`` renews tables and
outputs.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path

import duckdb
import pytest

from kanon_sql.call.options import ALL_CALLS, OPTIONS
from kanon_sql.hierarchies.kinds import KINDS
from kanon_sql.methods import METHODS

README = Path(__file__).parents[2] / "README.md"
BLOCK = re.compile(r"^```(python|sql)\n(.*?)^```\n(?:^```text\n(.*?)^```\n)?", re.DOTALL | re.M)
WRITE = os.environ.get("GOLDEN") == "write"


def options_table() -> str:
    lines = ["| option | type | default | meaning |", "|---|---|---|---|"]
    for option in OPTIONS.values():
        lines.append(
            f"| `{option.name}` | {option.type} | {option.default_text} | {option.description} |"
        )
    return "\n".join(lines)


def methods_table() -> str:
    lines = ["| method | what it does | guarantee | cost | source |", "|---|---|---|---|---|"]
    for m in METHODS.values():
        lines.append(f"| `{m.name}` | {m.summary} | {m.guarantee} | {m.cost} | {m.source} |")
    return "\n".join(lines)


def kinds_table() -> str:
    lines = ["| kind | what it does | options |", "|---|---|---|"]
    for kind in KINDS.values():
        told = ((name, option.description.rstrip(".")) for name, option in kind.options.items())
        options = "; ".join(f"`{name}`: {text}" for name, text in told)
        lines.append(f"| `{kind.name}` | {kind.description} | {options} |")
    return "\n".join(lines)


@pytest.mark.parametrize("name", ["options", "methods", "kinds"])
def test_the_tables_are_those_of_the_registries(name: str) -> None:
    expected = {
        "options": options_table, "methods": methods_table, "kinds": kinds_table
    }[name]()
    text = README.read_text(encoding="utf-8")
    section = re.compile(rf"(<!-- {name} -->\n)(.*?)(<!-- end -->)", re.DOTALL)
    if WRITE:
        text = section.sub(lambda m: f"{m[1]}{expected}\n{m[3]}", text)
        README.write_text(text, encoding="utf-8")
    found = section.search(text)
    assert found is not None
    assert found[2].strip() == expected


def test_every_call_is_documented() -> None:
    text = README.read_text(encoding="utf-8")
    for call in (*ALL_CALLS, "anonymize_methods", "hierarchy"):
        assert f"| `{call}(" in text


def test_the_examples_give_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = README.read_text(encoding="utf-8")
    names: dict[str, object] = {}
    ran = 0

    def run(block: re.Match[str]) -> str:
        nonlocal ran
        ran += 1
        language, code, printed = block.groups()
        if language == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(code, "README.md", "exec"), names)
            result = output.getvalue()
        else:
            con = names["con"]
            assert isinstance(con, duckdb.DuckDBPyConnection)
            relation = con.sql(code)
            result = "" if relation is None else str(relation).rstrip("\n") + "\n"
        if printed is None:
            return block[0]
        if WRITE:
            return f"```{language}\n{code}```\n```text\n{result}```\n"
        if duckdb.__version__ >= "2":  # older versions draw their tables otherwise
            assert result == printed
        return block[0]

    renewed = BLOCK.sub(run, text)
    if WRITE:
        README.write_text(renewed, encoding="utf-8")
    assert ran >= 7
