"""What the package says: descriptions, help, messages and docstrings, by their sources."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import kanon_sql
from kanon_sql.call.options import OPTIONS
from kanon_sql.cli.main import COMMANDS, STATUSES, kanon
from kanon_sql.hierarchies.kinds import KINDS
from kanon_sql.measure import (
    ledger_metrics,
    metrics,
    model_metrics,
    part_metrics,
    person_metrics,
    risk_metrics,
)
from kanon_sql.measure.metrics import Metric
from kanon_sql.methods import CHOICES
from tests.project.english.check import ROOT, Source
from tests.project.english.prose import CODE, Passage, passages, words

PACKAGE = ROOT / "kanon_sql"
REGISTERED = {"option", "Metric", "Method", "Kind", "KindOption", "part"}
"""Calls whose texts other sources have."""

CODE_LIKE = re.compile(
    r"\b(SELECT|FROM|WHERE|CASE|WHEN|COPY|CREATE|INSERT|UNION|JOIN|ORDER BY|GROUP BY|COALESCE|AS)\b"
    r'|::|->>|[=<>]{2}|</|</?\w+>|": |^import |\[[A-Z][a-z]\]|\bcoalesce\('
)
LEAST_WORDS = 4


def text_source(place: str, text: str, line: int = 0) -> Source:
    """A text that is no Markdown, as one passage."""
    plain = " ".join(re.sub(r"`+[^`]+`+", CODE, text).split())
    return Source(place, (Passage("paragraph", plain, ((0, line),)),))


def _option(place: str, text: str) -> Source:
    """A description of an option, whose words in quotes are items of a list, as in the tables."""
    items = re.split(r"[:;] (?='\w+' \w)", text)
    return Source(place, tuple(Passage("item", item, ((0, 0),)) for item in items))


def _options() -> Iterator[Source]:
    for option in OPTIONS.values():
        yield _option(f"option {option.name}", option.description)
        yield text_source(f"default of option {option.name}", option.default_text)


def _all_metrics() -> Iterator[Metric]:
    modules = (
        ledger_metrics, metrics, model_metrics, part_metrics, person_metrics, risk_metrics
    )

    def found(value: object) -> Iterator[Metric]:
        if isinstance(value, Metric):
            yield value
        elif isinstance(value, dict):
            for each in value.values():
                yield from found(each)
        elif isinstance(value, (tuple, list)):
            for each in value:
                yield from found(each)

    for module in modules:
        for value in vars(module).values():
            yield from found(value)


def _metrics() -> Iterator[Source]:
    known = {metric.name + metric.description: metric for metric in _all_metrics()}
    for metric in known.values():
        yield text_source(f"metric {metric.name}", metric.description)


def _methods() -> Iterator[Source]:
    for method in CHOICES.values():
        for part in ("summary", "guarantee", "cost"):
            yield text_source(f"{part} of method {method.name}", getattr(method, part))


def _kinds() -> Iterator[Source]:
    for kind in KINDS.values():
        yield text_source(f"kind {kind.name}", kind.description)
        for name, option in kind.options.items():
            yield text_source(f"option {name} of kind {kind.name}", option.description)


def _help() -> Iterator[Source]:
    described = {" ".join(option.description.split()) for option in OPTIONS.values()}
    for name, text in COMMANDS.items():
        yield text_source(f"kanon --help, {name}", text)
    for text in STATUSES.values():
        yield text_source("kanon --help, exit status", text)
    commands = {"": kanon, **{
        name: getattr(import_module(f"kanon_sql.cli.commands.{name}"), name) for name in COMMANDS
    }}
    for name, command in commands.items():
        place = f"kanon {name} --help".replace("  ", " ")
        for text in (command.help, command.epilog):
            for part in (text or "").split("\n\n"):
                yield text_source(place, part)
        for parameter in command.params:
            text = " ".join((getattr(parameter, "help", None) or "").split())
            if not any(text.startswith(known) for known in described if known):
                yield text_source(f"{place}, {'/'.join(parameter.opts)}", text)


def _docstring(place: str, text: str, first: int = 0) -> Source:
    """A docstring, each entry of its Args and Attributes by itself."""
    text = re.sub(r"^\s*(>>>|\.\.\. ).*$", "", text, flags=re.M)
    text = re.sub(r"^\s*(Args|Attributes|Returns|Raises|Yields):\s*$", "", text, flags=re.M)
    text = re.sub(r"^\s*(\*{0,2}\w+)(?: \([^)]*\))?: ", r"\n- \1: ", text, flags=re.M)
    found = []
    for passage in passages(inspect.cleandoc(text)):
        plain = re.sub(r"^\w+: (?=[a-z])", "", passage.text)
        found.append(Passage("paragraph", plain, ((0, first),)))
    return Source(place, tuple(found))


def _docstrings() -> Iterator[Source]:
    yield _docstring("kanon_sql", kanon_sql.__doc__ or "")
    described = [option.description for option in OPTIONS.values()]
    for name in kanon_sql.__all__:
        named = getattr(kanon_sql, name)
        if not callable(named):
            continue
        text = inspect.getdoc(named) or ""
        for known in described:
            text = text.replace(known, "")
        yield _docstring(f"kanon_sql.{name}", text)
        if inspect.isclass(named):
            for own, value in vars(named).items():
                if not own.startswith("_") and (own_text := inspect.getdoc(value)) and (
                    callable(value) or isinstance(value, property)
                ):
                    yield _docstring(f"kanon_sql.{name}.{own}", own_text)


def _called(node: ast.Call) -> str:
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _said(node: ast.expr) -> str | None:
    """A literal text, what is filled in as code."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(
            part.value if isinstance(part, ast.Constant) else CODE for part in node.values
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _said(node.left), _said(node.right)
        return None if left is None and right is None else (left or CODE) + (right or CODE)
    return None


def _literals(node: ast.AST, raised: bool = False) -> Iterator[tuple[int, str]]:
    """The texts of a module that are no docstrings: those of errors, and all that read as prose."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue
        if isinstance(child, ast.Call) and _called(child) in REGISTERED:
            continue
        text = _said(child) if isinstance(child, ast.expr) else None
        if text is not None:
            spelt = re.sub(r"\{[^{}]*\}|\$\{\w+\}", CODE, text)
            if words(spelt) >= LEAST_WORDS and (raised or not CODE_LIKE.search(spelt)):
                yield child.lineno, spelt
            continue
        error = isinstance(child, ast.Call) and _called(child).endswith("Error")
        yield from _literals(child, raised or error)


def messages(path: Path) -> Iterator[Source]:
    """The texts that a module can say."""
    place = path.relative_to(ROOT).as_posix()
    for line, text in _literals(ast.parse(path.read_text(encoding="utf-8"))):
        yield text_source(place, text, line)


def _messages_of(folder: Path) -> Callable[[], Iterator[Source]]:
    def found() -> Iterator[Source]:
        paths = folder.glob("*.py") if folder == PACKAGE else folder.rglob("*.py")
        for path in sorted(paths):
            yield from messages(path)
    return found


def _sql() -> Iterator[Source]:
    for path in sorted((ROOT / "sql").rglob("*.sql")):
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            for text in re.findall(r"'((?:[^']|'')*)'", line.split("-- ")[0]):
                if words(text) > LEAST_WORDS and not CODE_LIKE.search(text):
                    yield text_source(path.relative_to(ROOT).as_posix(), text, number)


def _report() -> Iterator[Source]:
    for path in sorted((PACKAGE / "reporting").glob("*.jinja")):
        text = re.sub(r"\{%.*?%\}|\{#.*?#\}|<(style|script).*?</\1>", _lines,
                      path.read_text("utf-8"), flags=re.DOTALL)
        text = re.sub(r"</?(a|b|i|em|strong|code|span)\b[^>]*>", "", text)
        text = re.sub(r"\{\{.*?\}\}", CODE, text, flags=re.DOTALL)
        text = re.sub(r"<[^>]*>", lambda match: "\n\n" + _lines(match), text)
        for part in re.split(r"\n\s*\n", text):
            if words(part) >= LEAST_WORDS:
                yield text_source(path.relative_to(ROOT).as_posix(), part)


def _lines(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


FOLDERS = sorted(
    path for path in PACKAGE.iterdir() if path.is_dir() and any(path.rglob("*.py"))
)

SOURCES: dict[str, Callable[[], Iterator[Source]]] = {
    "options": _options,
    "metrics": _metrics,
    "methods": _methods,
    "kinds": _kinds,
    "help": _help,
    "docstrings": _docstrings,
    "report": _report,
    "messages:sql": _sql,
    "messages:kanon_sql": _messages_of(PACKAGE),
    **{f"messages:{folder.name}": _messages_of(folder) for folder in FOLDERS},
}
"""Messages are by the folder of the package."""
