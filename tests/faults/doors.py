"""The doors through which releases go out: what each is given, runs, and leaves behind."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

NAME, CITY = "mrkname", "mrkcity"
"""With these begin all values of the identifier, and all of a quasi-identifier."""

MADE = f"""
    CREATE TABLE made AS
    SELECT 20 + hash(i) % 60 AS age, '{CITY}' || (hash(i, 1) % 30) AS city,
           ['Flu', 'Cold', 'Gout', 'Rash'][1 + i % 4] AS ill, '{NAME}' || i AS name
    FROM range({{rows}}) AS r(i)
"""
GIVEN: dict[str, Any] = {
    "k": 5, "quasi_identifiers": ["age", "city"], "sensitive": ["ill"], "method": "mdav_plus",
}
NAMED = {**GIVEN, "identifiers": ["name"]}
PERSONS = {**GIVEN, "entity": "name"}
SEED = 3
"""Of the runs that are judged; what warms up has another, so that no labels are remembered."""

AN_ERROR = "an error"
"""With this begins what is wrong of an answer only where nothing has happened to the server."""

State = Mapping[str, str | None]
"""What each output is: a digest of what it says; None where it is not there."""


@dataclass(frozen=True)
class Door:
    """A door.

    Attributes:
        name: as it is called.
        prepare: fills an empty folder with what is read, and with what was released before.
        run: makes the release, in that folder, with a seed.
        state: what the outputs are.
        entries: the output that a later release continues from; it may be there without the others
            where a process was killed, and never lack what another has.
        goes_on: whether a run that was stopped leaves a draft, with which the next one goes on.
        outputs: the files and folders that are written.
        shell: what a shell would type; none of a call of Python.
        replaces: whether a further run writes over what is there whole, or is refused.
        named: whether outputs get their names when they are whole; a database is changed in place.
        logs: files to which a line is added for whatever happens; who loses power may lose some.
        steps: whether what was done stays where a later step fails.
        asks: of a run that serves: asks it, ends it, and returns what is wrong of its answers.
        warm: loads what a run loads; none where a run itself can do that in any process.
    """

    name: str
    prepare: Callable[[], None]
    run: Callable[[int], None]
    state: Callable[[Path], State]
    outputs: tuple[str, ...]
    entries: str | None = None
    goes_on: bool = False
    shell: Callable[[int], list[str]] | None = None
    replaces: bool = True
    named: bool = True
    logs: tuple[str, ...] = ()
    steps: bool = False
    asks: Callable[[int, Path], list[str]] | None = None
    warm: Callable[[], None] | None = None


def made(rows: int = 240) -> Any:
    """A database with a table of rows, and the folders that all doors have."""
    import duckdb

    con = duckdb.connect()
    con.execute("SET threads = 1")
    con.execute(MADE.format(rows=rows))
    Path("source").mkdir()
    Path("out").mkdir()
    return con


def digest(path: Path) -> str | None:
    """A digest of a file."""
    return sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def _of_json(path: Path, *without: str) -> str | None:
    """The text of a JSON file, without what each run draws anew."""
    if not path.is_file():
        return None
    try:
        held = json.loads(path.read_text())
    except ValueError:
        return "broken"
    return json.dumps({name: held[name] for name in held if name not in without}, sort_keys=True)


def _of_folder(folder: Path) -> str | None:
    """A digest of all files of a folder, but for what tells of the run."""
    if not folder.is_dir():
        return None
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    told = [
        _of_json(path, "seconds") if path.name == "_metrics.json" else digest(path)
        for path in files
    ]
    names = [str(path.relative_to(folder)) for path in files]
    return sha256(repr([*zip(names, told, strict=True)]).encode()).hexdigest()


ROWS = """
import sys, duckdb
with duckdb.connect(sys.argv[1], read_only=True) as con:
    try:
        print(con.execute(sys.argv[2]).fetchall())
    except duckdb.CatalogException:
        print("none")
"""


def _of_table(database: Path, query: str) -> str | None:
    """The rows of a table of a DuckDB file, read from a copy of it; None where it isn't there."""
    if not database.is_file():
        return None
    files = sorted(database.parent.glob(f"{database.name}*"))
    held = repr([(path.name, digest(path)) for path in files if path.is_file()]) + query
    if held not in _READ:
        _READ[held] = _read_table(database, query)
    return _READ[held]


_READ: dict[str, str | None] = {}
"""What tables of databases of the same bytes are, since reading one takes a process."""


def _read_table(database: Path, query: str) -> str | None:
    copies = Path(os.environ["FAULTS_ROOT"]) / "copies"
    shutil.rmtree(copies, ignore_errors=True)
    copies.mkdir()
    for path in database.parent.glob(f"{database.name}*"):
        shutil.copy(path, copies)
    done = subprocess.run(
        [sys.executable, "-c", ROWS, str(copies / database.name), query], capture_output=True,
        text=True, check=False, timeout=300,
    )
    if done.returncode:
        return f"broken {done.stderr[-400:]}"
    return None if done.stdout == "none\n" else sha256(done.stdout.encode()).hexdigest()


# --- release -------------------------------------------------------------------------------------


def _prepare_release() -> None:
    with made() as con:
        con.execute("COPY made TO 'source/in.parquet' (FORMAT parquet)")
    Path("out/o.parquet").write_text("a release of before")


def _release(seed: int) -> None:
    import kanon_sql

    kanon_sql.release(
        "source/in.parquet", to="out/o.parquet", private="out/o.json", seed=seed, **NAMED
    )


def _state_of_release(place: Path) -> State:
    drawn = ("salt", "input_sha256", "ledger_sha256")
    return {
        "o.parquet": digest(place / "out/o.parquet"),
        "o.json": _of_json(place / "out/o.json", *drawn),
    }


# --- files ---------------------------------------------------------------------------------------


def _prepare_files() -> None:
    with made() as con:
        con.execute("COPY made TO 'source/in.parquet' (FORMAT parquet)")
    Path("out/lake").mkdir()
    Path("out/lake/part-00000.parquet").write_text("a release of before")


def _files(seed: int) -> None:
    import kanon_sql

    kanon_sql.anonymize_files(
        "source/in.parquet", "out/lake", overwrite=True, progress=False, block_rows=100, seed=seed,
        threads=1, **NAMED,
    )


def _state_of_files(place: Path) -> State:
    return {"lake": _of_folder(place / "out/lake")}


# --- a ledger in files ---------------------------------------------------------------------------


def _prepare_files_ledger() -> None:
    with made(300) as con:
        con.execute("COPY (FROM made LIMIT 200) TO 'source/one.parquet' (FORMAT parquet)")
        con.execute("COPY (FROM made OFFSET 10) TO 'source/two.parquet' (FORMAT parquet)")
    Path("ledger").mkdir()
    _in_files("one", 1)


def _in_files(name: str, number: int, seed: int = SEED, **more: Any) -> None:
    import kanon_sql

    kanon_sql.anonymize_files(
        f"source/{name}.parquet", f"out/{name}", ledger_to=f"ledger/{number}.parquet",
        progress=False, block_rows=100, seed=seed, threads=1, **more, **PERSONS,
        **({} if number > 1 else {"headroom": 1}),
    )


def _files_ledger(seed: int) -> None:
    _in_files("two", 2, seed, ledger="ledger/*.parquet")


def _state_of_files_ledger(place: Path) -> State:
    return {"ledger": digest(place / "ledger/2.parquet"), "two": _of_folder(place / "out/two")}


# --- a ledger in a DuckDB file -------------------------------------------------------------------


def _prepare_ledger() -> None:
    with made(300) as con:
        con.execute("ATTACH 'base.duckdb' AS base")
        con.execute("CREATE TABLE base.patients AS FROM made LIMIT 200")
    _in_ledger("out/one.parquet", headroom=1)
    import duckdb

    with duckdb.connect("base.duckdb") as con:
        con.execute(MADE.format(rows=300).replace("made", "new", 1))
        con.execute("DELETE FROM patients WHERE name IN (FROM (SELECT name FROM new LIMIT 10))")
        con.execute("INSERT INTO patients FROM (FROM new OFFSET 200)")
        con.execute("DROP TABLE new")


def _in_ledger(to: str, seed: int = SEED, **more: Any) -> None:
    import duckdb

    import kanon_sql

    try:
        con = duckdb.connect("base.duckdb", config={"threads": 1})
    except duckdb.Error as error:  # the caller's own, before anything is called
        raise kanon_sql.DataError(f"The caller can't connect: {type(error).__name__}.") from None
    with con:
        kanon_sql.release(
            "patients", con=con, to=to, ledger="exposed", seed=seed, **more, **PERSONS
        )


def _ledger(seed: int) -> None:
    _in_ledger("out/two.parquet", seed)


def _state_of_ledger(place: Path) -> State:
    base = place / "base.duckdb"
    return {
        "ledger": _of_table(base, "FROM exposed WHERE release > 1 ORDER BY ALL"),
        "two.parquet": digest(place / "out/two.parquet"),
        "source": _of_table(base, "FROM patients ORDER BY ALL"),
        "before": _of_table(base, "FROM exposed WHERE release = 1 ORDER BY ALL"),
    }


# --- kanon run -----------------------------------------------------------------------------------

JOBS = """
[options]
k = 5
method = "mdav_plus"
seed = {seed}

[tables.one]
input = "source/in.csv"
output = "out/one.csv.gz"
[tables.one.roles]
age = "quasi_identifier"
city = "quasi_identifier"
ill = "sensitive"
name = "identifier"

[tables.two]
input = "source/in.csv"
output = "out/new.duckdb::two"
[tables.two.roles]
age = "quasi_identifier"
city = "quasi_identifier"
ill = "sensitive"
name = "identifier"
"""


def _prepare_run() -> None:
    with made() as con:
        con.execute("COPY made TO 'source/in.csv' (FORMAT csv, HEADER)")
    for seed in (SEED, SEED + 1):
        Path(f"kanon{seed}.toml").write_text(JOBS.format(seed=seed))


def _typed_run(seed: int) -> list[str]:
    return ["run", f"kanon{seed}.toml"]


def _state_of_run(place: Path) -> State:
    return {
        "one.csv.gz": digest(place / "out/one.csv.gz"),
        "new.duckdb": _of_table(place / "out/new.duckdb", "FROM two ORDER BY ALL"),
    }


# --- a pipe --------------------------------------------------------------------------------------


def _prepare_pipe() -> None:
    with made() as con:
        con.execute("COPY made TO 'source/in.parquet' (FORMAT parquet)")


def _typed_pipe(seed: int) -> list[str]:
    return [
        "anonymize", "-", "-o", "out/parts", "--partition-by", "ill", "-k", "5", "-q", "age,city",
        "-s", "ill", "-i", "name", "-m", "mdav_plus", "--seed", str(seed), "--quiet",
    ]


def _state_of_pipe(place: Path) -> State:
    return {"parts": _of_folder(place / "out/parts")}


# --- a token of kanon serve ----------------------------------------------------------------------


def _prepare_token() -> None:
    from kanon_sql.serve.tokens import add_token

    with made() as con:
        con.execute("COPY made TO 'source/in.parquet' (FORMAT parquet)")
        con.execute("ATTACH 'our.duckdb' AS ours")
        con.execute("CREATE TABLE ours.released AS SELECT 1 AS a")
    add_token(Path("our.tokens"), "ana", "analyst")


def _typed_token(seed: int) -> list[str]:
    return ["token", "our.duckdb", f"rea{seed}", "--right", "reader"]


def _state_of_token(place: Path) -> State:
    held = 'SELECT name, "right" FROM tokens ORDER BY ALL'
    return {"our.tokens": _of_table(place / "our.tokens", held)}


def typed(words: Callable[[int], list[str]]) -> Callable[[int], None]:
    """What runs the shell with some words."""
    def run(seed: int) -> None:
        from kanon_sql.cli import main

        sys.argv[1:] = words(seed)
        main.start()

    return run


DOORS = {door.name: door for door in (
    Door("release", _prepare_release, _release, _state_of_release,
         ("out/o.parquet", "out/o.json")),
    Door("files", _prepare_files, _files, _state_of_files, ("out/lake",), goes_on=True),
    Door("files_ledger", _prepare_files_ledger, _files_ledger, _state_of_files_ledger,
         ("ledger/2.parquet", "out/two"), entries="ledger", goes_on=True),
    Door("ledger", _prepare_ledger, _ledger, _state_of_ledger,
         ("base.duckdb", "out/two.parquet"), entries="ledger"),
    Door("run", _prepare_run, typed(_typed_run), _state_of_run,
         ("out/one.csv.gz", "out/new.duckdb"), shell=_typed_run, steps=True),
    Door("token", _prepare_token, typed(_typed_token), _state_of_token,
         ("our.tokens", "our.tokens.wal"), shell=_typed_token, replaces=False, named=False),
    Door("pipe", _prepare_pipe, typed(_typed_pipe), _state_of_pipe, ("out/parts",),
         shell=_typed_pipe, replaces=False),
)}
