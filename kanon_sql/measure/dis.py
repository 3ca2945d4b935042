"""Data intrusion simulation: how likely a match of a sample unique is right, row by row."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def dis_scores(scores: Floats, pairs: int, columns: int, fraction: float) -> Floats:
    """The DIS score of each sample unique: float64, shape (n,), above 0 and up to 1.

    Source: Skinner and Elliot, A measure of disclosure risk for microdata, Journal of the Royal
    Statistical Society B 64(4), 2002, for all sample uniques together: of U uniques, and p classes
    of two rows, a match is right with the chance d = U f / (U f + 2 p (1 - f)) at the sampling
    fraction f. It is shared out by the SUDA scores s as suda2 of sdcMicro does it (Manning, Haglin
    and Keane 2008): 1 / (1 + (U / d - U) / (s^q a)), where q = 1 + (8 - columns) / 20, and a is the
    sum of s^-q over the uniques. U / d - U is 2 p (1 - f) / f.

    Args:
        scores: the SUDA score of each sample unique, above 0, float64, shape (n,).
        pairs: how many classes have two rows.
        columns: how many columns there are.
        fraction: the sampling fraction, above 0; 1 and more are the population itself.
    """
    beyond = 2.0 * pairs * max(1.0 - fraction, 0.0) / fraction
    if beyond == 0.0:
        return np.ones(len(scores))
    q = 1.0 + (8.0 - columns) / 20.0
    # sorted, since the scores come in any order
    added = np.sort(scores**-q).sum()
    return np.asarray(1.0 / (1.0 + beyond / (scores**q * added)))
