"""The Python functions as source text, made from the registry of options.

``GOLDEN=write pytest tests/interfaces/test_signatures.py`` writes it into
kanon_sql/interfaces/dataframe.py. An option is taken as what its check reads; see TYPES.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from kanon_sql.call.options import OPTIONS
from kanon_sql.hierarchies.kinds import KINDS
from kanon_sql.validators import ranking, relation, texts

HEADING = '''"""The Python face: the same query, over a frame or a file in place of a table.

Made from the registry of options, and not to be edited:
``GOLDEN=write pytest tests/interfaces/test_signatures.py`` writes it anew. An option of None is one
that isn't given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from os import PathLike
from typing import Any, NoReturn

from kanon_sql.interfaces.documented import documented
from kanon_sql.interfaces.report import Report, report_file
from kanon_sql.interfaces.result import Release, release_of
from kanon_sql.interfaces.session import Connection, run
'''

CALLS = {
    "anonymize": "The released rows: each combination shared by k rows or more.",
    "anonymize_clusters": "One row per published cluster.",
    "anonymize_metrics": "One row per metric of the release.",
    "anonymize_suppressed": "The rows that the release leaves out: row numbers of the source.",
    "anonymize_roles": "One row per column: its role, what it looks like, and what is released.",
    "anonymize_ledger": "What a release adds to its ledger: one row per person released.",
    "anonymize_audit": "Metrics of any release, ours or not, held against its source.",
    "anonymize_risk": "Metrics of the risk that persons are found in any table, ours or not.",
    "anonymize_manifest": "What the release is, to stand beside it: one row per entry.",
    "anonymize_sql": "The SQL text that anonymize runs, as a frame of one row.",
    "k_anonymity": "The audit of any table, released by us or not.",
    "ledger_check": "Whether a ledger of releases keeps what it promises.",
    "hierarchy": "The level table of a column: level0 (its values) .. levelN, to edit.",
}
"""The functions, and the sentence that each begins with."""

BY_CHECK = {texts: "str | Sequence[Any]", ranking: "Sequence[Any]", relation: "Any"}
"""What the option of a check takes, where that isn't what the check gives."""

TYPES = {
    "int": "int",
    "float": "float",
    "str": "str",
    "bool": "bool",
    "float | str": "float | str",
    "Decimal": "float | Decimal",
    "tuple[str, ...]": "str | Sequence[str]",
    "str | dict[str, str]": "str | Mapping[str, str]",
    "dict[str, float]": "Mapping[str, float]",
    "float | dict[str, float]": "float | Mapping[str, float]",
    "float | dict[str, Any]": "float | Mapping[Any, Any]",
    "dict[str, tuple[float, float]]": "Mapping[str, Sequence[float]]",
    "dict[str, str | dict[str, Any]]": "Mapping[str, Any]",
    "tuple[tuple[float, float], ...]": "Sequence[Sequence[float]]",
}
"""What a user may give for what a check makes of it. A check with a new form is added here."""


def taken(option: Any) -> str:
    """The annotation of an option: of a call, of a method, or of a kind of hierarchy."""
    if getattr(option, "relation", False):
        return "Any"  # a name, a path, or a frame
    return BY_CHECK.get(option.check) or TYPES[option.check.__annotations__["return"]]


def options_of_call(call: str) -> Iterator[tuple[str, str]]:
    """Name and annotation of each option of a call, in the order of the registry."""
    if call == "hierarchy":
        yield "kind", "str"
        kinds = {name: o for kind in KINDS.values() for name, o in kind.options.items()}
        yield from ((name, taken(option)) for name, option in kinds.items())
        return
    for option in OPTIONS.values():
        if call in option.calls:
            yield option.name, taken(option)


def function(call: str, promise: str) -> str:
    """One function."""
    options = ", ".join(
        f"{name}: {annotation} | None = None".replace("Any | None", "Any").replace(" ", "\0")
        for name, annotation in options_of_call(call)
    )
    first = "data: Any, column_name: str, /" if call == "hierarchy" else "data: Any, /"
    lines = textwrap.wrap(options, 95, break_on_hyphens=False, break_long_words=False)
    return "\n".join([
        "@documented",
        f"def {call}(",
        f"    {first}, *, con: Connection | None = None,",
        *(f"    {line}{'' if line.endswith(',') else ','}".replace("\0", " ") for line in lines),
        "    **unknown: NoReturn,",
        ") -> Any:",
        f'    """{promise}"""',
        f'    return run("{call}", locals())',
    ])


RELEASE = "The release as one object: its rows, metrics and manifest, and with to a Parquet file."


def release() -> str:
    """The function that writes a file, with the options of anonymize."""
    lines = function("anonymize", RELEASE).splitlines()
    return "\n".join([
        lines[0],
        "def release(",
        "    data: Any, relation: Any = None, /, *, con: Connection | None = None,",
        "    to: str | PathLike[str] | None = None, private: str | PathLike[str] | None = None,",
        *lines[3:-3],
        ") -> Release:",
        lines[-2],
        "    return release_of(locals())",
    ])


REPORT = "What a release is worth, as one HTML file for who signs it off, which needs no network."


def report() -> str:
    """The function that writes a report, with the options of anonymize."""
    lines = function("anonymize", REPORT).splitlines()
    return "\n".join([
        lines[0],
        "def report(",
        "    data: Any, /, to: str | PathLike[str] = \"report.html\", *,",
        "    con: Connection | None = None, title: str | None = None,",
        "    queries: Mapping[str, str] | Sequence[str] | None = None,",
        "    compare: Sequence[str | Mapping[str, Any]] | None = None,",
        *lines[3:-3],
        ") -> Report:",
        lines[-2],
        "    return report_file(locals())",
    ])


def source() -> str:
    """The whole module."""
    calls = [function(*item) for item in CALLS.items()]
    parts = [HEADING.rstrip("\n"), *calls, release(), report()]
    return "\n\n\n".join(parts) + "\n"
