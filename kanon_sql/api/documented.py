"""The docstrings of the Python functions, made from the registry of options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from kanon_sql.api import keywords
from kanon_sql.call.options import OPTIONS
from kanon_sql.hierarchies.kinds import KINDS

Face = TypeVar("Face", bound=Callable[..., Any])

DATA = (
    "data: a Polars, pandas, Arrow or Ibis frame, a dict of columns, a DuckDB relation, the path "
    "of a file that DuckDB reads or a list of paths, or the name of a relation of con."
)
CON = "con: the connection to run on, with its tables; by default a new connection."
OF_RELEASE = (
    "relation: the data, if you pass the connection first: release(con, data, ...).",
    "to: the Parquet file to write atomically; an existing file is replaced when the new one is "
    "complete. Without it, the release stays in memory.",
    "private: the destination of the private part: a file that ends in .json, which only its owner "
    "can read, or a table of con, which is created if missing. The private part is also returned.",
)
"""The arguments of release."""

OF_REPORT = (
    "to: the HTML file to write; an existing file is replaced when the new one is complete.",
    "title: the title of the release.",
    "queries: SQL queries by name or as a list, which are run on source and release; {table} "
    "stands for either.",
    "compare: other releases to compare with: methods, or dicts of the options that differ.",
    "evidence: True to attack the release, or the result of kanon_sql.evidence.",
)
"""The arguments of report."""

OF_EVIDENCE = (
    "control: rows of people who are not in data, with the same columns.",
    "released: a release of data by any tool, to attack in place of one with these options. It "
    "requires control.",
    "attacks: how many people, or predicates, each form of an attack tries at most. Default: "
    "5000.",
)
"""The arguments of evidence."""
OF_COMPARE = (
    "k: one k, or a list of k.",
    "methods: the methods to compare; by default one or two of each way to group that take any "
    "table.",
)
"""The arguments of compare."""

RETURNS = (
    "A frame of the same kind as data: Polars (also lazy), pandas, Ibis, or a DuckDB relation; "
    "otherwise an Arrow table."
)


def _options(call: str, taken: inspect.Signature) -> Iterator[str]:
    if call == "hierarchy":
        yield "column_name: the column."
        yield f"kind: one of {', '.join(KINDS)}."
        for kind in KINDS.values():
            for name, known in kind.options.items():
                yield f"{name}: ({kind.name}) {known.description}"
        return
    own = {name for name, parameter in taken.parameters.items() if parameter.default is not None}
    for option in OPTIONS.values():
        if option.name in taken.parameters and option.name not in own and call in option.calls:
            yield f"{option.name}: {option.description} Default: {option.default_text}."


def _signature(face: Callable[..., Any]) -> inspect.Signature:
    """The signature with each option as a keyword, in the order of the registry, in place of
    **options: Unpack[...]."""
    signature = inspect.signature(face)
    *own, options = signature.parameters.values()
    words = getattr(keywords, options.annotation.removeprefix("Unpack[").removesuffix("]"))
    names = list(words.__annotations__)
    if face.__name__ != "hierarchy":
        names.sort(key=list(OPTIONS).index)
    return signature.replace(parameters=[*own, *(
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=None,
            annotation=words.__annotations__[name].__forward_arg__,
        )
        for name in names
    )])


def documented(face: Face) -> Face:
    """The function with a signature and a docstring that have all options."""
    call, more, returns = face.__name__, tuple[str, ...](), RETURNS
    if call == "release":
        call, more = "anonymize", OF_RELEASE
        returns = "A kanon_sql.Release."
    elif call == "report":
        call, more = "anonymize", OF_REPORT
        returns = "The path of the report, and its contents as typed objects."
    elif call == "evidence":
        call, more = "anonymize", OF_EVIDENCE
        returns = "The attacks with their rates of success, as typed objects."
    elif call == "compare":
        call, more = "anonymize_metrics", OF_COMPARE
    taken = _signature(face)
    face.__signature__ = taken  # type: ignore[attr-defined]
    face.__doc__ = "\n".join([
        face.__doc__ or "",
        "",
        "Args:",
        *(f"    {line}" for line in (DATA, CON, *more, *_options(call, taken))),
        "",
        "Returns:",
        f"    {returns}",
        "",
        "Raises:",
        "    OptionError, DataError, ReleaseError: see kanon_sql.errors.",
    ])
    return face
