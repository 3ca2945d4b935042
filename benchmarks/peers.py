"""Other packages on the same records, each in a throw-away environment of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.apart import Outcome, apart, run_command, why_it_died
from benchmarks.plan import Plan
from benchmarks.tables import Table

K = 5
REACH = 60.0
"""Seconds that a peer gets for one grouping."""

START = 30.0
"""Seconds for its start, on top."""

INSTALL = 600.0


@dataclass(frozen=True)
class Peer:
    """Another package.

    Attributes:
        name: on PyPI.
        needs: what pip installs besides; anonypy does not say that it needs pandas.
        what: its method.
        d: columns of the records.
        sizes: rows, ascending; after one that it can't reach the others are not tried.
        ours: the methods of ours that run on the same records.
    """

    name: str
    needs: tuple[str, ...]
    what: str
    d: int
    sizes: tuple[int, ...]
    ours: tuple[str, ...]


PEERS = (
    # its matrix of distances takes rows x rows x 8 bytes, several times while it is made
    Peer("anonypyx", (), "MDAV-generic", 4, (1000, 3000, 10_000), ("mdav", "mdav_star")),
    Peer("anonypy", ("pandas",), "Mondrian", 4, (1000, 10_000, 100_000),
         ("mdav_plus", "mdav_star")),
    Peer("microagg1d", (), "optimal, one dimension", 1, (10_000, 100_000, 1_000_000),
         ("optimal_1d",)),
)


def install(peer: Peer, folder: Path) -> tuple[str, str]:
    """The Python of a new environment with the package, and why that failed ('' if it didn't)."""
    commands = (
        [sys.executable, "-m", "venv", str(folder)],
        [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet",
         "--disable-pip-version-check", peer.name, *peer.needs],
    )
    for command in commands:
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=INSTALL, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return "", f"not installed: {type(error).__name__}"
        if done.returncode != 0:
            return "", f"not installed: {why_it_died(done.returncode, done.stderr)}"
    return str(folder / "bin" / "python"), ""


def write_data(target: str, n: int, d: int) -> Outcome:
    """The records of the largest size; the smaller ones are the first of them."""
    import numpy as np

    np.save(target, np.random.default_rng([n, d]).standard_normal((n, d)))
    return {}


def ours(row: str, data: str, rows: int) -> Outcome:
    """Our grouping of the same records, in a process of its own."""
    import numpy as np

    from benchmarks.kernels import warm
    from benchmarks.meter import measured
    from kanon_sql.group.run import group_points
    from kanon_sql.methods import Points, task_for
    from kanon_sql.points.losses import information_loss, sse, sst

    values = np.load(data)[:rows]
    points = Points.of(values[np.lexsort(values.T[::-1])])
    options = {"method": row, "k": K}
    warm("numbers", values.shape[1], options)
    found = measured(lambda: group_points(points, task_for(**options)))
    loss = information_loss(sse(points, found.result.labels), sst(points))
    return {**found.numbers(values.nbytes), "loss": loss}


def judge(data: str, labels: str, rows: int) -> Outcome:
    """Our loss of their groups, and the smallest of them."""
    import numpy as np

    from kanon_sql.methods import Points
    from kanon_sql.points.losses import information_loss, sse, sst

    values, given = np.load(data)[:rows], np.load(labels)
    if given.shape != (rows,) or given.min() < 0:
        raise ValueError("the groups don't hold every record")
    _, dense, sizes = np.unique(given, return_inverse=True, return_counts=True)
    points = Points.of(values)
    loss = information_loss(sse(points, dense.astype(np.int64)), sst(points))
    return {"loss": loss, "smallest": int(sizes.min())}


def theirs(peer: Peer, python: str, data: str, rows: int, folder: Path) -> Outcome:
    """Their grouping, judged by our loss."""
    labels = str(folder / "labels.npy")
    given = {"peer": peer.name, "data": data, "labels": labels, "rows": rows, "k": K}
    command = [python, "-m", "benchmarks.peer_call"]
    found = run_command(command, given, REACH + START, REACH)
    if "failed" in found:
        return found
    if found["seconds"] > REACH:
        return {"failed": f"not within {REACH:g} s"}
    judged = apart("peers:judge", INSTALL, data=data, labels=labels, rows=rows)
    if "failed" in judged:
        judged = {"loss": judged["failed"], "smallest": None}
    return {**found, **judged}


def tables(plan: Plan, say: Callable[[str], None]) -> list[Table]:
    """The table of this part."""
    table = Table(
        f"Peers: standard normal records, k = {K}",
        ["package", "method", "rows", "columns", "seconds", "times ours", "loss %",
         "smallest group", "peak MB", "x matrix"],
        notes=[
            "Each package groups the same records in an environment of its own; the loss is ours, "
            "of its groups. Rows of kanon_sql follow the peer whose records they share.",
            "times ours: its seconds over those of the first row of kanon_sql below it. Only the "
            "grouping is timed, ours in blocks and on all cores where it is so by default.",
        ],
    )
    for peer in PEERS:
        if plan.peers:
            _compare(peer, plan, table, say)
        else:
            table.rows.append(
                [peer.name, peer.what, None, peer.d, "only with --peers", *[None] * 5]
            )
    return [table]


def _compare(peer: Peer, plan: Plan, table: Table, say: Callable[[str], None]) -> None:
    sizes = [plan.rows(n) for n in peer.sizes]
    with TemporaryDirectory() as name:
        folder = Path(name)
        say(f"peers: installing {peer.name}")
        python, why = install(peer, folder / "environment")
        data = str(folder / "data.npy")
        apart("peers:write_data", INSTALL, target=data, n=max(sizes), d=peer.d)
        if python:  # its first start may compile for long
            say(f"peers: first start of {peer.name}")
            given = {"peer": peer.name, "data": data, "labels": str(folder / "first.npy"),
                     "rows": 100, "k": K}
            started = run_command([python, "-m", "benchmarks.peer_call"], given, INSTALL)
            why = f"does not start: {started['failed']}" if "failed" in started else ""
        for rows in sizes:
            say(f"peers: {peer.name}, {rows:,} rows")
            found = {"failed": why} if why else theirs(peer, python, data, rows, folder)
            mine = [apart("peers:ours", plan.limit, row=row, data=data, rows=rows)
                    for row in peer.ours]
            _append(peer, rows, found, mine, table)
            if "failed" in found and not why:
                why = "not tried: fewer rows failed"


def _append(peer: Peer, rows: int, found: Outcome, mine: list[Outcome], table: Table) -> None:
    named = [(f"{peer.name} {found.get('version', '')}".strip(), peer.what, found)]
    named += [("kanon_sql", row, outcome) for row, outcome in zip(peer.ours, mine, strict=True)]
    for package, method, outcome in named:
        if "failed" in outcome:
            table.rows.append([package, method, rows, peer.d, outcome["failed"], *[None] * 5])
            continue
        times: Any = None
        if outcome is found and "failed" not in mine[0]:
            times = outcome["seconds"] / mine[0]["seconds"]
        table.rows.append([
            package, method, rows, peer.d, outcome["seconds"], times, outcome["loss"],
            outcome.get("smallest"), outcome["peak"] / 1e6, outcome["multiple"],
        ])
