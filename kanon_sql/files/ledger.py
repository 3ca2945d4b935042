"""A ledger beside files: DuckDB joins it with the rows by person, and files keep what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kanon_sql.blocks.group import block_call, block_sql, values_of
from kanon_sql.blocks.learn import Learned
from kanon_sql.blocks.ledger import (
    Known,
    Stays,
    call_of_newcomers,
    first_release,
    ledger_of,
    stages_of,
    stays_of,
)
from kanon_sql.blocks.request import Request
from kanon_sql.blocks.source import number_of, rows_sql
from kanon_sql.call.ledger import Ledger
from kanon_sql.call.relation import Relation
from kanon_sql.duckdb.refused import telling
from kanon_sql.duckdb.session import Session, bound
from kanon_sql.errors import DataError
from kanon_sql.files.piece import ROW_GROUP
from kanon_sql.names import caseless, literal, quoted
from kanon_sql.plan.fragments import quasi
from kanon_sql.plan.ledger import before_sql, refusals_of_ledger
from kanon_sql.plan.ledger_refusals import CHANGED
from kanon_sql.sql import statement


def read_of_file(path: Path) -> Relation:
    """A file as a relation."""
    return Relation(f"read_parquet({literal(str(path))}, hive_partitioning = false)", (str(path),))


@dataclass(frozen=True)
class LedgerInFiles:
    """A ledger, and the files in which what it says is kept meanwhile.

    Attributes:
        session: over a connection of our own.
        request: what is asked of all rows.
        learned: what was learned of them.
        folder: where those files are.
    """

    session: Session
    request: Request
    learned: Learned
    folder: Path

    @property
    def ledger(self) -> Ledger:
        """How the release goes on."""
        return ledger_of(self.learned.call)

    @property
    def persons(self) -> str:
        """SQL of who is in the ledger, or in the files."""
        return read_of_file(self.folder / "persons.parquet").sql

    @property
    def shown(self) -> Path:
        """The released rows of who was released before."""
        return self.folder / "known.parquet"

    @property
    def going_on(self) -> Relation | None:
        """The classes that go on; None without any ledger."""
        return None if self.ledger.relation is None else read_of_file(self.folder / "on.parquet")

    @property
    def newcomers(self) -> Relation:
        """The rows of who was never released."""
        if self.ledger.relation is None:
            return self.request.source
        relation = read_of_file(self.folder / "newcomers.parquet")
        # the columns of the source, by which the column of places got its name
        return replace(relation, entry=self.request.source.entry)

    def _run(self, name: str, **holes: Any) -> None:
        with self.session.refusals():
            self.session.con.execute(
                telling(statement(f"ledger_files.{name}", **holes))
            ).fetchall()

    def _path(self, name: str) -> str:
        return literal(str(self.folder / f"{name}.parquet"))

    def decide(self) -> Known:
        """Decides over all persons who is released as before, and writes their rows.

        Raises:
            OptionError, DataError: a ledger that can't be gone on from, or a person with several
                rows.
        """
        self.folder.mkdir(exist_ok=True)
        call, relation = self.learned.call, self.ledger.relation
        self._run(
            "persons", stages=stages_of(self.request, call), ledger=before_sql(call),
            refusals=refusals_of_ledger(call), seed=literal(str(call.task.seed)),
            path=self._path("persons"),
        )
        ((newcomers, stale),) = self._rows("counts", persons=self.persons)
        if relation is None:
            return first_release(newcomers)
        ((release, largest, least),) = self._rows("numbers", ledger=relation.sql)
        stays = self._stay()
        self._run("going_on", ledger=relation.sql, path=self._path("on"))
        self._write_known()
        self._run(
            "newcomers", rows=rows_sql(self.request, keyed=False), persons=self.persons,
            entity=quoted(self.ledger.entity), path=self._path("newcomers"),
        )
        return Known(
            release, largest, least, stays.present + stale, stays.shown, stale, newcomers,
            stays.churn,
        )

    def _rows(self, name: str, **holes: Any) -> list[Any]:
        return self.session.rows(statement(f"ledger_files.{name}", **holes))

    def _stay(self) -> Stays:
        """Decides who is shown again, and keeps it in a table of the connection."""
        table = self.session.query(
            statement("ledger_files.histories", persons=self.persons),
            lambda relation: relation.to_arrow_table(),
        )
        stays = stays_of(table, self.learned.call)
        self.session.con.register("__kanon_stays", stays.table)
        self._run("shown", persons=self.persons)
        self.session.con.unregister("__kanon_stays")
        return stays

    def _write_known(self) -> None:
        """Writes the rows of who is shown again.

        Raises:
            DataError: classes would publish other types now.
        """
        assert self.going_on is not None and self.ledger.relation is not None
        call, entity = self.learned.call, quoted(self.ledger.entity)
        rows = rows_sql(self.request, keyed=False)
        block = block_call(
            self.request, call_of_newcomers(call, self.going_on, 0, 0), self.learned.scales,
            Relation(rows, ("",)), self.learned.rows, "",
        )
        with self.session.refusals():
            released = bound(self.session.con, telling(block_sql(block)))
            stored = bound(self.session.con, "SELECT unnest(published) FROM "
                           f"{self.going_on.sql}")
        types = dict(zip(map(caseless, stored.columns), map(str, stored.types), strict=True))
        of_quasi, columns = set(map(caseless, self.request.quasi)), []
        for name, kind in zip(released.columns, map(str, released.types), strict=True):
            if caseless(name) in of_quasi:
                if types.get(caseless(name)) != kind:
                    named = repr(".".join(self.ledger.relation.parts))
                    raise DataError(CHANGED.format(named))
                columns.append(
                    f"__kanon_classes.published[{literal(caseless(name))}] AS {quoted(name)}"
                )
            elif not name.startswith("__kanon_"):
                columns.append(f"__kanon_rows.{quoted(name)}")
        self._run(
            "known", columns=", ".join(columns), rows=rows, entity=entity,
            classes=self.going_on.sql, seed=call.task.seed, quasi=f"*{quasi(call.roles, ())}",
            values=values_of(call), group=ROW_GROUP, path=self._path("known"),
        )

    def numbers(self, name: str) -> Mapping[Any, int]:
        """How many of all rows have each number of a quasi-identifier."""
        return dict(self._rows("values", number=number_of(name), rows=rows_sql(self.request)))
