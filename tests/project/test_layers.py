"""The import rules: arrows go down only, and the algorithms know no database."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from kanon_sql.cli.main import COMMANDS
from kanon_sql.methods import METHODS
from kanon_sql.privacy import CONSTRAINTS, MODELS, ModelOptions
from kanon_sql.privacy.model import NullOptions

ROOT = Path(__file__).parents[2]

ERRORS = {"errors", "names", "option", "released", "renamed", "validators", "version"}
"""What every module may import."""

MAY_IMPORT: dict[str, tuple[set[str], set[str]]] = {
    # folder: the folders and modules of kanon_sql that it may import, and packages from outside
    "dbt": ({"duckdb.register"}, {"dbt", "duckdb"}),
    "dbt_package": (set(), set()),
    "testing": ({"api", "call", "duckdb", "jobs.forks", "plan", "privacy"}, set()),
    "cli": ({"api", "call", "data", "duckdb", "explore", "files.released", "hierarchies.kinds",
             "jobs", "methods", "output", "plan", "serve"},
            {"click", "duckdb", "matplotlib", "pyarrow", "tomli"}),
    "explore": ({"api.dataframe", "call", "duckdb.session", "hierarchies.kinds", "methods",
                 "output", "reporting"},
                {"duckdb", "fastapi", "nicegui", "uvicorn"}),
    "serve": ({"duckdb.register", "plan", "privacy"}, {"duckdb"}),
    "api": ({"attacks", "call", "duckdb", "files", "hierarchies.kinds", "jobs", "methods", "output",
             "plan", "reporting", "sql"},
            {"duckdb", "matplotlib", "pyarrow", "typing_extensions"}),
    "spark": ({"blocks", "call", "duckdb", "encode", "output", "plan", "privacy", "sql",
               "stages.block"},
              {"duckdb", "pyarrow", "pyspark"}),
    "files": ({"blocks", "call", "duckdb", "encode", "jobs", "kernel.parallel",
               "output", "plan", "sql",
               "stages.block"},
              {"duckdb", "numpy", "pyarrow"}),
    "blocks": ({"call", "duckdb", "encode", "ledger", "methods", "plan", "points", "privacy",
                "search.cut_cost", "sql", "stages.block"}, {"numpy", "pyarrow"}),
    "duckdb": ({"call", "hierarchies.codes", "hierarchies.kinds", "jobs", "output", "plan", "udfs"},
               {"duckdb", "ibis", "pyarrow", "typing_extensions"}),
    "output": ({"call.relation", "jobs.interrupts"}, {"duckdb"}),
    "udfs": ({"call", "encode.arrow", "encode.identifier_detection", "hierarchies.tree", "jobs",
              "kernel.memory", "kernel.parallel", "kernel.watch",
              "methods", "plan", "stages"},
             {"numpy", "pyarrow"}),
    "reporting": ({"attacks.facts", "plan.fragments", "privacy", "sql"},
                  {"jinja2", "markupsafe", "numpy", "vl_convert"}),
    "attacks": ({"audit", "encode.attributes", "hierarchies.tree", "kernel"},
                {"numpy", "pyarrow", "scipy"}),
    "stages": ({"audit", "encode", "group", "hierarchies", "kernel.memory", "kernel.parallel",
                "kernel.watch", "ledger", "measure", "methods", "points",
                "privacy"}, {"numpy", "pyarrow"}),
    "plan": ({"call", "encode.coordinates", "hierarchies.kinds",
              "measure.audit_metrics", "measure.brief", "measure.column_metrics",
              "measure.ledger_metrics", "measure.metrics", "measure.model_metrics",
              "measure.part_metrics", "measure.person_metrics", "measure.risk_metrics", "methods",
              "privacy", "sql"}, set()),
    "measure": ({"encode", "kernel", "methods", "points", "privacy", "search"},
                {"numpy", "pyarrow", "scipy"}),
    "audit": ({"hierarchies"}, {"numpy", "pyarrow"}),
    "hierarchies": ({"encode", "points"}, {"numpy", "polars", "pyarrow"}),
    "encode": ({"methods", "points"}, {"numpy", "pyarrow", "scipy"}),
    "group": ({"kernel", "methods", "methods.local_search", "points", "privacy", "search"},
              {"numpy"}),
    "call": ({"hierarchies.codes", "hierarchies.kinds", "methods", "privacy"}, {"duckdb"}),
    "methods": ({"kernel", "points", "privacy", "search"},
                {"numba", "numpy", "scipy"}),
    "ledger": ({"kernel.jit", "points", "privacy"}, {"numpy"}),
    "privacy": ({"kernel.jit", "points", "sql"}, {"numpy"}),
    "search": ({"kernel", "points"}, {"numpy"}),
    "points": ({"kernel"}, {"numpy"}),
    "jobs": ({"kernel.watch"}, {"polars"}),
    "kernel": (set(), {"llvmlite", "numba", "numpy", "platformdirs"}),
    "data": (set(), set()),
    "sql": (set(), set()),
}
"""From the top down: a folder imports what stands below it. methods here is the registry, the
families know each other only as said in EXCEPTIONS."""

FAMILIES = (
    "cell_generalization", "centers", "k_member", "local_search", "microaggregation", "recoding",
    "single_attribute",
)

REGISTRY = {
    "methods", "methods.auto", "methods.geometry", "methods.method", "methods.option",
    "methods.search_steps", "methods.task", "methods.task_view",
    *(f"methods.{family}" for family in FAMILIES),
    *(f"methods.{family}.geometry" for family in FAMILIES),
}
"""What ``methods`` in MAY_IMPORT stands for: what is told about the methods, none of their code. It
is loaded before any kernel is, so it imports no compiler."""

FLOOR = {
    "methods.geometry", "methods.method", "methods.option", "methods.search_steps", "methods.task",
    "methods.task_view",
}
"""What every family stands on."""

EXCEPTIONS: dict[str, set[str]] = {
    # these kinds pack labels and cut regions as the methods of one attribute do
    "hierarchies.from_counts": {"methods", "methods.single_attribute"},
    # best starts from the groups of other methods
    "methods.local_search.best": {
        "methods.microaggregation", "methods.k_member", "methods.recoding"
    },
    # a cost or a bound that a kernel works out is asked for when it is needed
    "methods.cell_generalization.geometry": {"methods.cell_generalization.cells"},
    "methods.centers.geometry": {"methods.centers.lower_bounds", "methods.centers.medoids"},
    # the registry is the list of the families
    "methods": {f"methods.{family}" for family in FAMILIES},
    # the shell compiles methods and metrics without a query
    "cli.dry": {"kernel.memory"},
    "cli.commands.compile": {"group.all_kernels", "measure.diameter"},
    "__init__": {"api", "attacks.facts", "duckdb.register", "jobs.forks"},
    "__main__": {"cli.begin"},
}


COMPUTES = {"__init__", "methods.method", "cli.main"}
"""What imports a module by a computed name: a call, a method, or a command of the shell."""


@cache
def modules() -> dict[str, Path]:
    """Every module that ships, by its name below kanon_sql."""
    found = {}
    for folder in (ROOT / "kanon_sql", ROOT / "udfs", ROOT / "sql"):
        root = folder if folder.name == "kanon_sql" else ROOT
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            name = ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)
            found[name] = path
    return found


@cache
def imports_of(path: Path) -> set[str]:
    """What a module imports: modules where they are modules, also by ``import_module`` with a
    text that says which."""
    known = {f"kanon_sql.{name}" for name in modules()}
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inside = f"{node.module}.{alias.name}"
                found.add(inside if inside in known else node.module)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "import_module":
            text = node.args[0]
            found.add(text.value if isinstance(text, ast.Constant) else "computed")
    return found


def within(name: str, places: set[str]) -> bool:
    return any(name == place or name.startswith(f"{place}.") for place in places)


@pytest.mark.parametrize("name", sorted(modules()))
def test_imports_go_down_only(name: str) -> None:
    folder = name.partition(".")[0]
    family = ".".join(name.split(".")[:2])
    ours, outside = MAY_IMPORT.get(folder, (set(), set()))
    if name in ERRORS:
        ours = ERRORS
    if name in REGISTRY:
        outside = outside - {"numba"}
    for imported in sorted(imports_of(modules()[name])):
        first, _, rest = imported.partition(".")
        if imported == "computed":
            assert name in COMPUTES, f"{name} computes what it imports"
        elif first != "kanon_sql":
            assert first in sys.stdlib_module_names or first in outside, f"imports {imported}"
        elif within(rest, ERRORS | EXCEPTIONS.get(name, set())):
            continue
        elif rest.startswith("methods"):
            own = folder == "methods" and (rest in FLOOR or within(rest, {family}))
            listed = "methods" in ours and rest in REGISTRY
            assert own or listed or within(rest, ours - {"methods"}), f"imports {imported}"
        else:
            assert within(rest, {*ours, folder}), f"imports {imported}"


def test_nothing_imports_in_a_circle() -> None:
    """Also not for the sake of types, or inside of a function."""
    known = modules()
    graph = {
        name: {
            rest for imported in imports_of(path)
            if (rest := imported.removeprefix("kanon_sql.")) in known and imported != rest
        }
        for name, path in known.items()
    }
    assert list(TopologicalSorter(graph).static_order())


NAMED = {
    # k is no model beside k, and is asked of every task
    "KAnonymity": {"methods.task", "plan.verify"},
    # entity_rows asks for it, which is no option of a model
    "EntityShare": {"call.persons"},
}
"""What every class can be asked to keep, and which modules name it outside of its folder."""


def test_no_module_names_a_privacy_model() -> None:
    """All that a stage needs of one, it asks the object: so a new one needs no other file."""
    kinds = {kind.__name__ for kind in CONSTRAINTS.values()}
    for name, path in modules().items():
        words = set(re.findall(r"\w+", path.read_text(encoding="utf-8")))
        named = {kind for kind in kinds & words if name not in NAMED.get(kind, set())}
        assert name.partition(".")[0] == "privacy" or not named, f"{name}: {named}"


def test_the_options_of_models_stand_in_the_order_of_the_models() -> None:
    kinds = [*dict.fromkeys(model.options for model in MODELS)]
    assert ModelOptions.__bases__ == (NullOptions, *reversed(kinds))


def test_what_may_be_imported_is() -> None:
    """The list allows nothing that isn't used."""
    used: dict[str, set[str]] = {}
    for name, path in modules().items():
        for place in (name, name.partition(".")[0]):
            used.setdefault(place, set()).update(imports_of(path))
    unused = [
        (name, place)
        for name, (ours, outside) in [*MAY_IMPORT.items(), *((n, (o, set())) for n, o in
                                                             EXCEPTIONS.items())]
        for place in (*(f"kanon_sql.{place}" for place in ours), *outside)
        if not any(within(one, {place}) for one in used[name])
    ]
    assert unused == []


CHANGING = {"Lock", "OrderedDict", "count", "dict", "list", "local", "set"}
"""What makes a value that may change."""


def changes(value: ast.AST | None) -> bool:
    """Whether a variable of a module with this value is there to change."""
    if isinstance(value, ast.Call):
        return ast.unparse(value.func).rpartition(".")[2] in CHANGING
    if isinstance(value, ast.Tuple):
        return any(map(changes, value.elts))
    return isinstance(value, (ast.Compare, ast.Constant, ast.Dict, ast.List, ast.Set))


@pytest.mark.slow
def test_what_a_process_keeps_is_told() -> None:
    """Names in lower case are no constants: each is state, and docs/architecture.md says why."""
    state = set()
    for name, path in modules().items():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and changes(node.value):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                state |= {
                    f"{name}.{one.id}" for target in targets for one in ast.walk(target)
                    if isinstance(one, ast.Name) and one.id.islower() and one.id[:2] != "__"
                }
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = page.partition("## What a process keeps\n")[2].partition("\n## ")[0]
    assert state == set(re.findall(r"^\| `(.+)` \|", section, re.MULTILINE))


def test_what_is_imported_by_a_computed_name_is_on_disk() -> None:
    for method in METHODS.values():
        assert f"{method.family}.{method.name}".removeprefix("kanon_sql.") in modules()
    for command in COMMANDS:
        assert f"cli.commands.{command}" in modules()


def test_a_face_is_only_a_face() -> None:
    """The Python face knows what help() says, the calls beside SQL, and nothing else of us."""
    ours = {name for name in imports_of(modules()["api.dataframe"]) if "kanon_sql" in name}
    assert ours == {
        *(f"kanon_sql.api.{name}" for name in (
            "comparison", "documented", "evidence", "keywords", "report", "result",
        )), "kanon_sql.attacks.facts", "kanon_sql.duckdb.frames",
        "kanon_sql.duckdb.session",
    }


def test_the_udfs_are_short() -> None:
    for path in (ROOT / "udfs").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                assert (node.end_lineno or 0) - node.lineno < 40, f"{path.name}: {node.name}"


@pytest.mark.slow
def test_the_compiler_is_not_loaded_before_a_kernel_is_needed() -> None:
    code = (
        "import sys, duckdb, kanon_sql; kanon_sql.register(duckdb.connect())"
        ".execute('FROM anonymize_methods()').fetchall(); print('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


HEAVY = (
    "click", "duckdb", "matplotlib", "numba", "numpy", "pandas", "polars", "pyarrow", "rustworkx",
    "scipy",
)


def loaded_by(code: str) -> set[str]:
    """Which packages a program loads that take time."""
    code += f"; import sys; print('loaded', *(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split()[1:])


@pytest.mark.slow
def test_the_import_loads_no_package() -> None:
    assert loaded_by("import kanon_sql; kanon_sql.KanonError, kanon_sql.__version__") == set()
    register = "import duckdb, kanon_sql; kanon_sql.register(duckdb.connect())"
    assert loaded_by(register) == {"duckdb", "numpy", "pyarrow"}


def test_the_help_of_the_shell_loads_no_database() -> None:
    for asked in ("--help", "--version"):
        assert loaded_by(f"from kanon_sql.cli.main import main; main([{asked!r}])") == {"click"}


@pytest.mark.slow
def test_what_is_loaded_late_is_what_is_promised() -> None:
    """Type checkers read the imports of kanon_sql, Python its list of places: they are the same."""
    tree = ast.parse((ROOT / "kanon_sql" / "__init__.py").read_text(encoding="utf-8"))
    imported = {
        alias.name: f"{node.module}"
        for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    code = "import kanon_sql as k; print(*(f'{n}={getattr(k, n).__module__}' for n in k.__all__ "\
        "if n != '__version__'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = dict(pair.split("=") for pair in done.stdout.split())
    assert {name: imported[name] for name in found} == found
    late = {name for name, module in imported.items() if ".api." in module}
    assert late < set(found)


@pytest.mark.slow
def test_a_star_and_dir_have_every_name() -> None:
    code = "import kanon_sql; names = dir(kanon_sql); from kanon_sql import *; "\
        "print({*kanon_sql.__all__} <= {*names} & {*globals()})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


def test_no_file_is_too_long_to_read() -> None:
    for folder in ("kanon_sql", "udfs", "sql", "tests", "examples", "benchmarks"):
        for path in (ROOT / folder).rglob("*"):
            # generated: a function for each call, and the audit in one file
            if path.name in ("dataframe.py", "kanon_audit.sql"):
                continue
            if path.suffix in (".py", ".sql") and "golden" not in path.parts:
                lines = len(path.read_text(encoding="utf-8").splitlines())
                assert lines <= (450 if folder == "tests" else 400), f"{path.name}: {lines} lines"


@pytest.mark.slow
def test_a_class_name_has_one_meaning() -> None:
    places: dict[str, list[str]] = {}
    for path in sorted((ROOT / "kanon_sql").rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert {name: at for name, at in places.items() if len(at) > 1} == {}


def test_the_python_calls_load_neither_scipy_nor_polars_nor_a_compiler() -> None:
    code = (
        "import sys, kanon_sql; kanon_sql.report, kanon_sql.evidence; "
        "print(sorted({'numba', 'polars', 'scipy', 'jinja2'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
