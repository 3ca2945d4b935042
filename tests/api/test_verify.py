"""kanon_sql.verify: what a file proves of itself, and that no change of it goes unseen."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.measure.model_metrics import REACHED
from kanon_sql.plan.manifest import sealed

Connection = duckdb.DuckDBPyConnection
Manifest = dict[str, Any]
CALL: dict[str, Any] = {
    "k": 4, "identifiers": ["name"], "sensitive": ["disease", "job"], "seed": 5, "suppress": 0.05,
    "l": {"disease": 2}, "t": {"job": 0.6}, "beta": {"job": 5}, "delta": {"job": 3},
}


@pytest.fixture
def released(
    con: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> kanon_sql.Release:
    monkeypatch.chdir(tmp_path)
    return kanon_sql.release(con, "patients", to="out.parquet", private="mine.json", **CALL)


def rewrite(
    rows: str = "FROM 'out.parquet'", edit: Callable[[Manifest], Any] | None = None,
    seal: bool = False, footer: str | None = None,
) -> kanon_sql.Verification:
    """Verifies a forged file: other rows, or a manifest that was edited, with a new seal or the
    old one, or another footer."""
    with duckdb.connect() as con:
        ((text,),) = con.execute(
            "SELECT decode(value) FROM parquet_kv_metadata('out.parquet')"
        ).fetchall()
        manifest = json.loads(text)
        if edit is not None:
            edit(manifest)
        if seal:
            manifest = sealed(manifest)
        told = (footer if footer is not None else json.dumps(manifest)).replace("'", "''")
        con.execute(
            f"COPY ({rows}) TO 'forged.parquet' (FORMAT parquet, KV_METADATA {{kanon: '{told}'}})"
        )
    return kanon_sql.verify("forged.parquet")


def test_the_file_alone_proves_what_it_shows(released: kanon_sql.Release) -> None:
    found = kanon_sql.verify("out.parquet")
    assert found.ok
    proven = {each.entry for each in found.of("proven")}
    assert {
        "release.rows_sha256", "options.k", "sha256", "roles.name", "roles.age", "columns.zip",
        "metrics.k", "metrics.rows_released", "metrics.prosecutor_risk_max",
        "metrics.prosecutor_risk_mean",
        "metrics.discernibility", "metrics.l (disease)", "metrics.t (job)",
        "metrics.beta (job)", "metrics.delta (job)",
        "metrics.unique_in_unchanged", "metrics.homogeneous_rows (job)",
    } <= proven
    unknown = {each.entry for each in found.of("not provable")}
    assert {
        "metrics.information_loss", "metrics.rows", "made.duckdb", "options.method",
        "release.sql_sha256",
    } <= unknown
    told = {
        f"{section}.{entry}" for section, part in released.manifest.items() if section != "sha256"
        for entry in part
    }
    assert {each.entry for each in found.findings} == {*told, "sha256"}
    assert found.sentence == (
        f"{len(proven)} entries are proven by the file alone, {len(unknown)} are not provable by "
        "it and were not checked, and none of the others is wrong."
    )
    assert repr(found).startswith("out.parquet: ok. ")
    assert "\n  not provable: made: duckdb, format, kanon_sql, call\n" in repr(found) + "\n"


MODELS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "entropy": ({"l": 1.5 + 0.5, "diversity_kind": "entropy"}, {"l (disease)"}),
    "recursive": ({"l": 2, "c": 3, "diversity_kind": "recursive"}, {"c (disease)"}),
    "alpha": ({"alpha": 0.75}, {"alpha (disease)"}),
    "beta": ({"beta": 2, "beta_kind": "basic"}, {"beta (disease)"}),
    "closeness": ({"t": 0.4, "closeness": "equal"}, {"t (disease)"}),
    "NULL is a value": ({"l": 2, "sensitive_nulls": "value"}, {"l (disease)"}),
    # what the file lacks: the values that are bounded, and the tree
    "by value": ({"alpha": {"Flu": 0.75}}, set()),
    "by hierarchy": ({"t": 0.4, "hierarchies": {"disease": "flat"}}, set()),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", MODELS)
def test_models_are_proven_where_the_file_has_all_of_them(
    con: Connection, tmp_path: Path, case: str
) -> None:
    model, proven = MODELS[case]
    kanon_sql.release(
        con, "patients", to=tmp_path / "a.parquet", k=4, identifiers="name", sensitive="disease",
        **model,
    )
    found = kanon_sql.verify(tmp_path / "a.parquet")
    assert found.ok
    reached = {
        each.entry.removeprefix("metrics."): each.verdict for each in found.findings
        if each.entry.removeprefix("metrics.").partition(" (")[0] in REACHED
    }
    assert reached and {name for name, word in reached.items() if word == "proven"} == proven


VISITS = """
    CREATE TABLE visits AS
    SELECT 'p' || i % 40 AS who, 20 + 3 * (i % 40 % 7) AS age, 'z' || i % 40 % 5 AS zip,
           ['Flu', 'Cold', 'Measles'][1 + i % 40 % 3] AS disease
    FROM range(160) AS r(i)
"""


@pytest.mark.slow
@pytest.mark.parametrize("rows", ["together", "apart"])
def test_of_persons_the_file_shows_nothing(con: Connection, tmp_path: Path, rows: str) -> None:
    con.execute(VISITS)
    done = kanon_sql.release(
        con, "visits", to=tmp_path / "a.parquet", k=4, entity="who", entity_rows=rows,
        sensitive="disease", t=0.5,
    )
    assert done.manifest["roles"]["who"] == "entity"
    assert {"persons", "k_persons"} <= set(done.manifest["metrics"])
    assert "rows_per_person_max" not in done.manifest["metrics"]
    found = kanon_sql.verify(tmp_path / "a.parquet")
    unknown = {each.entry for each in found.of("not provable")}
    assert found.ok and {"options.k", "metrics.persons", "metrics.k_persons"} <= unknown
    # together, models count persons
    assert ("metrics.t (disease)" in unknown) == (rows == "together")
    found = kanon_sql.verify(
        tmp_path / "a.parquet", con=con, source="visits", private=done.private
    )
    assert found.ok and not found.of("not provable")


@pytest.mark.slow
def test_the_same_file_written_again_is_proven_too(released: kanon_sql.Release) -> None:
    assert rewrite("FROM 'out.parquet' ORDER BY hash(COLUMNS(*))").ok


NOT_THOSE = "The rows are not those that were released: their digest is another one."
CHANGED_ROWS = {
    "a value": (
        "SELECT * REPLACE (CASE WHEN row_number() OVER () = 1 THEN 'Measles' ELSE disease END "
        "AS disease) FROM 'out.parquet'", NOT_THOSE,
    ),
    "a quasi-identifier, the least": (
        "SELECT * REPLACE (CASE WHEN row_number() OVER () = 1 THEN age + 1 ELSE age END AS age)"
        " FROM 'out.parquet'", NOT_THOSE,
    ),
    "a NULL": (
        "SELECT * REPLACE (CASE WHEN row_number() OVER () > 1 THEN job END AS job) "
        "FROM 'out.parquet'", NOT_THOSE,
    ),
    "removed": (
        "FROM 'out.parquet' OFFSET 1",
        "The file has 59 rows, and its manifest states 60: rows were added, removed or duplicated.",
    ),
    "doubled": (
        "FROM 'out.parquet' UNION ALL (FROM 'out.parquet' LIMIT 1)",
        "The file has 61 rows, and its manifest states 60: rows were added, removed or duplicated.",
    ),
    "one in place of another": (
        "(FROM 'out.parquet' OFFSET 1) UNION ALL (FROM 'out.parquet' LIMIT 1 OFFSET 7)", NOT_THOSE,
    ),
    "none left": (
        "FROM 'out.parquet' LIMIT 0",
        "The file has 0 rows, and its manifest states 60: rows were added, removed or duplicated.",
    ),
    "a column more": (
        "SELECT *, 1 AS more FROM 'out.parquet'",
        "The column 'more' of the file is none of the release.",
    ),
    "a column less": (
        "SELECT * EXCLUDE (job) FROM 'out.parquet'",
        "The file lacks the column 'job' of the release.",
    ),
    "another type": (
        "SELECT * REPLACE (age::INTEGER AS age) FROM 'out.parquet'",
        "The column 'age' has the type INTEGER, and was released as BIGINT.",
    ),
    "another order of columns": (
        "SELECT disease, * EXCLUDE (disease) FROM 'out.parquet'",
        "The columns of the file are not in the order in which they were released.",
    ),
    "two columns exchanged": (
        "SELECT * REPLACE (job AS disease, disease AS job) FROM 'out.parquet'", NOT_THOSE,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CHANGED_ROWS)
def test_a_change_of_the_rows_is_seen(released: kanon_sql.Release, case: str) -> None:
    rows, sentence = CHANGED_ROWS[case]
    found = rewrite(rows)
    assert not found.ok
    assert found.sentence == sentence
    assert repr(found).startswith(f"forged.parquet: wrong. {sentence}\n  wrong: ")


def put(section: str, entry: str, value: Any) -> Callable[[Manifest], Any]:
    return lambda manifest: manifest[section].update({entry: value})


def another_k(manifest: Manifest) -> None:
    manifest["options"]["k"] = 10
    manifest["metrics"] |= {"k_requested": 10, "k": 10}


EDITED = "The footer was edited: the seal of its manifest is another one."
ANOTHER_K = "The manifest asks for k = 10, and the smallest class of the file has 4 rows."
EDITS: dict[str, tuple[Callable[[Manifest], Any], bool, str]] = {
    "a loss": (put("metrics", "entropy_loss_grouping", 0.1), False, EDITED),
    "a version": (put("made", "kanon_sql", "9"), False,
                  "The manifest has no version of kanon_sql."),
    "an entry more": (put("options", "audited", "by everybody"), False,
                      "The manifest has an entry 'audited' of options, which none of its kind "
                      "has."),
    "another k": (another_k, False, ANOTHER_K),
    "another k, sealed": (another_k, True, ANOTHER_K),
    "k alone": (put("options", "k", 3), True,
                "The manifest says k_requested = 4, and its options say k = 3."),
    "risk, sealed": (put("metrics", "prosecutor_risk_max", 0.01), True,
                     "The manifest says prosecutor_risk_max = 0.01, and the file shows 0.25."),
    "a model, sealed": (put("metrics", "l (disease)", 3), True,
                        "The manifest says l (disease) = 3, and the file shows 2."),
    "counts, sealed": (put("metrics", "rows", 99), True,
                       "The counts of the manifest don't add up: rows is not rows_released and "
                       "rows_suppressed together."),
    "a digest, sealed": (put("release", "rows_sha256", "0" * 64), True, NOT_THOSE),
    "an identifier, sealed": (put("roles", "age", "identifier"), True,
                              "The column 'age' is in the file, and its role is identifier."),
    "a number that is none": (put("metrics", "prosecutor_risk_max", "low"), True,
                              "The manifest says prosecutor_risk_max = low, and the file shows "
                              "0.25."),
    "a k that is none": (put("options", "k", "many"), True,
                         "The manifest says a k that no call takes."),
    "a count that is code": (put("metrics", "rows", "(SELECT 1)"), True,
                             "The manifest says a rows that no release has."),
    "another format": (put("made", "format", 1), True,
                       "The manifest has a format that this version doesn't read, which reads 2. "
                       "Verify it by the version that made it."),
    "a section less": (lambda manifest: manifest.pop("metrics"), True,
                       "The value of kanon in the footer is not a manifest."),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", EDITS)
def test_an_edit_of_the_footer_is_seen(released: kanon_sql.Release, case: str) -> None:
    edit, seal, sentence = EDITS[case]
    found = rewrite(edit=edit, seal=seal)
    assert not found.ok
    assert found.sentence == sentence


@pytest.mark.slow
@pytest.mark.parametrize("footer", ["", "{}", "[1]", "no JSON", "{\"made\": 3}"])
def test_a_footer_that_is_no_manifest(released: kanon_sql.Release, footer: str) -> None:
    found = rewrite(footer=footer)
    assert found.sentence == "The value of kanon in the footer is not a manifest."


@pytest.mark.slow
def test_a_file_without_a_manifest(released: kanon_sql.Release) -> None:
    import polars as pl  # here: a process that has it can't be forked, as mutants are

    pl.read_parquet("out.parquet").write_parquet("bare.parquet")
    found = kanon_sql.verify("bare.parquet")
    assert not found.ok
    assert found.sentence == "The file has no manifest: its footer lacks the key kanon."


@pytest.mark.slow
def test_what_is_no_file_is_refused(released: kanon_sql.Release) -> None:
    Path("torn.parquet").write_bytes(Path("out.parquet").read_bytes()[:-9])
    for file, said in {
        "nowhere.parquet": "There is no file", "torn.parquet": "can't read", "o*": "as a pattern",
        "mine.json": "can't read",
    }.items():
        with pytest.raises(kanon_sql.OptionError, match=said):
            kanon_sql.verify(file)


@pytest.mark.slow
def test_a_torn_page_is_wrong(released: kanon_sql.Release) -> None:
    content = bytearray(Path("out.parquet").read_bytes())
    content[20:60] = bytes(40)
    Path("torn.parquet").write_bytes(content)
    assert not kanon_sql.verify("torn.parquet").ok


# --- with the source --------------------------------------------------------------------------


@pytest.mark.slow
def test_with_source_and_private_part_everything_is_proven(
    con: Connection, released: kanon_sql.Release
) -> None:
    for private in (released.private, "mine.json", json.dumps(dict(released.private))):
        found = kanon_sql.verify("out.parquet", con=con, source="patients", private=private)
        assert found.ok
        assert not found.of("not provable")
        proven = {each.entry for each in found.of("proven")}
        assert {"source", "again", "metrics.information_loss", "release.sql_sha256"} <= proven


@pytest.mark.slow
def test_a_source_of_another_name_gives_the_same_rows(
    con: Connection, released: kanon_sql.Release
) -> None:
    found = kanon_sql.verify(
        "out.parquet", source=con.sql("FROM patients").pl(), private="mine.json"
    )
    assert found.ok
    assert [each.entry for each in found.of("not provable")] == ["release.sql_sha256"]


@pytest.mark.slow
def test_another_source_and_another_private_part_are_seen(
    con: Connection, released: kanon_sql.Release
) -> None:
    con.execute("CREATE TABLE others AS SELECT * REPLACE (age + 1 AS age) FROM patients")
    found = kanon_sql.verify("out.parquet", con=con, source="others", private="mine.json")
    assert not found.ok
    assert found.sentence == (
        "The source is not the one that was released: its digest is another one."
    )
    assert {"source", "again"} <= {each.entry for each in found.of("wrong")}
    other = kanon_sql.release(con, "patients", to="other.parquet", **{**CALL, "k": 5})
    found = kanon_sql.verify("out.parquet", con=con, source="patients", private=other.private)
    assert found.sentence.startswith("The private part belongs to another release")


@pytest.mark.slow
def test_an_edit_that_the_file_can_not_show_is_seen_with_the_source(
    con: Connection, released: kanon_sql.Release
) -> None:
    assert rewrite(edit=put("metrics", "entropy_loss_grouping", 0.1), seal=True).ok
    found = kanon_sql.verify("forged.parquet", con=con, source="patients", private="mine.json")
    assert {each.entry for each in found.of("wrong")} == {
        "private", "metrics.entropy_loss_grouping"
    }
    private = dict(released.private)
    ((text,),) = con.execute(
        "SELECT decode(value) FROM parquet_kv_metadata('forged.parquet')"
    ).fetchall()
    private["manifest_sha256"] = json.loads(text)["sha256"]
    found = kanon_sql.verify("forged.parquet", con=con, source="patients", private=private)
    assert found.sentence == (
        "The manifest says another entropy_loss_grouping than the source gives."
    )


@pytest.mark.slow
def test_the_order_of_the_rows_is_part_of_what_the_source_proves(
    con: Connection, released: kanon_sql.Release
) -> None:
    assert rewrite("FROM 'out.parquet' ORDER BY age DESC").ok
    found = kanon_sql.verify("forged.parquet", con=con, source="patients", private="mine.json")
    assert found.sentence == "The source gives other rows, or in another order, than the file has."


@pytest.mark.slow
def test_a_search_that_time_ended_is_made_again_by_its_steps(
    con: Connection, tmp_path: Path
) -> None:
    file = tmp_path / "timed.parquet"
    done = kanon_sql.release(
        con, "patients", to=file, k=4, identifiers="name", sensitive="disease", effort="balanced",
        refine_seconds=0.2,
    )
    found = kanon_sql.verify(file, con=con, source="patients", private=done.private)
    assert found.ok
    assert {each.entry for each in found.of("not provable")} == {
        "options.refine_steps", "options.refine_seconds", "release.sql_sha256"
    }


@pytest.mark.slow
def test_frames_among_the_options_are_given_again(con: Connection, tmp_path: Path) -> None:
    levels = con.sql("SELECT DISTINCT zip AS level0, '*' AS level1 FROM patients").pl()
    source, file = con.sql("FROM patients").pl(), tmp_path / "tree.parquet"
    trees = {"zip": levels, "age": "bins"}
    done = kanon_sql.release(
        None, source, to=file, k=4, identifiers="name", sensitive="disease", hierarchies=trees
    )
    assert done.private["options"]["hierarchies"] == {"zip": {"frame": True}, "age": "bins"}
    with pytest.raises(kanon_sql.OptionError, match="hierarchies was given as a frame"):
        kanon_sql.verify(file, source=source, private=done.private)
    found = kanon_sql.verify(file, source=source, private=done.private, hierarchies=trees)
    assert found.ok
    assert not found.of("not provable")


@pytest.mark.slow
@pytest.mark.parametrize(("given", "said"), [
    ({"source": "patients"}, "source is given without private"),
    ({"private": {}}, "private is given without source"),
    ({"k": 4}, "k is given without source"),
    ({"source": "patients", "private": "nowhere.json"}, "private can't be read"),
    ({"source": "patients", "private": {"seed": 1}}, "private can't be read"),
])
def test_what_does_not_go_together(
    released: kanon_sql.Release, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(kanon_sql.OptionError, match=said):
        kanon_sql.verify("out.parquet", **given)
