"""How many random examples a property is tried on: a sixth of them, or all with THOROUGH=1."""

from __future__ import annotations

import os


def thorough() -> bool:
    """Whether everything is to be tried."""
    return bool(os.environ.get("THOROUGH"))


def examples(most: int) -> int:
    """The number of examples to try, of ``most`` that a thorough run tries."""
    return most if thorough() else max(most // 6, 10)
