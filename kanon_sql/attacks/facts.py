"""What attacks found, as typed objects."""

from __future__ import annotations

from dataclasses import dataclass

LIMIT = 0.1
"""The advantage above which an attack speaks against a release: one person in ten. No law states
one; it is our choice."""

FEW = 30
"""Guesses from which on a variant must be known precisely: a release may have only a few values by
which its classes are singled out, and an attacker then has no more guesses than these."""


@dataclass(frozen=True)
class Rate:
    """A share with an interval.

    Attributes:
        value: the share; of an advantage it may be below 0.
        low, high: the ends of the interval.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Variant:
    """One form of an attack.

    Attributes:
        label: the form, such as the column that is guessed.
        attacks: how many guesses the attacker makes about people of the release.
        rate: the share of them that are right.
        controls: how many guesses the same attacker makes about people outside.
        control: the share of them that are right.
        advantage: rate - control: the share of people of whom only the release told. The
            intervals of all three hold for each variant alone.
        at_worst: the advantage with an interval that holds for all variants at once.
    """

    label: str
    attacks: int
    rate: Rate
    controls: int
    control: Rate
    advantage: Rate
    at_worst: Rate

    def __str__(self) -> str:
        return (
            f"{self.label:<42.42}{self.attacks:>8,}{self.rate.value:>9.3f}{self.control.value:>9.3f}"
            f"  {self.advantage.value:+.3f} [{self.advantage.low:+.3f}, {self.advantage.high:+.3f}]"
        )


@dataclass(frozen=True)
class Attack:
    """An attack with its variants.

    Attributes:
        name: 'singling_out', 'linkability', 'inference' or 'membership'.
        attacker: what the attacker knows and does, in one sentence.
        variants: its forms, at least one.
    """

    name: str
    attacker: str
    variants: tuple[Variant, ...]

    @property
    def average(self) -> float:
        """The mean advantage over the variants."""
        return sum(each.advantage.value for each in self.variants) / len(self.variants)

    @property
    def worst(self) -> Variant:
        """The variant with the highest advantage."""
        return max(self.variants, key=lambda each: each.at_worst.value)

    @property
    def verdict(self) -> str:
        """'red' where an advantage is above LIMIT even at the low end of the interval that holds
        for all variants at once; 'green' where each is LIMIT or less and known as precisely as
        that, but for variants of fewer than FEW guesses beside others; else 'amber'."""
        if any(each.at_worst.low > LIMIT for each in self.variants):
            return "red"
        if any(each.advantage.value > LIMIT for each in self.variants):
            return "amber"
        many = [each for each in self.variants if each.attacks >= FEW] or self.variants
        return "green" if all(
            each.advantage.high - each.advantage.value <= LIMIT for each in many
        ) else "amber"


@dataclass(frozen=True)
class Presence:
    """delta-presence: what share of the people who may be in a class are in it (Nergiz, Atzori and
    Clifton 2007).

    Attributes:
        people: how many people the population has.
        least, average, most: the least, mean and greatest share over the classes; the mean is over
            the released rows.
    """

    people: int
    least: float
    average: float
    most: float


@dataclass(frozen=True)
class Untried:
    """An attack that can't be made, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Evidence:
    """Attacks on a release, with their control.

    Attributes:
        rows: the rows of the release that was attacked.
        control_rows: the rows of people outside.
        of_trial: whether the release was made for the attacks, from a part of the rows.
        attacks: the attacks.
        refused: those that can't be made.
        presence: where a population is given.
    """

    rows: int
    control_rows: int
    of_trial: bool
    attacks: tuple[Attack, ...]
    refused: tuple[Untried, ...] = ()
    presence: Presence | None = None

    @property
    def verdict(self) -> str:
        """That of the worst attack: 'red', 'amber' or 'green'."""
        found = {each.verdict for each in self.attacks}
        return next((word for word in ("red", "amber") if word in found), "green")

    def __repr__(self) -> str:
        lines = [
            f"Evidence: {self.verdict}; {self.rows:,} rows attacked, {self.control_rows:,} rows of "
            "people outside",
            f"  {'':<44}{'guesses':>8}{'inside':>9}{'outside':>9}  advantage",
        ]
        for attack in self.attacks:
            lines.append(f"  {attack.name.replace('_', ' ')}: {attack.verdict}")
            lines += [f"    {each}" for each in attack.variants]
        lines += [f"  {each.name.replace('_', ' ')}: {each.reason}" for each in self.refused]
        if self.presence is not None:
            lines.append(f"  presence: {self.presence.average:.3f} on average, "
                         f"{self.presence.most:.3f} at most")
        return "\n".join(lines)

    def attack(self, name: str) -> Attack:
        """The attack with this name."""
        return next(each for each in self.attacks if each.name == name)
