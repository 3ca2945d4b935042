"""A served database, asked by DuckDB's shell: what is answered, and that nothing else is."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Thread

import duckdb
import pytest

import kanon_sql
from kanon_sql.serve.extension import served_connection
from kanon_sql.serve.tokens import add_token, revoke_token
from tests.serve.conftest import CLI, KANON, Server, ended, files_in, in_cli, loading, started
from tests.serve.hostile import ANALYST, READER

pytestmark = pytest.mark.slow


def test_a_reader_reads_the_stored_release(server: Server) -> None:
    query = server.query("reader", "FROM patients")
    out, err = in_cli([
        f"SELECT count(*) AS n, count(DISTINCT job) AS jobs FROM {query}",
        f"ATTACH '{server.uri('reader')}' AS remote (TOKEN '{server.tokens['reader']}')",
        "SELECT count(*) AS n FROM remote.main.on_disk",
        "SELECT table_name FROM duckdb_tables() WHERE database_name = 'remote' ORDER BY ALL",
    ], server.folder)
    assert err == ""
    assert out.splitlines()[:4] == ["n,jobs", "600,3", "n", "600"]


def test_an_analyst_calls(server: Server) -> None:
    call = "FROM kanon.anonymize('patients', k=6, method='mdav_plus')"
    risk = "FROM kanon.k_anonymity('patients', k=5)"
    out, err = in_cli([
        f"CREATE TABLE r AS FROM {server.query('analyst', call)}",
        "SELECT string_agg(column_name, ' ') AS columns FROM (DESCRIBE r)",
        "SELECT min(n) >= 6 AS safe FROM (SELECT count(*) AS n FROM r GROUP BY age, sex)",
        f"SELECT rows FROM {server.query('analyst', risk)}",
    ], server.folder)
    assert err == ""
    assert out.split() == ["columns", "age", "sex", "job", "safe", "true", "rows", "600"]


@pytest.mark.parametrize(("right", "statements"), [("analyst", ANALYST), ("reader", READER)])
def test_nothing_else_is_answered(server: Server, right: str, statements: tuple[str, ...]) -> None:
    sent = [text for text in statements if "\x00" not in text]
    assert len(sent) > 150
    out, err = in_cli([f"FROM {server.query(right, text)}" for text in sent], server.folder)
    # what a reader asks of columns that the release has or lacks
    allowed = 3 * (right == "reader")
    assert err.count("Authorization failed") >= len(sent) - allowed
    assert "CANARY" not in out + err and "undeclared_canary" not in out + err.replace(
        "undeclared_canary FROM", ""
    )
    assert (out == "") == (right == "analyst")


@pytest.mark.parametrize("right", ["analyst", "reader"])
def test_without_a_token_of_the_right_nothing_is(server: Server, right: str) -> None:
    other = {"analyst": "reader", "reader": "analyst"}[right]
    sent = [
        server.query(right, text, token)
        for token in (server.tokens[other], "", "x", server.tokens[right][:-1], "' OR true --")
        for text in ("FROM patients", "FROM kanon.anonymize('patients', k=5)", "SELECT 1")
    ]
    out, err = in_cli([f"FROM {each}" for each in sent], server.folder)
    assert out == "" and err.count("Error") == len(sent)
    assert "CANARY" not in err


def test_attach_shows_an_analyst_nothing(server: Server) -> None:
    out, err = in_cli([
        f"ATTACH '{server.uri('analyst')}' AS remote (TOKEN '{server.tokens['analyst']}')",
        "FROM remote.main.patients", "FROM remote.query('FROM source.people')",
    ], server.folder)
    assert out == "" and "CANARY" not in err


def test_writing_through_attach_is_refused(server: Server) -> None:
    out, err = in_cli([
        f"ATTACH '{server.uri('reader')}' AS remote (TOKEN '{server.tokens['reader']}')",
        "CREATE TABLE remote.main.x (a INTEGER)", "DROP TABLE remote.main.patients",
        "INSERT INTO remote.main.patients SELECT 1, 'f', 'cook'",
        "DELETE FROM remote.main.patients", "FROM remote.query('FROM duckdb_tables()')",
    ], server.folder)
    assert out == "" and err.count("Error") >= 4
    out, _ = in_cli([f"SELECT count(*) AS n FROM {server.query('reader', 'FROM patients')}"],
                    server.folder)
    assert out.split() == ["n", "600"]


def test_the_same_bytes_as_in_python(server: Server) -> None:
    calls = [
        f"'patients', k={k}, method='{method}', representation='{shown}'"
        for k in (5, 9) for method in ("mdav_plus", "mondrian", "k_member")
        for shown in ("centroid", "interval")
    ][:10]
    statements = []
    for number, call in enumerate(calls):
        sent = server.query("analyst", f"FROM kanon.anonymize({call})")
        statements.append(f"COPY (FROM {sent} ORDER BY ALL) TO 'of_cli_{number}.parquet'")
    _, err = in_cli(statements, server.folder)
    assert err == ""
    with duckdb.connect() as con:
        kanon_sql.register(con)
        con.execute(f"ATTACH '{server.folder / 'our.duckdb'}' AS our (READ_ONLY)")
        con.execute("CREATE VIEW patients AS SELECT age, sex, job FROM our.people")
        for number, call in enumerate(calls):
            here = con.execute(
                f"FROM anonymize({call}, sensitive := ['job'], "
                "quasi_identifiers := ['age', 'sex']) ORDER BY ALL"
            ).fetchall()
            there = con.execute(
                f"FROM '{server.folder / f'of_cli_{number}.parquet'}'"
            ).fetchall()
            assert there == here


def test_each_statement_is_in_the_log_without_values(server: Server) -> None:
    call = "FROM kanon.anonymize('patients', k=5, representation={'age': 'interval'})"
    in_cli([f"FROM {server.query('analyst', call)}", f"FROM {server.query('reader', 'SELECT 7')}"],
           server.folder)
    lines = (server.folder / "log.jsonl").read_text(encoding="utf-8").splitlines()
    told = [json.loads(line) for line in lines[-2:]]
    assert told[0]["who"] == told[0]["right"] == "analyst" and told[0]["granted"] is True
    assert (told[0]["what"], told[0]["table"]) == ("anonymize", "patients")
    assert told[0]["options"] == ["k", "representation"] and "interval" not in lines[-2]
    assert told[1]["who"] == "reader" and told[1]["granted"] is False and "7" not in told[1]["what"]
    assert not any(token in "".join(lines) for token in server.tokens.values())


def test_eight_at_once_and_fifty_connections(server: Server) -> None:
    call = "FROM kanon.anonymize('patients', k=5)"
    text = f"SELECT count(*) AS n FROM {server.query('analyst', call)}"
    read = f"SELECT count(*) AS n FROM {server.query('reader', 'FROM patients')}"
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(lambda i: in_cli([text if i % 2 else read], server.folder), range(50)))
    assert {out.split()[-1] for out, _ in told} == {"600"} and {err for _, err in told} == {""}


def test_fifty_at_the_same_moment(server: Server) -> None:
    clients = [served_connection() for _ in range(50)]
    query = f"SELECT count(*) FROM {server.query('reader', 'FROM patients')}"
    with ThreadPoolExecutor(50) as pool:
        told = list(pool.map(lambda con: con.execute(query).fetchall(), clients))
    for con in clients:
        con.close()
    assert told == [[(600,)]] * 50


def recorded(port: int, kept: list[bytes]) -> int:
    """The port of a proxy that keeps what a client sends."""
    listening = socket.create_server(("localhost", 0))

    def forward(source: socket.socket, sink: socket.socket, keep: bool) -> None:
        with suppress(OSError):
            while part := source.recv(65536):
                if keep:
                    kept.append(part)
                sink.sendall(part)

    def serve() -> None:
        while True:
            client, _ = listening.accept()
            far = socket.create_connection(("localhost", port))
            Thread(target=forward, args=[client, far, True], daemon=True).start()
            Thread(target=forward, args=[far, client, False], daemon=True).start()

    Thread(target=serve, daemon=True).start()
    return int(listening.getsockname()[1])


def test_who_lost_the_token_has_no_session_and_replays_nothing(server: Server) -> None:
    token = add_token(server.folder / "our.tokens", "eve", "reader")
    kept: list[bytes] = []
    port = recorded(server.port, kept)
    with served_connection() as con:
        con.execute(f"ATTACH 'quack:localhost:{port}' AS remote (TOKEN '{token}')")
        jobs = con.execute("SELECT DISTINCT job FROM remote.main.patients ORDER BY ALL").fetchall()
        assert jobs == [("clerk",), ("cook",), ("nurse",)]
        revoke_token(server.folder / "our.tokens", "eve")
        with pytest.raises(duckdb.Error, match="Authorization failed"):
            con.execute("SELECT DISTINCT job FROM remote.main.patients").fetchall()
    answer = b""
    place = ("localhost", server.port)
    with suppress(OSError), socket.create_connection(place, timeout=3.0) as client:
        client.sendall(b"".join(kept))
        while part := client.recv(65536):
            answer += part
    assert answer and b"nurse" not in answer and b"CANARY" not in answer


def test_a_slow_a_silent_and_a_broken_client_hurt_nobody(server: Server) -> None:
    idle = []
    for port in (server.port, server.port + 1):
        for content in (
            b"", b"GET / HTTP/1.1\r\n", b"POST /x HTTP/1.1\r\nContent-Length: 9\r\n\r\nab",
            b"\x00" * 5000, b"A" * 100_000,
        ):
            client = socket.create_connection(("localhost", port), timeout=10)
            client.sendall(content)
            idle.append(client)
    crashed = subprocess.Popen([CLI, "-unsigned"], stdin=subprocess.PIPE, cwd=server.folder,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert crashed.stdin is not None
    call = server.query("analyst", "FROM kanon.anonymize('patients', k=5, method='best')")
    crashed.stdin.write("".join(f"{each};\n" for each in (*loading(), f"FROM {call}")).encode())
    crashed.stdin.flush()
    time.sleep(1.0)
    crashed.kill()
    risk = "FROM kanon.k_anonymity('patients')"
    out, err = in_cli([
        f"SELECT count(*) AS n FROM {server.query('reader', 'FROM patients')}",
        f"SELECT rows FROM {server.query('analyst', risk)}",
    ], server.folder)
    for client in idle:
        client.close()
    assert err == "" and out.split() == ["n", "600", "rows", "600"]


def test_a_statement_of_megabytes_is_refused(server: Server) -> None:
    out, err = in_cli(
        [f"FROM {server.query('reader', 'FROM patients' + ' ' * 5_000_000)}"], server.folder
    )
    assert out == "" and "Authorization failed" in err


def test_a_port_that_is_taken_is_one_sentence(server: Server, tmp_path: Path) -> None:
    files_in(tmp_path)
    add_token(tmp_path / "our.tokens", "rea", "reader")
    done = subprocess.run(
        [KANON, "serve", "our.duckdb", "--port", str(server.port)], cwd=tmp_path,
        capture_output=True, check=False, timeout=100,
    )
    assert done.returncode == 2 and b"can't be served. Choose another port" in done.stderr
    assert done.stderr.count(b"\n") == 1 and not (tmp_path / "on_disk.parquet").exists()


def serving(folder: Path, old: str, new: str) -> tuple[int, str]:
    """What a server says that is not to start, over a file with a change."""
    files_in(folder)
    with duckdb.connect(str(folder / "our.duckdb")) as con:
        con.execute("CREATE VIEW seen AS FROM people; CREATE SCHEMA s")
        con.execute("CREATE TABLE s.t AS FROM people")
        con.execute("CREATE TABLE \"s.t\" AS FROM people LIMIT 60")
    text = (folder / "kanon.toml").read_text(encoding="utf-8")
    assert old in text
    (folder / "kanon.toml").write_text(text.replace(old, new), encoding="utf-8")
    add_token(folder / "our.tokens", "ana", "analyst")
    done = subprocess.run([KANON, "serve", "our.duckdb"], cwd=folder, capture_output=True,
                          check=False, timeout=100, text=True)
    return done.returncode, done.stderr.splitlines()[-1]


@pytest.mark.parametrize(("old", "new", "said"), [
    ('"others"', '"PEOPLE"', "can intersect them"), ('"others"', '"seen"', "is a view"),
    ("[tables.patients]", '[tables."source.people"]', "letters, digits and _"),
    ("[tables.patients]", '[tables."main.on_disk"]', "letters, digits and _"),
    ('"others"', "'\"s.t\"'", "can't be served"), ('"others"', '"none.parquet"', "no file"),
])
def test_what_could_be_read_otherwise_is_not_served(
    needed: None, tmp_path: Path, old: str, new: str, said: str
) -> None:
    status, sentence = serving(tmp_path, old, new)
    assert status in (2, 3, 4) and said in sentence, sentence


def test_a_value_is_in_no_error(needed: None, tmp_path: Path) -> None:
    files_in(tmp_path)
    with duckdb.connect(str(tmp_path / "our.duckdb")) as con:
        con.execute("ALTER TABLE people RENAME TO p; CREATE VIEW people AS "
                    "SELECT * REPLACE (age::VARCHAR AS age) FROM p WHERE name::INT >= 0")
    text = (tmp_path / "kanon.toml").read_text(encoding="utf-8")
    (tmp_path / "kanon.toml").write_text(text.partition("[tables.on_disk]")[0], encoding="utf-8")
    add_token(tmp_path / "our.tokens", "ana", "analyst")
    for more in ([], ["--as-it-is"]):
        done = subprocess.run([KANON, "serve", "our.duckdb", *more], cwd=tmp_path,
                              capture_output=True, check=False, timeout=100)
        assert done.returncode != 0 and b"CANARY" not in done.stderr + done.stdout


def test_a_release_that_is_not_there_is_one_sentence(needed: None, tmp_path: Path) -> None:
    files_in(tmp_path)
    add_token(tmp_path / "our.tokens", "rea", "reader")
    done = subprocess.run([KANON, "serve", "our.duckdb", "--as-it-is"], cwd=tmp_path,
                          capture_output=True, check=False, timeout=100)
    assert done.returncode == 2 and b"'patients' can't be read. Make it by kanon run" in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_two_releases_of_one_table_are_not_served(needed: None, tmp_path: Path) -> None:
    files_in(tmp_path)
    text = (tmp_path / "kanon.toml").read_text(encoding="utf-8").replace('"others"', '"people"')
    (tmp_path / "kanon.toml").write_text(text, encoding="utf-8")
    add_token(tmp_path / "our.tokens", "rea", "reader")
    done = subprocess.run([KANON, "serve", "our.duckdb"], cwd=tmp_path, capture_output=True,
                          check=False, timeout=100)
    assert done.returncode == 2 and b"can intersect them" in done.stderr
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_cleanly(needed: None, tmp_path: Path, by: signal.Signals) -> None:
    files_in(tmp_path)
    server = started(tmp_path)
    assert ended(server, by) == 0
    out, err = in_cli([f"FROM {server.query('reader', 'FROM patients')}"], tmp_path)
    assert out == "" and "Error" in err
    # the database is free again
    with duckdb.connect(str(tmp_path / "our.duckdb")) as con:
        assert con.execute("SELECT count(*) FROM patients_released").fetchall() == [(600,)]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is what a full disk says")
def test_what_the_log_cannot_take_is_not_answered(needed: None, tmp_path: Path) -> None:
    files_in(tmp_path)
    (tmp_path / "log.jsonl").symlink_to("/dev/full")
    server = started(tmp_path)
    call = "FROM kanon.anonymize('patients')"
    for right, text in (("reader", "FROM patients"), ("analyst", call)):
        out, err = in_cli([f"FROM {server.query(right, text)}"], tmp_path)
        assert out == "" and "Authorization failed" in err
    server.process.terminate()
    _, told = server.process.communicate(timeout=60)
    assert server.process.returncode == 0
    said = "The log can't be written (No space left on device), and no statement is answered"
    assert told.decode().count(said) == 1
    assert told.endswith(b"kanon: ended\n")


def test_a_log_that_cannot_be_opened_is_said_before_a_release_is_made(
    needed: None, tmp_path: Path
) -> None:
    files_in(tmp_path)
    add_token(tmp_path / "our.tokens", "rea", "reader")
    typed = [KANON, "serve", "our.duckdb", "--log", "missing/log.jsonl"]
    done = subprocess.run(typed, cwd=tmp_path, capture_output=True, check=False, timeout=100,
                          text=True)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "log.jsonl' can't be opened (No such file or directory). Check" in done.stderr
    assert not (tmp_path / "on_disk.parquet").exists()
