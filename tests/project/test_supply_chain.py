"""What docs/supply-chain.md says: the lock file, licenses, reproducible builds, no network."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import signal
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.checkout import ROOT, copy_to

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LOCK = ROOT / "requirements-dev.lock"
PAGE = ROOT / "docs" / "supply-chain.md"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


# --- the lock file ------------------------------------------------------------------------------


def locked() -> list[tuple[Requirement, list[str]]]:
    """Each line of the lock file, with its hashes."""
    text = re.sub(r"^#.*\n", "", LOCK.read_text(encoding="utf-8"), flags=re.M)
    found = []
    for entry in re.split(r"\n(?=\S)", text.strip()):
        line, *hashes = re.split(r"\s*\\\n\s*--hash=", entry)
        found.append((Requirement(line), hashes))
    return found


def test_every_line_of_the_lock_pins_one_version_by_its_hashes() -> None:
    for requirement, hashes in locked():
        assert re.fullmatch(r"==[^*,]+", str(requirement.specifier)), requirement
        assert hashes and all(re.fullmatch(r"sha256:[0-9a-f]{64}", each) for each in hashes)
        assert requirement.url is None


@pytest.mark.parametrize("python", ["3.10", "3.12", "3.14"])
@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
def test_the_lock_has_what_pyproject_asks_for(python: str, system: str) -> None:
    place = {
        "python_version": python, "python_full_version": f"{python}.9", "sys_platform": system,
        "platform_python_implementation": "CPython", "extra": "",
    }
    pinned = {
        canonicalize_name(each.name): each.specifier for each, _ in locked()
        if each.marker is None or each.marker.evaluate(place)
    }
    wanted = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]]
    for requirement in map(Requirement, wanted):
        if requirement.marker is None or requirement.marker.evaluate(place):
            (pin,) = pinned[canonicalize_name(requirement.name)]
            assert requirement.specifier.contains(pin.version, prereleases=True), requirement


# --- licenses -----------------------------------------------------------------------------------


def needed(requirements: Iterable[str], found: dict[str, Distribution]) -> dict[str, Distribution]:
    """What these need, and what that needs, here and now."""
    for requirement in map(Requirement, requirements):
        name = canonicalize_name(requirement.name)
        if name in found or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        found[name] = distribution(name)
        needed(found[name].requires or (), found)
    return found


def test_the_licenses_of_all_that_runs_are_told() -> None:
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| (.+?) \|", PAGE.read_text(encoding="utf-8"), re.M)
    told = dict(rows)
    here = needed(PROJECT["dependencies"], {})
    assert set(here) <= set(told), "a license isn't told"
    assert set(told) - set(here) <= {"colorama", "tomli"}, "a license of nothing is told"
    for name, package in here.items():
        about = package.metadata
        said = " ".join([
            about.get("License-Expression") or "", (about.get("License") or "")[:200],
            *about.get_all("Classifier", []),
        ])
        family = told[name].split("-")[0].split(" ")[0]  # MIT, BSD or Apache
        assert family in said, (name, said)


# --- reproducible builds ------------------------------------------------------------------------


@pytest.mark.slow
def test_two_builds_have_the_same_bytes(tmp_path: Path) -> None:
    """In folders, at times and with masks that differ."""
    digests = []
    for folder, mask in (("one", 0o022), ("two/further/down", 0o077)):
        place = tmp_path / folder
        before = os.umask(mask)
        try:
            copy_to(place)
        finally:
            os.umask(before)
        os.utime(place / "README.md", (mask, mask))
        done = subprocess.run(
            [sys.executable, ".ci/build.py", str(place / "out")], cwd=place, capture_output=True,
            text=True, check=False, umask=mask,
            env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"},
        )
        assert done.returncode == 0, done.stderr[-2000:]
        digests.append({
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in (place / "out").iterdir()
        })
    assert digests[0] == digests[1]
    assert sorted(name.rpartition(".")[2] for name in digests[0]) == ["gz", "whl"]


# --- no network ---------------------------------------------------------------------------------

REFUSING = """
import ctypes, struct
# a filter of the kernel: socket() ends the process, unless it stays on this machine (AF_UNIX)
steps = [(0x20, 0, 0, 0), (0x15, 0, 3, {number}), (0x20, 0, 0, 16), (0x15, 1, 0, 1),
         (0x06, 0, 0, 0x80000000), (0x06, 0, 0, 0x7fff0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_void_p)]
libc = ctypes.CDLL(None, use_errno=True)
program = Program(len(steps), ctypes.addressof(code))
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.byref(program)) == 0
"""
"""Two loads and two jumps: the number of the call, then its first argument, the family."""

SOCKET = {"x86_64": 41, "aarch64": 198}
"""The number of the call socket()."""

RUNS = """
import kanon_sql
from kanon_sql.data import adult
from kanon_sql.testing import check_release
asked = {"k": 5, "sensitive": "occupation", "l": 2}
kanon_sql.release(adult(), to="one.parquet", **asked)
assert kanon_sql.verify("one.parquet").ok
check_release("one.parquet", adult(), **asked)
kanon_sql.report(adult(), to="report.html", **asked)
kanon_sql.anonymize_files(adult(), "folder", quasi_identifiers=["age", "sex"], others="drop", k=5)
kanon_sql.anonymize_risk(adult(), k=5)
"""

filters = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in SOCKET,
    reason="the filter is one of Linux on x86-64 or ARM",
)


def refused(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs Python where no socket to another machine can be opened, by whatever language."""
    filtered = REFUSING.format(number=SOCKET[platform.machine()]) + code
    return subprocess.run(
        [sys.executable, "-c", filtered], cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


@filters
@pytest.mark.parametrize("opens", [
    "import socket; socket.socket()", "import socket; socket.getaddrinfo('localhost.test', 80)",
    "import duckdb; duckdb.sql(\"INSTALL spatial FROM 'http://127.0.0.1:9'\")",
])
def test_the_filter_ends_what_opens_a_socket(opens: str, tmp_path: Path) -> None:
    assert refused(opens, tmp_path).returncode == -signal.SIGSYS


@pytest.mark.slow
@filters
def test_no_call_opens_a_socket(tmp_path: Path) -> None:
    done = refused(RUNS, tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert {"one.parquet", "report.html", "folder"} <= {path.name for path in tmp_path.iterdir()}
