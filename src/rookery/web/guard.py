"""Who may call: the right host, the right origin, the token where one is needed, and no body that is too large.

A page elsewhere must not be able to use this server through the visitor's browser. So the `Host` must be ours (a name
that an attacker points at this machine is not), a foreign `Origin` is refused, and what changes something must be JSON,
which a browser does not send to another site without asking first.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY = 256 * 1024
BODY_SECONDS = 20.0
"""A body that is not complete by then is given up."""
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
COOKIE = "rookery_token"

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True)
class Guard:
    """ASGI middleware. Without a token only loopback names are served."""

    app: ASGIApp
    token: str | None = None
    hosts: frozenset[str] = LOOPBACK

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        response = self._refusal(scope, headers) or self._sign_in(scope, headers)
        if response is not None:
            await response(scope, receive, _with_headers(send))
            return
        await self.app(scope, _limited(receive), _with_headers(send))

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        host = headers.get("host", "")
        name = _host_name(host)
        if name is None or not (name in self.hosts or (self.token and _is_address(name))):
            return refuse(421, "this server answers to its own address only, not to the Host that was asked for")
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in (f"http://{host.lower()}", f"https://{host.lower()}"):
            return refuse(403, "requests from other sites are not answered")
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and scope["path"].startswith("/api"):
            return refuse(403, "requests from other sites are not answered")
        if scope["method"] not in ("GET", "HEAD"):
            if not headers.get("content-type", "").lower().startswith("application/json"):
                return refuse(415, "the body must be application/json")
            length = headers.get("content-length", "0")
            if not length.isdigit() or int(length) > MAX_BODY:
                return refuse(413, f"the body may have at most {MAX_BODY} bytes")
        return None

    def _sign_in(self, scope: Scope, headers: Headers) -> Response | None:
        """Nothing to do without a token; with one, `?token=` once sets the cookie that later requests carry."""
        if self.token is None:
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if given and scope["method"] == "GET" and _same(given, self.token):
            response = RedirectResponse(scope["path"], 303)
            response.set_cookie(COOKIE, self.token, httponly=True, samesite="strict", max_age=30 * 86400)
            return response
        if not any(_same(value, self.token) for value in cookies(headers, COOKIE)):
            return refuse(401, "open the address that `rookery serve` printed: it carries the token")
        return None


def cookies(headers: Headers, name: str) -> list[str]:
    """The values of all cookies with a name. Other programs on this machine, at other ports, share the header and may
    write into it what they like.

    >>> cookies(Headers({"cookie": 'odd[]="{; a=1; b=2;;a=3'}), "a")
    ['1', '3']
    """
    pairs = (part.strip().partition("=") for line in headers.getlist("cookie") for part in line.split(";"))
    return [value.strip('"') for key, _, value in pairs if key == name]


def refuse(code: int, sentence: str) -> Response:
    return JSONResponse({"error": sentence}, code)


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(), token.encode())


def _host_name(host: str) -> str | None:
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port  # raises where it is no number
    except ValueError:
        return None
    if parts.path or parts.query or parts.username is not None:
        return None
    return parts.hostname


def _is_address(name: str) -> bool:
    """A number, not a name that could be made to point anywhere."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class TooLarge(HTTPException):
    """The body went on beyond the limit."""

    def __init__(self) -> None:
        super().__init__(413, "the body is too large")


class TooSlow(HTTPException):
    """The body did not come."""

    def __init__(self) -> None:
        super().__init__(408, f"the body did not come within {BODY_SECONDS:g} seconds", {"connection": "close"})


def _limited(receive: Receive) -> Receive:
    """Bodies that come in pieces do not say how long they are, and may never end."""
    total = 0
    complete = False
    end = asyncio.get_running_loop().time() + BODY_SECONDS

    async def limited() -> Message:
        nonlocal total, complete
        if complete:
            return await receive()
        try:
            async with asyncio.timeout_at(end):
                message = await receive()
        except TimeoutError:
            raise TooSlow from None
        complete = not message.get("more_body", False)
        total += len(message.get("body", b""))
        if total > MAX_BODY:
            raise TooLarge
        return message

    return limited


def _with_headers(send: Send) -> Send:
    async def wrapped(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("content-security-policy", PAGE_POLICY)
            headers.setdefault("cache-control", "no-store")
            headers["x-content-type-options"] = "nosniff"
            headers["referrer-policy"] = "no-referrer"
            headers["cross-origin-opener-policy"] = "same-origin"
            headers["cross-origin-resource-policy"] = "same-origin"
        await send(message)

    return wrapped
