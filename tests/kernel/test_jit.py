"""Functions without a way in from Python: nothing but compiled functions may call them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INNER = ("inner", "inlined")
COMPILED = (*INNER, "kernel", "njit")
FOLDERS = ("kanon_sql", "udfs", "tests", "benchmarks", "examples")


@cache
def modules() -> dict[str, ast.Module]:
    found = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): ast.parse(path.read_text())
        for path in found
    }


def decorators(node: ast.AST) -> str:
    found = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return " ".join(ast.unparse(decorator) for decorator in found)


def used_by_python(tree: ast.AST) -> Iterator[str]:
    """Names that stand in functions that are not compiled."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef) and decorators(node) in COMPILED:
            continue
        # the function as it is written
        if isinstance(node, ast.Attribute) and node.attr == "py_func":
            continue
        if isinstance(node, ast.Name):
            yield node.id
        yield from used_by_python(node)


@pytest.mark.slow
def test_no_python_calls_an_inner_function() -> None:
    trees = modules()
    inner = {
        (name, node.name)
        for name, tree in trees.items() for node in tree.body
        if isinstance(node, ast.FunctionDef) and decorators(node) in INNER
    }
    assert len(inner) > 50
    wrong = []
    for name, tree in trees.items():
        known = {function for module, function in inner if module == name}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                known |= {
                    alias.asname or alias.name
                    for alias in node.names if (node.module, alias.name) in inner
                }
        wrong += [(name, used) for used in used_by_python(tree) if used in known]
    assert wrong == []


@pytest.mark.slow
def test_all_is_compiled_in_the_same_way() -> None:
    """By what kernel/jit.py has, so that no function is optimized where it is not needed."""
    users = [
        name for name, tree in modules().items()
        if name.startswith("kanon_sql.") and name != "kanon_sql.kernel.jit"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "numba"
        and any(alias.name in ("njit", "jit") for alias in node.names)
    ]
    assert users == []


MOST_PARAMETERS = 8
WITH_MORE = {
    # the tree and its leaves are shared by searches that run in parallel; the stack, what is found
    # and how far it is belong to each
    "nearest_in_tree", "nearest_in_order",
}


def test_a_kernel_has_few_parameters_or_a_reason() -> None:
    """What belongs together travels together, as a named tuple."""
    many = {
        node.name
        for name, tree in modules().items() if name.startswith("kanon_sql.")
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and len(node.args.args) > MOST_PARAMETERS
        and decorators(node) in COMPILED
    }
    assert many == WITH_MORE
