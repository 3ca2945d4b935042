"""k-anonymity for DuckDB: ``SELECT * FROM anonymize('patients', k=5)``."""

from __future__ import annotations

from kanon_sql.errors import DataError, KanonError, OptionError, ReleaseError
from kanon_sql.register import register
from kanon_sql.version import __version__

__all__ = ["DataError", "KanonError", "OptionError", "ReleaseError", "__version__", "register"]
