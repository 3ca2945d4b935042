"""Compiles what a call needs on its first use, and says so."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np

from kanon_sql.group.run import group_points
from kanon_sql.methods import METHODS, Method
from kanon_sql.points.points import ItemPoints, LossPoints, MetricPoints, Points

PATIENCE = 1.5
"""Seconds after which a first use must be compiling, not loading what was compiled before."""

VARIANTS = ("epsilon", "max_clusters", "max_diameter")
"""Options with which a method takes kernels that it doesn't take without."""

WIDE = 1e9
"""A diameter that the records of a trial run are far below."""

_ready: set[tuple[str, ...]] = set()
_lock = threading.Lock()


def _say(text: str) -> None:
    print(f"kanon_sql: {text}", file=sys.stderr, flush=True)


def _probe(method: Method, distance: str) -> Points:
    """Records enough for every kernel to be needed, by numbers that look like chance."""
    if method.items:
        return _few_items(method)
    spread = np.arange(1_100.0)
    places = np.column_stack([spread * 37 % 1009, spread * 611 % 997])
    if method.has_centers:
        codes = (spread[:, None] // 8 % 5).astype(np.int32)
        return MetricPoints.of(places / 1009.0, codes, [0.1], facility=np.full(len(places), 0.1))
    if method.objective == "cells":
        rows = np.arange(12 if "neighbours" in method.options else len(places))
        codes = np.column_stack([rows * 7 % 5, rows // 8 % 6, rows // 16 % 3])
        return LossPoints.of(places[rows, :0], codes, [1.0, 0.5, 0.5], first=[0, 1, 1])
    if not (distance == "loss" and method.loss_points):
        return Points.of(places[:, :1] if method.name == "optimal_1d" else places)
    codes = np.column_stack([spread * 7 % 5, spread // 8 % 6, spread // 16 % 3]).astype(np.int32)
    numeric = places[:, :0] if method.name == "full_domain" else places / 1009.0
    return LossPoints.of(numeric, codes, [1.0, 0.5, 0.5], first=[0, 1, 1])


def _few_items(method: Method) -> Points:
    """Items of a method of one attribute; where it needs a graph, a ring and its hub, whose degree
    a spanning tree lowers."""
    number = np.arange(6 if method.name == "bin_cover" else 60)
    place = np.column_stack([number * 37.0 % 61.0, number * 11.0 % 59.0])
    links = np.concatenate([
        np.column_stack([number, np.roll(number, 1)]),
        np.column_stack([number[2:] * 0, number[2:]]),
    ])
    return ItemPoints.of(number % 3 + 1, place, np.unique(np.sort(links, axis=1), axis=0))


def make_ready(options: Mapping[str, Any], n: int) -> None:
    """Runs what a call on n records will run on a few, which compiles its kernels or loads them
    from the cache."""
    from kanon_sql.group.blocks import block_size  # here, since it loads the compiler

    method, k = METHODS[options["method"]], options["k"]
    refined = options["refine"] == "local"
    in_blocks = method.in_blocks and n > block_size(method, options, k)
    distance, suppress = options["distance"], options["suppress"]
    by_loss = method.objective == "cells" or (distance == "loss" and method.loss_points)
    refining = ["refine by loss" if by_loss else "refine"]
    parts = [
        method.name, *refining * refined, *["blocks"] * in_blocks,
        *["suppression"] * (suppress > 0.0),
    ]
    name = " and ".join(parts)
    variant = name, *(option for option in VARIANTS if options.get(option) is not None)
    with _lock:
        if variant in _ready:
            return
        notice = threading.Timer(
            PATIENCE,
            lambda: _say(f"compiling the kernels of {name}, once in this environment ..."),
        )
        notice.daemon = True
        small = {
            **options, "k": 3 if method.name == "triples" else 2, "gamma": 0.5, "refine_steps": 1,
            "block_rows": 500 if in_blocks else None,
        }
        if in_blocks:
            small.pop("max_clusters", None)  # refused where the records themselves are counted
        if "max_diameter" in options:
            small["max_diameter"] = WIDE
        for option in ("extent", "islands"):
            small.pop(option, None)  # the trial run has other places
        started = perf_counter()
        notice.start()
        try:
            group_points(_probe(method, distance), small)
        finally:
            notice.cancel()
        seconds = perf_counter() - started
        if seconds > PATIENCE:
            _say(f"compiled the kernels of {name} in {seconds:.1f} s.")
        _ready.add(variant)
