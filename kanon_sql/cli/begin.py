"""What the installed command runs: Ctrl-C and SIGTERM are heard before anything else is loaded."""

from __future__ import annotations

import os
import signal
from typing import Any, NoReturn


def _stop(number: int, _: Any) -> NoReturn:
    """Nothing is begun yet, so there is nothing to end; an import that is under way can't go on."""
    os.write(2, b"kanon: stopped.\n")
    os._exit(128 + number)


def start() -> NoReturn:
    """Loads the shell and runs the command that was typed."""
    before = signal.signal(signal.SIGINT, _stop)
    signal.signal(signal.SIGTERM, _stop)

    # here, since loading it takes most of the first second
    from kanon_sql.cli import main

    signal.signal(signal.SIGINT, before)
    main.start()
