"""``kanon explore patients.parquet``."""

from __future__ import annotations

import signal
import threading
import webbrowser
from pathlib import Path

import click

from kanon_sql.api.notices import notices_once
from kanon_sql.cli import inputs
from kanon_sql.cli.help import Grouped
from kanon_sql.cli.show import note
from kanon_sql.cli.sources import STDIN, InputSource, opened, split_inside
from kanon_sql.errors import OptionError
from kanon_sql.explore.explorer import Explorer
from kanon_sql.explore.server import listening, refuse_missing, serving
from kanon_sql.explore.source import explored
from kanon_sql.explore.written import NamedSource

TURN = 0.1
"""Seconds between two looks whether the server is to end."""

NO_STDIN = "kanon explore names its input in kanon.toml, and - has no name. Name a file."
NOTHING = "IN is not given. Name a file, such as patients.parquet."
ENDED = "The server of the page has ended by itself. Start kanon explore again."


@click.command(cls=Grouped, epilog="Exit status: 0 ended by SIGTERM, 2 usage, 4 data, 130 ended by "
               "Ctrl-C.")
@inputs.source
@click.option("--port", metavar="N", default=0, type=click.IntRange(0, 65535),
              help="The port of the page on 127.0.0.1. Default: a free one.")
@click.option("--browser/--no-browser", default=True,
              help="Opens the page in the default browser. Default: --browser.")
def explore(
    source: tuple[str, ...], table: str | None, database: str | None, port: int, browser: bool
) -> None:
    """Opens a page on this machine to choose roles, hierarchies and k by mouse or keyboard.

    The page shows the risk and the loss of each choice, and writes it to kanon.toml. Nothing leaves
    the machine, and the page opens only with the token in its address.
    """
    refuse_missing()
    if not source and database is None:
        raise OptionError(NOTHING)
    if STDIN in source:
        raise OptionError(NO_STDIN)
    with listening(port) as place, opened(source, database, table) as read:
        known = explored(read.con, _named(source, read, database))
        explorer = Explorer.of(known, Path.cwd())
        over = threading.Event()
        pressed: list[int] = []

        def end(number: int, _: object) -> None:
            if number == signal.SIGINT:
                pressed.append(number)
            over.set()

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, end)
        with notices_once(), serving(explorer, place) as (address, runs):
            note(f"the page is at {address}")
            note("Ctrl-C ends it")
            if browser:
                webbrowser.open(address)
            while not over.wait(TURN):
                if not runs():
                    raise OptionError(ENDED)
    if pressed:
        raise KeyboardInterrupt


def _named(
    source: tuple[str, ...], read: InputSource, database: str | None
) -> NamedSource:
    """What kanon.toml and SQL call the input."""
    if read.database is None:
        return NamedSource(source, read.data)
    path = database or split_inside(source[0])[0]
    return NamedSource((str(read.data),), read.data, path)
