"""The dashboard behind its door: `python -m streamlit run dashboard/server.py`, as the launcher
starts it.

The door is ASGI middleware. It turns away what no page needs and what a guest may not send, before
Streamlit sees it: messages and requests can be made by hand, whatever pages show.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import AsyncGenerator, MutableMapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode, urlsplit

from google.protobuf.message import DecodeError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.starlette import App
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from dashboard import access, room
from dashboard.data import demo_pack
from dashboard.pages import PAGES
from dashboard.room import NEWS
from mucore import hosting
from mucore.errors import MucoreError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

APP: Final = Path(__file__).with_name("app.py")
# Addresses under _stcore that pages need. Among the others: figures of this process, which cost
# time to compute, and an interface for programs.
_NEEDED: Final = ("health", "host-config", "stream", "upload_file", "bidi-components")
# Messages of a browser that pages need. Among the others: one that empties the caches of all, and
# one that writes files.
_MESSAGES: Final = ("rerun_script", "stop_script", "app_heartbeat", "file_urls_request")
ELSEWHERE: Final = (
    "These pages are for this machine alone, and the name in your address is not one of its own. "
    "Use 127.0.0.1 or localhost. To let others in, or to put a proxy in front of the pages, start "
    "them with --audience, a login or --open: docs/hosting.md."
)
MOST_NAMES: Final = 120  # to vote under, for one address: a room behind a router has one
_named = Counter[str]()
_OPERATIONS: Final = ("deferred_file", "dataframe_chunk")  # of backend_operation_request
# No page of another site may show ours in a frame and let a visitor click in it unseen.
_HEADERS: Final = {
    "Content-Security-Policy": "frame-ancestors 'self'",
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
}


class Door:
    """Lets through to Streamlit what may pass."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        send = _guarded(send)
        if scope["type"] == "websocket":
            if _foreign(HTTPConnection(scope)):
                await receive()  # the request to connect
                await send({"type": "websocket.close", "code": 1008})
                return
            _taken_up(HTTPConnection(scope))
            receive, send = _sifted(receive), _without_place(send)
        elif scope["type"] == "http" and (answer := _answered(HTTPConnection(scope))):
            await answer(scope, receive, send)
            return
        elif scope["type"] == "http" and scope["path"] == NEWS:
            answer = await run_in_threadpool(_news, HTTPConnection(scope))
            await answer(scope, receive, send)
            return
        elif scope["type"] == "http" and _unnamed(HTTPConnection(scope)):
            send = _naming(send, HTTPConnection(scope))
        await self.app(scope, receive, send)


def _guarded(send: Send) -> Send:
    """Every response has the headers that tell a browser what others may do with it."""

    async def sent(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(_HEADERS)
        await send(message)

    return sent


def _foreign(connection: HTTPConnection) -> bool:
    """Whether a page of another site opened the connection. Streamlit would ask a host on the
    internet for this machine's address before it says no, whatever server address is set.
    """
    origin = connection.headers.get("origin")
    try:
        return origin is not None and urlsplit(origin).netloc != connection.headers.get("host")
    except ValueError:
        return True


def _answered(connection: HTTPConnection) -> Response | None:
    """What a request is answered with here; None where it may pass."""
    if not is_host_allowed(connection.headers.get("host")):  # Streamlit asks only websockets
        return PlainTextResponse(ELSEWHERE, status_code=403)
    if access.is_key(connection.query_params.get(hosting.PARAMETER, "")):
        return _taken_in(connection)
    path = str(connection.scope["path"])
    _, core, rest = path.partition("/_stcore/")
    if not core and path.endswith(f"/{PAGES[0].id}"):
        return _to_start(connection)
    if not core and access.has_room() and path.endswith(hosting.JOIN):
        return RedirectResponse("./lessons?follow=1", status_code=307)
    what, _, rest = rest.partition("/")
    if core and what not in _NEEDED:
        return PlainTextResponse("Nothing is served here.", status_code=403)
    if what == "upload_file" and not (
        access.presents(rest.partition("/")[0]) and access.keyed(connection.cookies)
    ):
        return PlainTextResponse(access.READS, status_code=403)
    return None


def _to_start(connection: HTTPConnection) -> Response:
    """Every page has its name as its address; to Streamlit the first one has none."""
    query = connection.url.query
    return RedirectResponse(f"./?{query}" if query else "./", status_code=307)


def _news(connection: HTTPConnection) -> Response:
    """Where the presenter is, to a reader's page that looks (assets/room.js): a run of the page for
    each look would cost a hundred times as much.
    """
    asked = connection.query_params
    try:
        place = room.news(
            asked.get("page", ""), asked.get("lesson", ""), follows=asked.get("follow") == "1"
        )
    except MucoreError:  # the page says so as soon as it is drawn
        return PlainTextResponse("", status_code=503)
    return PlainTextResponse(place, headers={"Cache-Control": "no-store"})


def _unnamed(connection: HTTPConnection) -> bool:
    """Whether a page goes to a browser that has no name to vote under yet, from where not too many
    have come for one.
    """
    path = str(connection.scope["path"])
    return (
        _named[_address(connection)] < MOST_NAMES
        and access.terms() == "audience"
        and "/_stcore/" not in path
        and "." not in path.rpartition("/")[2]  # a file that belongs to a page
        and not access.is_reader(connection.cookies.get(access.reader_cookie(), ""))
    )


def _address(connection: HTTPConnection) -> str:
    return connection.client.host if connection.client else ""


def _naming(send: Send, connection: HTTPConnection) -> Send:
    """Gives the browser its name, which no script reads. `Lax`: who comes back by a link keeps it,
    or they would vote twice.
    """

    _named[_address(connection)] += 1
    secure = connection.scope["scheme"] == "https"

    async def sent(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).append(
                "Set-Cookie",
                f"{access.reader_cookie()}={access.new_reader()}; Path=/; HttpOnly; SameSite=Lax"
                + ("; Secure" if secure else ""),
            )
        await send(message)

    return sent


def _taken_up(connection: HTTPConnection) -> None:
    """A connection may name a session to go on with, as a browser does that lost its own. Streamlit
    runs what a page left there before the page itself, so it is a guest's unless the key comes.
    """
    named = connection.headers.get("sec-websocket-protocol", "").split(",")
    if len(named) > 2 and not access.keyed(connection.cookies):
        access.put_away(named[2].strip())


def _taken_in(connection: HTTPConnection) -> Response:
    """The presenter's browser keeps the key as a cookie, which no script reads and which comes
    along when the page is loaded again; the address loses it.
    """
    others = [
        (name, value)
        for name, value in connection.query_params.multi_items()
        if name != hosting.PARAMETER
    ]
    # one slash alone: two would name another host
    path = "/" + quote(str(connection.scope["path"]).lstrip("/"))
    answer = RedirectResponse(f"{path}?{urlencode(others)}" if others else path, status_code=303)
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["Referrer-Policy"] = "no-referrer"
    answer.set_cookie(
        access.cookie(),
        connection.query_params[hosting.PARAMETER],
        httponly=True,
        samesite="strict",
        secure=connection.scope["scheme"] == "https",
    )
    return answer


def _sifted(receive: Receive) -> Receive:
    """Leaves out messages that no page sends."""

    async def sifted() -> Message:
        while True:
            message = await receive()
            if message["type"] != "websocket.receive" or _expected(message.get("bytes")):
                return message

    return sifted


def _without_place(send: Send) -> Send:
    """Streamlit tells each browser where on this machine its pages lie; they need not know."""
    place = str(APP).encode()

    async def sent(message: MutableMapping[str, Any]) -> None:
        if place in (message.get("bytes") or b""):
            told = ForwardMsg.FromString(message["bytes"])
            if told.WhichOneof("type") == "new_session":
                told.new_session.main_script_path = APP.name
                message = {**message, "bytes": told.SerializeToString()}
        await send(message)

    return sent


def _expected(content: bytes | None) -> bool:
    if content is None:  # Streamlit ends connections that send text
        return True
    message = BackMsg()
    try:
        message.ParseFromString(content)
    except DecodeError:
        return True  # Streamlit ends the connection
    kind = message.WhichOneof("type")
    if kind == "backend_operation_request":
        return message.backend_operation_request.WhichOneof("payload") in _OPERATIONS
    return kind in _MESSAGES


@asynccontextmanager
async def _lifespan(_: App) -> AsyncGenerator[None]:
    """The demo is opened while the first browser loads the pages' scripts."""
    threading.Thread(target=demo_pack, daemon=True).start()
    yield


access.stand_behind_door()
middleware: list[Any] = [Middleware(Door)]
app = App(APP, lifespan=_lifespan, middleware=middleware)
