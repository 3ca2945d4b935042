"""Files as an engine beside a ledger: what is decided and what is entered lies in the draft."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from kanon_sql.blocks.engine import Part
from kanon_sql.blocks.group import BlockFacts
from kanon_sql.blocks.learn import Learned
from kanon_sql.blocks.ledger import Known, LinkedCrowds, options_of
from kanon_sql.blocks.ledger_models import verify_models
from kanon_sql.blocks.metrics import Output
from kanon_sql.call.relation import Relation
from kanon_sql.duckdb.refused import telling
from kanon_sql.files.engine import LEVELS, FileEngine
from kanon_sql.files.entries import ENTRIES
from kanon_sql.files.ledger import LedgerInFiles, read_of_file
from kanon_sql.files.ledger_models import keep, read_of_pieces
from kanon_sql.files.source import FileRows
from kanon_sql.names import literal
from kanon_sql.plan.ledger import COUNTED, crowds_sql, published_sql
from kanon_sql.sql import expression, statement

FREE = "blocks without models"
"""The step of the state that says that newcomers keep no model by themselves."""


@dataclass(frozen=True)
class EarlierInFiles:
    """A ledger beside files; see kanon_sql.blocks.ledger.

    Attributes:
        engine: which holds the files, and what is done.
        ledger: the ledger.
    """

    engine: FileEngine
    ledger: LedgerInFiles

    @property
    def learned(self) -> Learned:
        """What was learned of all rows."""
        return self.ledger.learned

    @property
    def going_on(self) -> Relation | None:
        """A file."""
        return self.ledger.going_on

    @property
    def free(self) -> bool:
        """A step of the state."""
        return self.engine.state.result(FREE) is not None

    def let_free(self) -> None:
        """A step of the state."""
        self.engine.state.done(FREE, True)

    def decide(self) -> Known:
        """Some scans, unless they are done."""
        engine, decision = self.engine, self.engine.state.result("ledger")
        if decision is None:
            with engine.without_order(), engine.passes.of("following persons", 1):
                decision = asdict(self.ledger.decide())
            engine.state.done(LEVELS, engine.levels)
            engine.state.done("ledger", decision, self.ledger.folder)
        known = Known(**decision)
        engine.beside = [self.ledger.shown] if known.shown else []
        return known

    def newcomers(self) -> FileRows:
        """A file, or all rows before the second release."""
        request = self.engine.request
        if self.going_on is not None:
            request = request.of_part(self.ledger.newcomers, request.types)
        return FileRows(self.engine.session, request, self.engine.work)

    def numbers(self, name: str) -> Mapping[Any, int]:
        """One scan."""
        return self.ledger.numbers(name)

    def keep_models(
        self, parts: Sequence[Part], facts: Sequence[BlockFacts], known: Known
    ) -> tuple[Known, list[BlockFacts]]:
        """Writes the files anew of whose rows some are left out."""
        engine = self.engine
        kept = keep(engine, self.ledger, engine.pieces(parts))
        known = replace(known, shown=kept.get(self.ledger.shown.name, known.shown))
        blocks = (block for part in parts for block in part.blocks)
        return known, [
            replace(each, rows_released=kept.get(engine.piece(block).name, each.rows_released))
            for block, each in zip(blocks, facts, strict=True)
        ]

    def entered(self, known: Known, parts: Sequence[Part], output: Output) -> LinkedCrowds:
        """A file of the draft, and some scans of it."""
        engine, ledger = self.engine, self.ledger
        call, session, path = self.learned.call, engine.session, engine.work / ENTRIES
        entries, before, also = read_of_file(path).sql, "", ""
        options = options_of(session, engine.request, call)
        read, published = read_of_pieces(engine.pieces(parts)), published_sql(call)
        with session.refusals():
            session.con.execute(telling(statement(
                "ledger_files.entries", release=known.release, published=published,
                options=literal(options), pieces=read, persons=ledger.persons,
                seed=call.task.seed, path=literal(str(path)),
            ))).fetchall()
        if ledger.ledger.relation is not None:
            before = f" {self._before}"
            also = " " + expression(
                "ledger_files.published_before", ledger=ledger.ledger.relation.sql
            )
        ((every, crowd, rows, persons, unfrozen),) = session.rows(statement(
            "ledger_files.linked", entries=entries, before=before, published=also,
            release=known.release, counted=COUNTED[ledger.ledger.attacker],
            crowds=crowds_sql("after", "__kanon_exposed"),
        ))
        ((unlike,),) = session.rows(statement(
            "ledger_files.unlike", entries=entries, published=published,
            files=read_of_pieces(engine.outputs()),
        ))
        ((joining,),) = session.rows(statement(
            "ledger_files.joining", entries=entries, persons=ledger.persons, largest=known.largest,
        ))
        return LinkedCrowds(every, crowd, rows, persons, unfrozen, unlike, joining)

    @property
    def _before(self) -> str:
        """SQL of what was linked before; "" before the first release."""
        relation = self.ledger.ledger.relation
        return "" if relation is None else expression("ledger_files.before", ledger=relation.sql)

    def verify_models(self, known: Known, parts: Sequence[Part]) -> None:
        """A scan."""
        verify_models(
            self.engine.session, self.learned, known.release,
            read_of_pieces(self.engine.pieces(parts)),
            read_of_file(self.engine.work / ENTRIES).sql, self._before,
        )


def past(engine: FileEngine, learned: Learned) -> EarlierInFiles:
    """The ledger of a release in files, in a folder of the draft; ``learned``: of all rows."""
    return EarlierInFiles(
        engine, LedgerInFiles(engine.session, engine.request, learned, engine.work / "ledger")
    )
