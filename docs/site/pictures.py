"""The pictures of docs/pictures/, drawn from real tables: python docs/site/pictures.py

docs/report-light.png and report-dark.png are screenshots of a browser, and not drawn here.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure

import kanon_sql
from kanon_sql.cli.main import main
from kanon_sql.data import adult

ROOT = Path(__file__).parents[2]
PLACE = ROOT / "docs" / "pictures"
STATE, K = "VT", 10
POINT, CLASS = "#6b7280", "#0d9488"
DOTS = 110
"""Dots per inch, which keeps a picture below what a page may weigh."""


def _grouped(places: pl.DataFrame, method: str) -> pl.DataFrame:
    """The places beside the centers and the extent of their classes."""
    released = kanon_sql.anonymize(places, k=K, method=method, keep_order=True, progress=False)
    return pl.concat([
        places, released.rename({"lat": "class_lat", "lon": "class_lon"})
    ], how="horizontal")


def _empty(axes: Axes, title: str) -> None:
    axes.set_title(title, fontsize=10)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_aspect(1.4)  # a degree of latitude is that much longer up there
    for side in axes.spines.values():
        side.set_visible(False)


def classes() -> Figure:
    """What two methods make of the same places: each class by its center, or by its extent."""
    places = (
        pl.read_parquet(ROOT / "tests" / "data" / "us_zip_centroids.parquet")
        .filter(pl.col("state") == STATE).select("lat", "lon")
    )
    figure = Figure(figsize=(8, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    near = _grouped(places, "mdav_star")
    left.add_collection(LineCollection(
        [[(lon, lat), (of_lon, of_lat)] for lat, lon, of_lat, of_lon in near.iter_rows()],
        colors=CLASS, linewidths=0.8,
    ))
    left.scatter(near["class_lon"], near["class_lat"], s=22, color=CLASS, zorder=3)
    cut = _grouped(places, "mondrian").group_by("class_lat", "class_lon").agg(
        pl.min("lon").alias("west"), pl.max("lon").alias("east"),
        pl.min("lat").alias("south"), pl.max("lat").alias("north"),
    )
    right.add_collection(PolyCollection(
        [[(w, s), (e, s), (e, n), (w, n)] for _, _, w, e, s, n in cut.iter_rows()],
        facecolors="#ccfbf1", edgecolors=CLASS, linewidths=0.8,
    ))
    for axes, title in ((left, "mdav_star: the nearest, and their mean"),
                        (right, "mondrian: cuts along one column at a time")):
        axes.scatter(places["lon"], places["lat"], s=3, color=POINT, zorder=2)
        _empty(axes, title)
    return figure


def draw(place: Path) -> None:
    """Draws all of them into a folder."""
    classes().savefig(place / "classes.png", dpi=DOTS)
    release = kanon_sql.release(pl.read_parquet(adult()), k=5, sensitive=["salary-class"])
    release.plot().savefig(place / "release.png", dpi=DOTS)
    main(["compare", adult(), "-s", "salary-class", "-k", "3,5,10,25", "-m",
          "mdav_star,mdav_plus,k_member,mondrian", "--plot", str(place / "compared.png")])


if __name__ == "__main__":
    draw(PLACE)
