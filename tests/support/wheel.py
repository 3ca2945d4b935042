"""What ships, built from a copy of the repository as a release is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.checkout import copy_to


def build(folder: Path, *what: str) -> None:
    """Builds the source distribution into a folder, and from it the wheel.

    Args:
        what: ``--wheel`` builds that alone.
    """
    source = folder / "source"
    copy_to(source)
    command = [sys.executable, "-m", "build", "--no-isolation", *what, "--outdir", str(folder)]
    done = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]
