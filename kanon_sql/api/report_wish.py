"""What a report is to be, beside the release: its file, title, queries and comparisons."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kanon_sql.attacks.facts import Evidence
from kanon_sql.errors import OptionError, a_type

NEEDED = ("jinja2", "vl_convert")
"""The libraries of the extra 'report'."""


@dataclass(frozen=True)
class ReportRequest:
    """What a report is to be, beside the release.

    Attributes:
        path: the file.
        title: what the release is called.
        queries: SQL texts by their names.
        compared: other releases: a name for each, and the options in which it differs.
        evidence: whether the release is attacked, or attacks that were made.
        predicted: the columns that models predict; none are chosen by the report.
        origins: who decided a role, by what decides it otherwise: the name of a file whose options
            are those of the call.
    """

    path: Path
    title: str
    queries: Mapping[str, str]
    compared: tuple[tuple[str, Mapping[str, Any]], ...]
    evidence: bool | Evidence = False
    predicted: tuple[str, ...] = ()
    origins: Mapping[str, str] = field(default_factory=dict)


def read_wish(
    to: Any, title: Any, queries: Any, compare: Any, evidence: Any = False, predict: Any = None,
    origins: Mapping[str, str] | None = None,
) -> ReportRequest:
    """What is wanted, read and checked.

    Raises:
        OptionError: something of it can't be had.
    """
    _refuse_missing()

    # here, since it loads what only reports need
    from kanon_sql.reporting.queries import read_queries

    if title is not None and not isinstance(title, str):
        raise OptionError(f"title is {a_type(title)}. Give a string.")
    if not isinstance(evidence, (bool, Evidence)):
        raise OptionError(
            f"evidence is {a_type(evidence)}. Give True, or what kanon_sql.evidence "
            "returns."
        )
    return ReportRequest(
        _target(to), title or "", read_queries(queries), _read_compare(compare), evidence,
        _read_predict(predict), origins or {},
    )


def _refuse_missing() -> None:
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise OptionError(
            f"A report needs {' and '.join(missing)}, which is not installed. "
            "Install it by pip install 'kanon-sql[report]'."
        )


def _target(to: Any) -> Path:
    """The file to write, where it may be one."""
    if not isinstance(to, (str, os.PathLike)) or not str(to):
        raise OptionError("to is not the name of a file. Give one, for example to='report.html'.")
    path = Path(to).resolve()
    if path.suffix.lower() not in (".html", ".htm"):
        raise OptionError(
            f"to names {str(to)!r}, and a report is an HTML file. Name one that ends in .html."
        )
    if "://" in str(to) or path.is_dir() or not path.parent.is_dir():
        raise OptionError(
            f"to names {str(to)!r}, where no file can be written. Name one in a folder that exists."
        )
    return path


def _read_predict(names: Any) -> tuple[str, ...]:
    """The columns that models predict, as they were named."""
    if names is None:
        return ()
    if not isinstance(names, (list, tuple)) or not all(isinstance(each, str) for each in names):
        raise OptionError(
            "predict is not a list of columns. Give one, for example ['age', 'disease']."
        )
    return tuple(names)


def _read_compare(requested: Any) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """What to compare with: a name for each, and the options in which it differs."""
    if requested is None:
        return ()
    if isinstance(requested, (str, Mapping)) or not all(
        isinstance(each, (str, Mapping)) for each in requested
    ):
        raise OptionError(
            "compare is not a list of methods. Give one, such as ['mdav', 'mondrian'], or of "
            "options, such as [{'k': 10}]."
        )
    variants = []
    for each in requested:
        changes = {"method": each} if isinstance(each, str) else dict(each)
        said = {name: value for name, value in changes.items() if name != "method"}
        parts = [str(changes["method"])] if "method" in changes else []
        parts += [f"{name} = {value!r}" for name, value in said.items()]
        variants.append((", ".join(parts), changes))
    return tuple(variants)
