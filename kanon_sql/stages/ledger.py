"""Groups the persons of a relation beside a ledger of earlier releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kanon_sql.encode.arrow import SideTable
from kanon_sql.encode.encoded import Encoded
from kanon_sql.errors import DataError
from kanon_sql.group.run import group_points
from kanon_sql.hierarchies.tree import Tree
from kanon_sql.kernel.watch import Watch
from kanon_sql.ledger.headroom import read_headroom
from kanon_sql.ledger.histories import NEWCOMER, Histories, read_histories
from kanon_sql.ledger.models import keep_models
from kanon_sql.ledger.newcomers import groups_to_make
from kanon_sql.ledger.shown import NOBODY, STAY, choose
from kanon_sql.methods import GroupTask
from kanon_sql.points.points import Grouping, Labels, Points
from kanon_sql.stages.block import GoingOn
from kanon_sql.stages.ledger_classes import Covering, Nearest, covering_of, nearest_of
from kanon_sql.stages.remembered import Recalled, digest, recall

OUT = -1


@dataclass(frozen=True)
class Past:
    """What a ledger says of n records, in canonical order.

    Attributes:
        attacker, headroom: as the options say.
        histories: of all persons of the ledger.
        history: int64, shape (n,); that of each record, NEWCOMER of one without.
        stale: bool, shape (n,); whether it has other quasi-identifiers than when it was last
            released.
        lots: uint64, shape (n,); a lot of each that isn't a newcomer.
        classes: what newcomers may join; None where they may not.
        largest: the largest number of a class before; 0 without any.
    """

    attacker: str
    headroom: int | str
    histories: Histories
    history: Labels
    stale: npt.NDArray[np.bool_]
    lots: npt.NDArray[np.uint64]
    classes: Nearest | Covering | None
    largest: int


def read_past(
    settings: Mapping[str, Any], tables: Mapping[str, SideTable], records: Encoded, numbers: Labels,
    trees: Mapping[str, Tree], types: Sequence[str],
) -> Past:
    """What the query says of the ledger (see known and frozen in sql/ledger.sql).

    Args:
        settings: the attribute ``ledger`` of the run.
        tables: 'ledger' and 'frozen', as text; none before the first release.
        records: the relation.
        numbers: int64, shape (n,); the row numbers of its records.
        trees: hierarchies by column name.
        types: the SQL types of the quasi-identifiers.
    """
    count = len(numbers)
    history = np.full(count, NEWCOMER, np.int64)
    stale, lots = np.zeros(count, np.bool_), np.zeros(count, np.uint64)
    histories = read_histories([])[0]
    classes: Nearest | Covering | None = None
    known = tables.get("ledger")
    if known is not None and known.columns:
        rows, texts, changed, drawn = known.columns
        histories, of_person = read_histories(texts.to_pylist())
        order = np.argsort(numbers)
        row_numbers = rows.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        spots = np.minimum(np.searchsorted(numbers[order], row_numbers), count - 1)
        present = numbers[order[spots]] == row_numbers
        indices = order[spots[present]]
        history[indices] = of_person[present]
        was_changed = pc.equal(changed, "true").fill_null(False).to_numpy(zero_copy_only=False)
        stale[indices] = was_changed[present]
        lots[indices] = drawn.cast(pa.uint64()).to_numpy(zero_copy_only=False)[present]
        if settings["joined"] == "points":
            classes = nearest_of(tables["frozen"], records)
        elif settings["joined"] == "sets":
            classes = covering_of(tables["frozen"], records, trees, types)
    return Past(
        settings["attacker"], settings["headroom"], histories, history, stale, lots, classes,
        histories.largest_class,
    )


def past_of_newcomers(
    settings: Mapping[str, Any], going_on: GoingOn | None, records: Encoded,
    trees: Mapping[str, Tree], types: Sequence[str],
) -> Past:
    """The same of a block of persons who were never released.

    Args:
        settings, records, trees, types: as above.
        going_on: the classes that they may join, if there are any.
    """
    count, classes = len(records.order), None
    if going_on is not None:
        classes = (
            nearest_of(going_on.table, records) if settings["joined"] == "points"
            else covering_of(going_on.table, records, trees, types, going_on)
        )
    return Past(
        settings["attacker"], settings["headroom"], read_histories([])[0],
        np.full(count, NEWCOMER, np.int64), np.zeros(count, np.bool_), np.zeros(count, np.uint64),
        classes, settings["largest"],
    )


def group_beside(
    past: Past, points: Points, task: GroupTask, watch: Watch
) -> tuple[Grouping, dict[str, Any], Recalled | None]:
    """The class of each record, by its number in the ledger, -1 of those who aren't shown; how
    many aren't, and why; and the grouping of the newcomers, if there was one.

    Raises:
        DataError: nobody can be shown, or a first release can't keep the models.
        StoppedError: the watch was asked to stop.
    """
    labels = np.full(len(points), OUT, np.int64)
    old = np.flatnonzero((past.history != NEWCOMER) & ~past.stale)
    present = np.bincount(past.history[old], minlength=len(past.histories))
    if len(past.histories):
        stay = STAY[past.attacker](past.histories, present, task.k)
        chosen = old[choose(past.history[old], stay, past.lots[old])]
        labels[chosen] = past.histories.last_class[past.history[chosen]]
    newcomers = np.flatnonzero(past.history == NEWCOMER)
    room = read_headroom(past.headroom, task.k, past.attacker, past.histories, present)
    placed, recalled = _placed(
        past, points, newcomers, np.unique(labels[labels >= 0]), room.persons, task, watch
    )
    labels[newcomers] = placed
    if task.models and len(past.histories):
        labels = keep_models(
            points, labels, past.history, past.histories, past.attacker, task.k, task.models
        )
    shown, placed = int(np.sum(labels[old] >= 0)), labels[newcomers]
    facts = {
        "release": past.histories.last_release + 1,
        "rows_withheld": len(old) - shown,
        "rows_stale": int(past.stale.sum()),
        "rows_waiting": int(np.sum(placed < 0)),
        "rows_joining": int(np.sum((placed >= 0) & (placed <= past.largest))),
        **room.facts,
    }
    if not (labels >= 0).any():
        raise DataError(NOBODY)
    measured = {} if recalled is None else {
        name: value for name, value in recalled.grouping.facts.items()
        # what newcomers alone lose by the models is nothing of the release
        if not (task.models and name in ("loss_with", "loss_without"))
    }
    return Grouping(labels, measured), facts, recalled


def group_newcomers(past: Past, points: Points, task: GroupTask, watch: Watch) -> Grouping:
    """The class of each record of a block of persons who were never released, by its number in the
    ledger, -1 of those who wait. Who was released before is in none, and is decided over all.

    Raises:
        StoppedError: the watch was asked to stop.
    """
    nobody = np.zeros(0, np.int64)
    going_on = nobody if past.classes is None else past.classes.numbers
    everybody = np.arange(len(points))
    room = read_headroom(past.headroom, task.k, past.attacker, past.histories, nobody)
    placed, _ = _placed(
        past, points, everybody, going_on, room.persons, task, watch, remember=False
    )
    return Grouping(placed, {})


def _placed(
    past: Past, points: Points, newcomers: Labels, going_on: Labels, headroom: int,
    task: GroupTask, watch: Watch, remember: bool = True,
) -> tuple[Labels, Recalled | None]:
    """The classes of newcomers, -1 of those who wait, and their grouping by the method, which is
    remembered unless they are a block of many.

    Against absence, a class of their own never costs more than to join another together, which
    publishes what was the mean of others; and alone nobody may join. Against presence, groups that
    would cost less apart, in the classes that go on, dissolve into these.
    """
    labels, count = np.full(len(newcomers), OUT, np.int64), len(newcomers)
    joined, costs = np.full(count, OUT, np.int64), np.full(count, np.inf)
    if past.classes is not None and past.attacker == "knows_presence":
        joined, costs = past.classes.cheapest(newcomers, going_on)
    recalled = None
    if count >= task.k:
        own = replace(task, k=min(task.k + headroom, count))
        part = points.part(newcomers)
        if remember:
            recalled = _grouped(part, own, bool(len(past.histories)), watch)
        else:
            recalled = Recalled(group_points(part, own, watch), 0.0, False)
        groups = recalled.grouping.labels
        formed = np.ones(int(groups.max()) + 1, np.bool_)
        if past.classes is not None and np.isfinite(costs).any():
            formed = groups_to_make(past.classes.own(newcomers, groups), groups, costs)
        numbers = past.largest + np.cumsum(formed)
        grouped = np.flatnonzero(groups >= 0)
        stays = grouped[formed[groups[grouped]]]
        labels[stays] = numbers[groups[stays]]
    left = np.flatnonzero(labels == OUT)
    labels[left] = joined[left]
    return labels, recalled


def _grouped(points: Points, task: GroupTask, goes_on: bool, watch: Watch) -> Recalled:
    """The grouping of newcomers. Where a release goes on, they may keep no model by themselves and
    do so among others: then the models wait until all are placed."""
    try:
        return recall(digest(points, task), lambda: group_points(points, task, watch))
    except DataError:
        if not (goes_on and task.models):
            raise
    free = replace(task, beside_k=())
    return recall(digest(points, free), lambda: group_points(points, free, watch))
