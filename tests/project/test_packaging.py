"""What ships: a source distribution, and the wheel that is built from it, hold every module, every
SQL file and the demo's data, and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.metadata import Metadata

import kanon_sql
from kanon_sql.duckdb.register import OLDEST
from tests.support.checkout import MADE, ROOT
from tests.support.wheel import build

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDERS = {"kanon_sql": "kanon_sql", "sql": "kanon_sql/sql", "udfs": "kanon_sql/udfs"}


def shipped_files() -> set[str]:
    """The files on disk that belong into the wheel, by their name in it."""
    found = set()
    for folder, inside in FOLDERS.items():
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and not MADE & set(path.parts):
                found.add(f"{inside}/{path.relative_to(ROOT / folder).as_posix()}")
    return found


def test_the_oldest_duckdb_is_the_one_that_register_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert f"duckdb>={OLDEST}" in project["project"]["dependencies"]


def test_the_package_list_is_what_is_on_disk() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    on_disk = {
        name.rpartition("/")[0].replace("/", ".")
        for name in shipped_files()
        if name.endswith("__init__.py")
    }
    assert set(project["tool"]["setuptools"]["packages"]) == on_disk


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the source distribution, and the wheel that is built from that."""
    folder = tmp_path_factory.mktemp("made")
    build(folder)
    return folder


@pytest.fixture(scope="module")
def wheel(made: Path) -> Path:
    (found,) = made.glob("*.whl")
    return found


@pytest.mark.slow
def test_the_wheel_holds_every_file_and_no_other(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
        top_level = archive.read(next(n for n in names if n.endswith("top_level.txt"))).decode()
    about = f"kanon_sql-{kanon_sql.__version__}.dist-info/"
    assert {name for name in names if not name.startswith(about)} == shipped_files()
    assert top_level.split() == ["kanon_sql"]
    assert f"{about}licenses/LICENSE" in names


@pytest.mark.slow
def test_the_source_distribution_holds_what_a_build_needs_and_no_other(made: Path) -> None:
    (packed,) = made.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    about = {"LICENSE", "PKG-INFO", "README.md", "pyproject.toml", "setup.cfg"}
    sources = {
        f"{folder}/{path.relative_to(ROOT / folder).as_posix()}"
        for folder in FOLDERS for path in (ROOT / folder).rglob("*")
        if path.is_file() and not MADE & set(path.parts)
    }
    assert {name for name in names if ".egg-info/" not in name} == sources | about


@pytest.mark.slow
def test_the_metadata_is_whole(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        told = Metadata.from_email(archive.read(name), validate=True)
        (scripts,) = (n for n in archive.namelist() if n.endswith("entry_points.txt"))
        assert "kanon = kanon_sql.cli.begin:start" in archive.read(scripts).decode()
    assert told.name == "kanon_sql" and str(told.version) == kanon_sql.__version__
    assert told.license_expression == "Apache-2.0" and told.summary
    assert told.description == (ROOT / "README.md").read_text(encoding="utf-8")
    assert told.description_content_type == "text/markdown"
    for requirement in told.requires_dist or []:
        assert requirement.specifier or 'extra == "dev"' in str(requirement.marker)


def test_a_clone_works_when_python_is_started_in_it(tmp_path: Path) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import kanon_sql.sql, kanon_sql.udfs;"
        "print(kanon_sql.sql.__file__)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", _with_site_packages(code)],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )
    assert done.stdout.strip() == str(ROOT / "sql" / "__init__.py"), done.stderr[-2000:]


def _with_site_packages(code: str) -> str:
    """The code behind the packages of this environment, without its editable installs."""
    import site

    paths = [p for p in sys.path if p in site.getsitepackages()]
    return f"import sys; sys.path[:0] = {paths!r}; {code}"


def test_there_is_one_version() -> None:
    assert version("kanon_sql") == kanon_sql.__version__
    code = "import sys, kanon_sql.cli.main as s; sys.argv[1:] = ['--version']; s.start()"
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert told.split()[-1] == kanon_sql.__version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = next(line for line in changes.splitlines() if line.startswith("## "))
    assert newest.split(",")[0] == f"## {kanon_sql.__version__}"


EXTRAS = {"dbt", "docs", "english", "explore", "plots", "report", "serve", "spark"}


def test_extras_are_small_named_and_told() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    assert set(extras) - {"dev"} <= EXTRAS
    page = (ROOT / "docs" / "installing.md").read_text(encoding="utf-8")
    told = set(re.findall(r"^\| `kanon-sql\[(\w+)\]`", page, re.M))
    assert told == set(extras)
    for name, needed in extras.items():
        assert name == "dev" or len(needed) <= (3 if name == "serve" else 2)
