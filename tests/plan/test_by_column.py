"""Representations by column, and categories whose type has an order."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from kanon_sql.methods import METHODS
from kanon_sql.methods.single_attribute.geometry import AttributeGeometry
from tests.support.connections import registered
from tests.support.queries import refusal_of

Connection = duckdb.DuckDBPyConnection
SHOWN = ("centroid", "median", "interval", "bounds", "suppress")
COLUMNS = ["age", "zip", "job", "day"]

con = registered(
    "CREATE TABLE p AS SELECT i % 7 AS age, 100 + i * i % 5 AS zip, "
    "['a', 'b', 'c'][1 + i % 3] AS job, DATE '2020-01-01' + (i % 9)::INTEGER AS day, "
    "i % 2 AS flu FROM range(40) AS r(i)",
    "CREATE TABLE texts AS SELECT * REPLACE (zip::VARCHAR AS zip) FROM p",
)


def released(
    con: Connection, options: str, table: str = "p", call: str = "anonymize"
) -> dict[str, list[Any]]:
    """What comes out, column by column, in the order of the rows."""
    order = ", keep_order := true" if call == "anonymize" else ""
    if "method" not in options:  # what 'auto' chooses goes by the form of all columns
        order += ", method := 'mdav_star'"
    found = con.execute(
        f"FROM {call}('{table}', k := 4, sensitive := ['flu'], {options}{order})"
    )
    names = [column[0] for column in found.description or ()]
    return dict(zip(names, map(list, zip(*found.fetchall(), strict=True)), strict=True))


def measured(con: Connection, options: str, table: str = "p") -> dict[str, Any]:
    return dict(con.execute(
        f"SELECT metric, value FROM anonymize_metrics('{table}', detail=true, k := 4, sensitive "
        f":= ['flu'], "
        f"{options}) WHERE unit <> 'seconds'"
    ).fetchall())


# --- representations ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("shown", SHOWN)
@pytest.mark.parametrize("column", COLUMNS)
def test_a_column_has_its_representation_and_all_others_theirs(
    con: Connection, column: str, shown: str
) -> None:
    alone = released(con, f"representation := '{shown}'")
    for rest in ("interval", "centroid"):
        whole = released(con, f"representation := '{rest}'")
        for text in (f"{{'{column.upper()}': '{shown}', '*': '{rest}'}}",
                     f"MAP {{'{column}': '{shown}', '*': '{rest}'}}"):
            found = released(con, f"representation := {text}")
            assert list(found) == [*COLUMNS, "flu"]
            for name in COLUMNS:
                assert found[name] == (alone if name == column else whole)[name]
    # without a '*' all others have the method's own
    found = released(con, f"method := 'mondrian', representation := {{'{column}': '{shown}'}}")
    own = released(con, "method := 'mondrian'")
    assert all(found[name] == own[name] for name in COLUMNS if name != column)


@pytest.mark.slow
def test_what_does_not_show_it_doesn_t_change_with_it(con: Connection) -> None:
    """Radii and metrics are of the classes, and don't depend on the order of representations."""
    plain = measured(con, "seed := 0")
    for text in ("{'age': 'rounded'}", "{'day': 'rounded', 'job': 'rounded'}",
                 "{'zip': 'rounded', 'age': 'rounded', 'job': 'rounded', 'day': 'rounded'}"):
        assert measured(con, f"representation := {text}") == plain
        clusters = released(con, f"representation := {text}", call="anonymize_clusters")
        assert clusters == released(con, "seed := 0", call="anonymize_clusters")
    mixed = measured(con, "representation := {'age': 'interval', 'zip': 'bounds'}")
    of_grouping = {n for n in plain if "grouping" in n} | {
        "sse", "max_radius", "classes", "k", "discernibility", "prosecutor_risk_max"
    }
    # of what is no point the mean is measured, exactly
    of_means = measured(con, "representation := {'age': 'centroid', 'zip': 'centroid'}")
    assert {n: mixed[n] for n in of_grouping} == {n: of_means[n] for n in of_grouping}
    assert mixed["ncp (age)"] is not None and plain["ncp (age)"] is None
    assert mixed["sse_released"] is None
    radii = released(con, "representation := {'age': 'interval'}", call="anonymize_clusters")
    exact = released(con, "representation := {'age': 'centroid'}", call="anonymize_clusters")
    assert sorted(radii["radius"]) == sorted(exact["radius"])
    for shown in ("median", "centroid"):
        text = f"{{'age': '{shown}', '*': '{shown}'}}"
        assert measured(con, f"representation := {text}") == measured(
            con, f"representation := '{shown}'"
        )


@pytest.mark.slow
def test_representations_beside_hierarchies(con: Connection) -> None:
    trees = "hierarchies := {'age': 'bins', 'zip': 'prefix'}"
    own, plain = released(con, trees), released(con, f"{trees}, representation := 'centroid'")
    for text, labelled in (
        ("{'age': 'hierarchy'}", ["age", "zip"]), ("{'age': 'centroid'}", ["zip"]),
        ("{'zip': 'hierarchy', '*': 'centroid'}", ["zip"]), ("{'*': 'hierarchy'}", ["age", "zip"]),
        ("{'zip': 'hierarchy', 'age': 'hierarchy', '*': 'centroid'}", ["age", "zip"]),
    ):
        found = released(con, f"{trees}, representation := {text}")
        assert list(found) == [*COLUMNS, "flu"]
        for name in COLUMNS:
            expected = own if name in labelled else plain
            assert found[name] == expected[name], (text, name)


@pytest.mark.parametrize(("shown", "more"), [
    ("{'age': 'interval', 'day': 'bounds', '*': 'centroid'}", ""),
    ("{'age': 'interval', 'zip': 'interval', '*': 'bounds'}", ", categorical := ['zip']"),
])
def test_the_metrics_of_each_column_are_those_of_an_audit(
    con: Connection, shown: str, more: str
) -> None:
    call = f"k := 4, sensitive := ['flu']{more}"
    grouped = f"method := 'mdav_star', representation := {shown}"
    con.execute(f"CREATE OR REPLACE TABLE r AS FROM anonymize('p', {grouped}, {call})")
    audited = dict(con.execute(
        f"SELECT metric, value FROM anonymize_audit('p', release := 'r', {call})"
    ).fetchall())
    metrics = measured(con, f"{grouped}{more}")
    known = {name: value for name, value in audited.items()
             if name.startswith("ncp (") and value is not None}
    assert "ncp (age)" in known
    assert known == {name: pytest.approx(metrics[name]) for name in known}


def test_centers_are_published_where_no_hierarchy_stands_for_them(con: Connection) -> None:
    rows = set(con.execute("SELECT age, zip, job, day FROM p").fetchall())
    found = released(con, "method := 'r_gather', centers := 'rows'")
    assert set(zip(*(found[name] for name in COLUMNS), strict=True)) <= rows
    tree = "hierarchies := {'zip': 'prefix'}, representation := 'hierarchy'"
    found = released(con, f"method := 'r_gather', {tree}")
    assert any("*" in str(label) for label in found["zip"])


def test_the_metrics_tell_them(con: Connection) -> None:
    text = "representation := {'age': 'median', '*': 'interval'}"
    ((told,),) = con.execute(
        f"SELECT text->'representation' FROM anonymize_metrics('p', detail=true, k := 4, {text}) "
        "WHERE metric = 'options'"
    ).fetchall()
    assert told == '{"*":"interval","age":"median"}'


def test_columns_that_only_duckdb_knows(con: Connection) -> None:
    text = "representation := {'age': 'median', '*': 'interval'}, categorical := ['zip']"
    call = f"k := 4, sensitive := ['flu'], {text}, keep_order := true"
    inside = con.execute(f"WITH c AS (FROM p) FROM anonymize('c', {call})").fetchall()
    assert inside == con.execute(f"FROM anonymize('p', {call})").fetchall()
    every = ", ".join(f"'{name}': 'median'" for name in COLUMNS)
    call = f"k := 4, sensitive := ['flu'], representation := {{{every}}}"
    for relation in ("p", "c"):  # none is left for the representation of all others
        query = f"WITH c AS (FROM p) FROM anonymize('{relation}', {call})"
        if relation == "p":
            assert con.execute(query).fetchall() == con.execute(
                "FROM anonymize('p', k := 4, sensitive := ['flu'], representation := 'median')"
            ).fetchall()


WRONG = {
    "representation := {'agee': 'median'}": "representation names the column 'agee', which doesn't "
    "exist. Did you mean 'age'?",
    "representation := {'flu': 'median'}": "representation names the column 'flu', which is not a "
    "quasi-identifier. Name it in quasi_identifiers, or leave it out.",
    "representation := {'age': 'mean'}": "The representation 'mean' is not known. Did you mean "
    "'median'?",
    "representation := {'age': NULL}": "The representation None is not known.",
    "representation := MAP {'age': 'median', 'AGE': 'interval'}": "names the column 'age' twice",
    "representation := {'age': 'number'}": "would release only the number of the class",
    "representation := {'age': 'hierarchy'}": "representation gives the column 'age' 'hierarchy', "
    "and it has none. Add it to hierarchies, or choose another.",
    "representation := {'age': 'median'}, method := 'full_domain'": "Leave representation out.",
    "categorical := ['zipp']": "categorical names the column 'zipp', which doesn't exist. Did "
    "you mean 'zip'?",
    "categorical := ['flu']": "categorical names the column 'flu', which is not a "
    "quasi-identifier.",
    "categorical := ['zip', 'ZIP']": "categorical names the column 'zip' twice.",
    "categorical := 5": "categorical must be a list of column names",
    **{
        f"representation := {{'age': 'median'}}, method := '{name}'":
            f"The method '{name}' publishes a center of each class as a whole. Give one "
            "representation for all columns."
        for name in ("r_gather", "r_cellular")
    },
}


@pytest.mark.sample(8)
@pytest.mark.parametrize("wrong", WRONG)
def test_what_can_not_be_is_refused(con: Connection, wrong: str) -> None:
    for call in ("anonymize", "anonymize_metrics"):
        said = refusal_of(con, f"FROM {call}('p', k := 4, sensitive := ['flu'], {wrong})")
        assert WRONG[wrong] in said


@pytest.mark.parametrize("method", [
    name for name, m in METHODS.items()
    if isinstance(m.geometry(), AttributeGeometry) and m.promises_k
])
def test_methods_of_one_attribute_have_neither(con: Connection, method: str) -> None:
    width = "['age', 'zip']" if method == "gps_rectangles" else "['zip']"
    base = f"k := 4, method := '{method}', quasi_identifiers := {width}, others := 'drop'"
    base += ", adjacency := 'p'" if method == "zip_regions" else ""
    for more, name in (("representation := {'zip': 'interval'}", "representation by column"),
                       ("categorical := ['zip']", "categorical")):
        said = refusal_of(con, f"FROM anonymize('p', {base}, {more})")
        assert f"where {name} has no meaning. Leave it out." in said


# --- categories whose type has an order -----------------------------------------------------------

GENERAL = [
    name for name, m in METHODS.items()
    if m.promises_k and name not in ("optimal_1d", "full_domain")
    and not isinstance(m.geometry(), AttributeGeometry)
]


@pytest.mark.slow
@pytest.mark.parametrize("method", GENERAL)
def test_a_categorical_number_is_grouped_and_measured_as_its_text_is(
    con: Connection, method: str
) -> None:
    k = METHODS[method].only_k or 4
    more = ", refine_steps := 500" if method == "best" else ""
    query = f"k := {k}, sensitive := ['flu'], method := '{method}'{more}"
    for name, order in (("anonymize", ", keep_order := true"), ("anonymize_clusters", "")):
        numbers, texts = (
            con.execute(
                f"SELECT * REPLACE (coalesce(zip::VARCHAR, '*') AS zip) FROM "
                f"{name}('{table}', {query}{order}{given})"
            ).fetchall()
            for table, given in (("p", ", categorical := ['ZIP']"), ("texts", ""))
        )
        if name == "anonymize_clusters":  # their order is by what is published, type and all
            numbers, texts = sorted(map(repr, numbers)), sorted(map(repr, texts))
        assert numbers == texts
    metrics = (
        "SELECT metric, value FROM anonymize_metrics('{}', detail=true, {}) WHERE unit <> "
        "'seconds'"
    )
    assert con.execute(metrics.format("p", f"{query}, categorical := ['zip']")).fetchall() == (
        con.execute(metrics.format("texts", query)).fetchall()
    )


@pytest.mark.slow
def test_each_representation_of_a_categorical_number(con: Connection) -> None:
    for shown, kinds in {
        "centroid": {int}, "median": {int}, "interval": {str}, "bounds": {list},
        "suppress": {int, type(None)},
    }.items():
        found = released(con, f"categorical := ['zip'], representation := '{shown}'")
        assert set(map(type, found["zip"])) <= kinds
        assert list(found) == [*COLUMNS, "flu"]
    values = {100, 101, 104}
    found = released(con, "categorical := ['zip']")
    assert set(found["zip"]) <= values  # a most frequent value, no mean
    members = released(con, "categorical := ['zip'], representation := 'bounds'")["zip"]
    assert {value for each in members for value in each} <= values
    sets = released(con, "categorical := ['zip'], representation := {'zip': 'interval'}")["zip"]
    assert any(text.startswith("{100, ") for text in sets)


def test_dates_and_hierarchies_may_be_categorical_too(con: Connection) -> None:
    found = released(con, "categorical := ['day', 'job'], representation := 'bounds'")
    assert all(isinstance(value, list) for value in found["day"])
    trees = "hierarchies := {'zip': 'bins'}"
    assert released(con, f"categorical := ['zip'], {trees}") == released(con, trees)
    found = released(con, "categorical := ['zip'], method := 'full_domain'")
    assert set(found["zip"]) <= {"100", "101", "104", "*"}  # the kind is 'flat', as of texts


@pytest.mark.sample(1)
@pytest.mark.parametrize("shown", SHOWN)
def test_the_audit_reads_what_is_categorical(con: Connection, shown: str) -> None:
    found = []
    for table, more in (("p", ", categorical := ['zip']"), ("texts", "")):
        con.execute(
            f"CREATE OR REPLACE TABLE r AS FROM anonymize('{table}', k := 4, sensitive := ['flu'], "
            f"representation := '{shown}'{more})"
        )
        found.append(con.execute(
            f"SELECT metric, value FROM anonymize_audit('{table}', release := 'r', k := 4, "
            f"sensitive := ['flu']{more})"
        ).fetchall())
    assert found[0] == found[1]
    assert dict(found[0])["cells_unread"] == 0
    if shown == "interval":
        metrics = measured(con, "categorical := ['zip'], representation := 'interval'")
        audited = dict(found[0])
        for name in ("ncp (zip)", "ncp (job)", "ncp (age)"):
            assert audited[name] == pytest.approx(metrics[name])


def test_an_audit_refuses_what_is_no_quasi_identifier(con: Connection) -> None:
    said = refusal_of(con, "FROM anonymize_audit('p', release := 'p', sensitive := ['flu'], "
                        "categorical := ['flu'])")
    assert said.startswith("categorical names the column 'flu', which is not a quasi-identifier.")
