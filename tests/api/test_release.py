"""kanon_sql.release: a file that is whole or not there, its manifest, and nothing of the source."""

from __future__ import annotations

import json
import stat
import threading
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import kanon_sql
from kanon_sql.api import release as writing
from kanon_sql.plan.manifest import copy_sql
from tests.support.manifests import manifest_of, plain_digest

Connection = duckdb.DuckDBPyConnection
CALL: dict[str, Any] = {"k": 4, "identifiers": ["name"], "sensitive": ["disease"]}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def files() -> list[str]:
    """All that lies in the folder, hidden or not."""
    return sorted(path.name for path in Path().iterdir())


def footer(path: str) -> dict[str, Any]:
    """Key and value of all that stands in a footer."""
    with duckdb.connect() as con:
        return {
            bytes(key).decode(): bytes(value).decode() for key, value in con.execute(
                "SELECT key, value FROM parquet_kv_metadata(?)", [path]
            ).fetchall()
        }


def test_the_file_holds_the_release_and_its_manifest(con: Connection) -> None:
    done = kanon_sql.release(con, "patients", to="out.parquet", **CALL)
    released = con.execute(
        "FROM anonymize('patients', k=4, identifiers=['name'], sensitive=['disease'])"
    ).fetchall()
    assert con.execute("FROM 'out.parquet'").fetchall() == released
    assert footer("out.parquet") == {"kanon": json.dumps(done.manifest)}
    told = manifest_of(
        con, "anonymize_manifest('patients', k=4, identifiers=['name'], sensitive=['disease'])"
    )
    assert {name: part for name, part in done.manifest.items() if name != "sha256"} == told
    assert done.rows == len(released) == 60
    assert done.path == str(Path("out.parquet").resolve())
    assert done.manifest["release"]["rows_sha256"] == plain_digest(con, "'out.parquet'")
    assert files() == ["out.parquet"]


@pytest.mark.slow
def test_frames_files_and_options_as_in_anonymize(con: Connection) -> None:
    frame = pl.DataFrame({"age": [30, 31, 32, 60, 61, 62], "flu": [True, False] * 3})
    assert kanon_sql.release(None, frame, to=Path("a.parquet"), k=3, sensitive="flu").rows == 6
    frame.write_parquet("source.parquet")
    assert kanon_sql.release(None, "source.parquet", to="b.parquet", k=3, sensitive="flu").rows == 6
    assert plain_digest(con, "'a.parquet'") == plain_digest(con, "'b.parquet'")
    with pytest.raises(kanon_sql.OptionError, match="Did you mean 'sensitive'"):
        kanon_sql.release(None, frame, to="a.parquet", k=3, sensitiv="flu")  # type: ignore[arg-type]


@pytest.mark.parametrize(("to", "said"), [
    (0, "to is not given"), ("", "to is not given"), ("s3://a/b.parquet", "not a local file"),
    (".", "names the folder"), ("nowhere/out.parquet", "There is no folder for"),
    ("o*.parquet", "reads as a pattern"),
    ("o.csv", "is a Parquet file. Name one that ends in .parquet"), ("o.x", "is a Parquet file"),
    ("source.parquet", "names the relation itself"),
    ("./source.parquet", "names the relation itself"),
])
def test_where_no_file_can_be_nothing_runs(to: Any, said: str) -> None:
    pl.DataFrame({"age": [1, 2, 3, 4]}).write_parquet("source.parquet")
    before = Path("source.parquet").read_bytes()
    with pytest.raises(kanon_sql.OptionError, match=said):
        kanon_sql.release(None, "source.parquet", to=to, k=2)
    assert files() == ["source.parquet"]
    assert Path("source.parquet").read_bytes() == before


def old_file(con: Connection) -> bytes:
    kanon_sql.release(con, "patients", to="out.parquet", **CALL)
    return Path("out.parquet").read_bytes()


@pytest.mark.slow
def test_a_refusal_leaves_the_old_file(con: Connection) -> None:
    before = old_file(con)
    with pytest.raises(kanon_sql.DataError, match="fewer than k = 61"):
        kanon_sql.release(con, "patients", to="out.parquet", private="seen", **{**CALL, "k": 61})
    with pytest.raises(kanon_sql.OptionError, match="not a table, view or file"):
        kanon_sql.release(con, "nobody", to="out.parquet", k=4)
    assert Path("out.parquet").read_bytes() == before
    assert files() == ["out.parquet"]
    assert con.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == [(1,)]


@pytest.mark.slow
@pytest.mark.parametrize("failure", [KeyboardInterrupt, duckdb.IOException("full"), MemoryError])
@pytest.mark.parametrize("place", ["input_digest", "PrivatePart"])
def test_whatever_happens_late_the_old_file_stays_and_no_other(
    con: Connection, monkeypatch: pytest.MonkeyPatch, failure: Any, place: str
) -> None:
    before = old_file(con)

    def fail(*_: Any) -> None:
        assert len(files()) == 2  # the draft is there by then
        raise failure

    if place == "PrivatePart":
        monkeypatch.setattr(writing.PrivatePart, "put", fail)
    else:
        monkeypatch.setattr(writing, place, fail)
    with pytest.raises((KeyboardInterrupt, duckdb.IOException, MemoryError)):
        kanon_sql.release(con, "patients", to="out.parquet", private="parts", **CALL)
    assert Path("out.parquet").read_bytes() == before
    assert files() == ["out.parquet"]
    tables = con.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    assert tables == [("patients",)]
    con.begin()  # no transaction was left open
    con.rollback()


@pytest.mark.slow
def test_a_file_that_holds_something_else_is_refused(
    con: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = old_file(con)

    def fewer(rows: str, *rest: str) -> str:
        return copy_sql(f"(FROM {rows} OFFSET 1)", *rest)

    monkeypatch.setattr(writing, "copy_sql", fewer)
    with pytest.raises(kanon_sql.ReleaseError, match="doesn't hold what the release is"):
        kanon_sql.release(con, "patients", to="out.parquet", **CALL)
    assert Path("out.parquet").read_bytes() == before
    assert files() == ["out.parquet"]


def test_a_transaction_of_the_caller_is_left_to_him(con: Connection) -> None:
    con.begin()
    with pytest.raises(kanon_sql.OptionError, match="con is inside a transaction"):
        kanon_sql.release(con, "patients", to="out.parquet", **CALL)
    con.execute("CREATE TABLE mine AS SELECT 1")
    con.commit()
    assert not files()


@pytest.mark.slow
def test_an_interrupt_leaves_the_old_file(con: Connection) -> None:
    before = old_file(con)
    con.execute(
        "CREATE TABLE long AS SELECT hash(i) % 9973 AS a, hash(i + 1) % 9967 AS b, i AS s "
        "FROM range(2000) AS r(i)"
    )
    timer = threading.Timer(1, con.interrupt)
    timer.start()
    with pytest.raises(duckdb.InterruptException):
        kanon_sql.release(
            con, "long", to="out.parquet", k=5, method="best", refine_steps=10**11, sensitive="s"
        )
    assert Path("out.parquet").read_bytes() == before
    assert files() == ["out.parquet"]
    assert con.execute("SELECT count(*) FROM long").fetchall() == [(2000,)]


@pytest.mark.slow
@pytest.mark.parametrize(("value", "kept", "instead"), [
    ("i::HUGEINT", "HUGEINT", r"DECIMAL\(38, 0\)"),
    ("to_days(i::INTEGER)", "INTERVAL", "VARCHAR"),
    ("[i]::BIGINT[1]", r"BIGINT\[1\]", "VARCHAR"), ("(i % 2)::VARCHAR::BIT", "BIT", "VARCHAR"),
])
def test_types_that_parquet_does_not_keep_are_refused(
    con: Connection, value: str, kept: str, instead: str
) -> None:
    con.execute(f"CREATE TABLE t AS SELECT i % 2 AS a, {value} AS s FROM range(8) AS r(i)")
    said = f"column 's' has the type {kept}, which a Parquet file doesn't keep.* such as {instead}"
    with pytest.raises(kanon_sql.DataError, match=said):
        kanon_sql.release(con, "t", to="out.parquet", k=4, sensitive=["s"])
    assert not files()


# --- what isn't in it -------------------------------------------------------------------------


SOURCE = """
    CREATE TYPE level AS ENUM ('low', 'high', 'NEVERSEEN');
    CREATE TABLE source AS
    SELECT 'PERSON' || i AS name, CASE WHEN i < 100 THEN 20 + i % 4 ELSE 987654 END AS age,
           CASE WHEN i < 100 THEN 'town' || i % 4 ELSE 'FARAWAY' END AS town,
           CASE WHEN i < 100 THEN 'flu' || i % 3 ELSE 'RAREDISEASE' END AS disease,
           (CASE WHEN i % 2 = 0 THEN 'low' ELSE 'high' END)::level AS level
    FROM range(101) AS r(i)
"""


@pytest.mark.slow
def test_nothing_of_the_source_is_in_the_file_but_what_is_released(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def plainly(*parts: str) -> str:
        return copy_sql(*parts).replace("zstd", "uncompressed")

    monkeypatch.setattr(writing, "copy_sql", plainly)
    con = kanon_sql.register(duckdb.connect())
    con.execute(SOURCE)
    done = kanon_sql.release(
        con, "source", to="out.parquet", k=5, suppress=0.01, identifiers=["name"],
        sensitive=["disease", "level"], others="quasi_identifier", representation="interval",
        private="private.json", l={"disease": 2},
    )
    assert done.manifest["metrics"]["rows_suppressed"] == 1
    content = Path("out.parquet").read_bytes()
    for shown in (b"flu2", b"town3", b"high"):  # so that what isn't found isn't there
        assert shown in content
    private = [
        b"PERSON", b"FARAWAY", b"RAREDISEASE", b"NEVERSEEN", b"987654",
        (987654).to_bytes(4, "little"), str(done.private["seed"]).encode(),
        done.private["salt"].encode(), done.private["input_sha256"].encode(), b"source",
    ]
    assert [part for part in private if part in content] == []


@pytest.mark.slow
def test_statistics_are_those_of_the_released_rows(con: Connection) -> None:
    kanon_sql.release(con, "patients", to="out.parquet", **CALL)
    released = con.sql("FROM 'out.parquet'")
    for name, low, high, nulls in con.execute(
        "SELECT path_in_schema, stats_min_value, stats_max_value, stats_null_count "
        "FROM parquet_metadata('out.parquet')"
    ).fetchall():
        ((least, most),) = con.execute(
            f'SELECT min("{name}")::VARCHAR, max("{name}")::VARCHAR FROM released'
        ).fetchall()
        assert (low, high, nulls) == (least, most, 0)
    schema = con.execute("SELECT name FROM parquet_schema('out.parquet')").fetchall()
    assert [name for (name,) in schema][1:] == released.columns
    assert [*footer("out.parquet")] == ["kanon"]


# --- the private part -------------------------------------------------------------------------


MODEL = CALL | {"l": 2, "alpha": {"Flu": 0.9}}


@pytest.mark.slow
def test_the_private_part_goes_where_it_is_told_and_not_into_the_file(con: Connection) -> None:
    done = kanon_sql.release(con, "patients", to="out.parquet", private="mine.json", **MODEL)
    written = Path("mine.json")
    assert json.loads(written.read_text()) == done.private
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    assert done.private["options"] == MODEL
    assert done.private["seed"] > 0
    text = footer("out.parquet")["kanon"]
    for name in ("seed", "salt", "input_sha256"):
        assert str(done.private[name]) not in text
    assert str(done.private["salt"]) not in repr(done)
    assert repr(done).endswith("/out.parquet', 60 rows, k = 4)")


@pytest.mark.slow
@pytest.mark.whole
@pytest.mark.parametrize("preserved", [True, False])
@pytest.mark.parametrize("asked", [
    {"others": "drop"}, {"sensitive": ["disease"]}, {"sensitive": ["disease"], "keep_order": True},
    {"sensitive": ["disease"], "representation": "bounds"},
])
def test_rows_stand_as_anonymize_gives_them(preserved: bool, asked: dict[str, Any]) -> None:
    given: dict[str, Any] = {
        "k": 5, "method": "mdav_plus", "seed": 4, "quasi_identifiers": ["age", "income"], **asked
    }
    with duckdb.connect() as con:
        con.execute(f"SET threads = 4; SET preserve_insertion_order = {preserved}")
        con.execute("CREATE TABLE people AS SELECT hash(range) % 70 AS age, "
                    "hash(range, 1) % 10000 / 100 AS income, "
                    "'d' || hash(range, 2) % 20 AS disease FROM range(300_000)")
        kanon_sql.release(con, "people", to="out.parquet", **given)
        released = kanon_sql.anonymize("people", con=con, **given)
        assert con.sql("FROM duckdb_tables() WHERE table_name LIKE '%kanon%'").fetchall() == []
    with duckdb.connect() as con:
        written = con.sql("FROM 'out.parquet'").to_arrow_table()
    assert written.equals(released.cast(written.schema))


@pytest.mark.slow
def test_the_private_part_goes_to_a_table(con: Connection) -> None:
    parts = [
        kanon_sql.release(con, "patients", to=f"{i}.parquet", private="my_releases", **MODEL)
        for i in range(2)
    ]
    rows = con.execute("SELECT file, manifest_sha256, private FROM my_releases").fetchall()
    assert [(name, seal, json.loads(private)) for name, seal, private in rows] == [
        (f"{i}.parquet", part.manifest["sha256"], part.private) for i, part in enumerate(parts)
    ]
    assert parts[0].private["salt"] != parts[1].private["salt"]
    assert parts[0].private["input_sha256"] != parts[1].private["input_sha256"]


@pytest.mark.parametrize("begins", [True, False])
def test_a_table_has_no_private_part_of_a_file_that_could_not_get_its_name(
    con: Connection, monkeypatch: pytest.MonkeyPatch, begins: bool
) -> None:
    if not begins:
        kanon_sql.release(con, "patients", to="first.parquet", private="parts", **CALL)
    digest = writing.input_digest

    def meanwhile(*given: Any) -> str:
        """Somebody makes a folder of that name, which no file can replace."""
        Path("out.parquet").mkdir(exist_ok=True)
        return digest(*given)

    monkeypatch.setattr(writing, "input_digest", meanwhile)
    with pytest.raises(kanon_sql.DataError, match=r"out\.parquet"):
        kanon_sql.release(con, "patients", to="out.parquet", private="parts", **CALL)
    tables = {name for (name,) in con.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    assert tables == {"patients"} | (set() if begins else {"parts"})
    if not begins:
        assert con.execute("SELECT file FROM parts").fetchall() == [("first.parquet",)]


@pytest.mark.sample(1)
@pytest.mark.parametrize(("private", "said"), [
    ("out.parquet.json/x.json", "where no file can be"), ("", "private is a str"), (3, "is an int"),
    ("patients", "not a table with the columns file"),
])
def test_where_the_private_part_can_not_go_nothing_is_written(
    con: Connection, private: Any, said: str
) -> None:
    with pytest.raises(kanon_sql.OptionError, match=said):
        kanon_sql.release(con, "patients", to="out.parquet", private=private, **CALL)
    with pytest.raises(kanon_sql.OptionError, match="there is no con"):
        kanon_sql.release(None, {"a": [1, 1]}, to="out.parquet", private="t", k=2)
    assert not files()


@pytest.mark.parametrize("made", [
    "TABLE parts (file VARCHAR, seal VARCHAR, private JSON)",
    "TABLE parts (file VARCHAR, manifest_sha256 VARCHAR, private DATE)",
    "VIEW parts AS SELECT '' AS file, '' AS manifest_sha256, '{}'::JSON AS private",
])
def test_a_table_that_can_not_have_the_private_part_is_refused_before_any_work(
    con: Connection, made: str
) -> None:
    con.execute(f"CREATE {made}")
    with pytest.raises(kanon_sql.OptionError, match="not a table with the columns file"):
        # that there are too few rows is found out later
        kanon_sql.release(con, "patients", to="out.parquet", private="parts", **{**CALL, "k": 61})
    assert not files()
    with pytest.raises(kanon_sql.OptionError, match="Name a new table in a schema that exists"):
        kanon_sql.release(con, "patients", to="out.parquet", private="a.b", **{**CALL, "k": 61})
    con.execute("SELECT 1").fetchall()


def test_each_notice_is_said_once(con: Connection, capfd: pytest.CaptureFixture[str]) -> None:
    con.execute("CREATE TABLE phones AS SELECT *, '555-' || name AS phone FROM patients")
    kanon_sql.release(con, "phones", to="out.parquet", **CALL)
    assert capfd.readouterr().err.count("The column 'phone' looks like an identifier") == 1
