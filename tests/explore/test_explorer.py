"""Where kanon.toml is written, and what isn't."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from kanon_sql.cli.config import Config
from kanon_sql.duckdb.register import register
from kanon_sql.errors import OptionError
from kanon_sql.explore.choices import Choices
from kanon_sql.explore.explorer import Explorer
from kanon_sql.explore.source import explored
from kanon_sql.explore.written import NamedSource

CHOICES = Choices({"age": "quasi_identifier", "sex": "sensitive"})


@pytest.fixture(scope="module")
def shared() -> Iterator[Explorer]:
    with register(duckdb.connect()) as con:
        con.execute("CREATE TABLE people AS SELECT i AS age, i % 2 AS sex FROM range(20) AS r(i)")
        yield Explorer.of(explored(con, NamedSource(("people",), "people")), Path.cwd())


@pytest.fixture
def explorer(shared: Explorer, tmp_path: Path) -> Explorer:
    return Explorer(shared.bench, shared.first, shared.found, tmp_path)


def test_the_file_is_written_whole_and_alone(explorer: Explorer) -> None:
    assert not explorer.is_there(" kanon.toml ")
    place = explorer.write(CHOICES, " kanon.toml ", " out.parquet ")
    assert [*explorer.folder.iterdir()] == [place] and explorer.is_there("kanon.toml")
    (job,) = Config(place).jobs
    assert (job.output, dict(job.roles)) == ("out.parquet", dict(CHOICES.roles))


@pytest.mark.parametrize("name", [
    "", "kanon", ".toml/..", "../kanon.toml", "/tmp/kanon.toml", "a/kanon.toml", "a\\kanon.toml",
    "kanon.parquet", "folder.toml", "link.toml",
])
def test_no_other_place_is_written(explorer: Explorer, name: str) -> None:
    (explorer.folder / "folder.toml").mkdir()
    (explorer.folder / "link.toml").symlink_to(explorer.folder / "there.toml")
    before = sorted(explorer.folder.rglob("*"))
    for ask in (lambda: explorer.is_there(name), lambda: explorer.write(CHOICES, name, "o.csv")):
        with pytest.raises(OptionError):
            ask()
    assert sorted(explorer.folder.rglob("*")) == before


@pytest.mark.parametrize(("choices", "output"), [
    (CHOICES, " "), (Choices({"age": "", "sex": "sensitive"}), "out.parquet"),
])
def test_what_is_refused_leaves_the_old_file(
    explorer: Explorer, choices: Choices, output: str
) -> None:
    (explorer.folder / "kanon.toml").write_text("# mine\n", encoding="utf-8")
    with pytest.raises(OptionError):
        explorer.write(choices, "kanon.toml", output)
    assert (explorer.folder / "kanon.toml").read_text(encoding="utf-8") == "# mine\n"
