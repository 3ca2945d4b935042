"""Ways in which a program runs calls beside each other: each is a process of its own.

    python -m tests.load.ways fork

It prints one line, with the answers that all workers gave, or fails.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import socket
import sys
from collections.abc import Callable

import duckdb

import kanon_sql
from tests.load.questions import QUICK, SIZES, Question, answer, connection, questions, tables

WORKERS = 4
TIMES = 3
"""How often each worker is asked everything."""

PATIENCE = 120.0
"""Seconds that one answer of a worker may take."""


def asked() -> list[Question]:
    """Few calls."""
    return questions(list(SIZES)[:1], QUICK)


def answers(number: int = 0) -> list[str]:
    """What a process answers by a connection of its own."""
    with connection() as con:
        tables(con)
        return [answer(con, each) for each in asked()]


def all_alike(told: list[list[str]]) -> list[str]:
    """The answers that all gave."""
    for each in told:
        if each != told[0]:
            raise AssertionError(f"two workers differ: {each} and {told[0]}")
    return told[0]


def pool(method: str) -> list[str]:
    """Processes of Python's own pool, begun by a method."""
    if method == "fork":
        # what a child may inherit: the calls registered, and none of them run
        kanon_sql.register(duckdb.connect()).close()
    context = multiprocessing.get_context(method)
    if method == "forkserver":
        context.set_forkserver_preload(["kanon_sql"])
    with context.Pool(WORKERS) as workers:
        return all_alike(workers.map_async(answers, range(WORKERS * TIMES), 1).get(
            PATIENCE * TIMES
        ))


def in_asyncio() -> list[str]:
    """Calls of one event loop, in its threads; one of them is interrupted."""

    async def gathered() -> list[str]:
        with connection() as con:
            tables(con)

            def on_cursor() -> list[str]:
                with kanon_sql.register(con.cursor()) as cursor:
                    return [answer(cursor, each) for each in asked()]

            async def ticked() -> int:
                ticks = 0
                while True:
                    try:
                        await asyncio.sleep(0.01)
                    except asyncio.CancelledError:
                        return ticks
                    ticks += 1

            ticking = asyncio.create_task(ticked())
            slow = con.cursor()
            waiting = asyncio.create_task(asyncio.to_thread(long_call, slow))
            await asyncio.sleep(0.5)
            slow.interrupt()
            told = await asyncio.gather(*(
                asyncio.to_thread(on_cursor) for _ in range(WORKERS * TIMES)
            ))
            if await waiting != "stopped":
                raise AssertionError("the interrupted call was not stopped")
            ticking.cancel()
            if await ticking < 10:
                raise AssertionError("the event loop stood still")
            return all_alike(told)

    return asyncio.run(gathered())


def long_call(con: duckdb.DuckDBPyConnection) -> str:
    """A call of minutes, until it is interrupted."""
    try:
        kanon_sql.register(con)
        con.execute("CREATE TABLE many AS SELECT (random() * 1e6)::INTEGER AS a, random() AS b "
                    "FROM range(200000)")
        con.execute("FROM anonymize('many', k := 5, method := 'k_member', progress := false)")
    except (duckdb.InterruptException, duckdb.InvalidInputException):
        return "stopped"
    return "done"


# --- workers of a web server ----------------------------------------------------------------------


def serve(listening: socket.socket) -> None:
    """What a worker does: an answer to each who connects, until it is ended."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    while True:
        client, _ = listening.accept()
        with client:
            client.sendall("\n".join(answers()).encode())


def forked(listening: socket.socket) -> int:
    """A new worker."""
    child = os.fork()
    if child == 0:
        try:
            serve(listening)
        finally:
            os._exit(1)
    return child


def request(port: int) -> list[str]:
    """The answer of any worker."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as client:
        told = b""
        while part := client.recv(65536):
            told += part
    return told.decode().split("\n")


def prefork() -> list[str]:
    """Workers that are forked from a process which imported kanon_sql, as web servers do; one of
    them is killed, and replaced."""
    kanon_sql.register(duckdb.connect()).close()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = int(listening.getsockname()[1])
        workers = [forked(listening) for _ in range(WORKERS)]
        told = [request(port) for _ in range(WORKERS)]
        killed = workers.pop()
        os.kill(killed, signal.SIGKILL)
        os.waitpid(killed, 0)
        workers.append(forked(listening))
        told += [request(port) for _ in range(WORKERS * (TIMES - 1))]
        for worker in workers:
            os.kill(worker, signal.SIGTERM)
        ends = [os.waitpid(worker, 0)[1] for worker in workers]
    if ends != [signal.SIGTERM] * WORKERS:
        raise AssertionError(f"workers ended with {ends}")
    return all_alike(told)


WAYS: dict[str, Callable[[], list[str]]] = {
    "asyncio": in_asyncio,
    "fork": lambda: pool("fork"),
    "spawn": lambda: pool("spawn"),
    "forkserver": lambda: pool("forkserver"),
    "prefork": prefork,
}

if __name__ == "__main__":
    print("answers:", *WAYS[sys.argv[1]](), sep="\x1f", flush=True)
