"""A kit for your own tests: one call, which fails where a table isn't a release as described.

    check_release("released.parquet", "patients.parquet", k=5, sensitive="disease", l=3)

k_anonymity and anonymize_roles count here, as in the tests of the dbt package.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor
from pathlib import Path
from typing import Any

from kanon_sql.api.belonging import has, strangers
from kanon_sql.api.file_columns import footer
from kanon_sql.api.verify import verify
from kanon_sql.call.option_aliases import option_hint
from kanon_sql.call.options import OPTIONS
from kanon_sql.call.relation import Relation
from kanon_sql.duckdb.frames import relation_name
from kanon_sql.duckdb.session import Connection, Session, given_options, relation_and_options
from kanon_sql.errors import OptionError, did_you_mean, printable
from kanon_sql.jobs.forks import refuse_forked
from kanon_sql.option import options_of
from kanon_sql.plan.entries import model_asked, of_column, resembles
from kanon_sql.plan.manifest import KEY
from kanon_sql.privacy import MODEL_KINDS, WHOLE, WholeOptions
from kanon_sql.validators import whole

OWN = ("source", "con", "identifiers", "allowed", "suppress", "rows_suppressed")
OF_ALL = options_of(WholeOptions)
TAKEN = OF_ALL | {
    name: option for name, option in OPTIONS.items()
    if "k_anonymity" in option.calls and name not in ("by_part", *OWN)
}
"""The options beside the kit's own: those of k_anonymity, and demands on all classes."""
ROLES = tuple(name for name, option in TAKEN.items() if option.columns or option.relation)
PERSONAL = ("identifier", "entity")


def check_release(
    release: Any, source: Any = None, k: int | None = None, *, con: Connection | None = None,
    identifiers: str | Sequence[str] = (), allowed: str | Sequence[str] = (),
    suppress: float = 0.0, rows_suppressed: int | None = None, **options: Any,
) -> None:
    """Fails unless a table is a release as described.

    Args:
        release: the released rows, in any form that anonymize takes: a frame, a DuckDB relation,
            the path of a file, or the name of a relation of con.
        source: the rows that it was made from, in the same forms. With it, the release must have
            its columns, types and rows, and no sensitive value more often than the source.
        k: as in k_anonymity; required unless max_risk is given.
        con: the connection of relations that are given by name.
        identifiers: columns of the source that the release must not have.
        allowed: columns that you looked over: each may be in the release although it resembles an
            identifier, or is none of the source.
        suppress: the maximum share of the source's rows that the release leaves out.
        rows_suppressed: exactly how many rows it leaves out, in place of suppress.
        options: all others of k_anonymity, such as quasi_identifiers, sensitive, entity, within,
            max_risk, l, t and beta, and max_average_risk.

    Raises:
        AssertionError: the table isn't such a release; one sentence says why, without its values.
        OptionError, DataError: an argument that doesn't fit, or a table that can't be read.
    """
    __tracebackhide__ = True  # pytest then shows the line of the test
    refuse_forked()
    given = given_options({"k": k, **options})
    for name in [name for name in given if name not in TAKEN]:
        hint = "Leave it out." if name in OPTIONS else option_hint(name, [*TAKEN, *OWN])
        raise OptionError(f"check_release has no option {name!r}. {hint}")
    if not {"k", "max_risk"} & set(given):
        raise OptionError("check_release is given without k. Add k or max_risk.")
    names = OPTIONS["identifiers"].check
    away, looked_over = names("identifiers", identifiers), names("allowed", allowed)
    share = OPTIONS["suppress"].read(suppress)
    lost = None if rows_suppressed is None else whole(0)("rows_suppressed", rows_suppressed)
    with Session(con, lasting=True) as session:
        released, held = relation_and_options(session, release, given)
        before = None if source is None else session.source(source)
        asked = _Asked(session, released, held, away, looked_over)
        for option, columns in (("identifiers", away), ("allowed", looked_over)):
            gone = [name for name in columns if not has(released.columns or (), name)]
            one = released if option == "allowed" and before is None else before
            _refuse_unknown(option, gone, one)
        roles = asked.rows("anonymize_roles", ROLES)
        said = next(_of_columns(asked, roles), None) or next(_of_classes(asked), None)
        if said is None and before is not None:
            quasi = [row["column_name"] for row in roles if row["role"] == "quasi_identifier"]
            said = next(_of_rows(session, released, before, share, lost), None) or next(
                strangers(session, released, before, quasi, (*away, *looked_over)), None
            )
        said = said or _of_manifest(session, relation_name(release))
    if said is not None:
        raise AssertionError(printable(said))


@dataclass(frozen=True)
class _Asked:
    """What is asked of a release; the attributes are as the arguments of check_release."""

    session: Session
    release: Relation
    options: Mapping[str, Any]
    identifiers: Sequence[str]
    allowed: Sequence[str]

    def rows(self, call: str, names: Iterable[str]) -> list[dict[str, Any]]:
        """What a call tells of the release with the options of these names."""
        some = {name: self.options[name] for name in names if name in self.options}
        return self.session.run(call, self.release, some, lambda result: [
            dict(zip(result.columns, row, strict=True)) for row in result.fetchall()
        ])


def _refuse_unknown(option: str, names: Sequence[str], relation: Relation | None) -> None:
    columns = relation.columns or () if relation is not None else names  # of which nothing is known
    for name in names:
        if not has(columns, name):
            hint = did_you_mean(name, columns)
            raise OptionError(f"{option} names the column {name!r}, which doesn't exist. {hint}")


def _of_columns(asked: _Asked, roles: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Columns that no release has, and those of which nobody says what they are."""
    for row in roles:
        name, role = row["column_name"], row["role"]
        if has(asked.identifiers, name):
            yield f"The release has the identifier {name!r}. Drop the column."
        if role is None:
            yield (f"The column {name!r} of the release has no role. Name it in quasi_identifiers "
                   "or sensitive, or drop it.")
        if has((*asked.allowed, *filter(None, [asked.options.get("entity")])), name):
            continue
        alike = any(resembles(name, each) for each in asked.identifiers)
        by_values = row["suggested_role"] in PERSONAL and not _is_counted(row)
        if alike or role in PERSONAL or by_values:
            yield (f"The column {name!r} of the release looks like an identifier, or is declared "
                   "as one. Drop it, or name it in allowed.")


def _is_counted(row: Mapping[str, Any]) -> bool:
    """Whether somebody named a column by whose values classes are counted: then each of its values
    stands in k rows, or the check of classes fails. In small classes they look like identifiers."""
    return row["role"] in ("quasi_identifier", "within") and row["role_from"] != "default"


def _of_classes(asked: _Asked) -> Iterator[str]:
    """Classes that are too small, too many, or break a privacy model."""
    measured = asked.rows("k_anonymity", set(asked.options) - set(OF_ALL))
    first: Mapping[str, Any] = measured[0] if measured else {"rows": 0}
    if not first["rows"]:
        yield "The release has no rows, so it proves nothing. Check the step that makes it."
        return
    unit, k, classes = "rows", first["k_requested"], first["classes"]
    least, below = first["k"], first["classes_below_k"]
    if "k_persons" in first:
        unit, least, below = "persons", first["k_persons"], first["classes_below_k_persons"]
    if least is None or k is None or least < k or below:
        yield (f"The release has k = {least}, counted in {unit}, and k = {k} is asked for: {below} "
               f"of its {classes} classes are too small.")
    for row in measured:
        if row.get("classes_violating"):
            yield from _of_models(asked, row["sensitive"])
            yield f"{row['classes_violating']} classes break a model of {row['sensitive']!r}."
    for kind in WHOLE:
        if kind.option in asked.options:
            demand = kind(**{kind.option: OF_ALL[kind.option].read(asked.options[kind.option])})
            if classes > demand.most_classes(first[unit]):
                yield f"{classes} classes of {first[unit]} {unit} don't keep {demand.in_words}."


def _of_models(asked: _Asked, column: str) -> Iterator[str]:
    """The privacy models that classes break in a sensitive column."""
    for option, kind in MODEL_KINDS.items():
        own = (*ROLES, *options_of(kind), "sensitive_nulls")
        for row in asked.rows("k_anonymity", own) if option in asked.options else ():
            if row["sensitive"] == column and row["classes_violating"]:
                limit = of_column(asked.options[option], column, {})
                shown = "by value" if isinstance(limit, Mapping) else f"= {limit}"
                worst = model_asked(asked.options, option, column).audited_as
                yield (f"{row['classes_violating']} of {row['classes']} classes break {option} "
                       f"{shown} of {column!r}; the worst class has {worst} = {row[worst]:.6g}.")


def _of_rows(
    session: Session, release: Relation, source: Relation, share: float, lost: int | None
) -> Iterator[str]:
    """Rows that are gone, or too many."""
    counts = (f"(SELECT count(*) FROM {each.sql})" for each in (source, release))
    ((rows, released),) = session.rows(f"SELECT {', '.join(counts)}")
    least, most = (0, floor(share * rows)) if lost is None else (lost, lost)
    if released > rows:
        yield (f"The source has {rows} rows and the release {released}, which is more. Give its "
               "own source.")
    elif not least <= rows - released <= most:
        yield (f"The source has {rows} rows and the release {released}: {rows - released} are left "
               f"out, and the check allows {least} to {most}.")


def _of_manifest(session: Session, path: Any) -> str | None:
    """What is wrong with the manifest of a file, if it has one."""
    alone = isinstance(path, str) and path.lower().endswith(".parquet") and Path(path).is_file()
    if not alone or all(key != KEY for key, _ in footer(session.con, path)):
        return None
    verification = verify(path)
    return None if verification.ok else f"The manifest is wrong: {verification.sentence}"
