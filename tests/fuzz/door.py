"""Asks for a release in one of the ways there are, and says what came of it."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

import kanon_sql
from kanon_sql.stages.remembered import forget
from tests.fuzz.case import Case, call, create, literal, quoted

Connection = duckdb.DuckDBPyConnection
ROLES = {"quasi_identifiers": "quasi_identifier", "sensitive": "sensitive",
         "identifiers": "identifier", "within": "within", "entity": "entity"}


@dataclass(frozen=True)
class Refused:
    """A refusal.

    Attributes:
        kind: the class of the error.
        said: its text.
        ours: whether it is a class in which we refuse.
    """

    kind: str
    said: str
    ours: bool


@dataclass(frozen=True)
class Released:
    """A release: a table of a connection, and the metrics that some doors give with it."""

    table: str
    metrics: Mapping[str, Any] | None = None


def open_connection() -> Connection:
    """A connection on which kanon_sql is registered."""
    con = kanon_sql.register(duckdb.connect())
    con.execute("SET enable_progress_bar = false; SET TimeZone = 'Europe/Berlin'")
    return con


class Bench:
    """The table of a case on a connection, and calls over it."""

    def __init__(self, con: Connection, case: Case) -> None:
        self.con, self.case, self.options = con, case, dict(case.options)
        for name, columns in case.tables.items():
            create(con, name, columns)
        create(con, "t", case.columns)
        if case.door == "frame":
            self.frame = con.sql("FROM t").to_arrow_table()
            con.register("frame", self.frame)
            con.execute("CREATE OR REPLACE TABLE t AS FROM frame")
            con.unregister("frame")
        said = {name: self.options[name] for name in ROLES if self._can_say(name)}
        if case.roles_in != "options" and "quasi_identifiers" in said:
            self._say(case, said)
        self.folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
        if case.door in ("files", "spark"):
            self._to_files()

    def _to_files(self) -> None:
        """Writes the tables, and reads them as files from now on."""
        for name in ("t", *self.case.tables):
            path = self.folder / f"{name}.parquet"
            self.con.execute(f"COPY {name} TO '{path}' (FORMAT parquet)")
        self.con.execute(f"CREATE OR REPLACE TABLE t AS FROM '{self.folder}/t.parquet'")

    def _can_say(self, name: str) -> bool:
        columns = self.options.get(name)
        known = {column.name for column in self.case.columns}
        named = [columns] if isinstance(columns, str) else columns
        return isinstance(named, list) and set(map(str, named)) <= known and bool(named)

    def _say(self, case: Case, said: Mapping[str, Any]) -> None:
        """Says the roles by a relation of roles or by comments, in place of options."""
        pairs = [(column, ROLES[name]) for name, columns in said.items()
                 for column in ([columns] if isinstance(columns, str) else columns)]
        for name in said:
            self.options.pop(name)
        if case.roles_in == "comments":
            for column, role in pairs:
                text = literal(f"What it is. kanon: {role}")
                self.con.execute(f"COMMENT ON COLUMN t.{quoted(column)} IS {text}")
            return
        rows = ", ".join(f"({literal(column)}, {literal(role)})" for column, role in pairs)
        self.con.execute(
            f"CREATE OR REPLACE TABLE my_roles AS FROM (VALUES {rows}) AS r(column_name, role)"
        )
        self.options["roles"] = "my_roles"

    def close(self) -> None:
        """Deletes what was written."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def release(self, into: str, **more: Any) -> Released | Refused:
        """Makes the release as a table of the connection."""
        try:
            return self._release(into, {**self.options, **more})
        except Exception as error:
            return refused(error)

    def _release(self, into: str, options: dict[str, Any]) -> Released:
        door, con = self.case.door, self.con
        if door == "query":
            con.execute(f"CREATE OR REPLACE TABLE {into} AS FROM {call('anonymize', 't', options)}")
        elif door in ("function", "frame"):
            options.setdefault("progress", False)
            found = (
                kanon_sql.anonymize("t", con=con, **options) if door == "function"
                else kanon_sql.anonymize(self.frame, **options)
            )
            con.register("found", found)
            con.execute(f"CREATE OR REPLACE TABLE {into} AS FROM found")
            con.unregister("found")
        elif door == "files":
            return self._from_files(into, options)
        elif door == "spark":
            return self._from_spark(into, options)
        else:
            raise NotImplementedError(door)
        return Released(into)

    def _from_files(self, into: str, options: dict[str, Any]) -> Released:
        source, to = self.folder / "t.parquet", self.folder / into
        for name in self.case.tables:
            options = {
                option: str(self.folder / f"{name}.parquet") if value == name else value
                for option, value in options.items()
            }
        options["progress"] = False
        found = kanon_sql.anonymize_files(source, to, overwrite=True, **options)
        self.con.execute(
            f"CREATE OR REPLACE TABLE {into} AS FROM read_parquet('{to}/*.parquet', "
            "hive_partitioning = false)"
        )
        return Released(into, found.metrics)

    def _from_spark(self, into: str, options: dict[str, Any]) -> Released:
        import kanon_sql.spark

        spark, to = session(), str(self.folder / into)
        for name in self.case.tables:
            frame = spark.read.parquet(str(self.folder / f"{name}.parquet"))
            options = {
                option: frame if value == name else value for option, value in options.items()
            }
        options.pop("progress", None)
        source = spark.read.parquet(str(self.folder / "t.parquet"))
        done = kanon_sql.spark.release(source, **options)
        try:
            done.data.write.mode("overwrite").parquet(to)
        finally:
            done.unpersist()
        self.con.execute(f"CREATE OR REPLACE TABLE {into} AS FROM read_parquet('{to}/*.parquet')")
        return Released(into, done.metrics)

    def rows_of(self, name: str, **more: Any) -> list[tuple[Any, ...]] | Refused:
        """The rows of another call with the same options."""
        try:
            query = f"FROM {call(name, 't', {**self.options, **more})}"
            return self.con.execute(query).fetchall()
        except Exception as error:
            return refused(error)

    @staticmethod
    def forget() -> None:
        """Lets the next call group anew."""
        forget()


@cache
def session() -> Any:
    """A session of Spark, of this process."""
    from tests.spark.conftest import started

    spark = started()
    # DuckDB doesn't read what Spark writes of moments far away
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    return spark


def refused(error: Exception) -> Refused:
    """What an error says, without DuckDB's prefix and pointer."""
    kind = type(error).__name__
    if isinstance(error, (kanon_sql.OptionError, kanon_sql.DataError)):
        return Refused(kind, str(error), True)
    if isinstance(error, duckdb.Error):
        said = re.split(r"\n\nLINE \d+:", str(error))[0].partition(": ")[2]
        return Refused(kind, said, isinstance(error, duckdb.InvalidInputException))
    return Refused(kind, str(error), False)
