"""Where and with what the numbers were measured."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.apart import ROOT


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _commit() -> str:
    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=ROOT, capture_output=True, text=True, check=False
        )
        return done.stdout.strip()

    try:
        commit, changed = git("rev-parse", "--short", "HEAD"), git("diff", "HEAD", "--stat")
    except OSError:
        return ""
    return commit + (" and changes" if changed else "")


def describe() -> dict[str, Any]:
    """CPU, cores, memory, versions, date, and how busy the machine was at the start."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": _cpu(),
        "cores": usable,
        "memory_gib": round(memory / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("duckdb", "numba", "numpy", "polars", "pyarrow")},
            "kanon_sql": version("kanon_sql"),
        },
        "commit": _commit(),
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "load": round(os.getloadavg()[0], 1),
    }


def sentence(machine: dict[str, Any]) -> str:
    """The same in one line."""
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    commit = f" ({machine['commit']})" if machine["commit"] else ""
    return (
        f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gib']} GiB, "
        f"{machine['system']}; {versions}{commit}; {machine['date']}, "
        f"load {machine['load']} at the start"
    )
