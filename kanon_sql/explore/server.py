"""The server of the page: on this machine only, until it is told to end."""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from kanon_sql.errors import OptionError
from kanon_sql.explore.explorer import Explorer
from kanon_sql.explore.guard import PARAMETER, Guard

HERE = "127.0.0.1"
NEEDED = ("nicegui", "vl_convert")
MISSING = (
    "kanon explore needs NiceGUI and vl-convert. Install them by pip install 'kanon-sql[explore]'."
)
TAKEN = "The port {} can't be used. Choose another one by --port, or leave it out."
LONGEST = 5.0
"""Seconds that the server has for its end, and the work of a page for its own."""


def refuse_missing() -> None:
    """Raises OptionError where the extra isn't installed."""
    if any(find_spec(name) is None for name in NEEDED):
        raise OptionError(MISSING)


@contextmanager
def listening(port: int) -> Iterator[socket.socket]:
    """A socket of this machine; ``port``: 0 for one that is free.

    Raises:
        OptionError: the port is in use.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as place:
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            place.bind((HERE, port))
            place.listen(64)
        except (OSError, OverflowError):
            raise OptionError(TAKEN.format(port)) from None
        yield place


@contextmanager
def serving(explorer: Explorer, place: socket.socket) -> Iterator[tuple[str, Callable[[], bool]]]:
    """The address with the token, and whether the server still runs; it ends with the block.

    Args:
        explorer: what the pages are about.
        place: where to listen.
    """
    import uvicorn

    from kanon_sql.explore.page import app_of

    token, port = secrets.token_urlsafe(32), int(place.getsockname()[1])
    config = uvicorn.Config(
        Guard(app_of(explorer), token, port), log_config=None, access_log=False, lifespan="on",
        timeout_graceful_shutdown=1, server_header=False, proxy_headers=False, ws_max_size=2**20,
    )
    server = uvicorn.Server(config)
    # a thread, so that Ctrl-C is heard by this one, and not by the loop
    thread = threading.Thread(
        target=server.run, kwargs={"sockets": [place]}, daemon=True, name="kanon explore server"
    )
    thread.start()
    try:
        while thread.is_alive() and not server.started:
            thread.join(0.02)
        yield f"http://{HERE}:{port}/?{PARAMETER}={token}", thread.is_alive
    finally:
        server.should_exit = True
        explorer.stop(LONGEST)
        thread.join(LONGEST)
