"""The Python functions have every option of the registry as a typed keyword, and give back the kind
of frame that came in: to who runs them, to editors, to mypy and to pyright."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path
from typing import get_args

import pytest

import kanon_sql
from kanon_sql.call.options import OPTIONS
from kanon_sql.hierarchies.kinds import KINDS
from kanon_sql.methods import CHOICES
from tests.support.signatures import CALLS, source

ROOT = Path(__file__).parents[2]
MODULE = ROOT / "kanon_sql" / "api" / "keywords.py"


def test_the_committed_keywords_are_those_of_the_registry() -> None:
    if os.environ.get("GOLDEN") == "write":
        MODULE.write_text(source(), encoding="utf-8")
    assert MODULE.read_text(encoding="utf-8") == source()
    keywords = run_path(str(MODULE))  # as it stands now, whatever was imported before
    assert set(get_args(keywords["MethodName"])) == set(CHOICES)
    assert set(get_args(keywords["KindName"])) == set(KINDS)


def test_dir_tells_what_there_is_to_use() -> None:
    code = "import kanon_sql; print(dir(kanon_sql) == sorted(kanon_sql.__all__))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


@pytest.mark.parametrize("call", [*CALLS, "release", "report", "evidence", "compare"])
def test_every_option_is_a_keyword_that_need_not_be_given(call: str) -> None:
    parameters = inspect.signature(getattr(kanon_sql, call)).parameters
    named = [p for p in parameters.values() if p.kind is p.KEYWORD_ONLY]
    own = {
        "release": {"to", "private"},
        "report": {"title", "queries", "compare", "evidence", "predict"},
        "evidence": {"control", "released", "attacks"},
        "compare": {"methods"},
    }.get(call, set())
    like = {
        "release": "anonymize", "report": "anonymize", "evidence": "anonymize",
        "compare": "anonymize_metrics",
    }
    expected = {
        option.name for option in OPTIONS.values() if like.get(call, call) in option.calls
    }
    if call == "hierarchy":
        expected = {"kind", *(n for kind in KINDS.values() for n in kind.options)}
    if call == "compare":
        expected -= {"method", "max_risk", "detail"}
    assert {p.name for p in named} == {"con", *own, *expected}
    options = [p for p in named if p.name in expected - {"k"}]
    assert all(p.default is None and p.annotation not in (p.empty, "") for p in options)
    assert not any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def test_help_says_what_each_option_means() -> None:
    for call in CALLS:
        text = getattr(kanon_sql, call).__doc__ or ""
        assert re.match(r"[A-Z].*\.\n\nArgs:\n", text)
        for option in OPTIONS.values():
            if call in option.calls:
                assert f"{option.name}: {option.description}" in text
    for kind in KINDS.values():
        for name, option in kind.options.items():
            told = f"{name}: ({kind.name}) {option.description}"
            assert told in (kanon_sql.hierarchy.__doc__ or "")


def test_an_option_that_there_is_not_is_refused_even_if_it_is_none() -> None:
    with pytest.raises(kanon_sql.OptionError, match="no option 'methd'"):
        kanon_sql.anonymize({"age": [1]}, k=1, methd=None)  # type: ignore[call-arg]


SNIPPET = '''
import duckdb
import kanon_sql
import polars as pl
from typing_extensions import assert_type

people, rows = pl.DataFrame({"age": [1]}), duckdb.table("people")
assert_type(kanon_sql.anonymize(people, k=5), pl.DataFrame)
assert_type(kanon_sql.anonymize(people.lazy(), k=5, method="k_member"), pl.LazyFrame)
assert_type(kanon_sql.anonymize_metrics(rows, detail=True, k=5), duckdb.DuckDBPyRelation)
assert_type(kanon_sql.hierarchy(people, "age", kind="bins", width=2.5), pl.DataFrame)
assert_type(kanon_sql.compare(people, k=[5, 10], methods=["mdav", "forest"]), pl.DataFrame)
assert_type(kanon_sql.release(people, k=5).metrics_frame, pl.DataFrame)
assert_type(kanon_sql.release(duckdb.connect(), people, k=5, to="a.parquet").data, pl.DataFrame)
made: kanon_sql.Release = kanon_sql.release(people, k=5)
kanon_sql.anonymize("a.parquet", k=5, sensitive=["flu"], gamma="best").num_rows
kanon_sql.anonymize({"age": [1]}, k=5, representation={"age": "median"}, l={"flu": 2})
kanon_sql.anonymize(["a.csv", "b.csv"], con=duckdb.connect(), k=5, hierarchies={"age": people})
kanon_sql.anonymize_methods()
kanon_sql.release(duckdb.connect(), "people", to="a.parquet", k=5).write("b.parquet").sql.upper()
# from here on each line is wrong
kanon_sql.anonymize("a.parquet", k="5")
kanon_sql.anonymize("a.parquet", k=5, sensitive=[1])
kanon_sql.anonymize("a.parquet", k=5, methd="mdav")
kanon_sql.anonymize(people, k=5, method="mdaf")
kanon_sql.anonymize(people, k=5, representation="medium")
kanon_sql.anonymize(people, k=5).nothing()
kanon_sql.anonymize_clusters(people, k=5, ledger="releases")
kanon_sql.k_anonymity("a.parquet", con="a.duckdb")
kanon_sql.hierarchy("a.parquet", "age", kind="bin")
kanon_sql.hierarchy("a.parquet", 3, kind="bins")
kanon_sql.compare(people, k=[5], methods=["mdaf"])
kanon_sql.compare(people, method="mdav")
kanon_sql.release("a.parquet", k=5.5)
kanon_sql.release(people, k=5).data.nothing()
made.rows.upper()
made.losses
kanon_sql.anonymise("a.parquet", k=5)
'''
"""What a user may write, and after the mark what is wrong."""

RIGHT = SNIPPET.split("# from here")[0].count("\n") + 1
WRONG = list(range(RIGHT + 1, SNIPPET.count("\n") + 1))


def lines_told(command: list[str], place: Path) -> tuple[list[int], str]:
    """The lines of the snippet of which a type checker says that they are wrong."""
    (place / "call.py").write_text(SNIPPET, encoding="utf-8")
    done = subprocess.run(
        [*command, "call.py"], cwd=place, env=os.environ | {"MYPYPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )
    found = re.findall(r"call\.py:(\d+):.* error", done.stdout)
    return sorted({int(line) for line in found}), done.stdout + done.stderr


@pytest.mark.slow
def test_mypy_knows_the_frame_that_comes_back_and_tells_a_wrong_call(tmp_path: Path) -> None:
    assert (Path(kanon_sql.__file__).parent / "py.typed").exists()
    found, told = lines_told([sys.executable, "-m", "mypy", "--strict"], tmp_path)
    assert found == WRONG, told


@pytest.mark.slow
@pytest.mark.skipif(find_spec("pyright") is None, reason="pyright is not installed")
def test_pyright_knows_the_frame_that_comes_back_and_tells_a_wrong_call(tmp_path: Path) -> None:
    (tmp_path / "pyrightconfig.json").write_text(
        f'{{"extraPaths": ["{ROOT}"], "reportMissingImports": false}}', encoding="utf-8"
    )
    checker = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable]
    found, told = lines_told(checker, tmp_path)
    assert found == WRONG, told
