"""Debian's headless Chromium, driven by playwright; what it needs may not be there."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]

CONTRAST = """() => {
    const channels = text => text.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => {
        const [x, y, z] = [r, g, b].map(c => c / 255).map(
            c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * x + 0.7152 * y + 0.0722 * z;
    };
    const behind = element => {
        for (let each = element; each; each = each.parentElement) {
            const found = getComputedStyle(each).backgroundColor;
            if (found.startsWith('rgb(')) return channels(found);
        }
        return [255, 255, 255];
    };
    const least = {};
    for (const element of document.querySelectorAll('body *')) {
        const own = [...element.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
        if (!own || !element.checkVisibility()) continue;
        const style = getComputedStyle(element);
        const ink = element.closest('svg') ? style.fill : style.color;
        const [one, other] = [light(channels(ink)), light(behind(element))].sort((a, b) => b - a);
        const ratio = (one + 0.05) / (other + 0.05);
        const name = element.tagName + '.' + (element.className.baseVal ?? element.className);
        least[name] = Math.min(least[name] ?? 99, ratio);
    }
    return least;
}"""
"""The least contrast of texts by tag and class, as WCAG 2.2 (1.4.3) has it."""


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser with a profile of its own, which is gone with it."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright isn't installed")
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("Chromium isn't installed (apt-get install chromium)")
    with driver.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(browser: Any, path: str | Path, width: int, scheme: str = "light") -> Iterator[Any]:
    """A page of a file; ``said`` of it are its errors and whatever it asked anybody for."""
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme
    )
    page, said = context.new_page(), []
    page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(f"dialog: {dialog.message}"))
    page.on("request", lambda asked: said.append(asked.url))
    page.goto(Path(path).as_uri())
    page.said = said
    try:
        yield page
    finally:
        context.close()
