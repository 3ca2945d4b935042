"""A verification in sentences, for a person who doesn't know the entries of a manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kanon_sql.api.verification import Verification
from kanon_sql.plan.entries import is_number

UNPROVEN = {
    "options": "with which options the release was made",
    "metrics": "how much was lost, and what the source was like",
    "made": "which versions made it",
    "release": "which query made it",
    "roles": "what the roles of some columns were",
    "columns": "what some columns were",
    "hierarchies": "what the hierarchies were",
    "ledger": "how it continues the releases before it",
}
"""What the entries of a section say that a file alone can't prove."""


def sentences_of(verification: Verification, manifest: Mapping[str, Any]) -> Iterator[str]:
    """What was proven, what wasn't, and what is wrong, sentence by sentence.

    Args:
        verification: the findings.
        manifest: of the file, by section.
    """
    for finding in verification.of("wrong"):
        yield f"Wrong: {finding.sentence}"
    proven = {each.entry for each in verification.of("proven")}
    if "sha256" in proven:
        yield "The manifest is as it was written: its digest fits."
    # who forges a manifest may write anything there
    stated = {
        name: value for name, value in dict(manifest.get("metrics") or {}).items()
        if is_number(value)
    }
    metrics = {name: value for name, value in stated.items() if f"metrics.{name}" in proven}
    if "release.rows_sha256" in proven and "rows_released" in metrics:
        yield (
            f"The file has the {metrics['rows_released']:,.0f} rows of the release, unchanged: "
            "their digest fits."
        )
    names = [entry for entry in proven if entry.startswith("columns.")]
    if names:
        yield f"{len(names)} columns have the types that the manifest lists."
    yield from _of_metrics(metrics, stated)
    if "again" in proven:
        yield (
            "The source was released again with the options and the seed of the private part: "
            "rows, their order and every entry are the same."
        )
    sections = dict.fromkeys(
        each.entry.partition(".")[0] for each in verification.of("not provable")
    )
    unknown = [UNPROVEN[name] for name in sections if name in UNPROVEN]
    if unknown:
        yield (
            f"The file alone doesn't prove {'; '.join(unknown)}. Give the source and the private "
            "part to prove that, too."
        )


def _of_metrics(known: Mapping[str, float], stated: Mapping[str, float]) -> Iterator[str]:
    """What the rows prove of the figures of the manifest, which are known, of all that it states.
    """
    told = {"k", "k_requested", "rows_released", "prosecutor_risk_max", "unique_in_unchanged"}
    if "k" in known:
        asked = f"; {known['k_requested']:,.0f} was requested" if "k_requested" in known else ""
        yield (
            f"Each combination of quasi-identifiers is in {known['k']:,.0f} rows or more, counted "
            f"in the file{asked}."
        )
    if "prosecutor_risk_max" in known:
        yield f"A person is found with a chance of {known['prosecutor_risk_max']:.3g} at most."
    if "unique_in_unchanged" in known:
        yield (
            f"{known['unique_in_unchanged']:,.0f} rows are unique in the columns that are released "
            "unchanged."
        )
    for name, value in known.items():
        requested = _requested(name)
        if requested in stated and name not in told:
            told |= {name, requested}
            yield (
                f"The worst class has {name} = {value:.6g}; {stated[requested]:.6g} was requested."
            )
    others = len(known.keys() - told)
    if others:
        yield f"{others} more figures were computed again from the rows, and are the same."


def _requested(name: str) -> str:
    """The metric that states what was requested of a model's metric, such as l (disease)."""
    word, _, column = name.partition(" (")
    return f"{word}_requested" + (f" ({column}" if column else "")
