"""Whether a file holds the release that its manifest speaks of."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb

from kanon_sql.api.explained import sentences_of
from kanon_sql.api.file_columns import footer, of_class_id, of_columns, of_footer, of_roles
from kanon_sql.api.rerun import run_again
from kanon_sql.api.verification import Finding, Verdict, Verification
from kanon_sql.call.call import read_call
from kanon_sql.call.relation import is_url
from kanon_sql.duckdb.session import Connection, Session
from kanon_sql.errors import KanonError, OptionError, a_type
from kanon_sql.jobs.forks import refuse_forked
from kanon_sql.names import caseless
from kanon_sql.plan.contradictions import UNCHANGED, UNREAD, contradictions
from kanon_sql.plan.entries import is_number
from kanon_sql.plan.manifest import FORMAT, KEY, SEAL, SECTIONS, digest_sql, file_relation, sealed
from kanon_sql.plan.proof import facts_sql, model_options, reached, shown_metrics
from kanon_sql.plan.query import plan
from kanon_sql.plan.whole import OF_ALL_CLASSES, broken_of_all_classes

BESIDES = ("hierarchies", SEAL)
"""What some have, and what stands beside the sections."""

Json = Mapping[str, Any]

UNREADABLE = (
    KanonError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError
)
"""What is raised where the entries of a manifest are of other types than any manifest has."""


def verify(
    file: str | os.PathLike[str], /, *, con: Connection | None = None, source: Any = None,
    private: Any = None, **options: Any,
) -> Verification:
    """Verifies the manifest of a released file by computing its entries again.

    Args:
        file: the Parquet file.
        con: the connection of the source, if source is the name of a table.
        source: the relation that the release was made from, as it was given. With it, the release
            is run again and must be the same, row by row.
        private: the private part of the release, as kanon_sql.release returned or wrote it: a dict,
            a JSON string, or the path of the file. Required with source.
        options: frames that were given as options, by name; the private part has all others.

    Returns:
        The findings, by entry. A changed file does not raise an error: see ``ok``.

    Raises:
        OptionError: the file does not exist or is not a Parquet file, or the arguments do not fit
            each other.
    """
    refuse_forked()
    path = _readable(file)
    secret = _private_part(private, source, options)
    with Session(None, lasting=True) as own:
        manifest = _manifest_of(own.con, path)
        if isinstance(manifest, Finding):
            return Verification(path, (manifest,))
        try:
            findings = [*_of_all(own, path, manifest)]
        except duckdb.Error:
            said = "The rows of the file can't be read: it is torn, or was changed."
            return Verification(path, (Finding("rows", "wrong", said),))
        except UNREADABLE:
            return Verification(path, (Finding("manifest", "wrong", UNREAD),))
    if secret is not None:
        with Session(con) as session:
            findings = [*run_again(session, source, secret, options, path, manifest, findings)]
    findings.sort(key=lambda each: each.verdict != "wrong")
    done = Verification(path, tuple(findings), secret is not None)
    return replace(done, explained=tuple(sentences_of(done, manifest)))


def _readable(file: Any) -> str:
    """The path of a file that is there."""
    if not isinstance(file, (str, os.PathLike)):
        raise OptionError(f"The file is {a_type(file)}. Give the path of a Parquet file.")
    path = os.fspath(file)
    if re.search(r"[*?\[]", path):
        raise OptionError(
            f"DuckDB reads {path!r} as a pattern. Rename the file, without the signs *, ? and [."
        )
    if not is_url(path) and not Path(path).is_file():
        raise OptionError(f"There is no file {path!r}. Check the path.")
    return path


def _private_part(private: Any, source: Any, options: Json) -> Json | None:
    """The private part, read; None where only the file is looked at."""
    if source is None:
        if private is not None or options:
            what = "private" if private is not None else next(iter(options))
            raise OptionError(f"{what} is given without source. Add source, or leave {what} out.")
        return None
    if private is None:
        raise OptionError(
            "source is given without private, the part that release() returned or wrote. Add it: "
            "no release is made again without its seed and options."
        )
    unread = OptionError("private can't be read as the private part of a release. Check it.")
    if not isinstance(private, Mapping):
        try:
            text = str(private)
            if not text.lstrip().startswith("{"):
                text = Path(private).read_text(encoding="utf-8")
            private = json.loads(text)
        except (OSError, RecursionError, ValueError, TypeError):
            raise unread from None
    if not isinstance(private, Mapping) or not {"seed", "options", "salt"} <= set(private):
        raise unread
    return private


def _manifest_of(con: Connection, path: str) -> dict[str, Any] | Finding:
    """The manifest in the footer of a file, or what is wrong with it."""
    try:
        texts = [text for key, text in footer(con, path) if key == KEY]
    except duckdb.Error:
        raise OptionError(f"DuckDB can't read {path!r} as a Parquet file.") from None
    if not texts:
        return Finding(
            "manifest", "wrong", f"The file has no manifest: its footer lacks the key {KEY}."
        )
    if len(texts) > 1:
        return Finding("manifest", "wrong", f"The footer has {len(texts)} manifests, not one.")
    try:
        manifest = json.loads(texts[0], object_pairs_hook=_once, parse_constant=_no_number)
    except (RecursionError, ValueError):
        manifest = None
    if not isinstance(manifest, dict) or not all(
        isinstance(manifest.get(section, {} if section in BESIDES else None), dict)
        for section in (*SECTIONS, "hierarchies")
    ):
        return Finding(
            "manifest", "wrong", f"The value of {KEY} in the footer is not a manifest."
        )
    if manifest["made"].get("format") != FORMAT:
        return Finding(
            "manifest", "wrong",
            f"The manifest has a format that this version doesn't read, which reads {FORMAT}. "
            "Verify it by the version that made it.",
        )
    return manifest


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, in which no name stands twice: who reads it elsewhere may take the other.

    Raises:
        ValueError: one does.
    """
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a name occurs twice")
    return members


def _no_number(text: str) -> None:
    """Raises ValueError for NaN and Infinity, which JSON doesn't have."""
    raise ValueError(text)


def _of_all(own: Session, path: str, manifest: Json) -> Iterator[Finding]:
    """What the file shows, and what the manifest says against itself."""
    broken = contradictions(manifest)
    for name in manifest:
        if name not in (*SECTIONS, *BESIDES):
            broken[name] = f"The manifest has the section {name!r}, which none has."
    findings: list[Finding] = []
    try:
        for each in _of_file(own, path, manifest):
            findings.append(each)
    except (duckdb.Error, *UNREADABLE):
        # what is wrong already says more than that the rest can't be looked at
        if not broken and all(each.verdict != "wrong" for each in findings):
            raise
    for each in findings:
        said = broken.pop(each.entry, None)
        yield each if said is None or each.verdict == "wrong" else Finding(
            each.entry, "wrong", said
        )
    for entry, said in broken.items():
        yield Finding(entry, "wrong", said)


def _of_file(own: Session, path: str, manifest: Json) -> Iterator[Finding]:
    """What the file alone shows, the most telling first."""
    con = own.con
    columns = {
        name: kept for name, kept, *_ in con.execute(
            "DESCRIBE FROM read_parquet(?, hive_partitioning = false)", [path]
        ).fetchall()
    }
    yield from of_columns(columns, manifest)
    yield from of_footer(con, path, columns)
    if [*columns.items()] != [*manifest["columns"].items()]:
        return  # all that follows would be about other columns
    yield from _of_rows(con, path, manifest)
    roles = [*of_roles(con, path, manifest)]
    yield from roles
    if any(each.verdict == "wrong" for each in roles):
        return
    yield from of_class_id(con, path, manifest)
    yield from _of_metrics(own, path, manifest)
    for section in ("made", "options", "hierarchies"):
        for entry in manifest.get(section, {}):
            if section != "options" or entry not in ("k", "class_id", *OF_ALL_CLASSES):
                yield Finding(f"{section}.{entry}", "not provable")
    seal = sealed(manifest)[SEAL] == manifest.get(SEAL)
    yield Finding(
        SEAL, "proven" if seal else "wrong",
        "" if seal else "The footer was edited: the seal of its manifest is another one.",
    )


def _of_rows(con: Connection, path: str, manifest: Json) -> Iterator[Finding]:
    ((rows,),) = con.execute(
        "SELECT count(*) FROM read_parquet(?, hive_partitioning = false)", [path]
    ).fetchall()
    stated = manifest["metrics"].get("rows_released")
    if rows != stated:
        yield Finding(
            "metrics.rows_released", "wrong",
            f"The file has {rows} rows, and its manifest states {stated}: rows were added, removed "
            "or duplicated.",
        )
    ((digest,),) = con.execute(digest_sql(file_relation(path))).fetchall()
    fits = digest == manifest["release"].get("rows_sha256")
    yield Finding(
        "release.rows_sha256", "proven" if fits else "wrong",
        "" if fits else "The rows are not those that were released: their digest is another one.",
    )
    for entry in manifest["release"]:
        if entry != "rows_sha256":
            yield Finding(f"release.{entry}", "not provable")


def _of_metrics(own: Session, path: str, manifest: Json) -> Iterator[Finding]:
    """The metrics, and the k that was asked for."""
    stated, options = manifest["metrics"], manifest["options"]
    measured = _counted(own, path, manifest)
    k, reached_k = options.get("k"), measured.get("k")
    # of persons, the file shows only that there are no more than rows
    shown: Verdict = "proven" if options.get("entity") is None else "not provable"
    if k is not None and reached_k is not None:
        fits = reached_k >= k
        yield Finding(
            "options.k", shown if fits else "wrong",
            "" if fits else f"The manifest asks for k = {k}, and the smallest class of the file "
            f"has {reached_k:g} rows.",
        )
    elif k is not None:
        yield Finding("options.k", "not provable")
    for option, broken in broken_of_all_classes(options, measured):
        yield Finding(f"options.{option}", "wrong" if broken else shown, broken)
    for name, value in stated.items():
        # no file shows these two; whether they add up is what contradictions() sees
        if name not in measured or name in ("rows", "rows_suppressed"):
            yield Finding(f"metrics.{name}", "not provable")
        elif _same(value, measured[name]):
            yield Finding(f"metrics.{name}", "proven")
        else:
            number = measured[name]
            shows = "none" if number is None else f"{number:g}"
            # what was asked for is no fact of the file
            where = "its options say k =" if name == "k_requested" else "the file shows"
            yield Finding(
                f"metrics.{name}", "wrong",
                f"The manifest says {name} = {value}, and {where} {shows}.",
            )


def _same(stated: Any, measured: float | None) -> bool:
    """Whether a number of a manifest is the one that was found."""
    if stated is None or measured is None:
        return stated is None and measured is None
    if not is_number(stated):
        return isinstance(stated, str) and not math.isfinite(measured) and stated == str(measured)
    return math.isclose(stated, measured, rel_tol=1e-9, abs_tol=1e-12)


def _counted(own: Session, path: str, manifest: Json) -> dict[str, float | None]:
    """What the file shows of the metrics."""
    roles, options, stated = manifest["roles"], manifest["options"], manifest["metrics"]
    by_role = {
        role: [name for name in manifest["columns"] if roles.get(name) == role]
        for role in ("quasi_identifier", *UNCHANGED)
    }
    passing = [name for name in manifest["columns"] if roles.get(name) in UNCHANGED]
    asked = {
        # a combination is one of all columns that a reader sees in it, those of within among them
        "quasi_identifiers": [*by_role["quasi_identifier"], *by_role["within"]],
        "sensitive": by_role["sensitive"], "k": options.get("k"),
    }
    call = read_call("k_anonymity", file_relation(path), asked, own.catalog)
    call = replace(call, class_label=options.get("class_label"))
    counts = {name: stated.get(name) for name in ("rows", "rows_suppressed")}
    if not all(isinstance(count, int) for count in counts.values()):
        raise TypeError("rows are counted in whole numbers")
    own.con.execute(f"CREATE TEMP TABLE facts AS {facts_sql(call, passing, counts)}")
    measured: dict[str, float | None] = {}
    for name, expression in shown_metrics(call):
        with suppress(duckdb.BinderException):  # it needs what the file doesn't show
            ((measured[name],),) = own.con.execute(
                f"SELECT ({expression})::DOUBLE FROM facts"
            ).fetchall()
    if options.get("sensitive_values"):  # of which only the digest is told
        measured = {
            n: x for n, x in measured.items() if not n.startswith("homogeneous_sensitive_rows")
        }
    if options.get("entity") is None or options.get("entity_rows") == "apart":
        # together, models count persons, of whom the file says nothing
        measured |= _models(own, path, asked, manifest)
    if by_role["within"]:
        measured |= _parts(own, path, by_role)
    return measured


def _parts(own: Session, path: str, by_role: Mapping[str, list[str]]) -> dict[str, float | None]:
    """What the file shows of its parts."""
    asked = {"quasi_identifiers": by_role["quasi_identifier"], "within": by_role["within"]}
    text = plan("k_anonymity", file_relation(path), asked, own.catalog).text
    ((parts, least),) = own.con.execute(f"SELECT parts, part_rows_min FROM ({text})").fetchall()
    return {"parts": parts, "part_rows_min": least}


def _models(own: Session, path: str, asked: Json, manifest: Json) -> dict[str, float | None]:
    """What the file shows of privacy models."""
    by_tree = [caseless(name) for name in manifest.get("hierarchies", {})]
    models = model_options(manifest["options"], by_tree)
    if not models:
        return {}
    options = {**asked, **models}
    text = plan("k_anonymity", file_relation(path), options, own.catalog).text
    result = own.con.execute(text)
    names = [column[0] for column in result.description or ()]
    measured: dict[str, float | None] = {}
    for row in result.fetchall():
        measured |= reached(models, dict(zip(names, row, strict=True)))
    return measured
