"""The options of the Python functions, each set of them as a TypedDict.

Made from the registry of options, and not to be edited:
``GOLDEN=write pytest tests/api/test_signatures.py`` writes it anew. An option of None is one
that isn't given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal, TypedDict

AttackerName = Literal["knows_presence", "knows_absence"]
BetaKindName = Literal["enhanced", "basic"]
CentersName = Literal["anywhere", "means", "rows"]
ClosenessName = Literal["equal", "ordered", "numeric", "hierarchy"]
DistanceName = Literal["sse", "loss"]
DiversityKindName = Literal["distinct", "entropy", "recursive"]
DiversityPreferenceName = Literal["equal", "sensitive"]
EffortName = Literal["fast", "balanced", "thorough"]
EntityRowsName = Literal["together", "apart"]
IslandsName = Literal["error", "suppress", "nearest"]
KindName = Literal["flat", "prefix", "date", "bins", "ordered", "adjacency", "rectangles", "cover"]
LossName = Literal["range_flat", "range_distinct"]
MethodName = Literal[
    "mdav", "mdav_plus", "v_mdav", "mdav_star", "optimal_1d", "best", "k_member", "nearest",
    "mondrian", "full_domain", "r_gather", "cellular", "r_cellular", "forest", "pairs", "triples",
    "zip_regions", "gps_rectangles", "fold", "spread", "five_halves", "bin_cover", "ordered",
    "auto",
]
MetricName = Literal["euclidean", "hamming", "taxonomy", "haversine"]
NullsName = Literal["value", "suppress", "error"]
ObjectiveName = Literal["largest", "quadratic"]
OthersName = Literal["error", "quasi_identifier", "drop", "release"]
PackingName = Literal["fold", "spread", "five_halves"]
PartitioningName = Literal["strict", "relaxed"]
RepresentationName = Literal[
    "centroid", "rounded", "median", "interval", "bounds", "suppress", "number", "hierarchy",
]
SensitiveNullsName = Literal["worst", "value"]
SequenceName = Literal["sorted", "random"]
SmallPartsName = Literal["error", "suppress", "join"]
StartName = Literal["last", "seed"]


class SharedKeywords(TypedDict, total=False):
    """The options of all that group rows, but for k and the method."""

    quasi_identifiers: str | Sequence[str] | None
    sensitive: str | Sequence[str] | None
    identifiers: str | Sequence[str] | None
    entity: str | None
    entity_rows: EntityRowsName | None
    others: OthersName | None
    roles: Any
    categorical: str | Sequence[str] | None
    class_label: str | None
    distance: DistanceName | None
    loss: LossName | None
    column_weights: Mapping[str, float] | None
    suppress: float | None
    nulls: NullsName | None
    seed: int | None
    effort: EffortName | None
    refine_steps: int | None
    refine_seconds: float | None
    block_rows: int | None
    l: float | Mapping[str, float] | None
    diversity_kind: DiversityKindName | Mapping[str, DiversityKindName] | None
    c: float | Mapping[str, float] | None
    t: float | Mapping[str, float] | None
    closeness: ClosenessName | Mapping[str, ClosenessName] | None
    alpha: float | Mapping[Any, Any] | None
    delta: float | Mapping[str, float] | None
    beta: float | Mapping[str, float] | None
    beta_kind: BetaKindName | Mapping[str, BetaKindName] | None
    sensitive_nulls: SensitiveNullsName | None
    max_average_risk: float | None
    k_map: int | None
    hierarchies: Mapping[str, Any] | Literal["suggested"] | None
    representation: RepresentationName | Mapping[str, RepresentationName] | None
    class_id: bool | None
    keep_order: bool | None
    sensitive_values: str | Sequence[Any] | None
    population: Any
    sampling_weight: str | None
    progress: bool | None
    show_values: bool | None
    gamma: float | Literal["best"] | None
    start: StartName | None
    class_penalty: float | None
    diversity_preference: DiversityPreferenceName | None
    diversity_penalty: float | None
    partitioning: PartitioningName | None
    metric: MetricName | None
    centers: CentersName | None
    epsilon: float | None
    max_clusters: int | None
    facility_cost: float | str | None
    allow_small: bool | None
    max_diameter: float | None
    adjacency: Any
    places: Any
    islands: IslandsName | None
    extent: Mapping[str, Sequence[float]] | None
    tight: bool | None
    wkt: bool | None
    sequence: SequenceName | None
    objective: ObjectiveName | None


class GroupingKeywords(SharedKeywords, total=False):
    """The options of all that group rows."""

    k: int | None
    method: MethodName | None
    max_risk: float | None


class ReleaseKeywords(GroupingKeywords, total=False):
    """The options of anonymize, and of what tells of it."""

    ledger: Any
    attacker: AttackerName | None
    headroom: int | Literal["auto"] | None
    within: str | Sequence[str] | None
    small_parts: SmallPartsName | None


class MetricsKeywords(ReleaseKeywords, total=False):
    """The options of anonymize_metrics."""

    detail: bool | None
    by_part: bool | None


class ComparedKeywords(SharedKeywords, total=False):
    """The options of compare."""

    ledger: Any
    attacker: AttackerName | None
    headroom: int | Literal["auto"] | None
    within: str | Sequence[str] | None
    small_parts: SmallPartsName | None
    by_part: bool | None


class AnonymityKeywords(TypedDict, total=False):
    """The options of k_anonymity."""

    quasi_identifiers: str | Sequence[str] | None
    sensitive: str | Sequence[str] | None
    identifiers: str | Sequence[str] | None
    entity: str | None
    roles: Any
    k: int | None
    l: float | Mapping[str, float] | None
    diversity_kind: DiversityKindName | Mapping[str, DiversityKindName] | None
    c: float | Mapping[str, float] | None
    t: float | Mapping[str, float] | None
    closeness: ClosenessName | Mapping[str, ClosenessName] | None
    alpha: float | Mapping[Any, Any] | None
    delta: float | Mapping[str, float] | None
    beta: float | Mapping[str, float] | None
    beta_kind: BetaKindName | Mapping[str, BetaKindName] | None
    sensitive_nulls: SensitiveNullsName | None
    max_risk: float | None
    within: str | Sequence[str] | None
    by_part: bool | None


class AuditKeywords(TypedDict, total=False):
    """The options of anonymize_audit."""

    quasi_identifiers: str | Sequence[str] | None
    sensitive: str | Sequence[str] | None
    identifiers: str | Sequence[str] | None
    roles: Any
    categorical: str | Sequence[str] | None
    class_label: str | None
    k: int | None
    column_weights: Mapping[str, float] | None
    hierarchies: Mapping[str, Any] | Literal["suggested"] | None
    sensitive_values: str | Sequence[Any] | None
    release: Any
    max_risk: float | None
    show_values: bool | None


class RiskKeywords(TypedDict, total=False):
    """The options of anonymize_risk."""

    quasi_identifiers: str | Sequence[str] | None
    sensitive: str | Sequence[str] | None
    identifiers: str | Sequence[str] | None
    roles: Any
    k: int | None
    max_risk: float | None
    population: Any
    population_size: int | None
    sampling_weight: str | None
    msu_columns: int | None
    subset_columns: int | None


class LedgerKeywords(TypedDict, total=False):
    """The options of ledger_check."""

    k: int | None


class HierarchyKeywords(TypedDict, total=False):
    """The options of hierarchy."""

    kind: KindName | None
    levels: int | None
    mask: str | None
    width: float | Decimal | None
    factor: int | None
    start: float | Decimal | None
    ranking: Sequence[Any] | None
    adjacency: Any
    places: Any
    extent: Sequence[Sequence[float]] | None
    packing: PackingName | None
