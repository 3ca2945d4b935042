"""What a privacy model is: one class, which says all that the stages of a call ask of it.

A model is a module of this folder and its line in the registry (``kanon_sql/privacy/__init__.py``):
its options, what it demands of a class and of the whole table, the kernel that counts how far a
class is from it, the SQL that checks it on what is released, its metrics and its refusals. No other
module names a model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple, TypeVar

from kanon_sql.names import caseless
from kanon_sql.option import GROUPING_CALLS, option
from kanon_sql.points.points import Codes
from kanon_sql.points.sensitive import Counts, SensitiveColumn
from kanon_sql.privacy.check import Check, Place
from kanon_sql.privacy.demand import Demand, Tables
from kanon_sql.validators import THRESHOLD_DECIMALS, one_of

Model = TypeVar("Model", bound="PrivacyModel")

CALLS = (*GROUPING_CALLS, "k_anonymity")
"""What takes the options of models."""

NUMBERS = "DOUBLE, or STRUCT or MAP"
WORDS = "VARCHAR, or STRUCT or MAP"

BY_COLUMN = ". Give a number for the only sensitive column, or one by column: {'disease': %s}."

SENSITIVE_NULLS = {
    "worst": "is the most frequent value of its class (l, alpha), or farthest from all others (t)",
    "value": "is a value as any other",
}
"""What a sensitive NULL is: as bad for the class as it can be, or a value as any other."""

NULLS = tuple(SENSITIVE_NULLS)


@dataclass(frozen=True)
class KindOptions:
    """The options of one kind of models, a field each. The first asks for the kind, by a threshold;
    the others say more of it. All of them are one for all sensitive columns, or one by column.

    Attributes:
        example: a threshold, for messages.
        audited: the options that k_anonymity takes though nobody asks for a threshold.
        by_value: whether the threshold may be one for each of some values.
    """

    example: ClassVar[str]
    audited: ClassVar[tuple[str, ...]] = ()
    by_value: ClassVar[bool] = False

    @staticmethod
    def limit_of(limit: Any, sensitive_values: tuple[str, ...], columns: int) -> Any:
        """The threshold of one column.

        Args:
            limit: what was given for it.
            sensitive_values: the values that are truly sensitive, if some were named.
            columns: how many sensitive columns there are.
        """
        return limit

    @staticmethod
    def refuse_odd(
        limits: Mapping[str, Any], said: Mapping[str, Mapping[str, Any]], asked: Any
    ) -> None:
        """Raises OptionError for options of the kind that don't go together.

        Args:
            limits: the threshold of each column that has one.
            said: what the other options say of each of these, by option.
            asked: the options of all models as they were given.
        """

    @staticmethod
    def refuse_audit(asked: Any) -> None:
        """Raises OptionError for what k_anonymity can't measure; ``asked`` as in refuse_odd."""


@dataclass(frozen=True)
class NullOptions:
    """What all models are told."""

    sensitive_nulls: str = option(
        "worst", one_of(SENSITIVE_NULLS),
        "How l, alpha and t treat a NULL or NaN in a sensitive column: "
        + "; ".join(f"'{name}' {text}" for name, text in SENSITIVE_NULLS.items())
        + ". For delta and beta, it is always a value.",
        calls=CALLS,
    )


class Measure(NamedTuple):
    """A metric of a constraint, as anonymize_metrics tells it.

    Attributes:
        name: the metric.
        expression: SQL over the columns of ``_facts`` (see sql/measure.sql).
        unit: its unit.
        description: what it means.
    """

    name: str
    expression: str
    unit: str
    description: str


class Threshold(NamedTuple):
    """A number by which a model is asked for, of which metrics tell what was asked and reached.

    Attributes:
        name: the option, and the attribute of the model.
        unit: its unit.
        reached: what the metric NAME is.
        bound: what that must be: 'at least', 'at most' or 'below' NAME_requested.
    """

    name: str
    unit: str
    reached: str
    bound: str = "at most"


@dataclass(frozen=True)
class Constraint:
    """A demand on every class, which all stages ask: the grouping for the least size of a class,
    the enforcement for the classes that break it, the verification for SQL over what is released,
    the metrics for what was asked and reached.

    A constraint is kept by the union of two classes that keep it, so that merging never breaks one.

    Attributes:
        name: its word, as the task carries it.
        measures: its metrics.
    """

    name: ClassVar[str]
    measures: ClassVar[tuple[Measure, ...]] = ()

    @property
    def least_size(self) -> int:
        """No class of fewer rows can keep it, whatever the table."""
        return 1

    def as_json(self) -> dict[str, Any]:
        """The constraint in values that JSON has."""
        return {"name": self.name, **asdict(self)}


@dataclass(frozen=True)
class PrivacyModel(Constraint):
    """A demand on how the values of a sensitive column are spread within each class.

    Attributes:
        option: the option that asks for it.
        options: this and those that say more of it.
        thresholds: that of the option first; what a class has is measured on the scale of the last.
        audited_as: the column of k_anonymity that tells what the worst class has.
        nothing: a threshold by which a class is measured that nobody asked for.
        whole: whether what a class has is a whole number.
        of_all_rows: whether a class is held against all rows.
        by_hierarchy: whether it may go by a hierarchy of its column.
        of_entity: whether its column says whose row a row is, and is nobody's sensitive value.
        secrets: the attributes that hold values of the data.
        column: the sensitive column.
        nulls: what a NULL or NaN is, one of NULLS.
    """

    option: ClassVar[str]
    options: ClassVar[type[KindOptions]]
    thresholds: ClassVar[tuple[Threshold, ...]] = ()
    audited_as: ClassVar[str]
    nothing: ClassVar[float] = 1.0
    whole: ClassVar[bool] = False
    of_all_rows: ClassVar[bool] = False
    by_hierarchy: ClassVar[bool] = False
    of_entity: ClassVar[bool] = False
    secrets: ClassVar[tuple[str, ...]] = ()

    column: str
    nulls: str = "worst"

    # --- from options ---------------------------------------------------------------------------

    @classmethod
    def is_meant(cls, said: Mapping[str, Any]) -> bool:
        """Whether it is this one of its kind that is asked for.

        Args:
            said: what the options beside the threshold say of the column.
        """
        return True

    @classmethod
    def read(
        cls: type[Model], limit: Any, said: Mapping[str, Any], column: str, nulls: str
    ) -> Model:
        """The model of a column.

        Args:
            limit: the threshold.
            said: as in ``is_meant``.
            column, nulls: as the attributes.
        """
        return cls(column, nulls, **{cls.option: limit})

    @classmethod
    def measuring(
        cls: type[Model], asked: Any, models: Sequence[PrivacyModel], column: str, nulls: str
    ) -> Model:
        """The model with a threshold that says nothing: k_anonymity measures by it what classes
        have.

        Args:
            asked: the options of all models as they were given.
            models: those that are asked for, of all columns.
            column, nulls: as the attributes.
        """
        return cls(column, nulls, **{cls.option: cls.nothing})

    @classmethod
    def by_manifest(cls, column: str) -> Mapping[str, PrivacyModel]:
        """What measures a class of a released file, by SQL of when: it may name the options that a
        manifest states, as ${closeness}, texts that are empty where nothing was said, and
        ``ordered``: whether the values have an order. A sensitive NULL is as bad as it can be."""
        return {"true": cls.measuring(None, (), column=column, nulls=NULLS[0])}

    @property
    def bounds_values(self) -> bool:
        """Whether it bounds the share of each value apart, so that a class with a rare value must
        be large, and one without it need not be."""
        return False

    @property
    def measures_all(self) -> bool:
        """Whether it measures what the model with a threshold that says nothing does."""
        return True

    @property
    def goes_by_hierarchy(self) -> bool:
        """Whether it would go by a hierarchy of its column."""
        return self.by_hierarchy

    @property
    def without_hierarchy(self) -> str | None:
        """What is said where its column has no hierarchy; None where it needs none."""
        return None

    # --- of the whole table ---------------------------------------------------------------------

    def counts(self, column: SensitiveColumn, codes: Codes) -> Counts:
        """What it is held against: how often each value is among all rows, or among these.

        Args:
            column: its column.
            codes: int32, shape (n,); of the rows that are released, or of those of a block.
        """
        return (Counts.overall if self.of_all_rows else Counts.of)(column, codes)

    def best(self, table: Counts) -> float:
        """The best value that one class of all rows of the table has, on the scale of the
        threshold; where it isn't good enough, no release is."""
        raise NotImplementedError

    def feasible(self, table: Counts) -> bool:
        """Whether one class of all rows passes."""
        raise NotImplementedError

    def least_class(self, table: Counts) -> int:
        """No class of fewer rows passes, given what all rows have."""
        return self.least_size

    def in_shares(self, table: Counts) -> bool:
        """Whether a class passes exactly if it has the shares of all rows, to the last row."""
        return False

    def refuse_table(self, table: Counts) -> None:
        """Raises DataError where it means nothing in its column."""

    def reached(self, table: Counts) -> str:
        """What one class of all rows has, in words."""
        return f"has {self.option} = {self.best(table):.9g}"

    def nearest(self, table: Counts) -> str:
        """What to ask for instead, in words: the nearest threshold that a release keeps."""
        if self.of_values:
            return f"a {'lower' if self.more_is_better else 'higher'} {self.option} by value"
        best, digits = self.best(table), 10 ** THRESHOLD_DECIMALS
        if self.more_is_better:
            return f"{self.option} of {math.floor(best * digits) / digits:.9g} or less"
        return f"{self.option} of {math.ceil(best * digits) / digits:.9g} or more"

    def refusal(self, table: Counts) -> str:
        """What is said where it isn't feasible."""
        return (
            f"One class of all {table.rows} rows {self.reached(table)} for the column "
            f"{self.column!r}, so {self.asked} can't be kept. Ask for {self.nearest(table)}."
        )

    # --- of a class -----------------------------------------------------------------------------

    def demand(self, codes: Codes, table: Counts, tables: Tables) -> Demand:
        """What kernels are to demand of every class.

        Args:
            codes: int32, shape (n,); of the column.
            table: how often each value is among the rows that are released.
            tables: gets the columns of codes that the demand looks at.
        """
        raise NotImplementedError

    def by_slices(self, column: SensitiveColumn, cheap: bool) -> bool:
        """Whether a search tries to begin by a record of each slice of the sensitive values.

        Args:
            column: its column.
            cheap: whether trying costs little.
        """
        return False

    # --- of what is released --------------------------------------------------------------------

    def check(self, at: Place) -> Check:
        """The SQL that says of each combination of released values whether it passes."""
        raise NotImplementedError

    @property
    def more_is_better(self) -> bool:
        """Whether the worst class is the one that has least."""
        return bool(self.thresholds) and self.thresholds[-1].bound == "at least"

    @property
    def unordered(self) -> str | None:
        """What k_anonymity says where the values have no order; None where they need none."""
        return None

    # --- in words -------------------------------------------------------------------------------

    @property
    def asked(self) -> str:
        """Its thresholds in words, without values of the data."""
        thresholds = {
            name: value for name, value in self.as_json().items()
            if name not in ("name", "column", "nulls", *self.secrets) and value is not None
        }
        asked = ", ".join(f"{name} = {value}" for name, value in thresholds.items())
        return asked or f"{self.option} by value"

    @property
    def in_words(self) -> str:
        """The model, its thresholds and its column, without values of the data."""
        return f"{self.name} with {self.asked} for the column {self.column!r}"

    @property
    def of_values(self) -> Mapping[str, float]:
        """The thresholds of single values, which nobody is told; empty where it has one for all."""
        return {}


def spot_of(column: str, names: Sequence[str]) -> int:
    """Where a column stands among these, whatever the case of the letters."""
    return [caseless(name) for name in names].index(caseless(column))
