"""How many random examples a property is tried on: a third of them, or all with THOROUGH=1."""

from __future__ import annotations

import os


def examples(most: int) -> int:
    """The number of examples to try, of ``most`` that a thorough run tries."""
    return most if os.environ.get("THOROUGH") else max(most // 3, 10)
