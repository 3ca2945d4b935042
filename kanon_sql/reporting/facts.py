"""What a report tells. The page shows these objects and works out nothing of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kanon_sql.attacks.facts import Evidence, Variant
from kanon_sql.reporting.utility.told import Utility

KEPT = ("quasi_identifier", "within")
"""The roles of columns whose released values say which rows look alike."""


@dataclass(frozen=True)
class Number:
    """A metric.

    Attributes:
        name: as anonymize_metrics or anonymize_risk has it.
        value: None where it doesn't apply. Without show_values it is that of the manifest: three
            digits of what is measured on the source and no whole number.
        unit: its unit.
        meaning: what it means, and which direction is better.
    """

    name: str
    value: float | None
    unit: str
    meaning: str


@dataclass(frozen=True)
class Change:
    """A metric of risk, of the source and of the release."""

    name: str
    before: float | None
    after: float | None
    unit: str
    meaning: str


@dataclass(frozen=True)
class SourceColumn:
    """A column of the source.

    Attributes:
        name: its name.
        role: its role, as the manifest has it.
        type: as what it is released; None where it isn't.
        loss: the share of its information that is lost, 0 .. 1; of a quasi-identifier.
        loss_metric: the metric that says so.
        origin: who decided the role: 'call', 'relation', 'comment', 'view' or the name of a file;
            empty where that is the rule for columns that nobody named.
        drives: the share of the ways to single somebody out of the source that it is part of.
    """

    name: str
    role: str
    type: str | None = None
    loss: float | None = None
    loss_metric: str = ""
    drives: float | None = None
    origin: str = ""

    @property
    def passes(self) -> bool:
        """Whether it comes out as it is."""
        return self.type is not None and self.role not in ("quasi_identifier", "withheld")


@dataclass(frozen=True)
class Bar:
    """How many rows are in one bin, before and after.

    Attributes:
        label: what the bin is.
        before: rows of the source; without show_values to a multiple of ReportFacts.unit.
        after: rows of the release; no whole number where a released range is in several bins.
    """

    label: str
    before: float
    after: float


@dataclass(frozen=True)
class Distribution:
    """A quasi-identifier before and after.

    Attributes:
        column: its name.
        bars: the bins, in order.
        missing: rows without a value before, and rows of which nothing is told after.
        note: what a reader has to know, if anything.
        variation: the total variation distance of source and release over the bars, 0 .. 1: half
            the sum of the differences of their shares, so the share of the rows that would have to
            be in another bar; without show_values to a multiple of ReportFacts.unit rows. None
            without rows.
    """

    column: str
    bars: tuple[Bar, ...]
    missing: Bar
    note: str = ""
    variation: float | None = None


@dataclass(frozen=True)
class Association:
    """How much two columns have to do with each other.

    Attributes:
        first, second: the columns.
        before, after: -1 .. 1 of two numbers (Pearson's correlation), else 0 .. 1 (Cramér's V).
        kind: which of them it is.
        own: Cramér's V of the source's own values, where a hierarchy made them coarser before they
            were compared: the rest of the change is that of the grouping.
    """

    first: str
    second: str
    before: float | None
    after: float | None
    kind: str
    own: float | None = None

    @property
    def moved(self) -> float:
        """By how much it changed."""
        if self.before is None or self.after is None:
            return 0.0
        return abs(self.after - self.before)


@dataclass(frozen=True)
class SensitiveShares:
    """What the classes of the release say of a sensitive column.

    Attributes:
        column: its name.
        by_values: classes and rows, by how many values a class has; the last is that many or more.
        by_share: the same by the share of the most frequent value of a class.
        one_value: rows whose class has one value only.
        metric: the metric that tells them.
    """

    column: str
    by_values: tuple[tuple[str, int, int], ...]
    by_share: tuple[tuple[str, int, int], ...]
    one_value: int
    metric: str


@dataclass(frozen=True)
class Answer:
    """A line of the answers to a query.

    Attributes:
        key: what the line is about; empty where the answer is one line.
        before: numbers of the source, by column; empty without show_values.
        after: numbers of the release, by column.
        error: by column, the difference as a share of the source's number; without show_values the
            least of some round shares that it is not above.
    """

    key: str
    before: Mapping[str, float | None]
    after: Mapping[str, float | None]
    error: Mapping[str, float | None]


@dataclass(frozen=True)
class UserQuery:
    """A query of the user on source and release.

    Attributes:
        name: what the user calls it.
        sql: its text.
        columns: the columns with numbers.
        answers: the lines that both have.
        more: lines that are not shown.
        only_before, only_after: lines that the other doesn't have.
        worst: the largest error of all lines, as in Answer.
        middle: the middle one.
        refused: why there is no answer, if so.
    """

    name: str
    sql: str
    columns: tuple[str, ...] = ()
    answers: tuple[Answer, ...] = ()
    more: int = 0
    only_before: int = 0
    only_after: int = 0
    worst: float | None = None
    middle: float | None = None
    refused: str = ""


@dataclass(frozen=True)
class Pair:
    """A released row beside the source row that is most like it.

    Attributes:
        released, source: the values as text, in the order of the columns.
        distance: 0 .. 1, the mean over the columns: a number's difference over the range, 1 for two
            texts that differ.
        as_near: how many rows of the source are no further.
    """

    released: tuple[str, ...]
    source: tuple[str, ...]
    distance: float
    as_near: int


@dataclass(frozen=True)
class Alternative:
    """A release that could have been made instead.

    Attributes:
        label: what it is called: its method, or the options in which it differs.
        chosen: whether it is the one that this report is about.
        method: its method.
        numbers: by metric; empty where it was refused.
        refused: the refusal.
    """

    label: str
    chosen: bool
    method: str = ""
    numbers: Mapping[str, float | None] = field(default_factory=dict)
    refused: str = ""


@dataclass(frozen=True)
class ReportFacts:
    """All that a report tells.

    Attributes:
        title: the user's.
        k: the k that was asked for.
        unit: of what counts of the source are told in multiples: k, or with an entity so many rows
            that they are those of k persons or more.
        columns: of the source.
        metrics: of the release, by name.
        risk: before and after.
        sizes: rows by the size of their class.
        distributions, associations, shared, queries, pairs, alternatives: see their types.
        manifest: by section and entry.
        show_values: whether values of the source may be shown.
        utility: what is still true of the release.
        notices: what a user should know of the release, each once.
        refused: parts that couldn't be made, by their name: why.
        evidence: attacks on the release; None where none was made.
        made_on: the day on which the report was made, such as 2026-11-25.
    """

    title: str
    k: int
    unit: int
    columns: tuple[SourceColumn, ...]
    metrics: Mapping[str, Number]
    risk: Mapping[str, Change]
    sizes: tuple[Bar, ...]
    distributions: tuple[Distribution, ...]
    associations: tuple[Association, ...]
    shared: tuple[SensitiveShares, ...]
    queries: tuple[UserQuery, ...]
    pairs: tuple[Pair, ...]
    alternatives: tuple[Alternative, ...]
    manifest: Mapping[str, Mapping[str, Any]]
    show_values: bool
    utility: Utility = field(default_factory=Utility)
    notices: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    evidence: Evidence | None = None
    made_on: str = ""

    def value(self, metric: str) -> float | None:
        """A metric's number; None where there is none."""
        number = self.metrics.get(metric)
        return None if number is None else number.value

    @property
    def quasi_identifiers(self) -> tuple[SourceColumn, ...]:
        """The columns that are generalized."""
        return tuple(each for each in self.columns if each.role == "quasi_identifier")

    @property
    def passing(self) -> tuple[SourceColumn, ...]:
        """The columns that pass unchanged."""
        return tuple(each for each in self.columns if each.passes)

    @property
    def guessed(self) -> tuple[Variant, ...]:
        """What an attacker guessed of the sensitive columns; empty where nobody tried."""
        attacks = () if self.evidence is None else self.evidence.attacks
        return next((each.variants for each in attacks if each.name == "inference"), ())

    @property
    def gone(self) -> tuple[SourceColumn, ...]:
        """The columns that don't come out."""
        return tuple(
            each for each in self.columns if not each.passes and each.role != "quasi_identifier"
        )
