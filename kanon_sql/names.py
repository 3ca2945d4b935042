"""How names of columns are compared, as DuckDB compares them, and how names and texts stand in its
SQL."""

from __future__ import annotations

from string import ascii_lowercase, ascii_uppercase

_SMALL = str.maketrans(ascii_uppercase, ascii_lowercase)


def caseless(name: object) -> str:
    """A name as it is compared: two that fold to the same are one to DuckDB.

    DuckDB ignores the case of the letters A to Z alone: "É" and "é" are two columns of one table,
    as are "k" and the sign of Kelvin. What folds more than that takes one for the other, and the
    role of one is lost. In SQL it is __kanon_caseless (see sql/macros/columns.sql).
    """
    return str(name).translate(_SMALL)


def quoted(name: str) -> str:
    """An identifier in double quotes."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text in single quotes."""
    return "'" + text.replace("'", "''") + "'"
