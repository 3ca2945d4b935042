"""The mutants of a module of Python, by its syntax tree."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from tests.mutants.edits import Edit
from tests.mutants.sql_edits import INTEGER, sql_edits

_COMPARED: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"), ast.In: ("in", "not in"), ast.NotIn: ("not in", "in"),
}
_COMPUTED: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "+"), ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"), ast.Mod: ("%", "*"), ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"),
}
_CALLED = {"min": "max", "max": "min", "any": "all", "all": "any"}
_SENTENCE = re.compile(r"[A-Za-z]{2,},? [a-z]+,? [a-z]{2,} ")
_SQL = re.compile(r"[A-Z]{3,}|[<>=(]")


class _Source:
    """A text with the places of the nodes of its tree."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = text.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def at(self, line: int, column: int) -> int:
        """The place of a line and a column in bytes."""
        head = self._lines[line - 1].encode()[:column] if line <= len(self._lines) else b""
        return self._starts[line - 1] + len(head.decode())

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node begins and ends."""
        place: ast.expr = node  # type: ignore[assignment]
        return (
            self.at(place.lineno, place.col_offset),
            self.at(place.end_lineno or 0, place.end_col_offset or 0),
        )

    def between(self, left: ast.AST, right: ast.AST, old: str, new: str) -> Iterator[Edit]:
        """The edit of an operator between two nodes."""
        start, end = self.span(left)[1], self.span(right)[0]
        pattern = r"\s+".join(map(re.escape, old.split()))
        if old[0].isalpha():
            pattern = rf"\b{pattern}\b"
        if found := re.search(pattern, self.text[start:end]):
            yield Edit(start + found.start(), start + found.end(), new, f"{old} to {new}")

    def around(self, node: ast.AST, head: str, tail: str, operator: str) -> Edit:
        """The edit that puts something around a node."""
        start, end = self.span(node)
        return Edit(start, end, f"{head}{self.text[start:end]}{tail}", operator)


def python_edits(text: str) -> list[Edit]:
    """All mutants of a module, from its beginning to its end."""
    source = _Source(text)
    edits = list(_of_node(source, ast.parse(text))) + list(_of_strings(source))
    return sorted(edits, key=lambda edit: (edit.start, edit.end, edit.text))


def _of_node(source: _Source, node: ast.AST) -> Iterator[Edit]:
    # a text is mutated by its tokens; annotations and decorators say nothing that runs
    if isinstance(node, ast.JoinedStr) or _is_typing(node):
        return
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_comment"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _of_node(source, child)
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        for left, right, op in zip(sides, sides[1:], node.ops, strict=False):
            yield from source.between(left, right, *_COMPARED[type(op)])
    elif isinstance(node, ast.BoolOp):
        words = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            yield from source.between(left, right, *words)
    elif isinstance(node, ast.BinOp) and not _is_text(node.left) and not _is_text(node.right):
        if type(node.op) in _COMPUTED:
            yield from source.between(node.left, node.right, *_COMPUTED[type(node.op)])
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        start, end = source.span(node)
        inner = source.text[slice(*source.span(node.operand))]
        yield Edit(start, end, f"({inner})", "not dropped")
    elif isinstance(node, ast.Constant):
        yield from _of_constant(source, node)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if other := _CALLED.get(node.func.id):
            yield Edit(*source.span(node.func), other, f"{node.func.id} to {other}")
    elif isinstance(node, (ast.If, ast.IfExp, ast.While)):
        if not isinstance(node.test, (ast.Compare, ast.UnaryOp)):
            yield source.around(node.test, "not (", ")", "a condition turned")
    elif isinstance(node, ast.comprehension):
        for test in node.ifs:
            yield Edit(*source.span(test), "True", "a filter dropped")
    elif (isinstance(node, ast.Raise) and not _is_abstract(node)) or _is_call(node):
        word = "a raise dropped" if isinstance(node, ast.Raise) else "a statement dropped"
        yield Edit(*source.span(node), "pass", word)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _is_typing(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _is_abstract(node: ast.Raise) -> bool:
    return isinstance(node.exc, ast.Name) and node.exc.id == "NotImplementedError"


def _is_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


def _of_constant(source: _Source, node: ast.Constant) -> Iterator[Edit]:
    if isinstance(node.value, bool):
        other = str(not node.value)
        yield Edit(*source.span(node), other, f"{node.value} to {other}")
    elif isinstance(node.value, int):
        yield Edit(*source.span(node), str(node.value + 1), INTEGER)


def _of_strings(source: _Source) -> Iterator[Edit]:
    """The mutants of the SQL in texts."""
    for start, end in _strings(source):
        text = source.text[start:end]
        head = re.match(r"[a-zA-Z]*(\"\"\"|'''|\"|')", text)
        if head is None or len(head[1]) == 3 or _SENTENCE.search(text) or not _SQL.search(text):
            continue
        if "r" in text[: head.start(1)].lower():  # a pattern, whose signs mean something else
            continue
        body = text[head.end() : len(text) - len(head[1])]
        # the holes of an f-string, as those of the blocks, with as many characters
        holed = re.sub(r"(?<!\{)\{([^{}]+)\}", lambda hole: f"${{{hole[1][:-1]}}}", body)
        for edit in sql_edits(holed if "f" in text[: head.end()].lower() else body):
            if edit.operator == INTEGER or (edit.operator == "= to <>" and body.strip() == "="):
                continue
            first = start + head.end()
            yield Edit(
                first + edit.start, first + edit.end, edit.text, f"in SQL, {edit.operator}"
            )


def _strings(source: _Source) -> Iterator[tuple[int, int]]:
    """Where the literals are that are texts, f-strings among them."""
    opened: list[int] = []
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        name = tokenize.tok_name[token.type]
        (line, column), (last, end) = token.start, token.end
        first = source._starts[line - 1] + column
        if name == "FSTRING_START":
            opened.append(first)
        elif name == "FSTRING_END":
            begun = opened.pop()
            if not opened:
                yield begun, source._starts[last - 1] + end
        elif name == "STRING" and not opened:
            yield first, source._starts[last - 1] + end


def function_at(tree: ast.Module, line: int) -> tuple[str, int, str] | None:
    """The function, not inside of another, in whose body a line is: its name, the line where it
    begins with its decorators, and its name with that of its class."""
    def found(nodes: list[ast.stmt], names: str) -> tuple[str, int, str] | None:
        for node in nodes:
            if isinstance(node, ast.ClassDef) and node.lineno <= line <= (node.end_lineno or 0):
                return found(node.body, f"{names}{node.name}.")
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and (
                node.body[0].lineno <= line <= (node.end_lineno or 0)
            ):
                first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                return node.name, first, f"{names}{node.name}"
        return None

    return found(tree.body, "")
