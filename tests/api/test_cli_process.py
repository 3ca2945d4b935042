"""The shell as a process: pipes, Ctrl-C, and how fast it says what it can."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kanon_sql.data import adult

KANON = [sys.executable, "-m", "kanon_sql"]


def kanon(*arguments: str, **more: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [*KANON, *arguments], capture_output=True, timeout=300, check=False, **more
    )


@pytest.mark.slow
def test_a_pipe_from_end_to_end(tmp_path: Path) -> None:
    call = ("-s", "salary-class", "-k", "5", "-m", "mdav_plus")
    done = kanon("anonymize", "-", "-o", "-", "--format", "parquet", *call,
                 input=adult().read_bytes() if isinstance(adult(), Path)
                 else Path(adult()).read_bytes())
    assert (done.returncode, done.stdout[:4]) == (0, b"PAR1")
    assert done.stderr.startswith(b"kanon: 30,162 rows in standard output, ")
    audit = kanon("audit", "-", "-s", "salary-class", "-k", "5", input=done.stdout)
    assert audit.returncode == 0
    assert kanon("audit", "-", "-s", "salary-class", "-k", "500", input=done.stdout).returncode == 1


@pytest.mark.slow
def test_who_closes_the_pipe_gets_no_traceback(tmp_path: Path) -> None:
    script = f"{' '.join(KANON)} anonymize {adult()} -k 5 -m mdav_plus -o - --quiet | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", script], capture_output=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr) == (141, b"")
    assert done.stdout.startswith(b"sex,age,")


@pytest.mark.parametrize("number", [
    signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)
])
@pytest.mark.parametrize("arguments", [
    ["sql", "-c", "SELECT count(*) FROM range(1000000000000)"],
    pytest.param(["anonymize", "adult.parquet", "-k", "3", "--effort", "balanced",
                  "--refine-steps", "1000000000", "-o", "out.parquet"], marks=pytest.mark.slow),
])
def test_ctrl_c_and_sigterm_leave_nothing(
    arguments: list[str], number: signal.Signals, tmp_path: Path
) -> None:
    os.link(adult(), tmp_path / "adult.parquet")
    running = subprocess.Popen(
        [*KANON, *arguments], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    time.sleep(4)  # by then it is at work, or still starting: both must end alike
    running.send_signal(number)
    out, err = running.communicate(timeout=120)
    assert (running.returncode, out) == (128 + number, b"")
    assert err.endswith(b"kanon: stopped.\n")
    assert b"Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["adult.parquet"]


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_while_the_shell_is_loaded(name: str) -> None:
    done = subprocess.run([sys.executable, "-c", f"""
import os, signal, sys

class Pressed:
    def find_spec(self, name, *_):
        if name == "click":
            os.kill(os.getpid(), signal.{name})

sys.meta_path.insert(0, Pressed())
from kanon_sql.cli.begin import start
start()
"""], capture_output=True, check=False, timeout=60)
    status = 128 + getattr(signal, name)
    assert (done.returncode, done.stdout, done.stderr) == (status, b"", b"kanon: stopped.\n")


def test_help_loads_no_kernel_and_no_command() -> None:
    code = (
        "import sys; from kanon_sql.cli.main import main; main(['--help']); "
        "print([name for name in ('numba', 'polars', 'matplotlib', 'kanon_sql.cli.options') "
        "if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the system doesn't name open files")
def test_what_came_in_is_nowhere_after_a_kill(tmp_path: Path) -> None:
    running = subprocess.Popen(
        [*KANON, "anonymize", "-", "-k", "2", "-o", "out.csv"], cwd=tmp_path,
        stdin=subprocess.PIPE, env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert running.stdin is not None
    running.stdin.write(b"name,age\n" + b"Hildegard,47\n" * 100_000)  # it returns when most is read
    running.stdin.flush()
    running.kill()
    running.communicate(timeout=60)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_streams_that_are_closed_change_no_status(closed: str, tmp_path: Path) -> None:
    for typed, status in (("--version", 0), ("--versoin", 2)):
        done = subprocess.run(
            f"'{sys.executable}' -m kanon_sql {typed} {closed}", shell=True, cwd=tmp_path,
            capture_output=True, text=True, timeout=300, check=False,
        )
        assert done.returncode == status and "Traceback" not in done.stderr
