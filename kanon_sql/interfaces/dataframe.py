"""The Python face: the same query, over a frame or a file in place of a table.

Made from the registry of options, and not to be edited:
``GOLDEN=write pytest tests/interfaces/test_signatures.py`` writes it anew. An option of None is one
that isn't given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from os import PathLike
from typing import Any, NoReturn

from kanon_sql.interfaces.documented import documented
from kanon_sql.interfaces.report import Report, report_file
from kanon_sql.interfaces.result import Release, release_of
from kanon_sql.interfaces.session import Connection, run


@documented
def anonymize(
    data: Any, /, *, con: Connection | None = None,
    quasi_identifiers: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None, identifiers: str | Sequence[str] | None = None,
    entity: str | None = None, entity_rows: str | None = None, others: str | None = None,
    roles: Any = None, categorical: str | Sequence[str] | None = None,
    class_label: str | None = None, k: int | None = None, method: str | None = None,
    distance: str | None = None, loss: str | None = None, recoding: str | None = None,
    weights: Mapping[str, float] | None = None, suppress: float | None = None,
    nulls: str | None = None, seed: int | None = None, refine: str | None = None,
    refine_steps: int | None = None, refine_seconds: float | None = None,
    effort: str | None = None, block_rows: int | None = None,
    l: float | Mapping[str, float] | None = None,
    diversity_kind: str | Mapping[str, str] | None = None,
    c: float | Mapping[str, float] | None = None, t: float | Mapping[str, float] | None = None,
    closeness: str | Mapping[str, str] | None = None,
    alpha: float | Mapping[Any, Any] | None = None,
    delta: float | Mapping[str, float] | None = None,
    beta: float | Mapping[str, float] | None = None,
    beta_kind: str | Mapping[str, str] | None = None, sensitive_nulls: str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    representation: str | Mapping[str, str] | None = None, class_id: bool | None = None,
    keep_order: bool | None = None, sensitive_values: str | Sequence[Any] | None = None,
    max_risk: float | None = None, preset: str | None = None, weight: str | None = None,
    progress: bool | None = None, threads: int | None = None, show_values: bool | None = None,
    ledger: Any = None, against: str | None = None, headroom: int | None = None,
    within: str | Sequence[str] | None = None, small_parts: str | None = None,
    gamma: float | str | None = None, start: str | None = None, class_penalty: float | None = None,
    diversity: str | None = None, diversity_penalty: float | None = None,
    partitioning: str | None = None, metric: str | None = None, centers: str | None = None,
    epsilon: float | None = None, max_clusters: int | None = None,
    facility_cost: float | str | None = None, allow_small: bool | None = None,
    max_diameter: float | None = None, neighbours: int | None = None, adjacency: Any = None,
    places: Any = None, islands: str | None = None,
    extent: Mapping[str, Sequence[float]] | None = None, tight: bool | None = None,
    wkt: bool | None = None, sequence: str | None = None, objective: str | None = None,
    **unknown: NoReturn,
) -> Any:
    """The released rows: each combination shared by k rows or more."""
    return run("anonymize", locals())


@documented
def anonymize_clusters(
    data: Any, /, *, con: Connection | None = None,
    quasi_identifiers: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None, identifiers: str | Sequence[str] | None = None,
    entity: str | None = None, entity_rows: str | None = None, others: str | None = None,
    roles: Any = None, categorical: str | Sequence[str] | None = None,
    class_label: str | None = None, k: int | None = None, method: str | None = None,
    distance: str | None = None, loss: str | None = None, recoding: str | None = None,
    weights: Mapping[str, float] | None = None, suppress: float | None = None,
    nulls: str | None = None, seed: int | None = None, refine: str | None = None,
    refine_steps: int | None = None, refine_seconds: float | None = None,
    effort: str | None = None, block_rows: int | None = None,
    l: float | Mapping[str, float] | None = None,
    diversity_kind: str | Mapping[str, str] | None = None,
    c: float | Mapping[str, float] | None = None, t: float | Mapping[str, float] | None = None,
    closeness: str | Mapping[str, str] | None = None,
    alpha: float | Mapping[Any, Any] | None = None,
    delta: float | Mapping[str, float] | None = None,
    beta: float | Mapping[str, float] | None = None,
    beta_kind: str | Mapping[str, str] | None = None, sensitive_nulls: str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    representation: str | Mapping[str, str] | None = None, class_id: bool | None = None,
    keep_order: bool | None = None, sensitive_values: str | Sequence[Any] | None = None,
    max_risk: float | None = None, preset: str | None = None, weight: str | None = None,
    progress: bool | None = None, threads: int | None = None, show_values: bool | None = None,
    gamma: float | str | None = None, start: str | None = None, class_penalty: float | None = None,
    diversity: str | None = None, diversity_penalty: float | None = None,
    partitioning: str | None = None, metric: str | None = None, centers: str | None = None,
    epsilon: float | None = None, max_clusters: int | None = None,
    facility_cost: float | str | None = None, allow_small: bool | None = None,
    max_diameter: float | None = None, neighbours: int | None = None, adjacency: Any = None,
    places: Any = None, islands: str | None = None,
    extent: Mapping[str, Sequence[float]] | None = None, tight: bool | None = None,
    wkt: bool | None = None, sequence: str | None = None, objective: str | None = None,
    **unknown: NoReturn,
) -> Any:
    """One row per published cluster."""
    return run("anonymize_clusters", locals())


@documented
def anonymize_metrics(
    data: Any, /, *, con: Connection | None = None,
    quasi_identifiers: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None, identifiers: str | Sequence[str] | None = None,
    entity: str | None = None, entity_rows: str | None = None, others: str | None = None,
    roles: Any = None, categorical: str | Sequence[str] | None = None,
    class_label: str | None = None, k: int | None = None, method: str | None = None,
    distance: str | None = None, loss: str | None = None, recoding: str | None = None,
    weights: Mapping[str, float] | None = None, suppress: float | None = None,
    nulls: str | None = None, seed: int | None = None, refine: str | None = None,
    refine_steps: int | None = None, refine_seconds: float | None = None,
    effort: str | None = None, block_rows: int | None = None,
    l: float | Mapping[str, float] | None = None,
    diversity_kind: str | Mapping[str, str] | None = None,
    c: float | Mapping[str, float] | None = None, t: float | Mapping[str, float] | None = None,
    closeness: str | Mapping[str, str] | None = None,
    alpha: float | Mapping[Any, Any] | None = None,
    delta: float | Mapping[str, float] | None = None,
    beta: float | Mapping[str, float] | None = None,
    beta_kind: str | Mapping[str, str] | None = None, sensitive_nulls: str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    representation: str | Mapping[str, str] | None = None, class_id: bool | None = None,
    keep_order: bool | None = None, sensitive_values: str | Sequence[Any] | None = None,
    max_risk: float | None = None, preset: str | None = None, weight: str | None = None,
    progress: bool | None = None, threads: int | None = None, show_values: bool | None = None,
    ledger: Any = None, against: str | None = None, headroom: int | None = None,
    within: str | Sequence[str] | None = None, small_parts: str | None = None,
    by_part: bool | None = None, gamma: float | str | None = None, start: str | None = None,
    class_penalty: float | None = None, diversity: str | None = None,
    diversity_penalty: float | None = None, partitioning: str | None = None,
    metric: str | None = None, centers: str | None = None, epsilon: float | None = None,
    max_clusters: int | None = None, facility_cost: float | str | None = None,
    allow_small: bool | None = None, max_diameter: float | None = None,
    neighbours: int | None = None, adjacency: Any = None, places: Any = None,
    islands: str | None = None, extent: Mapping[str, Sequence[float]] | None = None,
    tight: bool | None = None, wkt: bool | None = None, sequence: str | None = None,
    objective: str | None = None,
    **unknown: NoReturn,
) -> Any:
    """One row per metric of the release."""
    return run("anonymize_metrics", locals())


@documented
def anonymize_suppressed(
    data: Any, /, *, con: Connection | None = None,
    quasi_identifiers: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None, identifiers: str | Sequence[str] | None = None,
    entity: str | None = None, entity_rows: str | None = None, others: str | None = None,
    roles: Any = None, categorical: str | Sequence[str] | None = None,
    class_label: str | None = None, k: int | None = None, method: str | None = None,
    distance: str | None = None, loss: str | None = None, recoding: str | None = None,
    weights: Mapping[str, float] | None = None, suppress: float | None = None,
    nulls: str | None = None, seed: int | None = None, refine: str | None = None,
    refine_steps: int | None = None, refine_seconds: float | None = None,
    effort: str | None = None, block_rows: int | None = None,
    l: float | Mapping[str, float] | None = None,
    diversity_kind: str | Mapping[str, str] | None = None,
    c: float | Mapping[str, float] | None = None, t: float | Mapping[str, float] | None = None,
    closeness: str | Mapping[str, str] | None = None,
    alpha: float | Mapping[Any, Any] | None = None,
    delta: float | Mapping[str, float] | None = None,
    beta: float | Mapping[str, float] | None = None,
    beta_kind: str | Mapping[str, str] | None = None, sensitive_nulls: str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    representation: str | Mapping[str, str] | None = None, class_id: bool | None = None,
    keep_order: bool | None = None, sensitive_values: str | Sequence[Any] | None = None,
    max_risk: float | None = None, preset: str | None = None, weight: str | None = None,
    progress: bool | None = None, threads: int | None = None, show_values: bool | None = None,
    ledger: Any = None, against: str | None = None, headroom: int | None = None,
    within: str | Sequence[str] | None = None, small_parts: str | None = None,
    gamma: float | str | None = None, start: str | None = None, class_penalty: float | None = None,
    diversity: str | None = None, diversity_penalty: float | None = None,
    partitioning: str | None = None, metric: str | None = None, centers: str | None = None,
    epsilon: float | None = None, max_clusters: int | None = None,
    facility_cost: float | str | None = None, allow_small: bool | None = None,
    max_diameter: float | None = None, neighbours: int | None = None, adjacency: Any = None,
    places: Any = None, islands: str | None = None,
    extent: Mapping[str, Sequence[float]] | None = None, tight: bool | None = None,
    wkt: bool | None = None, sequence: str | None = None, objective: str | None = None,
    **unknown: NoReturn,
) -> Any:
    """The rows that the release leaves out: row numbers of the source."""
    return run("anonymize_suppressed", locals())


@documented
def anonymize_roles(
    data: Any, /, *, con: Connection | None = None,
    quasi_identifiers: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None, identifiers: str | Sequence[str] | None = None,
    entity: str | None = None, entity_rows: str | None = None, others: str | None = None,
    roles: Any = None, categorical: str | Sequence[str] | None = None,
    class_label: str | None = None, k: int | None = None, method: str | None = None,
    distance: str | None = None, loss: str | None = None, recoding: str | None = None,
    weights: Mapping[str, float] | None = None, suppress: float | None = None,
    nulls: str | None = None, seed: int | None = None, refine: str | None = None,
    refine_steps: int | None = None, refine_seconds: float | None = None,
    effort: str | None = None, block_rows: int | None = None,
    l: float | Mapping[str, float] | None = None,
    diversity_kind: str | Mapping[str, str] | None = None,
    c: float | Mapping[str, float] | None = None, t: float | Mapping[str, float] | None = None,
    closeness: str | Mapping[str, str] | None = None,
    alpha: float | Mapping[Any, Any] | None = None,
    delta: float | Mapping[str, float] | None = None,
    beta: float | Mapping[str, float] | None = None,
    beta_kind: str | Mapping[str, str] | None = None, sensitive_nulls: str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    representation: str | Mapping[str, str] | None = None, class_id: bool | None = None,
    keep_order: bool | None = None, sensitive_values: str | Sequence[Any] | None = None,
    max_risk: float | None = None, preset: str | None = None, weight: str | None = None,
    progress: bool | None = None, threads: int | None = None, show_values: bool | None = None,
    ledger: Any = None, against: str | None = None, headroom: int | None = None,
    within: str | Sequence[str] | None = None, small_parts: str | None = None,
    gamma: float | str | None = None, start: str | None = None, class_penalty: float | None = None,
    diversity: str | None = None, diversity_penalty: float | None = None,
    partitioning: str | None = None, metric: str | None = None, centers: str | None = None,
    epsilon: float | None = None, max_clusters: int | None = None,
    facility_cost: float | str | None = None, allow_small: bool | None = None,
    max_diameter: float | None = None, neighbours: int | None = None, adjacency: Any = None,
    places: Any = None, islands: str | None = None,
    extent: Mapping[str, Sequence[float]] | None = None, tight: bool | None = None,
    wkt: bool | None = None, sequence: str | None = None, objective: str | None = None,
    **unknown: NoReturn,
) -> Any:
    """One row per column: its role, what it looks like, and what is released."""
    return run("anonymize_roles", locals())


@documented
def anonymize_ledger(
    data: Any, /, *, con: Connection | None = None,
    quasi_identifiers: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None, identifiers: str | Sequence[str] | None = None,
    entity: str | None = None, entity_rows: str | None = None, others: str | None = None,
    roles: Any = None, categorical: str | Sequence[str] | None = None,
    class_label: str | None = None, k: int | None = None, method: str | None = None,
    distance: str | None = None, loss: str | None = None, recoding: str | None = None,
    weights: Mapping[str, float] | None = None, suppress: float | None = None,
    nulls: str | None = None, seed: int | None = None, refine: str | None = None,
    refine_steps: int | None = None, refine_seconds: float | None = None,
    effort: str | None = None, block_rows: int | None = None,
    l: float | Mapping[str, float] | None = None,
    diversity_kind: str | Mapping[str, str] | None = None,
    c: float | Mapping[str, float] | None = None, t: float | Mapping[str, float] | None = None,
    closeness: str | Mapping[str, str] | None = None,
    alpha: float | Mapping[Any, Any] | None = None,
    delta: float | Mapping[str, float] | None = None,
    beta: float | Mapping[str, float] | None = None,
    beta_kind: str | Mapping[str, str] | None = None, sensitive_nulls: str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    representation: str | Mapping[str, str] | None = None, class_id: bool | None = None,
    keep_order: bool | None = None, sensitive_values: str | Sequence[Any] | None = None,
    max_risk: float | None = None, preset: str | None = None, weight: str | None = None,
    progress: bool | None = None, threads: int | None = None, show_values: bool | None = None,
    ledger: Any = None, against: str | None = None, headroom: int | None = None,
    within: str | Sequence[str] | None = None, small_parts: str | None = None,
    gamma: float | str | None = None, start: str | None = None, class_penalty: float | None = None,
    diversity: str | None = None, diversity_penalty: float | None = None,
    partitioning: str | None = None, metric: str | None = None, centers: str | None = None,
    epsilon: float | None = None, max_clusters: int | None = None,
    facility_cost: float | str | None = None, allow_small: bool | None = None,
    max_diameter: float | None = None, neighbours: int | None = None, adjacency: Any = None,
    places: Any = None, islands: str | None = None,
    extent: Mapping[str, Sequence[float]] | None = None, tight: bool | None = None,
    wkt: bool | None = None, sequence: str | None = None, objective: str | None = None,
    **unknown: NoReturn,
) -> Any:
    """What a release adds to its ledger: one row per person released."""
    return run("anonymize_ledger", locals())


@documented
def anonymize_audit(
    data: Any, /, *, con: Connection | None = None,
    quasi_identifiers: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None, identifiers: str | Sequence[str] | None = None,
    roles: Any = None, categorical: str | Sequence[str] | None = None,
    class_label: str | None = None, k: int | None = None,
    weights: Mapping[str, float] | None = None, hierarchies: Mapping[str, Any] | None = None,
    sensitive_values: str | Sequence[Any] | None = None, release: Any = None,
    max_risk: float | None = None, preset: str | None = None, show_values: bool | None = None,
    **unknown: NoReturn,
) -> Any:
    """Metrics of any release, ours or not, held against its source."""
    return run("anonymize_audit", locals())


@documented
def anonymize_risk(
    data: Any, /, *, con: Connection | None = None,
    quasi_identifiers: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None, identifiers: str | Sequence[str] | None = None,
    roles: Any = None, k: int | None = None, max_risk: float | None = None,
    preset: str | None = None, population: Any = None, population_size: int | None = None,
    weight: str | None = None, msu_columns: int | None = None, subset_columns: int | None = None,
    **unknown: NoReturn,
) -> Any:
    """Metrics of the risk that persons are found in any table, ours or not."""
    return run("anonymize_risk", locals())


@documented
def anonymize_manifest(
    data: Any, /, *, con: Connection | None = None,
    quasi_identifiers: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None, identifiers: str | Sequence[str] | None = None,
    entity: str | None = None, entity_rows: str | None = None, others: str | None = None,
    roles: Any = None, categorical: str | Sequence[str] | None = None,
    class_label: str | None = None, k: int | None = None, method: str | None = None,
    distance: str | None = None, loss: str | None = None, recoding: str | None = None,
    weights: Mapping[str, float] | None = None, suppress: float | None = None,
    nulls: str | None = None, seed: int | None = None, refine: str | None = None,
    refine_steps: int | None = None, refine_seconds: float | None = None,
    effort: str | None = None, block_rows: int | None = None,
    l: float | Mapping[str, float] | None = None,
    diversity_kind: str | Mapping[str, str] | None = None,
    c: float | Mapping[str, float] | None = None, t: float | Mapping[str, float] | None = None,
    closeness: str | Mapping[str, str] | None = None,
    alpha: float | Mapping[Any, Any] | None = None,
    delta: float | Mapping[str, float] | None = None,
    beta: float | Mapping[str, float] | None = None,
    beta_kind: str | Mapping[str, str] | None = None, sensitive_nulls: str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    representation: str | Mapping[str, str] | None = None, class_id: bool | None = None,
    keep_order: bool | None = None, sensitive_values: str | Sequence[Any] | None = None,
    max_risk: float | None = None, preset: str | None = None, weight: str | None = None,
    progress: bool | None = None, threads: int | None = None, show_values: bool | None = None,
    ledger: Any = None, against: str | None = None, headroom: int | None = None,
    within: str | Sequence[str] | None = None, small_parts: str | None = None,
    gamma: float | str | None = None, start: str | None = None, class_penalty: float | None = None,
    diversity: str | None = None, diversity_penalty: float | None = None,
    partitioning: str | None = None, metric: str | None = None, centers: str | None = None,
    epsilon: float | None = None, max_clusters: int | None = None,
    facility_cost: float | str | None = None, allow_small: bool | None = None,
    max_diameter: float | None = None, neighbours: int | None = None, adjacency: Any = None,
    places: Any = None, islands: str | None = None,
    extent: Mapping[str, Sequence[float]] | None = None, tight: bool | None = None,
    wkt: bool | None = None, sequence: str | None = None, objective: str | None = None,
    **unknown: NoReturn,
) -> Any:
    """What the release is, to stand beside it: one row per entry."""
    return run("anonymize_manifest", locals())


@documented
def anonymize_sql(
    data: Any, /, *, con: Connection | None = None,
    quasi_identifiers: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None, identifiers: str | Sequence[str] | None = None,
    entity: str | None = None, entity_rows: str | None = None, others: str | None = None,
    roles: Any = None, categorical: str | Sequence[str] | None = None,
    class_label: str | None = None, k: int | None = None, method: str | None = None,
    distance: str | None = None, loss: str | None = None, recoding: str | None = None,
    weights: Mapping[str, float] | None = None, suppress: float | None = None,
    nulls: str | None = None, seed: int | None = None, refine: str | None = None,
    refine_steps: int | None = None, refine_seconds: float | None = None,
    effort: str | None = None, block_rows: int | None = None,
    l: float | Mapping[str, float] | None = None,
    diversity_kind: str | Mapping[str, str] | None = None,
    c: float | Mapping[str, float] | None = None, t: float | Mapping[str, float] | None = None,
    closeness: str | Mapping[str, str] | None = None,
    alpha: float | Mapping[Any, Any] | None = None,
    delta: float | Mapping[str, float] | None = None,
    beta: float | Mapping[str, float] | None = None,
    beta_kind: str | Mapping[str, str] | None = None, sensitive_nulls: str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    representation: str | Mapping[str, str] | None = None, class_id: bool | None = None,
    keep_order: bool | None = None, sensitive_values: str | Sequence[Any] | None = None,
    max_risk: float | None = None, preset: str | None = None, weight: str | None = None,
    progress: bool | None = None, threads: int | None = None, show_values: bool | None = None,
    ledger: Any = None, against: str | None = None, headroom: int | None = None,
    within: str | Sequence[str] | None = None, small_parts: str | None = None,
    gamma: float | str | None = None, start: str | None = None, class_penalty: float | None = None,
    diversity: str | None = None, diversity_penalty: float | None = None,
    partitioning: str | None = None, metric: str | None = None, centers: str | None = None,
    epsilon: float | None = None, max_clusters: int | None = None,
    facility_cost: float | str | None = None, allow_small: bool | None = None,
    max_diameter: float | None = None, neighbours: int | None = None, adjacency: Any = None,
    places: Any = None, islands: str | None = None,
    extent: Mapping[str, Sequence[float]] | None = None, tight: bool | None = None,
    wkt: bool | None = None, sequence: str | None = None, objective: str | None = None,
    **unknown: NoReturn,
) -> Any:
    """The SQL text that anonymize runs, as a frame of one row."""
    return run("anonymize_sql", locals())


@documented
def k_anonymity(
    data: Any, /, *, con: Connection | None = None,
    quasi_identifiers: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None, identifiers: str | Sequence[str] | None = None,
    entity: str | None = None, roles: Any = None, k: int | None = None,
    l: float | Mapping[str, float] | None = None,
    diversity_kind: str | Mapping[str, str] | None = None,
    c: float | Mapping[str, float] | None = None, t: float | Mapping[str, float] | None = None,
    closeness: str | Mapping[str, str] | None = None,
    alpha: float | Mapping[Any, Any] | None = None,
    delta: float | Mapping[str, float] | None = None,
    beta: float | Mapping[str, float] | None = None,
    beta_kind: str | Mapping[str, str] | None = None, sensitive_nulls: str | None = None,
    max_risk: float | None = None, preset: str | None = None,
    within: str | Sequence[str] | None = None, by_part: bool | None = None,
    **unknown: NoReturn,
) -> Any:
    """The audit of any table, released by us or not."""
    return run("k_anonymity", locals())


@documented
def ledger_check(
    data: Any, /, *, con: Connection | None = None,
    k: int | None = None,
    **unknown: NoReturn,
) -> Any:
    """Whether a ledger of releases keeps what it promises."""
    return run("ledger_check", locals())


@documented
def hierarchy(
    data: Any, column_name: str, /, *, con: Connection | None = None,
    kind: str | None = None, levels: int | None = None, mask: str | None = None,
    width: float | Decimal | None = None, factor: int | None = None,
    start: float | Decimal | None = None, ranking: Sequence[Any] | None = None,
    adjacency: Any = None, places: Any = None, extent: Sequence[Sequence[float]] | None = None,
    packing: str | None = None,
    **unknown: NoReturn,
) -> Any:
    """The level table of a column: level0 (its values) .. levelN, to edit."""
    return run("hierarchy", locals())


@documented
def release(
    data: Any, relation: Any = None, /, *, con: Connection | None = None,
    to: str | PathLike[str] | None = None, private: str | PathLike[str] | None = None,
    quasi_identifiers: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None, identifiers: str | Sequence[str] | None = None,
    entity: str | None = None, entity_rows: str | None = None, others: str | None = None,
    roles: Any = None, categorical: str | Sequence[str] | None = None,
    class_label: str | None = None, k: int | None = None, method: str | None = None,
    distance: str | None = None, loss: str | None = None, recoding: str | None = None,
    weights: Mapping[str, float] | None = None, suppress: float | None = None,
    nulls: str | None = None, seed: int | None = None, refine: str | None = None,
    refine_steps: int | None = None, refine_seconds: float | None = None,
    effort: str | None = None, block_rows: int | None = None,
    l: float | Mapping[str, float] | None = None,
    diversity_kind: str | Mapping[str, str] | None = None,
    c: float | Mapping[str, float] | None = None, t: float | Mapping[str, float] | None = None,
    closeness: str | Mapping[str, str] | None = None,
    alpha: float | Mapping[Any, Any] | None = None,
    delta: float | Mapping[str, float] | None = None,
    beta: float | Mapping[str, float] | None = None,
    beta_kind: str | Mapping[str, str] | None = None, sensitive_nulls: str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    representation: str | Mapping[str, str] | None = None, class_id: bool | None = None,
    keep_order: bool | None = None, sensitive_values: str | Sequence[Any] | None = None,
    max_risk: float | None = None, preset: str | None = None, weight: str | None = None,
    progress: bool | None = None, threads: int | None = None, show_values: bool | None = None,
    ledger: Any = None, against: str | None = None, headroom: int | None = None,
    within: str | Sequence[str] | None = None, small_parts: str | None = None,
    gamma: float | str | None = None, start: str | None = None, class_penalty: float | None = None,
    diversity: str | None = None, diversity_penalty: float | None = None,
    partitioning: str | None = None, metric: str | None = None, centers: str | None = None,
    epsilon: float | None = None, max_clusters: int | None = None,
    facility_cost: float | str | None = None, allow_small: bool | None = None,
    max_diameter: float | None = None, neighbours: int | None = None, adjacency: Any = None,
    places: Any = None, islands: str | None = None,
    extent: Mapping[str, Sequence[float]] | None = None, tight: bool | None = None,
    wkt: bool | None = None, sequence: str | None = None, objective: str | None = None,
    **unknown: NoReturn,
) -> Release:
    """The release as one object: its rows, metrics and manifest, and with to a Parquet file."""
    return release_of(locals())


@documented
def report(
    data: Any, /, to: str | PathLike[str] = "report.html", *,
    con: Connection | None = None, title: str | None = None,
    queries: Mapping[str, str] | Sequence[str] | None = None,
    compare: Sequence[str | Mapping[str, Any]] | None = None,
    quasi_identifiers: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None, identifiers: str | Sequence[str] | None = None,
    entity: str | None = None, entity_rows: str | None = None, others: str | None = None,
    roles: Any = None, categorical: str | Sequence[str] | None = None,
    class_label: str | None = None, k: int | None = None, method: str | None = None,
    distance: str | None = None, loss: str | None = None, recoding: str | None = None,
    weights: Mapping[str, float] | None = None, suppress: float | None = None,
    nulls: str | None = None, seed: int | None = None, refine: str | None = None,
    refine_steps: int | None = None, refine_seconds: float | None = None,
    effort: str | None = None, block_rows: int | None = None,
    l: float | Mapping[str, float] | None = None,
    diversity_kind: str | Mapping[str, str] | None = None,
    c: float | Mapping[str, float] | None = None, t: float | Mapping[str, float] | None = None,
    closeness: str | Mapping[str, str] | None = None,
    alpha: float | Mapping[Any, Any] | None = None,
    delta: float | Mapping[str, float] | None = None,
    beta: float | Mapping[str, float] | None = None,
    beta_kind: str | Mapping[str, str] | None = None, sensitive_nulls: str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    representation: str | Mapping[str, str] | None = None, class_id: bool | None = None,
    keep_order: bool | None = None, sensitive_values: str | Sequence[Any] | None = None,
    max_risk: float | None = None, preset: str | None = None, weight: str | None = None,
    progress: bool | None = None, threads: int | None = None, show_values: bool | None = None,
    ledger: Any = None, against: str | None = None, headroom: int | None = None,
    within: str | Sequence[str] | None = None, small_parts: str | None = None,
    gamma: float | str | None = None, start: str | None = None, class_penalty: float | None = None,
    diversity: str | None = None, diversity_penalty: float | None = None,
    partitioning: str | None = None, metric: str | None = None, centers: str | None = None,
    epsilon: float | None = None, max_clusters: int | None = None,
    facility_cost: float | str | None = None, allow_small: bool | None = None,
    max_diameter: float | None = None, neighbours: int | None = None, adjacency: Any = None,
    places: Any = None, islands: str | None = None,
    extent: Mapping[str, Sequence[float]] | None = None, tight: bool | None = None,
    wkt: bool | None = None, sequence: str | None = None, objective: str | None = None,
    **unknown: NoReturn,
) -> Report:
    """What a release is worth, as one HTML file for who signs it off, which needs no network."""
    return report_file(locals())
