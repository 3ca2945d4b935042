"""The Python functions have every option of the registry as a typed keyword."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import kanon_sql
from kanon_sql.call.options import OPTIONS
from kanon_sql.hierarchies.kinds import KINDS
from tests.support.signatures import CALLS, source

ROOT = Path(__file__).parents[2]
MODULE = ROOT / "kanon_sql" / "interfaces" / "dataframe.py"


def test_the_committed_functions_are_those_of_the_registry() -> None:
    if os.environ.get("GOLDEN") == "write":
        MODULE.write_text(source(), encoding="utf-8")
    assert MODULE.read_text(encoding="utf-8") == source()


@pytest.mark.parametrize("call", CALLS)
def test_every_option_is_a_keyword_that_need_not_be_given(call: str) -> None:
    parameters = inspect.signature(getattr(kanon_sql, call)).parameters
    named = [p for p in parameters.values() if p.kind is p.KEYWORD_ONLY]
    own = {"kind", *(n for kind in KINDS.values() for n in kind.options)}
    expected = own if call == "hierarchy" else {
        option.name for option in OPTIONS.values() if call in option.calls
    }
    assert {p.name for p in named} == {"con", *expected}
    assert all(p.default is None and p.annotation not in (p.empty, "") for p in named)


def test_help_says_what_each_option_means() -> None:
    for call in CALLS:
        text = getattr(kanon_sql, call).__doc__ or ""
        assert text.startswith(CALLS[call])
        for option in OPTIONS.values():
            if call in option.calls:
                assert f"{option.name}: {option.description}" in text
    for kind in KINDS.values():
        for name, option in kind.options.items():
            told = f"{name}: ({kind.name}) {option.description}"
            assert told in (kanon_sql.hierarchy.__doc__ or "")


SNIPPET = """
import duckdb
import kanon_sql

kanon_sql.anonymize("a.parquet", k=5, sensitive=["flu"], weights={"age": 2.0}, gamma="best")
kanon_sql.hierarchy("a.parquet", "age", kind="bins", width=2.5, con=duckdb.connect())
kanon_sql.anonymize("a.parquet", k="5")
kanon_sql.anonymize("a.parquet", k=5, sensitive=[1])
kanon_sql.anonymize("a.parquet", k=5, methd="mdav")
kanon_sql.k_anonymity("a.parquet", con="a.duckdb")
kanon_sql.hierarchy("a.parquet", "age", kind=3)
made: kanon_sql.Release = kanon_sql.release("a.parquet", k=5)
kanon_sql.release(duckdb.connect(), "people", to="a.parquet", k=5).write("b.parquet").sql.upper()
kanon_sql.release("a.parquet", k=5.5)
made.rows.upper()
made.losses
kanon_sql.anonymise("a.parquet", k=5)
"""


@pytest.mark.slow
def test_mypy_tells_a_wrong_type_of_a_users_call(tmp_path: Path) -> None:
    (tmp_path / "call.py").write_text(SNIPPET, encoding="utf-8")
    assert (Path(kanon_sql.__file__).parent / "py.typed").exists()
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "call.py"],
        cwd=tmp_path, env=os.environ | {"MYPYPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )
    lines = [line.split(":")[1] for line in done.stdout.splitlines() if line.startswith("call.py")]
    found = [int(line) for line in lines if line.isdigit()]
    assert found == [7, 8, 9, 10, 11, 14, 15, 16, 17], done.stdout
