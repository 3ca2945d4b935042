"""The tool itself: which mutants there are, and that a test kills one and lets another live."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import kanon_sql.sql
from kanon_sql.sql import statement
from tests.mutants.edits import Mutant
from tests.mutants.explained import explanations
from tests.mutants.forked import KILLED, SLOW, SURVIVED, forked
from tests.mutants.python_edits import python_edits
from tests.mutants.session import mutate
from tests.mutants.sql_edits import sql_edits
from tests.mutants.targets import ROOT, TARGETS, mutants_of, of_python, of_sql

TINY = """-- name: few
-- Few of them.
SELECT count(*) FROM t WHERE n < 3 AND coalesce(n, 0) >= ${least}
"""


def planted(mutant: Mutant) -> Callable[[], str]:
    """A test that doesn't look at n = 3."""
    def run() -> str:
        mutate(mutant, TINY, {})
        con = sqlite3.connect(":memory:")
        con.execute("CREATE TABLE t AS SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 7")
        (found,) = con.execute(statement("tiny.few", least=1)).fetchone()
        return "" if found == 2 else "a test"

    return run


def test_a_test_kills_one_mutant_and_lets_another_live() -> None:
    mutants = list(of_sql("sql/tiny.sql", TINY))
    assert {mutant.place for mutant in mutants} == {"few"}
    verdicts = {
        mutant.after.partition("WHERE ")[2]: forked(planted(mutant), 60.0).verdict
        for mutant in mutants
    }
    assert verdicts["n <= 3 AND coalesce(n, 0) >= ${least}"] == SURVIVED
    assert verdicts["n < 3 OR coalesce(n, 0) >= ${least}"] == KILLED
    assert verdicts["n < 3 AND coalesce(n, 0) > ${least}"] == KILLED
    assert verdicts["true"] == KILLED
    assert kanon_sql.sql._blocks("whole")  # this process is no mutant


def test_a_mutant_without_an_end_is_ended() -> None:
    def forever() -> str:
        while True:
            pass

    assert forked(forever, 0.2).verdict == SLOW
    assert forked(lambda: os._exit(3), 60.0).verdict == KILLED  # type: ignore[arg-type]


@pytest.mark.parametrize(("text", "mutants"), [
    ("a <> b", {"a = b"}),
    ("x IS NOT DISTINCT FROM y", {"x = y"}),
    ("FROM a LEFT JOIN b", {"FROM a INNER JOIN b"}),
    ("FROM a JOIN b", {"FROM a LEFT JOIN b"}),
    ("count(*) FILTER (WHERE a < b)", {"count(*) FILTER (WHERE true)",
                                      "count(*) FILTER (WHERE a <= b)"}),
    ("count(DISTINCT x)", {"count( x)"}),
    ("min(x)", {"max(x)"}),
    ("coalesce(x, ${y})", {"(x)"}),
    ("CASE WHEN ${a} THEN 1 END", {"CASE WHEN false THEN 1 END", "CASE WHEN ${a} THEN (2) END",
                                   "CASE WHEN ${a} THEN (0) END"}),
    ("HAVING ${a} GROUP BY b", {"HAVING true GROUP BY b"}),
    ("ROWS BETWEEN x AND y", set()),
    ("'a < b' || \"c < d\" -- e < f", set()),
])
def test_the_mutants_of_a_text_of_sql(text: str, mutants: set[str]) -> None:
    assert {edit.applied(text) for edit in sql_edits(text)} == mutants


@pytest.mark.parametrize(("text", "mutants"), [
    ("a < b", {"a <= b"}),
    ("a is not None", {"a is None"}),
    ("a and not b", {"a or not b", "a and (b)"}),
    ("f(True)\n", {"pass\n", "f(False)\n"}),
    ("x = [y for y in z if y.a]", {"x = [y for y in z if True]"}),
    ("x = max(y)", {"x = min(y)"}),
    ("if x:\n    raise Error(y)", {"if not (x):\n    raise Error(y)", "if x:\n    pass"}),
    ("x: int | None = 3", {"x: int | None = 4"}),
    ("x = f'min(size) < {k}'", {"x = f'max(size) < {k}'", "x = f'min(size) <= {k}'"}),
    ("x = 'Give at least one, or leave it out.'", set()),
])
def test_the_mutants_of_a_module(text: str, mutants: set[str]) -> None:
    assert {edit.applied(text) for edit in python_edits(text)} == mutants


def test_a_mutant_keeps_the_lines_of_others() -> None:
    text = (ROOT / "kanon_sql/privacy/l_diversity.py").read_text(encoding="utf-8")
    for mutant in of_python("kanon_sql/privacy/l_diversity.py", text):
        changed = mutant.edit.applied(text)
        assert changed.count("\n") == text.count("\n")
        compile(changed, mutant.path, "exec")


@pytest.mark.slow
def test_every_explanation_is_of_a_mutant() -> None:
    keys = {mutant.key for target in TARGETS.values() for mutant in mutants_of(target)}
    known = explanations()
    assert set(known) - keys == set()
    assert all(len(why) > 20 for why in known.values())


def test_every_target_has_its_tests() -> None:
    for target in TARGETS.values():
        assert all((ROOT / "tests" / test).is_file() for test in target.tests)


SCRIPT = """
import sys, time, pytest
from pathlib import Path
from tests.mutants.session import is_quick, recorded, run_quick, run_slow
from tests.mutants.targets import of_python

root = Path(sys.argv[1])
text = (root / "tiny.py").read_text()
reach = recorded(["tests/test_tiny.py"], root)
assert reach.failed == [], reach.failed
mutants = list(of_python("tiny.py", text))
quick = [each for each in mutants if is_quick(each, text, reach)]
slow = [each for each in mutants if each not in quick]
assert quick and slow
ends = time.monotonic() + 300
for mutant, outcome in (*run_quick(quick, ["tests/test_tiny.py"], reach, 9.0, ends, root),
                        *run_slow(slow, reach, 9.0, ends, root)):
    print(mutant.after, "|", outcome.verdict)
"""


def run_in(script: str, root: Path) -> subprocess.CompletedProcess[str]:
    """Runs a script in a process of its own, on a small repository."""
    (root / "pyproject.toml").write_text("[tool.pytest.ini_options]\npythonpath = ['.']\n")
    return subprocess.run(
        [sys.executable, "-c", script, str(root)], cwd=ROOT, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False,
    )


@pytest.mark.slow
def test_mutants_of_a_small_repository(tmp_path: Path) -> None:
    """Of functions in a fork, of constants in a copy."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tiny.py").write_text(
        "FIRST = 5\nUNSEEN = 7\n\n\ndef few(n):\n    return n < FIRST and n >= 0\n"
    )
    (tmp_path / "tests" / "test_tiny.py").write_text(
        "from tiny import few\n\n\ndef test_few():\n    assert few(4) and not few(5)\n"
    )
    done = run_in(SCRIPT, tmp_path)
    assert done.returncode == 0, done.stderr
    verdicts = dict(line.split(" | ") for line in done.stdout.splitlines())
    assert verdicts["return n <= FIRST and n >= 0"] == KILLED
    assert verdicts["return n < FIRST or n >= 0"] == KILLED
    assert verdicts["return n < FIRST and n > 0"] == SURVIVED
    assert verdicts["FIRST = 6"] == KILLED
    assert verdicts["UNSEEN = 8"] == SURVIVED


LATE = """
import sys, time
from pathlib import Path
from tests.mutants.session import recorded, run_quick
from tests.mutants.targets import of_python

root = Path(sys.argv[1])
reach = recorded(["tests/test_late.py"], root)
mutants = list(of_python("late.py", (root / "late.py").read_text()))
list(run_quick(mutants, ["tests/test_late.py"], reach, 9.0, time.monotonic() + 300, root))
"""


@pytest.mark.slow
def test_a_mutant_of_a_module_that_is_not_loaded_is_not_taken_for_killed(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "late.py").write_text("def few(n):\n    return n < 5\n")
    (tmp_path / "tests" / "test_late.py").write_text(
        "def test_nothing():\n    from late import few\n\n    few(3)\n"
    )
    done = run_in(LATE, tmp_path)
    assert "the module of late.py:2 isn't loaded, see load_all" in done.stderr
