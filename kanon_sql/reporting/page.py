"""The page of a report: one HTML file with its styles and charts in it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from kanon_sql.attacks.facts import LIMIT
from kanon_sql.reporting import charts
from kanon_sql.reporting.clauses import CLAUSES, YOURS, answers
from kanon_sql.reporting.facts import ReportFacts, SourceColumn
from kanon_sql.reporting.verdict import cards, concerns

HERE = files(__package__)

ORIGINS = {
    "call": "the call", "relation": "the relation of roles", "comment": "a comment on the column",
    "view": "a comment on a table of the view", "": "the rule for other columns",
}
"""Who decided the role of a column, in words."""


def page_of(facts: ReportFacts) -> str:
    """The HTML of a report."""
    template = _environment().get_template("page.html.jinja")
    return str(template.render(
        facts=facts, limit=LIMIT, cards=cards(facts), concerns=concerns(facts), charts=charts,
        clauses=[(each, answers(each, facts)) for each in CLAUSES], yours=YOURS,
        style=Markup(_text("page.css")),
    ))


@cache
def _text(name: str) -> str:
    return HERE.joinpath(name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    """Templates in which everything is escaped, but for what is said to be HTML."""
    environment = Environment(
        loader=FunctionLoader(_text), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )
    environment.filters |= {
        "number": number, "share": share, "rows": rows, "signed": signed, "svg": Markup,
        "json": lambda value: json.dumps(value, ensure_ascii=False), "error": error,
        "cell": cell, "named": named,
        "role": lambda role: str(role).replace("_", "-"), "points": points,
        "words": lambda name: str(name).replace("_", " ").capitalize(),
        "origin": lambda origin: ORIGINS.get(origin, origin),
    }
    return environment


def _data(value: float | None, text: str, metric: str = "") -> Markup:
    """A number as it is read, with its whole value for who reads the file by a program."""
    if value is None:
        return Markup('<span class="none">not shown</span>')
    said = f' data-metric="{escape(metric)}"' if metric else ""
    return Markup(f'<data value="{escape(repr(float(value)))}"{said}>{escape(text)}</data>')


def number(value: float | None, metric: str = "") -> Markup:
    """A number with as many digits as are read."""
    return _data(value, _figures(value), metric)


def _figures(value: float | None) -> str:
    if value is None:
        return ""
    if not math.isfinite(value):
        return "∞" if value > 0 else "-∞" if value < 0 else "not a number"
    if value == int(value):
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return _short(value)


def _short(value: float) -> str:
    """Three digits, and as many more as it takes not to look like a whole number."""
    return next(
        text for digits in range(3, 18) if float(text := f"{value:.{digits}g}") % 1 or digits == 17
    )


def share(value: float | None, metric: str = "") -> Markup:
    """A share as percent."""
    return _data(value, _percent(value), metric)


def _percent(value: float | None) -> str:
    if value is None:
        return ""
    if not math.isfinite(value):
        return "∞"
    percent = 100 * value
    if percent == int(percent):
        return f"{int(percent)} %"
    # of what isn't a whole number three digits, but never so few that it looks like all
    return f"{f'{percent:.3g}' if percent < 99.95 else _short(percent)} %"


def points(value: float) -> Markup:
    """A difference of two shares, in percentage points."""
    return _data(value, f"{100 * value + 0.0:.1f}".replace("-0.0", "0.0"))


def rows(value: float | None, metric: str = "") -> Markup:
    """A count."""
    return _data(value, "" if value is None else f"{value:,.0f}", metric)


def signed(value: float | None, metric: str = "") -> Markup:
    """A number between -1 and 1."""
    return _data(value, "" if value is None else f"{value:.2f}", metric)


def error(value: float | None, exact: bool) -> Markup:
    """The error of a number, compared with the source's."""
    if value is None:
        return Markup('<span class="none">not shown</span>')
    if value == 0:
        return _data(value, "none")
    if not math.isfinite(value):
        return _data(value, "over 100 %")
    return _data(value, _percent(value) if exact else f"at most {_percent(value)}")


def cell(value: str | None) -> str:
    """A value of a row; a number with no more digits than are read."""
    if value is None:
        return "NULL"
    return f"{float(value):.6g}" if re.fullmatch(r"-?\d+\.\d{5,}", value) else value


def named(columns: Sequence[SourceColumn], attribute: str) -> list[tuple[str, float]]:
    """Columns by name, with one of their numbers."""
    return [(column.name, getattr(column, attribute)) for column in columns]
