"""Who may ask the server: a browser on this machine that was given the token.

A page of another origin can reach a server on this machine, also under a name of its own that
leads here (DNS rebinding). So Host, Origin and token of each request and each websocket are checked
before anything else sees it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from secrets import compare_digest
from typing import Any
from urllib.parse import parse_qs

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

PARAMETER = "token"

POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; "
    "style-src 'self' 'unsafe-inline' blob:; img-src 'self' data:; font-src 'self' data:; "
    "connect-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""What the browser may ask for: this server only. A blob is made by the page itself."""

HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
]

ELSEWHERE = "This server answers only under the address that kanon explore prints."
NO_TOKEN = "The token is missing or wrong. Open the whole address that kanon explore prints."


class Guard:
    """Answers for an app where a request must not reach it."""

    def __init__(self, app: App, token: str, port: int) -> None:
        """
        Args:
            app: what is guarded.
            token: the token.
            port: of the server, since a cookie is sent to all ports of a machine.
        """
        self.app, self._token, self._cookie = app, token, f"kanon_explore_{port}"
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Passes a request on, or refuses it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = _headers(scope)
        host = headers.get("host", [])
        if len(host) != 1 or host[0].lower() not in self._hosts:
            await _refuse(scope, receive, send, 421, ELSEWHERE)
        elif any(each != f"http://{host[0].lower()}" for each in headers.get("origin", [])):
            await _refuse(scope, receive, send, 403, ELSEWHERE)
        elif self._has_cookie(headers.get("cookie", [])):
            await self.app(scope, receive, _with_headers(send))
        elif scope["type"] == "http" and scope["path"] == "/" and self._in_address(scope):
            await _begin(send, f"{self._cookie}={self._token}; HttpOnly; SameSite=Strict; Path=/")
        else:
            await _refuse(scope, receive, send, 403, NO_TOKEN)

    def _has_cookie(self, cookies: list[str]) -> bool:
        for text in cookies:
            try:
                found = SimpleCookie(text).get(self._cookie)
            except CookieError:
                continue
            if found is not None and self._is_token(found.value):
                return True
        return False

    def _in_address(self, scope: Message) -> bool:
        asked = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        return any(map(self._is_token, asked.get(PARAMETER, [])))

    def _is_token(self, text: str) -> bool:
        return compare_digest(text.encode("utf-8", "replace"), self._token.encode())


def _headers(scope: Message) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *HEADERS]
        await send(message)

    return sent


async def _begin(send: Send, cookie: str) -> None:
    """Takes the token out of the address, so that no history keeps it."""
    await send({
        "type": "http.response.start", "status": 303,
        "headers": [(b"location", b"/"), (b"set-cookie", cookie.encode()),
                    (b"cache-control", b"no-store"), *HEADERS],
    })
    await send({"type": "http.response.body", "body": b""})


async def _refuse(scope: Message, receive: Receive, send: Send, status: int, said: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    await send({
        "type": "http.response.start", "status": status,
        "headers": [(b"content-type", b"text/plain; charset=utf-8"), *HEADERS],
    })
    await send({"type": "http.response.body", "body": f"{said}\n".encode()})
