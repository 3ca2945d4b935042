"""What users call an option that is called otherwise here, or ask for where there is none."""

from __future__ import annotations

from collections.abc import Collection

from kanon_sql import renamed
from kanon_sql.errors import did_you_mean
from kanon_sql.validators import folded

OPTION_NAMES = {
    "quasi_identifiers": (
        "qi", "qis", "qid", "qids", "quasi", "quasi_identifier", "quasi_ids", "quasi_columns",
        "key_attributes", "keys", "columns",
    ),
    "sensitive": (
        "sensitives", "sensitive_column", "sensitive_columns", "sensitive_attribute",
        "sensitive_attributes", "sa", "confidential",
    ),
    "identifiers": (
        "id", "ids", "identifier", "identifying", "direct_identifiers", "id_columns", "drop",
        "exclude",
    ),
    "others": ("other", "insensitive", "non_sensitive", "rest"),
    "k": ("n", "size", "min_size", "class_size", "group_size", "min_group_size", "k_anonymity"),
    "method": ("algorithm", "algo", "strategy", "model", "using"),
    "suppress": (
        "suppression", "suppression_rate", "suppression_limit", "suppression_threshold",
        "max_suppression", "max_suppressed", "outliers",
    ),
    "representation": ("generalization", "generalisation", "generalize", "output", "form"),
    "hierarchies": (
        "hierarchy", "taxonomy", "taxonomies", "generalization_hierarchies", "vgh", "dgh", "trees",
    ),
    "column_weights": ("attribute_weights", "importance"),
    "nulls": ("null", "na", "nan", "missing", "missing_values"),
    "seed": ("random_state", "random_seed", "rng"),
    "class_label": ("class", "label", "target", "class_column"),
    "refine_seconds": ("timeout", "time_limit", "max_seconds", "seconds"),
    "refine_steps": ("iterations", "max_iterations", "steps", "max_iter"),
    "block_rows": ("block_size", "blocks", "chunk_size", "batch_size"),
    "class_id": ("cluster_id", "group_id", "equivalence_class"),
    "progress": ("verbose", "progress_bar", "show_progress"),
    "max_risk": ("risk", "risk_threshold", "max_reidentification_risk"),
    "population": ("register", "reference_population"),
    "sampling_weight": ("weight_column", "survey_weight", "weight_var"),
    "kind": ("type", "hierarchy_type"),
    "l": ("l_diversity", "l_diverse", "entropy_l", "distinct_l", "ell"),
    "diversity_kind": ("l_kind", "diversity_type"),
    "t": ("t_closeness", "t_close"),
    "closeness": ("ground_distance", "emd"),
    "alpha": ("alpha_k", "max_frequency"),
    "delta": ("delta_disclosure",),
    "beta": ("beta_likeness",),
    "sensitive_nulls": ("null_sensitive",),
}
"""By the name of an option here, what it is called elsewhere."""

PRIVACY = (
    "Differential privacy is not supported. Use k, and say which columns are identifiers, "
    "quasi-identifiers or sensitive."
)
PRESENCE = (
    "Whether a person is in the data at all is not hidden. Demand k_map people of a population, or "
    "measure delta-presence by kanon_sql.evidence."
)
NOT_BUILT = {
    "delta_presence": PRESENCE, "differential_privacy": PRIVACY, "dp": PRIVACY,
    "epsilon_dp": PRIVACY,
}
"""What there is in place of what isn't built."""

METHOD_NAMES = {
    "full_domain": (
        "datafly", "incognito", "samarati", "flash", "ola", "optimal_lattice", "lattice",
        "global_recoding", "full_domain_generalization", "single_dimensional",
    ),
    "mondrian": ("multidimensional", "basic_mondrian", "strict_mondrian", "lefevre"),
    "mdav_star": ("microaggregation", "mdav_generic", "kmeans", "k_means"),
    "k_member": ("clustering", "greedy_k_member", "byun"),
}
"""By the name of a method here, what does the same elsewhere, or is asked for in its place."""

WISHED_METHODS = {folded(name): method for method, names in METHOD_NAMES.items() for name in names}
"""By what a method is called elsewhere, the one of ours."""

_aliases = {folded(name): option for option, names in OPTION_NAMES.items() for name in names}
_instead = {folded(name): hint for name, hint in (NOT_BUILT | renamed.GONE).items()} | {
    folded(name): renamed.GONE["threads"]
    for name in ("n_jobs", "num_threads", "n_threads", "cores", "workers", "parallel")
}


def option_meant(name: str, known: Collection[str]) -> str | None:
    """The option of these that is called so elsewhere, or in another spelling; None where none
    is."""
    aliases = {folded(option): option for option in known} | {
        wished: option for wished, option in (_aliases | renamed.OPTIONS).items() if option in known
    }
    return aliases.get(folded(name))


def option_hint(name: str, known: Collection[str]) -> str:
    """The hint that follows the name of an option that a call doesn't have.

    Args:
        name: what was typed.
        known: the options of the call.
    """
    if folded(name) in _instead:
        return _instead[folded(name)]
    if name in renamed.OPTIONS and renamed.OPTIONS[name] in known:
        return f"It is now {renamed.OPTIONS[name]!r}."
    guess = option_meant(name, known)
    return f"Did you mean {guess!r}?" if guess else did_you_mean(name, known)
