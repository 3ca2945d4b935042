"""Which part each vertex is in, while parts are joined."""

from __future__ import annotations

from typing import Any

from kanon_sql.kernel.jit import inner


@inner
def find_root(above: Any, v: int) -> int:
    """The vertex that stands for the part of v.

    Joining is up to the caller, since the roots mean something: one takes the larger part's (to
    keep ways short), one the vertex of the part that is topmost in a tree. Two parts are joined by
    ``above[root of one] = root of the other``.

    Args:
        above: int64, shape (n,); a vertex of the same part that is nearer to its root, the vertex
            itself at the root. At first ``arange(n)``. Changed.
        v: a vertex.
    """
    while above[v] != v:
        # each vertex passed skips one on the way up: ways stay short without a second pass
        above[v] = above[above[v]]
        v = above[v]
    return v
