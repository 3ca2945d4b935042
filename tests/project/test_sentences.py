"""What is said to a user is short: every template of a message, as the source code has it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for top in ("kanon_sql", "udfs") for path in (ROOT / top).rglob("*.py"))

MOST_WORDS = 40
"""A message may have so many, a name or a number that is filled in counting as one."""

ERRORS = ("KanonError", "OptionError", "DataError", "ReleaseError", "StoppedError")

DESCRIBES = (
    "option", "KindOption", "Kind", "Metric", "Measure", "Threshold", "Method", "place", "dict",
)
"""What is called with a description of an option, a kind, a metric or a method, which is no
message."""


def template(node: ast.AST) -> str | None:
    """A text as it stands in the source code, with X for what is filled in; None of what is no
    text. Of two that an expression chooses from it is the longer one."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        parts = (
            template(part) if isinstance(part, ast.Constant)
            else template(part.value) or "X" if isinstance(part, ast.FormattedValue) else "X"
            for part in node.values
        )
        return "".join(part or "" for part in parts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = template(node.left), template(node.right)
        return None if left is None and right is None else f"{left or 'X'}{right or 'X'}"
    if isinstance(node, ast.IfExp):
        found = [text for text in (template(node.body), template(node.orelse)) if text is not None]
        return max(found, key=lambda text: len(text.split()), default=None)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return template(node.func.value) if node.func.attr in ("format", "replace") else None
    return None


def called(node: ast.Call) -> str:
    """The name of what is called, without what qualifies it."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def messages(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and template of each message below a node: what an error is raised with, and every other
    text that ends as a sentence does."""
    if is_docstring(node) or (isinstance(node, ast.Call) and called(node) in DESCRIBES):
        return
    if isinstance(node, ast.Call) and called(node) in ERRORS and node.args:
        text = template(node.args[0])
        if text is not None:
            yield node.lineno, text
            return
    text = template(node)
    if text is not None:
        if " " in text and text.rstrip().endswith((".", "?")):
            yield getattr(node, "lineno", 0), text
        return
    for part in ast.iter_child_nodes(node):
        yield from messages(part)


FOUND = [
    (f"{path.relative_to(ROOT)}:{line}", text)
    for path in SOURCES for line, text in messages(ast.parse(path.read_text(encoding="utf-8")))
]


def test_the_messages_are_found() -> None:
    """Those in constants, in f-strings and in calls of format, all over the package."""
    told = [text for _, text in FOUND]
    assert len(told) > 400
    for part in (
        "Lower k, or release nothing.", "A connected part of the graph", "PARTITION_BY divides",
        "Ask for", "different value", "no role: {}",
    ):
        assert any(part in text for text in told), part


@pytest.mark.parametrize(("code", "text"), [
    ("raise DataError('Too few.')", "Too few."),
    ("raise DataError(f'{n} rows' + f' of {m}. Add some.')", "X rows of X. Add some."),
    ("SAID = 'No {}. Add it.'", "No {}. Add it."),
    ("raise OptionError('No {!r}'.format(name))", "No {!r}"),
    ("SAID = {'a': 'Not here. Look there.'}", "Not here. Look there."),
    ("def f():\n    '''No message.'''\n    return f'{a} is none. ' + ('Add it.' if b else '')",
     "X is none. Add it."),
])
def test_a_message_is_read_as_it_will_be_said(code: str, text: str) -> None:
    assert [said for _, said in messages(ast.parse(code))] == [text]


def test_no_message_is_longer_than_it_may_be() -> None:
    longer = {place: text for place, text in FOUND if len(text.split()) > MOST_WORDS}
    assert longer == {}
