"""The SQL of demands on all classes together: that what is released keeps them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kanon_sql.call.call import GroupingCall
from kanon_sql.names import literal
from kanon_sql.privacy import WHOLE
from kanon_sql.sql import expression

OF_ALL_CLASSES = tuple(kind.option for kind in WHOLE)
"""The options that ask for something of all classes together."""


def counted(call: GroupingCall) -> tuple[str, str]:
    """SQL of whom the released classes are of, over __kanon_check, and what these are."""
    if call.roles.entity is None:
        return expression("whole.rows"), "rows"
    return expression("whole.persons"), "persons"


def refusals_of_whole(call: GroupingCall) -> str:
    """What refuses a release that misses a demand on all classes, one WHEN for each."""
    persons, what = counted(call)
    classes = expression("whole.classes")
    return "".join(
        "        WHEN " + expression(
            "whole.refused",
            broken=each.broken_sql(classes, persons),
            said=literal(each.sentence(what, call.task.method.name)),
            classes=classes, persons=persons,
        ) + "\n"
        for each in call.task.whole
    )


def broken_of_all_classes(
    options: Mapping[str, Any], measured: Mapping[str, float | None]
) -> Iterator[tuple[str, str]]:
    """What a file shows of what was asked of all its classes: each option, and what is wrong; an
    empty text where nothing is.

    Args:
        options: those of the manifest.
        measured: the metrics that the rows of the file show.
    """
    for kind in WHOLE:
        if options.get(kind.option) is None:
            continue
        whole, reached = kind(**{kind.option: options[kind.option]}), measured.get(kind.reached[0])
        fits = reached is None or whole.keeps(reached)
        yield kind.option, "" if fits else (
            f"The manifest asks for {whole.in_words}, and the classes of the file have "
            f"{reached:g}."
        )
