"""A long call stops when it is told to, and leaves the connection usable."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.duckdb.register import close
from kanon_sql.errors import KanonError
from kanon_sql.jobs import interrupts
from kanon_sql.jobs import job as jobs
from kanon_sql.jobs.progress import Progress
from kanon_sql.kernel.watch import STOP, Watch

LONG = "FROM anonymize('long', k=5, method='best', refine_steps=100000000000, sensitive=['s'])"
SOON = 2.0
"""Seconds in which a call must be over; half a second on a machine with nothing else to do."""


@pytest.fixture
def long(con: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """A table on which a search goes on for hours."""
    con.execute(
        "CREATE TABLE long AS SELECT hash(i) % 9973 AS a, hash(i + 1) % 9967 AS b, i AS s "
        "FROM range(2000) AS r(i)"
    )
    con.execute("FROM anonymize('long', k=5, method='best', refine_steps=1, sensitive=['s'])")
    return con


@pytest.mark.parametrize("name", ["socket.socketpair", "signal.set_wakeup_fd"])
def test_a_system_that_refuses_an_ear_leaves_ctrl_c_to_python(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[str] = []

    def refuse(*_: object, **__: object) -> None:
        refused.append(name)
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(interrupts, "_pair", None)
    before = signal.set_wakeup_fd(-1)
    with monkeypatch.context() as patch:
        patch.setattr(name, refuse)
        interrupts.listen()
        assert refused == [name]
        assert interrupts.heard() >= 0
    interrupts.listen()
    assert interrupts._pair is not None
    assert signal.set_wakeup_fd(before) == interrupts._pair[1].fileno()


def kanon_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("kanon")]


def eventually(true: Any) -> bool:
    deadline = time.perf_counter() + 10
    while not true() and time.perf_counter() < deadline:
        time.sleep(0.02)
    return bool(true())


def test_an_interrupt_stops_the_call_and_the_kernel(long: duckdb.DuckDBPyConnection) -> None:
    told: list[float] = []

    def interrupt() -> None:
        told.append(time.perf_counter())
        long.interrupt()

    timer = threading.Timer(1.0, interrupt)
    timer.start()
    with pytest.raises(duckdb.InterruptException):
        long.execute(LONG)
    assert time.perf_counter() - told[0] < SOON
    assert eventually(lambda: not kanon_threads())
    assert not any(job._work for job in jobs._jobs.values() if job.begun and not job.abandoned)
    assert long.execute("SELECT count(*) FROM long").fetchone() == (2000,)
    assert len(long.execute("FROM anonymize('long', k=5, sensitive=['s'])").fetchall()) == 2000


def test_an_interrupt_stops_an_audit(
    con: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[float] = []
    begun = threading.Event()

    def for_hours(domain: Any, published: Any, check: Any) -> None:
        begun.set()
        while True:
            check()
            time.sleep(0.01)

    def interrupt() -> None:
        begun.wait(30)
        told.append(time.perf_counter())
        con.interrupt()

    monkeypatch.setattr("kanon_sql.stages.audit.audit_column", for_hours)
    threading.Thread(target=interrupt).start()
    with pytest.raises(duckdb.InterruptException):
        con.execute("FROM anonymize_audit('patients', release='patients')")
    assert time.perf_counter() - told[0] < SOON
    assert eventually(lambda: not kanon_threads())


@pytest.mark.slow
@pytest.mark.parametrize("options", ["", ", msu_columns := 0"])
def test_an_interrupt_stops_the_search_for_uniques(
    con: duckdb.DuckDBPyConnection, options: str
) -> None:
    told: list[float] = []

    def interrupt() -> None:
        told.append(time.perf_counter())
        con.interrupt()

    columns = ", ".join(f"hash(i + {j}000000) % 2 AS c{j}" for j in range(30))
    con.execute(f"CREATE TABLE wide AS SELECT {columns} FROM range(5000) AS r(i)")
    timer = threading.Timer(1.0, interrupt)
    timer.start()
    with pytest.raises(duckdb.InterruptException):
        con.execute(f"FROM anonymize_risk('wide', subset_columns := 12{options})")
    assert time.perf_counter() - told[0] < SOON
    assert eventually(lambda: not kanon_threads())


def test_an_audit_that_fails_says_so_in_one_sentence(
    con: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(domain: Any, published: Any, check: Any) -> None:
        raise ValueError("a secret value")

    monkeypatch.setattr("kanon_sql.stages.audit.audit_column", broken)
    with pytest.raises(duckdb.Error, match="The audit failed with ValueError") as raised:
        con.execute("FROM anonymize_audit('patients', release='patients')")
    assert "secret" not in str(raised.value)


@pytest.mark.slow
def test_ctrl_c_stops_the_call_and_the_kernel() -> None:
    """In a process of its own: the signal comes to the main thread, which waits in DuckDB."""
    script = """
        import os, signal, sys, threading, time
        import duckdb
        import kanon_sql

        signal.signal(signal.SIGINT, signal.default_int_handler)
        con = kanon_sql.register(duckdb.connect())
        con.execute("SET enable_progress_bar = false")
        con.execute(
            "CREATE TABLE long AS SELECT hash(i) % 9973 AS a, hash(i + 1) % 9967 AS b "
            "FROM range(2000) AS r(i)"
        )
        con.execute("FROM anonymize('long', k=5, method='best', refine_steps=1)")
        pressed = []

        def press():
            pressed.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)

        threading.Timer(1.0, press).start()
        try:
            try:
                con.execute("FROM anonymize('long', k=5, method='best', refine_steps=10000000000)")
                print("went on")
            finally:
                stopped = time.perf_counter()
                time.sleep(0.5)
        except BaseException as error:
            stopped = locals().get("stopped") or time.perf_counter()
            print(type(error).__name__, str(error).splitlines()[:1])
        print("soon" if stopped - pressed[0] < SOON else stopped - pressed[0])
        deadline = time.perf_counter() + 10
        while time.perf_counter() < deadline and any(
            thread.name.startswith("kanon") for thread in threading.enumerate()
        ):
            time.sleep(0.02)
        print(sum(thread.name.startswith("kanon") for thread in threading.enumerate()))
        print(con.execute("SELECT 42").fetchone())
    """
    text = textwrap.dedent(script).replace("SOON", str(SOON))
    run = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=120, check=False
    )
    kind, *rest = run.stdout.split("\n")[:4]
    assert kind.split(" ")[0] in ("KeyboardInterrupt", "RuntimeError"), run.stdout + run.stderr
    assert rest == ["soon", "0", "(42,)"], run.stdout + run.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "call", ["release(con, 'long', to='out.parquet', ", "anonymize('long', con=con, "]
)
@pytest.mark.parametrize("seconds", [0.3, 1.0])
def test_ctrl_c_is_keyboard_interrupt_in_python_and_comes_once(
    tmp_path: Path, call: str, seconds: float
) -> None:
    """In a process of its own: wherever the call is, it is what Python itself would raise."""
    script = f"""
        import os, signal, threading, time
        import duckdb
        import kanon_sql

        con = duckdb.connect()
        con.execute(
            "CREATE TABLE long AS SELECT hash(i) % 9973 AS a, hash(i + 1) % 9967 AS b "
            "FROM range(2000) AS r(i)"
        )
        signal.signal(signal.SIGINT, signal.default_int_handler)
        given = dict(k=5, quasi_identifiers=["a", "b"], method="best", progress=False)
        kanon_sql.anonymize('long', con=con, refine_steps=1, **given)
        threading.Timer({seconds}, os.kill, [os.getpid(), signal.SIGINT]).start()
        try:
            kanon_sql.{call}refine_steps=10**12, **given)
        except BaseException as error:
            print(repr(error))
        time.sleep(0.5)
        print(con.execute("SELECT 42").fetchone(), os.listdir())
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True,
        timeout=120, check=False, cwd=tmp_path,
    )
    assert run.stdout == "KeyboardInterrupt()\n(42,) []\n", run.stdout + run.stderr


@pytest.mark.slow
def test_a_query_that_was_slow_to_ask_gets_its_result_all_the_same() -> None:
    runs: list[int] = []

    def work(watch: Watch) -> str:
        runs.append(1)
        beat = watch.beat()
        deadline = time.perf_counter() + 1.5
        while time.perf_counter() < deadline:
            if beat[STOP]:
                watch.check()
            time.sleep(0.01)
        return "result"

    ticket = jobs.start(work, Progress(False))
    assert not runs  # work begins when it is asked for
    assert not jobs.wait(ticket)
    time.sleep(1.0)
    assert eventually(lambda: jobs.wait(ticket))
    assert jobs.finish(ticket) == "result"
    assert len(runs) == 2


def until_stopped(watch: Watch) -> None:
    beat = watch.beat()
    while not beat[STOP]:
        time.sleep(0.01)
    watch.check()


def test_work_that_is_no_longer_asked_for_stops_and_is_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jobs, "ASLEEP", 0.1)
    ticket = jobs.start(until_stopped, Progress(False))
    assert not jobs.wait(ticket)
    assert eventually(lambda: jobs._jobs[ticket]._work is None)
    assert eventually(lambda: jobs.wait(ticket))
    with pytest.raises(KanonError, match="paused for too long"):
        jobs.finish(ticket)
    monkeypatch.setattr(jobs, "FORGOTTEN", 0.0)
    old = jobs.start(until_stopped, Progress(False))
    new = jobs.start(until_stopped, Progress(False))
    assert old not in jobs._jobs
    assert jobs.wait(old)
    with pytest.raises(KanonError, match="paused for too long"):
        jobs.finish(old)
    jobs._jobs.pop(new)


def test_ctrl_c_lets_go_of_the_rows() -> None:
    ticket = jobs.start(until_stopped, Progress(False))
    assert not jobs.wait(ticket)
    jobs.press(ticket)
    assert eventually(lambda: jobs.wait(ticket) and jobs._jobs[ticket]._work is None)
    job = jobs._jobs[ticket]
    job.swallowed = False  # no Ctrl-C for the test itself
    with pytest.raises(KanonError, match="stopped by Ctrl-C"):
        jobs.finish(ticket)


def test_an_error_of_ours_is_one_sentence() -> None:
    def work(watch: Watch) -> None:
        raise ValueError("a secret value")

    ticket = jobs.start(work, Progress(False))
    assert eventually(lambda: jobs.wait(ticket))
    with pytest.raises(KanonError, match="failed with ValueError") as raised:
        jobs.finish(ticket)
    assert "secret" not in str(raised.value)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.slow
@pytest.mark.parametrize("call", [
    "kanon_sql.anonymize(rows, k=3, method='mdav_plus')",
    "con.sql(\"FROM anonymize('rows', k=3, method='mdav_plus')\").fetchall()",
])
def test_a_ctrl_c_in_the_midst_of_an_import_leaves_no_thread_waiting(call: str) -> None:
    """In a process of its own: an interrupted import may leave Python's lock of imports held."""
    script = f"""
        import _imp, duckdb, kanon_sql
        con = kanon_sql.register(duckdb.connect())
        con.execute("CREATE TABLE rows AS SELECT i % 7 AS a, i % 5 AS b FROM range(90) AS r(i)")
        rows = con.sql("FROM rows").fetchnumpy()
        rows = {{name: [*map(int, values)] for name, values in rows.items()}}
        _imp.acquire_lock()
        _imp.acquire_lock()
        print(len({call}))
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True,
        timeout=120, check=False,
    )
    assert run.stdout == "90\n", run.stdout + run.stderr


def test_progress_is_shown_to_a_person_only() -> None:
    watch = Watch()
    watch.begin("grouping", 1_000_000)
    watch.beat()[0] = 250_000
    watch.started -= 10.0
    shown, piped, off = Terminal(), io.StringIO(), Terminal()
    for progress in (Progress(True, shown), Progress(True, piped), Progress(False, off)):
        progress.show(watch)
        progress.clear()
    assert "250,000 of 1,000,000 rows (25 %), 25.0k rows/s, 30 s left" in shown.getvalue()
    assert shown.getvalue().endswith("\r")
    assert piped.getvalue() == off.getvalue() == ""


def test_progress_is_shown_below_the_cell_of_a_notebook() -> None:
    watch = Watch()
    watch.begin("grouping", 1_000_000)
    watch.started -= 10.0
    for package in ("ipykernel.iostream", "marimo._messaging.streams"):
        stream = type("OutStream", (io.StringIO,), {"__module__": package})()
        progress = Progress(True, stream)
        for done in (250_000, 500_000):  # the second comes too early for one more line
            watch.beat()[0] = done
            progress.show(watch)
        progress.clear()
        assert stream.getvalue().count("of 1,000,000 rows") == 1
        assert stream.getvalue().endswith("\r")
        off = type("OutStream", (io.StringIO,), {"__module__": package})()
        Progress(False, off).show(watch)
        assert off.getvalue() == ""


def test_a_stream_that_is_no_stream_shows_nothing() -> None:
    closed = Terminal()
    closed.close()
    for stream in (object(), closed):
        Progress(True, stream).show(Watch())  # type: ignore[arg-type]


def test_no_progress_of_what_takes_no_time() -> None:
    shown, watch = Terminal(), Watch()
    watch.begin("grouping", 10)
    Progress(True, shown).show(watch)
    assert shown.getvalue().strip() == ""


def test_a_connection_on_which_a_thread_still_works_is_closed() -> None:
    """As where an interrupt left a thread behind: DuckDB 2.0.1 refuses to close it meanwhile."""
    con, ended = kanon_sql.register(duckdb.connect()), []

    def long() -> None:
        try:
            con.execute("SELECT count(*) FROM range(1000000000) a, range(1000) b").fetchall()
        except duckdb.Error as error:
            ended.append(error)

    thread = threading.Thread(target=long)
    thread.start()
    time.sleep(0.3)
    close(con)
    thread.join(10)
    assert not thread.is_alive()
    with pytest.raises(duckdb.ConnectionException):
        con.execute("SELECT 1")
