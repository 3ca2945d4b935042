"""``python -m tests.project.english docs/risk.md``: what to change in a page, line by line.

Also: names of sources (``options``, ``messages:api``), ``--all``, ``--counts`` (findings of each
page and source), and ``--words`` (words of each page).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.project.english.check import PAGES, ROOT, mean, name_of, of_page, of_sources, page_source
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


def _counts() -> None:
    for page in PAGES:
        print(f"{len(of_page(page)):5}  {name_of(page)}")
    for name, source in SOURCES.items():
        print(f"{len(of_sources(source())):5}  {name}")


def main() -> int:
    """Print what is found; 1 if anything is."""
    parser = argparse.ArgumentParser(prog="python -m tests.project.english")
    parser.add_argument("what", nargs="*", metavar="PAGE or SOURCE",
                        help=f"pages, or of {', '.join(SOURCES)}")
    parser.add_argument("--all", action="store_true", help="every page and source")
    parser.add_argument("--counts", action="store_true", help="only how many findings each has")
    parser.add_argument("--words", action="store_true", help="how many words each page has")
    given = parser.parse_args()
    if given.words:
        _words()
    if given.counts:
        _counts()
    if given.words or given.counts:
        return 0
    what = [*map(str, PAGES), *SOURCES] if given.all else given.what
    if not what:
        parser.print_help()
        return 2
    found = []
    for name in what:
        if name in SOURCES:
            found += of_sources(SOURCES[name]())
        elif (page := Path(name)).exists() or (page := ROOT / name).exists():
            found += of_page(page)
        else:
            parser.error(f"{name} is no page and no source")
    for finding in found:
        print(finding)
    print(f"{len(found)} findings" if found else "No findings", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
