"""What the page is told of a release: typed objects. Unless values are shown, they hold none
of the source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kanon_sql.reporting.facts import Bar, Distribution


@dataclass(frozen=True)
class ColumnFacts:
    """A column of the source.

    Attributes:
        name: its name.
        sql_type: its type.
        distinct: how many values it has.
        suggested_role: a role by its values, or None.
        suggested_hierarchy: the kind that fits its values, or None.
        warnings: what to know before it gets a role.
        withheld: whether it would be released as NULL, since it looks like an identifier.
    """

    name: str
    sql_type: str
    distinct: int
    suggested_role: str | None
    suggested_hierarchy: str | None
    warnings: tuple[str, ...] = ()
    withheld: bool = False


@dataclass(frozen=True)
class ColumnsFound:
    """All columns, with the roles that were chosen."""

    columns: tuple[ColumnFacts, ...]


@dataclass(frozen=True)
class ReleaseNumbers:
    """The numbers of a release.

    Attributes:
        values: the metrics by name.
        in_words: what some of them mean, in words.
        notices: what a user should know of the release, each once.
    """

    values: Mapping[str, float]
    in_words: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class ShownRows:
    """The rows of a release.

    Attributes:
        sizes: rows by the size of their class.
        distributions: the quasi-identifiers before and after.
        names: the released columns.
        rows: the first rows; None is NULL.
    """

    sizes: tuple[Bar, ...]
    distributions: tuple[Distribution, ...]
    names: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]


@dataclass(frozen=True)
class FrontierPoint:
    """A release by its risk and its loss.

    Attributes:
        k: the k that was asked for.
        loss: the share of the variance that is lost, 0 .. 1.
        risk: the largest prosecutor risk, 0 .. 1.
        classes: how many classes there are.
        refused: why there is no release; the numbers are 0 then.
    """

    k: int
    loss: float = 0.0
    risk: float = 0.0
    classes: int = 0
    refused: str = ""


@dataclass(frozen=True)
class PreviewedLevel:
    """A level of a hierarchy.

    Attributes:
        number: 0 for the values.
        labels: how many labels it has.
        examples: the label of each example at this level; None where it isn't shown.
    """

    number: int
    labels: int
    examples: tuple[str | None, ...]


@dataclass(frozen=True)
class Preview:
    """The levels of a hierarchy, from the values to '*'."""

    column: str
    kind: str
    levels: tuple[PreviewedLevel, ...]


@dataclass(frozen=True)
class Refused:
    """A sentence instead of an answer."""

    sentence: str


Stage = ColumnsFound | ReleaseNumbers | ShownRows | FrontierPoint | Preview | Refused
"""One part of what the page is told."""
