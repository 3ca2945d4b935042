"""All that a report tells of the use of a release."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil

from kanon_sql.reporting.distributions import Measured, to_multiple
from kanon_sql.reporting.facts import Distribution
from kanon_sql.reporting.utility.models import compare_models
from kanon_sql.reporting.utility.propensity import propensity_error
from kanon_sql.reporting.utility.told import ColumnError, PropensityError, Utility
from kanon_sql.reporting.utility.variables import tables_of

Told = tuple[float | None, str | None]
"""A metric: its value, and what it means in words."""


SHARES = re.compile(r"\b(?:fewer than |more than )?(\d+) of 100\b")


def three(value: float | None) -> float | None:
    """A number of three digits: enough to judge by, and little of one row."""
    return None if value is None else float(f"{value:.2e}")


def utility_of(
    names: Sequence[str], sensitive: Sequence[str], measured: Sequence[Measured],
    distributions: Sequence[Distribution], metrics: Mapping[str, Told], unit: int, exact: bool,
    predicted: Sequence[str] = (),
) -> Utility:
    """What is still true.

    Args:
        names: the quasi-identifiers.
        sensitive: the sensitive columns.
        measured: both, as they were read; none where values aren't released.
        distributions: the bars of the quasi-identifiers.
        metrics: those of the release, by name.
        unit: of what counts of the source are told in multiples.
        exact: whether values of the source may be shown.
        predicted: the columns that models predict; none are chosen here.
    """
    bars = {each.column: each for each in distributions}
    loss, bound = metrics.get("information_loss"), metrics.get("information_loss_bound")
    told = Utility(
        tuple(
            _of_column(name, bars.get(name), metrics, 0 if exact else unit) for name in names
        ),
        loss=_shown(loss, exact), loss_bound=_shown(bound, exact),
        loss_words=(bound[1] or "") if bound else "",
    )
    if not measured:
        return told
    source, release = tables_of(measured)
    return replace(
        told, propensity=_rounded(propensity_error(source, release)),
        models=tuple(compare_models(source, release, sensitive, unit, exact, predicted)),
    )


def _shown(metric: Told | None, exact: bool) -> float | None:
    value = None if metric is None else metric[0]
    return value if exact else three(value)


def _rounded(found: PropensityError) -> PropensityError:
    return replace(
        found, error=three(found.error), share=three(found.share), ratio=three(found.ratio)
    )


def _of_column(
    name: str, bars: Distribution | None, metrics: Mapping[str, Told], unit: int
) -> ColumnError:
    """``unit``: as of ``utility_of``; 0 where everything is told as it is."""
    nothing: Told = (None, None)
    error, changed = (
        metrics.get(f"{metric} ({name})", nothing) for metric in ("mean_error", "changed_cells")
    )
    rows = metrics.get("rows_released", nothing)[0] or 0.0
    words, share = error[1] or changed[1] or "", changed[0]
    if unit and rows:
        words = _coarse(words, 100.0 * unit / rows)
        share = None if share is None else three(to_multiple(share * rows, unit, False) / rows)
    said = f"{name} is {words}." if error[1] else f"{name}: {words}." if words else ""
    return ColumnError(
        name, said, _shown(error, not unit), share, None if bars is None else bars.variation
    )


def _coarse(words: str, step: float) -> str:
    """Words whose shares of 100 rows are multiples of a step, as counts of the source are."""
    if step <= 1.0:
        return words

    def coarse(match: re.Match[str]) -> str:
        share = min(100, round(round(int(match[1]) / step) * step))
        return f"about {share} of 100" if share else f"fewer than {ceil(step)} of 100"

    return SHARES.sub(coarse, words)
