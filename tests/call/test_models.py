"""What a call asks of every class beside k, and what it is refused for."""

from __future__ import annotations

import json
import multiprocessing
from typing import Any

import duckdb
import pytest

from kanon_sql.call.call import GroupingCall, read_call
from kanon_sql.call.models import secret_seed
from kanon_sql.errors import OptionError
from kanon_sql.methods import CHOICES
from kanon_sql.methods.task import Run
from kanon_sql.privacy import (
    AlphaFrequency,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    PrivacyModel,
    RecursiveDiversity,
)
from tests.support.catalogs import MadeUp
from tests.support.connections import registered

COLUMNS = dict.fromkeys(["age", "zip", "Disease", "salary"])
TWO = {"sensitive": ["Disease", "salary"]}


def read(call: str = "anonymize", **options: Any) -> GroupingCall:
    given = {"k": 3, "sensitive": ["Disease"], **options}
    if call == "k_anonymity":
        del given["k"]
    found = read_call(call, "patients", given, MadeUp({"patients": COLUMNS}))
    assert isinstance(found, GroupingCall) or call == "k_anonymity"
    return found  # type: ignore[return-value]


def models(**options: Any) -> tuple[PrivacyModel, ...]:
    call = read(**options)
    assert call.task.beside_k == call.models
    return call.models


D = {"column": "Disease"}
S = {"column": "salary"}
ASKED: list[tuple[dict[str, Any], tuple[PrivacyModel, ...]]] = [
    ({}, ()),
    ({"l": 3}, (DistinctDiversity(l=3, **D),)),
    ({"l": {"disease": 3.0}}, (DistinctDiversity(l=3, **D),)),
    ({"l": 2.5, "diversity_kind": "Entropy"}, (EntropyDiversity(l=2.5, **D),)),
    ({"l": 3, "diversity_kind": "recursive", "c": 0.5}, (RecursiveDiversity(l=3, c=0.5, **D),)),
    ({"t": 0.2}, (Closeness(t=0.2, **D),)),
    ({"t": 0}, (Closeness(t=0.0, **D),)),
    ({"t": 0.2, "closeness": "ordered", "sensitive_nulls": "value"},
     (Closeness(t=0.2, distance="ordered", nulls="value", **D),)),
    ({"alpha": 0.5}, (AlphaFrequency(alpha=0.5, **D),)),
    ({"alpha": {"DISEASE": 0.5}}, (AlphaFrequency(alpha=0.5, **D),)),
    ({"alpha": {"HIV": 0.1, "Flu": 0.5}},
     (AlphaFrequency(by_value=(("Flu", 0.5), ("HIV", 0.1)), **D),)),
    ({"alpha": {"disease": {"HIV": 0.1, 7: 1}}},
     (AlphaFrequency(by_value=(("7", 1.0), ("HIV", 0.1)), **D),)),
    ({"alpha": 0.1, "sensitive_values": ["HIV"]}, (AlphaFrequency(by_value=(("HIV", 0.1),), **D),)),
    ({"delta": 1.5}, (DeltaDisclosure(delta=1.5, **D),)),
    ({"beta": 2}, (BetaLikeness(beta=2.0, **D),)),
    ({"beta": 2, "beta_kind": "basic"}, (BetaLikeness(beta=2.0, kind="basic", **D),)),
    # by the order of the columns, then of the options
    ({**TWO, "beta": {"disease": 1, "salary": 2}, "t": {"salary": 0.1}, "l": {"salary": 2,
      "disease": 4}, "diversity_kind": {"salary": "entropy"}},
     (DistinctDiversity(l=4, **D), BetaLikeness(beta=1.0, **D), EntropyDiversity(l=2.0, **S),
      Closeness(t=0.1, **S), BetaLikeness(beta=2.0, **S))),
    ({**TWO, "l": {"salary": 2, "disease": 4}, "diversity_kind": {"salary": "recursive"},
      "c": {"salary": 3}},
     (DistinctDiversity(l=4, **D), RecursiveDiversity(l=2, c=3.0, **S))),
    ({**TWO, "l": {"salary": 2, "disease": 4}, "diversity_kind": {"salary": "recursive"}, "c": 3},
     (DistinctDiversity(l=4, **D), RecursiveDiversity(l=2, c=3.0, **S))),
    ({**TWO, "t": {"salary": 0.2, "disease": 0.3}, "closeness": {"salary": "numeric"}},
     (Closeness(t=0.3, **D), Closeness(t=0.2, distance="numeric", **S))),
    ({**TWO, "alpha": {"salary": 0.2, "disease": {"HIV": 0.3}}},
     (AlphaFrequency(by_value=(("HIV", 0.3),), **D), AlphaFrequency(alpha=0.2, **S))),
]


@pytest.mark.parametrize(("options", "expected"), ASKED, ids=lambda case: str(case)[:60])
def test_options_become_models(
    options: dict[str, Any], expected: tuple[PrivacyModel, ...]
) -> None:
    assert models(**options) == expected
    found = read("k_anonymity", **{n: v for n, v in options.items() if n != "sensitive_values"})
    if "sensitive_values" not in options:
        assert found.models == expected


def test_models_reach_the_functions_inside_the_query() -> None:
    for options, expected in ASKED:
        task = read(**options).task
        assert Run.from_json(Run(task).to_json(), CHOICES).task.beside_k == expected


REFUSED: dict[str, dict[str, Any]] = {
    "there is no sensitive column. Name it in sensitive=": {"l": 3, "sensitive": []},
    "l names 'diseases', which is not a sensitive column. Did you mean 'Disease'?":
        {"l": {"diseases": 3}},
    "t names 'age', which is not a sensitive column.": {"t": {"age": 0.3}},
    "c is given without l.": {"c": 3, "t": 0.2},
    "c is given, and diversity_kind is not 'recursive'": {"c": 3, "l": 3},
    "c is given, and diversity_kind of 'disease' is not 'recursive'":
        {**TWO, "l": {"disease": 2, "salary": 2}, "diversity_kind": {"salary": "recursive"},
         "c": {"salary": 3, "disease": 3}},
    "'recursive' needs c": {"l": 3, "diversity_kind": "recursive"},
    "l must be a number from 2 to 1e+09. Got 1.": {"l": 1},
    "l of 'disease' must be a number from 2": {"l": {"disease": True}},
    "l must be a whole number with diversity_kind 'distinct'": {"l": 2.5},
    "l must be a whole number with diversity_kind 'recursive'":
        {"l": 2.5, "diversity_kind": "recursive", "c": 2},
    "t must be a number from 0 to 1": {"t": 1.5},
    "t must be a number from 0 to 1. ": {"t": "0.2"},
    "t may have 6 decimals": {"t": 0.1234567},
    "alpha must be a number above 0 and up to 1. Got 0": {"alpha": 0},
    "alpha of 'HIV' must be a number above 0": {"alpha": {"HIV": 2}},
    "alpha has values within values": {"alpha": {"disease": {"HIV": {"x": 0.1}}}},
    "alpha names 'HIV', which is not a sensitive column": {"alpha": {"HIV": 0.1, "disease": 0.2}},
    "alpha is one number, and there are 2": {**TWO, "alpha": 0.1},
    "alpha bounds the sensitive_values, and there are several":
        {**TWO, "alpha": {"salary": 0.1}, "sensitive_values": ["HIV"]},
    "alpha must give a number for each": {"alpha": {}},
    "delta must be a number above 0": {"delta": 0},
    "delta must be a number above 0 and up to 100. Got 100.5": {"delta": 100.5},
    "c must be a number above 0": {"l": 3, "diversity_kind": "recursive", "c": 0},
    "beta must be a number above 0": {"beta": -1},
    "closeness is given without t": {"closeness": "equal", "l": 3},
    "The closeness 'euclidean' is not known": {"closeness": "euclidean", "t": 0.2},
    "diversity_kind is given without l": {"diversity_kind": "entropy"},
    "diversity_kind names the column 'salary', which has no l":
        {**TWO, "l": {"disease": 2}, "diversity_kind": {"salary": "entropy"}},
    "beta_kind is given without beta": {"beta_kind": "basic"},
    "The sensitive_nulls 'bad' is not known": {"l": 3, "sensitive_nulls": "bad"},
    "sensitive_nulls is given, and k is the only requirement": {"sensitive_nulls": "value"},
    "sensitive_values is given, and there is no sensitive column":
        {"sensitive_values": ["HIV"], "sensitive": []},
    "l is one number, and there are 2 sensitive columns: 'Disease', 'salary'. Name the column, "
    "for example l := {'Disease': 3}.": {**TWO, "l": 3},
    "l names no column": {"l": {}},
    "l names the column 'disease' twice": {"l": {"disease": 2, "DISEASE": 3}},
    "alpha names a column twice": {"alpha": {"disease": 0.2, "DISEASE": 0.3}},
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_cannot_be_is_refused(said: str) -> None:
    with pytest.raises(OptionError) as caught:
        read(**REFUSED[said])
    assert said in str(caught.value)


# --- the seed ---------------------------------------------------------------------------------


def test_a_model_draws_one_seed_for_all_calls_of_a_process() -> None:
    assert read().task.seed == 0
    drawn = read(l=2).task.seed
    assert drawn == secret_seed() == read("anonymize_metrics", t=0.2).task.seed
    assert 0 <= drawn < 2**63
    assert read(l=2, seed=7).task.seed == 7
    assert read(l=2, seed=0).task.seed == 0


def _tell(pipe: Any) -> None:
    pipe.send(secret_seed())


def test_a_fork_draws_anew() -> None:
    drawn = secret_seed()
    forks = multiprocessing.get_context("fork")
    here, there = forks.Pipe()
    process = forks.Process(target=_tell, args=(there,))
    process.start()
    told = here.recv()
    process.join()
    assert told != drawn == secret_seed()


con = registered(
    "CREATE TABLE patients AS SELECT i % 7 AS age, i % 5 AS zip, 'd' || i % 3 AS disease, "
    "i % 4 AS salary FROM range(60) AS r(i)",
)


@pytest.mark.parametrize("given", ["", ", seed=77"])
def test_no_metric_shows_the_seed_of_a_call_with_a_model(
    con: duckdb.DuckDBPyConnection, given: str
) -> None:
    plain, with_model = (
        read("anonymize_metrics", **options, **({"seed": 77} if given else {})).used
        for options in ({}, {"l": 2})
    )
    assert plain["seed"] == (77 if given else 0)
    assert with_model["seed"] is None
    assert "l" not in plain and with_model["l"] == 2
    assert str(secret_seed()) not in json.dumps(with_model, default=str)


def test_positional_and_named_arguments_are_read_alike(con: duckdb.DuckDBPyConnection) -> None:
    pairs = [
        ("l={'disease': 3}", "l := {'disease': 3}"),
        ("t=0.2", "t := 0.2"),
        ("alpha=MAP {'d1': 0.5}", "alpha := MAP {'d1': 0.5}"),
        ("alpha={'disease': MAP {'d1': 0.5}}", "alpha := {'disease': MAP {'d1': 0.5}}"),
    ]
    for first, second in pairs:
        texts = [
            con.execute(
                f"FROM anonymize_sql('patients', k=3, seed=1, sensitive=['disease'], {given})"
            ).fetchall()
            for given in (first, second)
        ]
        assert texts[0] == texts[1]


# --- hierarchies ------------------------------------------------------------------------------


def test_a_hierarchy_of_a_sensitive_column_generalizes_nothing() -> None:
    given = {"Disease": "flat", "zip": "prefix"}
    call = read(l=2, hierarchies=given, method="mondrian")
    assert [spec.column for spec in call.hierarchies] == ["zip"]
    assert [spec.column for spec in call.of_sensitive] == ["Disease"]
    assert call.used["hierarchies"] == {"zip": "prefix", "Disease": "flat"}
    assert read(t=0.2, closeness="hierarchy", hierarchies={"disease": "flat"}).of_sensitive
    # methods of one attribute take none of quasi-identifiers
    one = read(
        t=0.2, hierarchies={"disease": "flat"}, method="ordered", quasi_identifiers=["age"],
        others="drop",
    )
    assert one.of_sensitive and not one.hierarchies


@pytest.mark.parametrize(("options", "said"), [
    ({"l": 2, "hierarchies": {"diseases": "flat"}}, "'diseases', which is not a quasi-identifier"),
    ({"alpha": 0.5, "hierarchies": {"disease": "flat"}}, "'disease', and no l or t uses it"),
    ({"hierarchies": {"disease": "flat"}}, "'disease', which is not a quasi-identifier"),
    ({"t": 0.5, "closeness": "equal", "hierarchies": {"disease": "flat"}}, "no l or t uses it"),
    ({"t": 0.5, "closeness": "hierarchy"}, "needs a hierarchy of the column 'Disease'"),
    ({**TWO, "t": {"salary": 0.5}, "closeness": "hierarchy", "l": {"disease": 2},
      "hierarchies": {"disease": "flat"}}, "needs a hierarchy of the column 'salary'"),
])
def test_a_hierarchy_that_no_model_goes_by_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        read(**options)
