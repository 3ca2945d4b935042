"""The versions on which kanon_sql is tried, each in an environment of its own.

    pip install nox uv
    nox                               all of them
    nox -s "duckdb(1.5.0)" lowest     some; nox -l lists them
    nox -s python-3.13 -- tests/plan  these tests in place of those that have to do with SQL

A Python that isn't installed is left out, unless you add --error-on-missing-interpreters.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|venv"  # uv where it is, which is quicker
nox.options.reuse_venv = "no"

ROOT = Path(__file__).parent
TESTS = (ROOT / ".ci" / "sql_tests").read_text(encoding="utf-8").splitlines()
"""What has to do with SQL, as arguments of pytest; CI runs the same."""

DECLARED: list[str] = nox.project.load_toml(ROOT / "pyproject.toml")["project"]["dependencies"]
LOWEST = [f"{name}=={least}" for name, least in (
    re.match(r"([a-z]+)>=([\d.]+)", each).groups() for each in DECLARED if ";" not in each
)]
"""The lowest version of each dependency."""

VERSIONS = """
import sys, duckdb, numba, numpy, polars, pyarrow
print(sys.version.split()[0], *(f"{each.__name__} {each.__version__}" for each in (
    duckdb, numba, numpy, polars, pyarrow)))
"""

PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
NEWEST, MIDDLE, OLDEST = "3.13", "3.11", "3.10"
DUCKDBS = ("1.4.4", "1.5.0", "1.5.*", "2.0.*")
"""The oldest that is declared, and the first and the last of each later one."""

NUMBAS = ("0.60.*", "0.64.*", "0.68.*")
"""The ends of what kernel/late_linking.py has tried, and one between."""

# pyenv's own commands run only the versions that are named
if pyenv := shutil.which("pyenv"):
    found = subprocess.run([pyenv, "versions", "--bare"], capture_output=True, text=True,
                           check=False)
    installed = [each for each in found.stdout.split() if each.startswith(PYTHONS)]
    os.environ["PYENV_VERSION"] = ":".join(reversed(installed))
os.environ.setdefault("UV_PYTHON_DOWNLOADS", "never")


def run_tests(session: nox.Session, *packages: str, more: tuple[str, ...] = ()) -> None:
    """Installs kanon_sql with these packages, and runs the tests.

    Args:
        session: the environment.
        packages: requirements beside those of development.
        more: further arguments of pytest.
    """
    session.install("-e", ".[dev]", "pip", *packages)  # an environment of uv has no pip
    session.run("python", "-c", VERSIONS)
    session.run("python", "-m", "pytest", *(session.posargs or TESTS), *more)


@nox.session(python=PYTHONS)
def python(session: nox.Session) -> None:
    """A version of Python, with the newest of everything."""
    run_tests(session)


@nox.session(python=MIDDLE)
@nox.parametrize("version", DUCKDBS, ids=DUCKDBS)
def duckdb(session: nox.Session, version: str) -> None:
    """A version of DuckDB."""
    run_tests(session, f"duckdb=={version}")


@nox.session(python=NEWEST)
def prerelease(session: nox.Session) -> None:
    """What comes next of DuckDB; the newest release while nothing newer is out."""
    session.install("-e", ".[dev]", "pip")
    session.install("--pre", "--upgrade", "duckdb")
    session.run("python", "-m", "tests.plan.duckdb_names", success_codes=[0, 1])
    session.run("python", "-m", "pytest", *(session.posargs or TESTS))


@nox.session(python=OLDEST)
def lowest(session: nox.Session) -> None:
    """The lowest version of every dependency, together, on the oldest Python."""
    run_tests(session, *LOWEST)


@nox.session(python=NEWEST)
def newest(session: nox.Session) -> None:
    """The newest of everything that is needed, pre-releases among them."""
    session.install("-e", ".[dev]", "pip")
    session.install("--pre", "--upgrade",
                    *(re.split("[>;]", each)[0] for each in DECLARED if ";" not in each))
    session.run("python", "-m", "pytest", *(session.posargs or TESTS))


@nox.session(python=MIDDLE)
@nox.parametrize("version", NUMBAS, ids=NUMBAS)
def numba(session: nox.Session, version: str) -> None:
    """A numba whose insides are known: kernels are linked late."""
    run_tests(session, f"numba=={version}", more=("tests/kernel/test_late_linking.py",))


@nox.session(python=MIDDLE, name="numba-untried")
def numba_untried(session: nox.Session) -> None:
    """A numba of which nothing is known: kernels are compiled as numba does it."""
    session.env["NUMBA_CACHE_DIR"] = str(Path(session.create_tmp()) / "kernels")
    run_tests(session, more=("-p", "tests.support.untried_numba"))


@nox.session(python=MIDDLE)
def names(session: nox.Session) -> None:
    """What the newest DuckDB, and the next one, add to the functions, settings and words."""
    session.install("duckdb")
    session.run("python", "-m", "tests.plan.duckdb_names")
    session.install("--pre", "--upgrade", "duckdb")
    session.run("python", "-m", "tests.plan.duckdb_names")
