"""What a geometry, and the options of a method, are told of the task that they are a part of."""

from __future__ import annotations

from typing import Any, Protocol


class TaskView(Protocol):
    """The part of a GroupTask that they read; see there."""

    @property
    def k(self) -> int:
        """The least rows of a class."""

    @property
    def own(self) -> Any:
        """The options of the method."""

    @property
    def loss(self) -> str:
        """What categories lose in the geometry of information loss."""

    @property
    def refine(self) -> str:
        """'none' or 'local'."""

    @property
    def class_label(self) -> str | None:
        """The column that holds the class label, if there is one."""

    @property
    def sensitive_values(self) -> tuple[str, ...]:
        """The values of sensitive columns that are truly sensitive."""

    @property
    def promised(self) -> int | None:
        """The k that is promised; None of a method that promises none."""

    @property
    def left_out(self) -> tuple[str, float]:
        """The option by which rows may be left out, and the largest share of them."""
