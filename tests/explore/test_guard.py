"""Nothing reaches the page without the token, under another name, or from another origin."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.explore.guard import Guard, Message, Receive, Send

TOKEN, PORT = "s3cret-token", 8123
HOST = ("host", f"127.0.0.1:{PORT}")
COOKIE = ("cookie", f"kanon_explore_{PORT}={TOKEN}")


def asked(
    headers: list[tuple[str, str]], kind: str = "http", path: str = "/", query: str = ""
) -> tuple[bool, list[dict[str, Any]]]:
    """Whether a request reached the app, and what was sent."""
    reached, sent = [], list[Any]()

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        reached.append(scope)
        if kind == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(dict(message))

    scope = {
        "type": kind, "path": path, "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in headers],
    }
    asyncio.run(Guard(app, TOKEN, PORT)(scope, receive, send))
    return bool(reached), sent


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_the_cookie_opens_the_page(kind: str) -> None:
    origin = ("origin", f"http://127.0.0.1:{PORT}")
    for more in ([], [origin]):
        reached, sent = asked([HOST, COOKIE, *more], kind, "/any")
        assert reached
        if kind == "http":
            names = {name for name, _ in sent[0]["headers"]}
            assert b"content-security-policy" in names and b"referrer-policy" in names


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize("headers", [
    [HOST],
    [HOST, ("cookie", f"kanon_explore_{PORT}=other")],
    [HOST, ("cookie", f"kanon_explore_{PORT + 1}={TOKEN}")],
    [HOST, ("cookie", f"kanon_explore_{PORT}")],
    [COOKIE],
    [HOST, HOST, COOKIE],
    [("host", "evil.example"), COOKIE],
    [("host", f"evil.example:{PORT}"), COOKIE],
    [("host", f"127.0.0.1.evil.example:{PORT}"), COOKIE],
    [("host", f"127.0.0.1:{PORT + 1}"), COOKIE],
    [("host", "127.0.0.1"), COOKIE],
    [HOST, COOKIE, ("origin", "http://evil.example")],
    [HOST, COOKIE, ("origin", "null")],
    [HOST, COOKIE, ("origin", f"http://127.0.0.1:{PORT + 1}")],
    [HOST, COOKIE, ("origin", f"https://127.0.0.1:{PORT}")],
    [HOST, COOKIE, ("origin", f"http://localhost:{PORT}")],
], ids=str)
def test_all_else_is_refused(headers: list[tuple[str, str]], kind: str) -> None:
    reached, sent = asked(headers, kind, "/_nicegui_ws/socket.io")
    assert not reached
    assert TOKEN not in str(sent)
    if kind == "http":
        assert sent[0]["status"] in (403, 421)
    else:
        assert sent == [{"type": "websocket.close", "code": 1008}]


def test_the_address_gives_the_cookie_and_leaves_the_token_out_of_what_follows() -> None:
    reached, sent = asked([HOST], query=f"token={TOKEN}")
    assert not reached
    headers = dict(sent[0]["headers"])
    assert (sent[0]["status"], headers[b"location"]) == (303, b"/")
    cookie = headers[b"set-cookie"].decode()
    assert cookie.startswith(f"{COOKIE[1]};") and "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie


def test_the_token_in_another_address_opens_nothing() -> None:
    for kind, path in (("http", "/other"), ("websocket", "/")):
        assert asked([HOST], kind, path, f"token={TOKEN}")[1][0].get("status", 403) == 403


@given(st.text(max_size=30).filter(lambda text: text != TOKEN))
def test_no_other_token_is_taken(text: str) -> None:
    quoted = text.encode("utf-8", "replace").decode("latin-1")
    reached, sent = asked([HOST], query=f"token={quoted}".replace("&", "%26"))
    assert not reached and sent[0]["status"] == 403
