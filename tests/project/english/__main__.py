"""``python -m tests.project.english docs/risk.md``: what to change in a page, line by line.

Also: names of sources (``options``, ``messages:api``), ``--all``, ``--counts`` (findings of each
page and source), and ``--words`` (words of each page).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.project.english.check import (
    PAGES,
    ROOT,
    Finding,
    mean,
    name_of,
    of_page,
    of_sources,
    page_source,
)
from tests.project.english.grammar import INSTALL, INSTALLED, grammar
from tests.project.english.prose import words
from tests.project.english.sources import SOURCES


def _words() -> None:
    total = 0
    for page in PAGES:
        source = page_source(page)
        count = sum(words(passage.text) for passage in source.passages)
        total += count
        print(f"{count:6,}  {mean(source):5.1f} a sentence  {name_of(page)}")
    print(f"{total:6,}  in all")


def _found(name: str) -> list[Finding]:
    if name in SOURCES:
        sources = list(SOURCES[name]())
        found = of_sources(sources)
    else:
        page = path if (path := Path(name)).exists() else ROOT / name
        sources = [page_source(page)]
        found = of_page(page)
    if INSTALLED:
        found += [finding for source in sources for finding in grammar(source)]
    return found


def main() -> int:
    """Print the findings; 1 if there are any."""
    parser = argparse.ArgumentParser(prog="python -m tests.project.english")
    parser.add_argument("what", nargs="*", metavar="PAGE or SOURCE",
                        help=f"pages, or of {', '.join(SOURCES)}")
    parser.add_argument("--all", action="store_true", help="every page and source")
    parser.add_argument("--counts", action="store_true", help="only how many findings each has")
    parser.add_argument("--words", action="store_true", help="how many words each page has")
    given = parser.parse_args()
    if given.words:
        _words()
        return 0
    what = given.what
    if given.all or (given.counts and not what):
        what = [*map(name_of, PAGES), *SOURCES]
    if not what:
        parser.print_help()
        return 2
    for name in what:
        if name not in SOURCES and not Path(name).exists() and not (ROOT / name).exists():
            parser.error(f"{name} is neither a page nor a source")
    if not INSTALLED:
        print(f"Grammar is not checked. Install the checker: {INSTALL}", file=sys.stderr)
    total = 0
    for name in what:
        found = _found(name)
        total += len(found)
        if given.counts:
            print(f"{len(found):5}  {name}")
        else:
            print(*found, sep="\n", end="\n" if found else "")
    print(f"{total} findings", file=sys.stderr)
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
