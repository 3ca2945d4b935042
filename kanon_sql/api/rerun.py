"""A release run again, from its source and its private part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kanon_sql.api.release import input_digest, read_manifest, rows_of, salted
from kanon_sql.api.verification import Finding
from kanon_sql.call.relation import Relation, find_relation
from kanon_sql.duckdb.session import Session, bound, relation_and_options
from kanon_sql.errors import KanonError, OptionError
from kanon_sql.plan.manifest import SEAL, file_relation, row_digests

Json = Mapping[str, Any]

VERSIONS = ("made.kanon_sql", "made.duckdb")
BY_TIME = ("options.refine_seconds", "options.refine_steps")
"""A search that time ended is run again by its steps, which are told."""


def run_again(
    session: Session, source: Any, private: Json, frames: Json, path: str, manifest: Json,
    findings: Sequence[Finding],
) -> Iterator[Finding]:
    """The findings of a file, and those of the release that its source gives.

    Args:
        session: where the source is.
        source: the relation, as it was given.
        private: the private part.
        frames: the options that were frames.
        path: the file.
        manifest: its manifest.
        findings: what the file alone shows.

    Raises:
        OptionError: a frame among the options that isn't given again.
    """
    options = _options(private, frames, manifest)
    relation, held = relation_and_options(session, source, options)
    findings = [_cleared(each, relation) for each in findings]
    yield from (each for each in findings if each.verdict == "wrong")
    if private.get("manifest_sha256") != manifest.get(SEAL):
        yield Finding(
            "private", "wrong", "The private part belongs to another release, or the footer was "
                                "edited: it refers to another manifest."
        )
    fits = salted(private["salt"], input_digest(session, relation)) == private.get("input_sha256")
    yield Finding(
        "source", "proven" if fits else "wrong",
        "" if fits else "The source is not the one that was released: its digest is another one.",
    )
    held["seed"] = private["seed"]
    if isinstance(held.get("ledger"), str):
        held["ledger"] = as_it_was(session, held["ledger"], manifest)
    try:
        anew = read_manifest(session, relation, held)
        same = _in_order(session, relation, held, anew, path)
    except KanonError as refusal:
        yield Finding("again", "wrong", f"The source can't be released again: {refusal}")
        yield from (each for each in findings if each.verdict != "wrong")
        return
    yield Finding(
        "again", "proven" if same else "wrong",
        "" if same else "The source gives other rows, or in another order, than the file has.",
    )
    wrong = {each.entry for each in findings if each.verdict == "wrong"}
    for each in findings:
        if each.entry not in wrong:
            yield _compared(each, manifest, anew)


def _options(private: Json, frames: Json, manifest: Json) -> dict[str, Any]:
    """The options as they were given, with the frames that the private part can't hold."""
    options = {**private["options"], **frames}
    for name, value in options.items():
        inner = [*value.values()] if isinstance(value, dict) else []
        if any(isinstance(part, dict) and part == {"frame": True} for part in [value, *inner]):
            raise OptionError(f"{name} was given as a frame. Give it again, as {name}=...")
    if options.get("refine_seconds") is not None:
        del options["refine_seconds"]
        options["refine_steps"] = manifest["metrics"].get("refine_steps")
    return options


def as_it_was(session: Session, ledger: str, manifest: Json) -> str:
    """A ledger without this release and those after it; the name of the relation."""
    relation = find_relation(ledger, session.catalog)
    number = int(manifest["release"]["number"])
    before = bound(session.con, f"FROM {relation.sql} WHERE release < {number}")
    return session.hold("ledger_before", before.to_arrow_table())


def _cleared(finding: Finding, relation: Relation) -> Finding:
    """A finding; but a column that resembles an identifier is proven where the source has both, as
    DuckDB tells names apart: the release that is run again has only what may be there."""
    if finding.resembles is None:
        return finding
    both = {finding.resembles, finding.entry.partition(".")[2]} <= set(relation.columns or ())
    return Finding(finding.entry, "proven") if both else replace(finding, verdict="wrong")


def _in_order(
    session: Session, source: Any, options: Json, anew: Json, path: str
) -> bool:
    """Whether the file has the rows of the release, one by one."""
    rows = rows_of(session, source, options, anew["columns"])
    expected = bound(session.con, row_digests(rows)).fetchall()
    with Session(None, lasting=True) as own:
        kept = own.con.execute(row_digests(file_relation(path).sql)).fetchall()
    return expected == kept


def _compared(finding: Finding, manifest: Json, anew: Json) -> Finding:
    """An entry that the file alone didn't show to be wrong, held against the release run again."""
    section, _, entry = finding.entry.partition(".")
    missing = object()
    stated = manifest[section].get(entry) if section in manifest and entry else missing
    again = anew.get(section, {}).get(entry, missing) if entry else missing
    if stated is missing or again is missing or finding.verdict == "proven":
        return finding
    if stated == again:
        return replace(finding, verdict="proven")
    if finding.entry in (*VERSIONS, *BY_TIME, "release.sql_sha256"):
        # another version, or a relation of another name
        return finding
    return replace(
        finding, verdict="wrong",
        sentence=f"The manifest says another {entry} than the source gives.",
    )
