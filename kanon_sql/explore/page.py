"""The page: controls on one side, answers on the other. It holds no logic of releases."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from time import perf_counter
from typing import Any

from fastapi import FastAPI
from nicegui import ui

from kanon_sql.call.choices import EFFORTS
from kanon_sql.explore import views
from kanon_sql.explore.answers import (
    ColumnsFound,
    FrontierPoint,
    Refused,
    ReleaseNumbers,
    ShownRows,
    Stage,
)
from kanon_sql.explore.choices import CONTROLS, Choices, control_of
from kanon_sql.explore.column_list import ColumnList
from kanon_sql.explore.controls import alert, button, raw, said, select, slider, switch, tag
from kanon_sql.explore.explorer import Explorer
from kanon_sql.explore.taking import Taking
from kanon_sql.methods import CHOICES as METHODS

K_STEPS = (2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200)
L_STEPS = (None, 2, 3, 4, 5, 6, 8, 10)
T_STEPS = (None, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05)
"""The steps of the sliders; None is no model."""

FIRST_METHODS = ("mdav_star", "mdav_plus", "k_member", "mondrian", "full_domain", "best", "auto")
"""The methods that stand first in the menu."""

PARTS = {
    "columns": "Columns", "protection": "Protection", "worth": "Worth",
    "columns-after": "Before and after", "rows": "Rows", "take": "Take this",
}
"""The parts of the page, by the place of each."""

WAITS = 60.0
"""Seconds for which choices are kept of a page that has no connection."""

ICON = (
    '<svg viewBox="0 0 16 16" xmlns="http://www.w3.org/2000/svg"><circle cx="5" cy="5" r="3" '
    'fill="#1f5fbf"/><circle cx="11" cy="5" r="3" fill="#1f5fbf"/><circle cx="8" cy="11" r="3" '
    'fill="#1f5fbf"/></svg>'
)
WORKING, DONE, STOPPED = "Computing\N{HORIZONTAL ELLIPSIS}", "Up to date, {:.1f} s.", "Stopped."
FRONTIER = "Numbers in {:.1f} s. The frontier fills in\N{HORIZONTAL ELLIPSIS}"
KEPT = "Refused. The last release that worked is shown."


def app_of(explorer: Explorer) -> FastAPI:
    """The application whose only page is about a table."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    title = f"{explorer.bench.table.named.title} \N{EM DASH} kanon explore"

    def page() -> None:
        ExplorePage(explorer).build()

    ui.page("/", title=title)(page)
    ui.run_with(
        app, title=title, favicon=ICON, dark=None, language="en-US", tailwind=False,
        show_welcome_message=False, reconnect_timeout=WAITS,
    )
    return app


def _style() -> str:
    report = files("kanon_sql.reporting").joinpath("page.css").read_text(encoding="utf-8")
    own = files(__package__).joinpath("explore.css").read_text(encoding="utf-8")
    return f"<style>{report}\n{own}</style>"


class ExplorePage:
    """One visit: what was chosen, and the answers that are shown."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer, self.choices = explorer, explorer.first
        self.show_values = False
        self.ready = False
        self.refused = ""
        self._client = ui.context.client
        self._lane = explorer.lane()
        self._client.on_delete(lambda: explorer.forget(self._lane, *self.columns.lanes))
        self._loop = asyncio.get_running_loop()
        self._asked = 0
        self._since = perf_counter()
        self._base = ""
        self._points: dict[int, FrontierPoint] = {}
        self._alerts: dict[str, Any] = {}

    def build(self) -> None:
        """Makes the page."""
        ui.add_head_html(_style())
        with tag("div", classes="explore"):
            self._header()
            with tag("main", classes="bench"):
                self.columns = ColumnList(
                    self.explorer, self.choose, self._tells,
                    lambda: (self.choices, self.show_values),
                )
                with tag("div", classes="answers"):
                    self._protection()
                    self._worth()
                    self.taking = Taking(self)
            with tag("footer"):
                tag("p", "This page is served by this machine only. No data leaves it.")
        self.choose(self.choices)

    def _header(self) -> None:
        table = self.explorer.bench.table
        with tag("header"):
            with tag("div", classes="top"):
                with tag("div"):
                    tag("p", "kanon explore", "kicker")
                    tag("h1", table.named.title)
                with tag("div", classes="turn"):
                    switch("Show values", self._turn, "values-hint")
                    tag("p", "Of the source. Identifiers stay hidden.", "small", id="values-hint")
            tag("p", views.lead(table), "lead")
            with tag("nav", aria_label="Parts of the page"), tag("ul"):
                for place, text in PARTS.items():
                    with tag("li"):
                        tag("a", text, href=f"#{place}")

    def _protection(self) -> None:
        with tag("section", classes="protection", aria_labelledby="protection"):
            tag("h2", "Protection", id="protection")
            with tag("div", classes="controls"):
                with tag("div"):
                    slider("k, rows per class", [str(k) for k in K_STEPS],
                           K_STEPS.index(self.choices.k),
                           lambda at: self.choose(replace(self.choices, k=K_STEPS[at])))
                    self._alerts["k"] = alert()
                with tag("div"):
                    self._l = slider(
                        "l, sensitive values per class", _texts(L_STEPS), 0,
                        lambda at: self.choose(replace(self.choices, l=L_STEPS[at])))
                    self._alerts["l"] = alert()
                with tag("div"):
                    self._t = slider(
                        "t, distance per class", _texts(T_STEPS), 0,
                        lambda at: self.choose(replace(self.choices, t=T_STEPS[at])))
                    self._alerts["t"] = alert()
                with tag("div", classes="wide"):
                    with tag("label", classes="field"):
                        tag("span", "Method")
                        select("Method", _methods(), self.choices.method, self._method)
                    self._about = tag("p", METHODS[self.choices.method].summary, "small")
                    self._alerts["method"] = alert()
                with tag("div"):
                    with tag("label", classes="field"):
                        tag("span", "Effort")
                        select("Effort", [("", "as the method does"), *((e, e) for e in EFFORTS)],
                               "", lambda word: self.choose(
                                   replace(self.choices, effort=word or None)))
                    self._alerts["effort"] = alert()
            self._models_hint = tag(
                "p", "l and t need a sensitive column. Give one this role.", "small")
            self._alerts[""] = alert()

    def _worth(self) -> None:
        with tag("section", aria_labelledby="worth"):
            with tag("div", classes="titled"):
                tag("h2", "What the release is worth", id="worth")
                with tag("div", classes="state"):
                    self._status = tag("p", "", "small", role="status", aria_live="polite")
                    self._stop = button("Stop", self._halt, "quiet")
            self._cards = raw(views.cards(None, 0))
            with tag("div", classes="two"):
                with tag("section", aria_labelledby="frontier"):
                    tag("h3", "Risk and loss by k", id="frontier")
                    self._frontier = raw(views.frontier({}, 0))
                with tag("section", aria_labelledby="sizes"):
                    tag("h3", "Rows by the size of their class", id="sizes")
                    raw(LEGEND)
                    self._sizes = raw(views.class_sizes(None))
        with tag("section", aria_labelledby="columns-after"):
            tag("h2", "Columns before and after", id="columns-after")
            raw(LEGEND)
            self._after = raw("", classes="grid")
        with tag("section", aria_labelledby="rows"):
            tag("h2", "Five rows of the release", id="rows")
            tag("p", "Each is of another class.", "small")
            self._rows = raw(views.rows_of(None))

    def choose(self, choices: Choices) -> None:
        """Takes other choices, and begins to answer them."""
        self.choices = choices
        self.columns.follow(choices)
        needless = not choices.of_role("sensitive")
        for line in (self._l, self._t):
            line.props["disabled"] = needless
            line.update()
        self._models_hint.set_visibility(needless)
        self._ask()

    def _method(self, name: str) -> None:
        if name in METHODS:
            self._about.set_text(METHODS[name].summary)
            self.choose(replace(self.choices, method=name))

    def _turn(self, on: bool) -> None:
        self.show_values = on
        self.columns.close_previews()
        self._ask()

    def _ask(self) -> None:
        self._asked += 1
        self.ready, self.refused, self._since = False, "", perf_counter()
        self.taking.close()
        said(self._status, WORKING)
        self._stop.set_visibility(True)
        choices, show = self.choices, self.show_values
        self._lane.start(
            lambda con: self.explorer.bench.stages(con, choices, show), self._tells(self._asked)
        )

    def _tells(
        self, asked: int, take: Callable[[Stage | None], None] | None = None
    ) -> Callable[[Stage | None], None]:
        """What takes the parts of an answer in the thread that makes them, as HTML already, and
        shows them where the page's own work is done."""
        def tell(stage: Stage | None) -> None:
            parts = _rendered(stage)
            self._loop.call_soon_threadsafe(show, stage, parts)

        def show(stage: Stage | None, parts: tuple[str, ...]) -> None:
            if take is None and asked != self._asked:
                return
            with self._client:
                if take is None:
                    self._take(stage, parts)
                else:
                    take(stage)

        return tell

    def _take(self, stage: Stage | None, parts: tuple[str, ...]) -> None:
        """Shows a part of an answer."""
        passed = perf_counter() - self._since
        if isinstance(stage, ColumnsFound):
            self.columns.found(stage)
        elif isinstance(stage, Refused):
            self.refused = stage.sentence
            self._refuse(stage.sentence)
            said(self._status, KEPT)
            self._stop.set_visibility(False)
        elif isinstance(stage, ReleaseNumbers):
            self._refuse("")
            self.ready = True
            self._cards.set_content(views.cards(stage, self.choices.k))
            base = replace(self.choices, k=0).key()
            if base != self._base:
                self._base, self._points = base, {}
            self._frontier.set_content(views.frontier(self._points, self.choices.k))
            said(self._status, FRONTIER.format(passed))
        elif isinstance(stage, ShownRows):
            for place, html in zip((self._sizes, self._after, self._rows), parts, strict=True):
                place.set_content(html)
        elif isinstance(stage, FrontierPoint):
            self._points[stage.k] = stage
            self._frontier.set_content(views.frontier(self._points, self.choices.k))
        elif stage is None and not self.refused:
            said(self._status, DONE.format(passed))
            self._stop.set_visibility(False)

    def _refuse(self, sentence: str) -> None:
        """Shows a refusal next to the control that it is about, and none elsewhere."""
        place = control_of(sentence, self.choices) if sentence else ""
        for name in (*CONTROLS, ""):
            said(self._alerts[name], sentence if name == place else "")
        column = place.removeprefix("column:") if place.startswith("column:") else None
        self.columns.refuse(column, sentence)

    def _halt(self) -> None:
        self._asked += 1
        self._lane.leave()
        said(self._status, STOPPED)
        self._stop.set_visibility(False)


LEGEND = (
    '<p class="legend"><span class="swatch before"></span>source'
    '<span class="swatch after"></span>release</p>'
)


def _rendered(stage: Stage | None) -> tuple[str, ...]:
    """What takes long to draw."""
    if not isinstance(stage, ShownRows):
        return ()
    return (
        views.class_sizes(stage), views.before_and_after(stage.distributions),
        views.rows_of(stage),
    )


def _texts(steps: tuple[int | float | None, ...]) -> list[str]:
    return ["off" if step is None else f"{step:g}" for step in steps]


def _methods() -> list[tuple[str, str]]:
    """The methods, those first that most tables are released with."""
    names = [*FIRST_METHODS, *(name for name in METHODS if name not in FIRST_METHODS)]
    return [(name, f"{name}, {METHODS[name].use}") for name in names]
