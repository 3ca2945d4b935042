"""The dbt face: a plugin of dbt-duckdb, by one line in profiles.yml, and a dbt package of tests.

    plugins:
      - module: kanon_sql.dbt
"""

from __future__ import annotations

from typing import Any

import duckdb

from kanon_sql.duckdb.register import register
from kanon_sql.errors import OptionError, did_you_mean

try:
    from dbt.adapters.duckdb.plugins import BasePlugin
except ImportError:
    raise ImportError(
        "kanon_sql.dbt is a plugin of dbt-duckdb, which isn't installed. Install it by "
        "pip install 'kanon-sql[dbt]'."
    ) from None

SETTINGS = ("shared",)


class Plugin(BasePlugin):  # type: ignore[misc, unused-ignore]
    """Makes the calls known to dbt: as ``anonymize(...)`` in models, hooks and tests on every
    thread, and as ``kanon.anonymize(...)`` on connections that dbt doesn't tell of, such as those
    of a Python model.

    Its config may have ``shared``, the name of the database of macros, where 'kanon' is another's.
    """

    _shared: bool | str = True

    def initialize(self, plugin_config: dict[str, Any]) -> None:
        """Reads the config that stands beside the plugin in profiles.yml.

        Raises:
            OptionError: a setting that doesn't exist.
        """
        settings = (self.creds.settings if self.creds is not None else None) or {}
        for name in plugin_config:  # dbt-duckdb puts the settings of DuckDB among them
            if name not in SETTINGS and name not in settings:
                raise OptionError(
                    f"The dbt plugin kanon_sql.dbt has no setting {name!r}. "
                    f"{did_you_mean(name, SETTINGS)}"
                )
        self._shared = plugin_config.get("shared", True)

    def configure_connection(self, conn: duckdb.DuckDBPyConnection) -> None:
        """The connection that all others of dbt come from."""
        register(conn, shared=self._shared)

    def configure_cursor(self, cursor: duckdb.DuckDBPyConnection) -> None:
        """The cursor of a thread."""
        register(cursor)
