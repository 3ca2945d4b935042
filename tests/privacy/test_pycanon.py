"""The references against pyCANON (Sainz-Pardo Diaz and Lopez Garcia 2022), where that is right: the
distinct l, alpha, and t by the equal and the ordered distance, without missing values. It sorts
recursive (c, l) upwards, cuts the entropy l to a whole number, takes delta over the values that a
class has, and NaN breaks its t.

It is no dependency of the tests, since it asks for one version each of numpy, scipy and pandas:
`pip install --no-deps pycanon` in an environment that has pandas is enough for these.
"""

from __future__ import annotations

import numpy as np
import pytest

from kanon_sql.privacy import AlphaFrequency, Closeness, DistinctDiversity, PrivacyModel
from tests.privacy.reference import value

anonymity = pytest.importorskip("pycanon.anonymity")
pandas = pytest.importorskip("pandas")

SEEDS = range(12)


def frame(seed: int) -> tuple[object, list[list[object]]]:
    """A random table: its classes by one quasi-identifier, and a number and a word of each row."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(10, 60))
    group, number = rng.integers(0, 5, rows), rng.integers(0, 7, rows) ** 2
    word = np.array(["flu", "cold", "cough", "fever"])[rng.integers(0, 4, rows)]
    table = pandas.DataFrame({"group": group, "number": number, "word": word})
    return table, [group.tolist(), number.tolist(), word.tolist()]


def worst(model: PrivacyModel, groups: list[object], values: list[object], least: bool) -> float:
    """The worst value that a class has."""
    found = [
        float(value(model, [v for g, v in zip(groups, values, strict=True) if g == group], values))
        for group in set(groups)
    ]
    return min(found) if least else max(found)


@pytest.mark.parametrize("seed", SEEDS)
def test_distinct_l(seed: int) -> None:
    table, (groups, numbers, words) = frame(seed)
    for name, values in (("number", numbers), ("word", words)):
        model = DistinctDiversity(column=name, l=2)
        assert anonymity.l_diversity(table, ["group"], [name]) == worst(model, groups, values, True)


@pytest.mark.parametrize("seed", SEEDS)
def test_alpha(seed: int) -> None:
    table, (groups, numbers, words) = frame(seed)
    for name, values in (("number", numbers), ("word", words)):
        model = AlphaFrequency(column=name, alpha=0.5)
        found, _ = anonymity.alpha_k_anonymity(table, ["group"], [name])
        assert found == pytest.approx(worst(model, groups, values, False))


@pytest.mark.parametrize("seed", SEEDS)
def test_t(seed: int) -> None:
    table, (groups, numbers, words) = frame(seed)
    for name, values, distance in (("number", numbers, "ordered"), ("word", words, "equal")):
        model = Closeness(column=name, t=0.5, distance=distance)
        found = anonymity.t_closeness(table, ["group"], [name])
        assert found == pytest.approx(worst(model, groups, values, False))
