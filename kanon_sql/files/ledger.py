"""Files beside a ledger: who was released before is decided over all rows, and released as the
ledger has it; who wasn't is cut into blocks, which may join the classes that go on.

What of a block's classes is new has numbers that no other block's have. At the end stands what
the query of ``anonymize_ledger`` gives, and what can be linked over all releases is counted there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from kanon_sql.blocks.group import BlockFacts, block_call, block_sql, values_of
from kanon_sql.blocks.learn import Learned
from kanon_sql.blocks.request import Request
from kanon_sql.blocks.source import number_of, rows_sql
from kanon_sql.call.call import GroupingCall
from kanon_sql.call.ledger import Ledger
from kanon_sql.call.relation import Relation
from kanon_sql.duckdb.refused import telling
from kanon_sql.duckdb.session import Session, bound
from kanon_sql.encode.arrow import SideTable
from kanon_sql.errors import DataError
from kanon_sql.files.piece import ROW_GROUP
from kanon_sql.ledger.headroom import ASSUMED, Headroom, churn_of, headroom_for
from kanon_sql.ledger.histories import read_histories
from kanon_sql.ledger.shown import STAY
from kanon_sql.names import caseless, literal, quoted
from kanon_sql.plan.fragments import one_empty_row, quasi
from kanon_sql.plan.ledger import CHANGED, before_sql, joined, refusals_of_ledger
from kanon_sql.plan.pipeline import trees_of
from kanon_sql.sql import statement
from kanon_sql.stages.block import GoingOn

FIRST = 1
"""The number of the first release."""


@dataclass(frozen=True)
class Known:
    """What is decided of those who were released before, and what newcomers go on from.

    Attributes:
        release: the number of the release.
        largest: the largest number of a class before; 0 without any.
        least: the least k before; None without any.
        present: how many persons of the ledger take part.
        shown: how many of them are released.
        stale: how many changed since they were.
        newcomers: how many persons take part who were never released.
        churn: the share of the persons that leaves from one release to the next.
    """

    release: int
    largest: int
    least: int | None
    present: int
    shown: int
    stale: int
    newcomers: int
    churn: float

    @property
    def facts(self) -> BlockFacts:
        """Those of who was released before, as of a block."""
        return BlockFacts(self.present, self.shown, records=float(self.present))


def read_of_file(path: Path) -> Relation:
    """A file as a relation."""
    return Relation(f"read_parquet({literal(str(path))}, hive_partitioning = false)", (str(path),))


def stages_of(request: Request, call: GroupingCall) -> str:
    """SQL of the stages over which a ledger is read."""
    everybody = replace(request, call=replace(call, task=replace(call.task, nulls="value")))
    kept = ["true"]
    if call.task.nulls == "suppress":
        kept = [f"__kanon_value({quoted(name)}) IS NOT NULL" for name in request.quasi]
    return statement(
        "ledger_files.stages", kept=" AND ".join(kept), rows=rows_sql(everybody, keyed=False),
        quasi=quasi(call.roles, ()),
        one_keyed=one_empty_row(trees_of(call).keyed("__kanon_source")),
    )


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
        ledger = self.learned.call.ledger
        assert ledger is not None
        return ledger

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
            return Known(FIRST, 0, None, 0, 0, 0, newcomers, ASSUMED)
        ((release, largest, least),) = self._rows("numbers", ledger=relation.sql)
        present, shown, churn = self._stay()
        self._run("going_on", ledger=relation.sql, path=self._path("on"))
        self._write_known()
        self._run(
            "newcomers", rows=rows_sql(self.request, keyed=False), persons=self.persons,
            entity=quoted(self.ledger.entity), path=self._path("newcomers"),
        )
        return Known(release, largest, least, present + stale, shown, stale, newcomers, churn)

    def _rows(self, name: str, **holes: Any) -> list[Any]:
        return self.session.rows(statement(f"ledger_files.{name}", **holes))

    def _stay(self) -> tuple[int, int, float]:
        """Decides who is shown again; how many persons might be, and are; and the churn."""
        table = self.session.query(
            statement("ledger_files.histories", persons=self.persons),
            lambda relation: relation.to_arrow_table(),
        )
        texts = table.column("history").combine_chunks().cast(pa.string())
        histories, places = read_histories(texts.to_pylist())
        persons, present = np.zeros(len(places), np.int64), np.zeros(len(places), np.int64)
        persons[places] = table.column("persons").to_numpy()
        present[places] = table.column("present").to_numpy()
        histories = replace(histories, persons=persons)
        stay = STAY[self.ledger.attacker](histories, present, self.learned.call.task.k)
        self.session.con.register("__kanon_stays", pa.table({
            "history": texts, "stay": stay[places], "class": histories.last_class[places],
        }))
        self._run("shown", persons=self.persons)
        self.session.con.unregister("__kanon_stays")
        return int(present.sum()), int(stay.sum()), churn_of(histories, present)

    def headroom(self, known: Known) -> Headroom:
        """The room of new classes."""
        ledger = self.ledger
        if isinstance(ledger.headroom, int):
            return Headroom(ledger.headroom)
        return headroom_for(self.learned.call.task.k, ledger.attacker, known.churn)

    def _write_known(self) -> None:
        """Writes the rows of who is shown again.

        Raises:
            DataError: classes would publish other types now.
        """
        assert self.going_on is not None and self.ledger.relation is not None
        call, entity = self.learned.call, quoted(self.ledger.entity)
        rows = rows_sql(self.request, keyed=False)
        block = block_call(
            self.request, self._of_newcomers(0, 0), self.learned.scales, Relation(rows, ("",)),
            self.learned.rows, "",
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

    def _of_newcomers(self, largest: int, headroom: int) -> GroupingCall:
        """The call over newcomers, whose classes have numbers from there on."""
        ledger = replace(
            self.ledger, relation=self.going_on, largest=largest, headroom=headroom
        )
        return replace(self.learned.call, ledger=ledger)

    def learned_by(
        self, rows: int, largest: int, headroom: int, going_on: GoingOn | None
    ) -> Learned:
        """What was learned, for some newcomers, whose classes have numbers from there on."""
        return replace(
            self.learned, rows=rows, call=self._of_newcomers(largest, headroom), counts={},
            going_on=going_on,
        )

    def classes(self) -> GoingOn | None:
        """The classes that newcomers may join; None where they may not."""
        how = joined(self.learned.call)
        if self.going_on is None or how is None or self.ledger.attacker != "knows_presence":
            return None
        names = list(self.request.quasi)
        cells = ", ".join(
            f"(__kanon_cell({_published(name)})).number::VARCHAR AS n{i}, "
            f"__kanon_key({_published(name)}) AS t{i}" for i, name in enumerate(names)
        )
        text = statement("ledger_files.cells", cells=cells, classes=self.going_on.sql)
        published = self.session.query(text, lambda relation: relation.to_arrow_table())
        if published.num_rows == 0:
            return None
        table = SideTable(
            ("class", *(each for name in names for each in (caseless(name), ""))),
            tuple(column.combine_chunks().cast(pa.string()) for column in published.columns),
        )
        return GoingOn(table, self._counts() if how == "sets" else {})

    def _counts(self) -> dict[str, Mapping[Any, int]]:
        """How many of all rows have each value of each quasi-identifier."""
        counts: dict[str, Mapping[Any, int]] = {}
        for name in self.request.quasi:
            known = self.learned.counts.get(name)
            if known is None:
                known = dict(self._rows(
                    "values", number=number_of(name), rows=rows_sql(self.request)
                ))
            counts[caseless(name)] = known
        return counts


def _published(name: str) -> str:
    return f"published[{literal(caseless(name))}]"
