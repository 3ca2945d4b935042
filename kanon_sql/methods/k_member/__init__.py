"""k-member clustering (byun2006), and the nearest-neighbour clustering it compares with."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from kanon_sql.errors import OptionError
from kanon_sql.methods.geometry import LOSS
from kanon_sql.methods.method import Method
from kanon_sql.methods.option import MethodOptions
from kanon_sql.methods.task_view import TaskView
from kanon_sql.option import option
from kanon_sql.validators import number, one_of

STARTS = ("last", "seed")
DIVERSITIES = ("equal", "sensitive")


@dataclass(frozen=True)
class KMemberOptions(MethodOptions):
    """The options of k_member."""

    start: str = option(
        "last", one_of(STARTS),
        "the row that starts a class is the one furthest from the 'last' row added (byun2006, "
        "figure 8), or from the 'seed' that started the previous class (section 4.3).",
    )
    class_penalty: float = option(
        1.0, number, "the cost of a row with another class label, in quasi-identifier cells.",
        type="DOUBLE",
    )
    diversity_preference: str | None = option(
        None, one_of(DIVERSITIES),
        "'equal' avoids classes with only one sensitive value, 'sensitive' those whose only value "
        "is among sensitive_values. Requires one sensitive column. This is a preference; for a "
        "guarantee, use l.",
    )
    diversity_penalty: float = option(
        1.0, number,
        "the cost of a row that leaves its class without diversity, in quasi-identifier cells.",
        type="DOUBLE",
    )

    @property
    def needs_sensitive(self) -> bool:
        """With diversity_preference."""
        return self.diversity_preference is not None

    @property
    def needs_protected(self) -> bool:
        """With diversity_preference 'sensitive'."""
        return self.diversity_preference == "sensitive"

    def check(self, task: TaskView, names: Collection[str]) -> None:
        """Refuses penalties for nothing, and refine where it would undo what they do."""
        needed = {"diversity_penalty": self.diversity_preference, "class_penalty": task.class_label}
        for name, value in needed.items():
            if name in names and value is None:
                lacking = "class_label" if name == "class_penalty" else "diversity_preference"
                raise OptionError(
                    f"{name} is given without {lacking}. Add it, or leave {name} out."
                )
        if self.diversity_preference == "sensitive" and not task.sensitive_values:
            raise OptionError(
                "diversity_preference 'sensitive' needs to know which values are sensitive. Add "
                "sensitive_values=[...]."
            )
        if task.refine == "none":
            return
        if self.diversity_preference is not None:
            raise OptionError(
                "The search of effort would undo diversity_preference. Leave one of them out."
            )
        if task.class_label is not None and self.class_penalty != 0.0:
            raise OptionError(
                "The search of effort would undo class_penalty, which prefers classes of one "
                "label. Leave effort out, or set class_penalty=0."
            )

METHODS = (
    Method(
        name="k_member",
        family=__name__,
        use="sets",
        summary="Forms one class of k per round: one record far from the previous class, then "
        "those that add least to the information loss; leftover records join where they add least.",
        guarantee="n // k classes of k to 2k-1; no bound on the loss",
        cost="near O(n log n) with few columns, O(n^2) at most",
        representation="interval",
        source="byun2006, figure 8; class labels section 5.2, diversity section 5.1",
        geometries={"loss": LOSS},
        own=KMemberOptions,
    ),
    Method(
        name="nearest",
        family=__name__,
        summary="Forms one class of k per round: a random record and its k-1 nearest.",
        guarantee="n // k classes of k to 2k-1; no bound on the loss",
        cost="near O(n log n) with few columns, O(n^2 / k) at most",
        representation="interval",
        source="Aggarwal and Yu 2004, as compared in byun2006, section 6",
        geometries={"loss": LOSS},
    ),
)
