"""Classes of three to five records (aggarwal2005, section 6): 3-anonymity by a 2-factor.

Let w be the weight of the lightest 2-factor. The classes made of its cycles cost 3 w at most
(lemma 11, on any alphabet): a column in which the records of a cycle differ differs along two of
its edges or more, so D is half the cycle at most; longer cycles are cut, and the average cut costs
no more than 3 times the cycle.

Any clustering is no dearer when its classes are parted into three to five. Of those, one of three
pays 3 D, no less than its three edges; one of four 4 D, while its lightest cycle of four weighs 2/3
of all six edges at most, none above D; one of five 5 D, and its lightest cycle half of ten edges at
most. So the optimum is w or more, and the ratio 3; with columns of two codes it is 1.5 w or more
(lemma 10), and the ratio 2.
"""

from __future__ import annotations

from fractions import Fraction

from kanon_sql.errors import OptionError
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.cell_generalization.factor_classes import by_factor, check_size
from kanon_sql.methods.task import GroupTask
from kanon_sql.points.points import Grouping, LossPoints

SHARES = Fraction(3, 2), Fraction(1)
"""The optimum over w, at least: with columns of two codes, and on any alphabet."""


def triples(points: LossPoints, task: GroupTask, watch: Watch) -> Grouping:
    """Classes of three to five by a 2-factor of least weight.

    Source: aggarwal2005, section 6.

    Args:
        points: three records or more in canonical order, without numeric columns.
        task: with suppress nothing is guaranteed.
        watch: its stop raises StoppedError.

    Raises:
        OptionError: another k.
        DataError: too many records.
    """
    k = task.k
    if k != 3:
        raise OptionError(
            f"The method 'triples' is for k = 3 only, and k is {k}. Use pairs for k = 2, or forest."
        )
    check_size("triples", len(points))
    return by_factor(points, (3, 4, 5), SHARES, task, watch)
