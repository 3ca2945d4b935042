"""What ships: the wheel holds every module, every SQL file and the demo's data."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

import kanon_sql
from tests.support.checkout import ROOT, copy_to

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
            if path.suffix in (".py", ".sql", ".parquet", ".typed", ".css", ".jinja", ".yml"):
                found.add(f"{inside}/{path.relative_to(ROOT / folder).as_posix()}")
    return found


def test_the_package_list_is_what_is_on_disk() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    on_disk = {
        name.rpartition("/")[0].replace("/", ".")
        for name in shipped_files()
        if name.endswith("__init__.py")
    }
    assert set(project["tool"]["setuptools"]["packages"]) == on_disk


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    copy_to(source)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation",
               "--wheel-dir", str(folder), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_every_file(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        top_level = archive.read(next(n for n in names if n.endswith("top_level.txt"))).decode()
    assert shipped_files() <= names
    assert top_level.split() == ["kanon_sql"]
    assert not any(name.startswith(("sql/", "udfs/", "tests/")) for name in names)
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_wheel_works_outside_the_repository(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import kanon_sql, duckdb;"
        "assert kanon_sql.__file__.startswith(sys.argv[1]), kanon_sql.__file__;"
        "con = kanon_sql.register(duckdb.connect());"
        "con.execute('CREATE TABLE t AS SELECT i % 5 AS a FROM range(20) r(i)');"
        "con.execute('SET enable_progress_bar = false');"
        "print(len(con.execute(\"FROM anonymize('t', k=4, method='optimal_1d')\").fetchall()))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", _with_site_packages(code), str(target)],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )
    assert done.stdout.strip() == "20", done.stderr[-2000:]


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


def test_the_installed_version_is_the_one_in_the_package() -> None:
    assert version("kanon_sql") == kanon_sql.__version__
