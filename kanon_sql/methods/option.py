"""The options of a method, and what they mean for others than the method itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from kanon_sql.methods.task_view import TaskView
from kanon_sql.option import options_of

Options = TypeVar("Options", bound="MethodOptions")


@dataclass(frozen=True)
class MethodOptions:
    """The options of one method beside those of all; most methods have none.

    What an option means for others than the method itself is said here too, so that no other module
    asks for a method's name.
    """

    @classmethod
    def read(cls: type[Options], raw: Mapping[str, Any]) -> Options:
        """From values as they were typed; None, and what isn't there, stands for the default.

        Raises:
            OptionError: a value that can't be.
        """
        return cls(**{
            name: known.read(raw[name])
            for name, known in options_of(cls).items() if raw.get(name) is not None
        })

    def check(self, task: TaskView, names: Collection[str]) -> None:
        """Raises OptionError where they don't go with the rest of the task.

        Args:
            task: all of it.
            names: the names of all options that were given.
        """

    def for_trial(self, in_blocks: bool) -> MethodOptions:
        """The same options as a trial run on invented records can take them (see warm_up.py)."""
        return self

    @property
    def leaves_out(self) -> tuple[str, float] | None:
        """The option by which the method may leave rows out, and the largest share of them."""
        return None

    @property
    def needs_sensitive(self) -> bool:
        """Whether the method looks at the values of the one sensitive column."""
        return False

    @property
    def needs_protected(self) -> bool:
        """Whether it asks which of those values are truly sensitive."""
        return False

    @property
    def remark(self) -> str | None:
        """What a user should know before the release is used; said when the method begins."""
        return None

    @property
    def in_metric(self) -> str:
        """The metric of the published radii."""
        return "euclidean"

    @property
    def publishes_small(self) -> bool:
        """Whether classes of one row may be published, where the method promises no size."""
        return False

    @property
    def needs_all_rows(self) -> str | None:
        """The option, if any, that means nothing where rows are cut into blocks."""
        return None

    @property
    def box(self) -> Mapping[str, tuple[float, float]] | None:
        """The box that all places lie in, by column, where one was given."""
        return None

    @property
    def added_columns(self) -> tuple[str, ...]:
        """The columns that the method adds to a release."""
        return ()

    @property
    def tightly(self) -> bool:
        """Whether classes of places release the smallest box around them."""
        return False

    @property
    def publishes(self) -> str:
        """The centers that are published, where the method has centers: 'anywhere', 'means' or
        'rows'."""
        return "anywhere"

    @property
    def widening(self) -> float:
        """What published centers may cost, over those that the method chose, where a guarantee is
        told."""
        return 1.0

    @property
    def row_cost(self) -> float | str | None:
        """What each row costs, where the method asks: a number, the name of a column, or None."""
        return None

    @property
    def cost_column(self) -> str | None:
        """The column that holds what each row costs."""
        return self.row_cost if isinstance(self.row_cost, str) else None
