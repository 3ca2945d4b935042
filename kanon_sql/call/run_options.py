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
        "Shows the progress of a long call, if standard error is a terminal or a notebook.",
        type="BOOLEAN",
    )
    show_values: bool = option(
        False, flag,
        "Shows the values concerned in errors about hierarchies, and the rows themselves in "
        "suppressed_rows. Neither is part of a release.",
        type="BOOLEAN", calls=MEASURED_CALLS,
    )
