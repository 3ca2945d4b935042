"""How many random examples a property is tried on: a sixth of them, or all with THOROUGH=1."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, settings


def thorough() -> bool:
    """Whether everything is to be tried."""
    return bool(os.environ.get("THOROUGH"))


def examples(most: int) -> int:
    """The number of examples to try, of ``most`` that a thorough run tries."""
    return most if thorough() else max(most // 6, 10)


def often(most: int, shrink: bool = True) -> Callable[[Any], Any]:
    """Settings: so many examples, however long each takes. Without ``shrink``, what fails is shown
    as it was found."""
    phases = [phase for phase in Phase if shrink or phase is not Phase.shrink]
    return settings(
        max_examples=examples(most), deadline=None, suppress_health_check=list(HealthCheck),
        phases=phases,
    )
