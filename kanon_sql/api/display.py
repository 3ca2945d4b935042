"""How a release shows itself: a few lines of HTML in a notebook, and two charts.

Nothing here holds a value of a row: names of columns, counts and shares only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import import_module
from io import BytesIO
from typing import Any, NamedTuple

from kanon_sql.errors import OptionError

QUASI = "quasi_identifier"
MOST_COLUMNS = 25
"""Columns that are shown; of wider tables the number of the others is told."""

FACTS = {
    "k_requested": "k requested",
    "k": "k",
    "classes": "classes",
    "class_size_mean": "rows per class",
    "class_size_max": "rows of the largest class",
    "rows_suppressed": "rows left out",
    "prosecutor_risk_max": "largest prosecutor risk",
    "information_loss": "information loss, %",
    "ncp": "loss per cell (ncp)",
    "ncp_grouping": "loss per cell of the classes (ncp)",
}
"""The metrics that are shown, and how they are called in few words; ncp_grouping without ncp."""

BARS, FEW, MARGIN = 40, 10, 2.5
"""The most bars of a chart, so many sizes of which each is written at its bar, and the room beside
the first and the last bar, in rows."""

LACKING = "The plot needs matplotlib. Install it by pip install 'kanon-sql[plots]'."


class ReleasedColumn(NamedTuple):
    """A column of the relation: its name, its role, and its type in the release; no type where it
    doesn't come out."""

    name: str
    role: str | None
    sql_type: str | None


def by_name(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The rows of anonymize_metrics by metric, without those that are NULL; all notices as one
    list."""
    metrics: dict[str, Any] = {"notices": []}
    for row in rows:
        value = row["text"] if row["value"] is None else row["value"]
        if row["metric"] == "notice":
            metrics["notices"].append(value)
        elif value is not None:
            metrics[row["metric"]] = value
    return metrics


def _number(value: Any) -> str:
    if isinstance(value, (int, float)):
        whole = float(value).is_integer() and abs(value) < 1e15
        return f"{int(value):,}" if whole else f"{value:.4g}"
    return escape(str(value))


def _row(cells: Sequence[str], tag: str = "td") -> str:
    return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"


def _bar(share: float | None) -> str:
    """A share as a bar and a number."""
    if share is None:
        return ""
    return f'<meter min="0" max="1" value="{share:.4f}"></meter> {share:.3f}'


def html(
    file: str | None, rows: int, metrics: Mapping[str, Any], columns: Sequence[ReleasedColumn],
    losses: Mapping[str, float],
) -> str:
    """A release as HTML that needs nothing around it.

    Args:
        file: the name of the file that it is in, if it is in one.
        rows: how many.
        metrics: by name.
        columns: those of the relation.
        losses: the share that each quasi-identifier loses.
    """
    where = "" if file is None else f" in <code>{escape(file)}</code>"
    method = escape(str(metrics.get("method", "")))
    by = f" by <code>{method}</code>" if method else ""
    facts = "".join(
        _row((label, _number(metrics[name]))) for name, label in FACTS.items()
        if metrics.get(name) is not None and not (name == "ncp_grouping" and "ncp" in metrics)
    )
    shown = "".join(
        _row((
            escape(each.name), escape(each.role or ""),
            "<i>left out</i>" if each.sql_type is None else escape(each.sql_type),
            _bar(losses.get(each.name)),
        ))
        for each in columns[:MOST_COLUMNS]
    )
    more = len(columns) - MOST_COLUMNS
    lines = [f"and {more} columns more"] if more > 0 else []
    lines += [escape(str(notice)) for notice in metrics.get("notices", ())]
    heading = _row(("column", "role", "released as", "loss"), "th")
    return (
        f'<div class="kanon-release"><p><b>Release</b> of {rows:,} rows{by}{where}</p>'
        f"<table>{facts}</table><table>{heading}{shown}</table>"
        + "".join(f"<p>{line}</p>" for line in lines) + "</div>"
    )


def _draw_sizes(axes: Any, sizes: Mapping[int, int]) -> None:
    """How many classes of each size there are: a bar for each, of many sizes one for several."""
    least, most = min(sizes, default=0), max(sizes, default=1)
    heights = list(sizes.values())
    if most - least < BARS:
        axes.bar(list(sizes), heights)
        axes.set_xlim(least - MARGIN, most + MARGIN)  # one bar alone is no wall
    else:
        heights = axes.hist(list(sizes), bins=BARS, weights=heights)[0]
    if len(sizes) <= FEW:
        axes.set_xticks(list(sizes))
    if max(heights, default=1) > 10 * min((each for each in heights if each), default=1):
        axes.set_yscale("log")
    else:
        axes.set_ylim(0, 1.1 * max(heights, default=1))
        axes.yaxis.get_major_locator().set_params(integer=True)
    axes.set(title="Class sizes", xlabel="rows of a class", ylabel="classes")


def figure(losses: Mapping[str, float], sizes: Mapping[int, int]) -> Any:
    """Two charts beside each other, a matplotlib Figure.

    Args:
        losses: the share that each quasi-identifier loses.
        sizes: how many classes of each size there are.

    Raises:
        OptionError: there is no matplotlib.
    """
    try:
        figures = import_module("matplotlib.figure")
    except ImportError:
        raise OptionError(LACKING) from None

    class Shown(figures.Figure):  # type: ignore[misc, name-defined]
        """A figure that notebooks show without pyplot, which would keep it."""

        def _repr_png_(self) -> bytes:
            kept = BytesIO()
            self.savefig(kept, format="png", dpi=100)
            return kept.getvalue()

    drawn = Shown(figsize=(9, 3.6), layout="constrained")
    left, right = drawn.subplots(1, 2)
    _draw_sizes(left, sizes)
    names = list(losses)[::-1]
    right.barh(names, [losses[name] for name in names])
    right.set(title="Loss by column", xlabel="loss", xlim=(0, 1))
    return drawn
