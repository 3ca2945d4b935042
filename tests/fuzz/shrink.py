"""Makes a failing case smaller: fewer rows, columns, options and values, as long as it fails in the
same way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tests.fuzz.case import Case, Column

Faults = Callable[[Case], tuple[str, ...]]
MOST_TRIES = 120


def kind_of(fault: str) -> str:
    """A fault without its values, so that it is known again in a smaller case."""
    return re.sub(r"'[^']*'|\d+(\.\d+)?|\[[^\]]*\]", "_", fault)[:60]


def shrunk(case: Case, fault: str, faults: Faults) -> Case:
    """The smallest case found that has a fault of the same kind."""
    sought, tries, found = kind_of(fault), 0, True
    while found and tries < MOST_TRIES:
        found = False
        for smaller in _smaller(case):
            tries += 1
            if any(kind_of(each) == sought for each in faults(smaller)):
                case, found = smaller, True
                break
            if tries >= MOST_TRIES:
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    """Cases with less, the much smaller ones first."""
    for name in list(case.options):
        if name not in ("k", "quasi_identifiers"):
            rest = {key: value for key, value in case.options.items() if key != name}
            yield replace(case, options=rest)
    if case.roles_in != "options":
        yield replace(case, roles_in="options")
    if case.tables:
        yield replace(case, tables={})
    size = case.rows // 2
    while size >= 1:
        for start in range(0, case.rows, size):
            kept = [row for row in range(case.rows) if not start <= row < start + size]
            if kept:
                yield replace(case, columns=tuple(c.take(kept) for c in case.columns))
        size //= 2
    if len(case.columns) > 1:
        for column in case.columns:
            yield _without(case, column.name)
    for i, column in enumerate(case.columns):
        if not re.fullmatch(r"c\d+", column.name):
            yield _renamed(case, column.name, f"c{i}")
        for value in sorted({v for v in column.values if v is not None}, key=len, reverse=True)[:3]:
            if len(column.values) > 1 and column.values[0] not in (None, value):
                values = tuple(column.values[0] if v == value else v for v in column.values)
                yield replace(case, columns=tuple(
                    Column(c.name, c.type, values) if c is column else c for c in case.columns
                ))


def _mapped(value: Any, change: Callable[[str], str | None]) -> Any:
    """An option with the names of columns changed; None where nothing is left."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        kept = [change(each) if isinstance(each, str) else each for each in value]
        return [each for each in kept if each is not None] or None
    if isinstance(value, dict):
        pairs = [(change(key), each) for key, each in value.items()]
        return {key: each for key, each in pairs if key is not None} or None
    return value


def _changed(case: Case, change: Callable[[str], str | None]) -> dict[str, Any]:
    found = {name: _mapped(value, change) for name, value in case.options.items()}
    return {name: value for name, value in found.items() if value is not None}


def _without(case: Case, name: str) -> Case:
    columns = tuple(c for c in case.columns if c.name != name)
    options = _changed(case, lambda each: None if each == name else each)
    return replace(case, columns=columns, options=options)


def _renamed(case: Case, old: str, new: str) -> Case:
    columns = tuple(Column(new, c.type, c.values) if c.name == old else c for c in case.columns)
    return replace(case, columns=columns, options=_changed(
        case, lambda each: new if each == old else each
    ))
