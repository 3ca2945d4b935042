"""What an analyst may ask for: some calls on declared tables, no weaker than declared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kanon_sql.names import caseless
from kanon_sql.option import options_of
from kanon_sql.privacy import MODEL_KINDS, MODELS, ModelOptions
from kanon_sql.serve.statements import CallRequest, NotAllowedError

MAKING = ("anonymize", "anonymize_metrics", "anonymize_manifest")
"""The calls that release, or measure a release, of a declared table."""

COUNTING = ("k_anonymity", "anonymize_risk")
"""The calls that count its classes."""

FREE = (
    "method", "representation", "effort", "refine_steps", "distance", "loss", "class_id",
    "block_rows", "suppress", "detail",
)
"""The options that an analyst chooses: none of them says what a column is, nor weakens a demand."""

HARMLESS = {*FREE, "column_weights", "keep_order", "k", "others", "seed"}
"""The declared options that an analyst may leave out: none of them makes a class safer."""

LEAST_K = 2
"""What k is at least, where nothing else was declared."""

SAID = {*options_of(ModelOptions), "entity_rows"}
"""The options that say how safe a class is."""

RISING = {model.option: model.thresholds[0].bound == "at least" for model in MODELS}
"""Whether more is safer, by option."""


@dataclass(frozen=True)
class ServedTable:
    """A table that analysts call.

    Attributes:
        name: under which it is served.
        source: SQL of the relation behind it.
        roles: of each of its columns; identifiers and columns without a role aren't served.
        options: as declared.
    """

    name: str
    source: str
    roles: Mapping[str, str]
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def beyond(self) -> str | None:
        """A declared option that a call of an analyst could pass by; None where there is none."""
        for name, value in self.options.items():
            if name == "hierarchies" and isinstance(value, Mapping):
                secret = {caseless(n) for n, role in self.roles.items() if role == "sensitive"}
                if secret.isdisjoint(map(caseless, value)):
                    continue  # a quasi-identifier is as safe without one
            if name not in HARMLESS and name not in SAID:
                return name
        return None

    @property
    def least_k(self) -> int:
        """The smallest k that is answered."""
        return max(LEAST_K, int(self.options.get("k", LEAST_K)))


def refuse_call(calling: CallRequest, tables: Mapping[str, ServedTable]) -> None:
    """Raises NotAllowedError for a call that isn't an analyst's.

    Args:
        calling: the call.
        tables: by their names in lower case.
    """
    table = tables.get(caseless(calling.table))
    if table is None or calling.call not in (*MAKING, *COUNTING):
        raise NotAllowedError
    options = calling.options
    if calling.call in COUNTING:
        if set(options) - {"k"}:
            raise NotAllowedError
        return
    k = options.get("k")
    if not isinstance(k, int) or isinstance(k, bool) or k < table.least_k:
        raise NotAllowedError
    for name in options:
        if name not in (*FREE, "k", *SAID):
            raise NotAllowedError
    for name in SAID:
        declared, chosen = table.options.get(name), options.get(name)
        if not _as_safe(name, declared, chosen):
            raise NotAllowedError


def _as_safe(name: str, declared: Any, chosen: Any) -> bool:
    """Whether an option is as safe as it was declared: a threshold may be stricter, all else is
    the same."""
    if declared is None:
        # a model more is no harm, and a word of a model says how it counts
        return chosen is None or name in MODEL_KINDS
    if name not in MODEL_KINDS:
        return bool(declared == chosen)
    if isinstance(chosen, Mapping):
        asked = {caseless(column): limit for column, limit in chosen.items()}
        if not isinstance(declared, Mapping):  # which is that of the only sensitive column
            return len(asked) == 1 and all(_stricter(name, declared, one) for one in asked.values())
        return all(_stricter(name, limit, asked.get(caseless(column)))
                   for column, limit in declared.items())
    return not isinstance(declared, Mapping) and _stricter(name, declared, chosen)


def _stricter(name: str, declared: Any, chosen: Any) -> bool:
    """Whether a threshold is as strict as declared; one by value must be the same."""
    if not _is_number(declared) or not _is_number(chosen):
        return bool(declared == chosen)
    return bool(chosen >= declared if RISING[name] else chosen <= declared)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
