"""What help() says of a Python function, from the registry of options."""

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
    "of a file that DuckDB reads or a list of such, or the name of a relation of con."
)
CON = "con: a connection on which to run, with its tables; one of our own unless given."
OF_RELEASE = (
    "relation: not given; release(con, data, ...) is taken, too.",
    "to: the Parquet file to write, whole or not at all; one that is there is replaced when the "
    "new one is whole. Without it the release stays in memory.",
    "private: where the private part goes: a file that ends in .json, which only its owner may "
    "read, or a table of con, which is made if there is none. It is returned, too.",
)
"""The arguments of release."""

OF_REPORT = (
    "to: the HTML file to write; one that is there is replaced when the new one is whole.",
    "title: what the release is called.",
    "queries: SQL texts, by their names or as a list, which are asked of source and release; "
    "{table} stands for either.",
    "compare: methods, or dicts of the options in which a release would differ, to stand beside.",
)
"""The arguments of report."""
OF_COMPARE = (
    "k: one k, or a list of such.",
    "methods: methods by their names; one or two of each way to group, which take any table, "
    "unless given.",
)
"""The arguments of compare."""

RETURNS = (
    "A frame of the kind that came in: Polars (also lazy), pandas, Ibis, or a DuckDB relation; an "
    "Arrow table for all else."
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
    told = inspect.signature(face)
    *own, options = told.parameters.values()
    words = getattr(keywords, options.annotation.removeprefix("Unpack[").removesuffix("]"))
    names = list(words.__annotations__)
    if face.__name__ != "hierarchy":
        names.sort(key=list(OPTIONS).index)
    return told.replace(parameters=[*own, *(
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=None,
            annotation=words.__annotations__[name].__forward_arg__,
        )
        for name in names
    )])


def documented(face: Face) -> Face:
    """The function, told what each of its options means, and which there are."""
    call, more, returns = face.__name__, tuple[str, ...](), RETURNS
    if call == "release":
        call, more = "anonymize", OF_RELEASE
        returns = "A kanon_sql.Release."
    elif call == "report":
        call, more = "anonymize", OF_REPORT
        returns = "The path, and all that the report tells as typed objects."
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
