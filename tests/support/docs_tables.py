"""The tables of the documentation, each made from the registry that it shows.

A table stands in a page between ``<!-- name -->`` and ``<!-- end -->``; BLOCKS says which function
makes it. ``GOLDEN=write pytest tests/project/test_docs.py`` renews them all.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from textwrap import fill

from kanon_sql.call.options import GROUPS, OPTIONS
from kanon_sql.hierarchies.kinds import KINDS
from kanon_sql.measure.audit_metrics import AUDIT
from kanon_sql.measure.column_metrics import OF_COLUMN
from kanon_sql.measure.ledger_metrics import LEDGER, OF_HEADROOM
from kanon_sql.measure.metrics import ATTRIBUTE, DIVERSITY, METRICS, VERBATIM, Metric
from kanon_sql.measure.model_metrics import LOSS, OF_ALL_CLASSES, OF_MODELS, OF_PEOPLE
from kanon_sql.measure.part_metrics import PARTS
from kanon_sql.measure.person_metrics import PERSONS
from kanon_sql.measure.risk_metrics import BY_SUBSET, DRIVES, RISK, WEIGHTED
from kanon_sql.methods import METHODS
from kanon_sql.option import Option, options_of
from kanon_sql.reporting.clauses import CLAUSES, YOURS
from kanon_sql.udfs import FUNCTIONS
from tests.project.test_layers import EXCEPTIONS, MAY_IMPORT
from tests.support import docs_calls, engines, looked_at, one_call, recipes

ROOT = Path(__file__).parents[2]

LONGEST = 300
"""Characters of a cell; what is longer becomes a list under the table."""

OPTION_GROUPS = {group: tuple(options_of(holder)) for group, holder in GROUPS.items()}
"""The options of every call, as docs/options.md has them. All others belong to single methods, and
stand with them in docs/methods.md."""

FAMILIES = tuple(dict.fromkeys(method.family.rpartition(".")[2] for method in METHODS.values()))

UNITS = {"${distance}": "of the distance", "${objective}": "of the cost"}
"""What is said of a unit that depends on the call."""


def points_of(text: str) -> list[str]:
    """A long text in parts: its beginning, up to where words in quotes are explained or else to a
    colon or semicolon, and its points, which semicolons and full stops part (outside of
    parentheses)."""
    found = (
        re.search(r": (?=(?:with )?')", text) or re.search(r"[:;] ", text) or re.search("$", text)
    )
    assert found is not None
    points = re.split(r"; (?![^(]*\))|(?<=[a-z)])\. ", text[found.end():].rstrip("."))
    return [text[: found.start()], *points]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; a row whose last cell is too long continues in a list under it."""
    lines, below = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)], []
    for row in rows:
        last = row[-1]
        if len(last) > LONGEST:
            start, *points = points_of(last)
            last = f"{start} (see below)" + "." * last.endswith(".")
            below += ["", f"{row[0]}:", "", *(f"- {point}" for point in points)]
        lines.append(f"| {' | '.join([*row[:-1], last])} |".replace("  ", " "))
    return "\n".join(lines + below).replace("*", r"\*")  # a star would begin emphasis


def options(names: Iterable[str]) -> str:
    """Some options, in the order of the registry."""
    chosen = set(names)
    return table(
        ("option", "type", "default", "meaning"),
        [(f"`{o.name}`", o.type, o.default_text, o.description)
         for o in OPTIONS.values() if o.name in chosen],
    )


def own_options(family: str) -> list[tuple[str, ...]]:
    """The options that only methods of a family take, as each says them, once for those that say
    the same."""
    rows: dict[Option, list[str]] = {}
    for method in METHODS.values():
        if method.family.endswith(f".{family}"):
            for known in options_of(method.own).values():
                rows.setdefault(known, []).append(f"`{method.name}`")
    return [
        (f"`{o.name}`", ", ".join(takers), o.type, o.default_text,
         o.description[0].upper() + o.description[1:])
        for o, takers in rows.items()
    ]


def options_of_family(family: str) -> str:
    """The options that only methods of a family take."""
    return table(("option", "of", "type", "default", "meaning"), own_options(family))


def methods(family: str) -> str:
    """The methods of a family."""
    return table(
        ("method", "what it does", "guarantee", "under a privacy model", "cost", "source"),
        [(f"`{m.name}`", m.summary, m.guarantee, m.repair, m.cost, m.source)
         for m in METHODS.values() if m.family.endswith(f".{family}")],
    )


def kinds() -> str:
    """The kinds of hierarchies."""
    return table(
        ("kind", "what it makes"), [(f"`{k.name}`", k.description) for k in KINDS.values()]
    )


def kind_options() -> str:
    """The options of the kinds that have any."""
    return table(
        ("kind", "option", "meaning"),
        [(f"`{kind.name}`", f"`{name}`", option.description)
         for kind in KINDS.values() for name, option in kind.options.items()],
    )


def metrics(chosen: Iterable[Metric]) -> str:
    """Metrics: a text's unit is said to be one."""
    return table(
        ("metric", "unit", "meaning"),
        [(f"`{m.name}`", UNITS.get(m.unit, m.unit) or ("text" if m.is_text else ""), m.description)
         for m in chosen],
    )


def metrics_besides(chosen: Sequence[Metric], known: Iterable[Metric]) -> str:
    """Metrics, of those that another table has only the names."""
    meant = {(each.name, each.unit, each.description) for each in known}
    same = [m for m in chosen if (m.name, m.unit, m.description) in meant]
    names = ", ".join(f"`{m.name}`" for m in same)
    return f"As above: {names}.\n\n" + metrics(m for m in chosen if m not in same)


def folders() -> str:
    """Every package, and the first line of what it says of itself."""
    rows = []
    for top in ("kanon_sql", "udfs", "sql"):
        for path in sorted((ROOT / top).rglob("__init__.py")):
            folder, text = path.parent.relative_to(ROOT), path.read_text(encoding="utf-8")
            if folder.as_posix() != "kanon_sql":
                line = (ast.get_docstring(ast.parse(text)) or "").partition("\n\n")[0]
                rows.append((f"`{folder.as_posix()}/`", line.replace("\n", " ")))
    return table(("folder", "what is in it"), rows)


def _coded(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names)) or "nothing"


def layers() -> str:
    """What each folder may import."""
    return table(
        ("folder", "may import, of kanon_sql", "and from outside"),
        [(f"`{folder}`", _coded(ours), _coded(outside))
         for folder, (ours, outside) in MAY_IMPORT.items()],
    )


def exceptions() -> str:
    """The modules that may import something else besides."""
    return table(
        ("module", "may also import"),
        [(f"`{module}`", _coded(ours)) for module, ours in EXCEPTIONS.items()],
    )


def functions() -> str:
    """The functions that DuckDB calls, with their types."""
    lines = (
        fill(f"{each.name}({', '.join(each.parameters)}) -> {each.returns}", 100,
             subsequent_indent="    ", break_long_words=False)
        for each in FUNCTIONS
    )
    return "```text\n" + "\n".join(lines) + "\n```"


def file(name: str) -> str:
    """A file of the repository, as code under its name."""
    language = {".sql": "sql+jinja", ".yml": "yaml"}[Path(name).suffix]
    text = (ROOT / name).read_text(encoding="utf-8").rstrip()
    return f"```{language} {name}\n{text}\n```"


def clauses() -> str:
    """Clauses of texts, and the figures of a report that answer them."""
    return table(("clause", "requirement", "figures"), (
        (f"{each.text}, {each.place}", each.asks,
         ", ".join(f"`{name}`" for name in each.figures) or YOURS)
        for each in CLAUSES
    ))


FILES = ("examples/dbt/models/monthly.sql", "examples/dbt/tests/ledger_keeps_k.sql")
"""Files that a page shows as they are."""

BLOCKS: dict[str, Callable[[], str]] = {
    **{f"options: {group}": partial(options, names) for group, names in OPTION_GROUPS.items()},
    **{f"methods: {family}": partial(methods, family) for family in FAMILIES},
    **{f"options of {family}": partial(options_of_family, family)
       for family in FAMILIES if own_options(family)},
    "proven options": lambda: ", ".join(f"`{o.name}`" for o in OPTIONS.values() if o.proven),
    "kinds": kinds,
    "options of kinds": kind_options,
    "metrics": partial(metrics, METRICS),
    "metrics: each sensitive column": partial(metrics, DIVERSITY),
    "metrics: each privacy model": lambda: metrics((
        *OF_MODELS, replace(LOSS, unit="percent, or cells")
    )),
    "metrics: all classes": partial(metrics, tuple(OF_ALL_CLASSES.values())),
    "metrics: people": partial(metrics, tuple(m for both in OF_PEOPLE.values() for m in both)),
    "metrics: each quasi-identifier": partial(
        metrics, (ATTRIBUTE, VERBATIM, *OF_COLUMN.values())
    ),
    "metrics: audit": partial(metrics_besides, AUDIT, METRICS),
    "metrics: risk": partial(metrics, RISK),
    "metrics: risk by columns": partial(metrics, (DRIVES, *BY_SUBSET)),
    "metrics: weights": partial(metrics, WEIGHTED),
    "metrics: releases": partial(metrics, (*LEDGER, *OF_HEADROOM)),
    "metrics: persons": partial(metrics, PERSONS),
    "metrics: parts": partial(metrics, PARTS),
    "called functions": functions,
    "folders": folders,
    "layers": layers,
    "exceptions": exceptions,
    "looked at": looked_at.shown,
    "engines": engines.shown,
    "clauses": clauses,
    **docs_calls.BLOCKS,
    **one_call.BLOCKS,
    **{f"file: {name}": partial(file, name) for name in FILES},
    **{f"recipe: {name}": partial(recipes.shown, name) for name in recipes.MOST_FILES},
}
"""What stands between the marks of a page."""
