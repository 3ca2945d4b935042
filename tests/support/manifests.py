"""Digests of rows, made again without kanon_sql: by plain DuckDB SQL and by plain Python."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import duckdb

PLAIN = """
    WITH texts AS (
        SELECT [*COLUMNS(*)] AS cells
        FROM (SELECT coalesce(strlen(COLUMNS(*)::VARCHAR) || ':' || COLUMNS(*)::VARCHAR, '-')
              FROM {relation})),
    digests AS (SELECT sha256(array_to_string(cells, '')) AS digest FROM texts),
    parts AS (
        SELECT sha256(string_agg(digest, '' ORDER BY digest)) AS part, digest[1:3] AS start
        FROM digests GROUP BY start),
    head AS (
        SELECT string_agg(strlen(column_name) || ':' || column_name
                          || strlen(column_type) || ':' || column_type, '') AS columns
        FROM (DESCRIBE FROM {relation}))
    SELECT sha256(columns || coalesce((SELECT string_agg(part, '' ORDER BY start) FROM parts), ''))
    FROM head
"""
"""What docs/manifest.md gives everybody, where TimeZone is UTC."""


def plain_digest(con: duckdb.DuckDBPyConnection, relation: str) -> str:
    """The digest of the rows of a relation, by SQL."""
    ((found,),) = con.execute(PLAIN.format(relation=relation)).fetchall()
    return str(found)


def _told(text: str | None) -> str:
    return "-" if text is None else f"{len(text.encode())}:{text}"


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def reference_digest(con: duckdb.DuckDBPyConnection, relation: str) -> str:
    """The same in Python; DuckDB gives the texts of the values."""
    columns = [row[:2] for row in con.execute(f"DESCRIBE FROM {relation}").fetchall()]
    rows = con.execute(f"SELECT COLUMNS(*)::VARCHAR FROM {relation}").fetchall()
    digests = sorted(_sha("".join(map(_told, row))) for row in rows)
    parts: dict[str, str] = {}
    for digest in digests:
        parts[digest[:3]] = parts.get(digest[:3], "") + digest
    head = "".join(_told(name) + _told(kept) for name, kept in columns)
    return _sha(head + "".join(_sha(parts[start]) for start in sorted(parts)))


def manifest_of(con: duckdb.DuckDBPyConnection, call: str) -> dict[str, Any]:
    """The manifest that a call gives, by section and entry."""
    found: dict[str, Any] = {}
    rows = con.execute(f"SELECT section, entry, value FROM {call}").fetchall()
    for section, entry, value in rows:
        found.setdefault(section, {})[entry] = json.loads(value)
    return found
