"""Each measured run in a process of its own: it inherits no memory, and if it dies, it dies alone.

The process is this module: a function's name and arguments go in, what it returns comes out, both
as JSON.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

Outcome = dict[str, Any]
"""What a run returned, or ``{"failed": why}``."""


def why_it_died(code: int, errors: str) -> str:
    """One line on how a process ended."""
    if code < 0:
        name = signal.Signals(-code).name
        return f"killed by {name}" + (", out of memory?" if name == "SIGKILL" else "")
    lines = [line for line in errors.strip().splitlines() if line.strip()]
    return lines[-1].strip()[:200] if lines else f"exit status {code}"


def run_command(
    command: list[str], given: dict[str, Any], limit: float, told: float | None = None
) -> Outcome:
    """Runs a command that takes JSON on its standard input and the name of a file for JSON.

    Args:
        command: without the file's name.
        given: what it is to do.
        limit: seconds after which it is stopped.
        told: the limit as named to the reader, if not this one.
    """
    with TemporaryDirectory() as folder:
        target = Path(folder) / "outcome.json"
        try:
            done = subprocess.run(
                [*command, str(target)], input=json.dumps(given), cwd=ROOT, text=True,
                capture_output=True, timeout=limit, check=False,
            )
        except subprocess.TimeoutExpired:
            return {"failed": f"not within {told or limit:g} s"}
        if done.returncode != 0 or not target.exists():
            return {"failed": why_it_died(done.returncode, done.stderr)}
        outcome: Outcome = json.loads(target.read_text(encoding="utf-8"))
        return outcome


def apart(function: str, limit: float, **arguments: Any) -> Outcome:
    """Calls ``benchmarks.<module>:<function>`` in a new process."""
    given = {"function": function, "arguments": arguments}
    return run_command([sys.executable, "-m", "benchmarks.apart"], given, limit)


def cell(outcome: Outcome, field: str) -> Any:
    """One field of an outcome, or why there is none."""
    return outcome["failed"] if "failed" in outcome else outcome[field]


def main() -> None:
    """The other side: does as it is told."""
    given = json.load(sys.stdin)
    module, _, name = given["function"].partition(":")
    outcome = getattr(import_module(f"benchmarks.{module}"), name)(**given["arguments"])
    Path(sys.argv[1]).write_text(json.dumps(outcome), encoding="utf-8")


if __name__ == "__main__":
    main()
