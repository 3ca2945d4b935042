"""Native controls of a page, each with a name: what a keyboard and a screen reader know."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

Handler = Callable[[str], Any]

VALUE, CHECKED = "(e) => emit(e.target.value)", "(e) => emit(e.target.checked)"


def tag(name: str, text: str | None = None, classes: str = "", **props: Any) -> Any:
    """An element; ``props``: its attributes, with _ for -. A text is never read as HTML."""
    element = ui.element(name) if text is None else TextElement(tag=name, text=text)
    if classes:
        element.classes(classes)
    for key, value in props.items():
        element.props[key.rstrip("_").replace("_", "-")] = value
    return element


def raw(html: str, name: str = "div", classes: str = "") -> Any:
    """HTML of our own, in which everything of a table is escaped."""
    return ui.html(html, sanitize=False, tag=name).classes(classes)


def said(element: Any, text: str) -> None:
    """Another text of an element; without any, it is not there."""
    element.set_text(text)
    element.set_visibility(bool(text))


def alert() -> Any:
    """A place for a refusal, which is there when there is one."""
    place = tag("p", "", "refusal", role="alert")
    place.set_visibility(False)
    return place


def select(
    label: str, options: Sequence[tuple[str, str]], value: str, chosen: Handler,
    classes: str = "",
) -> Any:
    """A menu; ``options``: each a value and what it is called."""
    menu = tag("select", classes=classes, aria_label=label)
    with menu:
        for own, text in options:
            # an attribute, which sets what is chosen at first and leaves later choices alone
            option = tag("option", text, **{"^value": own})
            if own == value:
                option.props["^selected"] = ""
    menu.on("change", lambda event: chosen(event.args), js_handler=VALUE)
    return menu


def field(label: str, value: str, typed: Handler, hint: str = "", event: str = "input") -> Any:
    """A line of text with its name above."""
    with tag("label", classes="field"):
        tag("span", label)
        line = tag("input", type="text", autocomplete="off", spellcheck="false", **{
            "^value": value, "placeholder": hint,
        })
    line.on(event, lambda event: typed(event.args), js_handler=VALUE)
    return line


def slider(
    label: str, texts: Sequence[str], at: int, moved: Callable[[int], Any], hint: str = "",
) -> Any:
    """A slider over some steps, each with a text, which stands next to it while it moves."""
    shown = json.dumps(list(texts))
    name = f"slider-{label.split()[0]}"
    with tag("div", classes="slider"):
        with tag("div", classes="named"):
            tag("label", label, **{"for": name})
            tag("output", texts[at], **{"for": name})
        line = tag("input", type="range", id=name, min="0", max=str(len(texts) - 1), step="1", **{
            "^value": str(at), "aria-valuetext": texts[at],
        })
        if hint:
            tag("span", hint, "small")
    line.on("input", js_handler=(
        f"(e) => {{ const text = {shown}[e.target.value]; "
        "e.target.setAttribute('aria-valuetext', text); "
        "e.target.parentElement.querySelector('output').textContent = text; }"
    ))
    line.on("change", lambda event: moved(int(event.args)), js_handler=VALUE)
    return line


def button(text: str, clicked: Callable[[], Any], classes: str = "", **props: Any) -> Any:
    """A button."""
    made = tag("button", text, classes, type="button", **props)
    made.on("click", lambda _: clicked(), js_handler="() => emit()")
    return made


def switch(label: str, turned: Callable[[bool], Any], described: str = "") -> Any:
    """A switch that is off at first."""
    with tag("label", classes="switch"):
        box = tag("input", type="checkbox", role="switch")
        tag("span", label)
    if described:
        box.props["aria-describedby"] = described
    box.on("change", lambda event: turned(bool(event.args)), js_handler=CHECKED)
    return box
