"""The options about repeated releases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kanon_sql import renamed
from kanon_sql.errors import OptionError, shown
from kanon_sql.option import GROUPING_CALLS, option
from kanon_sql.validators import name_like, one_of, spelled, whole

ATTACKERS = {
    "knows_presence": "an attacker who knows in which releases a person is, so that each person "
    "keeps an anonymity set of k persons who were in the same class in each of them",
    "knows_absence": "an attacker who also knows in which releases the person is not, so that k "
    "persons share each complete history",
}
LEDGER_CALLS = tuple(call for call in GROUPING_CALLS if call != "anonymize_clusters")


def whole_or_auto(name: str, value: Any) -> int | str:
    """A whole number of 0 or more, or 'auto'."""
    if spelled(value, ["auto"]):
        return "auto"
    if isinstance(value, str):
        raise OptionError(
            f"{name} must be 'auto' or a whole number of 0 or more. Got {shown(value)}."
        )
    return whole(0)(name, value)


@dataclass(frozen=True)
class LedgerOptions:
    """What went out before, and against whom it is kept apart."""

    ledger: str | None = option(
        None, name_like("'releases'"),
        "The table that records what earlier releases showed about each person, which this "
        "release continues. Create it by CREATE TABLE releases AS FROM anonymize_ledger(...), and "
        "after each release INSERT INTO releases FROM anonymize_ledger(..., ledger='releases'). "
        "Requires entity.",
        relation=True, calls=LEDGER_CALLS, proven=True,
    )
    attacker: str | None = option(
        None, one_of(ATTACKERS, elsewhere=renamed.VALUES["attacker"]),
        "The attacker that repeated releases protect against: "
        + "; ".join(f"'{name}' is {text}" for name, text in ATTACKERS.items()) + ".",
        default_text="'knows_presence'", calls=LEDGER_CALLS,
    )
    headroom: int | str | None = option(
        None, whole_or_auto,
        "The number of persons above k that a new class gets, so that it survives when some leave. "
        "'auto' chooses it by the churn that the ledger shows.",
        type="INTEGER or 'auto'", default_text="1 with a ledger, else 0", calls=LEDGER_CALLS,
    )
