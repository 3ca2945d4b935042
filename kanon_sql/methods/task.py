"""The task of one grouping: all that decides the labels, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.geometry import Geometry
from kanon_sql.methods.method import Method
from kanon_sql.methods.option import MethodOptions
from kanon_sql.names import caseless
from kanon_sql.points.points import Grouping, Points
from kanon_sql.privacy import (
    Constraint,
    KAnonymity,
    PopulationConstraint,
    PrivacyModel,
    WholeConstraint,
    read_constraint,
)


@dataclass(frozen=True)
class GroupTask:
    """What to group by, and how. It crosses into the query as JSON, and with the points it is the
    key under which labels are remembered: what it holds in excess costs a second grouping, and
    what decides labels can't be forgotten, since a method sees nothing else.

    Attributes:
        method: how rows are put into groups.
        k: the least rows of a class.
        own: the options of the method.
        distance: the geometry, 'sse' or 'loss'; None where the method has one of its own.
        loss: what categories lose in the geometry of information loss.
        weights: what columns count that don't count 1.
        nulls: what a NULL is: 'value', 'suppress' or 'error'.
        seed: decides the order among equal rows.
        refine: 'none' or 'local'.
        refine_times: how many times the steps that refine may take by itself.
        refine_steps, refine_seconds: where a search ends; None is by the number of rows, and never.
        block_rows: the most rows that are grouped as one; None is what the method says.
        suppress: the share of the rows that may be left out.
        class_label: the column that holds the class label, if there is one.
        sensitive_values: the values of sensitive columns that are truly sensitive.
        beside_k: what every class, or all of them together, must keep beside k; the method doesn't
            know of it, and classes that break it are merged afterwards.
        persons: whether the records are persons, each of all rows of one.
        scales: the scale of each column, by its name in lower case, as it was learned from all rows
            where these are a block of them; None where it is learned from these.
    """

    method: Method
    k: int
    own: MethodOptions
    distance: str | None = None
    loss: str = "range_flat"
    weights: Mapping[str, float] = field(default_factory=dict)
    nulls: str = "value"
    seed: int = 0
    refine: str = "none"
    refine_steps: int | None = None
    refine_seconds: float | None = None
    block_rows: int | None = None
    suppress: float = 0.0
    class_label: str | None = None
    sensitive_values: tuple[str, ...] = ()
    beside_k: tuple[Constraint, ...] = ()
    persons: bool = False
    scales: Mapping[str, Any] | None = None
    refine_times: int = 1

    @staticmethod
    def of(method: Method, k: int, **options: Any) -> GroupTask:
        """A task from options by name, the method's own among them.

        Raises:
            OptionError: an own option that can't be.
        """
        known = {f.name for f in fields(GroupTask)}
        plain = {name: value for name, value in options.items() if name in known}
        own = {name: value for name, value in options.items() if name not in known}
        unknown = set(own) - set(method.options)
        if unknown:
            raise TypeError(f"{method.name} has no option {', '.join(sorted(unknown))}")
        if plain.get("distance") is None:
            plain["distance"] = next(iter(method.geometries))
        return GroupTask(method, k, method.own.read(own), **plain)

    @property
    def geometry(self) -> Geometry:
        """What the method works in."""
        return self.method.geometry(self.distance)

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """What every class of the release must keep, k first."""
        return (KAnonymity(self.k), *self.beside_k)

    @property
    def least_size(self) -> int:
        """No class of fewer rows can keep the constraints."""
        return max(constraint.least_size for constraint in self.constraints)

    @property
    def models(self) -> tuple[PrivacyModel, ...]:
        """The privacy models among what stands beside k."""
        return tuple(each for each in self.beside_k if isinstance(each, PrivacyModel))

    @property
    def whole(self) -> tuple[WholeConstraint, ...]:
        """What all classes together must keep, among what stands beside k."""
        return tuple(each for each in self.beside_k if isinstance(each, WholeConstraint))

    @property
    def of_population(self) -> tuple[PopulationConstraint, ...]:
        """What every class must have of a population, among what stands beside k."""
        return tuple(each for each in self.beside_k if isinstance(each, PopulationConstraint))

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive columns that the models name, each as it was first named."""
        named: dict[str, str] = {}
        for model in self.models:
            named.setdefault(caseless(model.column), model.column)
        return tuple(named.values())

    @property
    def needs_sensitive(self) -> bool:
        """Whether the method or a model looks at the values of sensitive columns."""
        return self.own.needs_sensitive or bool(self.models)

    @property
    def secret(self) -> bool:
        """Whether sensitive values have a part in the labels."""
        return any(not model.of_entity for model in self.models)

    @property
    def apart(self) -> str | None:
        """The column that says whose row each is, where these may be in several classes."""
        return next((model.column for model in self.models if model.of_entity), None)

    @property
    def promised(self) -> int | None:
        """The k that is promised; None of a method that promises none."""
        return self.k if self.method.promises_k else None

    @property
    def left_out(self) -> tuple[str, float]:
        """The option by which rows may be left out, and the largest share of them."""
        return self.own.leaves_out or ("suppress", self.suppress)

    def block_size(self) -> int:
        """The largest number of records in a block."""
        return max(int(self.block_rows or self.method.block_rows), LEAST * self.k)

    def group(self, points: Points, watch: Watch | None = None) -> Grouping:
        """Runs the method itself, as one block. Raises StoppedError when the watch was asked to
        stop."""
        return self.method.load()(points, self, watch or Watch())

    def as_json(self) -> dict[str, Any]:
        """The task in values that JSON has."""
        data = {f.name: getattr(self, f.name) for f in fields(self)}
        if not self.persons:
            del data["persons"]
        if self.scales is None:
            del data["scales"]
        if self.refine_times == 1:
            del data["refine_times"]
        return data | {
            "method": self.method.name,
            "own": asdict(self.own),
            "beside_k": [constraint.as_json() for constraint in self.beside_k],
        }

    def to_json(self) -> str:
        """The task as text; equal tasks give equal texts."""
        return json.dumps(self.as_json(), sort_keys=True)

    @staticmethod
    def from_json(data: dict[str, Any], methods: Mapping[str, Method]) -> GroupTask:
        """The task from what ``as_json`` gave, after its way through JSON."""
        data = dict(data)
        method = methods[data.pop("method")]
        own = method.own.read(data.pop("own"))
        values = tuple(data.pop("sensitive_values"))
        beside_k = tuple(read_constraint(each) for each in data.pop("beside_k"))
        return GroupTask(
            method=method, own=own, sensitive_values=values, beside_k=beside_k, **data
        )


LEAST = 50
"""Times k: the fewest records in a block."""


@dataclass(frozen=True)
class Run:
    """What the functions inside a query are told: the task, and beside it what concerns this run
    and not its result.

    Attributes:
        task: what to group by, and how.
        progress: whether it is shown how far the grouping is.
        named: the quasi-identifiers that somebody named, in lower case; None: all of them. Others
            are questioned: see kanon_sql.encode.identifier_detection.
        ledger: how the classes go on from earlier releases: against whom ('attacker') and how many
            persons above k new classes get ('headroom'); None where they don't.
        block: the name under which the facts of the run are kept for who made the query, where
            these rows are a block of many.
        parts: 'whole' where the rows come in parts, of which each is grouped by itself, and the
            last of their sensitive columns is the number of the part; 'by_part' where the facts of
            each are told, too.
        least: a text that fewer rows have is a person's own: see
            kanon_sql.encode.identifier_detection.
        precise: whether it is told how fine the values of each column are.
        measured: whether the rows stay until the query has measured what was made of them.
    """

    task: GroupTask
    progress: bool = True
    named: tuple[str, ...] | None = None
    ledger: Mapping[str, Any] | None = None
    block: str | None = None
    parts: str | None = None
    least: int = 2
    precise: bool = False
    measured: bool = False

    def to_json(self) -> str:
        """The run as text."""
        data = {"task": self.task.as_json(), "progress": self.progress, "named": self.named}
        if self.named is not None:
            data["least"] = self.least
        if self.ledger is not None:
            data["ledger"] = dict(self.ledger)
        if self.block is not None:
            data["block"] = self.block
        if self.parts is not None:
            data["parts"] = self.parts
        if self.precise:
            data["precise"] = True
        if self.measured:
            data["measured"] = True
        return json.dumps(data, sort_keys=True)

    @staticmethod
    def from_json(text: str, methods: Mapping[str, Method]) -> Run:
        """The run that ``to_json`` wrote."""
        data = json.loads(text)
        named = None if data["named"] is None else tuple(data["named"])
        task = GroupTask.from_json(data["task"], methods)
        ledger, block, parts = (data.get(name) for name in ("ledger", "block", "parts"))
        return Run(
            task, data["progress"], named, ledger, block, parts, data.get("least", Run.least),
            data.get("precise", False),
            data.get("measured", False),
        )
