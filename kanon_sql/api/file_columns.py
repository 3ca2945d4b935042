"""What the columns and the footer of a file show, against its manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kanon_sql.api.verification import Finding
from kanon_sql.duckdb.session import Connection
from kanon_sql.names import quoted
from kanon_sql.plan.entries import added_columns, are_letters_apart, resembles
from kanon_sql.plan.manifest import KEY, file_relation
from kanon_sql.plan.proof import numbers_sql

AWAY = ("identifier", "entity")
"""The roles of columns that no release has."""

TWINS = (
    "The column {!r} is in the file, and {!r}, which differs in the form of letters only, has the "
    "role {}: give the source, which shows whether they are two."
)

Json = Mapping[str, Any]


def footer(con: Connection, path: str) -> list[tuple[str, str]]:
    """Keys and values of the footer of a file, as text."""
    entries: list[tuple[str, str]] = con.execute(
        "SELECT decode(key), coalesce(try(decode(value)), '') FROM parquet_kv_metadata(?)", [path]
    ).fetchall()
    return entries


def of_columns(columns: Mapping[str, str], manifest: Json) -> Iterator[Finding]:
    """The columns of the file, by name and type, against those of the manifest."""
    types, roles = manifest["columns"], manifest["roles"]
    added = added_columns(manifest["options"])
    away = [name for name, role in roles.items() if role in AWAY]
    for name in columns:
        if name not in types:
            yield Finding(
                f"columns.{name}", "wrong",
                f"The column {name!r} of the file is none of the release.",
            )
    for name, kept in types.items():
        said = ""
        near = next((other for other in away if resembles(name, other)), None)
        if name not in columns:
            said = f"The file lacks the column {name!r} of the release."
        elif columns[name] != kept:
            said = f"The column {name!r} has the type {columns[name]}, and was released as {kept}."
        elif near not in (None, name) and not (name in roles and are_letters_apart(name, near)):
            said = f"The column {name!r} is in the file, and {near!r} has the role {roles[near]}."
        elif name not in roles and name not in added:
            said = f"The column {name!r} of the file has no role in the manifest."
        elif name in roles and name in added:
            said = f"The column {name!r} is of the relation, and of the release."
        elif [*columns] != [*types] and set(columns) == set(types):
            said = "The columns of the file are not in the order in which they were released."
        elif near not in (None, name):
            yield Finding(
                f"columns.{name}", "not provable", TWINS.format(name, near, roles[near]), near
            )
            continue
        yield Finding(f"columns.{name}", "wrong" if said else "proven", said)
    for name in sorted(added - set(types)):
        yield Finding(f"options.{name}", "wrong", f"The file lacks the column {name!r}.")


def of_footer(con: Connection, path: str, columns: Mapping[str, str]) -> Iterator[Finding]:
    """What stands in the footer beside the manifest, of which that says nothing."""
    for key, _ in footer(con, path):
        if key == "geo" and "GEOMETRY" in " ".join(columns.values()):
            yield Finding("footer.geo", "not provable")  # DuckDB tells there what the column holds
        elif key != KEY:
            yield Finding(
                f"footer.{key}", "wrong",
                f"The footer has a key {key!r}, which the release did not write. Check its value, "
                "or write the file again without it.",
            )
    # of columns whose names differ in case only DuckDB gives the second another name
    for name, read in zip(_written(con, path), columns, strict=True):
        if name != read:
            yield Finding(
                f"columns.{name}", "wrong",
                f"The file has two columns {name!r}, or two that differ in case only.",
            )


def _written(con: Connection, path: str) -> list[str]:
    """The names of the columns of a file as they stand in it."""
    nodes = iter(con.execute(
        "SELECT name, coalesce(num_children, 0) FROM parquet_schema(?)", [path]
    ).fetchall())

    def below(children: int) -> list[str]:
        names = []
        for _ in range(children):
            name, own = next(nodes)
            below(own)
            names.append(name)
        return names

    return below(next(nodes)[1])


def of_roles(con: Connection, path: str, manifest: Json) -> Iterator[Finding]:
    """The columns of the file against their roles."""
    columns = manifest["columns"]
    for name, role in manifest["roles"].items():
        said = ""
        if role in AWAY and name in columns:
            said = f"The column {name!r} is in the file, and its role is {role}."
        elif role not in AWAY and name not in columns:
            said = f"The file lacks the column {name!r}, whose role is {role}."
        elif role == "withheld" and _one(con, f"SELECT count({quoted(name)})", path):
            said = f"The column {name!r} has values in the file, and was withheld."
        yield Finding(f"roles.{name}", "wrong" if said else "proven", said)


def _one(con: Connection, select: str, path: str) -> Any:
    """The one value that a SELECT gives of a file."""
    return con.execute(f"{select} FROM {file_relation(path).sql}").fetchall()[0][0]


def of_class_id(con: Connection, path: str, manifest: Json) -> Iterator[Finding]:
    """Whether the numbers of classes tell no more than the classes."""
    if manifest["options"].get("class_id") is not True:
        yield Finding("options.class_id", "proven")  # else the column would have no role
        return
    within = [
        name for name, role in manifest["roles"].items()
        if role in ("quasi_identifier", "within") and name in manifest["columns"]
    ]
    said = ""
    if manifest["columns"]["class_id"] != "BIGINT":
        said = "The column class_id has another type than numbers of classes have."
    elif not con.execute(numbers_sql(file_relation(path), within)).fetchall()[0][0]:
        said = "The column class_id holds other numbers than those of classes."
    yield Finding("options.class_id", "wrong" if said else "proven", said)
