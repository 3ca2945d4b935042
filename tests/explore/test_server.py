"""The installed command: who may ask it, where it listens, and how it ends."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from kanon_sql.explore.server import MISSING
from tests.explore.conftest import KANON, Running, running

UPGRADE = {
    "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}
SOCKET = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"


def ask(server: Running, path: str, **headers: str) -> tuple[int, dict[str, str], str]:
    """Status, headers and text of an answer."""
    con = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        con.putrequest("GET", path, skip_host="Host" in headers)
        for name, value in headers.items():
            con.putheader(name.replace("_", "-"), value)
        con.endheaders()
        answer = con.getresponse()
        told = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, told, "" if answer.status == 101 else answer.read().decode()
    finally:
        con.close()


def cookie(server: Running) -> str:
    """What the browser sends after it was given the token."""
    status, headers, _ = ask(server, f"/?token={server.token}")
    assert (status, headers["location"]) == (303, "/")
    return headers["set-cookie"].partition(";")[0]


PATHS = ["/", "/favicon.ico", SOCKET, SOCKET.replace("websocket", "polling"), "/docs", "/none"]


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_answered_without_the_token(server: Running, path: str) -> None:
    for sent in ({}, {"Cookie": f"kanon_explore_{server.port}=wrong"}):
        status, _, text = ask(server, path, **sent)
        assert status == 403 and "people" not in text and "nicegui" not in text.lower()


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{}", "127.0.0.1", "[::1]:{}", ""])
def test_another_host_is_refused_even_with_the_token(server: Running, host: str) -> None:
    named = host.format(server.port)
    for path in (f"/?token={server.token}", "/", SOCKET):
        status, _, text = ask(server, path, Host=named, Cookie=cookie(server))
        assert status in (400, 403, 421) and "people" not in text


def test_the_page_opens_with_the_cookie(server: Running) -> None:
    status, headers, text = ask(server, "/", Cookie=cookie(server))
    assert status == 200 and "people.parquet" in text and "CANARY" not in text
    assert "connect-src 'self'" in headers["content-security-policy"]
    assert server.token not in text


def test_a_websocket_needs_the_cookie_and_the_origin(server: Running) -> None:
    mine = f"http://127.0.0.1:{server.port}"
    held = cookie(server)
    assert ask(server, SOCKET, **UPGRADE, Origin=mine, Cookie=held)[0] == 101
    assert ask(server, SOCKET, **UPGRADE, Origin=mine)[0] == 403
    assert ask(server, SOCKET, **UPGRADE, Origin="http://evil.example", Cookie=held)[0] == 403
    assert ask(server, f"{SOCKET}&token={server.token}", **UPGRADE, Origin=mine)[0] == 403


def test_it_listens_on_this_machine_only(server: Running) -> None:
    name = socket.gethostname()
    found = {info[4][0] for info in socket.getaddrinfo(name, None, socket.AF_INET)}
    for place in {"127.0.0.2", *map(str, found)} - {"127.0.0.1"}:
        with socket.socket() as outside:
            outside.settimeout(2)
            assert outside.connect_ex((place, server.port)) != 0


def children(process: int) -> list[str]:
    """The processes that have a process as a parent."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        if int(text.rpartition(")")[2].split()[1]) == process:
            found.append(stat.parent.name)
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system has no /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_with_no_process_and_no_file_left(
    needed: None, people: Path, number: signal.Signals
) -> None:
    before = sorted(people.iterdir())
    with running(people, "people.parquet") as server:
        assert ask(server, "/", Cookie=cookie(server))[0] == 200
        begun = children(server.process.pid)
        server.process.send_signal(number)
        out, told = server.process.communicate(timeout=30)
    assert server.process.returncode == (130 if number == signal.SIGINT else 0)
    assert out == "" and "Traceback" not in told
    assert [pid for pid in begun if Path("/proc", pid).exists()] == []
    assert sorted(people.iterdir()) == before


def test_a_port_that_is_taken_is_refused(server: Running, people: Path) -> None:
    done = subprocess.run(
        [KANON, "explore", "people.parquet", "--no-browser", "--port", str(server.port)],
        cwd=people, capture_output=True, text=True, timeout=120, check=False,
    )
    assert (done.returncode, done.stderr) == (
        2, f"kanon: The port {server.port} can't be used. Choose another one by --port, or leave "
        "it out.\n"
    )


@pytest.mark.parametrize(("words", "status", "said"), [
    (("no.parquet",), 2, "no.parquet"), (("-",), 2, "has no name"), ((), 2, "IN is not given"),
    (("people.parquet", "--prot", "1"), 2, "--port"), (("empty.csv",), 4, "no rows"),
])
def test_what_can_not_be_explored_is_refused_in_a_sentence(
    needed: None, people: Path, words: tuple[str, ...], status: int, said: str
) -> None:
    (people / "empty.csv").write_text("a,b\n", encoding="utf-8")
    done = subprocess.run(
        [KANON, "explore", *words, "--no-browser"], cwd=people, capture_output=True, text=True,
        timeout=120, check=False,
    )
    assert done.returncode == status, done.stderr
    assert said in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_a_table_of_a_database_is_explored_at_a_port(needed: None, tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "our.duckdb")) as con:
        con.execute("CREATE TABLE people AS SELECT i AS a, i % 3 AS b FROM range(30) AS r(i)")
        con.execute("CREATE TABLE others AS FROM people")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with running(tmp_path, "our.duckdb::people", "--port", str(port)) as server:
        assert server.port == port
        assert "our.duckdb, people" in ask(server, "/", Cookie=cookie(server))[2]


def test_without_the_extra_it_says_what_to_install(people: Path) -> None:
    code = (
        "import sys; sys.modules['nicegui'] = None\n"
        "from kanon_sql.cli.main import main; sys.exit(main(['explore', 'people.parquet']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=people, capture_output=True, text=True, timeout=120,
        env=os.environ, check=False,
    )
    assert (done.returncode, done.stderr) == (2, f"kanon: {MISSING}\n")
