"""The import rules: a stage imports no later stage, and grouping knows no database."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# what each module or folder may import of kanon_sql, and of the outside
MAY_IMPORT: dict[str, tuple[set[str], set[str]]] = {
    "sql": (set(), set()),
    "kanon_sql/errors.py": (set(), set()),
    "kanon_sql/version.py": (set(), set()),
    "kanon_sql/metrics.py": (set(), set()),
    "kanon_sql/grouping": (
        {"errors", "grouping", "loss"}, {"llvmlite", "numpy", "numba", "rustworkx", "scipy"}
    ),
    "kanon_sql/progress.py": ({"grouping"}, set()),
    "kanon_sql/interrupts.py": (set(), set()),
    "kanon_sql/jobs.py": ({"errors", "grouping", "interrupts", "progress"}, set()),
    "kanon_sql/loss.py": ({"grouping"}, {"numpy"}),
    "kanon_sql/checks.py": ({"errors"}, set()),
    "kanon_sql/option_rules.py": ({"errors", "grouping"}, set()),
    "kanon_sql/choices.py": (set(), set()),
    "kanon_sql/geographic.py": (set(), set()),
    "kanon_sql/options.py": ({"checks", "choices", "errors", "grouping", "option_rules"}, set()),
    "kanon_sql/relation.py": ({"errors"}, set()),
    "kanon_sql/roles.py": ({"errors"}, set()),
    "kanon_sql/arguments.py": ({"errors"}, {"duckdb"}),
    "kanon_sql/kinds.py": ({"errors"}, set()),
    "kanon_sql/bins.py": (set(), {"numpy", "polars"}),
    "kanon_sql/kind_levels.py": ({"bins", "errors", "kinds"}, {"numpy", "polars"}),
    "kanon_sql/hierarchies.py": (
        {"errors", "kind_levels", "kinds", "rows"}, {"numpy", "polars", "pyarrow"}
    ),
    "kanon_sql/kind_items.py": (
        {"errors", "grouping", "kinds", "places", "rows"}, {"numpy", "polars", "pyarrow"}
    ),
    "kanon_sql/rows.py": ({"grouping"}, {"numpy", "pyarrow"}),
    "kanon_sql/places.py": (
        {"errors", "geographic", "grouping", "rows"}, {"numpy", "pyarrow"}
    ),
    "kanon_sql/items.py": (
        {"encode", "errors", "geographic", "grouping", "option_rules", "places", "rows"},
        {"numpy", "pyarrow"},
    ),
    "kanon_sql/plan_hierarchies.py": (
        {"errors", "kinds", "relation", "roles", "sql"}, set()
    ),
    "kanon_sql/plan_parts.py": ({"plan_hierarchies", "relation", "roles"}, set()),
    "kanon_sql/plan_metrics.py": (
        {"choices", "grouping", "metrics", "option_rules", "plan_parts", "relation", "roles",
         "sql", "version"},
        set(),
    ),
    "kanon_sql/plan_items.py": (
        {"errors", "geographic", "grouping", "option_rules", "plan_hierarchies", "plan_parts",
         "relation", "roles", "sql"}, set()
    ),
    "kanon_sql/plan_centers.py": ({"plan_parts", "relation", "sql"}, set()),
    "kanon_sql/plan.py": (
        {"choices", "errors", "grouping", "options", "plan_centers", "plan_hierarchies",
         "plan_items", "plan_metrics", "plan_parts", "relation", "roles", "sql"}, set()
    ),
    "kanon_sql/surface.py": ({"kinds", "options", "plan", "sql"}, set()),
    "kanon_sql/attributes.py": ({"grouping"}, {"numpy", "pyarrow"}),
    "kanon_sql/encode.py": (
        {"attributes", "errors", "grouping"}, {"numpy", "polars", "pyarrow"}
    ),
    "kanon_sql/geometry.py": (
        {"attributes", "encode", "errors", "geographic", "grouping", "places"},
        {"numpy", "pyarrow"},
    ),
    "kanon_sql/quality.py": ({"grouping", "loss"}, {"numpy"}),
    "kanon_sql/readings.py": (set(), {"numpy"}),
    "kanon_sql/audit.py": ({"hierarchies", "readings"}, {"numpy", "pyarrow"}),
    "kanon_sql/audit_rows.py": (
        {"audit", "encode", "errors", "hierarchies", "readings"}, {"numpy", "pyarrow"}
    ),
    "kanon_sql/measure.py": (
        {"attributes", "encode", "geometry", "grouping", "loss", "quality"},
        {"numpy", "pyarrow"},
    ),
    "kanon_sql/recall.py": ({"grouping"}, {"numpy"}),
    "kanon_sql/stages.py": (
        {"attributes", "encode", "errors", "geometry", "grouping", "hierarchies", "items", "kinds",
         "measure", "recall", "rows"},
        {"numpy", "pyarrow"},
    ),
    "udfs": (
        {"arguments", "audit_rows", "errors", "grouping", "jobs", "plan", "progress", "relation",
         "rows", "stages", "surface", "udfs"}, {"numpy", "pyarrow"}
    ),
}


def imports_of(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


@pytest.mark.parametrize("place", MAY_IMPORT)
def test_a_stage_imports_only_what_it_may(place: str) -> None:
    ours, outside = MAY_IMPORT[place]
    target = ROOT / place
    for path in [target] if target.is_file() else sorted(target.rglob("*.py")):
        for name in imports_of(path):
            first, _, rest = name.partition(".")
            if first == "kanon_sql":
                assert rest.partition(".")[0] in ours, f"{path.name} imports {name}"
            elif first not in sys.stdlib_module_names:
                assert first in outside, f"{path.name} imports {name}"


def test_the_udfs_are_short() -> None:
    for path in (ROOT / "udfs").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                assert (node.end_lineno or 0) - node.lineno < 40, f"{path.name}: {node.name}"


def test_the_compiler_is_not_loaded_before_a_kernel_is_needed() -> None:
    code = (
        "import sys, duckdb, kanon_sql; kanon_sql.register(duckdb.connect())"
        ".execute('FROM anonymize_methods()').fetchall(); print('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_no_file_is_too_long_to_read() -> None:
    for folder in ("kanon_sql", "udfs", "sql", "tests", "examples", "benchmarks"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".sql") and "golden" not in path.parts:
                lines = len(path.read_text(encoding="utf-8").splitlines())
                assert lines <= (450 if folder == "tests" else 400), f"{path.name}: {lines} lines"
