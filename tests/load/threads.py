"""Sixteen threads with cursors of their own on one connection."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from random import Random

from kanon_sql import register
from kanon_sql.stages.remembered import forget
from tests.load.outcome import Outcome
from tests.load.questions import FORMS, Connection, answer, connection, questions, tables

WAITING = 300.0
"""Seconds after the end that the last calls may take."""


def asked_by_threads(
    seconds: float, count: int = 16, seed: int = 0, forms: Sequence[str] = FORMS
) -> Outcome:
    """Each thread asks at random until the time is up, and at least once."""
    outcome = Outcome("threads")
    with connection() as con:
        asked = questions(tables(con), forms)
        expected = [answer(con, each) for each in asked]

        def work(number: int) -> None:
            random, cursor = Random(seed * 1000 + number), opened(con)
            try:
                while True:
                    which = random.randrange(len(asked))
                    if random.random() < 0.5:
                        forget()  # so that it is grouped anew
                    outcome.compare(asked[which].sql, answer(cursor, asked[which]), expected[which])
                    if random.random() < 0.1:
                        cursor.close()
                        cursor = opened(con)
                    if time.monotonic() > end:
                        break
            except Exception as error:
                outcome.find(f"thread {number}: {type(error).__name__}: {error}")

        end = time.monotonic() + seconds
        running = [threading.Thread(target=work, args=[i], daemon=True) for i in range(count)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join(max(0.0, end + WAITING - time.monotonic()))
        waiting = sum(thread.is_alive() for thread in running)
        if waiting:
            outcome.find(f"{waiting} threads still wait {WAITING:.0f} s after the end")
    outcome.facts.append(f"{count} threads, {len(asked)} different calls")
    return outcome


def opened(con: Connection) -> Connection:
    """A cursor on which the calls are known."""
    cursor = register(con.cursor())
    cursor.execute("SET enable_progress_bar = false")
    return cursor
