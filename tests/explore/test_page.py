"""The page in Debian's Chromium: from a file to kanon.toml, by mouse and by keyboard."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import duckdb
import pytest

import kanon_sql
from kanon_sql.cli.config import Config
from tests.explore.conftest import KANON, Running, running
from tests.support.browser import CONTRAST, chromium

pytestmark = pytest.mark.slow

WIDTHS = {"phone": 375, "tablet": 768, "desk": 1280}
PATIENCE = 120_000
"""Milliseconds that an answer may take: the first one compiles."""

UNNAMED = """() => [...document.querySelectorAll('button, select, input, a, [tabindex]')].filter(
    e => e.checkVisibility() && !(e.getAttribute('aria-label') || e.textContent.trim()
        && !e.matches('select, input') || [...(e.labels ?? [])].some(l => l.textContent.trim()))
).map(e => e.outerHTML.slice(0, 120))"""


@dataclass
class Visit:
    """A page, and all that was said and sent meanwhile."""

    page: Any
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    answers: list[Any] = field(default_factory=list)
    frames: list[bytes] = field(default_factory=list)

    def ready(self) -> None:
        """Waits for the whole answer to what was chosen."""
        self.page.wait_for_function(
            "document.querySelector('[role=status]').textContent.startsWith('Up to date')",
            timeout=PATIENCE,
        )

    def numbers(self) -> None:
        """Waits for the numbers of what was chosen."""
        self.page.wait_for_function(
            "/^(Numbers|Up to date)/.test(document.querySelector('[role=status]').textContent)",
            timeout=PATIENCE,
        )

    def chosen(self, k: int) -> None:
        """Waits until the frontier has a point of the k that was chosen."""
        row = self.page.locator("tr.chosen th", has_text=str(k))
        row.wait_for(timeout=PATIENCE)
        self.numbers()

    def refused(self) -> None:
        """Waits for a refusal."""
        self.page.wait_for_function(
            "document.querySelector('[role=status]').textContent.startsWith('Refused')",
            timeout=PATIENCE,
        )

    def sent(self) -> bytes:
        """All that the server sent."""
        bodies = [
            answer.body() for answer in self.answers
            if answer.status == 200 and "/static/" not in answer.url
        ]
        return b"\n".join([*bodies, *self.frames])


@contextmanager
def visiting(
    browser: Any, server: Running, width: int = 1280, scheme: str = "light"
) -> Iterator[Visit]:
    """A new visit, with the first numbers there."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    visit = Visit(context.new_page())
    page = visit.page
    page.on("console", lambda message: visit.said.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: visit.said.append(str(error)))
    page.on("request", lambda request: visit.asked.append(request.url))
    page.on("response", lambda response: visit.answers.append(response))

    def connected(socket: Any) -> None:
        visit.asked.append(socket.url)
        socket.on("framereceived", lambda frame: visit.frames.append(
            frame if isinstance(frame, bytes) else frame.encode()
        ))

    page.on("websocket", connected)
    page.goto(server.address)
    page.wait_for_selector(".figures", timeout=PATIENCE)
    try:
        yield visit
    finally:
        context.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


def role(visit: Visit, column: str) -> Any:
    return visit.page.get_by_label(f"Role of {column}", exact=True)


def rows(con: duckdb.DuckDBPyConnection, sql: str) -> Counter[Any]:
    return Counter(con.sql(sql).fetchall())


def check(server: Running, name: str, sql: str, k: int, drawn: bool = False) -> None:
    """The file is what was chosen, kanon run accepts it, and the SQL releases the same rows."""
    (job,) = Config(server.folder / name).jobs
    assert job.options["k"] == k and dict(job.roles) == {
        "ssn": "identifier", "age": "quasi_identifier", "zip": "quasi_identifier",
        "town": "quasi_identifier", "sex": "quasi_identifier", "disease": "sensitive",
    }
    done = subprocess.run(
        [KANON, "run", name], cwd=server.folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    with kanon_sql.register(duckdb.connect()) as con:
        released = rows(con, f"FROM '{server.folder / job.output}'")
        by_sql = rows(con, sql)
        assert by_sql.total() == released.total() == 600
        assert drawn or by_sql == released


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_it_fits_asks_nobody_else_and_says_no_error(
    browser: Any, server: Running, width: int, scheme: str, tmp_path: Path
) -> None:
    with visiting(browser, server, width, scheme) as visit:
        visit.ready()
        page = visit.page
        page.get_by_label("Hierarchy of zip", exact=True).select_option("prefix")
        page.get_by_label("Levels of the hierarchy of zip").click()
        page.get_by_role("region", name="Levels of zip").wait_for(timeout=PATIENCE)
        page.get_by_text("Options of prefix").click()
        page.get_by_label("File").fill(f"{scheme}{width}.toml")
        visit.numbers()
        page.get_by_role("button", name="Take this").click()
        page.get_by_text("is written").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("document.documentElement.lang").startswith("en")
        assert [text for text in visit.said if not text.startswith("log:")] == []
        here = f"127.0.0.1:{server.port}"
        others = {url for url in visit.asked if urlsplit(url).netloc != here}
        own = ("data:", f"blob:http://{here}/")  # which nobody is asked for
        assert {url for url in others if not url.startswith(own)} == set()
        assert any(url.startswith("ws:") for url in visit.asked)
        assert page.evaluate(UNNAMED) == []
        contrast = page.evaluate(CONTRAST)
        assert {name: ratio for name, ratio in contrast.items() if ratio < 4.5} == {}
        levels = page.evaluate(
            "() => [...document.querySelectorAll('h1, h2, h3')].map(e => Number(e.tagName[1]))"
        )
        assert levels.count(1) == 1 and levels[0] == 1
        assert len(page.screenshot(path=tmp_path / "page.png", full_page=True)) > 50_000


def test_by_mouse(browser: Any, server: Running) -> None:
    with visiting(browser, server) as visit:
        page = visit.page
        assert role(visit, "ssn").input_value() == "identifier"
        role(visit, "disease").select_option("sensitive")
        role(visit, "zip").select_option("quasi_identifier")
        page.get_by_label("Hierarchy of age", exact=True).select_option("bins")
        page.get_by_text("Options of bins").click()
        page.get_by_label("width of age").fill("5")
        page.get_by_label("File").click()
        page.get_by_label("File").fill("mouse.toml")
        line = page.get_by_label("k, rows per class")
        line.scroll_into_view_if_needed()
        place = line.bounding_box()
        page.mouse.click(place["x"] + place["width"] * 0.42, place["y"] + place["height"] / 2)
        k = int(page.locator("output").first.inner_text())
        assert k > 5
        visit.chosen(k)
        assert page.locator(".figure strong").first.inner_text() >= str(k)
        page.get_by_role("button", name="Take this").click()
        page.get_by_text("mouse.toml is written").wait_for()
        sql = page.locator("pre code").inner_text()
        check(server, "mouse.toml", sql, k)
        assert "'width': 5" in sql
        visit.ready()
        numbers = page.get_by_role("region", name="Numbers of the frontier")
        assert numbers.locator("tbody tr").count() == len({2, 3, 5, 10, 20, 50, k})
        # the second time it asks, and does nothing until it is answered
        path = server.folder / "mouse.toml"
        path.write_text("# mine\n", encoding="utf-8")
        page.get_by_role("button", name="Take this").click()
        page.get_by_text("mouse.toml exists already").wait_for()
        page.get_by_role("button", name="Keep it").click()
        page.get_by_text("mouse.toml exists already").wait_for(state="hidden")
        assert path.read_text(encoding="utf-8") == "# mine\n"
        page.get_by_role("button", name="Take this").click()
        page.get_by_role("button", name="Replace it").click()
        page.get_by_text("mouse.toml is written").wait_for()
        check(server, "mouse.toml", page.locator("pre code").inner_text(), k)


def to(visit: Visit, name: str) -> None:
    """Presses Tab until the control of that name has the focus."""
    said = (
        "() => { const e = document.activeElement; return e.getAttribute('aria-label') ?? "
        "e.labels?.[0]?.textContent ?? e.textContent }"
    )
    for _ in range(120):
        visit.page.keyboard.press("Tab")
        if str(visit.page.evaluate(said)).startswith(name):
            ring = "getComputedStyle(document.activeElement).outlineStyle"
            assert visit.page.evaluate(ring) != "none", name
            return
    raise AssertionError(f"{name} has no focus")


def test_by_keyboard_alone(browser: Any, server: Running) -> None:
    with visiting(browser, server) as visit:
        keys = visit.page.keyboard
        to(visit, "Role of zip")
        keys.type("Gen")
        to(visit, "Role of disease")
        keys.type("Keep (s")
        to(visit, "k, rows")
        for _ in range(3):
            keys.press("ArrowRight")
        to(visit, "l, sensitive")
        keys.press("ArrowRight")
        to(visit, "Method")
        keys.type("k_mem")
        visit.chosen(8)
        to(visit, "File")
        keys.press("Control+a")
        keys.type("keys.toml")
        to(visit, "Take this")
        keys.press("Enter")
        visit.page.get_by_text("keys.toml is written").wait_for()
        # with a privacy model the seed is drawn, so that another process ties in another way
        check(server, "keys.toml", visit.page.locator("pre code").inner_text(), 8, drawn=True)
        (job,) = Config(server.folder / "keys.toml").jobs
        assert (job.options["method"], job.options["l"]) == ("k_member", {"disease": 2})


def test_a_refusal_stands_at_its_control_and_the_last_release_stays(
    browser: Any, server: Running
) -> None:
    with visiting(browser, server) as visit:
        page = visit.page
        role(visit, "disease").select_option("sensitive")
        visit.numbers()
        before = page.locator(".figures").inner_text()
        line = page.get_by_label("l, sensitive values per class")
        line.focus()
        page.keyboard.press("End")
        visit.refused()
        alert = page.get_by_role("alert")
        assert alert.count() == 1 and "so l = 10 can't be kept" in alert.inner_text()
        assert alert.evaluate("e => e.parentElement.querySelector('input').type") == "range"
        assert page.locator(".figures").inner_text() == before
        page.get_by_role("button", name="Take this").click()
        page.get_by_text("These choices are refused").wait_for()
        line.focus()
        page.keyboard.press("Home")
        visit.numbers()
        assert page.get_by_role("alert").count() == 0
        role(visit, "age").select_option("")
        visit.refused()
        item = page.locator("li").filter(has=role(visit, "age"))
        assert "has no role: 'age'" in item.get_by_role("alert").inner_text()
        assert "No role yet" in item.inner_text()
        role(visit, "age").select_option("quasi_identifier")
        role(visit, "ssn").select_option("other")
        visit.refused()
        item = page.locator("li").filter(has=role(visit, "ssn"))
        assert "looks like an identifier" in item.get_by_role("alert").inner_text()
        assert b"CANARY" not in visit.sent()


def test_no_value_of_an_identifier_is_ever_sent(browser: Any, server: Running) -> None:
    with visiting(browser, server) as visit:
        page = visit.page
        page.get_by_role("switch", name="Show values").check()
        role(visit, "disease").select_option("sensitive")
        for kind, column in (("bins", "age"), ("flat", "sex")):
            page.get_by_label(f"Hierarchy of {column}", exact=True).select_option(kind)
            page.get_by_label(f"Levels of the hierarchy of {column}").click()
            page.get_by_role("region", name=f"Levels of {column}").wait_for(timeout=PATIENCE)
        levels = page.get_by_role("region", name="Levels of age").locator("td").all_inner_texts()
        seen = next(text for text in levels if text.startswith("["))
        visit.ready()
        page.get_by_label("File").fill("canary.toml")
        page.get_by_role("button", name="Take this").click()
        page.get_by_text("canary.toml is written").wait_for()
        sent = visit.sent()
    assert b"disease" in sent and seen.encode() in sent  # what is sent is seen here
    assert b"CANARY" not in sent


def test_values_are_hidden_until_they_are_asked_for(browser: Any, server: Running) -> None:
    with visiting(browser, server) as visit:
        page = visit.page
        page.get_by_label("Hierarchy of age", exact=True).select_option("bins")
        page.get_by_label("Levels of the hierarchy of age").click()
        table = page.get_by_role("region", name="Levels of age")
        table.wait_for(timeout=PATIENCE)
        first = table.locator("tbody tr").first
        assert set(first.locator("td").all_inner_texts()[1:]) == {"hidden"}
        page.get_by_role("switch", name="Show values").check()
        table.wait_for(state="hidden")
        page.get_by_label("Levels of the hierarchy of age").click()
        table.wait_for(timeout=PATIENCE)
        assert all(text.isdigit() for text in first.locator("td").all_inner_texts())


def test_a_large_table_is_explored_by_a_sample(
    browser: Any, needed: None, tmp_path: Path
) -> None:
    duckdb.sql(
        "SELECT i % 80 AS age, i % 7 AS job, i % 3 AS disease FROM range(50000) AS r(i)"
    ).write_parquet(str(tmp_path / "large.parquet"))
    with running(tmp_path, "large.parquet") as server, visiting(browser, server) as visit:
        lead = visit.page.locator(".lead").inner_text()
        assert "50,000 rows" in lead and "sample of 30,000 rows" in lead
        assert "30,000" in visit.page.locator(".figures").inner_text()
        visit.page.get_by_role("button", name="Take this").click()
        visit.page.get_by_text("kanon.toml is written").wait_for()
        done = subprocess.run(
            [KANON, "run"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert "50,000 rows" in done.stderr, done.stderr


def test_stop_keeps_what_is_there(browser: Any, server: Running) -> None:
    with visiting(browser, server) as visit:
        page = visit.page
        page.get_by_label("Effort").select_option("balanced")
        page.get_by_role("button", name="Stop").click()
        page.wait_for_function(
            "document.querySelector('[role=status]').textContent === 'Stopped.'"
        )
        assert page.get_by_role("button", name="Stop").count() == 0
        page.get_by_label("Effort").select_option("")
        visit.ready()
