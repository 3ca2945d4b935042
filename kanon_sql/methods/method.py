"""What a method is: its function, and what is told about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from kanon_sql.kernel.watch import Watch
from kanon_sql.methods.geometry import SQUARED, Geometry, Trial
from kanon_sql.methods.option import MethodOptions
from kanon_sql.option import options_of
from kanon_sql.points.points import Grouping

SEARCH_OPTIONS = ("refine_steps", "refine_seconds")

TRIAL = Trial()

GroupFunction = Callable[[Any, Any, Watch], Grouping]
"""From the points of the method's geometry, the task and a watch."""


@dataclass(frozen=True)
class Method:
    """What ``anonymize_methods()`` tells about a method, and what the stages need to know.

    Attributes:
        name: what a user types; also the module of its family, and the function in it.
        family: the package that the module is in.
        summary: one sentence.
        guarantee: what holds for its result, beyond classes of k or more.
        cost: time, by the number of rows n.
        representation: how it releases its classes unless the call says otherwise.
        source: paper and section.
        use: what a user would choose it for, in a few words.
        geometries: what it works in by the option ``distance``, its own first; under None where
            the call has no choice.
        own: the dataclass of the options that only it, or it and some others, take.
        in_blocks: whether large inputs may be grouped block by block.
        block_rows: the most rows of a block, unless the call says otherwise.
        memory: how much its work takes beside the rows, as a multiple of what mdav_plus takes;
            measured on mixed tables and on numbers.
        refinable: whether refine may change its groups.
        searches: whether it is a search itself, which refine_steps and refine_seconds end.
        promises_k: whether classes have k rows or more.
        suppresses: whether it leaves out rows by itself where the option ``suppress`` allows it.
        only_k: the only k that it takes, if it takes one only.
        keeps_models: whether its own groups keep the privacy models of the task, so that nothing is
            left to be repaired.
        trial: what a trial run needs.
    """

    name: str
    family: str
    summary: str
    guarantee: str
    cost: str
    representation: str
    source: str
    geometries: Mapping[str | None, Geometry]
    own: type[MethodOptions] = MethodOptions
    use: str = "from the papers"
    in_blocks: bool = True
    block_rows: int = 500_000
    memory: float = 1.0
    refinable: bool = True
    searches: bool = False
    promises_k: bool = True
    suppresses: bool = False
    only_k: int | None = None
    keeps_models: bool = False
    trial: Trial = TRIAL

    @property
    def distances(self) -> tuple[str, ...]:
        """The words that the option ``distance`` takes with it, its own first."""
        return tuple(word for word in self.geometries if word is not None)

    @property
    def options(self) -> tuple[str, ...]:
        """The options that only some methods take, of those this one takes."""
        return (*options_of(self.own), *(SEARCH_OPTIONS if self.searches else ()))

    @property
    def repair(self) -> str:
        """What is done with classes that break a privacy model, in a few words."""
        if not self.promises_k:
            return "refused"
        return "takes levels that keep it" if self.keeps_models else self.geometry().repair

    def geometry(self, distance: str | None = None) -> Geometry:
        """What it works in, by the option ``distance``."""
        if distance not in self.geometries:
            distance = next(iter(self.geometries))
        return self.geometries[distance]

    def load(self) -> GroupFunction:
        """The function itself; imports its module, and with it the compiler."""
        module = import_module(f"{self.family}.{self.name}")
        function: GroupFunction = getattr(module, self.name)
        return function


BOTH: Mapping[str | None, Geometry] = {"sse": SQUARED, "loss": SQUARED}
"""Of methods that need means: distance 'loss' scales each attribute by its range, and combines the
distances along the attributes as squares."""
