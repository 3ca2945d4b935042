"""The documentation as a built site: its pages, with what they link to and what they load."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

OF_STYLES = re.compile(r"""(?:url\(|@import\s)\s*["']?([^"')\s;]+)""")
LOADED = {"img": "src", "script": "src", "iframe": "src", "source": "src", "embed": "src",
          "object": "data", "link": "href"}
"""Elements that load something, and where they say what."""

FREE = {"canonical", "next", "prev", "edit", "alternate"}
"""What a <link> may be without loading anything."""


@dataclass
class Page(HTMLParser):
    """What a page of HTML has: read it with feed."""

    names: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    title: str = ""
    _inside: bool = False
    _tag: str = ""

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        self._tag = tag
        self._inside |= tag == "article"
        self.names |= {said[name] for name in ("id", "name") if name in said}
        if tag == "a" and "href" in said:
            self.links.append(said["href"])
        if tag in LOADED and LOADED[tag] in said and not FREE & set(said.get("rel", "").split()):
            self.loads.append(said[LOADED[tag]])
        self.loads += OF_STYLES.findall(said.get("style", ""))
        if self._inside:
            self.counts[tag] = self.counts.get(tag, 0) + 1

    def handle_endtag(self, tag: str) -> None:
        self._inside &= tag != "article"
        self._tag = ""

    def handle_data(self, data: str) -> None:
        if self._tag == "style":
            self.loads += OF_STYLES.findall(data)
        if self._tag == "title":
            self.title += data


def read(path: Path) -> Page:
    """A page of a file."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _elsewhere(link: str) -> bool:
    parts = urlsplit(link)
    return bool(parts.netloc) or parts.scheme not in ("", "data")


def dead_links(folder: Path) -> list[str]:
    """Links of any page to a file or a name that isn't there; those that leave the site are not
    followed."""
    pages = {path.resolve(): read(path) for path in folder.rglob("*.html")}
    found = []
    for path, page in pages.items():
        for link in {*page.links, *page.loads}:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or path.name == "404.html":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            name = unquote(parts.fragment)
            there = target.exists() if target not in pages else (
                not name or name in pages[target].names
            )
            if not there:
                found.append(f"{path.relative_to(folder.resolve())}: {link}")
    return sorted(found)


def loaded_from_afar(folder: Path) -> list[str]:
    """What pages and their styles load that isn't part of the site."""
    found = []
    for path in folder.rglob("*"):
        loads: list[str] = []
        if path.suffix == ".html":
            loads = read(path).loads
        elif path.suffix == ".css":
            loads = OF_STYLES.findall(path.read_text(encoding="utf-8"))
        found += [f"{path.relative_to(folder)}: {load}" for load in loads if _elsewhere(load)]
    return sorted(found)
