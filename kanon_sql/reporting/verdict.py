"""The first screen, and the concerns to consider before signing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kanon_sql.privacy import THRESHOLDS
from kanon_sql.reporting.facts import ReportFacts


@dataclass(frozen=True)
class ShownDemand:
    """What was asked of every class, and what the worst class has.

    Attributes:
        name: of the demand.
        asked, reached: the numbers.
        metric: the metric that tells what was reached.
        at_least: whether more is better.
    """

    name: str
    asked: float | None
    reached: float | None
    metric: str
    at_least: bool = True

    @property
    def kept(self) -> bool:
        """Whether it was reached."""
        if self.asked is None or self.reached is None:
            return False
        return self.reached >= self.asked if self.at_least else self.reached <= self.asked


@dataclass(frozen=True)
class Concern:
    """Something to look at before signing.

    Attributes:
        sentence: what it is; its one hole is the number.
        metric: the metric that tells the number.
        value: the number.
        advice: what could be done.
        severe: whether it speaks against publishing.
        open: whether it says that people may be found, or something of them, though all that was
            asked was reached.
    """

    sentence: str
    metric: str
    value: float
    advice: str
    severe: bool = False
    open: bool = False

    @property
    def parts(self) -> tuple[str, str]:
        """The sentence before its number, and after it."""
        before, _, after = self.sentence.partition("{}")
        return before, after


@dataclass(frozen=True)
class Cards:
    """The four cards of the first screen.

    Attributes:
        demands: what was asked and reached.
        loss_name, loss: the metric of the loss, and its number as a share.
        loss_sentence: what it means.
        worst: the column that loses most, if that is told.
        gravest: what speaks most against it, which the headline says; None where nothing does.
    """

    demands: tuple[ShownDemand, ...]
    loss_name: str
    loss: float | None
    loss_sentence: str
    worst: tuple[str, float, str] | None
    gravest: Concern | None = None

    @property
    def others(self) -> float:
        """Beside how many others somebody stands, at least."""
        return (self.demands[0].reached or 1.0) - 1.0

    @property
    def kept(self) -> bool:
        """Whether all that was asked was reached."""
        return all(demand.kept for demand in self.demands)


def cards(facts: ReportFacts) -> Cards:
    """What the first screen says."""
    worst = max(
        ((column.name, column.loss, column.loss_metric)
         for column in facts.quasi_identifiers if column.loss is not None),
        key=lambda each: each[1], default=None,
    )
    gravest = next((each for each in concerns(facts) if each.severe or each.open), None)
    return Cards(tuple(_demands(facts)), *_loss(facts), worst, gravest)


def _demands(facts: ReportFacts) -> Iterator[ShownDemand]:
    yield ShownDemand("k", facts.value("k_requested"), facts.value("k"), "k")
    for model in THRESHOLDS:
        for name, asked in facts.metrics.items():
            if name.partition(" (")[0] != f"{model.name}_requested":
                continue
            reached = name.replace("_requested", "", 1)
            yield ShownDemand(
                reached, asked.value, facts.value(reached), reached,
                at_least=model.bound == "at least",
            )


def _loss(facts: ReportFacts) -> tuple[str, float | None, str]:
    """The loss that the first screen tells: of what is released, where that is defined."""
    if facts.value("ncp") is not None:
        return "ncp", facts.value("ncp"), "of the information of the average cell"
    loss = facts.value("information_loss")
    return (
        "information_loss", None if loss is None else loss / 100,
        "of the variance",
    )


def concerns(facts: ReportFacts) -> tuple[Concern, ...]:
    """What has to be looked at before somebody signs, the gravest first."""
    return tuple(sorted(
        _concerns(facts), key=lambda concern: (not concern.severe, not concern.open)
    ))


WARNINGS = {
    "singling_out": "An attacker singles out {} percentage points more people in the release than "
    "outside.",
    "linkability": "An attacker links the rows of {} percentage points more people in the release "
    "than outside.",
    "inference": "An attacker guesses a value of {} percentage points more people in the release "
    "than outside.",
    "membership": "An attacker guesses which people are in the release, and is right {} percentage "
    "points more often than by chance.",
}
"""What is said of an attack whose advantage is above the limit."""

ADVICE = {
    "inference": "Choose a larger k, or request t-closeness.",
    "singling_out": "Choose a larger k, or leave out columns.",
}


def _of_attacks(facts: ReportFacts) -> Iterator[Concern]:
    """The attacks that are above the limit, or that so many guesses leave undecided."""
    for attack in () if facts.evidence is None else facts.evidence.attacks:
        if attack.verdict == "green":
            continue
        advantage = round(100.0 * attack.worst.advantage.value, 1)
        advice = ADVICE.get(attack.name, "Choose a larger k.")
        if attack.verdict == "amber":
            advice = f"That is close to the limit, and may be above it. {advice}"
        yield Concern(
            WARNINGS[attack.name], "", advantage, advice, severe=attack.verdict == "red", open=True
        )


def _concerns(facts: ReportFacts) -> Iterator[Concern]:
    for demand in _demands(facts):
        if not demand.kept:
            yield Concern(
                f"The requested {demand.name} is not met: it is {{}}.", demand.metric,
                demand.reached or 0.0, "Do not publish this release.", True,
            )
    alone = facts.value("unique_in_unchanged") or 0.0
    if alone:
        yield Concern(
            "{} released rows are unique in the unchanged columns: an attacker who knows these "
            "values of a person finds the row, regardless of k.", "unique_in_unchanged", alone,
            "Make these columns quasi-identifiers, or drop them.", True,
        )
    for shared in facts.shared:
        if shared.one_value:
            yield Concern(
                f"{{}} released rows are in classes with only one value of {shared.column}: an "
                "attacker who finds a person's class knows the value.", shared.metric,
                float(shared.one_value),
                f"If {shared.column} is confidential, request l-diversity, such as l=2.", open=True,
            )
    yield from _of_attacks(facts)
    left_out = facts.value("rows_suppressed") or 0.0
    if left_out:
        yield Concern(
            "{} rows were left out: totals of the release differ from those of the source.",
            "rows_suppressed", left_out, "State this with the release.",
        )
    names = [column.name for column in facts.passing if column.role == "other"]
    if names:
        yield Concern(
            "{} columns without a role are released unchanged: " + ", ".join(names) + ".", "",
            float(len(names)), "Make sure that no attacker knows their values of a person.",
            open=True,
        )
