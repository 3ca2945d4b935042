"""The SQL of anonymize_manifest(): what a release is, in words and numbers that may go with it.

A manifest is for whoever gets the release, so it holds nothing that is nobody's business: no seed
where a privacy model keeps it secret, no value of the data or of an option (only their digests), no
name of a relation, no path, and of what is measured on the source three digits.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any

from kanon_sql.call.call import GroupingCall
from kanon_sql.call.hierarchies import HierarchySpec
from kanon_sql.call.options import OPTIONS
from kanon_sql.call.relation import Relation
from kanon_sql.hierarchies.kinds import BY_TYPE, KINDS
from kanon_sql.measure.ledger_metrics import LEDGER, OF_HEADROOM
from kanon_sql.measure.metrics import (
    ATTRIBUTE,
    CHOSEN,
    DIVERSITY,
    METRICS,
    NOTICE,
    OF_GROUPING,
    VERBATIM,
)
from kanon_sql.measure.model_metrics import LOSS, OF_ALL_CLASSES, OF_MODELS, OF_PEOPLE
from kanon_sql.measure.part_metrics import PARTS
from kanon_sql.measure.person_metrics import PERSONS
from kanon_sql.measure.risk_metrics import WEIGHTED
from kanon_sql.methods.auto import AUTO
from kanon_sql.names import literal, quoted
from kanon_sql.plan.fragments import helpers, listed, one_empty_row
from kanon_sql.plan.macro_shadowing import unshadowed_sql
from kanon_sql.plan.measure import facts_and_metrics
from kanon_sql.plan.pipeline import passing
from kanon_sql.plan.roles import named_roles
from kanon_sql.privacy import MODEL_KINDS
from kanon_sql.sql import statement
from kanon_sql.version import __version__

FORMAT = 2
"""Of the manifest: what reads it knows which entries there are, and how digests are made. Since 2 a
metric that doesn't apply stands there as null, so that none can be left out unseen."""

SECTIONS = ("made", "options", "roles", "columns", "metrics", "release")
"""What every manifest has."""

ZONED = (
    "The column '{}' holds times with a time zone inside of others, whose text depends on the "
    "setting TimeZone, so that no digest tells them. Release it as TIMESTAMPTZ, or cast it to "
    "VARCHAR."
)
DIGEST = "SHA-256 of the released rows, regardless of their order, and of their columns"
NUMBER = "which release of its ledger this is; null without a ledger"
SQL = (
    "SHA-256 of the text that anonymize_sql gives for the same call, with seed 0 where the seed is "
    "secret"
)
RULED = {"quasi_identifier": "quasi_identifier", "release": "other"}
"""The role of columns that nobody gave one, by what becomes of them: of 'error' there are none, and
with 'drop' no query reads them."""

_PEOPLE = tuple(metric for both in OF_PEOPLE.values() for metric in both)
_TOLD = (
    *METRICS, *DIVERSITY, ATTRIBUTE, OF_GROUPING, VERBATIM, NOTICE, *OF_MODELS, LOSS,
    *OF_ALL_CLASSES.values(), *_PEOPLE, *WEIGHTED, *PERSONS, *PARTS, *LEDGER, *OF_HEADROOM,
)
"""All that anonymize_metrics tells."""

PUBLIC = tuple(metric.name for metric in _TOLD if metric.public != "no" and not metric.is_text)
"""The metrics that a manifest has; NULL where there is nothing to tell."""

OF_WHOLE = tuple(metric.name for metric in _TOLD if metric.public == "whole")
"""Those of them that are told where no row was left out."""

EXACT = tuple(
    metric.name
    for metric in (*METRICS, *DIVERSITY, *OF_MODELS, *OF_ALL_CLASSES.values(), *_PEOPLE, *WEIGHTED)
    if not metric.by_source
)
"""Those that are counted on what comes out. Of the others, three digits are told where they are no
whole number: that says enough, and little of one row."""


def as_told(name: str, value: float | None, left_out: bool) -> float | None:
    """A metric as a manifest tells it; None where it doesn't. ``left_out``: whether rows were."""
    plain = name.partition(" (")[0]
    if value is None or plain not in PUBLIC or (left_out and plain in OF_WHOLE):
        return None
    if plain in EXACT or float(value).is_integer():
        return value
    return float(f"{value:.2e}")


MANIFEST = "__kanon_manifest"
"""The column of the rows of ``written_sql`` that holds the entries in the last of them."""

ELSEWHERE = ("hierarchies", "progress", "show_values")
"""The options that have a section of their own, or are of no consequence for what comes out."""


def digest_of(stage: str) -> str:
    """SQL of the digest of the rows of a stage or relation."""
    return statement(
        "manifest.digest", row_digests=row_digests(stage), one_row=one_empty_row(stage)
    )


def row_digests(stage: str) -> str:
    """SQL of the digest of each row of a stage, relation or query in parentheses, in its order."""
    return statement("manifest.row_digests", stage=stage)


def digest_sql(relation: Relation) -> str:
    """A query of one value: the digest of the rows of a relation."""
    return statement(
        "manifest.digest_call", unshadowed=unshadowed_sql(), digest=digest_of(relation.sql)
    )


def fingerprint_sql(relation: Relation) -> str:
    """A query of one row, which is another one as soon as the relation has other rows. It is quick,
    and no proof: that is the digest."""
    return statement("manifest.fingerprint", relation=relation.sql)


def class_sizes_sql(relation: Relation, columns: Iterable[str]) -> str:
    """A query of how many classes of each size a release has, by the names of its columns."""
    names = ", ".join(map(quoted, columns))
    return statement("manifest.class_sizes", relation=relation.sql, columns=names)


def file_relation(file: str) -> Relation:
    """A Parquet file as a relation: what is in it, and nothing of the names of its folders."""
    return Relation(
        f"system.main.read_parquet({literal(file)}, hive_partitioning = false)", (file,)
    )


KEY = "kanon"
"""The key of the footer of a file under which its manifest stands."""


def copy_sql(rows: str, path: str, manifest: str) -> str:
    """The statement that writes rows, a query in parentheses, and a manifest into a file."""
    return statement(
        "manifest.copy", rows=rows, path=literal(path), key=KEY, manifest=literal(manifest)
    )


SEAL = "sha256"
"""The entry of a manifest that tells the digest of all others."""


def sealed(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest with its seal, which shows an edit that wasn't meant to go unseen: who forges one
    makes a new seal, too."""
    content = {name: part for name, part in manifest.items() if name != SEAL}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return {**content, SEAL: sha256(text.encode()).hexdigest()}


def _sealed(value: Any) -> dict[str, str]:
    """A digest in place of an option's value, which may be one of the data."""
    return {"sha256": sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()}


def public_options(call: GroupingCall) -> dict[str, Any]:
    """All options as they are used, without what may be a value of the data, or a path."""
    options = {name: value for name, value in call.used.items() if name not in ELSEWHERE}
    for name, value in options.items():
        if value and name in OPTIONS and OPTIONS[name].relation:
            options[name] = "a relation"
    if options.get("sensitive_values"):
        options["sensitive_values"] = _sealed(options["sensitive_values"])
    for name in (name for name, kind in MODEL_KINDS.items() if kind.by_value):
        if options.get(name) is not None:
            options[name] = {
                model.column: _sealed(model.of_values) if model.of_values else getattr(model, name)
                for model in call.task.models if model.option == name
            }
    return options


def _entry(section: str, entry: str, value: str, description: str) -> str:
    """SQL of an entry; of its value as JSON text, too."""
    return (
        f"{{'section': {literal(section)}, 'entry': {literal(entry)}, 'value': {value}, "
        f"'description': {literal(description)}}}"
    )


def _hierarchies(specs: Iterable[HierarchySpec]) -> str:
    """The list of the hierarchies: of the rows of a relation the digest, of a kind its name and the
    digest of its options."""
    return "[" + ", ".join(
        _entry("hierarchies", spec.column, _hierarchy(spec), "how a column is generalized")
        for spec in specs
    ) + "]::STRUCT(section VARCHAR, entry VARCHAR, \"value\" VARCHAR, description VARCHAR)[]"


def _hierarchy(spec: HierarchySpec) -> str:
    """SQL of what is told of one."""
    if spec.levels is not None:
        return f"to_json({{'rows_sha256': ({digest_of(spec.levels.sql)})}})::VARCHAR"
    if spec.kind == BY_TYPE:
        return literal(json.dumps({"kind": "by the column's type"}))
    own = {n: v for n, v in spec.options.items() if n not in KINDS[spec.kind].tables}
    description = {"kind": spec.kind}
    if own:
        description["options_sha256"] = _sealed(own)["sha256"]
    if spec.table is None:
        return literal(json.dumps(description))
    pairs = ", ".join(f"{literal(n)}: {literal(v)}" for n, v in description.items())
    return f"to_json({{{pairs}, 'rows_sha256': ({digest_of(spec.table.sql)})}})::VARCHAR"


def _constants(call: GroupingCall) -> str:
    """The entries that are known before the query runs, as JSON."""
    origin = {
        "format": (FORMAT, "of this manifest"),
        "kanon_sql": (__version__, "the version that made the release"),
        "call": ("anonymize", "the call"),
    }
    entries = [("made", name, *entry) for name, entry in origin.items()]
    entries += [
        ("options", name, value, OPTIONS[name].description if name in OPTIONS else "")
        for name, value in public_options(call).items()
    ]
    names = ("section", "entry", "value", "description")
    return json.dumps([
        dict(zip(names, (s, e, json.dumps(v, sort_keys=True, default=str), d), strict=True))
        for s, e, v, d in entries
    ], ensure_ascii=False)


def without_seed(call: GroupingCall) -> GroupingCall:
    """The call, with seed 0 where its seed is secret."""
    return replace(call, task=replace(call.task, seed=0)) if call.task.secret else call


def manifest_sql(call: GroupingCall, release: str, measured: bool = False) -> str:
    """The SQL of anonymize_manifest().

    Args:
        call: the call.
        release: the text of the release, without a secret seed.
        measured: whether a column more holds the list of all metrics, the same in each row.
    """
    stage = "__kanon_released"
    return statement(
        "manifest.call", every=", measured" if measured else "",
        **_parts(call, release, stage, digest_of(stage), measured),
    )


def written_sql(call: GroupingCall, release: str, stages: str, rows: str) -> str:
    """The SQL of a release and its manifest at once: of each row its values, and behind them a row
    with the entries of the manifest as MANIFEST, where the digest of the rows is still missing.

    Args:
        call: the call of anonymize_manifest.
        release: the text of the release, without a secret seed.
        stages, rows: the stages behind its pipeline, and the query of its rows, in their order.
    """
    parts = _parts(call, release, "__kanon_typed", "NULL::VARCHAR", False)
    return statement("manifest.written", released=stages, rows=rows, **parts)


def _parts(
    call: GroupingCall, release: str, stage: str, digest: str, measured: bool
) -> dict[str, str]:
    """The parts of both queries. ``stage``: the name of the one that has the columns that come
    out; ``digest``: SQL of that of the rows."""
    facts, metrics = facts_and_metrics(call)
    rest = call.roles.rest
    hidden = "grouped.hidden" if call.roles.open else "[]::VARCHAR[]"
    withheld = "(SELECT names FROM __kanon_withheld)" if rest == "release" else hidden
    keep = ", __kanon_labelled.__kanon_row"
    return {
        "facts": facts,
        "typed": statement(
            "manifest.typed",
            name=stage,
            dropped=listed((*helpers(call.roles), *call.roles.identifiers)),
            passing=passing(call).removesuffix(keep) if call.release.keep_order else passing(call),
        ),
        "stages": statement(
            "manifest.stages",
            metrics=metrics,
            measured=f", {metrics} AS measured" if measured else "",
            one_released=one_empty_row(stage),
            digest=digest,
            zoned_error=literal(ZONED),
            public=_texts(PUBLIC),
        ),
        "entries": statement(
            "manifest.entries",
            of_whole=_texts(OF_WHOLE),
            exact=_texts(EXACT),
            told=literal(_constants(call)),
            hierarchies=_hierarchies((*call.hierarchies, *call.of_sensitive)),
            roles=literal(json.dumps([*map(list, named_roles(call.roles).items())])),
            rest=literal(RULED.get(rest, "other")),
            number_text=literal(NUMBER),
            digest_text=literal(DIGEST),
            sql_digest=literal(sha256(release.encode()).hexdigest()),
            sql_text=literal(SQL),
            chosen=_chosen(call),
        ),
        "of_stages": statement(
            "manifest.of_stages",
            withheld=f"list_transform({withheld}, lambda name: __kanon_caseless(name))",
        ),
    }


def _chosen(call: GroupingCall) -> str:
    """SQL of the entry of the method, after a comma, where 'auto' chose it."""
    if call.task.method is not AUTO:
        return ""
    value = f"to_json((SELECT {CHOSEN} FROM __kanon_facts))::VARCHAR"
    return ",\n     " + _entry("release", "method", value, "the method that 'auto' chose")


def _texts(names: Iterable[str]) -> str:
    return f"[{', '.join(map(literal, dict.fromkeys(names)))}]"
