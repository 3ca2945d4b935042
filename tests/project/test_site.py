"""The documentation site: it is built without a warning, whole, and needs no network.

It takes ``pip install '.[docs]'``; the tests are skipped where that isn't installed.
"""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import chromium, opened
from tests.support.checkout import ROOT, copy_to
from tests.support.site import dead_links, loaded_from_afar, read

DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
FENCED = re.compile(r"^( *)```.*?^ *```$", re.DOTALL | re.M)
WIDTHS = (360, 800, 1400)
SETTLED = 200
"""Milliseconds in which a page follows its window."""
LARGEST = 150_000
"""Bytes of a picture: what somebody on a train would wait for."""


def build(root: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """The site of a tree, with warnings as errors."""
    pytest.importorskip("material", reason="mkdocs-material isn't installed: pip install '.[docs]'")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT, folder)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


def built(site: Path, page: str) -> Path:
    return site / Path(page).with_suffix(".html")


def places(nav: Any) -> list[str]:
    """The pages that a table of contents names."""
    if isinstance(nav, str):
        return [nav]
    inner = nav.values() if isinstance(nav, dict) else nav
    return [place for each in inner for place in places(each)]


def test_a_warning_stops_the_build(tmp_path: Path) -> None:
    copy_to(tmp_path / "tree")
    docs = tmp_path / "tree" / "docs"
    links = ("gone.md", "options.md#gone", "../tests/gone.py", "../README.md#gone")
    with (docs / "index.md").open("a", encoding="utf-8") as page:
        page.writelines(f"[link]({link})\n" for link in links)
    (docs / "orphan.md").write_text("# Nobody leads here\n")
    done = build(tmp_path / "tree", tmp_path / "site")
    assert done.returncode != 0
    for said in ("'gone.md'", "'options.md#gone'", "tests/gone.py", "README.md#gone", "orphan.md"):
        assert said in done.stderr


def test_every_page_is_in_the_table_of_contents_once(site: Path) -> None:
    from mkdocs.config import load_config

    named = places(load_config(str(ROOT / "mkdocs.yml")).nav)
    assert len(named) == len(set(named))
    assert {*PAGES, "repository/README.md"} <= set(named)
    for page in PAGES:
        assert built(site, page).exists()


def test_every_link_and_anchor_leads_somewhere(site: Path) -> None:
    assert dead_links(site) == []


def test_a_dead_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        "<a href='b.html#here'>1</a><a href='b.html#gone'>2</a><img src='c.png'><a href='#x'>3</a>"
    )
    (tmp_path / "b.html").write_text("<h1 id=here>b</h1><a href='https://example.org'>afar</a>")
    assert dead_links(tmp_path) == ["a.html: #x", "a.html: b.html#gone", "a.html: c.png"]


def test_nothing_is_loaded_from_the_network(site: Path) -> None:
    assert loaded_from_afar(site) == []


def test_what_is_loaded_from_afar_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        "<link rel=stylesheet href='https://fonts.example/f.css'><link rel=canonical href='https://e'>"
        "<script src='//cdn.example/s.js'></script><style>@import 'http://e/x.css';</style>"
        "<img src='data:image/png;base64,AA'><a href='https://example.org'>a link loads nothing</a>"
    )
    (tmp_path / "b.css").write_text("p { background: url(https://e/p.png) } q { src: url(q.woff) }")
    assert loaded_from_afar(tmp_path) == [
        "a.html: //cdn.example/s.js", "a.html: http://e/x.css", "a.html: https://fonts.example/f.css",
        "b.css: https://e/p.png",
    ]


@pytest.mark.parametrize("page", [*PAGES, "repository/index.md"])
def test_a_page_has_all_that_its_source_has(page: str, site: Path) -> None:
    # Python-Markdown leaves a list or table in its paragraph where other dialects begin one
    source = DOCS / page if page in PAGES else ROOT / "README.md"
    text = source.read_text(encoding="utf-8")
    lines = FENCED.sub("", text).splitlines()
    found = read(built(site, page)).counts
    assert found.get("table", 0) == sum(bool(re.fullmatch(r" *\|[-:| ]+\|",
                                                          line)) for line in lines)
    assert found.get("li", 0) == sum(bool(re.match(r" *(?:[-*]|\d+\.) ", line)) for line in lines)
    assert found.get("pre", 0) == len(FENCED.findall(text))
    assert sum(found.get(f"h{n}", 0) for n in range(1, 5)) == sum(
        bool(re.match("#{1,4} ", line)) for line in lines
    )


def test_pages_are_named_by_their_headings(site: Path) -> None:
    titles = [read(built(site, page)).title for page in PAGES]
    assert len(set(titles)) == len(titles)


def test_pictures_are_small() -> None:
    for path in DOCS.rglob("*.png"):
        assert path.stat().st_size < LARGEST, path.name


@pytest.mark.slow
def test_pictures_are_drawn_by_their_script(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    draw = runpy.run_path(str(DOCS / "site" / "pictures.py"))["draw"]
    draw(tmp_path)
    drawn = {path.name for path in tmp_path.iterdir() if path.stat().st_size < LARGEST}
    assert drawn == {path.name for path in (DOCS / "pictures").iterdir()}


@pytest.mark.sample(2)
@pytest.mark.parametrize("page", PAGES)
def test_a_browser_shows_it_from_a_folder(page: str, site: Path, browser: Any) -> None:
    with opened(browser, built(site, page), WIDTHS[0]) as shown:
        shown.wait_for_load_state("networkidle")
        for width in WIDTHS:
            shown.set_viewport_size({"width": width, "height": 800})
            shown.wait_for_timeout(SETTLED)
            assert shown.evaluate("document.documentElement.scrollWidth") <= width
        assert [said for said in shown.said if not said.startswith("file:")] == []


def test_the_search_works_from_a_folder(site: Path, browser: Any) -> None:
    with opened(browser, site / "index.html", WIDTHS[-1]) as shown:
        shown.locator("input.md-search__input").fill("earth mover")
        shown.wait_for_selector(".md-search-result__item")
        links = shown.locator(".md-search-result__link").evaluate_all("all => all.map(a => a.href)")
        assert any("promise.html" in link for link in links)


def test_it_is_light_or_dark_as_the_reader_is(site: Path, browser: Any) -> None:
    back, shades = "getComputedStyle(document.body).backgroundColor", []
    for scheme in ("light", "dark"):
        with opened(browser, site / "index.html", WIDTHS[0], scheme) as shown:
            shown.wait_for_load_state("networkidle")
            shades.append(sum(map(int, re.findall(r"\d+", shown.evaluate(back))[:3])))
    assert shades[0] > 600 > 300 > shades[1]
