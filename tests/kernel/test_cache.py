"""Compiled functions are kept where the user's caches are, and never used after a change."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMPILE = "from kanon_sql.measure.diameter import load_kernels; print(len(load_kernels()))"
DIGESTS = """
from kanon_sql.kernel.cache import source_digest
print(source_digest('methods.microaggregation.mdav_star'))
print(source_digest('methods.single_attribute.ordered'))
print(source_digest('kernel.heap'))
"""


def python(script: str, *, before: str = "", root: Path = ROOT, **settings: str) -> tuple[str, str]:
    """What a new process prints to both streams, with these variables of the environment."""
    environment = {
        key: value for key, value in os.environ.items()
        if key not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    }
    done = subprocess.run(
        [sys.executable, "-c", f"{before}\n{script}"], cwd=root, env={**environment, **settings},
        capture_output=True, text=True, check=True, timeout=120,
    )
    return done.stdout.strip(), done.stderr


def kept(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in (".nbi", ".nbc"))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="another platform has another folder")
def test_the_users_cache_folder_has_it_and_numbas_variable_wins(tmp_path: Path) -> None:
    users, numbas = tmp_path / "users", tmp_path / "numbas"
    assert python(COMPILE, XDG_CACHE_HOME=str(users))[0] == "1"
    assert python(COMPILE, XDG_CACHE_HOME=str(users)) == ("0", "")
    (versions,) = (users / "kanon_sql").iterdir()
    assert {path.parent for path in kept(tmp_path)} == {versions}
    at = {"XDG_CACHE_HOME": str(users), "NUMBA_CACHE_DIR": str(numbas)}
    before = kept(users)
    assert python(COMPILE, **at)[0] == "1"
    assert kept(users) == before and kept(numbas / "kanon_sql")


@pytest.mark.slow
def test_without_a_folder_it_works_and_one_line_says_so() -> None:
    # nobody can make a folder there, not even root
    nowhere = {"XDG_CACHE_HOME": "/proc/nowhere", "HOME": "/proc/nowhere"}
    for _ in range(2):
        out, said = python(COMPILE, **nowhere)
        assert out == "1"
        (line, _) = said.splitlines()
        assert line == (
            "kanon_sql: compiling the kernels of the metrics, for this process alone (no folder to"
            " keep them in can be written: set NUMBA_CACHE_DIR) ..."
        )


@pytest.mark.slow
def test_a_folder_that_can_only_be_read_is_read(tmp_path: Path) -> None:
    python(COMPILE, NUMBA_CACHE_DIR=str(tmp_path))
    before = {path: path.read_bytes() for path in kept(tmp_path)}
    for path in [tmp_path, *tmp_path.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        # root may write all the same, but then to no file
        small = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))"
        assert python(COMPILE, before=small, NUMBA_CACHE_DIR=str(tmp_path)) == ("0", "")
    finally:
        for path in [tmp_path, *tmp_path.rglob("*")]:
            path.chmod(0o755)
    assert {path: path.read_bytes() for path in kept(tmp_path)} == before


@pytest.mark.slow
def test_a_full_disk_costs_the_next_process_time_and_no_more(tmp_path: Path) -> None:
    small = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))"
    assert python(COMPILE, before=small, NUMBA_CACHE_DIR=str(tmp_path))[0] == "1"
    assert kept(tmp_path) == []
    assert python(COMPILE, NUMBA_CACHE_DIR=str(tmp_path))[0] == "1"


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_damaged_file_is_made_again(tmp_path: Path, ending: str) -> None:
    python(COMPILE, NUMBA_CACHE_DIR=str(tmp_path))
    for path in tmp_path.rglob(f"*.{ending}"):
        path.write_bytes(path.read_bytes()[:-7])
    assert python(COMPILE, NUMBA_CACHE_DIR=str(tmp_path))[0] == "1"
    assert python(COMPILE, NUMBA_CACHE_DIR=str(tmp_path)) == ("0", "")


@pytest.mark.slow
def test_of_processes_that_begin_at_once_one_compiles(tmp_path: Path) -> None:
    # each begins when all are there
    together = f"""
import pathlib, time
import kanon_sql.measure.diameter
here = pathlib.Path({str(tmp_path)!r})
(here / str(time.time_ns())).touch()
while len(list(here.glob("[0-9]*"))) < 3:
    time.sleep(0.001)
{COMPILE}
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", together], cwd=ROOT, env=environment, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )
        for _ in range(3)
    ]
    assert sorted(one.communicate(timeout=120)[0].strip() for one in running) == ["0", "0", "1"]


def test_a_change_of_what_a_kernel_calls_is_a_change_of_the_kernel(tmp_path: Path) -> None:
    # numba looks at the file of the kernel alone, and would go on with the old machine code
    copy = tmp_path / "kanon_sql"
    shutil.copytree(ROOT / "kanon_sql", copy, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("sql", "udfs"):
        shutil.copytree(ROOT / name, tmp_path / name)
    before = python(DIGESTS, root=tmp_path)[0].splitlines()
    assert before == python(DIGESTS)[0].splitlines()  # wherever the package lies
    called = copy / "kernel" / "simd.py"
    called.write_text(called.read_text() + "\n# changed\n")
    after = python(DIGESTS, root=tmp_path)[0].splitlines()
    assert [a == b for a, b in zip(before, after, strict=True)] == [False, True, True]
