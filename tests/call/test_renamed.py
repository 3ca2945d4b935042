"""Old names are refused everywhere, with the new one in the sentence."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

import kanon_sql
from kanon_sql import renamed
from kanon_sql.call.options import OPTIONS
from kanon_sql.measure.audit_metrics import AUDIT
from kanon_sql.measure.ledger_metrics import LEDGER, OF_HEADROOM
from kanon_sql.measure.metrics import DIVERSITY, METRICS, VERBATIM
from kanon_sql.measure.model_metrics import OF_MODELS
from kanon_sql.measure.person_metrics import PERSONS
from kanon_sql.measure.risk_metrics import RISK
from tests.support.connections import registered
from tests.support.queries import refusal_of
from tests.support.shell import Shell

con = registered("CREATE TABLE t AS SELECT i % 7 AS age, i % 3 AS pay FROM range(60) AS r(i)")

COLUMNS = {"k_requested", "presence_anonymity_set_min", "absence_anonymity_set_min"}
"""Of k_anonymity and ledger_check."""


def said_of(name: str) -> str:
    return f"It is now {renamed.OPTIONS[name]!r}" if name in renamed.OPTIONS else renamed.GONE[name]


@pytest.mark.parametrize("name", [*renamed.OPTIONS, *renamed.GONE])
def test_an_old_option_is_refused_with_the_new_one(
    con: duckdb.DuckDBPyConnection, name: str, shell: Shell
) -> None:
    assert name not in OPTIONS and renamed.OPTIONS.get(name, "k") in OPTIONS
    said = said_of(name)
    assert said in refusal_of(con, f"FROM anonymize('t', k := 3, {name} := 'x')")
    assert said in refusal_of(con, f"FROM anonymize('t', k=3, {name}='x')")
    with pytest.raises(kanon_sql.OptionError, match=re.escape(said)):
        kanon_sql.anonymize("t", con=con, k=3, **{name: "x"})
    flag = "--" + renamed.OPTIONS[name].replace("_", "-") if name in renamed.OPTIONS else said
    con.execute("COPY t TO 't.parquet'")
    assert shell("anonymize", "t.parquet", "-k", "3", f"--{name}", "x", "-o", "o.csv") == 2
    assert flag in shell.err and not Path("o.csv").exists()
    Path("kanon.toml").write_text(
        "[tables.t]\ninput = 't.parquet'\noutput = 'o.csv'\n"
        f"[tables.t.options]\nk = 3\n{name} = 'x'\n"
    )
    assert shell("run") == 2 and not Path("o.csv").exists()
    assert shell.err.startswith("kanon: kanon.toml, line 6: ")
    assert re.sub(r"\b=\b|\b=(?=')", " = ", said) in shell.err


@pytest.mark.parametrize(
    ("option", "old"), [(name, old) for name, words in renamed.VALUES.items() for old in words]
)
def test_an_old_word_is_refused_with_the_new_one(
    con: duckdb.DuckDBPyConnection, option: str, old: str
) -> None:
    more = ", entity := 'pay', headroom := 1" if option == "attacker" else ""
    said = refusal_of(con, f"FROM anonymize('t', k := 3, {option} := '{old}'{more})")
    assert f"Did you mean {renamed.VALUES[option][old]!r}?" in said


def test_an_old_call_says_the_new_one(con: duckdb.DuckDBPyConnection) -> None:
    for old, new in renamed.CALLS.items():
        for written in (f"{old}('t', k=3)", f"{old}('t', k := 3, seed := 1)"):
            assert refusal_of(con, f"FROM {written}") == f"{old!r} is now {new!r}."
        with pytest.raises(AttributeError, match=f"is now '{new}'"):
            getattr(kanon_sql, old)


def test_every_new_name_of_a_metric_is_one() -> None:
    known = {
        metric.name for metric in (*METRICS, *AUDIT, *DIVERSITY, VERBATIM, *OF_MODELS, *PERSONS,
                                   *LEDGER, *OF_HEADROOM, *RISK)
    } | COLUMNS
    assert set(renamed.METRICS.values()) <= known
    assert not set(renamed.METRICS) & (known - {"rows"})
