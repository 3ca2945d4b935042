"""One attribute whose values are put together (du2009)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from kanon_sql.errors import OptionError
from kanon_sql.methods.geometry import Trial
from kanon_sql.methods.method import Method
from kanon_sql.methods.option import MethodOptions
from kanon_sql.methods.single_attribute.geometry import (
    LABELS,
    NODES,
    PLACES,
    VALUES,
    OrderedOptions,
)
from kanon_sql.methods.task_view import TaskView
from kanon_sql.option import option
from kanon_sql.validators import extent, flag, name_like, one_of, share

__all__ = [
    "METHODS", "BinCoverOptions", "GpsRectanglesOptions", "OrderedOptions", "PackingOptions",
    "ZipRegionsOptions",
]

ISLANDS = {
    "error": "rejects the call and reports their number",
    "suppress": "leaves their rows out",
    "nearest": "joins them to the nearest region, which requires places",
}
SEQUENCES = ("sorted", "random")


@dataclass(frozen=True)
class ZipRegionsOptions(MethodOptions):
    """The options of zip_regions."""

    adjacency: str | None = option(
        None, name_like("'county_adjacency'"),
        "a table, view or file with two columns: pairs of codes that are neighbours, in either "
        "order or both.",
        relation=True,
    )
    places: str | None = option(
        None, name_like("'zip_centroids'"),
        "a table, view or file with three columns: a code, its latitude and its longitude (or x "
        "and y). Without adjacency, codes are neighbours if the Delaunay triangulation of their "
        "places connects them.",
        relation=True,
    )
    islands: str = option(
        "error", one_of(ISLANDS, "islands value"),
        "how codes connected with fewer than k rows, or not in the graph, are treated: "
        + "; ".join(f"'{name}' {text}" for name, text in ISLANDS.items()) + ".",
    )

    @property
    def leaves_out(self) -> tuple[str, float] | None:
        """By islands 'suppress', as many as there are."""
        return ("islands", 1.0) if self.islands == "suppress" else None

    def for_trial(self, in_blocks: bool) -> ZipRegionsOptions:
        """The invented graph has no islands."""
        return replace(self, islands="error")

    def check(self, task: TaskView, names: Collection[str]) -> None:
        """Refuses a call that doesn't say which codes are neighbours, or where islands lie."""
        if not (self.adjacency or self.places):
            raise OptionError(
                "The method 'zip_regions' needs to know which codes are neighbours. Add "
                "adjacency='pairs', a relation with two columns, or places='centroids', one with a "
                "code, its latitude and its longitude."
            )
        if self.islands == "nearest" and not self.places:
            raise OptionError(
                "islands 'nearest' needs to know where codes lie. Add places='centroids', a "
                "relation with a code, its latitude and its longitude."
            )


@dataclass(frozen=True)
class GpsRectanglesOptions(MethodOptions):
    """The options of gps_rectangles."""

    extent: Mapping[str, tuple[float, float]] | None = option(
        None, extent,
        "the box that the rectangles cover, such as {'lat': [-90, 90], 'lon': [-180, 180]}. "
        "Without it, the outermost rectangles end at real coordinates.",
        type="STRUCT or MAP", default_text="the smallest box around the data",
    )
    tight: bool = option(
        False, flag,
        "releases the smallest box around the places of each class. Its sides are real "
        "coordinates, and the boxes do not cover the area between them.",
        type="BOOLEAN",
    )
    wkt: bool = option(
        False, flag,
        "adds each row's rectangle as the column wkt, a POLYGON with the longitude (or the first "
        "of the two columns) as x.",
        type="BOOLEAN",
    )

    @property
    def box(self) -> Mapping[str, tuple[float, float]] | None:
        """The extent."""
        return self.extent

    @property
    def added_columns(self) -> tuple[str, ...]:
        """With wkt the polygon."""
        return ("wkt",) if self.wkt else ()

    @property
    def tightly(self) -> bool:
        """With tight."""
        return self.tight

    @property
    def remark(self) -> str | None:
        """What tight gives away."""
        if not self.tight:
            return None
        return "with tight, the sides of each rectangle are real coordinates of its rows."

    def for_trial(self, in_blocks: bool) -> GpsRectanglesOptions:
        """The invented places lie elsewhere."""
        return replace(self, extent=None)

    def check(self, task: TaskView, names: Collection[str]) -> None:
        """Refuses an extent that tight would not look at."""
        if self.tight and self.extent:
            raise OptionError(
                "tight releases the box around each class, wherever extent ends. Leave one of "
                "them out."
            )


@dataclass(frozen=True)
class PackingOptions(MethodOptions):
    """The options of fold and spread."""

    sequence: str = option(
        "sorted", one_of(SEQUENCES),
        "the order in which labels are packed: 'sorted' from the most frequent down, or 'random' "
        "(by seed).",
    )


@dataclass(frozen=True)
class BinCoverOptions(MethodOptions):
    """The options of bin_cover."""

    epsilon: float = option(
        0.5, share, "how coarsely sizes are rounded, above 0.", type="DOUBLE", default_text="0.5",
    )

    def check(self, task: TaskView, names: Collection[str]) -> None:
        """Refuses an epsilon of 0."""
        if self.epsilon == 0.0:
            raise OptionError("epsilon must be above 0 for bin_cover, such as 0.5. Got 0.")

METHODS = (
    Method(
        name="zip_regions",
        family=__name__,
        use="one column",
        summary="For area codes: cuts connected regions of the graph of neighbours off a spanning "
        "tree of low degree, the lightest first.",
        guarantee="largest class at most max(k, largest code) + d (k - 1) rows, where d is the "
        "degree of the tree; with islands 'nearest' none",
        cost="O(n) for the rows, near O(m log m) for m codes",
        representation="interval",
        source="du2009, section 2.2",
        geometries={None: NODES},
        own=ZipRegionsOptions,
        in_blocks=False,
        refinable=False,
    ),
    Method(
        name="gps_rectangles",
        family=__name__,
        use="one column",
        summary="For a latitude and a longitude: disjoint rectangles from a k-d tree that cuts "
        "as long as both sides have at least k rows.",
        guarantee="largest class at most 5 times the optimum",
        cost="O(n log n)",
        representation="bounds",
        source="du2009, section 3.2",
        geometries={None: PLACES},
        own=GpsRectanglesOptions,
        in_blocks=False,
        refinable=False,
    ),
    Method(
        name="fold",
        family=__name__,
        use="one column",
        summary="For labels without an order: fills one class after another to k rows; the "
        "last, unfilled class joins another.",
        guarantee="largest class at most max(k - 1 + largest label, 3k - 3) rows",
        cost="O(n) for the rows, O(m) for m labels",
        representation="interval",
        source="du2009, theorem 7",
        geometries={None: LABELS},
        own=PackingOptions,
        in_blocks=False,
        refinable=False,
    ),
    Method(
        name="spread",
        family=__name__,
        use="one column",
        summary="Like fold, but spreads the labels of the last, unfilled class over the others.",
        guarantee="largest class at most max(k - 1 + largest label, 3k - 3) rows",
        cost="O(n) for the rows, near O(m log m) for m labels",
        representation="interval",
        source="du2009, section 5",
        geometries={None: LABELS},
        own=PackingOptions,
        in_blocks=False,
        refinable=False,
    ),
    Method(
        name="five_halves",
        family=__name__,
        use="one column",
        summary="Fills classes with labels from the most frequent down, evens them out by "
        "exchanging labels, and keeps the best of three packings.",
        guarantee="largest class at most 5/2 times the optimum",
        cost="O(n) for the rows, O(m log m) for m labels in each of some tries",
        representation="interval",
        source="du2009, theorem 9",
        geometries={None: LABELS},
        in_blocks=False,
        refinable=False,
    ),
    Method(
        name="bin_cover",
        family=__name__,
        use="one column",
        summary="For few labels: tries all ways to combine the frequent labels, up to rounding "
        "by epsilon.",
        guarantee="largest class at most (1 + epsilon) (optimum + k) rows, so at most 2 (1 + "
        "epsilon) times the optimum",
        cost="grows fast with the number of frequent labels; rejected if it is too large",
        representation="interval",
        source="du2009, theorem 10",
        geometries={None: LABELS},
        own=BinCoverOptions,
        trial=Trial(rows=6),
        in_blocks=False,
        refinable=False,
    ),
    Method(
        name="ordered",
        family=__name__,
        use="one column",
        summary="For one column with an order: finds the intervals with the smallest largest "
        "class, or with the lowest quadratic penalty.",
        guarantee="no intervals have a smaller largest class (objective 'quadratic': a lower "
        "quadratic penalty)",
        cost="O(n) for the rows, O(m log m) for m distinct values",
        representation="interval",
        source="du2009, section 4",
        geometries={None: VALUES},
        own=OrderedOptions,
        in_blocks=False,
        refinable=False,
    ),
)
