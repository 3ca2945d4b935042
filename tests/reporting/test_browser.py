"""The report in Debian's Chromium: nothing is asked of anybody, and what is seen is what is so."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.api.report import Report
from kanon_sql.data import adult
from tests.support.browser import CONTRAST, chromium, opened

pytest.importorskip("jinja2", reason="the extra 'report' isn't installed")
pytest.importorskip("vl_convert", reason="the extra 'report' isn't installed")
pytestmark = pytest.mark.slow

WIDTHS = {"phone": 390, "tablet": 820, "desk": 1440}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")
    con.execute("CREATE TABLE adult AS FROM read_parquet(?)", [adult()])
    nasty = "</script><script>alert(1)</script>"
    con.execute(f'ALTER TABLE adult RENAME race TO "{nasty}"')
    return kanon_sql.report(
        "adult", tmp_path_factory.mktemp("report") / "report.html", con=con, title=nasty, k=5,
        sensitive=["salary-class"], show_values=True,
        queries={"mean age": "SELECT sex, avg(age) AS age FROM {table} GROUP BY sex"},
        compare=["mdav"],
    )


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_nothing_is_asked_of_anybody_and_nothing_fails(
    browser: Any, report: Report, width: int, scheme: str, tmp_path: Path
) -> None:
    with opened(browser, report.path, width, scheme) as page:
        assert page.said == [Path(report.path).as_uri()]
        # the page itself never has to be moved sideways; wide tables move inside of it
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        picture = page.screenshot(path=tmp_path / "page.png", full_page=True)
        assert len(picture) > 50_000


def test_the_numbers_that_are_seen_are_the_metrics(browser: Any, report: Report) -> None:
    with opened(browser, report.path, WIDTHS["desk"]) as page:
        shown = page.evaluate(
            "() => [...document.querySelectorAll('data[data-metric]')].map("
            "e => [e.dataset.metric, e.value])"
        )
        told = {name: number.value for name, number in report.facts.metrics.items()}
        told |= {f"{name} source": each.before for name, each in report.facts.risk.items()}
        told |= {f"{name} release": each.after for name, each in report.facts.risk.items()}
        assert len(shown) > 60
        for name, value in shown:
            if name.endswith(" (k)") or name == "":
                continue
            assert float(value) == told[name], name
        screen = page.evaluate("document.querySelector('.cards').innerText")
        assert "16.4 %" in screen and "14,021" in screen and "5.53 %" in screen


def test_the_first_screen_is_one_screen(browser: Any, report: Report) -> None:
    with opened(browser, report.path, WIDTHS["desk"]) as page:
        bottom = "document.querySelector('.concerns').getBoundingClientRect().bottom"
        assert page.evaluate(bottom) <= 800


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out(browser: Any, report: Report, scheme: str) -> None:
    with opened(browser, report.path, WIDTHS["desk"], scheme) as page:
        found = page.evaluate(CONTRAST)
        assert len(found) > 15
        assert {name: ratio for name, ratio in found.items() if ratio < 4.5} == {}


def test_who_does_not_see_it_finds_the_way(browser: Any, report: Report) -> None:
    with opened(browser, report.path, WIDTHS["desk"]) as page:
        levels = page.evaluate(
            "() => [...document.querySelectorAll('h1, h2, h3')].map(e => Number(e.tagName[1]))"
        )
        assert levels[0] == 1 and levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        unnamed = page.evaluate("""() => [
            ...[...document.querySelectorAll('svg')].filter(e => !e.getAttribute('aria-label')),
            ...[...document.querySelectorAll('table')].filter(
                e => !e.caption && !e.classList.contains('demands')),
            ...[...document.querySelectorAll('thead th')].filter(e => e.scope !== 'col'),
            ...[...document.querySelectorAll('tbody th')].filter(e => e.scope !== 'row'),
            ...[...document.querySelectorAll('nav a, [aria-labelledby]')].filter(
                e => !document.getElementById(
                    (e.getAttribute('aria-labelledby') ?? e.hash.slice(1)))),
        ].map(e => e.outerHTML.slice(0, 80))""")
        assert unnamed == []
        ids = page.evaluate("() => [...document.querySelectorAll('[id]')].map(e => e.id)")
        assert len(ids) == len(set(ids))
        for landmark in ("header", "main", "nav", "footer"):
            assert page.locator(landmark).count() == 1


def test_it_prints(browser: Any, report: Report) -> None:
    with opened(browser, report.path, WIDTHS["desk"], "dark") as page:
        page.emulate_media(media="print")
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == "rgb(255, 255, 255)"
        assert page.locator(".signature").is_visible()
        assert not page.locator("nav").is_visible()
        printed = page.pdf(format="A4", print_background=True)
        assert printed.startswith(b"%PDF") and len(printed) > 50_000
