"""A run that was stopped goes on where it was, and ends with the same bytes."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import kanon_sql
from kanon_sql.blocks.group import Block
from kanon_sql.errors import DataError, OptionError
from kanon_sql.files import engine, finish, partition, state
from kanon_sql.files.state import State
from tests.files.lakes import OPTIONS, bytes_of, make_lake

ROWS, BLOCK = 6000, 1000
GIVEN: dict[str, Any] = {**OPTIONS, "block_rows": BLOCK, "threads": 1}


class Stopped(BaseException):
    """Stands for the end of the process."""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_lake(tmp_path_factory.mktemp("lake"), ROWS)


@pytest.fixture(scope="module")
def whole(lake: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("whole") / "out"
    kanon_sql.anonymize_files(lake, folder, **GIVEN)
    return bytes_of(folder)


@pytest.mark.slow
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_a_run_that_stops_at_every_step_ends_with_the_same_bytes(
    before: bool, lake: str, whole: dict[str, bytes], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, out, steps = State.done, tmp_path / "out", []

    def stopping(self: State, step: str, found: Any, *made: Path) -> Any:
        if step in steps:
            return real(self, step, found, *made)
        steps.append(step)
        if not before:
            real(self, step, found, *made)
        raise Stopped

    monkeypatch.setattr(State, "done", stopping)
    stops = 0
    while not out.exists():
        try:
            kanon_sql.anonymize_files(lake, out, **GIVEN)
        except Stopped:
            stops += 1
            assert not out.exists() and stops < 40
    # where one stops, the next has begun
    assert len(steps) >= 6 and 4 <= stops <= len(steps)
    assert bytes_of(out) == whole
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.slow
def test_blocks_that_are_done_are_not_done_again(
    lake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, made = engine.release_block, []

    def counting(con: Any, request: Any, call: Any, learned: Any, one: Block, to: Path) -> Any:
        if len(made) == 3:
            raise Stopped
        made.append(one.name)
        return real(con, request, call, learned, one, to)

    monkeypatch.setattr(engine, "release_block", counting)
    with pytest.raises(Stopped):
        kanon_sql.anonymize_files(lake, tmp_path / "out", **GIVEN)
    again: list[str] = []

    def noting(con: Any, request: Any, call: Any, learned: Any, one: Block, to: Path) -> Any:
        again.append(one.name)
        return real(con, request, call, learned, one, to)

    monkeypatch.setattr(engine, "release_block", noting)
    monkeypatch.setattr(engine, "spool", lambda *_: pytest.fail("the rows were cut again"))
    kanon_sql.anonymize_files(lake, tmp_path / "out", **GIVEN)
    assert made and not set(made) & set(again)


@pytest.mark.slow
@pytest.mark.parametrize(("options", "said"), [
    ({"k": 6}, "the options changed"), ({"seed": 1}, "the options changed"),
    ({"method": "mdav_plus"}, "the options changed"),
])
def test_a_draft_of_another_release_is_not_gone_on_with(
    options: dict[str, Any], said: str, lake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopping(*_: Any) -> Any:
        raise Stopped

    monkeypatch.setattr(engine, "release_block", stopping)
    with pytest.raises(Stopped):
        kanon_sql.anonymize_files(lake, tmp_path / "out", **GIVEN)
    monkeypatch.undo()
    with pytest.raises(OptionError, match=said):
        kanon_sql.anonymize_files(lake, tmp_path / "out", **{**GIVEN, **options})
    kanon_sql.anonymize_files(lake, tmp_path / "out", resume=False, **{**GIVEN, **options})


@pytest.mark.slow
def test_an_input_that_changed_is_not_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = make_lake(tmp_path / "lake", 3000)

    def stopping(*_: Any) -> Any:
        raise Stopped

    monkeypatch.setattr(engine.Files, "write", stopping)
    with pytest.raises(Stopped):
        kanon_sql.anonymize_files(own, tmp_path / "out", **GIVEN)
    make_lake(tmp_path / "lake", 3100)
    with pytest.raises(OptionError, match="the input changed"):
        kanon_sql.anonymize_files(own, tmp_path / "out", **GIVEN)


@pytest.mark.slow
def test_a_full_disk_is_one_sentence_and_the_old_output_stays(
    lake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    kanon_sql.anonymize_files(lake, out, **{**GIVEN, "k": 9})
    before = bytes_of(out)

    def full(*_: Any) -> Any:
        raise OSError(28, "No space left on device")

    for place, name in (
        (partition.pq, "read_metadata"), (state, "write_whole"), (finish, "Output")
    ):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, full)
            with pytest.raises(DataError, match=r"The disk of .* is full") as refused:
                kanon_sql.anonymize_files(lake, out, overwrite=True, **GIVEN)
            assert "\n" not in str(refused.value)
        assert bytes_of(out) == before
    kanon_sql.anonymize_files(lake, out, overwrite=True, **GIVEN)
    assert bytes_of(out) != before


PROGRAM = """
import json, sys
import kanon_sql
kanon_sql.anonymize_files(sys.argv[1], sys.argv[2], **json.loads(sys.argv[3]))
"""


@pytest.mark.slow
def test_a_run_killed_at_random_points_ends_with_the_same_bytes(
    lake: str, whole: dict[str, bytes], tmp_path: Path
) -> None:
    out, chance = tmp_path / "out", random.Random(7)
    command = [sys.executable, "-c", PROGRAM, lake, str(out), json.dumps(GIVEN)]
    begun = time.monotonic()
    subprocess.run(command, check=True, timeout=300)
    usual = time.monotonic() - begun
    assert bytes_of(out) == whole
    killed, runs = 0, 0
    while killed < 20:
        runs += 1
        assert runs <= 60, "runs end before they can be killed"
        out = tmp_path / f"out_{runs}"
        command[4] = str(out)
        while not out.exists():
            process = subprocess.Popen(command)
            try:
                process.wait(timeout=usual * chance.uniform(0.2, 1.0) if killed < 20 else 300)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                killed += 1
        assert bytes_of(out) == whole


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGINT for processes")
def test_ctrl_c_stops_it_and_it_goes_on(
    lake: str, whole: dict[str, bytes], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    program = PROGRAM.replace("import kanon_sql\n", """
import os, signal
import kanon_sql
from kanon_sql.files import engine
real = engine.release_block
def stopping(con, request, call, learned, one, to):
    if one.first == 2 and not to.with_name('once').exists():
        to.with_name('once').write_text('')
        os.kill(os.getpid(), signal.SIGINT)
    return real(con, request, call, learned, one, to)
engine.release_block = stopping
""")
    command = [sys.executable, "-c", program, lake, str(out), json.dumps(GIVEN)]
    stopped = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert stopped.returncode != 0 and "KeyboardInterrupt" in stopped.stderr
    assert not out.exists()
    subprocess.run(command, check=True, timeout=120)
    assert bytes_of(out) == whole
