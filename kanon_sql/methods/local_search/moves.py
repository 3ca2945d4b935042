"""What a group costs, as the search sees it: squared errors or information loss.

Both modules have functions of the same names. Which of them a kernel means is decided when the
kernel is compiled, by the data that it is given, so that only the one that is used is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.extending import overload

from kanon_sql.kernel.jit import CHOSEN
from kanon_sql.methods.local_search import moves_by_information_loss as information_loss
from kanon_sql.methods.local_search import moves_by_squared_error as squared_error


def _either(name: str) -> Callable[..., Any]:
    """The function of that name of one module or the other, callable in kernels alone."""
    squared, loss = getattr(squared_error, name), getattr(information_loss, name)

    def stub(*_: Any) -> Any:
        raise NotImplementedError(name)

    def chosen(data: Any, *_: Any) -> Any:
        # data is numba's type of a NamedTuple here, which knows the class
        by_squares = data.instance_class is squared_error.SquaredRecords
        return (squared if by_squares else loss).py_func

    decorate: Any = overload
    decorate(stub, jit_options=CHOSEN, strict=False)(chosen)
    return stub


hold_groups, join, leave, clear, swap, distance = map(
    _either, ("hold_groups", "join", "leave", "clear", "swap", "distance")
)
cost, growth, relief, exchange, choose, settle = map(
    _either, ("cost", "growth", "relief", "exchange", "choose", "settle")
)


def frozen(groups: Any) -> Any:
    """The groups, all settled, for a thread that only reads them while another changes them: what
    it finds of one that is being changed is worthless."""
    by_squares = isinstance(groups, squared_error.SquaredGroups)
    return (squared_error if by_squares else information_loss).frozen(groups)
