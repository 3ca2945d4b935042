"""What a report tells of the use of a release."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ColumnError:
    """How far a quasi-identifier is from what it was, row by row and as a whole.

    Attributes:
        column: its name.
        sentence: in words; empty where nothing can be said.
        mean_error: the metric of that name; three digits without show_values.
        changed: the metric changed_cells, 0 .. 1, likewise.
        variation: as that of its Distribution; None without one.
    """

    column: str
    sentence: str = ""
    mean_error: float | None = None
    changed: float | None = None
    variation: float | None = None


@dataclass(frozen=True)
class PropensityError:
    """How well a classifier tells rows of the release from those of the source (snoke2018).

    Attributes:
        error: pMSE, the mean squared difference of the score of a row from the share of the
            release: 0 where nothing tells them apart, c (1 - c) where all rows are told apart.
        share: the same, of what it is at most: 0 .. 1.
        ratio: the error over what it is on average if the rows of the release are drawn from those
            of the source at random, with replacement; None where the classifier has a constant
            alone. 0 of equal tables.
        coefficients: how many the classifier has, the constant among them.
        rows: of both tables that it was fitted on; fewer than there are above the limit.
        refused: why there is none, if so.
    """

    error: float | None = None
    share: float | None = None
    ratio: float | None = None
    coefficients: int = 0
    rows: int = 0
    refused: str = ""


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of a model that was fitted on the source and on the release.

    Attributes:
        name: the column; of a category with its label.
        before, after: the standardized coefficients; two decimals without show_values.
        inside: whether that of the release is in the source's 95 % confidence interval.
        overlap: how much of the two intervals is common, 0 .. 1: the mean of the shares of either
            (karr2006).
    """

    name: str
    before: float
    after: float
    inside: bool
    overlap: float


@dataclass(frozen=True)
class ModelComparison:
    """A model that was fitted on the source and on the release.

    Attributes:
        kind: 'linear regression' or 'logistic regression'.
        target: what it says: a column, or a column and the label that is told from all others.
        coefficients: without the constant.
        score: what the scores are.
        before, after: the score of either model on the same rows of the source.
        baseline: the score of saying the same of all rows.
        rows_before, rows_after: on which they were fitted.
        left_out: columns that fewer than half of the rows of either table tell, which it is
            fitted without.
        refused: why it can't be fitted, if so.
    """

    kind: str
    target: str
    coefficients: tuple[Coefficient, ...] = ()
    score: str = ""
    before: float | None = None
    after: float | None = None
    baseline: float | None = None
    rows_before: int = 0
    rows_after: int = 0
    left_out: tuple[str, ...] = ()
    refused: str = ""

    @property
    def inside(self) -> float | None:
        """The share of the release's coefficients in the source's confidence intervals."""
        if not self.coefficients:
            return None
        return sum(each.inside for each in self.coefficients) / len(self.coefficients)

    @property
    def overlap(self) -> float | None:
        """The mean overlap of the confidence intervals."""
        if not self.coefficients:
            return None
        return sum(each.overlap for each in self.coefficients) / len(self.coefficients)


@dataclass(frozen=True)
class Utility:
    """What is still true of a release.

    Attributes:
        columns: of the quasi-identifiers, in the order of the table.
        propensity: how well it can be told from the source; None where values aren't released.
        models: fitted on both.
        loss, loss_bound: information_loss in percent, and what no grouping with this k can be
            below; None where that isn't told.
        loss_words: what the second means.
    """

    columns: tuple[ColumnError, ...] = ()
    propensity: PropensityError | None = None
    models: tuple[ModelComparison, ...] = ()
    loss: float | None = None
    loss_bound: float | None = None
    loss_words: str = ""
