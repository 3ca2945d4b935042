"""Charts as SVG that stands in the page: drawn by Vega-Lite, coloured by the page's own CSS, so
that they are light or dark as the page is, and need neither a script nor a network."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from typing import Any

import vl_convert

from kanon_sql.reporting.facts import Bar, Distribution

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
VERSION = "5.21"
"""Of Vega-Lite, so that a newer library draws the same."""

WIDTH, LABEL = 215, 110
"""Of the plot and of its labels, in pixels: a chart fits a phone as it is."""

CONFIG = {
    # a screen reader hears the sentence and finds the table; marks would be read one by one
    "aria": False,
    "background": None,
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--soft)", "titleColor": "var(--soft)", "labelFontSize": 11,
        "titleFontSize": 11, "titleFontWeight": "normal", "gridColor": "var(--line)",
        "domain": False, "ticks": False, "labelLimit": LABEL, "labelPadding": 6,
    },
}
UNHEARD = re.compile(r' (?:role|aria-[a-z]+|class|pointer-events)="[^"]*"')
COLORS = ["var(--before)", "var(--after)"]
SERIES = ["source", "release"]


def _svg(spec: dict[str, Any], label: str) -> str:
    """A chart; ``label``: what it shows, for who doesn't see it."""
    text = vl_convert.vegalite_to_svg(
        {"$schema": SCHEMA, "config": CONFIG, **spec}, vl_version=VERSION
    )
    width, height = re.findall(r'(?:width|height)="([\d.]+)"', text)[:2]
    # the figure is one picture to a screen reader, so what its parts are is said by nobody
    inner = UNHEARD.sub("", text[text.index(">") + 1:])
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{escape(label)}">{inner}'
    )


def paired(bars: Sequence[Bar], label: str, width: int = WIDTH) -> str:
    """For each bin a bar of the source's rows and one of the release's, as shares of all."""
    totals = [sum(bar.before for bar in bars) or 1.0, sum(bar.after for bar in bars) or 1.0]
    values = [
        {"place": i, "share": rows / total, "of": series}
        for i, bar in enumerate(bars)
        for rows, total, series in zip((bar.before, bar.after), totals, SERIES, strict=True)
    ]
    names = [bar.label for bar in bars]
    return _svg({
        "width": width,
        "height": {"step": 12},
        "data": {"values": values},
        "mark": {"type": "bar", "cornerRadiusEnd": 2},
        "encoding": {
            "y": {
                "field": "place", "type": "ordinal", "title": None,
                "scale": {"paddingInner": 0.25},
                "axis": _axis(names),
            },
            "yOffset": {"field": "of", "sort": SERIES},
            "x": {
                "field": "share", "type": "quantitative", "stack": None, "title": None,
                "axis": {"format": "~%", "tickCount": 3},
            },
            "color": {
                "field": "of", "legend": None, "scale": {"domain": SERIES, "range": COLORS},
            },
        },
    }, label)


def _axis(names: Sequence[str]) -> dict[str, Any]:
    """The axis of places: each has its name, and all the same room, since the reader's font may be
    wider than the one that was measured here."""
    return {
        # a list of texts as JSON is one of Vega's expressions, too
        "labelExpr": f"{json.dumps([*names])}[datum.value]", "grid": False,
        "minExtent": LABEL, "maxExtent": LABEL,
    }


def of_distribution(distribution: Distribution) -> str:
    """A column before and after."""
    bars = [*distribution.bars]
    if distribution.missing.before or distribution.missing.after:
        bars.append(distribution.missing)
    return paired(
        bars, f"{distribution.column}: share of the rows in each group, source and release"
    )


def shares(values: Sequence[tuple[str, float]], label: str, width: int = 300) -> str:
    """A bar for each name, with its share in figures."""
    rows = [{"place": i, "share": share} for i, (_, share) in enumerate(values)]
    names = [name for name, _ in values]
    place = {
        "field": "place", "type": "ordinal", "title": None,
        "axis": _axis(names),
        "scale": {"paddingInner": 0.35},
    }
    most = max([share for _, share in values], default=0.0)
    share = {
        "field": "share", "type": "quantitative", "stack": None, "title": None, "axis": None,
        "scale": {"domain": [0, max(most * 1.15, 0.01)]},
    }
    return _svg({
        "width": width,
        "height": {"step": 24},
        "data": {"values": rows},
        "encoding": {"y": place, "x": share},
        "layer": [
            {"mark": {"type": "bar", "cornerRadiusEnd": 2, "color": COLORS[1]}},
            {
                "mark": {
                    "type": "text", "align": "left", "dx": 6, "color": "var(--ink)",
                    "fontSize": 11,
                },
                "encoding": {"text": {"field": "share", "format": ".1%"}},
            },
        ],
    }, label)
