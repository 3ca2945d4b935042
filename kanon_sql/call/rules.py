"""Which options go together: from the options of a call to its task and its release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kanon_sql.call.choices import MEANS, POINTS
from kanon_sql.call.ledger_options import LedgerOptions
from kanon_sql.call.options import Options
from kanon_sql.errors import OptionError
from kanon_sql.methods import CHOICES, METHODS, GroupTask, Method
from kanon_sql.methods.auto import AUTO, BY_ESTIMATE
from kanon_sql.methods.single_attribute.geometry import AttributeGeometry
from kanon_sql.names import caseless

SETS = ("interval", "bounds")
"""The representations of which a cell may be as long as its class: {a, b, c}."""


@dataclass(frozen=True)
class ReleaseForm:
    """What classes release.

    Attributes:
        representation: of columns without a hierarchy, or of all.
        by_column: of single columns, by their names in lower case; these win.
        by_hierarchy: whether columns that have a hierarchy release a label of it.
        same_level: whether all classes release the level that the method chose for a column.
        class_id, keep_order: as the options.
        of_method: the columns that the method adds.
        tight: whether classes of places release the smallest box around them.
        weighted: whether centroids count rows by their weights.
        precisions: how fine the values of columns are, by their names in lower case, where that was
            learned of all rows; None where the rows of the query are all that there are.
    """

    representation: str
    by_hierarchy: bool = False
    same_level: bool = False
    class_id: bool = False
    keep_order: bool = False
    of_method: tuple[str, ...] = ()
    tight: bool = False
    weighted: bool = False
    by_column: Mapping[str, str] = field(default_factory=dict)
    precisions: Mapping[str, int] | None = None

    def of(self, column: str, has_hierarchy: bool = False) -> str:
        """What stands for a column: one of REPRESENTATIONS."""
        chosen = self.by_column.get(caseless(column))
        if chosen is None and has_hierarchy and self.by_hierarchy:
            return "hierarchy"
        return chosen or self.representation

    @property
    def rounds(self) -> bool:
        """Whether a class may release a mean in the precision of its column."""
        return "rounded" in {self.representation, *self.by_column.values()}

    @property
    def holds_sets(self) -> bool:
        """Whether a class may release all the values of its rows, in one cell."""
        return not {self.representation, *self.by_column.values()}.isdisjoint(SETS)

    @property
    def added(self) -> tuple[str, ...]:
        """The columns that a release gets beside those of the relation."""
        return (*(("class_id",) if self.class_id else ()), *self.of_method)


def resolve(options: Options, in_parts: bool = False) -> tuple[GroupTask, ReleaseForm]:
    """The task and the release that the options of a grouping call ask for.

    Args:
        options: those of the call.
        in_parts: whether columns divide the rows into parts.

    Raises:
        OptionError: options that don't go together.
    """
    group = options.group
    method = CHOICES[group.method]
    follows = options.call == "anonymize_ledger" or options.ledger != LedgerOptions()
    if (in_parts or follows) and "method" not in options.explicit:
        # each part, and each later release, is to be made alike
        method = METHODS[NAMED]
    _check_levels(options, method)
    _check_effort(options, method)
    task = GroupTask(
        method=method,
        k=_k(options, method),
        own=options.own,
        distance=_distance(options, method),
        loss=group.loss,
        weights=group.column_weights,
        nulls=group.nulls,
        seed=group.seed,
        refine=_refine(options, method),
        refine_times=LONGER if group.effort == "thorough" else 1,
        refine_steps=group.refine_steps,
        refine_seconds=group.refine_seconds,
        block_rows=group.block_rows,
        suppress=group.suppress,
        class_label=options.roles.class_label,
        sensitive_values=options.measure.sensitive_values,
    )
    _check_metric(options, task)
    options.own.check(task, options.explicit)
    _check_centers(options)
    _check_attribute(options, task)
    if task.geometry.has_centers and task.suppress > 0.0:
        instead = "Use epsilon" if "epsilon" in method.options else "Leave suppress out"
        raise OptionError(
            f"The method {method.name!r} can't suppress rows afterwards: that would move its "
            f"centers. {instead}."
        )
    if "block_rows" in options.explicit and not method.in_blocks:
        raise OptionError(
            f"The method {method.name!r} groups all rows as one. Leave block_rows out."
        )
    return task, _release(options, task)


def _check_levels(options: Options, method: Method) -> None:
    by_levels = method.representation == "hierarchy"
    if by_levels and (
        options.release.by_column or options.release.for_all not in (None, "hierarchy")
    ):
        raise OptionError(
            f"The method {method.name!r} releases the levels of hierarchies. Leave representation "
            "out."
        )


NAMED = "mdav_star"
"""The method of a call that names none, where 'auto' would choose anew for each part or release."""

LEAST_K = 2


def _k(options: Options, method: Method) -> int:
    k = options.group.k
    if method.promises_k:
        if k is None and options.call == "anonymize_roles":
            return LEAST_K  # nothing is released
        if k is None:
            raise OptionError(
                "k is not given. Say how many rows must share each combination of "
                "quasi-identifiers, for example k=5."
            )
        if method.only_k not in (None, k):
            raise OptionError(
                f"The method {method.name!r} is for k = {method.only_k} only, and k is {k}. Use "
                f"forest, which takes any k."
            )
        return k
    if options.call not in ("anonymize_clusters", "anonymize_metrics", "anonymize_roles"):
        raise OptionError(
            f"The method {method.name!r} promises no class size, so its rows can't be released. "
            "Use r_cellular, or publish its clusters by anonymize_clusters."
        )
    if k is not None:
        raise OptionError(
            f"The method {method.name!r} promises no class size. Leave k out, or use r_cellular."
        )
    return 1 if options.own.publishes_small or options.call == "anonymize_metrics" else LEAST_K


def _distance(options: Options, method: Method) -> str | None:
    chosen = options.group.distance
    own = method.geometry()
    if own.own_measure:
        for name in ("distance", "loss"):
            if name in options.explicit:
                raise OptionError(
                    f"The method {method.name!r} measures {own.own_measure}. Leave {name} out."
                )
        return None
    if chosen is None:
        shown = options.release.for_all
        sets = method is AUTO and shown not in (None, "hierarchy", *POINTS)
        chosen = "loss" if sets else method.distances[0]
    if chosen not in method.distances:
        raise OptionError(
            f"The method {method.name!r} works in the distance {method.distances[0]!r} only. "
            "Leave distance out, or use another method."
        )
    if "loss" in options.explicit and not method.geometry(chosen).by_loss:
        raise OptionError(
            f"The method {method.name!r} works in squared distances here, where loss has no "
            "meaning. Leave loss out, or use k_member, or best with distance='loss'."
        )
    return chosen


def _check_metric(options: Options, task: GroupTask) -> None:
    if task.own.in_metric != "haversine":
        return
    for name, value in (
        ("column_weights", task.weights), ("hierarchies", options.release.hierarchies)
    ):
        if value:
            raise OptionError(
                f"The metric 'haversine' measures kilometres, where {name} have no meaning. Leave "
                "them out."
            )


LONGER = 8
"""How many times the steps of effort 'balanced' effort 'thorough' makes."""


def _check_effort(options: Options, method: Method) -> None:
    """Raises OptionError for an effort that the method can't make, or steps without a search."""
    effort = options.group.effort
    if effort is not None and method.searches:
        raise OptionError(
            f"The method {method.name!r} searches by itself. Leave effort out, or give "
            "refine_steps."
        )
    searched = effort not in (None, "fast")
    if searched and not method.refinable:
        raise OptionError(f"The method {method.name!r} can't be refined. Leave effort out.")
    for name in ("refine_steps", "refine_seconds"):
        if name in options.explicit and not (searched or method.searches):
            raise OptionError(
                f"{name} is given, but nothing is searched. Add effort='balanced', or use the "
                "method 'best'."
            )


def _refine(options: Options, method: Method) -> str:
    """Whether groups are refined, as GroupTask has it."""
    if options.group.effort is not None:
        return "none" if options.group.effort == "fast" else "local"
    return BY_ESTIMATE if method is AUTO else "none"


def _check_centers(options: Options) -> None:
    shown = options.release.representation
    if "centers" in options.explicit and shown not in (None, "centroid"):
        raise OptionError(
            f"centers and the representation {shown!r} both set what a class publishes. Leave one "
            "of them out."
        )


def _check_attribute(options: Options, task: GroupTask) -> None:
    """What goes with a method of one attribute, and what goes with no other."""
    name = task.method.name
    if not isinstance(task.geometry, AttributeGeometry):
        if "number" in (options.release.for_all, *options.release.by_column.values()):
            raise OptionError(
                "The representation 'number' would release only the number of the class, and the "
                f"method {name!r} generalizes all quasi-identifiers. Choose another."
            )
        return
    without = {
        "column_weights": task.weights, "hierarchies": options.release.hierarchies,
        "suppress": task.suppress, "categorical": options.roles.categorical,
        "representation by column": options.release.by_column,
    }
    for option, value in without.items():
        if value:
            raise OptionError(
                f"The method {name!r} looks at the values of one attribute and how often they "
                f"occur, where {option} has no meaning. Leave it out."
            )


def _release(options: Options, task: GroupTask) -> ReleaseForm:
    requested, method = options.release, task.method
    chosen, same_level = requested.for_all, method.representation == "hierarchy"
    _check_by_column(options, task)
    every = same_level or task.own.in_metric == "taxonomy"
    if chosen == "hierarchy" and not (requested.hierarchies or every):
        raise OptionError(
            "The representation 'hierarchy' needs hierarchies. Add hierarchies={'zip': "
            "'prefix'}, for example."
        )
    own = "interval" if method is AUTO and task.distance == "loss" else method.representation
    shown = chosen
    if shown in (None, "hierarchy"):
        shown = "interval" if same_level else own
    return ReleaseForm(
        representation=shown or own,
        by_hierarchy=chosen == "hierarchy" or (chosen is None and not task.geometry.has_centers),
        by_column={caseless(name): word for name, word in requested.by_column.items()},
        same_level=same_level,
        class_id=requested.class_id,
        keep_order=requested.keep_order,
        of_method=task.own.added_columns,
        tight=task.own.tightly,
        weighted=_weighted(options, task, shown or own),
    )


def _weighted(options: Options, task: GroupTask, shown: str) -> bool:
    """Whether the released centroids count rows by their weights.

    Raises:
        OptionError: there are weights, and nothing that the call tells depends on them.
    """
    if options.risk.sampling_weight is None:
        return False
    words = (shown, *options.release.by_column.values())
    own = task.geometry.has_centers or isinstance(task.geometry, AttributeGeometry)
    if not own and not set(MEANS).isdisjoint(words):
        return True
    if options.call in ("anonymize_metrics", "anonymize_roles"):
        return False
    raise OptionError(
        f"sampling_weight counts in centroids, and classes of the method {task.method.name!r} "
        "release none of their rows here. Leave it out, or name its column in sensitive=[...]."
    )


def _check_by_column(options: Options, task: GroupTask) -> None:
    """Raises OptionError for representations of single columns that can't be."""
    with_hierarchy = {caseless(name) for name in options.release.hierarchies}
    for name, word in options.release.by_column.items():
        if word == "hierarchy" and caseless(name) not in with_hierarchy:
            raise OptionError(
                f"representation gives the column {name!r} 'hierarchy', and it has none. Add it to "
                "hierarchies, or choose another."
            )
        if task.geometry.has_centers and word != (options.release.for_all or "centroid"):
            raise OptionError(
                f"The method {task.method.name!r} publishes a center of each class as a whole. "
                "Give one representation for all columns."
            )


def refuse_beside_k(task: GroupTask) -> None:
    """Raises OptionError for a task with demands beside k that its method can't keep."""
    options = [*(model.option for model in task.models), *(each.option for each in task.whole)]
    if not options:
        return
    asked = options[0]
    if not task.method.promises_k:
        raise OptionError(
            f"The method {task.method.name!r} promises no class size, and nothing that {asked} "
            f"asks for. Use r_cellular, or leave {asked} out."
        )
    if task.method.keeps_models and task.suppress > 0.0:
        raise OptionError(
            f"The method {task.method.name!r} can't suppress rows and keep {asked}: without them "
            f"all shares would be others. Leave suppress out, or {asked}."
        )
