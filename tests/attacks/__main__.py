"""Runs all attacks and prints the table.

    python -m tests.attacks          on 3,000 rows of Adult, in half a minute
    python -m tests.attacks 30162    on so many rows
"""

from __future__ import annotations

import sys

from tests.attacks.frame import ROWS
from tests.attacks.table import measured, table

if __name__ == "__main__":
    print(table(measured(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS)))
