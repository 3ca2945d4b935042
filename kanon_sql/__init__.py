"""k-anonymity for DuckDB: ``SELECT * FROM anonymize('patients', k=5)``.

In SQL, after ``kanon_sql.register(con)``: anonymize, anonymize_clusters, anonymize_metrics,
suppressed_rows, anonymize_sql, anonymize_roles, anonymize_manifest, anonymize_methods,
hierarchy, k_anonymity, anonymize_audit, anonymize_risk, anonymize_ledger and ledger_check.
In Python, the same calls take a frame or a file. release() writes a release to a file, verify()
checks it, report() writes a report for its approval, evidence() attacks it, and compare() compares
methods.

Names are loaded on first use, so that the import takes no time: DuckDB, Arrow and NumPy are loaded
by the first call, the compiler and Polars by the first call that needs them.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if not (Path(__file__).parent / "sql").is_dir():
    # started inside a clone: there, kanon_sql.sql and kanon_sql.udfs lie beside this folder
    __path__.append(str(Path(__file__).parents[1]))

import kanon_sql.jobs.forks  # noqa: F401  notes forks from now on, not from the first call on
from kanon_sql.errors import DataError, KanonError, OptionError, ReleaseError, did_you_mean
from kanon_sql.version import __version__

if TYPE_CHECKING:
    from kanon_sql.api.dataframe import (
        anonymize,
        anonymize_audit,
        anonymize_clusters,
        anonymize_ledger,
        anonymize_manifest,
        anonymize_methods,
        anonymize_metrics,
        anonymize_risk,
        anonymize_roles,
        anonymize_sql,
        compare,
        evidence,
        hierarchy,
        k_anonymity,
        ledger_check,
        release,
        report,
        suppressed_rows,
    )
    from kanon_sql.api.files import anonymize_files
    from kanon_sql.api.report import Report
    from kanon_sql.api.verification import Finding, Verification
    from kanon_sql.api.verify import verify
    from kanon_sql.attacks.facts import Evidence
    from kanon_sql.duckdb.register import register
    from kanon_sql.released import Release

__all__ = [
    "DataError",
    "Evidence",
    "Finding",
    "KanonError",
    "OptionError",
    "Release",
    "ReleaseError",
    "Report",
    "Verification",
    "__version__",
    "anonymize",
    "anonymize_audit",
    "anonymize_clusters",
    "anonymize_files",
    "anonymize_ledger",
    "anonymize_manifest",
    "anonymize_methods",
    "anonymize_metrics",
    "anonymize_risk",
    "anonymize_roles",
    "anonymize_sql",
    "compare",
    "evidence",
    "hierarchy",
    "k_anonymity",
    "ledger_check",
    "register",
    "release",
    "report",
    "suppressed_rows",
    "verify",
]


_PLACES = {
    "Evidence": "attacks.facts",
    "Finding": "api.verification",
    "Release": "released",
    "Report": "api.report",
    "Verification": "api.verification",
    "anonymize_files": "api.files",
    "register": "duckdb.register",
    "verify": "api.verify",
}
"""The modules of what is loaded late; all other names are calls over frames."""

_CALLS = "api.dataframe"

def __dir__() -> list[str]:
    """What there is to use, also what nobody has asked for yet."""
    return sorted(__all__)


if not TYPE_CHECKING:  # a type checker would take any name for one of ours

    def __getattr__(name: str) -> Any:
        """Loads a name, or says what one that isn't here may mean."""
        if name in __all__:
            module = import_module(f"kanon_sql.{_PLACES.get(name, _CALLS)}")
            attribute = globals()[name] = getattr(module, name)
            return attribute
        from kanon_sql.renamed import PYTHON, renamed

        hint = renamed(name, PYTHON[name]) if name in PYTHON else did_you_mean(name, __all__)
        raise AttributeError(f"kanon_sql has no {name!r}. {hint}")
