"""Enforcement: classes that break a privacy model are changed until none does.

Most methods are repaired by search (kanon_sql/methods/local_search/constrained_search.py), which
may put any record into another class. What a method makes of places, neighbours, levels or centers
would not outlive that: such classes are merged whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kanon_sql.errors import DataError
from kanon_sql.kernel.watch import Watch
from kanon_sql.methods import GroupTask
from kanon_sql.points.points import Codes, Floats, Grouping, ItemPoints, Labels, Points, rows_at
from kanon_sql.privacy import PrivacyModel
from kanon_sql.privacy.feasible import counts_of, refuse_infeasible
from kanon_sql.privacy.model import spot_of

GUARANTEED = ("guaranteed_ratio",)
"""What doesn't hold any more of classes that were changed: less than the bound is still impossible,
but how near they come to it isn't promised."""

FIRST = 60
"""Steps of the search for each record where refine isn't asked for, up to FIRST_STEPS, or so many
as there are records twice."""

FIRST_STEPS = 2_000_000


CHEAP = 10
"""Another start is cheap where trying both takes a share of the search that is one over this."""


MERGED = 400
"""Classes that break a model up to which it is tried to do nothing but merge them: a search may
lose more than that where it has little to mend. Mergers of more classes never came near to it."""


LARGER = 2
"""A search of few steps begins by classes of so many times the least records where hardly any of
the least keeps the models: with t-closeness it loses 3 to 10 percent less on tables of 300,000
and 1,000,000 rows, since fewer classes are left to be merged."""

FROM_LEAST = 100_000
"""Records up to which a search begins by the least: it has more steps for each, and with the others
it would lose up to 2 percent more, or up to 3 less."""

TRIED, HARDLY = 1_000, 0.05
"""Of so many classes of the least records, what share hardly any is."""


def least_class(points: Points, models: Sequence[PrivacyModel], kept: Labels) -> list[int]:
    """What no smaller class of these records keeps, by model."""
    return [model.least_class(table) for model, table in counts_of(points, models, kept)]


def size_to_begin_by(
    points: Points, models: Sequence[PrivacyModel], k: int, kept: Labels
) -> int:
    """How many records the classes have by which a search for the models begins.

    Args:
        points: n records in canonical order.
        models: what each class must keep.
        k: the least class that is asked for.
        kept: int64, ascending; the records that are released.
    """
    # here, since they load the compiler
    from kanon_sql.privacy.demands import demands_of
    from kanon_sql.privacy.kernels import violations

    pairs = counts_of(points, models, kept)
    least = max(k, *(model.least_class(table) for model, table in pairs))
    if len(kept) <= FROM_LEAST or 4 * LARGER * least > len(kept):
        return least
    if not any(model.by_slices(table.column, False) for model, table in pairs):
        return least
    # of records at random: those that lie beside each other are more alike, and keep less
    classes = min(TRIED, len(kept) // least)
    random = np.random.RandomState(0)  # whose numbers are the same in every version
    some = kept[random.randint(len(kept), size=classes * least)]
    demands = demands_of(points, models, kept)
    demands = demands._replace(codes=np.ascontiguousarray(rows_at(demands.codes, some)))
    passing = np.mean(violations(demands, np.arange(len(some)) % classes) == 0.0)
    return LARGER * least if passing < HARDLY else least


def enforce(
    points: Points, grouping: Grouping, models: Sequence[PrivacyModel], task: GroupTask,
    watch: Watch,
) -> Grouping:
    """The grouping in which every class keeps the models.

    Args:
        points: n records in canonical order, with codes of the columns that the models name.
        grouping: its classes; records that are left out stay so, and count for nothing.
        models: what each class must keep beside k; none costs nothing.
        task: how the classes were made.
        watch: told how far it is; its stop raises StoppedError.

    Raises:
        DataError: all records together break a model.
    """
    if not models:
        return grouping
    kept = np.flatnonzero(grouping.labels >= 0)
    part = points if len(kept) == len(points) else points.part(kept)
    _refuse_block(part, models)
    before = grouping.labels[kept]
    facts = facts_before(part, before, models)
    if task.geometry.searched:
        after, searched = _searched(part, before, models, task, watch)
        enforced, facts = Grouping(after, {}), facts | searched
    else:
        enforced = _merged(part, replace(grouping, labels=before), models, task, watch)
    labels = grouping.labels.copy()
    labels[kept] = enforced.labels
    if (enforced.labels < 0).any():
        # what is left out is not among the shares of the others any more
        left = np.flatnonzero(labels >= 0)
        refuse_infeasible(points, models, left)
        labels[left] = np.unique(labels[left], return_inverse=True)[1]
        rest = Grouping(labels, _with_island(grouping, int((enforced.labels < 0).sum()), task.k))
        again = enforce(points, rest, models, task, watch)
        return replace(again, facts={**again.facts, **facts})
    facts = {**grouping.facts, **facts}
    if not np.array_equal(before, enforced.labels):
        facts = {name: value for name, value in facts.items() if name not in GUARANTEED}
    return replace(enforced, labels=labels, facts=facts)


def merged_if_few(
    points: Points, grouping: Grouping, models: Sequence[PrivacyModel], watch: Watch
) -> Labels | None:
    """The labels where classes that break a model are merged and nothing else is done; None where
    too many break one. Arguments as in ``enforce``."""
    # here, since they load the compiler
    from kanon_sql.methods.local_search.merging import cheapest_merge
    from kanon_sql.privacy.demands import demands_of
    from kanon_sql.privacy.kernels import violations

    kept = np.flatnonzero(grouping.labels >= 0)
    part = points if len(kept) == len(points) else points.part(kept)
    _refuse_block(part, models)
    demands = demands_of(part, models, np.arange(len(part)))
    breaking = int((violations(demands, grouping.labels[kept]) > 0.0).sum())
    if not 0 < breaking <= MERGED:
        return None
    labels: Labels = grouping.labels.copy()
    labels[kept] = cheapest_merge(part, grouping.labels[kept], demands, watch)
    return labels


def _with_island(grouping: Grouping, rows: int, k: int) -> dict[str, float]:
    """The facts of a grouping, with one more island of so many rows: without those less may be
    possible."""
    facts = {name: value for name, value in grouping.facts.items() if name not in GUARANTEED}
    more = {
        "islands": facts.get("islands", 0.0) + 1.0,
        "island_rows": facts.get("island_rows", 0.0) + rows,
        "lower_bound": float(k),
    }
    return {**facts, **more}


def facts_before(
    points: Points, labels: Labels, models: Sequence[PrivacyModel]
) -> dict[str, float]:
    """By model, how large a class must be to keep it, and how many classes break it.

    Args:
        points: n records.
        labels: int64, shape (n,), 0 .. groups-1; the classes without a look at the models.
        models: what each class must keep.
    """
    everybody = np.arange(len(points))
    facts: dict[str, float] = {}
    for j, model in enumerate(models):
        facts[f"least_size {j}"] = float(least_class(points, (model,), everybody)[0])
        facts[f"violating {j}"] = float((_violations(points, labels, (model,)) > 0.0).sum())
    return facts


def _refuse_block(points: Points, models: Sequence[PrivacyModel]) -> None:
    """Raises DataError where these records are a block of many, and not even one class of them all
    has the shares of all rows that a model asks for."""
    for model in models:
        column = points.sensitive_columns[
            spot_of(model.column, [each.name for each in points.sensitive_columns])
        ]
        if model.of_all_rows and column.table is not None and (
            _violations(points, np.zeros(len(points), np.int64), (model,))[0] > 0.0
        ):
            raise DataError(
                f"A block of {len(points)} rows can't keep {model.in_words}: their values are "
                "spread too differently from those of all rows. Ask for less, or for larger blocks "
                "by block_rows."
            )


def _violations(points: Points, labels: Labels, models: Sequence[PrivacyModel]) -> Floats:
    # here, since they load the compiler
    from kanon_sql.privacy.demands import demands_of
    from kanon_sql.privacy.kernels import violations

    return violations(demands_of(points, models, np.arange(len(points))), labels)


def _merged(
    points: Points, grouping: Grouping, models: Sequence[PrivacyModel], task: GroupTask,
    watch: Watch,
) -> Grouping:
    """Classes that were merged whole, with the centers and the bounds that they have then; -1 where
    a class can be merged with no other and is left out."""
    from kanon_sql.methods.local_search.merging import merge_allowed, merge_rest
    from kanon_sql.privacy.demands import demands_of

    demands = demands_of(points, models, np.arange(len(points)))
    mergers = task.geometry.mergers(points, grouping, task)
    watch.begin("merging", 1)
    if mergers is None:
        merged, cells = merge_rest(points, grouping.labels, demands, None, watch), grouping.cells
    else:
        assert isinstance(points, ItemPoints)
        merged = merge_allowed(points, grouping.labels, demands, mergers, watch)
        if (merged < 0).any():
            return replace(grouping, labels=merged)
        cells = mergers.cells
    used, labels = np.unique(merged, return_inverse=True)
    return Grouping(
        labels.astype(np.int64), {},
        None if grouping.centers is None else grouping.centers[used],
        None if cells is None else cells[used],
    )


def _searched(
    points: Points, labels: Labels, models: Sequence[PrivacyModel], task: GroupTask, watch: Watch
) -> tuple[Labels, dict[str, float]]:
    """The labels that a search found, and what it reports."""
    # here, since it loads the compiler
    from kanon_sql.methods.local_search.layout import layout_of

    n = len(points)
    if not (_violations(points, labels, models) > 0.0).any():
        return labels, {}
    k = max(task.k, *least_class(points, models, np.arange(n)))
    if 2 * k > n:  # there is room for one class, and nothing to search
        return np.zeros(n, np.int64), {}
    layout = layout_of(points)
    if layout is None:
        return _found(points, labels, models, k, task, watch)
    found, facts = _found(
        points.part(layout.order), layout.of(labels), models, k, task, watch
    )
    return layout.back(found), facts


def _found(
    points: Points, labels: Labels, models: Sequence[PrivacyModel], k: int, task: GroupTask,
    watch: Watch,
) -> tuple[Labels, dict[str, float]]:
    """The same of records that stay where they are, and of which fewer than ``k`` keep no model."""
    from kanon_sql.methods.local_search.constrained_search import Models, keep_models
    from kanon_sql.methods.local_search.equal_shares import spread_ties
    from kanon_sql.privacy.demands import demands_of

    demands = demands_of(points, models, np.arange(len(points)))
    steps = _steps(len(points), k, task)
    watch.begin("repairing", 2 * steps)
    ranked, by_slices = _ranked(points, models, steps)
    ranks = points.sensitive[:, ranked].astype(np.int64)
    search = Models(points, demands, k, ranks, task.seed, watch, by_slices)
    if search.is_hopeless:
        shares = _in_shares(points, models)
        if shares is not None:
            return search.merged(spread_ties(labels, shares, k)), {
                "refine_steps": 0.0, "refine_stopped": 0.0
            }
    refined = keep_models(search, labels, steps, task.refine_seconds)
    return refined.labels, {
        "refine_steps": float(refined.steps), "refine_stopped": float(refined.stopped)
    }


def _steps(n: int, k: int, task: GroupTask) -> int:
    """The visits of records that a search of n makes after the repair."""
    from kanon_sql.methods.search_steps import LOSS_STEPS, REFINE_STEPS, default_steps

    if task.refine != "local" and not task.method.searches:
        return min(FIRST * n, max(FIRST_STEPS, 2 * n))
    if task.refine_steps is not None:
        return task.refine_steps
    return default_steps(n, k, LOSS_STEPS if task.geometry.by_loss else REFINE_STEPS)


def _ranked(
    points: Points, models: Sequence[PrivacyModel], steps: int
) -> tuple[int, bool]:
    """The sensitive column by whose values a search of so many steps ranks the records, and whether
    it may begin by slices of them."""
    from kanon_sql.methods.local_search.constrained_search import PROBE

    # where an order makes values stand for their neighbours it wins seldom, and is tried if cheap
    cheap = 2 * PROBE * len(points) * CHEAP <= steps
    names = [column.name for column in points.sensitive_columns]
    spots = [spot_of(model.column, names) for model in models]
    for model, spot in zip(models, spots, strict=True):
        if model.by_slices(points.sensitive_columns[spot], cheap):
            return spot, True
    return spots[0], False


def _in_shares(points: Points, models: Sequence[PrivacyModel]) -> Codes | None:
    """The codes of the columns of which every class must have the shares of all records: int32,
    shape (n, m); None where there is none. Those of a block are held against other rows."""
    names = [column.name for column in points.sensitive_columns]
    spots = {
        spot_of(model.column, names)
        for model, table in counts_of(points, models) if model.in_shares(table)
    }
    spots = {spot for spot in spots if points.sensitive_columns[spot].table is None}
    return points.sensitive[:, sorted(spots)] if spots else None
