"""One grouping by another package, run by the Python of that package's own environment.

Takes JSON ``{"peer", "data", "labels", "rows", "k"}`` on the standard input and the name of a file
for the outcome. Knows nothing of kanon_sql.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.meter import measured


def parts_to_labels(parts: Any, n: int) -> Any:
    """The label of each record, from the index of each part."""
    np = import_module("numpy")
    labels = np.full(n, -1, np.int64)
    for number, part in enumerate(parts):
        labels[np.asarray(part)] = number
    return labels


def anonypyx(values: Any, k: int) -> Callable[[], Any]:
    """MDAV-generic; the class that Anonymiser(algorithm='MDAV-generic') uses, without its
    generalisation."""
    frame = import_module("pandas").DataFrame(values)
    make = import_module("anonypyx.microaggregation").MDAVGeneric
    return lambda: parts_to_labels(make(frame, list(frame.columns)).partition(k), len(frame))


def anonypy(values: Any, k: int) -> Callable[[], Any]:
    """Mondrian; the class that Preserver uses, without its generalisation."""
    frame = import_module("pandas").DataFrame(values)
    make = import_module("anonypy.mondrian").Mondrian
    return lambda: parts_to_labels(make(frame, list(frame.columns)).partition(k), len(frame))


def microagg1d(values: Any, k: int) -> Callable[[], Any]:
    """The optimal grouping of one attribute."""
    group = import_module("microagg1d").univariate_microaggregation
    column = values[:, 0].copy()
    return lambda: group(column, k=k)


CALLS = {"anonypyx": anonypyx, "anonypy": anonypy, "microagg1d": microagg1d}


def main() -> None:
    """Groups, and saves the labels."""
    given = json.load(sys.stdin)
    np = import_module("numpy")
    values = np.load(given["data"])[: given["rows"]].copy()
    work = CALLS[given["peer"]]
    work(values[:100].copy(), given["k"])()  # compiles what is compiled
    found = measured(work(values, given["k"]))
    np.save(given["labels"], np.asarray(found.result, np.int64))
    outcome = {**found.numbers(values.nbytes), "version": version(given["peer"])}
    Path(sys.argv[1]).write_text(json.dumps(outcome), encoding="utf-8")


if __name__ == "__main__":
    main()
