"""What the way over a server costs: kanon serve on this machine, beside the same call here."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from benchmarks.apart import Outcome, apart
from benchmarks.plan import Plan
from benchmarks.tables import Table

CONFIG = """
database = "our.duckdb"
[tables.adult]
input = "people"
output = "our.duckdb::adult_released"
options = { k = 5 }
roles = { sex = "quasi_identifier", age = "quasi_identifier", race = "quasi_identifier", \
education = "quasi_identifier", salary = "sensitive" }
"""
ASKED = {
    "one row of a release": ("reader", "FROM adult LIMIT 1", "FROM r LIMIT 1"),
    "a release, 30,162 rows": ("reader", "FROM adult", "FROM r"),
    "k_anonymity": ("analyst", "FROM kanon.k_anonymity('adult')", "FROM k_anonymity('adult')"),
    "anonymize, grouped before": (
        "analyst", "FROM kanon.anonymize('adult', k=5)", "FROM anonymize('adult', k=5)",
    ),
}
"""Who asks, and the statement as it is sent, and as it runs here."""


def free_port() -> int:
    """A port that is free, and most probably the next one."""
    with socket.socket() as place:
        place.bind(("localhost", 0))
        return int(place.getsockname()[1])


def one(times: int) -> Outcome:
    """The milliseconds in which 95 of 100 answers are there, of each statement, here and served."""
    import duckdb

    import kanon_sql
    from kanon_sql.data import adult
    from kanon_sql.errors import OptionError
    from kanon_sql.serve.extension import served_connection
    from kanon_sql.serve.tokens import add_token

    try:
        client = served_connection()
    except OptionError as error:
        return {"failed": str(error)}
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "kanon.toml").write_text(CONFIG, encoding="utf-8")
        people = "SELECT sex, age, race, education, \"salary-class\" AS salary FROM"
        with duckdb.connect(str(folder / "our.duckdb")) as con:
            con.execute(f"CREATE TABLE people AS {people} '{adult()}'")
        tokens = {
            right: add_token(folder / "our.tokens", right, right) for right in ("reader", "analyst")
        }
        port = free_port()
        server = subprocess.Popen(
            [sys.executable, "-m", "kanon_sql", "serve", "our.duckdb", "--port", str(port),
             "--log", os.devnull],
            cwd=folder, stderr=subprocess.PIPE,
        )
        assert server.stderr is not None
        while b"analysts: " not in (line := server.stderr.readline()):
            if not line:
                raise RuntimeError("the server ended")
        here = kanon_sql.register(duckdb.connect())
        here.execute(f"CREATE TABLE adult AS {people} '{adult()}'")
        for column, role in {"sex": "quasi_identifier", "age": "quasi_identifier",
                             "race": "quasi_identifier", "education": "quasi_identifier",
                             "salary": "sensitive"}.items():
            here.execute(f"COMMENT ON COLUMN adult.{column} IS 'kanon: {role}'")
        here.execute("CREATE TABLE r AS FROM anonymize('adult', k=5)")
        found: dict[str, Any] = {}
        for what, (right, sent, local) in ASKED.items():
            place = f"quack:localhost:{port + (right == 'analyst')}"
            text = sent.replace("'", "''")
            far = f"FROM quack_query('{place}', '{text}', token := '{tokens[right]}')"
            found[what] = [_p95(here, local, times), _p95(client, far, times)]
        server.send_signal(signal.SIGTERM)
        server.wait()
    return found


def _p95(con: Any, query: str, times: int) -> float:
    """Milliseconds, after three runs that don't count."""
    taken = []
    for number in range(times + 3):
        started = perf_counter()
        con.execute(query).fetchall()
        if number >= 3:
            taken.append(perf_counter() - started)
    return 1000 * sorted(taken)[int(0.95 * len(taken))]


def tables(plan: Plan, say: Callable[[str], None]) -> list[Table]:
    """The table of this part."""
    say("serve: asking")
    found = apart("serve:one", plan.limit, times=20 if plan.name == "quick" else 100)
    table = Table(
        "Serve: milliseconds in which 95 % of the answers arrive", ["what", "here", "served", "x"],
        notes=["here: in the process that has the table. served: from kanon serve on this machine, "
               "over Quack, with a token that is looked up each time."],
    )
    if "failed" in found:
        table.rows.append(["all", found["failed"], None, None])
    else:
        table.rows += [[what, *both, both[1] / both[0]] for what, both in found.items()]
    return [table]
