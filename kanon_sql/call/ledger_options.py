"""The options about repeated releases."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_sql import renamed
from kanon_sql.option import GROUPING_CALLS, option
from kanon_sql.validators import name_like, one_of, whole

ATTACKERS = {
    "knows_presence": "an attacker who knows in which releases a person was: everyone stays in an "
    "anonymity set of k who were in the same class in each of them",
    "knows_absence": "one who also knows in which the person wasn't: everyone shares the whole "
    "history with k",
}
LEDGER_CALLS = tuple(call for call in GROUPING_CALLS if call != "anonymize_clusters")


@dataclass(frozen=True)
class LedgerOptions:
    """What went out before, and against whom it is kept apart."""

    ledger: str | None = option(
        None, name_like("'releases'"),
        "The table that says what each earlier release showed of whom, from which this one goes "
        "on: made by CREATE TABLE releases AS FROM anonymize_ledger(...), and after each release "
        "INSERT INTO releases FROM anonymize_ledger(..., ledger='releases'). Needs entity.",
        relation=True, calls=LEDGER_CALLS,
    )
    attacker: str | None = option(
        None, one_of(ATTACKERS, elsewhere=renamed.VALUES["attacker"]),
        "Whom repeated releases are kept from: "
        + "; ".join(f"'{name}' is {text}" for name, text in ATTACKERS.items()) + ".",
        default_text="'knows_presence'", calls=LEDGER_CALLS,
    )
    headroom: int | None = option(
        None, whole(0),
        "How many persons above k new classes get, so that a class outlives some who leave.",
        type="INTEGER", default_text="1 with a ledger, else 0", calls=LEDGER_CALLS,
    )
