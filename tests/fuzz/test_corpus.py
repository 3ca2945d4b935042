"""Cases that once failed, in the package or in the judge; and whether all options are drawn."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from kanon_sql.call.options import OPTIONS
from tests.fuzz import models
from tests.fuzz.case import Case, Column
from tests.fuzz.door import open_connection
from tests.fuzz.draw import case_of
from tests.fuzz.judge import judged
from tests.fuzz.models import Values
from tests.fuzz.options import DRAWERS, ELSEWHERE
from tests.fuzz.oracle import Release, refusal_fault

CORPUS = sorted(Path(__file__).parent.joinpath("corpus").glob("*.json"))


@pytest.mark.slow
@pytest.mark.parametrize("path", CORPUS, ids=[path.stem for path in CORPUS])
def test_a_case_that_once_failed_is_right(path: Path) -> None:
    with open_connection() as con:
        assert judged(con, Case.of(path)).faults == ()


def test_every_option_of_a_release_is_drawn() -> None:
    asked = {name for name, option in OPTIONS.items() if "anonymize" in option.calls}
    assert asked == set(DRAWERS) | set(ELSEWHERE)
    assert not set(DRAWERS) & set(ELSEWHERE)


def test_a_seed_gives_the_same_case_again() -> None:
    doors = ("query", "files")
    assert [case_of(seed, doors).text() for seed in range(40)] == [
        case_of(seed, doors).text() for seed in range(40)
    ]


def released(rows: str, **options: object) -> list[str]:
    """What the oracle says of a release of six people, given as VALUES (age, ill)."""
    case = Case((
        Column("age", "INTEGER", ("30", "31", "32", "50", "51", "52")),
        Column("ill", "VARCHAR", ("a", "b", "a", "a", "b", "b")),
        Column("name", "VARCHAR", ("u", "v", "w", "x", "y", "z")),
    ), {"k": 3, "quasi_identifiers": ["age"], "sensitive": ["ill"], "identifiers": ["name"],
        **options})
    with duckdb.connect() as con:
        con.execute("CREATE TABLE t AS FROM (VALUES (30, 'a', 'u'), (31, 'b', 'v'), (32, 'a', 'w'),"
                    " (50, 'a', 'x'), (51, 'b', 'y'), (52, 'b', 'z')) AS t(age, ill, name)")
        con.execute(f"CREATE TABLE r AS FROM (VALUES {rows}) AS t(age, ill)")
        return list(Release(con, case, "r").faults())


RIGHT = "(31, 'a'), (31, 'b'), (31, 'a'), (51, 'a'), (51, 'b'), (51, 'b')"


def test_the_oracle_tells_a_broken_release_from_a_right_one() -> None:
    assert released(RIGHT) == []
    assert "a class has 1 rows" in released(RIGHT.replace("51", "52", 1))[0]
    assert "rows are left out" in released(RIGHT.rpartition(", (")[0], k=2)[0]
    assert "came out that did not come in" in released(RIGHT.replace("'b'", "'a'", 1))[0]
    assert "the column 'name' came out" in released(RIGHT, identifiers=["ill"], sensitive=["name"],
                                                    )[0].replace("'ill'", "'name'")
    assert "more than 0.3 allows" in released(RIGHT, max_average_risk=0.3)[0]


def test_the_oracle_knows_refusals_that_no_user_should_read() -> None:
    case = Case((Column("age", "VARCHAR", ("Meier-Zqx",)),), {"k": 2})
    assert refusal_fault(case, "OptionError", "k is not given. Give it.", True) is None
    for said in ("k is not given", "Zeile 1.\nZeile 2.", "NoneType has no len.",
                 "The value Meier-Zqx is odd. Drop it.", "__kanon_rows is missing. Add it."):
        assert refusal_fault(case, "OptionError", said, True), said
    assert refusal_fault(case, "KeyError", "k is not given. Give it.", False)


def test_the_oracle_computes_models_by_hand() -> None:
    whole = Values(("a", "a", "b", "b", "c", "c"), {})
    own = Values(("a", "a", "b"), {})
    assert not models.l_broken(own, 2, "distinct", None, "worst")
    assert models.l_broken(own, 3, "distinct", None, "worst")
    assert models.l_broken(own, 2, "entropy", None, "worst")
    assert models.l_broken(own, 2, "recursive", 2, "worst")
    assert not models.l_broken(own, 2, "recursive", 2.1, "worst")
    assert models.alpha_broken(own, 0.66, (), "worst")
    assert not models.alpha_broken(own, 0.67, (), "worst")
    assert models.t_broken(own, whole, 0.33, "equal", "worst")
    assert not models.t_broken(own, whole, 0.34, "equal", "worst")
    assert models.delta_broken(own, whole, 10)
    assert models.beta_broken(own, whole, 0.99, "basic")
    assert not models.beta_broken(own, whole, 1, "basic")
