"""kanon_sql.verify against who edits a file and its manifest, and makes a new seal and new digests.

What such a file breaks of what its manifest says is wrong; what no file shows is never proven.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kanon_sql
from kanon_sql.plan.contradictions import contradictions
from kanon_sql.plan.manifest import digest_sql, file_relation, sealed

Connection = duckdb.DuckDBPyConnection
Manifest = dict[str, Any]
Edit = Callable[[Manifest], Any]
CALL: dict[str, Any] = {
    "k": 4, "quasi_identifiers": ["age", "zip"], "identifiers": ["name"],
    "sensitive": ["disease", "job"], "seed": 5, "class_id": True, "representation": "interval",
    "l": {"disease": 2}, "t": {"job": 0.6}, "delta": {"job": 3}, "beta": {"job": 5},
    "alpha": {"disease": 0.9}, "hierarchies": {"zip": "prefix"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with an honest release, honest.parquet."""
    found = tmp_path_factory.mktemp("forged")
    with kanon_sql.register(duckdb.connect()) as con:
        con.execute("""
            CREATE TABLE patients AS
            SELECT 'person ' || i AS name, 20 + (i * 7) % 50 AS age,
                   (10000 + (i * 37) % 90)::VARCHAR AS zip,
                   ['Private', 'State-gov', 'Never-worked'][1 + (i * i) % 3] AS job,
                   ['Flu', 'Cold', 'Hypertension'][1 + (i // 4) % 3] AS disease
            FROM range(60) AS r(i)
        """)
        kanon_sql.release(con, "patients", to=found / "honest.parquet", **CALL)
    yield found


def manifest_of(file: Path) -> Manifest:
    with duckdb.connect() as con:
        ((text,),) = con.execute(
            "SELECT decode(value) FROM parquet_kv_metadata(?) WHERE decode(key) = 'kanon'",
            [str(file)],
        ).fetchall()
    found: Manifest = json.loads(text)
    return found


def forged(
    folder: Path, edit: Edit | None = None, rows: str = "FROM file", text: str | None = None
) -> kanon_sql.Verification:
    """Verifies a file of other rows, whose manifest has their columns and digest, was edited, and
    has a new seal."""
    file, made = folder / "forged.parquet", manifest_of(folder / "honest.parquet")
    with kanon_sql.register(duckdb.connect()) as con:
        con.execute(f"CREATE VIEW file AS FROM '{folder / 'honest.parquet'}'")
        con.execute(f"COPY ({rows}) TO '{file}' (FORMAT parquet)")
        made["columns"] = {name: kept for name, kept, *_ in con.execute(
            f"DESCRIBE FROM '{file}'").fetchall()}
        ((made["release"]["rows_sha256"],),) = con.execute(
            digest_sql(file_relation(str(file)))).fetchall()
        if edit is not None:
            edit(made)
        told = (json.dumps(sealed(made)) if text is None else text).replace("'", "''")
        con.execute(f"COPY ({rows}) TO '{file}' (FORMAT parquet, KV_METADATA {{kanon: '{told}'}})")
    return kanon_sql.verify(file)


def written(file: Path, rows: pa.Table, footer: dict[str, str]) -> kanon_sql.Verification:
    """Verifies a file of these rows with this footer."""
    with pq.ParquetWriter(file, rows.schema, store_schema=False) as writer:
        writer.write_table(rows)
        writer.add_key_value_metadata(footer)
    return kanon_sql.verify(file)


def put(section: str, entry: str, value: Any) -> Edit:
    return lambda manifest: manifest[section].update({entry: value})


def drop(*entries: tuple[str, str]) -> Edit:
    def edit(manifest: Manifest) -> None:
        for section, entry in entries:
            del manifest[section][entry]

    return edit


def rename_role(old: str, new: str) -> Edit:
    return lambda manifest: manifest["roles"].update({new: manifest["roles"].pop(old)})


def both(*edits: Edit) -> Edit:
    def edit(manifest: Manifest) -> None:
        for each in edits:
            each(manifest)

    return edit


def without_disease(manifest: Manifest) -> None:
    """A manifest without one of two sensitive columns, but with its models."""
    manifest["options"]["sensitive"].remove("disease")


OTHER_SSN = "SELECT *, 'secret' || class_id AS \"{}\" FROM file"
FORGERIES: dict[str, tuple[Edit | None, str, str]] = {
    "nothing but the digest": (None, "FROM file", ""),
    "l that wasn't reached": (put("metrics", "l (disease)", 1), "FROM file",
                              "asks for l = 2 of 'disease', and says that 1 was reached"),
    "l that nobody asked for": (put("options", "l", {"disease": 3}), "FROM file",
                                "another l_requested (disease) than the option"),
    "t that wasn't reached": (put("metrics", "t (job)", 0.7), "FROM file",
                              "asks for t = 0.6 of 'job'"),
    "a closer t": (both(put("options", "t", {"job": 0.01}),
                        put("metrics", "t_requested (job)", 0.01)), "FROM file",
                   "asks for t = 0.01 of 'job'"),
    "alpha": (both(put("options", "alpha", {"disease": 0.3}),
                   put("metrics", "alpha_requested (disease)", 0.3)), "FROM file",
              "asks for alpha = 0.3 of 'disease'"),
    "delta": (both(put("options", "delta", {"job": 0.001}),
                   put("metrics", "delta_requested (job)", 0.001)), "FROM file",
              "asks for delta = 0.001 of 'job'"),
    "beta": (both(put("options", "beta", {"job": 0.001}),
                  put("metrics", "beta_requested (job)", 0.001)), "FROM file",
             "asks for beta = 0.001 of 'job'"),
    "a model that was reached in words": (put("metrics", "t (job)", "0.1"), "FROM file",
                                          "t"),
    "another model of whose value nothing is told": (
        both(put("options", "l", {"disease": 2, "job": 2}),
             put("metrics", "l_requested (job)", 2)), "FROM file",
        "lacks the entry 'l (job)'"),
    "k deleted": (drop(("options", "k")), "FROM file", "lacks the entry 'k' of options"),
    "k deleted everywhere": (
        drop(("options", "k"), ("metrics", "k_requested"), ("metrics", "k")), "FROM file",
        "lacks the entry 'k' of options"),
    "k of true": (put("options", "k", True), "FROM file", "a k that no call takes"),
    "k as text": (put("options", "k", "4"), "FROM file", "a k that no call takes"),
    "models deleted, the seed still secret": (
        lambda m: [m["options"].pop(n) for n in ("l", "t", "alpha", "delta", "beta")], "FROM file",
        "lacks the entry 'alpha' of options"),
    "role deleted": (drop(("roles", "job")), "FROM file",
                     "column 'job' of the file has no role"),
    "role of a quasi-identifier deleted": (drop(("roles", "age")), "FROM file",
                                           "column 'age' of the file has no role"),
    "role that there isn't": (put("roles", "age", "harmless"), "FROM file",
                              "role that there isn't"),
    "a quasi-identifier that passes": (put("roles", "age", "other"), "FROM file",
                                       "names a column with another role"),
    "another case": (rename_role("age", "AGE"), "FROM file", "'AGE', whose role"),
    "an identifier with a blank": (None, OTHER_SSN.format("name "),
                                   "'name' has the role identifier"),
    "an identifier with a blank, with a role": (
        put("roles", "name ", "other"), OTHER_SSN.format("name "),
        "'name' has the role identifier"),
    "an identifier in capitals": (put("roles", "NAME", "other"), OTHER_SSN.format("NAME"),
                                  "'name' has the role identifier"),
    "an identifier in wide letters": (
        None, OTHER_SSN.format("\uff4eame"), "'name' has the role identifier"),
    "an identifier in wide letters, with a role": (
        put("roles", "\uff4eame", "other"), OTHER_SSN.format("\uff4eame"),
        "unchanged_columns = 2, and the file shows 3"),
    "a column more": (None, OTHER_SSN.format("more"), "column 'more' of the file has no role"),
    "a column renamed": (None, "SELECT * RENAME (job AS work) FROM file",
                         "column 'work' of the file has no role"),
    "a column less": (None, "SELECT * EXCLUDE (job) FROM file",
                      "lacks the column 'job', whose role is sensitive"),
    "an identifier beside": (put("roles", "ref", "identifier"), "FROM file",
                             "the option identifiers doesn't name it"),
    "secrets as class_id": (
        None, "SELECT * REPLACE ((100000 + row_number() OVER ()) AS class_id) FROM file",
        "class_id holds other numbers"),
    "text as class_id": (None, "SELECT * REPLACE ('c' || class_id AS class_id) FROM file",
                         "class_id has another type"),
    "class_id that nobody asked for": (put("options", "class_id", False), "FROM file",
                                       "column 'class_id' of the file has no role"),
    "one class less, and its metrics": (
        lambda m: m["metrics"].update(classes=1, k=60, prosecutor_risk_max=1 / 60), "FROM file",
        "The manifest says classes = 1, and the file shows"),
    "a metric deleted": (drop(("metrics", "unique_in_unchanged")), "FROM file",
                         "lacks the entry 'unique_in_unchanged' of metrics"),
    "a metric without a number": (put("metrics", "prosecutor_risk_max", None), "FROM file",
                                  "says prosecutor_risk_max = None, and the file shows 0."),
    "a number where there is none": (put("metrics", "classification_metric", 0.0), "FROM file",
                                     "says classification_metric = 0.0, and the file shows none"),
    "a number of true": (put("metrics", "unchanged_columns", True), "FROM file",
                         "unchanged_columns"),
    "a metric that there isn't": (put("metrics", "trust", 1), "FROM file",
                                  "an entry 'trust' of metrics, which none of its kind has"),
    "a metric that is not public": (put("metrics", "max_radius", 0.1), "FROM file",
                                    "an entry 'max_radius' of metrics"),
    "an option that there isn't": (put("options", "audited", True), "FROM file",
                                   "an entry 'audited' of options"),
    "a loss above all": (put("metrics", "information_loss", 250), "FROM file",
                         "information_loss that no release has"),
    "a loss that its parts don't give": (put("metrics", "information_loss", 0.001), "FROM file",
                                         "another information_loss than its numbers give"),
    "a loss below those of all columns": (put("metrics", "ncp_grouping", 1e-6), "FROM file",
                                          "less ncp_grouping than its numbers allow"),
    "a loss above those of all columns": (put("metrics", "ncp_grouping", 1.0), "FROM file",
                                          "more ncp_grouping than its numbers allow"),
    "a total that isn't that of the cells": (put("metrics", "total_il_grouping", 1e300),
                                             "FROM file", "another total_il_grouping than"),
    "more blocks than rows": (put("metrics", "blocks", 1e300), "FROM file", "more blocks than"),
    "a ratio that nobody guarantees": (put("metrics", "guaranteed_ratio", 0), "FROM file",
                                       "less guaranteed_ratio than its numbers allow"),
    "an option with a blank": (put("options", "nulls", "value "), "FROM file",
                               "a nulls that no call takes"),
    "an option without its value": (put("options", "others", None), "FROM file",
                                    "a others that no call takes"),
    "a method that grouped nothing": (
        both(put("options", "method", "auto"), put("release", "method", "auto")), "FROM file",
        "a method that no release was grouped by"),
    "a loss below nothing": (put("metrics", "ncp", -0.1), "FROM file", "ncp that no release has"),
    "more rows than the source has": (
        lambda m: m["metrics"].update(rows=50, rows_suppressed=-10), "FROM file",
        "rows_suppressed that no release has"),
    "half a row": (lambda m: m["metrics"].update(rows=60.5, rows_suppressed=0.5), "FROM file",
                   "rows that no release has"),
    "a method that there isn't": (put("options", "method", "magic"), "FROM file", "a method"),
    "another call": (put("made", "call", "k_anonymity"), "FROM file", "another call"),
    "no version": (put("made", "duckdb", ""), "FROM file", "no version of duckdb"),
    "a number without a ledger": (put("release", "number", 3), "FROM file", "doesn't go with"),
    "no digest of the text": (put("release", "sql_sha256", ""), "FROM file", "no digest"),
    "a hierarchy of a column that has none": (
        put("hierarchies", "name", {"kind": "prefix"}), "FROM file", "whose role takes none"),
    "a hierarchy of a kind that there isn't": (
        put("hierarchies", "zip", {"kind": "magic"}), "FROM file",
        "described in a form that no release writes"),
    "a section more": (lambda m: m.update(audit={"by": "everybody"}),
                       "FROM file",
                       "the section 'audit', which none has"),
    "a seed that is secret": (put("options", "seed", 5), "FROM file", "secret"),
    "sensitive columns forgotten": (without_disease, "FROM file", "the option sensitive doesn't"),
    "rows exchanged": (None, "SELECT * REPLACE (CASE WHEN disease = 'Flu' THEN 'Cold' ELSE disease "
                       "END AS disease) FROM file", "The manifest says "),
    "rows doubled": (None, "FROM file UNION ALL FROM file LIMIT 61", "The file has 61 rows"),
}


def edited(made: Manifest, edit: Edit) -> Manifest:
    found: Manifest = json.loads(json.dumps(made))
    edit(found)
    return found


@pytest.mark.sample(2)
@pytest.mark.parametrize("case", FORGERIES)
def test_the_file_breaks_what_the_manifest_says(folder: Path, case: str) -> None:
    edit, rows, said = FORGERIES[case]
    if edit is not None and rows == "FROM file":
        made = edited(manifest_of(folder / "honest.parquet"), edit)
        if any(said in sentence for sentence in contradictions(made).values()):
            return  # without the file, and quickly; see the next test
    found = forged(folder, edit, rows)
    assert found.ok is (said == "")
    assert said in " / ".join(each.sentence for each in found.of("wrong"))


@pytest.mark.slow
def test_what_a_manifest_says_against_itself_is_wrong_entry_by_entry(folder: Path) -> None:
    found = forged(folder, both(
        put("metrics", "l (disease)", 1), drop(("options", "k"), ("metrics", "ncp")),
        lambda manifest: manifest.update(audit={}),
    ))
    assert {
        "metrics.l (disease)", "options.k", "metrics.ncp", "metrics.k_requested", "audit",
    } <= {each.entry for each in found.of("wrong")}
    assert repr(found).count("  wrong: ") == len(found.of("wrong"))


@pytest.mark.slow
def test_no_entry_can_be_deleted(folder: Path) -> None:
    made = manifest_of(folder / "honest.parquet")
    unseen = [
        (section, entry) for section in made if section != "sha256" for entry in made[section]
        if not contradictions(edited(made, drop((section, entry))))
        and forged(folder, drop((section, entry))).ok
    ]
    # that a column went by a hierarchy is what no file shows
    assert unseen == [("hierarchies", "zip")]


@pytest.mark.slow
def test_no_proven_entry_can_be_edited(folder: Path) -> None:
    made = manifest_of(folder / "honest.parquet")
    proven = [each.entry.partition(".")[::2] for each in forged(folder).of("proven")]
    others: tuple[Any, ...] = ("", None)
    passed = []
    for section, entry in proven:
        if section not in made or section == "sha256" or entry in ("disease", "job"):
            continue  # which are as age and zip
        value = made[section][entry]
        more = (value * 1.1 + 1,) if isinstance(value, (int, float)) else ()
        for other in (*others, *more):
            if other is value or contradictions(edited(made, put(section, entry, other))):
                continue
            if forged(folder, put(section, entry, other)).ok:
                passed.append((section, entry, other))
    assert passed == []


@pytest.mark.slow
def test_other_keys_of_the_footer_are_named(folder: Path) -> None:
    rows = pq.read_table(folder / "honest.parquet").replace_schema_metadata()
    kanon = {"kanon": json.dumps(manifest_of(folder / "honest.parquet"))}
    assert written(folder / "keys.parquet", rows, kanon).ok
    keys = "pandas", "Kanon", "kanon "
    found = written(folder / "keys.parquet", rows, dict.fromkeys(keys, "of the source") | kanon)
    assert {each.entry for each in found.of("wrong")} == {f"footer.{key}" for key in keys}
    assert found.sentence == (
        "The footer has a key 'pandas', which the release did not write. Check its value, or write "
        "the file again without it."
    )


@pytest.mark.slow
def test_a_name_that_stands_twice_is_no_manifest(folder: Path) -> None:
    text = json.dumps(manifest_of(folder / "honest.parquet"))
    for old, new in {
        '"k": 4': '"k": 100, "k": 4', '"roles": {': '"roles": {}, "roles": {',
        '"rows": 60': '"rows": NaN',
    }.items():
        assert old in text
        found = forged(folder, text=text.replace(old, new, 1))
        assert found.sentence == "The value of kanon in the footer is not a manifest."


@pytest.mark.slow
def test_columns_whose_names_differ_in_case_are_seen(folder: Path) -> None:
    """DuckDB gives the second of them another name, under which others don't know it."""
    rows = pq.read_table(folder / "honest.parquet").replace_schema_metadata()
    file = folder / "twins.parquet"
    secret = pa.array([f"person {i}" for i in range(rows.num_rows)])
    twins = rows.append_column("JOB", secret)
    pq.write_table(twins, file, store_schema=False)
    made = manifest_of(folder / "honest.parquet")
    with kanon_sql.register(duckdb.connect()) as con:
        made["columns"] = {name: kept for name, kept, *_ in con.execute(
            f"DESCRIBE FROM '{file}'").fetchall()}
        (added,) = set(made["columns"]) - set(rows.column_names)
        made["roles"][added] = "other"
        ((made["release"]["rows_sha256"],),) = con.execute(
            digest_sql(file_relation(str(file)))).fetchall()
    found = written(file, twins, {"kanon": json.dumps(sealed(made))})
    assert not found.ok
    assert found.sentence == (
        "The file has two columns 'JOB', or two that differ in case only."
    )
