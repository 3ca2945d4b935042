"""What texts of law and standards ask for, and the figures of a report that answer it.

Only what was read stands here; docs/clauses.md says how much of each text that was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kanon_sql.privacy import THRESHOLDS
from kanon_sql.reporting.facts import ReportFacts

YOURS = "you decide"


@dataclass(frozen=True)
class Clause:
    """A clause of a text.

    Attributes:
        text: the text.
        place: where it stands there.
        asks: what it asks for, in our words.
        figures: the metrics and attacks that answer it; none where no measurement can.
    """

    text: str
    place: str
    asks: str
    figures: tuple[str, ...] = ()


@dataclass(frozen=True)
class Figure:
    """What answers a clause.

    Attributes:
        name: the metric or the attack.
        value: its number.
        of_people: whether that is a share of people, as the advantage of an attack is.
    """

    name: str
    value: float
    of_people: bool = False


ATTACKS = ("singling_out", "linkability", "inference", "membership")

HIPAA, WP29 = "HIPAA, 45 CFR 164.514", "Opinion 05/2014"
NIST, ISO, CMS = "NIST SP 800-188", "ISO/IEC 27559", "CMS cell size policy"

CLAUSES = (
    Clause(HIPAA, "(b)(1)(i)", "An expert determines that the risk is very small that an "
           "anticipated recipient identifies a person, also with other available information.",
           ("prosecutor_risk_max", "prosecutor_risk_mean", "uniques", "singling_out")),
    Clause(HIPAA, "(b)(1)(ii)", "The expert documents the methods and the results."),
    Clause(HIPAA, "(b)(2)", "Safe harbor: 18 kinds of identifiers are removed."),
    Clause(WP29, "singling out", "Records of a person can't be isolated.",
           ("uniques", "unique_in_unchanged", "singling_out")),
    Clause(WP29, "linkability", "Two records of a person can't be linked.", ("linkability",)),
    Clause(WP29, "inference", "A value can't be deduced with significant probability.",
           ("homogeneous_rows", "inference")),
    Clause(NIST, "abstract", "A de-identification standard has measurable performance levels.",
           ("k_requested", "k")),
    Clause(NIST, "abstract", "Re-identification studies gauge the risk.", ATTACKS),
    Clause(NIST, "abstract", "A data-sharing model and a disclosure review board are chosen."),
    Clause(ISO, "6 Context assessment", "Threats, transparency and impact are assessed."),
    Clause(ISO, "7.3.2 Maximum or average risk", "The risk is chosen.",
           ("prosecutor_risk_max", "prosecutor_risk_mean")),
    Clause(ISO, "7.3.3 Population or sample-based attack", "The attack is chosen.",
           ("journalist_risk_max", "membership")),
    Clause(ISO, "7.3.4 Data privacy models", "Privacy models are applied.",
           ("k", *(model.name for model in THRESHOLDS))),
    Clause(ISO, "8.2.2 Quantifying identifiability", "Identifiability is measured.",
           ("prosecutor_risk_max", "prosecutor_risk_mean", "uniques")),
    Clause(ISO, "8.2.3 Adversarial testing", "Attacks are tried.", ATTACKS),
    Clause(ISO, "8.3.3 Transforming the data", "The data are transformed.",
           ("information_loss", "ncp", "cells_generalized", "rows_suppressed")),
    Clause(ISO, "9 Governance", "Roles, policies, disclosures and monitoring are settled."),
    Clause(CMS, "minimum cell size", "No cell of 1 to 10 is reported.", ("k",)),
)


def answers(clause: Clause, facts: ReportFacts) -> tuple[Figure, ...]:
    """The figures of a release that answer a clause, as far as they were measured."""
    return tuple(_answers(clause, facts))


def _answers(clause: Clause, facts: ReportFacts) -> Iterator[Figure]:
    attacks = () if facts.evidence is None else facts.evidence.attacks
    for name in clause.figures:
        for attack in attacks:
            if attack.name == name:
                yield Figure(name, attack.worst.advantage.value, True)
        risk = facts.risk.get(name)
        if risk is not None:
            if risk.after is not None:
                yield Figure(name, risk.after)
            continue
        for metric, number in facts.metrics.items():
            if metric.partition(" (")[0] == name and number.value is not None:
                yield Figure(metric, number.value)
