"""README.md and docs/ say what is so: tables come from the registries, links lead somewhere.

After an intended change, ``GOLDEN=write pytest tests/project/test_docs.py`` renews the tables. The
examples of the pages are run in tests/installed/test_pages.py.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from kanon_sql.call.options import ALL_CALLS, OPTIONS
from kanon_sql.cli.main import STATUSES
from kanon_sql.hierarchies.kinds import KINDS
from kanon_sql.measure.audit_metrics import AUDIT
from kanon_sql.measure.column_metrics import OF_COLUMN
from kanon_sql.measure.ledger_metrics import LEDGER, OF_HEADROOM
from kanon_sql.measure.metrics import ATTRIBUTE, DIVERSITY, METRICS, VERBATIM
from kanon_sql.measure.model_metrics import LOSS, OF_MODELS
from kanon_sql.measure.part_metrics import PARTS
from kanon_sql.measure.person_metrics import PERSONS
from kanon_sql.measure.risk_metrics import BY_SUBSET, DRIVES, RISK, WEIGHTED
from kanon_sql.methods import METHODS
from tests.support.docs_tables import BLOCKS, LONGEST, OPTION_GROUPS

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [README, *DOCS]
ALL_PAGES = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]

MARKED = re.compile(r"^<!-- ([\w: /.-]+) -->\n(.*?)^<!-- end -->", re.DOTALL | re.M)
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.M)
LINK = re.compile(r"\]\(([^)\s]+)\)")
PLACE = re.compile(r"`((?:kanon_sql|tests|sql|udfs|docs|examples|benchmarks)/[\w./*-]*)`")
KEY = re.compile(r"\b[a-z]+(?:19|20)\d\d\b")
WRITE = os.environ.get("GOLDEN") == "write"

BY_HAND = {"benchmark", "opponent", "scale"}
"""Marked parts that no registry knows: results of benchmarks."""

START = "docs/index.md"
"""The first page of the site, which is about what README.md is about."""

MOST_LINES = 150
"""Lines of README.md: what is read before the first call. All else is in docs/."""


def by_page(pages: list[Path]) -> pytest.MarkDecorator:
    """Once for each page, so that a failure names it."""
    return pytest.mark.parametrize("page", pages, ids=lambda page: page.stem)


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def headings_of(page: Path) -> set[str]:
    """The names by which links reach the headings of a page, as GitHub makes them."""
    lines = FENCED.sub("", text_of(page)).splitlines()
    found = (line.lstrip("#").strip().lower() for line in lines if line.startswith("#"))
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in found}


# --- tables -----------------------------------------------------------------------------------


@by_page(PAGES)
def test_the_tables_are_those_of_the_registries(page: Path) -> None:
    text = text_of(page)
    if WRITE:
        text = MARKED.sub(
            lambda m: m[0] if m[1] in BY_HAND
            else f"<!-- {m[1]} -->\n{BLOCKS[m[1]]()}\n<!-- end -->",
            text,
        )
        page.write_text(text, encoding="utf-8")
    for name, shown in MARKED.findall(text):
        if name not in BY_HAND:
            assert shown.strip() == BLOCKS[name]()


@by_page(PAGES)
def test_cells_are_short_enough_to_read(page: Path) -> None:
    for line in FENCED.sub("", text_of(page)).splitlines():
        if line.startswith("|"):
            assert max(map(len, line.split(" | "))) <= LONGEST + 2, line


def test_every_table_stands_in_one_page() -> None:
    found = [name for page in PAGES for name, _ in MARKED.findall(text_of(page))]
    assert sorted(found) == sorted({*BLOCKS, *BY_HAND})


def test_an_option_is_of_every_call_or_of_methods() -> None:
    grouped = [name for group in OPTION_GROUPS.values() for name in group]
    of_methods = {name for method in METHODS.values() for name in method.options}
    assert len(grouped) == len(set(grouped))
    assert {*grouped, *of_methods} == set(OPTIONS)


NAMES = {
    "options": set(OPTIONS),
    "methods": set(METHODS),
    "metrics": {metric.name for metric in (
        *METRICS, *DIVERSITY, *OF_MODELS, LOSS, ATTRIBUTE, VERBATIM, *OF_COLUMN.values(), *AUDIT,
        *RISK, DRIVES,
        *BY_SUBSET, *WEIGHTED, *PERSONS, *PARTS, *LEDGER, *OF_HEADROOM
    )},
    "kinds": set(KINDS),
    "options of kinds": {name for kind in KINDS.values() for name in kind.options},
}


@pytest.mark.parametrize("registry", NAMES)
def test_every_name_stands_in_docs(registry: str) -> None:
    text = "".join(map(text_of, DOCS))
    assert {name for name in NAMES[registry] if f"| `{name}` |" not in text} == set()


def test_every_call_is_documented() -> None:
    headings = headings_of(ROOT / "docs" / "sql-reference.md")
    assert {*ALL_CALLS, "anonymize_methods", "hierarchy", "ledger_check"} <= headings


def test_the_statuses_are_those_of_the_shell() -> None:
    told = dict(re.findall(r"^\| (\d+) \| (.*) \|$", text_of(ROOT / "docs" / "shell.md"), re.M))
    assert {int(status) for status in told} == set(STATUSES)
    for status, said in STATUSES.items():
        assert told[str(status)].replace("`", "") == said


def test_every_source_is_a_paper_of_docs() -> None:
    told = set(KEY.findall(text_of(ROOT / "docs" / "papers.md")))
    used = {
        key for folder in ("kanon_sql", "udfs", "sql") for suffix in ("py", "sql")
        for path in (ROOT / folder).rglob(f"*.{suffix}") for key in KEY.findall(text_of(path))
    }
    assert used - told == set()


# --- pages ------------------------------------------------------------------------------------


def test_the_readme_is_short() -> None:
    assert len(text_of(README).splitlines()) <= MOST_LINES


@pytest.mark.parametrize(
    ("sign", "command"),
    [("kanon demo", "pip install . && kanon demo"),
     ("&& pytest", "pip install -e '.[dev]' && pytest")],
)
def test_the_first_line_with_a_command_is_the_command(sign: str, command: str) -> None:
    # .ci/run takes the commands of a newcomer from README.md, by the first line that has the sign
    assert next(line for line in text_of(README).splitlines() if sign in line) == command


def test_the_readme_leads_to_every_page() -> None:
    links = LINK.findall(text_of(README))
    assert {page.relative_to(ROOT).as_posix() for page in DOCS} <= {*links, START}


@by_page(ALL_PAGES)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(FENCED.sub("", text_of(page))):
        if "://" not in link:
            name, _, heading = link.partition("#")
            target = (page.parent / name).resolve() if name else page
            assert target.exists(), link
            assert not heading or heading in headings_of(target), link


@by_page(ALL_PAGES)
def test_files_that_are_named_exist(page: Path) -> None:
    for place in PLACE.findall(text_of(page)):
        assert list(ROOT.glob(place)) if "*" in place else (ROOT / place).exists(), place
