"""kanon_sql.report: its numbers are the metrics, and it gives away nothing that isn't released."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.plan.manifest import EXACT, PUBLIC
from tests.support.pages import Page, read

pytest.importorskip("jinja2", reason="the extra 'report' isn't installed")
pytest.importorskip("vl_convert", reason="the extra 'report' isn't installed")

Con = duckdb.DuckDBPyConnection
CALL: dict[str, Any] = {"k": 5, "sensitive": ["disease"], "identifiers": ["name"]}


def three(value: float) -> float:
    return float(f"{value:.2e}")


def metrics(con: Con, table: str = "patients", **call: Any) -> dict[str, float]:
    rows = kanon_sql.anonymize_metrics(table, detail=True, con=con, **call)
    names, values = rows["metric"].to_pylist(), rows["value"].to_pylist()
    return {n: v for n, v in zip(names, values, strict=True) if v is not None}


def page(con: Con, path: Path, table: str = "patients", **call: Any) -> Page:
    return read(kanon_sql.report(table, to=path / "report.html", con=con, **call).path)


@pytest.mark.slow
@pytest.mark.parametrize("show_values", [False, True])
def test_every_metric_is_told_as_it_is(con: Con, tmp_path: Path, show_values: bool) -> None:
    found = page(con, tmp_path, **CALL, show_values=show_values)
    told = metrics(con, **CALL)
    seconds = {name for name in told if name.startswith("seconds_")}
    for name, value in told.items():
        base = name.partition(" (")[0]
        if name in seconds or (base not in PUBLIC and not show_values):
            assert not found.metric(name)
        elif show_values or base in EXACT or value == int(value):
            assert found.metric(name) == {value}, name
        else:
            assert found.metric(name) == {three(value)}, name
    assert {"k", "information_loss", "prosecutor_risk_mean", "homogeneous_rows"} <= {*told}


@pytest.mark.slow
@pytest.mark.parametrize("show_values", [False, True])
def test_risk_is_told_before_and_after(con: Con, tmp_path: Path, show_values: bool) -> None:
    found = page(con, tmp_path, **CALL, show_values=show_values)
    con.execute("CREATE TABLE released AS FROM anonymize('patients', k=5, "
                "sensitive=['disease'], identifiers=['name'])")
    of = "quasi_identifiers=['age', 'zip', 'job'], k=5"
    for side, table in {"source": "patients", "release": "released"}.items():
        rows = con.execute(f"SELECT metric, value FROM anonymize_risk('{table}', {of})").fetchall()
        told = {name: value for name, value in rows if value is not None and "(" not in name}
        assert {"uniques", "prosecutor_risk_max", "minimal_sample_uniques"} <= {*told}
        for name, value in told.items():
            exact = show_values or side == "release" or name == "rows"
            assert found.metric(f"{name} {side}") == {value if exact else three(value)}, name


def test_the_first_screen_says_what_was_asked_and_reached(con: Con, tmp_path: Path) -> None:
    found = page(con, tmp_path, **CALL, l=2, title="Ward 7")
    told = metrics(con, **CALL, l=2)
    screen = found.text[:found.text.index("Contents") if "Contents" in found.text else 3000]
    for words in ("Ward 7", "looks like at least", "Requested and achieved",
                  "People who could be found", "Values that could be learned",
                  "What is still true", "Roles of the columns", "risk of re-identification",
                  "largest loss", "Before you sign", "disease"):
        assert words in screen, words
    assert ["l (disease)", "2", f"{told['l (disease)']:g}", "met"] in found.cells
    assert ["k", "5", f"{told['k']:g}", "met"] in found.cells


@pytest.mark.slow
def test_what_speaks_against_it_is_said(con: Con, tmp_path: Path) -> None:
    con.execute("CREATE TABLE alike AS SELECT * REPLACE ('Flu' AS disease), "
                "CASE WHEN zip < 10003 THEN zip ELSE 9 END AS ticket FROM patients")
    found = page(con, tmp_path, "alike", k=5, sensitive=["disease"], identifiers=["name"],
                 quasi_identifiers=["age", "zip", "job"], others="release")
    text = " ".join(found.text.split())
    assert "2 released rows are unique in the unchanged columns" in text
    assert "60 released rows are in classes with only one value of disease" in text
    assert text.index("are unique in the unchanged") < text.index("only one value of disease")


@pytest.mark.slow
def test_without_show_values_no_value_of_the_source_is_told(tmp_path: Path) -> None:
    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")
    # rare texts, numbers far from all others, and an income that says who it is
    con.execute("""
        CREATE TABLE people AS
        SELECT CASE WHEN i < 3 THEN 'Xanadu' || i WHEN i < 12 THEN 'Qqtown' ELSE 'Rome' END AS town,
               (CASE WHEN i = 7 THEN 9876543.25 ELSE 1000.0 + i * 137 % 911 + 0.125 END)::DOUBLE
                   AS income,
               CASE WHEN i = 9 THEN DATE '1823-04-17' ELSE DATE '1990-01-01' + i::INTEGER END
                   AS born,
               CASE WHEN i % 2 = 0 THEN 'Flu' ELSE 'Cold' END AS disease,
               'zz-' || md5(i::VARCHAR) AS id
        FROM range(200) AS rows(i)""")
    call: dict[str, Any] = {
        "k": 5, "sensitive": ["disease"], "identifiers": ["id"],
        "queries": {"by town": "SELECT town, max(income) AS most, min(born) AS first, "
                               "count(*) AS n FROM {table} GROUP BY town",
                    "richest": "SELECT max(income) AS most FROM {table}"},
    }
    closed = kanon_sql.report("people", to=tmp_path / "closed.html", con=con, **call)
    text = Path(closed.path).read_text(encoding="utf-8")
    released = kanon_sql.anonymize("people", con=con, k=5, sensitive=["disease"],
                                   identifiers=["id"])
    shown = {str(value) for column in released.columns for value in column.to_pylist()}
    hidden = {
        str(value)
        for column in ("town", "income", "born", "id")
        for (value,) in con.execute(f"SELECT DISTINCT {column} FROM people").fetchall()
    } - shown
    assert {"Xanadu1", "9876543.25", "1823-04-17"} <= hidden and len(hidden) > 300
    plain = text.replace(",", "")
    assert [value for value in sorted(hidden) if value in plain] == []
    assert "9876543" not in plain and "1823" not in plain
    opened = kanon_sql.report("people", to=tmp_path / "open.html", con=con, **call,
                              show_values=True)
    assert "9876543" in Path(opened.path).read_text(encoding="utf-8").replace(",", "")


@pytest.mark.slow
def test_what_is_hostile_is_text(tmp_path: Path) -> None:
    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")
    nasty = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'${x}{{7*7}}"
    quoted = nasty.replace('"', '""')
    value = nasty.replace("'", "''")
    con.execute(f"""CREATE TABLE t AS
        SELECT i % 7 AS "{quoted}", '{value}' || i % 2 AS "a <b>&amp;",
               '{value}' || i % 3 AS "s {{{{7*7}}}}"
        FROM range(40) AS rows(i)""")
    found = page(con, tmp_path, "t", k=5, sensitive=["s {{7*7}}"], title=nasty,
                 categorical=[nasty], show_values=True,
                 queries={nasty: f"SELECT '{value}' AS key, count(*) AS n FROM {{table}}"})
    names = {name for name, _ in found.tags}
    assert "script" not in names and "img" not in names and "b" not in names
    assert not any(key.startswith("on") for _, attributes in found.tags for key in attributes)
    assert found.text.count(nasty) > 10


@pytest.mark.slow
def test_the_order_of_the_rows_says_nothing(con: Con, tmp_path: Path) -> None:
    con.execute("CREATE TABLE turned AS FROM patients ORDER BY md5(name)")
    texts, queries = set(), {"n": "SELECT job, count(*) AS n FROM {table} GROUP BY job"}
    for threads, table in ((1, "patients"), (4, "turned"), (2, "patients")):
        con.execute(f"SET threads = {threads}")
        done = kanon_sql.report(table, to=tmp_path / "r.html", con=con, **CALL, show_values=True,
                                queries=queries)
        text = Path(done.path).read_text(encoding="utf-8")
        texts.add(re.sub(r'"sql_sha256[^\n]*|<code>sql_sha256[^\n]*', "", text))
    assert len(texts) == 1


@pytest.mark.slow
def test_a_frame_and_a_file_are_reported(con: Con, tmp_path: Path) -> None:
    frame = con.sql("FROM patients").to_arrow_table()
    con.execute(f"COPY patients TO '{tmp_path / 'p.parquet'}'")
    done = [
        kanon_sql.report(data, tmp_path / f"{i}.html", **CALL)
        for i, data in enumerate((frame, tmp_path / "p.parquet"))
    ]
    assert [each.facts.value("k") for each in done] == [done[0].facts.value("k")] * 2
    assert repr(done[0]).startswith("Report(")


@pytest.mark.slow
def test_a_release_reports_on_itself(con: Con, tmp_path: Path) -> None:
    held = kanon_sql.release("patients", con=con, **CALL)
    own = held.report(tmp_path / "own.html", title="It")
    other = kanon_sql.report("patients", tmp_path / "other.html", con=con, title="It", **CALL)
    one, two = (
        re.sub(r"<code>sql_sha256[^\n]*", "", Path(each.path).read_text(encoding="utf-8"))
        for each in (own, other)
    )
    assert one == two
    con.execute("DELETE FROM patients WHERE age = 27")
    with pytest.raises(kanon_sql.DataError, match="other rows"):
        held.report(tmp_path / "own.html")


@pytest.mark.slow
def test_several_sensitive_columns_have_each_their_own(con: Con, tmp_path: Path) -> None:
    call = {**CALL, "sensitive": ["disease", "job"]}
    report = kanon_sql.report("patients", tmp_path / "r.html", con=con, **call)
    told = metrics(con, **call)
    assert {each.column: each.one_value for each in report.facts.shared} == {
        name: told[f"homogeneous_rows ({name})"] for name in ("disease", "job")
    }
    for each in report.facts.shared:
        assert sum(rows for _, _, rows in each.by_values) == 60
        assert sum(rows for _, _, rows in each.by_share) == 60
        assert sum(classes for _, classes, _ in each.by_values) == told["classes"]
    found = read(report.path)
    assert found.metric("homogeneous_rows (job)") == {told["homogeneous_rows (job)"]}


@pytest.mark.slow
def test_a_part_passes_unchanged_and_is_known(con: Con, tmp_path: Path) -> None:
    con.execute("CREATE TABLE wards AS SELECT *, age % 2 AS ward FROM patients")
    call = {**CALL, "within": ["ward"]}
    report = kanon_sql.report("wards", tmp_path / "r.html", con=con, **call)
    told = metrics(con, "wards", **call)
    assert [column.name for column in report.facts.passing] == ["disease", "ward"]
    assert [column.name for column in report.facts.gone] == ["name"]
    assert sum(classes for _, classes, _ in report.facts.shared[0].by_values) == told["classes"]
    assert report.facts.shared[0].one_value == told["homogeneous_rows"]
    assert report.facts.risk["prosecutor_risk_max"].after == told["prosecutor_risk_max"]
    assert report.facts.risk["prosecutor_risk_mean"].after == told["prosecutor_risk_mean"]
    before = kanon_sql.anonymize_risk(
        "wards", con=con, quasi_identifiers=["age", "zip", "job", "ward"], k=5
    ).to_pydict()
    uniques = dict(zip(before["metric"], before["value"], strict=True))["uniques"]
    assert report.facts.risk["uniques"].before == uniques


@pytest.mark.slow
def test_a_bin_has_k_persons_and_not_only_k_rows(con: Con, tmp_path: Path) -> None:
    con.execute("""
        CREATE TABLE visits AS
        SELECT i % 50 AS person, CASE WHEN i % 50 = 7 THEN 90 ELSE 30 + i % 50 // 10 END AS age,
               i % 3 AS ward, ['Flu', 'Cold'][1 + i % 2] AS disease
        FROM range(400) AS rows(i)""")
    report = kanon_sql.report("visits", tmp_path / "r.html", con=con, k=5, entity="person",
                              sensitive=["disease"], hierarchies={"age": "bins"})
    assert report.facts.unit == 5 * 8
    # the one person of 90 has more than k rows, and no bin of her own
    assert all(bar.before >= 40 for each in report.facts.distributions for bar in each.bars)


@pytest.mark.slow
def test_numbers_of_classes_stand_beside_no_values(con: Con, tmp_path: Path) -> None:
    report = kanon_sql.report("patients", tmp_path / "r.html", con=con, k=20, others="drop",
                              quasi_identifiers=["age"], method="bin_cover",
                              representation="number")
    assert report.facts.distributions == () and report.facts.associations == ()


@pytest.mark.slow
def test_classes_of_the_source_are_told_to_a_multiple_of_k(con: Con, tmp_path: Path) -> None:
    closed = kanon_sql.report("patients", tmp_path / "a.html", con=con, **CALL).facts.sizes
    opened = kanon_sql.report("patients", tmp_path / "b.html", con=con, **CALL,
                              show_values=True).facts.sizes
    assert all(bar.before % 5 == 0 for bar in closed)
    assert sum(bar.before for bar in opened) == sum(bar.after for bar in opened) == 60
    assert [bar.after for bar in closed] == [bar.after for bar in opened]


@pytest.mark.slow
def test_what_is_compared_is_measured_alike(con: Con, tmp_path: Path) -> None:
    compare: list[Any] = ["mdav", {"k": 10}, {"method": "mondrian", "k": 6}, "fold"]
    report = kanon_sql.report("patients", tmp_path / "r.html", con=con, **CALL, compare=compare,
                              show_values=True)
    this, mdav, ten, mondrian, fold = report.facts.alternatives
    assert [each.label for each in (this, mdav, ten, mondrian)] == [
        "this release", "mdav", "k = 10", "mondrian, k = 6"
    ]
    for each, changes in ((this, {}), (mdav, {"method": "mdav"}), (ten, {"k": 10}),
                          (mondrian, {"method": "mondrian", "k": 6})):
        told = metrics(con, **{**CALL, **changes})
        for name in ("k", "ncp_grouping", "information_loss", "prosecutor_risk_mean"):
            assert each.numbers[name] == told.get(name)
    assert this.chosen and not mdav.chosen and mondrian.method == "mondrian"
    # a method of one column says that there are several
    assert fold.refused and not fold.numbers


@pytest.mark.sample(3)
@pytest.mark.parametrize("given, said", [
    ({"to": "/nowhere/report.html"}, "where no file can be"),
    ({"to": ""}, "to is not the name of a file"),
    ({"queries": {"a": "SELECT 1"}}, "where the table goes"),
    ({"queries": [1]}, "a value that is not an SQL string"),
    ({"queries": "SELECT 1"}, "a value that is not an SQL string"),
    ({"compare": "mdav"}, "not a list of methods"),
    ({"title": 3}, "title is an int"),
    ({"methd": "mdav"}, "no option 'methd'"),
])
def test_what_is_no_report_is_refused(
    con: Con, tmp_path: Path, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(kanon_sql.OptionError, match=said):
        kanon_sql.report("patients", **{"to": tmp_path / "r.html", "con": con, **CALL, **given})
    assert not list(tmp_path.iterdir())


def test_a_missing_library_is_told(
    con: Con, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kanon_sql.api.report_wish.find_spec", lambda name: None)
    with pytest.raises(kanon_sql.OptionError, match=r"pip install 'kanon-sql\[report\]'"):
        kanon_sql.report("patients", tmp_path / "r.html", con=con, **CALL)


def heading(found: Page) -> str:
    return " ".join(found.text.split()).split(" rows are released.")[0]


@pytest.mark.slow
def test_the_headline_follows_the_worst_finding(con: Con, tmp_path: Path) -> None:
    """k is kept by all of them: it speaks of the generalized columns alone."""
    assert "✓ Every released row looks like at least" in heading(page(con, tmp_path, **CALL))
    con.execute("CREATE TABLE named AS SELECT *, 'Mrs. ' || zip AS alias FROM patients")
    found = heading(page(
        con, tmp_path, "named", k=5, quasi_identifiers=["age"], identifiers=["name"],
        sensitive=["disease", "alias"], others="drop",
    ))
    assert "✗" in found and "are unique in the unchanged columns" in found
    assert "looks like" not in found and "✓" not in found
    con.execute("CREATE TABLE alike AS SELECT * REPLACE ('Flu' AS disease) FROM patients")
    found = heading(page(con, tmp_path, "alike", **CALL))
    assert "✓" not in found and "! Every released row looks like at least" in found
    assert "in the generalized columns; check the unchanged columns" in found


@pytest.mark.slow
def test_columns_with_a_hierarchy_are_read_at_one_level_on_both_sides(
    con: Con, tmp_path: Path
) -> None:
    con.execute(
        "CREATE TABLE homes AS SELECT (10000 + 1000 * (i % 2) + i * 7 % 100)::VARCHAR AS zip, "
        "CASE WHEN i % 2 = 0 THEN 'town' ELSE 'land' END AS home, i % 7 AS size, "
        "['Flu', 'Cold'][1 + i % 2] AS ill FROM range(300) AS r(i)"
    )
    told = kanon_sql.report(
        "homes", to=tmp_path / "report.html", con=con, k=10, sensitive=["ill"],
        hierarchies={"zip": "prefix"},
    ).facts
    pair = next(each for each in told.associations if {each.first, each.second} == {"zip", "ill"})
    # the values have as much to do with ill as their prefixes: all
    assert pair.before == pytest.approx(1.0, abs=0.02) and pair.after == pytest.approx(1.0)
    bars = next(each for each in told.distributions if each.column == "zip").bars
    assert all(bar.before == pytest.approx(bar.after, abs=10) for bar in bars)


@pytest.mark.slow
def test_what_few_rows_tell_is_not_told(con: Con, tmp_path: Path) -> None:
    """A class of five rows whose value is released, among stars, is no association."""
    con.execute(
        "CREATE TABLE stars AS SELECT CASE WHEN i < 5 THEN 'cook' ELSE 'job ' || i % 40 END "
        "AS job, CASE WHEN i < 5 THEN 'odd' ELSE 'town ' || i % 37 END AS town, i % 3 AS n "
        "FROM range(120) AS r(i)"
    )
    told = kanon_sql.report(
        "stars", to=tmp_path / "report.html", con=con, k=5, quasi_identifiers=["job", "town"],
        sensitive=["n"], representation="suppress",
    ).facts
    (pair,) = (each for each in told.associations if {each.first, each.second} == {"job", "town"})
    assert pair.before is not None and pair.after is None


@pytest.mark.slow
def test_each_notice_is_said_once(tmp_path: Path) -> None:
    """By a process of its own, since notices go to stderr from below Python."""
    (tmp_path / "try.py").write_text(
        "import duckdb, kanon_sql\n"
        "con = kanon_sql.register(duckdb.connect())\n"
        "con.execute(\"CREATE TABLE t AS SELECT 20 + i % 9 AS age, 'd' || i % 3 AS ill, "
        "'mail' || i || '@example.org' AS mail FROM range(80) AS r(i)\")\n"
        "done = kanon_sql.report('t', to='report.html', con=con, k=4, sensitive=['ill'], "
        "compare=['mdav'])\n"
        "print(len(set(done.facts.notices)) == len(done.facts.notices))\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "try.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stderr.count("The column 'mail' looks like an identifier") == 1, done.stderr
    assert done.stdout == "True\n"
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert text.count("looks like an identifier") == 1
