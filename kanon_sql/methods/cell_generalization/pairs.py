"""Classes of two or three records (aggarwal2005, section 5): 2-anonymity by a [1,2]-factor.

Let w be the weight of the lightest [1,2]-factor. The classes made of it cost 3 w at most: a pair
costs twice its edge, and a class of two adjacent edges no more than 3 times the two, since a column
in which it differs differs along one of them. Any clustering is no dearer when its classes are
parted into two and three; of those a pair pays twice its edge, and a class of three 3/2 of its two
lightest edges: it pays 3 D, and D is no less than any of its edges. So the optimum is 1.5 w or
more, and the ratio 2; with columns of two codes D is half the sum of the three edges (observation
7), the optimum is 2 w or more, and the ratio 1.5. Hierarchies are columns with weights here, see
cells.py.
"""

from __future__ import annotations

from fractions import Fraction

from kanon_sql.errors import OptionError
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.cell_generalization.factor_classes import by_factor, check_size
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.points import Grouping, LossPoints

SHARES = Fraction(2), Fraction(3, 2)
"""The optimum over w, at least: with columns of two codes, and on any alphabet."""


def pairs(points: LossPoints, task: GroupTask, watch: Watch) -> Grouping:
    """Classes of two or three by a [1,2]-factor of least weight.

    Source: aggarwal2005, section 5.

    Args:
        points: two records or more in canonical order, without numeric columns.
        task: with suppress nothing is guaranteed.
        watch: its stop raises StoppedError.

    Raises:
        OptionError: another k.
        DataError: too many records.
    """
    k = task.k
    if k != 2:
        raise OptionError(
            f"The method 'pairs' is for k = 2 only, and k is {k}. Use triples for k = 3, or forest."
        )
    check_size("pairs", len(points))
    return by_factor(points, (2, 3), SHARES, task, watch)
