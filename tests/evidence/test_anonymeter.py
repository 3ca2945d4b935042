"""The same attacks by Anonymeter (Giomi et al. 2023), on the same tables: rates that agree within
their intervals. It needs a NumPy of its own: ``pip install . pytest anonymeter``."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np
import pytest

import kanon_sql
from kanon_sql.attacks.cells import profiles_of
from kanon_sql.attacks.facts import Rate
from kanon_sql.attacks.inference import inference
from kanon_sql.attacks.rates import rate_of
from kanon_sql.data import adult

evaluators = pytest.importorskip("anonymeter.evaluators", reason="Anonymeter isn't installed")

pytestmark = pytest.mark.slow

QUASI = ["age", "sex", "race", "marital-status", "education", "native-country", "workclass"]
SECRET = ["occupation", "salary-class"]
MANY = 1500
CALL: dict[str, Any] = {"quasi_identifiers": QUASI, "sensitive": SECRET}


@pytest.fixture(scope="module", params=[1, 5, 20], ids=lambda k: f"k={k}")
def tables(request: pytest.FixtureRequest) -> duckdb.DuckDBPyConnection:
    """Two halves of Adult, each row once as Anonymeter looks at them, and a release of one: raw
    rows where k is 1."""
    con = kanon_sql.register(duckdb.connect())
    con.execute("CREATE TABLE adult AS SELECT DISTINCT * FROM read_parquet(?)", [adult()])
    for side, table in enumerate(("inside", "outside")):
        con.execute(
            f"CREATE TABLE {table} AS SELECT * EXCLUDE (n) FROM (SELECT *, row_number() OVER "
            f"(ORDER BY md5(adult::VARCHAR)) n FROM adult) WHERE n % 2 = {side}"
        )
    if request.param == 1:
        con.execute("CREATE TABLE released AS FROM inside")
    else:
        con.execute(
            f"CREATE TABLE released AS FROM anonymize('inside', k := {request.param}, "
            f"quasi_identifiers := {QUASI}, sensitive := {SECRET})"
        )
    return con


@pytest.fixture(scope="module")
def ours(tables: duckdb.DuckDBPyConnection) -> Any:
    return kanon_sql.evidence(
        "inside", released="released", control="outside", attacks=MANY, con=tables, **CALL
    )


def overlap(own: Rate, theirs: Any) -> bool:
    """Whether two intervals have something in common."""
    return own.low <= theirs.value + theirs.error and theirs.value - theirs.error <= own.high


def rates(evaluator: Any) -> Iterator[Any]:
    """The success of an attack, on people inside and outside."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an attack that does no better than a guess is one, too
        results = evaluator.evaluate(n_jobs=1).results()
    yield results.attack_rate
    yield results.control_rate


@pytest.mark.parametrize("columns", [
    (QUASI[:4], QUASI[4:]), (QUASI[::2], QUASI[1::2])
], ids=["halves", "alternating"])
def test_linkability(tables: Any, ours: Any, columns: Any) -> None:
    found = ours.attack("linkability").variants[columns[0] == QUASI[::2]]
    # each class once, as a class is what two files are linked by
    names = ", ".join(f'"{name}"' for name in QUASI)
    shown = tables.sql(f"SELECT DISTINCT {names} FROM released ORDER BY ALL").df()
    np.random.seed(1)
    theirs = rates(evaluators.LinkabilityEvaluator(
        ori=tables.sql("FROM inside").df()[QUASI], syn=shown,
        control=tables.sql("FROM outside").df()[QUASI], aux_cols=columns, n_attacks=MANY,
        n_neighbors=1,
    ))
    assert overlap(found.rate, next(theirs))
    assert overlap(found.control, next(theirs))


@pytest.mark.parametrize("secret", SECRET)
def test_inference(tables: Any, ours: Any, secret: str) -> None:
    """Of the value of one row of the nearest class, as Anonymeter guesses; our attacker, who
    guesses the most frequent value, is right as often or more."""
    from kanon_sql.api.evidence import EvidenceRequest, attacked_release
    from kanon_sql.duckdb.session import Session, relation_and_options

    with Session(tables) as session:
        source, held = relation_and_options(session, "inside", CALL)
        release, _, _ = attacked_release(
            session, source, held, EvidenceRequest("released", "outside", MANY)
        )
    outcomes = {
        each.label: each for each in inference(
            release, profiles_of(release.known), likeliest=False
        )
    }
    drawn = outcomes[secret]
    np.random.seed(1)
    theirs = rates(evaluators.InferenceEvaluator(
        ori=tables.sql("FROM inside").df(), syn=tables.sql("FROM released ORDER BY random()").df(),
        control=tables.sql("FROM outside").df(), aux_cols=QUASI, secret=secret, n_attacks=MANY,
    ))
    assert overlap(rate_of(drawn.successes, drawn.attacks), next(theirs))
    assert overlap(rate_of(drawn.successes_outside, drawn.attacks_outside), next(theirs))
    likeliest = next(v for v in ours.attack("inference").variants if v.label == secret)
    assert likeliest.rate.value >= drawn.successes / drawn.attacks - 1e-9


def test_singling_out(tables: Any, ours: Any) -> None:
    found = next(v for v in ours.attack("singling_out").variants if v.label == "3 columns")
    columns = [*QUASI, *SECRET]
    evaluator = evaluators.SinglingOutEvaluator(
        ori=tables.sql("FROM inside").df()[columns], syn=tables.sql("FROM released").df()[columns],
        control=tables.sql("FROM outside").df()[columns], n_attacks=found.attacks, n_cols=3,
        seed=1, max_attempts=60_000,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = evaluator.evaluate("multivariate").results()
    assert overlap(found.rate, results.attack_rate)
    assert overlap(found.control, results.control_rate)
