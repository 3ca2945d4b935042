"""Work that several threads take from one list, each the next piece."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import intrinsic

_step: Callable[[Callable[..., Any]], Any] = intrinsic


@_step
def claim(typing: Any, turns: Any, many: Any) -> Any:
    """The number in turns, to which ``many`` is added in the same moment: no two threads get the
    same one. turns: int64, shape (1,). It is called without the first argument, by kernels only."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        more = context.cast(builder, args[1], signature.args[1], types.int64)
        # nothing is told about other memory: what threads read is written before they start
        return builder.atomic_rmw("add", array.data, more, "monotonic")

    return types.int64(turns, many), generate
