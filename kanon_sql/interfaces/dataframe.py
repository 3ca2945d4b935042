"""The Python face: the same query, over a frame or a file in place of a table."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from kanon_sql.call.options import OPTIONS
from kanon_sql.interfaces.session import run


def _face(call: str, promise: str) -> Callable[..., Any]:
    """A Python function for one SQL call, documented from the registry."""
    taken = [option for option in OPTIONS.values() if call in option.calls]

    def face(data: Any, /, **options: Any) -> Any:
        return run(call, data, options)

    keyword = inspect.Parameter.KEYWORD_ONLY
    face.__name__ = face.__qualname__ = call
    face.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter("data", inspect.Parameter.POSITIONAL_ONLY),
            *(inspect.Parameter(o.name, keyword, default=o.default) for o in taken),
        ]
    )
    lines = [f"    {o.name}: {o.description} Default: {o.default_text}." for o in taken]
    face.__doc__ = "\n".join(
        [
            promise,
            "",
            "Args:",
            "    data: a Polars, pandas or Arrow frame, or the path of a file that DuckDB reads.",
            *lines,
            "",
            "Returns:",
            "    A frame of the kind that came in; an Arrow table for a file.",
            "",
            "Raises:",
            "    OptionError, DataError, ReleaseError: see kanon_sql.errors.",
        ]
    )
    return face


anonymize = _face("anonymize", "The released rows: each combination shared by k rows or more.")
anonymize_clusters = _face("anonymize_clusters", "One row per published cluster.")
anonymize_metrics = _face("anonymize_metrics", "One row per metric of the release.")
anonymize_suppressed = _face(
    "anonymize_suppressed", "The rows that the release leaves out: row numbers of the source."
)
anonymize_roles = _face(
    "anonymize_roles", "One row per column: its role, what it looks like, and what is released."
)
anonymize_audit = _face(
    "anonymize_audit", "Metrics of any release, ours or not, held against its source."
)
anonymize_sql = _face("anonymize_sql", "The SQL text that anonymize runs, as a frame of one row.")
k_anonymity = _face("k_anonymity", "The audit of any table, released by us or not.")


def hierarchy(data: Any, column: str, /, **options: Any) -> Any:
    """The level table of a column: level0 (its values) .. levelN, to inspect, edit and pass back.

    Args:
        data: a Polars, pandas or Arrow frame, or the path of a file that DuckDB reads.
        column: the column.
        options: kind, and the options of that kind, as in SQL (KINDS in
            kanon_sql.hierarchies.kinds lists them).

    Returns:
        A frame of the kind that came in; an Arrow table for a file.

    Raises:
        OptionError, DataError: as the SQL call, in the same words.
    """
    return run("hierarchy", data, {"column_name": column, **options})
