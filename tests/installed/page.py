"""Runs the examples of a page in their order, as a reader would, and prints the page renewed.

A program of its own: ``python -I page.py docs/shell.md`` in an empty folder, by a Python that has
kanon_sql installed; of the repository it finds only what nobody installs, the attacks. Blocks of
Python share one namespace, in which the first of a page makes ``con``; those of SQL run on that;
those of a console are run by a shell, line by line.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import traceback
from pathlib import Path

EXAMPLE = re.compile(
    r"^```(?:(?P<language>python|sql)\n(?P<code>.*?)^```\n(?:^```text\n(?P<printed>.*?)^```\n)?"
    r"|console\n(?P<console>.*?)^```\n)",
    re.DOTALL | re.MULTILINE,
)
SECONDS = re.compile(r"\b\d+\.\d s(?=$|;)", re.MULTILINE)
FIRST_USE = re.compile(r"^kanon_sql: compil.*\n", re.MULTILINE)


def on_console(line: str) -> str:
    """What a line prints: first what is said on stderr, then the rest."""
    # the commands of this environment, as if it were activated
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        line, shell=True, capture_output=True, text=True, check=False,
        env={**os.environ, "PATH": path, "COLUMNS": "100"},
    )
    return SECONDS.sub("1.0 s", FIRST_USE.sub("", done.stderr) + done.stdout)


def renewed(block: re.Match[str], names: dict[str, object]) -> str:
    """The block with what it prints now."""
    if block["console"] is not None:
        lines = [line for line in block["console"].splitlines() if line.startswith("$ ")]
        shown = "".join(f"{line}\n{on_console(line[2:])}" for line in lines)
        return f"```console\n{shown}```\n"
    code, result = block["code"], ""
    if block["language"] == "python":
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(code, "example", "exec"), names)
        result = output.getvalue()
    else:
        relation = names["con"].sql(code)  # type: ignore[attr-defined]
        result = "" if relation is None else str(relation).rstrip("\n") + "\n"
    if block["printed"] is None:
        return block[0]
    return f"```{block['language']}\n{code}```\n```text\n{result}```\n"


def main(path: str) -> int:
    """Prints the page; 1 where an example fails, which is then told."""
    names: dict[str, object] = {}
    example = ""

    def run(block: re.Match[str]) -> str:
        nonlocal example
        example = block[0]
        return renewed(block, names)

    sys.path.append(str(Path(__file__).parents[2]))  # behind what is installed
    try:
        text = EXAMPLE.sub(run, Path(path).read_text(encoding="utf-8"))
    except Exception:
        print(f"{example}\n{traceback.format_exc()}", file=sys.stderr)
        return 1
    sys.stdout.buffer.write(text.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
