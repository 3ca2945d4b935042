"""The example project of dbt, built by dbt itself, and what users do to one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from tests.support.dbt_projects import Result, dbt, needs_dbt, project

pytestmark = [pytest.mark.slow, needs_dbt]

QUASI = "age, sex, race, marital_status, education, workclass"
SMALLEST = f"SELECT min(n) FROM (SELECT count(*) AS n FROM {{}} GROUP BY {QUASI})"


def ask(folder: Path, query: str) -> list[tuple[object, ...]]:
    with duckdb.connect(str(folder / "adult.duckdb"), read_only=True) as con:
        return con.execute(query).fetchall()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Result]]:
    folder = project(tmp_path_factory.mktemp("dbt") / "example")
    yield folder, dbt(folder, "build")


def test_everything_is_built_and_passes(built: tuple[Path, Result]) -> None:
    _, result = built
    assert result.status == {
        "people": "success", "released": "success", "monthly": "success",
        "kanon_sql_k_anonymous_released_5": "pass", "kanon_sql_no_identifier_released_": "pass",
        "kanon_sql_l_diverse_released_occupation__2": "pass",
        "kanon_sql_t_close_released_salary_class__0_5": "pass", "ledger_keeps_k": "pass",
    }, result.said
    assert "Deprecat" not in result.said


def test_the_release_is_what_was_asked_for(built: tuple[Path, Result]) -> None:
    folder, _ = built
    assert ask(folder, "SELECT count(*) FROM released") == [(1500,)]
    ((smallest,),) = ask(folder, SMALLEST.format("released"))
    assert isinstance(smallest, int) and smallest >= 5
    columns = ask(folder, "SELECT column_name, column_type FROM (DESCRIBE released)")
    assert ("age", "INTEGER") in columns and "id" not in dict(columns)
    ((diverse,),) = ask(
        folder, "SELECT min(n) FROM (SELECT count(DISTINCT occupation) AS n FROM released "
        f"GROUP BY {QUASI})"
    )
    assert isinstance(diverse, int) and diverse >= 2


def test_nothing_of_ours_is_in_the_database(built: tuple[Path, Result]) -> None:
    folder, _ = built
    assert ask(folder, "SELECT count(*) FROM duckdb_functions() WHERE NOT internal") == [(0,)]
    names = ask(folder, "SELECT table_name FROM duckdb_tables() ORDER BY ALL")
    assert names == [("monthly",), ("monthly_ledger",), ("people",), ("released",)]


def test_next_month(built: tuple[Path, Result]) -> None:
    """Some left, some came; each run is a release, entered in the ledger."""
    folder, _ = built
    before = ask(folder, "SELECT max(release) FROM monthly_ledger")
    seed = folder / "seeds" / "people.csv"
    header, *rows = seed.read_text(encoding="utf-8").splitlines()
    newcomers = [
        ",".join([str(2000 + i), *row.split(",")[1:]]) for i, row in enumerate(rows[100:200])
    ]
    seed.write_text("\n".join([header, *rows[20:], *newcomers]) + "\n", encoding="utf-8")
    again = dbt(folder, "build", "--exclude", "released")
    assert set(again.status.values()) <= {"success", "pass"}, again.said
    assert again.status["ledger_keeps_k"] == "pass"
    assert before == [(1,)]
    each = ask(folder, "SELECT release, count(*) FROM monthly GROUP BY ALL ORDER BY ALL")
    entered = ask(folder, "SELECT release, count(*) FROM monthly_ledger GROUP BY ALL ORDER BY ALL")
    assert each == entered and [number for number, _ in each] == [1, 2]
    for number in (1, 2):
        ((smallest,),) = ask(
            folder, SMALLEST.format(f"(FROM monthly WHERE release = {number})")
        )
        assert isinstance(smallest, int) and smallest >= 5


FAILING_HOOK = """
{{ config(materialized='incremental', incremental_strategy='append',
          meta={'kanon': {'k': 5, 'entity': 'id'}},
          post_hook=["{{ kanon_sql.enter_release(ref('people')) }}",
                     "select error('the disk is full')"]) }}
select * from {{ kanon_sql.next_release(ref('people')) }}
"""

MODELS = {
    "too_large.sql": "select * from anonymize('{{ ref(\"people\") }}', k=99999)",
    "misspelt.sql": "select * from anonymize('{{ ref(\"people\") }}', k=5, methud='mdav')",
    "failing_hook.sql": FAILING_HOOK,
    "without_options.sql": "select * from {{ kanon_sql.next_release(ref('people')) }}",
    "roles_of_visits.sql": "{{ kanon_sql.roles_of(ref('visits')) }}",
    "roles_of_source.sql": "{{ kanon_sql.roles_of(source('raw', 'stays')) }}",
    "roles_of_nothing.sql": "{{ kanon_sql.roles_of(ref('monthly')) }}",
    "visits.sql": "select id, age, sex, occupation, 1 as one from {{ ref('people') }}",
    "visits_released.sql": "select * from anonymize('{{ ref(\"visits\") }}', k=7, "
                           "roles='{{ ref(\"roles_of_visits\") }}')",
    "as_view.sql": "{{ config(materialized='view') }} "
                   "select * from kanon.anonymize('{{ ref(\"people\") }}', k=5)",
    "of_view.sql": "select count(*) as n from {{ ref('as_view') }}",
    "in_python.py": "def model(dbt, session):\n"
                    "    people = dbt.ref('people')\n"
                    "    return session.sql(\"SELECT * FROM anonymize('people', k=5)\")\n",
} | {
    f"thread_{i}.sql": f"select * from anonymize('{{{{ ref(\"people\") }}}}', k={i})"
    for i in range(3, 9)
}

SCHEMA = """
sources:
  - name: raw
    tables:
      - name: stays
        columns:
          - {name: zip, config: {meta: {kanon: qi}}}
models:
  - name: visits
    columns:
      - {name: id, config: {meta: {kanon: identifier}}}
      - name: age
        config:
          meta: {kanon: {role: quasi-identifier, hierarchy: {kind: bins, width: 10}}}
      - name: sex
        config:
          meta: {kanon: {role: quasi_identifier, representation: median, column_weight: 2}}
      - {name: occupation, config: {meta: {kanon: sensitive}}}
      - {name: one, config: {meta: {kanon: other}}}
    data_tests:
      - kanon_sql.k_anonymous: {name: visits_has_k, arguments: {k: 2}}
      - kanon_sql.k_anonymous:
          name: visits_of_persons
          arguments: {k: 2, quasi_identifiers: [one], entity: occupation}
      - kanon_sql.k_anonymous:
          name: visits_of_more_persons
          arguments: {k: 1000, quasi_identifiers: [one], entity: occupation}
      - kanon_sql.no_identifier: {name: visits_has_none}
      - kanon_sql.no_identifier: {name: visits_id_is_allowed, arguments: {allowed: [ID]}}
  - name: visits_released
    data_tests:
      - kanon_sql.k_anonymous: {name: k_of_7, arguments: {k: 7, quasi_identifiers: [age, sex]}}
      - kanon_sql.k_anonymous:
          name: k_of_9999
          arguments: {k: 9999, quasi_identifiers: [age, sex]}
      - kanon_sql.l_diverse:
          name: l_of_2
          arguments: {l: 2, sensitive: occupation, quasi_identifiers: [age, sex]}
      - kanon_sql.l_diverse:
          name: l_of_50
          arguments: {l: 50, sensitive: [occupation], quasi_identifiers: [age, sex]}
      - kanon_sql.t_close:
          name: t_of_0
          arguments: {t: 0.001, sensitive: occupation, quasi_identifiers: [age, sex]}
      - kanon_sql.k_anonymous:
          name: with_where
          arguments: {k: 7}
          config: {where: "age is not null"}
      - kanon_sql.l_diverse:
          name: misspelt_column
          arguments: {l: 2, sensitive: ocupation, quasi_identifiers: [age, sex]}
"""


@pytest.fixture(scope="module")
def more(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    folder = project(tmp_path_factory.mktemp("dbt") / "more")
    for name, text in MODELS.items():
        (folder / "models" / name).write_text(text, encoding="utf-8")
    (folder / "models" / "more.yml").write_text(SCHEMA, encoding="utf-8")
    ran = dbt(folder, "build", "--exclude", "resource_type:test")
    tested = dbt(folder, "test")
    return folder, Result(
        ran.status | tested.status, ran.message | tested.message, ran.said + tested.said
    )


def test_the_tests_find_what_they_are_for(more: tuple[Path, Result]) -> None:
    _, result = more
    expected = {
        "visits_has_k": "fail", "visits_of_persons": "pass", "visits_of_more_persons": "fail",
        "visits_has_none": "fail", "visits_id_is_allowed": "fail",
        "k_of_7": "pass", "k_of_9999": "fail", "l_of_2": "pass", "l_of_50": "fail",
        "t_of_0": "fail", "with_where": "error", "misspelt_column": "error",
    }
    assert {name: result.status.get(name) for name in expected} == expected, result.said


def test_every_refusal_is_our_sentence(more: tuple[Path, Result]) -> None:
    _, result = more
    for name, said in {
        "too_large": "There are 1500 persons to anonymize, fewer than k = 99999.",
        "misspelt": "anonymize has no option 'methud'. Did you mean 'method'?",
        "without_options": "says nothing of its release. Give it a config such as",
        "roles_of_nothing": "has a role in its meta. Write for example",
        "with_where": "kanon_sql tests a whole relation",
        "misspelt_column": "sensitive names the column 'ocupation', which doesn't exist.",
    }.items():
        assert result.status[name] == "error"
        assert said in result.message[name]
    assert "Traceback" not in result.said


def test_roles_come_from_meta(more: tuple[Path, Result]) -> None:
    folder, _ = more
    assert ask(folder, "FROM roles_of_visits") == [
        ("id", "identifier", None, None, None),
        ("age", "quasi-identifier", '{"kind": "bins", "width": 10}', None, None),
        ("sex", "quasi_identifier", None, "median", 2.0),
        ("occupation", "sensitive", None, None, None),
        ("one", "other", None, None, None),
    ]
    assert ask(folder, "FROM roles_of_source") == [("zip", "qi", None, None, None)]
    columns = ask(folder, "SELECT column_name, column_type FROM (DESCRIBE visits_released)")
    assert columns == [("age", "VARCHAR"), ("sex", "VARCHAR"), ("occupation", "VARCHAR"),
                       ("one", "INTEGER")]


def test_models_of_every_thread_and_kind(more: tuple[Path, Result]) -> None:
    folder, result = more
    for k in range(3, 9):
        assert result.status[f"thread_{k}"] == "success", result.said
        ((smallest,),) = ask(folder, SMALLEST.format(f"thread_{k}"))
        assert isinstance(smallest, int) and smallest >= k
    assert result.status["in_python"] == result.status["as_view"] == "success", result.said
    assert ask(folder, "FROM of_view") == [(1500,)]
    assert ask(folder, "SELECT count(*) FROM in_python") == [(1500,)]


def test_a_release_and_its_entry_are_there_or_neither_is(more: tuple[Path, Result]) -> None:
    folder, result = more
    assert result.status["failing_hook"] == "error"
    names = [name for (name,) in ask(folder, "SELECT table_name FROM duckdb_tables()")]
    assert "monthly_ledger" in names
    assert not [name for name in names if name.startswith("failing_hook")]
