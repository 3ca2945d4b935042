"""The lightest factor among all edges of records."""

from __future__ import annotations

import sys

import numpy as np

from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.cell_generalization.apart import apart
from kanon_sql.methods.cell_generalization.factors_by_cuts import Factor, lightest
from kanon_sql.points.points import LossPoints

FEW = 50
"""Records of which it is found in a moment."""


def lightest_factor(points: LossPoints, loose: bool, watch: Watch) -> Factor:
    """A lightest factor, or a light one and a bound.

    The libraries that solve programs let nothing else run and can't be stopped. So what takes more
    than a moment runs in a process of its own, which can. Which of the factors that weigh the same
    is found follows from the records in their order alone.

    Args:
        points: n records whose scales are whole numbers.
        loose: for a [1,2]-factor, which gives each record one or two edges; else for a 2-factor,
            which gives each two.
        watch: its stop raises StoppedError.
    """
    asked = points.codes.astype(np.int64), points.scale.astype(np.int64), loose
    if len(points) <= FEW or not sys.executable:
        return lightest(*asked)
    factor: Factor = apart(lightest, asked, watch)
    return factor
