"""Privacy models of a release in blocks beside a ledger, for every engine alike: over all persons
it is decided who is left out so that every class and every crowd keeps them, and of what is
released SQL says whether all do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from kanon_sql.blocks.learn import Learned
from kanon_sql.blocks.ledger import ledger_of
from kanon_sql.duckdb.session import Session
from kanon_sql.encode.arrow import CellColumns, Column, Rows
from kanon_sql.encode.sensitive import fit_sensitive, sensitive_codes
from kanon_sql.errors import ReleaseError
from kanon_sql.ledger.histories import NEWCOMER, read_histories
from kanon_sql.ledger.models import keep_models
from kanon_sql.names import caseless, quoted
from kanon_sql.plan.fragments import quasi
from kanon_sql.plan.ledger import crowds_sql, models_of_crowds
from kanon_sql.plan.ledger_refusals import UNLIKE
from kanon_sql.plan.models import combinations, released_models
from kanon_sql.points.points import Points
from kanon_sql.sql import expression, statement


def cells_of_models(learned: Learned) -> str:
    """SQL of what privacy models look at, of the sensitive columns: n0 DOUBLE, w0 VARCHAR, and so
    on."""
    return ", ".join(
        f"(__kanon_cell({quoted(name)})).number AS n{j}, __kanon_key({quoted(name)}) AS w{j}"
        for j, name in enumerate(learned.call.task.sensitive)
    )


def who_leaves(people: pa.Table, learned: Learned, types: Mapping[str, str]) -> pa.Table:
    """The classes, and the histories in them, whose persons are left out: class BIGINT, history
    VARCHAR, NULL of newcomers. Whoever has the same of both has the same crowd.

    Args:
        people: who would be released: class, history, and the cells of ``cells_of_models``.
        learned: of all rows.
        types: of the sensitive columns in DuckDB, by their names.
    """
    task, count = learned.call.task, people.num_rows
    texts = people["history"].combine_chunks().cast(pa.string())
    known = texts.is_valid().to_numpy(zero_copy_only=False)
    histories, of_person = read_histories(texts.drop_null().to_pylist())
    history = np.full(count, NEWCOMER, np.int64)
    history[known] = of_person
    by_name = {caseless(name): kind for name, kind in types.items()}
    numbers = {
        j: people[f"n{j}"].cast(pa.float64()).fill_null(np.nan).to_numpy()
        for j in range(len(task.sensitive))
    }
    words = {
        j: people[f"w{j}"].combine_chunks().cast(pa.string()) for j in range(len(task.sensitive))
    }
    rows = Rows({"secrets": CellColumns(numbers, words)}, count)
    named = [Column(name, by_name[caseless(name)]) for name in task.sensitive]
    columns = fit_sensitive(rows, named, {})
    points = Points(
        np.zeros((count, 0)), np.zeros((count, 0), np.int32), np.zeros(0),
        sensitive=sensitive_codes(rows, columns), sensitive_columns=columns,
    )
    labels = keep_models(
        points, people["class"].to_numpy().astype(np.int64), history, histories,
        ledger_of(learned.call).attacker, task.k, task.models,
    )
    return people.select(["class", "history"]).filter(pa.array(labels < 0)).group_by(
        ["class", "history"]
    ).aggregate([])


def verify_models(
    session: Session, learned: Learned, release: int, read: str, entries: str, before: str
) -> None:
    """Raises ReleaseError unless every class of a release keeps the models, and every crowd.

    Args:
        session: over a connection of our own.
        learned: of all rows.
        release: the number of the release.
        read: SQL of the released rows, with whose they are.
        entries: SQL of what the ledger gets.
        before: SQL of what was linked before, behind UNION ALL; "" where nothing was released.
    """
    # held against what is released, whatever the blocks were
    call, crowds, also = replace(learned.call, domains={}), "", ""
    if before:
        crowds = statement(
            "ledger_files.crowds", entries=entries, before=f" {before}", release=release,
            crowds=crowds_sql("after", "__kanon_exposed"), models=models_of_crowds(call),
        )
        also = " " + expression("ledger_files.broken_crowds")
    ((broken,),) = session.rows(statement(
        "ledger_files.models", pieces=read, entity=quoted(ledger_of(call).entity),
        quasi=quasi(call.roles, ()), combinations=combinations(call),
        models=released_models(call), crowds=crowds, also=also,
    ))
    if broken is None or broken > 0:
        raise ReleaseError(UNLIKE)
