"""One attribute whose values are put together (du2009)."""

from __future__ import annotations

from kanon_sql.methods.method import Method

METHODS = (
    Method(
        name="zip_regions",
        family=__name__,
        summary="For codes of areas: connected regions of the graph of neighbours, cut off a "
        "spanning tree of low degree, the lightest first.",
        guarantee="largest class at most max(k, largest code) + d (k - 1) rows, d being the "
        "degree of the tree; with islands 'nearest' none",
        cost="O(n) for the rows, near O(m log m) for m codes",
        options=("adjacency", "places", "islands"),
        representation="interval",
        source="du2009, section 2.2",
        distances=(),
        objective="size",
        in_blocks=False,
        refinable=False,
        items="nodes",
    ),
    Method(
        name="gps_rectangles",
        family=__name__,
        summary="For a latitude and a longitude: disjoint rectangles, by a k-d tree that cuts "
        "as long as both sides keep k rows.",
        guarantee="largest class at most 5 times the least possible",
        cost="O(n log n)",
        options=("extent", "tight", "wkt"),
        representation="bounds",
        source="du2009, section 3.2",
        distances=(),
        objective="size",
        in_blocks=False,
        refinable=False,
        items="places",
    ),
    Method(
        name="fold",
        family=__name__,
        summary="For labels without an order: fills class after class to k rows; the last, "
        "unfilled one joins another.",
        guarantee="largest class at most max(k - 1 + largest label, 3k - 3) rows",
        cost="O(n) for the rows, O(m) for m labels",
        options=("sequence",),
        representation="interval",
        source="du2009, theorem 7",
        distances=(),
        objective="size",
        in_blocks=False,
        refinable=False,
        seeded=True,
        items="labels",
    ),
    Method(
        name="spread",
        family=__name__,
        summary="As fold, but the labels of the last, unfilled class are spread over the "
        "others.",
        guarantee="largest class at most max(k - 1 + largest label, 3k - 3) rows",
        cost="O(n) for the rows, near O(m log m) for m labels",
        options=("sequence",),
        representation="interval",
        source="du2009, section 5",
        distances=(),
        objective="size",
        in_blocks=False,
        refinable=False,
        seeded=True,
        items="labels",
    ),
    Method(
        name="five_halves",
        family=__name__,
        summary="Fills classes with labels from the most frequent down, evens them out by "
        "exchanging labels, and keeps the best of three packings.",
        guarantee="largest class at most 5/2 times the least possible",
        cost="O(n) for the rows, O(m log m) for m labels in each of some tries",
        options=(),
        representation="interval",
        source="du2009, theorem 9",
        distances=(),
        objective="size",
        in_blocks=False,
        refinable=False,
        items="labels",
    ),
    Method(
        name="bin_cover",
        family=__name__,
        summary="For few labels: tries all ways to put the frequent ones together, up to "
        "rounding by epsilon.",
        guarantee="largest class at most (1 + epsilon) (least possible + k) rows, so 2 (1 + "
        "epsilon) times the least possible",
        cost="grows fast with the number of frequent labels; refused where it is too large",
        options=("epsilon",),
        representation="interval",
        source="du2009, theorem 10",
        distances=(),
        objective="size",
        in_blocks=False,
        refinable=False,
        items="labels",
    ),
    Method(
        name="ordered",
        family=__name__,
        summary="For one column with an order: the intervals whose largest class, or whose "
        "quadratic penalty, is the least possible.",
        guarantee="no intervals have a smaller largest class (objective 'quadratic': a lower "
        "quadratic penalty)",
        cost="O(n) for the rows, O(m log m) for m distinct values",
        options=("objective",),
        representation="interval",
        source="du2009, section 4",
        distances=(),
        objective="size",
        in_blocks=False,
        refinable=False,
        items="values",
    ),
)
