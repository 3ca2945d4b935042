"""Names that were other ones before version 0.1.0: they are refused, with the new one."""

from __future__ import annotations

from collections.abc import Mapping

OPTIONS = {
    "weights": "column_weights",
    "weight": "sampling_weight",
    "against": "attacker",
    "refine": "effort",
    "diversity": "diversity_preference",
}
"""By the old name of an option, the new one."""

GONE = {
    "preset": "Give k or max_risk: the CMS Cell Size Suppression Policy asks for k=11.",
    "recoding": "For recoding='global' use method='full_domain'; all other methods recode locally.",
    "threads": "Set them for the connection: SET threads = 4.",
}
"""By the name of an option that went, what there is in its place."""

VALUES: Mapping[str, Mapping[str, str]] = {
    "effort": {"best": "thorough", "none": "fast", "local": "balanced"},
    "attacker": {"presence": "knows_presence", "absence": "knows_absence"},
}
"""By option, the new word for an old one."""

CALLS = {"anonymize_suppressed": "suppressed_rows"}
"""By the old name of a call, the new one."""

PYTHON = {"ReleasedFiles": "Release"} | CALLS
"""By the old name in Python, the new one."""

METRICS = {
    "rows_in": "rows", "k_reached": "k", "class_size_min": "k", "k_asked": "k_requested",
    "sample_uniques": "uniques",
    "risk_max": "prosecutor_risk_max", "prosecutor_max": "prosecutor_risk_max",
    "risk_mean": "prosecutor_risk_mean", "prosecutor_mean": "prosecutor_risk_mean",
    "prosecutor_rows_above": "prosecutor_risk_rows_above",
    "risk_of_persons": "prosecutor_risk_max_persons",
    "risk_max_persons": "prosecutor_risk_max_persons",
    "journalist_max": "journalist_risk_max", "journalist_mean": "journalist_risk_mean",
    "journalist_rows_above": "journalist_risk_rows_above",
    "individual_rows_above": "individual_risk_rows_above", "marketer": "marketer_risk",
    "equal_diversity": "homogeneous_rows", "sensitive_diversity": "homogeneous_sensitive_rows",
    "centers_verbatim": "centers_equal_to_a_row", "verbatim_values": "original_values",
    "columns_passing": "unchanged_columns", "passing_unique_rows": "unique_in_unchanged",
    "class_size_ratio": "c_avg", "labels": "grouping_cache",
    "crowd_min": "anonymity_set_min",
    "presence_crowd_min": "presence_anonymity_set_min",
    "absence_crowd_min": "absence_anonymity_set_min",
    **{f"{name}_reached": name for name in ("l", "c", "t", "alpha", "delta", "beta")},
}
"""By the old name of a metric or of a column of k_anonymity and ledger_check, the new one."""


def renamed(old: str, new: str) -> str:
    """The sentence for an old name."""
    return f"{old!r} is now {new!r}."
