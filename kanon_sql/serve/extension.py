"""DuckDB's extension quack, from pip's packages or from DuckDB's own folder."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import duckdb

from kanon_sql.errors import OptionError
from kanon_sql.names import literal

NEEDED = ("httpfs", "quack")
"""In the order in which they are loaded."""

MISSING = (
    "Serving needs the extension {!r} for DuckDB {}, and it is not installed. Install "
    "'kanon-sql[serve]' with a version of duckdb that pip has it for, or run INSTALL {} in DuckDB."
)


def served_connection() -> duckdb.DuckDBPyConnection:
    """A database in memory that can serve.

    Raises:
        OptionError: an extension is missing.
    """
    con = duckdb.connect(":memory:", config={"allow_unsigned_extensions": "true"})
    for name in NEEDED:
        path = _file(name)
        try:
            con.execute(f"LOAD {name if path is None else literal(str(path))}")
        except duckdb.Error:
            con.close()
            raise OptionError(MISSING.format(name, duckdb.__version__, name)) from None
    return con


def _file(name: str) -> Path | None:
    """The file of an extension in pip's package; None where there is none for this DuckDB."""
    spec = find_spec(f"duckdb_extension_{name}")
    for folder in (spec and spec.submodule_search_locations) or ():
        path = Path(folder, "extensions", f"v{duckdb.__version__}", f"{name}.duckdb_extension")
        if path.is_file():
            return path
    return None
