"""Files of other machines: what DuckDB reads, every face reads; what can't be whole or not at all
isn't written.

A file system of fsspec stands for an object store: it needs no extension and no network. Where the
extension httpfs can be loaded and moto is there, the same is tried on its S3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from secrets import token_hex
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.cli import sources
from kanon_sql.data import adult
from kanon_sql.errors import DataError, OptionError
from kanon_sql.files import release
from kanon_sql.files.state import State
from tests.support.shell import Shell

fsspec = pytest.importorskip("fsspec", reason="fsspec isn't installed")

Connection = duckdb.DuckDBPyConnection
Prepare = Callable[[Connection], object]

ROWS = 1500
CALL: dict[str, Any] = {
    "k": 5, "quasi_identifiers": ["age", "sex"], "sensitive": ["occupation"], "others": "drop",
    "method": "mdav_plus",
}
FILES: dict[str, Any] = {**CALL, "progress": False, "block_rows": 700}
SHELL = ("-k", "5", "-q", "age,sex", "-s", "occupation", "--others", "drop", "-m", "mdav_plus")
SQL = (
    "k := 5, quasi_identifiers := ['age', 'sex'], sensitive := ['occupation'], others := 'drop', "
    "method := 'mdav_plus'"
)


def s3_of_moto() -> Iterator[tuple[str, Prepare]]:
    """A bucket of an S3 on this machine."""
    moto = pytest.importorskip("moto.server", reason="moto isn't installed")
    boto3 = pytest.importorskip("boto3", reason="boto3 isn't installed")
    load, bucket = _httpfs(), f"lakes-{token_hex(4)}"  # servers of a process share their buckets
    if load is None:
        pytest.skip("the extension httpfs can't be loaded")
    server = moto.ThreadedMotoServer(port=0, verbose=False)
    server.start()
    port = server.get_host_and_port()[1]
    boto3.client(
        "s3", endpoint_url=f"http://127.0.0.1:{port}", region_name="us-east-1",
        aws_access_key_id="key", aws_secret_access_key="secret",
    ).create_bucket(Bucket=bucket)

    def prepare(con: Connection) -> None:
        con.execute(load)
        con.execute(
            "CREATE OR REPLACE SECRET lakes (TYPE s3, KEY_ID 'key', SECRET 'secret', REGION "
            f"'us-east-1', ENDPOINT '127.0.0.1:{port}', URL_STYLE 'path', USE_SSL false)"
        )

    yield f"s3://{bucket}", prepare
    server.stop()


def _httpfs() -> str | None:
    """The statement that loads the extension, from DuckDB's own place or from a package."""
    try:
        import duckdb_extension_httpfs as packed

        own = Path(str(packed.__file__)).parent / "extensions" / f"v{duckdb.__version__}"
        candidates = ["LOAD httpfs", f"LOAD '{own}/httpfs.duckdb_extension'"]
    except ImportError:
        candidates = ["LOAD httpfs"]
    for text in candidates:
        with duckdb.connect() as con:
            try:
                con.execute(text)
            except duckdb.Error:
                continue
        return text
    return None


def in_memory() -> Iterator[tuple[str, Prepare]]:
    """A file system of this process."""
    system = fsspec.filesystem("memory")
    yield "memory://lakes", lambda con: con.register_filesystem(system)
    system.rm("/lakes", recursive=True)


@pytest.fixture(params=[in_memory, s3_of_moto], ids=["fsspec", "S3"])
def store(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, Prepare]]:
    """An object store with a lake, and what readies a connection for it."""
    monkeypatch.chdir(tmp_path)
    begun = request.param()
    place, prepare = next(begun)
    with duckdb.connect() as con:
        prepare(con)
        con.execute(
            f"COPY (FROM '{adult()}' LIMIT {ROWS}) TO '{place}/lake' "
            "(FORMAT parquet, PARTITION_BY (sex))"
        )
        con.execute(f"COPY (FROM '{place}/lake/**/*.parquet') TO 'lake.parquet' (FORMAT parquet)")
    yield place, prepare
    next(begun, None)


def ready(prepare: Prepare) -> Connection:
    con = kanon_sql.register(duckdb.connect())
    prepare(con)
    return con


def rows(sql: str, con: Connection | None = None) -> list[tuple[Any, ...]]:
    return (con or duckdb.connect()).execute(
        f"SELECT age, sex, occupation FROM {sql} ORDER BY ALL"
    ).fetchall()


# --- reading ------------------------------------------------------------------------------------


@pytest.mark.sample(1)
def test_sql_and_python_read_what_the_connection_reads(store: tuple[str, Prepare]) -> None:
    place, prepare = store
    with ready(prepare) as con:
        pattern = f"{place}/lake/**/*.parquet"
        expected = rows(f"anonymize('lake.parquet', {SQL})", con)
        assert rows(f"anonymize('{pattern}', {SQL})", con) == expected
        found = kanon_sql.anonymize(pattern, con=con, **CALL)
        con.register("found", found)
        assert rows("found", con) == expected
        kanon_sql.release(con, pattern, to="out.parquet", **CALL)
        assert rows("'out.parquet'") == expected


@pytest.mark.sample(1)
def test_files_read_by_a_connection_that_is_made_ready(store: tuple[str, Prepare]) -> None:
    place, prepare = store
    near = kanon_sql.anonymize_files("lake.parquet", "near", **FILES)
    far = kanon_sql.anonymize_files(
        f"{place}/lake/**/*.parquet", "far", prepare=prepare, **FILES
    )
    assert far.metrics["blocks"] > 1 and far.rows == ROWS
    assert rows(f"'{far.path}/*.parquet'") == rows(f"'{near.path}/*.parquet'")
    assert sorted(path.name for path in Path().iterdir()) == ["far", "lake.parquet", "near"]


@pytest.mark.sample(1)
def test_a_change_of_a_file_elsewhere_is_seen(
    store: tuple[str, Prepare], monkeypatch: pytest.MonkeyPatch
) -> None:
    place, prepare = store
    real = State.done

    def changing(self: State, step: str, found: Any, *made: Any) -> Any:
        if step == "file 0":
            with duckdb.connect() as con:
                prepare(con)
                con.execute(
                    f"COPY (SELECT * REPLACE (age + 1 AS age) FROM '{adult()}' LIMIT {ROWS}) TO "
                    f"'{place}/lake/sex=Male/data_0.parquet' (FORMAT parquet)"
                )
        return real(self, step, found, *made)

    monkeypatch.setattr(State, "done", changing)
    with pytest.raises(DataError, match="changed while they were read"):
        kanon_sql.anonymize_files(f"{place}/lake/**/*.parquet", "out", prepare=prepare, **FILES)
    assert not Path("out").exists()


@pytest.mark.sample(1)
@pytest.mark.parametrize("word", ["{}/lake/**/*.parquet", "{}/lake/"])
def test_the_shell_reads_it(
    word: str, store: tuple[str, Prepare], shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, prepare = store
    real = sources.stoppable

    def opening(con: Connection) -> Any:  # a persistent secret would do it
        prepare(con)
        return real(con)

    monkeypatch.setattr(sources, "stoppable", opening)
    assert shell("anonymize", "lake.parquet", "-o", "near.parquet", *SHELL) == 0
    assert shell("anonymize", word.format(place), "-o", "far.parquet", *SHELL) == 0, shell.err
    assert rows("'far.parquet'") == rows("'near.parquet'")
    assert shell("risk", word.format(place), "-s", "occupation", "--json") == 0


UNREAD = r"DuckDB reads nothing at '.*'\. Check the address, and that the extension and the secret"


@pytest.mark.slow
@pytest.mark.parametrize("url", ["memory://nowhere/a.parquet", "nothing://a/*.parquet"])
def test_what_can_not_be_read_is_one_sentence(url: str, shell: Shell) -> None:
    for call in (
        lambda: kanon_sql.anonymize(url, **CALL), lambda: kanon_sql.anonymize([url], **CALL),
        lambda: kanon_sql.anonymize_files(url, "out", **FILES),
    ):
        with pytest.raises(OptionError, match=UNREAD) as refused:
            call()
        assert "\n" not in str(refused.value)
    assert shell("anonymize", url, "-o", "out.parquet", *SHELL) == 2
    assert shell.err.startswith("kanon: DuckDB reads nothing at ") and shell.err.count("\n") == 1
    assert list(Path().iterdir()) == []


def test_what_readies_a_connection_is_a_function(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"prepare is a str, no function\. Give one"):
        kanon_sql.anonymize_files(
            adult(), tmp_path / "out", prepare="CREATE SECRET", **FILES  # type: ignore[arg-type]
        )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.sample(1)
def test_settings_that_a_function_made_do_not_undo_ours(
    store: tuple[str, Prepare], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    real = release.read_request

    def looking(session: Any, *rest: Any) -> Any:
        ((found,),) = session.con.execute("SELECT current_setting('memory_limit')").fetchall()
        seen.append(found)
        return real(session, *rest)

    monkeypatch.setattr(release, "read_request", looking)
    kanon_sql.anonymize_files(
        "lake.parquet", "out", memory="1GiB", prepare=lambda con: con.execute(
            "SET memory_limit = '3GiB'"
        ), **FILES
    )
    assert seen == ["1.0 GiB"]


# --- writing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [
    "s3://b/out.parquet", "s3://b/out.csv.gz", "s3://b/out/", "s3://b/out", "s3://b/o.duckdb::t",
    "https://a.example/out.parquet", "memory://out.parquet",
])
@pytest.mark.parametrize("more", [(), ("--partition-by", "occupation")])
def test_the_shell_writes_nowhere_else(place: str, more: tuple[str, ...], shell: Shell) -> None:
    assert shell("anonymize", str(adult()), "-o", place, *SHELL, *more) == 2
    assert shell.err == (
        f"kanon: -o names {place!r}, which is not a local path, and only local releases are "
        "written atomically. Write one here, and copy it.\n"
    )
    assert list(Path().iterdir()) == []


def test_python_writes_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with kanon_sql.register(duckdb.connect()) as con:
        said = r"not a local f\w+, .* written atomically\. Write one here, and copy it\."
        with pytest.raises(OptionError, match=said):
            kanon_sql.release(con, str(adult()), to="s3://b/out.parquet", **CALL)
        with pytest.raises(OptionError, match=said):
            kanon_sql.anonymize_files(str(adult()), "s3://b/out", **FILES)
        with pytest.raises(OptionError, match="where no file can be"):
            kanon_sql.release(
                con, str(adult()), to="out.parquet", private="s3://b/mine.json", **CALL
            )
    assert list(tmp_path.iterdir()) == []


def test_copy_writes_where_duckdb_does_and_no_row_where_it_is_refused(
    store: tuple[str, Prepare]
) -> None:
    place, prepare = store
    with ready(prepare) as con:
        con.execute(f"COPY (FROM anonymize('lake.parquet', {SQL})) TO '{place}/out/a.parquet'")
        assert con.execute(f"SELECT k FROM k_anonymity('{place}/out/a.parquet', "
                           "sensitive := ['occupation'])").fetchall()[0][0] >= 5
        with pytest.raises(duckdb.Error, match=r"fewer than k = 5000\."):
            call = SQL.replace("k := 5", "k := 5000")
            con.execute(f"COPY (FROM anonymize('lake.parquet', {call})) TO '{place}/out/b.parquet'")
        found = dict(con.execute(
            "SELECT parse_filename(filename), size FROM read_blob(?)", [f"{place}/out/*"]
        ).fetchall())
        # DuckDB leaves an object of an S3, with nothing in it but how Parquet begins
        assert found.pop("b.parquet", 0) <= len(b"PAR1")
        assert list(found) == ["a.parquet"]


@pytest.mark.sample(1)
def test_a_file_that_was_written_here_is_copied_in_one_step(store: tuple[str, Prepare]) -> None:
    place, prepare = store
    with ready(prepare) as con:
        done = kanon_sql.release(con, "lake.parquet", to="out.parquet", **CALL)
        con.execute(
            "COPY (SELECT content FROM read_blob('out.parquet')) "
            f"TO '{place}/out.parquet' (FORMAT blob)"
        )
        ((content,),) = con.execute(
            "SELECT content FROM read_blob(?)", [f"{place}/out.parquet"]
        ).fetchall()
        assert content == Path("out.parquet").read_bytes()
        assert rows(f"'{place}/out.parquet'", con) == rows("'out.parquet'")
        assert done.rows == ROWS
