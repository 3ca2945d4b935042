"""Draws regions of US counties and rectangles of GPS positions, as of Du et al. (2009).

    python examples/du2009_maps.py               all rows, in some seconds
    python examples/du2009_maps.py --quick       every fifth row
    python examples/du2009_maps.py --out plots   two maps (PNG, SVG) and their metrics (CSV) there

Section 2 generalizes zip codes to connected regions: here each zip code is a record, of which its
county is known, and counties are linked where they are adjacent. Section 3.2 generalizes positions
to rectangles: here those of the GO!Track data from Aracaju, Brazil, are. Zip codes and counties
come from different files, so counties are found by name; those that aren't are counted and left
out. The exit status is 1 if a guarantee is broken: a class has less than k records, a region isn't
connected, rectangles overlap, or the largest class is larger than the theorems say.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import kanon_sql

DATA = Path(__file__).resolve().parent.parent / "tests" / "data"
THIN = 5  # of so many rows --quick takes one
KINDS = (
    "County|Parish|Municipio|Municipality|Island|Census Area|City and Borough|Borough|District"
)
MIXED_UP = "27163"  # this county of the file also has the neighbours of another, 27165
MATCHING = rf"""
    CREATE MACRO plain(name) AS regexp_replace(
        regexp_replace(strip_accents(upper(name)), '\b(SAINTE?|STE)\b', 'ST'), '[^A-Z]', '', 'g');
    CREATE VIEW pairs AS SELECT * FROM read_parquet('{{folder}}/us_county_adjacency.parquet');
    CREATE VIEW links AS SELECT county_fips, neighbor_fips FROM pairs AS here
        WHERE county_fips <> '{MIXED_UP}' OR EXISTS (
            FROM pairs AS there WHERE there.county_fips = here.neighbor_fips
            AND there.neighbor_fips = here.county_fips);
    CREATE TABLE counties AS SELECT DISTINCT neighbor_fips AS fips,
        right(neighbor_name, 2) AS state,
        plain(regexp_replace(left(neighbor_name, -4), ' ({KINDS})$', '')) AS name FROM pairs;
    CREATE TABLE zips AS SELECT code, fips, lat, lon
        FROM read_parquet('{{folder}}/us_zip_centroids.parquet') AS zip LEFT JOIN counties
        ON counties.state = zip.state AND counties.name = plain(zip.county)
        WHERE code::BIGINT % {{thin}} = 0;
    CREATE TABLE records AS SELECT fips FROM zips WHERE fips IS NOT NULL;
    CREATE TABLE positions AS SELECT latitude, longitude
        FROM read_parquet('{{folder}}/gps_gotrack.parquet') WHERE id % {{thin}} = 0;
"""
REGIONS = "'records', k={k}, method='zip_regions', adjacency='links', islands='suppress'"
RECTANGLES = "'positions', k={k}, method='gps_rectangles'"
METRICS = ("rows", "rows_suppressed", "classes", "class_size_max", "overfull_ratio",
           "lower_bound", "ratio", "guaranteed_ratio", "spanning_degree")
US = ((24.0, 50.0), (-125.0, -66.5))  # latitudes and longitudes of the contiguous states
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")  # Okabe and Ito
LEFT_OUT = "#707070"
STARTED = time.perf_counter()

Place = tuple[float, float]
"""Latitude and longitude, in degrees."""
Map = tuple[dict[str, float | None], list[str]]
"""The metrics of a map's classes, and what contradicts a guarantee, in words."""


@dataclass(frozen=True)
class Rectangle:
    """A released rectangle, in degrees, and how many positions have it."""

    south: float
    north: float
    west: float
    east: float
    size: int

    def overlaps(self, other: Rectangle) -> bool:
        """Whether the two share more than an edge."""
        return (self.south < other.north and other.south < self.north
                and self.west < other.east and other.west < self.east)


def prepared(thin: int) -> duckdb.DuckDBPyConnection:
    """A connection with the tables records, links and positions, and what the maps need."""
    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false")
    con.execute(MATCHING.format(folder=DATA.as_posix(), thin=thin))
    return con


def metrics(con: duckdb.DuckDBPyConnection, call: str) -> dict[str, float | None]:
    """What anonymize_metrics tells."""
    query = f"SELECT metric, value FROM anonymize_metrics({call}, detail := true)"
    return dict(con.execute(query).fetchall())


def links(con: duckdb.DuckDBPyConnection) -> dict[str, set[str]]:
    """The neighbours of each county, both ways."""
    found: dict[str, set[str]] = {}
    for one, other in con.execute("FROM links WHERE county_fips <> neighbor_fips").fetchall():
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return found


def regions(con: duckdb.DuckDBPyConnection, call: str) -> list[tuple[set[str], int]]:
    """The counties of each released region, such as {01001, 01021}, and its number of records."""
    found = con.execute(
        f"SELECT fips, count(*) FROM anonymize({call}) GROUP BY fips ORDER BY fips"
    ).fetchall()
    return [(set(text.strip("{}").split(", ")), size) for text, size in found]


def rectangles(con: duckdb.DuckDBPyConnection, call: str) -> list[Rectangle]:
    """The released rectangles."""
    found = con.execute(
        "SELECT latitude.min, latitude.max, longitude.min, longitude.max, count(*) "
        f"FROM anonymize({call}) GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    return [Rectangle(*each) for each in found]


def connected(region: set[str], passable: set[str], near: Mapping[str, set[str]]) -> bool:
    """Whether one gets from any county of a region to any other, by passable ones at most."""
    start = min(region)
    seen, open_ends = {start}, [start]
    while open_ends:
        ahead = (near.get(open_ends.pop(), set()) & (region | passable)) - seen
        seen |= ahead
        open_ends += ahead
    return region <= seen


def broken(
    name: str, k: int, sizes: Sequence[int], found: Mapping[str, float | None]
) -> list[str]:
    """What contradicts a guarantee of any method, in words; empty if all is well."""
    wrong, ratio, limit = [], found["ratio"], found["guaranteed_ratio"]
    if min(sizes) < k:
        wrong.append(f"{name} has a class of {min(sizes)}, less than k = {k}")
    if max(sizes) != found["class_size_max"]:
        wrong.append(f"{name} has a class of {max(sizes)}, but tells {found['class_size_max']}")
    if ratio is None or limit is None or ratio > limit * (1.0 + 1e-9):
        wrong.append(f"{name} has the ratio {ratio}, above {limit}")
    return wrong


def coloring(near: Mapping[int, set[int]]) -> dict[int, int]:
    """Colours from 0 up, different for neighbours; 6 do for any map, as one has 5 neighbours."""
    left = {node: set(others) for node, others in near.items()}
    order = []
    while left:  # the node with the fewest neighbours gets its colour after all that are left
        order.append(min(left, key=lambda node: (len(left[node]), node)))
        for other in left.pop(order[-1]):
            left[other].remove(order[-1])
    found: dict[int, int] = {}
    for node in reversed(order):
        used = list(found.values())
        taken = {found[other] for other in near[node] if other in found}
        free = [color for color in range(len(COLORS)) if color not in taken]
        found[node] = min(free, key=used.count, default=max(taken, default=0) + 1)
    return found


def albers(places: Iterable[Place]) -> Any:
    """An equal-area map of the contiguous US: x and y in Earth radii, float64, shape (n, 2)."""
    lat, lon = np.radians(np.array(list(places), np.float64).reshape(-1, 2)).T
    low, high, middle = np.radians((29.5, 45.5, 37.5))
    n = (np.sin(low) + np.sin(high)) / 2.0
    radius, origin = (
        np.sqrt(np.cos(low) ** 2 + 2.0 * n * (np.sin(low) - np.sin(at))) / n for at in (lat, middle)
    )
    angle = n * (lon - np.radians(-96.0))
    return np.column_stack([radius * np.sin(angle), origin - radius * np.cos(angle)])


def within(place: Place, frame: tuple[Place, Place]) -> bool:
    """Whether a place lies in a frame of latitudes and longitudes."""
    return all(low <= at <= high for at, (low, high) in zip(place, frame, strict=True))


@dataclass(frozen=True)
class County:
    """A county on the map: its place, its number of zip codes, and its region's number or -1."""

    place: Place
    zips: int
    region: int


def counties(
    con: duckdb.DuckDBPyConnection, found: Sequence[tuple[set[str], int]]
) -> dict[str, County]:
    """The counties with records, at their zip codes' median coordinates, as a few are far off."""
    number = {fips: i for i, (region, _) in enumerate(found) for fips in region}
    places = con.execute(
        "SELECT fips, median(lat), median(lon), count(*) FROM zips WHERE fips IS NOT NULL "
        "GROUP BY fips HAVING count(lat) > 0 ORDER BY fips"
    ).fetchall()
    return {fips: County((lat, lon), zips, number.get(fips, -1)) for fips, lat, lon, zips in places}


def draw_regions(
    shown: Mapping[str, County], near: Mapping[str, set[str]], title: str, target: Path
) -> None:
    """Writes the map of regions as SVG, and as PNG beside it."""
    from matplotlib.collections import LineCollection

    numbers = sorted({county.region for county in shown.values()} - {-1})
    beside: dict[int, set[int]] = {number: set() for number in numbers}
    pairs = [(a, b) for a in sorted(shown) for b in sorted(near.get(a, set())) if b in shown]
    for a, b in ((shown[a].region, shown[b].region) for a, b in pairs):
        if a != b and -1 not in (a, b):
            beside[a].add(b)
            beside[b].add(a)
    color = {n: COLORS[c % len(COLORS)] for n, c in coloring(beside).items()} | {-1: LEFT_OUT}
    figure, save = canvas(target, (12.0, 7.6))
    axes = figure.subplots()
    inner = [(a, b) for a, b in pairs if a < b and shown[a].region == shown[b].region != -1]
    ends = albers(shown[fips].place for pair in inner for fips in pair).reshape(-1, 2, 2)
    axes.add_collection(LineCollection(
        ends, colors=[color[shown[a].region] for a, _ in inner], linewidths=1.3, alpha=0.6
    ))
    spots = albers(county.place for county in shown.values())
    axes.scatter(*spots.T, s=[1.2 * county.zips for county in shown.values()], linewidths=0,
                 c=[color[county.region] for county in shown.values()], zorder=2)
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_aspect("equal")
    axes.set_axis_off()
    save()


def fences(values: Any) -> Place:
    """Tukey's fences, 1.5 times the quartiles' distance beyond them: where most values lie."""
    low, high = np.quantile(values, (0.25, 0.75))
    return float(low - 1.5 * (high - low)), float(high + 1.5 * (high - low))


def draw_rectangles(
    shown: Sequence[Rectangle], points: Any, frame: tuple[Place, Place], title: str, target: Path
) -> None:
    """Writes the map of rectangles as SVG, and as PNG beside it; points: latitude, longitude."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle as Patch

    figure, save = canvas(target, (7.6, 9.2))
    axes = figure.subplots()
    patches = PatchCollection(
        [Patch((r.west, r.south), r.east - r.west, r.north - r.south) for r in shown],
        cmap="YlGnBu", edgecolor="#303030", linewidth=0.5, alpha=0.75,
    )
    patches.set_array([r.size for r in shown])
    axes.add_collection(patches)
    axes.scatter(points[:, 1], points[:, 0], s=1.2, color="#D55E00", linewidths=0, zorder=2)
    axes.set(ylim=frame[0], xlim=frame[1], xlabel="longitude", ylabel="latitude")
    axes.set_aspect(1.0 / np.cos(np.radians(np.mean(frame[0]))))
    axes.set_title(title, loc="left", fontsize=10)
    figure.colorbar(patches, ax=axes, label="positions in a rectangle", shrink=0.6)
    save()


def canvas(target: Path, size: tuple[float, float]) -> Any:
    """An empty figure, and what writes it as SVG and as PNG."""
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams["svg.hashsalt"] = "du2009"
    figure = Figure(figsize=size, layout="constrained")

    def save() -> None:
        figure.savefig(target, metadata={"Date": None})
        figure.savefig(target.with_suffix(".png"), dpi=150)
        show(f"drawn: {target} and .png")

    return figure, save


def map_regions(con: duckdb.DuckDBPyConnection, k: int, target: Path) -> Map:
    """Groups counties and draws them."""
    call = REGIONS.format(k=k)
    found, near = regions(con, call), links(con)
    ((count, matched, hit, every),) = con.execute(
        "SELECT count(*), count(fips), count(DISTINCT fips), "
        "(SELECT count(DISTINCT fips) FROM counties) FROM zips"
    ).fetchall()
    shown = counties(con, found)
    inside = {fips: county for fips, county in shown.items() if within(county.place, US)}
    left = sum(county.region == -1 for county in inside.values())
    show("", f"Counties: {matched:,} of {count:,} zip codes have a county that is found, "
         f"{count - matched:,} are left out;",
         f"{hit:,} of the {every:,} counties have zip codes, {len(shown):,} of them coordinates; "
         f"{len(inside):,} are in the frame,", f"{len(shown) - len(inside):,} beyond it; {left} in "
         "the frame are islands of less than k zip codes, left out")
    empty = set(near) - {fips for region, _ in found for fips in region} - set(shown)
    apart = [region for region, _ in found if not connected(region, empty, near)]
    told = metrics(con, call)
    wrong = broken("zip_regions", k, [size for _, size in found], told)
    wrong += [f"the region of {min(region)} is not connected" for region in apart]
    title = (f"zip_regions, k = {k}: {len(found):,} connected regions of {len(shown):,} counties, "
             f"with {matched:,} zip codes\n({len(shown) - len(inside):,} counties lie beyond; "
             "areas are proportional to numbers of zip codes, lines link neighbours of a region)")
    if_drawn(lambda: draw_regions(inside, near, title, target))
    return told, wrong


def map_rectangles(con: duckdb.DuckDBPyConnection, k: int, target: Path) -> Map:
    """Groups positions and draws their rectangles."""
    call = RECTANGLES.format(k=k)
    found = rectangles(con, call)
    points = np.array(con.execute("FROM positions").fetchall(), np.float64)
    frame = fences(points[:, 0]), fences(points[:, 1])
    seen = Rectangle(*frame[0], *frame[1], 0)
    shown = [each for each in found if each.overlaps(seen)]
    inside = sum(within((lat, lon), frame) for lat, lon in points.tolist())
    show("", f"Positions: {inside:,} of {len(points):,} are in the frame; {len(shown):,} of the "
         f"{len(found):,} rectangles reach into it, {len(found) - len(shown):,} lie beyond")
    told = metrics(con, call)
    wrong = broken("gps_rectangles", k, [each.size for each in found], told)
    wrong += [f"rectangles {i} and {j} overlap" for j, each in enumerate(found)
              for i, other in enumerate(found[:j]) if each.overlaps(other)]
    title = (f"gps_rectangles, k = {k}: {len(found):,} rectangles of {len(points):,} positions,\n"
             f"{len(found) - len(shown):,} of them beyond this part of Aracaju")
    if_drawn(lambda: draw_rectangles(shown, points, frame, title, target))
    return told, wrong


def if_drawn(draw: Callable[[], None]) -> None:
    """Draws, unless matplotlib is missing."""
    try:
        draw()
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "matplotlib":
            raise
        show("The map was not drawn: it needs matplotlib, pip install 'kanon_sql[plots]'")


def report(found: Mapping[str, Mapping[str, float | None]], target: Path) -> None:
    """Prints the metrics of the maps side by side, and writes them as CSV."""
    show("", f"{'':20}" + "".join(f"{name:>16}" for name in found))
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["metric", *found])
        for metric in METRICS:
            values = [told[metric] for told in found.values()]
            writer.writerow([metric, *values])
            show(f"{metric:20}" + "".join(
                f"{'-' if value is None else f'{value:,.6g}':>16}" for value in values
            ))
    show("", f"written: {target}")


def running(part: str) -> None:
    """Says on stderr what is being computed; stdout holds only results."""
    print(f"[{time.perf_counter() - STARTED:4.0f} s] {part}", file=sys.stderr, flush=True)


def show(*texts: str) -> None:
    """Prints result lines at once."""
    print(*texts, sep="\n", flush=True)


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help=f"every {THIN}th row")
    parser.add_argument("--k", type=int, default=50, help="the least class of both maps (50)")
    parser.add_argument("--out", type=Path, default=".", metavar="FOLDER", help="for CSV and maps")
    options = parser.parse_args(given)
    if options.k < 2:
        parser.error("--k has to be 2 or more")
    return options


def main(given: Sequence[str] | None = None) -> int:
    """Draws both maps, and prints what they are like."""
    options = arguments(given)
    options.out.mkdir(parents=True, exist_ok=True)
    con, k = prepared(THIN if options.quick else 1), options.k
    show("Du, Eppstein, Goodrich and Lueker 2009, sections 2 and 3, as classes of",
         f"anonymize({REGIONS.format(k=k)}) and", f"anonymize({RECTANGLES.format(k=k)})")
    running("regions; the first run compiles the kernels")
    areas, wrong = map_regions(con, k, options.out / "du2009-regions.svg")
    running("rectangles")
    boxes, more = map_rectangles(con, k, options.out / "du2009-rectangles.svg")
    wrong += more
    report({"zip_regions": areas, "gps_rectangles": boxes}, options.out / "du2009_maps.csv")
    show(*(f"BROKEN: {text}" for text in wrong) if wrong else (
        "All classes have k or more, regions are connected, rectangles don't overlap, and no",
        "largest class is beyond what is guaranteed.",))
    running("done")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
