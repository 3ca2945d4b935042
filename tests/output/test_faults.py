"""What a disk, a memory and a file refuse: status 4, one sentence without a value, nothing left."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.errors import DataError
from kanon_sql.output.faults import read_fault, write_fault
from kanon_sql.output.whole import folder_beside

KANON = [sys.executable, "-m", "kanon_sql"]
TYPED = ("-k", "5", "-q", "age,zip", "-s", "injury", "-i", "name", "-m", "mdav_plus")
MADE = """
    COPY (SELECT hash(i) % 60 AS age, hash(i, 1) % 9000 AS zip, 'hurt ' || (i % 5) AS injury,
                 md5(i::VARCHAR) AS name
          FROM range(3000) r(i)) TO 'in.parquet' (FORMAT parquet, COMPRESSION {})
"""
SMALL = 2_000
"""Bytes of the largest file that a process may write: a disk that any user can fill."""


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with duckdb.connect() as con:
        con.execute(MADE.format("uncompressed"))


def small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, SMALL))


def kanon(
    *arguments: str, before: Callable[[], object] | None = None, **more: Any
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*KANON, *arguments], capture_output=True, text=True, timeout=300, check=False,
        preexec_fn=before, **more,
    )


def left() -> list[str]:
    return sorted(path.name for path in Path().iterdir() if path.name != "in.parquet")


@pytest.mark.slow
@pytest.mark.parametrize("to", [
    ("anonymize", "o.csv"), ("anonymize", "o.parquet"), ("anonymize", "new.duckdb::t"),
    ("anonymize", "parts", "--partition-by", "injury"),
    ("release", "o.parquet", "--private", "o.json"),
])
def test_a_disk_that_takes_no_more(to: tuple[str, ...]) -> None:
    done = kanon(to[0], "in.parquet", "-o", *to[1:], *TYPED, before=small_files)
    assert done.returncode == 4, done.stderr
    *_, said = done.stderr.splitlines()
    place = Path(to[1].partition("::")[0]).resolve()
    assert said.startswith(f"kanon: Nothing can be written to '{place}': File too large. Name")
    assert "hurt" not in done.stderr + done.stdout
    assert left() == []


def test_a_full_disk_has_its_own_sentence() -> None:
    text = (
        "IO Error: Could not write file \"/d/.o.csv.0123456789abcdef.tmp/parts/injury=3/x\": "
        "No space left on device"
    )
    for error in (duckdb.IOException(text), duckdb.FatalException(text), OSError(28, "No space")):
        told = write_fault(error, Path("/d/o.csv"))
        assert str(told) == (
            "The disk of '/d/o.csv' is full. Nothing was written there; make room, and run the "
            "same again."
        )
    assert write_fault(duckdb.IOException(text), Path("/d/another.csv")) is not None
    assert "injury" not in str(write_fault(duckdb.IOException(text), Path("/d/another.csv")))
    assert write_fault(duckdb.IOException("full"), Path("/d/o.csv")) is None


@pytest.mark.slow
def test_standard_output_that_is_full() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*KANON, "anonymize", "in.parquet", "-o", "-", *TYPED], stdout=full,
            stderr=subprocess.PIPE, text=True, timeout=300, check=False,
        )
    assert done.returncode == 4
    assert "No space left on device" in done.stderr


@pytest.mark.slow
def test_python_says_the_same() -> None:
    done = subprocess.run([sys.executable, "-c", f"""
import resource, kanon_sql
resource.setrlimit(resource.RLIMIT_FSIZE, ({SMALL}, {SMALL}))
try:
    kanon_sql.release('in.parquet', to='o.parquet', k=5, quasi_identifiers=['age', 'zip'],
                      sensitive=['injury'], identifiers=['name'], method='mdav_plus')
except kanon_sql.DataError as refusal:
    print(refusal)
"""], capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.startswith("Nothing can be written to "), done.stderr
    assert left() == []


# --- memory --------------------------------------------------------------------------------------


def little_memory() -> None:
    size = 1_700_000_000
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


@pytest.mark.slow  # what fails first depends on the machine: a native library may abort
def test_too_little_memory_is_told_as_such() -> None:
    done = kanon("anonymize", "in.parquet", "-o", "o.parquet", *TYPED, before=little_memory)
    if done.returncode < 0 or done.returncode in (0, 134, 139):
        pytest.skip("the system itself ended the process, or it had enough")
    *_, said = done.stderr.splitlines()
    assert (done.returncode, said.partition(".")[0]) == (
        4, "kanon: The memory is too small for this table"
    )
    assert left() == []


@pytest.mark.sample(5)
@pytest.mark.parametrize("text", [
    "Out of Memory Error: failed to allocate data of size 16.0 MiB",
    "Invalid Input Error: Python exception occurred while executing the UDF: ArrowMemoryError: "
    "malloc of size 64 failed",
    "Invalid Input Error: Python exception occurred while executing the UDF: RuntimeError: can't "
    "start new thread",
    "std::bad_alloc",
    "Invalid Input Error: ImportError: failed to map segment from shared object",
])
def test_what_says_that_memory_was_too_small(text: str) -> None:
    assert str(read_fault(duckdb.InvalidInputException(text))).startswith("The memory is too small")


def test_work_that_finds_no_memory(
    con: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kanon_sql.stages import group

    def fail(*_: Any, **__: Any) -> None:
        raise OSError("Could not load a library") from OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(group, "_grouped", fail)
    with pytest.raises(DataError, match="The memory is too small for this table"):
        kanon_sql.anonymize("patients", con=con, k=7, others="drop", quasi_identifiers=["age"],
                            seed=6)  # nothing else groups so: labels are remembered


# --- damaged files -------------------------------------------------------------------------------


def damaged(codec: str) -> None:
    """Makes a page of the column that is dropped unreadable."""
    with duckdb.connect() as con:
        con.execute(MADE.format(codec))
        start, size = con.execute(
            "SELECT least(data_page_offset, coalesce(nullif(dictionary_page_offset, 0), "
            "data_page_offset)), total_compressed_size FROM parquet_metadata('in.parquet') "
            "WHERE path_in_schema = 'name' ORDER BY ALL LIMIT 1"
        ).fetchall()[0]
    text = bytearray(Path("in.parquet").read_bytes())
    for place in range(start, start + min(400, size)):
        text[place] ^= 0x5A
    Path("in.parquet").write_bytes(text)


@pytest.mark.slow
@pytest.mark.parametrize("codec", ["uncompressed", "snappy"])
def test_a_damaged_page_of_a_dropped_column_is_refused_at_every_door(codec: str) -> None:
    damaged(codec)
    call: dict[str, Any] = {
        "k": 5, "quasi_identifiers": ["age", "zip"], "sensitive": ["injury"],
        "identifiers": ["name"], "method": "mdav_plus",
    }
    con = kanon_sql.register(duckdb.connect())
    for door in (
        lambda: kanon_sql.anonymize("in.parquet", **call),
        lambda: kanon_sql.anonymize_metrics("in.parquet", **call),
        lambda: kanon_sql.release("in.parquet", **call),
        lambda: kanon_sql.release("in.parquet", to="o.parquet", **call),
        lambda: kanon_sql.anonymize("in.parquet", con=con, **call),
        lambda: kanon_sql.anonymize_files("in.parquet", "out", progress=False, **call),
    ):
        with pytest.raises(DataError, match=r"read a file of the input .*be damaged"):
            door()
    done = kanon("anonymize", "in.parquet", "-o", "o.csv", *TYPED)
    assert (done.returncode, "it may be damaged" in done.stderr) == (4, True)
    assert left() == []


# --- what runs leave that were killed ------------------------------------------------------------


@pytest.mark.slow
def test_the_next_run_takes_away_what_a_killed_one_left(tmp_path: Path) -> None:
    waiting = """
import sys, time
from pathlib import Path
from kanon_sql.output.whole import beside
with beside(Path('one.parquet').resolve()) as draft:
    Path(draft).write_text('half')
    Path(draft + '.wal').write_text('half')
    print('begun', flush=True)
    time.sleep(600)
"""
    runs = [
        subprocess.Popen([sys.executable, "-c", waiting], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    try:
        for each in runs:
            assert each.stdout is not None
            assert each.stdout.readline() == "begun\n"
        assert len(left()) == 2
        runs[0].send_signal(signal.SIGKILL)
        runs[0].wait()
        Path(".one.parquet.notes.tmp").mkdir()
        with folder_beside(tmp_path / "one.parquet"):
            assert len(left()) == 3  # that of the one that is alive, ours, and the notes
        assert len(left()) == 2
    finally:
        for each in runs:
            each.kill()
            each.wait()
            if each.stdout is not None:
                each.stdout.close()
    done = kanon("anonymize", "in.parquet", "-o", "one.parquet", *TYPED)
    assert done.returncode == 0, done.stderr
    assert left() == [".one.parquet.notes.tmp", "one.parquet"]


@pytest.mark.slow
def test_a_killed_command_leaves_nothing_that_stays() -> None:
    call = [*KANON, "anonymize", "in.parquet", "-o", "one.parquet", *TYPED]
    run = subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while not left() and run.poll() is None and time.monotonic() < until:
        time.sleep(0.002)
    run.kill()
    run.wait()
    assert kanon(*call[3:]).returncode == 0
    assert left() == ["one.parquet"]


FEW = """
import resource
import sys
import duckdb
import kanon_sql

duckdb.sql(
    "COPY (SELECT range % 50 AS age, 'z' || range % 7 AS zip FROM range(500)) TO 'in.parquet'"
)
call = {"k": 5, "quasi_identifiers": ["age", "zip"], "seed": 1}
kanon_sql.release("in.parquet", to="out.parquet", **call)
most = resource.getrlimit(resource.RLIMIT_NOFILE)
for few in range(3, 24):
    resource.setrlimit(resource.RLIMIT_NOFILE, (few, most[1]))
    said = "released"
    try:
        kanon_sql.release("in.parquet", to="out.parquet", **call)
    except kanon_sql.KanonError as refused:
        said = f"{type(refused).__name__} {refused}"
    except BaseException as error:
        said = repr(error)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, most)
    print(said)
"""


def test_few_open_files_are_a_sentence_or_enough(tmp_path: Path) -> None:
    """DuckDB says of the query after one that could open no file that it was interrupted."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FEW], cwd=tmp_path, capture_output=True, text=True,
        check=True,
    )
    said = done.stdout.splitlines()
    assert len(said) == 21 and said[-1] == "released" and said[0].startswith("DataError")
    assert all(each == "released" or each.startswith("DataError ") for each in said), said


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_a_folder_that_nobody_may_look_into_is_a_sentence() -> None:
    # asked once before, since another user may not be able to read what a call imports
    code = (
        "import os, kanon_sql\n"
        "for to in ('missing/folder', 'closed'):\n"
        "    try: kanon_sql.anonymize_files('in.parquet', to, k=5, quasi_identifiers=['age'])\n"
        "    except kanon_sql.KanonError as refused: print(type(refused).__name__, refused)\n"
        "    os.seteuid(65_534)"
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        (Path(folder) / "closed").mkdir(mode=0o000)
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True,
        )
    first, second = done.stdout.splitlines()
    assert first.startswith("OptionError There is no folder")
    assert second.startswith("DataError Nothing can be written to") and "denied" in second


@pytest.mark.parametrize(("more", "status"), [(("-k", "5"), 0), (("-k", "9000"), 4)])
def test_where_nothing_can_be_said_the_status_tells_it(more: tuple[str, ...], status: int) -> None:
    """What is told to people goes to a device that is full."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*KANON, "anonymize", "in.parquet", "-o", "o.parquet", *TYPED[2:], *more],
            stderr=full, check=False,
        )
    assert done.returncode == status
    assert left() == (["o.parquet"] if status == 0 else [])
