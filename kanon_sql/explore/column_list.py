"""The columns of the source, with a role and a hierarchy for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kanon_sql.explore import views
from kanon_sql.explore.answers import ColumnFacts, ColumnsFound, Preview, Refused, Stage
from kanon_sql.explore.choices import GENERALIZED, Choices, as_spec
from kanon_sql.explore.controls import alert, button, field, raw, said, select, tag
from kanon_sql.explore.explorer import Explorer
from kanon_sql.explore.lane import Lane
from kanon_sql.hierarchies.kinds import KINDS

Tell = Callable[[Stage | None], None]


@dataclass
class _Line:
    """The elements of a column."""

    warnings: Any
    alert: Any
    tree: Any
    fields: Any
    levels: Any
    options: dict[str, str]
    kind: str = ""
    lane: Lane | None = None
    shown: bool = False


class ColumnList:
    """The section of the columns."""

    def __init__(
        self, explorer: Explorer, choose: Callable[[Choices], None],
        tells: Callable[[int, Tell], Tell], now: Callable[[], tuple[Choices, bool]],
    ) -> None:
        """
        Args:
            explorer: what is explored.
            choose: takes other choices.
            tells: makes what takes an answer of a lane to the page.
            now: the choices, and whether values are shown.
        """
        self._explorer, self._choose, self._now = explorer, choose, now
        self._tells = tells
        self._lines: dict[str, _Line] = {}
        with tag("section", classes="columns", aria_labelledby="columns"):
            tag("h2", "Columns", id="columns")
            tag("p", "Roles are suggested by the values. You decide them.", "small")
            with tag("ul", classes="plain"):
                for column in explorer.found.columns:
                    self._line(column)

    def _line(self, column: ColumnFacts) -> None:
        name = column.name
        choices, _ = self._now()
        with tag("li", classes="one"):
            with tag("div", classes="about"):
                tag("h3", name)
                tag("span", views.facts_of(column), "small")
            select(
                f"Role of {name}", list(views.ROLE_NAMES.items()), choices.roles[name],
                lambda role: self._choose(self._now()[0].with_role(name, role)),
            )
            with tag("div", classes="tree") as tree:
                with tag("div", classes="pick"):
                    select(f"Hierarchy of {name}", _kinds(column), "",
                           lambda kind: self._pick(name, kind))
                    button("Levels", lambda: self._open(name), "quiet",
                           aria_label=f"Levels of the hierarchy of {name}")
                fields = tag("div", classes="fields")
                levels = raw("", classes="levels")
            refusal = alert()
            warnings = raw("", classes="warnings")
            self._lines[name] = _Line(warnings, refusal, tree, fields, levels, {})

    def follow(self, choices: Choices) -> None:
        """Shows what belongs to the roles."""
        for name, line in self._lines.items():
            generalized = choices.roles[name] == GENERALIZED
            line.tree.set_visibility(generalized)
            if not generalized:
                line.shown = False
                line.levels.set_content("")

    def found(self, stage: ColumnsFound) -> None:
        """Shows what to know of the columns."""
        choices, _ = self._now()
        for column in stage.columns:
            warnings = views.warnings_of(column, choices.roles[column.name])
            self._lines[column.name].warnings.set_content(views.listed(warnings))

    def refuse(self, column: str | None, sentence: str) -> None:
        """Shows a refusal at a column, and none at the others."""
        for name, line in self._lines.items():
            said(line.alert, sentence if name == column else "")

    def close_previews(self) -> None:
        """Takes the levels away."""
        for line in self._lines.values():
            line.shown = False
            line.levels.set_content("")

    def _pick(self, name: str, kind: str) -> None:
        """Takes another kind, and makes the fields of its options."""
        line = self._lines[name]
        line.kind, line.options = kind, {}
        line.fields.clear()
        if kind in KINDS and KINDS[kind].options:
            needed = any(told.required for told in KINDS[kind].options.values())
            with line.fields, tag("details") as details:
                details.props["open"] = needed
                tag("summary", f"Options of {kind}")
                for option, told in KINDS[kind].options.items():
                    field(
                        f"{option} of {name}", "", self._typed(name, option),
                        told.example if told.required else _hint(told.default), "change",
                    )
                    tag("p", told.description, "small")
        self._changed(name)

    def _typed(self, name: str, option: str) -> Callable[[str], None]:
        def typed(text: str) -> None:
            self._lines[name].options[option] = text
            self._changed(name)

        return typed

    def _changed(self, name: str) -> None:
        line = self._lines[name]
        choices, _ = self._now()
        self._choose(choices.with_hierarchy(name, line.kind, **line.options))
        if line.shown:
            self._preview(name)

    def _open(self, name: str) -> None:
        line = self._lines[name]
        line.shown = not line.shown
        if line.shown:
            self._preview(name)
        else:
            line.levels.set_content("")

    def _preview(self, name: str) -> None:
        line, (choices, show_values) = self._lines[name], self._now()
        if not line.kind:
            line.levels.set_content('<p class="small">Choose a hierarchy first.</p>')
            return

        def take(stage: Stage | None) -> None:
            if not line.shown or self._now()[1] != show_values:
                return
            if isinstance(stage, Preview):
                line.levels.set_content(views.levels(stage, show_values))
            elif isinstance(stage, Refused):
                line.levels.set_content("")
                said(line.alert, stage.sentence)

        bench = self._explorer.bench
        if line.lane is None:
            line.lane = self._explorer.lane()
        line.lane.start(
            lambda con: bench.preview(con, choices, name, show_values), self._tells(0, take)
        )

    @property
    def lanes(self) -> list[Lane]:
        """Where previews are computed."""
        return [line.lane for line in self._lines.values() if line.lane is not None]


def _kinds(column: ColumnFacts) -> list[tuple[str, str]]:
    spec = as_spec(column.suggested_hierarchy or "")
    suggested = spec["kind"] if isinstance(spec, dict) else spec
    return [
        ("", "No hierarchy"),
        *((kind, f"{kind} (suggested)" if kind == suggested else kind) for kind in KINDS),
    ]


def _hint(default: Any) -> str:
    return "automatic" if default is None else f"{default}"
