"""Answers as HTML. All that comes from a table is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from kanon_sql.explore.answers import (
    ColumnFacts,
    FrontierPoint,
    Preview,
    PreviewedLevel,
    ReleaseNumbers,
    ShownRows,
)
from kanon_sql.explore.frontier import frontier_svg
from kanon_sql.explore.source import ExploredTable
from kanon_sql.reporting import charts
from kanon_sql.reporting.facts import Distribution

ROLE_NAMES = {
    "": "No role yet",
    "quasi_identifier": "Generalize (quasi-identifier)",
    "sensitive": "Keep (sensitive)",
    "identifier": "Drop (identifier)",
    "entity": "Drop, count as person (entity)",
    "within": "Divide into parts (within)",
    "other": "Keep unchanged (other)",
}
"""What the page calls the roles."""

UNIQUE = (
    "{} unique in the unchanged columns. An attacker who knows these values finds the row."
)
HIDDEN = "hidden"
"""What stands in place of a label that isn't shown."""


def lead(table: ExploredTable) -> str:
    """What is explored, in a sentence or two."""
    whole = f"{table.rows:,} rows, {len(table.columns)} columns."
    if not table.is_sample:
        return whole
    return (
        f"{whole} The page computes on a sample of {table.taken:,} rows. A hash chooses them, so "
        "each visit draws the same rows. Take this is for the whole table, where the loss is "
        "usually lower."
    )


def facts_of(column: ColumnFacts) -> str:
    """Type and number of values."""
    values = "1 value" if column.distinct == 1 else f"{column.distinct:,} values"
    return f"{_short_type(column.sql_type)}, {values}"


def _short_type(text: str) -> str:
    return text if len(text) <= 24 else f"{text[:22]}\N{HORIZONTAL ELLIPSIS}"


def warnings_of(column: ColumnFacts, role: str) -> list[str]:
    """What to know of a column with that role, as sentences."""
    if column.withheld:
        return ["Looks like an identifier."]
    said = [each[:1].upper() + each[1:].rstrip(".") + "." for each in column.warnings]
    if role == "":
        said.insert(0, "No role yet. A release needs one for each column.")
    return list(dict.fromkeys(said))


def cards(measured: ReleaseNumbers | None, k: int) -> str:
    """The numbers by which a release is judged."""
    if measured is None:
        return '<p class="none">No release yet.</p>'
    values = measured.values
    released, suppressed = values.get("rows_released", 0), values.get("rows_suppressed", 0)
    loss = values.get("information_loss")
    figures = [
        (f"{values.get('k', k):,.0f}", "rows or more share each combination of values"),
        (_percent(values.get("prosecutor_risk_max")), "largest risk to be identified"),
        ("\N{EN DASH}" if loss is None else _percent(loss / 100), "of the variance is lost"),
        (f"{values.get('classes', 0):,.0f}", "classes"),
        (f"{released:,.0f}", f"rows released, {suppressed:,.0f} left out"),
    ]
    inner = "".join(
        f'<div class="figure"><strong>{value}</strong>{escape(text)}</div>'
        for value, text in figures
    )
    said = list(measured.notices)
    if unique := values.get("unique_in_unchanged"):
        said.insert(0, UNIQUE.format("1 row is" if unique == 1 else f"{unique:,.0f} rows are"))
    notes = "".join(f"<li>{escape(each)}</li>" for each in said)
    noted = f'<ul class="notes" aria-label="Notices">{notes}</ul>' if notes else ""
    return f'<div class="figures">{inner}</div>{noted}'


def frontier(points: Mapping[int, FrontierPoint], chosen: int) -> str:
    """The frontier as far as it is there: a chart, and its numbers."""
    ordered = [points[k] for k in sorted(points)]
    if not ordered:
        return '<p class="none">No release yet.</p>'
    rows = "".join(_point(each, each.k == chosen) for each in ordered)
    return (
        f"<figure>{frontier_svg(ordered, chosen)}</figure>"
        '<div class="scroll" tabindex="0" role="region" aria-label="Numbers of the frontier">'
        '<table><caption class="unseen">Risk and loss by k</caption><thead><tr>'
        '<th scope="col">k</th><th scope="col" class="n">largest risk</th>'
        '<th scope="col" class="n">loss</th><th scope="col" class="n">classes</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _point(point: FrontierPoint, now: bool) -> str:
    chosen = ' class="chosen" aria-current="true"' if now else ""
    head = f'<tr{chosen}><th scope="row">{point.k}</th>'
    if point.refused:
        return f'{head}<td colspan="3" class="refused">{escape(point.refused)}</td></tr>'
    return (
        f'{head}<td class="n">{_percent(point.risk)}</td><td class="n">{_percent(point.loss)}</td>'
        f'<td class="n">{point.classes:,}</td></tr>'
    )


def class_sizes(shown: ShownRows | None) -> str:
    """Rows by the size of their class."""
    if shown is None:
        return '<p class="none">No release yet.</p>'
    return f"<figure>{charts.paired(shown.sizes, 'Rows by the size of their class')}</figure>"


def before_and_after(distributions: Sequence[Distribution]) -> str:
    """Each quasi-identifier of source and release."""
    return "".join(
        f'<article class="card"><h3>{escape(each.column)}</h3>'
        f"<figure>{charts.of_distribution(each)}</figure>"
        + (f'<p class="small">{escape(each.note)}</p>' if each.note else "")
        + "</article>"
        for each in distributions
    )


def rows_of(shown: ShownRows | None) -> str:
    """The first rows of a release."""
    if shown is None:
        return '<p class="none">No release yet.</p>'
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in shown.names)
    body = "".join(
        f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row)}</tr>" for row in shown.rows
    )
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Rows of the release"><table>'
        f'<caption class="unseen">Rows of the release</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _cell(value: str | None) -> str:
    if value is None:
        return '<span class="none">NULL</span>'
    try:
        number = float(value)
    except ValueError:
        return escape(value)
    return f"{number:.6g}" if "." in value and len(value) > 8 else escape(value)


def levels(preview: Preview, show_values: bool) -> str:
    """The levels of a hierarchy, and some examples."""
    body = "".join(_level(each) for each in preview.levels)
    count = max((len(each.examples) for each in preview.levels), default=0)
    head = "".join(f'<th scope="col">example {i + 1}</th>' for i in range(count))
    note = "" if show_values else (
        '<p class="small">Labels of fewer than k rows, and labels that contain whole values, are '
        "hidden. Show values to see them.</p>"
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" '
        f'aria-label="Levels of {escape(preview.column)}"><table>'
        f'<caption class="unseen">Levels of {escape(preview.column)}</caption><thead><tr>'
        f'<th scope="col">level</th><th scope="col" class="n">labels</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{note}"
    )


def _level(level: PreviewedLevel) -> str:
    cells = "".join(
        f"<td>{escape(label)}</td>" if label is not None
        else f'<td><span class="none">{HIDDEN}</span></td>'
        for label in level.examples
    )
    return (
        f'<tr><th scope="row">{level.number}</th><td class="n">{level.labels:,}</td>{cells}</tr>'
    )


def _percent(value: float | None) -> str:
    return "\N{EN DASH}" if value is None else f"{100 * value:.3g} %"


def listed(sentences: Sequence[str]) -> str:
    """Sentences as a list; nothing where there is none."""
    if not sentences:
        return ""
    return f"<ul>{''.join(f'<li>{escape(each)}</li>' for each in sentences)}</ul>"
