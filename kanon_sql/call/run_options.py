"""The options about running a call, which change nothing in a release."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_sql.option import MEASURED_CALLS, option
from kanon_sql.validators import flag


@dataclass(frozen=True)
class RunOptions:
    """What is shown while a call runs, and when it is refused."""

    progress: bool = option(
        True, flag,
        "Shows how far a long call is, if the standard error stream is a terminal or a notebook's.",
        type="BOOLEAN",
    )
    show_values: bool = option(
        False, flag,
        "Errors about hierarchies show the values concerned, and suppressed_rows the "
        "suppressed rows. Never part of a release.",
        type="BOOLEAN", calls=MEASURED_CALLS,
    )
