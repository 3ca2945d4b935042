"""Risk against loss as a chart that stands in the page, coloured by its CSS."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from kanon_sql.explore.answers import FrontierPoint
from kanon_sql.reporting.bins import round_step

WIDTH, HEIGHT = 380, 230
LEFT, RIGHT, TOP, BOTTOM = 46, 58, 20, 40
TICKS = 4


def frontier_svg(points: Sequence[FrontierPoint], chosen: int) -> str:
    """The releases that were made, each a point: loss to the right, risk upwards.

    Args:
        points: in the order of k.
        chosen: the k that was chosen.
    """
    made = [point for point in points if not point.refused]
    x_end, x_step = _end(max((point.loss for point in made), default=0.0))
    y_end, y_step = _end(max((point.risk for point in made), default=0.0))

    def x_of(loss: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * loss / x_end

    def y_of(risk: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * risk / y_end

    parts = [
        f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y_of(at):.1f}" '
        f'y2="{y_of(at):.1f}"/><text x="{LEFT - 8}" y="{y_of(at) + 4:.1f}" '
        f'text-anchor="end">{_percent(at)}</text>'
        for at in _ticks(y_end, y_step)
    ] + [
        f'<text x="{x_of(at):.1f}" y="{HEIGHT - BOTTOM + 17}" text-anchor="middle">'
        f"{_percent(at)}</text>"
        for at in _ticks(x_end, x_step)
    ]
    parts.append(
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 5}" text-anchor="end">information loss</text>'
    )
    if len(made) > 1:
        path = " ".join(f"{x_of(each.loss):.1f},{y_of(each.risk):.1f}" for each in made)
        parts.append(f'<polyline class="path" points="{path}"/>')
    for each in made:
        now = each.k == chosen
        x, y = x_of(each.loss), y_of(each.risk)
        parts.append(
            f'<circle class="{"now" if now else "point"}" cx="{x:.1f}" cy="{y:.1f}" '
            f'r="{6 if now else 4}"/><text class="{"now" if now else "name"}" '
            f'x="{x + 9:.1f}" y="{y - 7:.1f}">k = {each.k}</text>'
        )
    label = "Largest risk against information loss" + "".join(
        f"; k = {each.k}: {_percent(each.risk)} and {_percent(each.loss)}" for each in made
    )
    return (
        f'<svg class="frontier" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(label)}"><g aria-hidden="true">{"".join(parts)}</g></svg>'
    )


def _end(most: float) -> tuple[float, float]:
    """Where an axis ends, and the step of its ticks."""
    step = round_step(max(most, 0.01) / TICKS)
    return step * max(1, -(-most * 1.0001 // step)), step


def _ticks(end: float, step: float) -> list[float]:
    return [step * i for i in range(round(end / step) + 1)]


def _percent(value: float) -> str:
    return f"{100 * value:.3g} %"
