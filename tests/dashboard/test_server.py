"""The door before the pages: what it turns away before Streamlit sees it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from streamlit import config, net_util
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.web.server import server_util

from dashboard import access, room, server
from dashboard.pages import PAGES
from mucore import hosting
from mucore.store import open_store

KEY = "k" * 43
HOST = "192.0.2.7:8501"


@pytest.fixture(autouse=True)
def audience(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(access, "_server", access._Server("audience", KEY, behind_door=True))
    allowed = config.get_option("server.allowedHosts")
    config.set_option("server.allowedHosts", ["*"])  # as the launcher says where others may come
    yield
    config.set_option("server.allowedHosts", allowed)


class Inside:
    """In Streamlit's place: what it is asked, and what it would receive; `says` to a browser."""

    def __init__(self, *says: bytes) -> None:
        self.asked: list[str] = []
        self.received: list[Any] = []
        self.says = says

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.asked.append(scope["path"])
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
        if scope["type"] == "websocket":
            for content in self.says:
                await send({"type": "websocket.send", "bytes": content})
            while (message := await receive())["type"] != "websocket.disconnect":
                self.received.append(message.get("bytes"))


def ask(
    path: str,
    *,
    kind: str = "http",
    headers: dict[str, str] | None = None,
    query: str = "",
    messages: list[Any] | None = None,
    says: tuple[bytes, ...] = (),
) -> tuple[Inside, list[Any]]:
    """What comes of a request: what got inside, and what was answered."""
    return asyncio.run(request(path, kind, headers or {}, query, messages or [], says))


async def request(
    path: str,
    kind: str = "http",
    headers: Mapping[str, str] = {},
    query: str = "",
    messages: Sequence[Any] = (),
    says: tuple[bytes, ...] = (),
) -> tuple[Inside, list[Any]]:
    inside, sent = Inside(*says), []
    incoming = iter([*messages, {"type": f"{kind}.disconnect"}])

    async def receive() -> Any:
        return next(incoming)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": kind,
        "method": "GET",
        "scheme": "http",
        "path": path,
        "query_string": query.encode(),
        "headers": [
            (name.encode(), value.encode("latin-1"))
            for name, value in {"host": HOST, **headers}.items()
        ],
    }
    await server.Door(inside)(scope, receive, send)
    return inside, sent


def connect(
    origin: str | None, *messages: bytes, headers: dict[str, str] | None = None
) -> tuple[Inside, list[Any]]:
    incoming = [{"type": "websocket.receive", "bytes": content} for content in messages]
    if origin is not None and origin != f"http://{HOST}":
        incoming = [{"type": "websocket.connect"}, *incoming]
    headers = (headers or {}) | ({} if origin is None else {"origin": origin})
    return ask("/_stcore/stream", kind="websocket", headers=headers, messages=incoming)


FOREIGN = [
    "https://evil.example",
    "http://evil.example:8501",
    "http://192.0.2.7",
    "http://192.0.2.7:8502",
    f"http://{HOST}.evil.example",
    f"http://evil@{HOST}",
    "null",
    "",
    "http://[",
]


@pytest.mark.parametrize("origin", FOREIGN)
def test_pages_of_other_sites_are_turned_away_and_nobody_is_asked(origin, monkeypatch):
    asked: list[str] = []

    def ask_outside(url: str, timeout: float = 5) -> None:
        asked.append(url)

    monkeypatch.setattr(net_util, "_external_ip", None)
    monkeypatch.setattr(net_util, "_make_blocking_http_get", ask_outside)
    inside, sent = connect(origin)
    assert inside.asked == [] and [one["type"] for one in sent] == ["websocket.close"]
    assert asked == []
    # what Streamlit would have done with it
    assert not server_util.is_url_from_allowed_origins("https://evil.example")
    assert asked


@pytest.mark.parametrize("origin", [f"http://{HOST}", f"https://{HOST}", None])
def test_pages_of_this_server_and_programs_get_in(origin):
    inside, sent = connect(origin)
    assert inside.asked == ["/_stcore/stream"] and sent == []


def back(**fields: Any) -> bytes:
    message = BackMsg()
    for name, value in fields.items():
        part = getattr(message, name)
        if isinstance(value, bool):
            setattr(message, name, value)
        else:
            part.SetInParent()
            for one in value:
                getattr(part, one).SetInParent()
    return message.SerializeToString()


NEEDED = {
    "rerun": back(rerun_script=[]),
    "stop": back(stop_script=True),
    "heartbeat": back(app_heartbeat=True),
    "urls": back(file_urls_request=[]),
    "rows": back(backend_operation_request=["dataframe_chunk"]),
    "a file": back(backend_operation_request=["deferred_file"]),
}
UNNEEDED = {
    "empty everybody's caches": back(clear_cache=True),
    "run on save": back(set_run_on_save=True),
    "git": back(load_git_info=True),
    "disconnect": back(debug_disconnect_websocket=True),
    "shut down": back(debug_shutdown_runtime=True),
    "write files": back(backend_operation_request=["install_skills"]),
    "nothing": b"",
}


def test_the_lists_know_every_message_of_streamlit():
    """A message that a new version brings is looked at before it gets through."""
    kinds = {one.name for one in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields}
    known = {
        BackMsg.FromString(one).WhichOneof("type") for one in [*NEEDED.values(), *UNNEEDED.values()]
    }
    assert known - {None} == kinds


def test_messages_that_pages_send_get_in_and_no_others():
    """What is no message is left to Streamlit, which ends the connection."""
    for sent in (*NEEDED.values(), b"\xff\xff"):
        assert connect(None, sent)[0].received == [sent]
    rerun = NEEDED["rerun"]
    for what, sent in UNNEEDED.items():
        assert connect(None, sent, rerun)[0].received == [rerun], what


def uploaded(session: str, key: str = KEY) -> tuple[Inside, list[Any]]:
    return ask(
        f"/_stcore/upload_file/{session}/file", headers={"cookie": f"{access.cookie()}={key}"}
    )


def test_uploads_are_the_presenters():
    access._server.presenters.add("mine")
    assert uploaded("mine")[0].asked
    for session, key in [*((one, KEY) for one in ("other", "", "mine2", "MINE")), ("mine", "")]:
        inside, sent = uploaded(session, key)
        assert inside.asked == [] and sent[0]["status"] == 403


@pytest.mark.parametrize(("key", "presents"), [(KEY, True), ("", False), ("k" * 42, False)])
def test_a_session_that_is_taken_up_again_is_the_presenters_by_the_key_alone(key, presents):
    access._server.presenters.update(("mine", "another"))
    cookie = f"{access.cookie()}={key}"
    connect(None, headers={"sec-websocket-protocol": "streamlit, x, mine", "cookie": cookie})
    assert access.presents("mine") == presents and access.presents("another")


def test_browsers_are_not_told_where_the_pages_lie():
    started, page = ForwardMsg(), ForwardMsg()
    started.new_session.main_script_path = str(server.APP)
    started.new_session.name = "app"
    page.delta.new_element.markdown.body = f"A page may say {server.APP}, to the presenter."
    _, sent = ask(
        "/_stcore/stream",
        kind="websocket",
        says=(started.SerializeToString(), page.SerializeToString()),
    )
    told = [ForwardMsg.FromString(one["bytes"]) for one in sent]
    assert told[0].new_session.name == "app" and told[1] == page
    assert str(server.APP.parent).encode() not in sent[0]["bytes"]


def test_what_pages_need_is_served_and_what_no_page_needs_is_not():
    for path in ("health", "host-config", "bidi-components/x/y.js"):
        assert ask(f"/_stcore/{path}")[0].asked
    for path in ("metrics", "script-health-check", "agent/interact", "", "new"):
        inside, sent = ask(f"/_stcore/{path}")
        assert inside.asked == [] and sent[0]["status"] == 403, path


def test_no_answer_may_be_framed_by_another_site(home):
    paths = [f"/{page.id}" for page in PAGES] + ["/", "/static/x.js", "/media/x", room.NEWS]
    paths += [f"/_stcore/{name}" for name in ("health", "metrics", "x")]
    for path in paths:
        (start,) = (each for each in ask(path)[1] if each["type"] == "http.response.start")
        headers = {name.lower(): value for name, value in start["headers"]}
        assert headers[b"content-security-policy"] == b"frame-ancestors 'self'", path
        assert headers[b"x-frame-options"] == b"SAMEORIGIN", path
        assert headers[b"x-content-type-options"] == b"nosniff", path
    assert config.get_option("client.allowedOrigins") == []  # who may post messages into a page


@pytest.mark.parametrize(
    ("query", "place"), [("", "./"), ("methods=ssd&methods=scrub", "./?methods=ssd&methods=scrub")]
)
def test_start_is_found_by_its_name_too(query, place):
    inside, sent = ask("/start", query=query)
    assert inside.asked == [] and sent[0]["status"] == 307
    assert dict(sent[0]["headers"])[b"location"] == place.encode()
    assert ask("/results")[0].asked == ["/results"]


def test_a_short_address_leads_a_room_to_the_lesson_that_is_held():
    inside, sent = ask("/b/j")
    assert inside.asked == [] and sent[0]["status"] == 307
    assert dict(sent[0]["headers"])[b"location"] == b"./lessons?follow=1"


def test_the_presenters_key_becomes_a_cookie_and_leaves_the_address():
    inside, sent = ask("/queue", query=f"a=1&{hosting.PARAMETER}={KEY}&b=%26&a=2")
    headers = dict(sent[0]["headers"])
    assert inside.asked == [] and sent[0]["status"] == 303
    assert headers[b"location"] == b"/queue?a=1&b=%26&a=2"
    name, _, rest = headers[b"set-cookie"].decode().partition("=")
    marks = {part.strip().lower() for part in rest.split(";")[1:]}
    assert name == access.cookie() and rest.startswith(f"{KEY};")
    assert {"httponly", "samesite=strict"} <= marks and headers[b"cache-control"] == b"no-store"


@pytest.mark.parametrize("path", ["//evil.example/x", "/\\evil.example"])
def test_the_key_leads_nobody_to_another_site(path):
    _, sent = ask(path, query=f"{hosting.PARAMETER}={KEY}")
    location = dict(sent[0]["headers"])[b"location"].decode()
    assert location[0] == "/" and location[1] not in "/\\"


@pytest.mark.parametrize("key", ["", "k" * 42, "k" * 44, "K" * 43, "%00", "%F0%9F%98%80", "%ff"])
def test_a_wrong_key_is_none(key):
    inside, sent = ask("/", query=f"{hosting.PARAMETER}={key}")
    assert inside.asked == ["/"] and [each["status"] for each in sent] == [200]


OWN_NAMES = ["localhost", "127.0.0.1", "::1"]  # as the launcher says them without a word on others


def test_names_of_this_machine_are_served_and_no_others():
    """Such as one that a foreign site made point here."""
    assert ask("/", headers={"host": "a b"})[0].asked == ["/"]  # where all names are allowed
    config.set_option("server.allowedHosts", OWN_NAMES)
    for host in ("localhost:8501", "127.0.0.1:8501", "[::1]:8501", "LOCALHOST"):
        assert ask("/", headers={"host": host})[0].asked == ["/"], host
    for host in ("evil.example:8501", "localhost.evil.example", HOST, "", "["):
        inside, sent = ask("/", headers={"host": host}, query=f"{hosting.PARAMETER}={KEY}")
        assert inside.asked == [] and sent[0]["status"] == 403, host


def test_who_sits_at_this_machine_uploads_and_no_key_is_known(monkeypatch):
    monkeypatch.setattr(access, "_server", access._Server("own", "", behind_door=True))
    assert uploaded("any")[0].asked
    inside, _ = ask("/", query=f"{hosting.PARAMETER}=")
    assert inside.asked


def given(path: str, cookie: str = "", scheme: str = "http") -> str:
    """The cookie that a browser gets with a page."""
    sent: list[Any] = []

    async def inside(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive() -> Any:
        raise AssertionError("a page has no body to read")

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", HOST.encode()), (b"cookie", cookie.encode("latin-1"))]
    scope = {"type": "http", "method": "GET", "scheme": scheme, "path": path, "query_string": b""}
    asyncio.run(server.Door(inside)({**scope, "headers": headers}, receive, send))
    return dict(sent[0]["headers"]).get(b"set-cookie", b"").decode()


def test_a_readers_browser_gets_a_name_once():
    first = given("/lessons")
    name, _, rest = first.partition("=")
    value = rest.partition(";")[0]
    marks = {part.strip().lower() for part in rest.split(";")[1:]}
    assert name == access.reader_cookie() and access.is_reader(value)
    assert {"httponly", "samesite=lax", "path=/"} == marks
    assert "secure" in given("/", scheme="https").lower()
    assert given("/lessons", f"{name}={value}") == ""
    assert access.is_reader(given("/", f"{name}={value}x").partition("=")[2].partition(";")[0])
    assert given("/lessons") != first


def test_one_address_gets_so_many_names(monkeypatch):
    monkeypatch.setattr(server, "_named", Counter({"": server.MOST_NAMES - 1}))
    assert given("/") and not given("/")


def test_only_pages_give_a_name_and_only_where_an_audience_votes_by_browser(monkeypatch):
    for path in ("/_stcore/health", "/static/js/index.abc.js", "/a/_stcore/stream"):
        assert given(path) == "", path
    config.set_option("server.allowedHosts", [HOST.partition(":")[0]])
    for terms in ("own", "open", "login"):
        monkeypatch.setattr(access, "_server", access._Server(terms, "", behind_door=True))
        assert given("/") == "", terms


def test_a_readers_page_hears_where_the_presenter_is_and_nobody_else_does(home):
    with open_store(home) as store:
        store.hold_talk(access.room(), "forget-one-class", 3)
        store.reveal_votes(access.room(), "2")
    page = room.arrive()
    for query, told in (
        (f"page={page}&lesson=&follow=1", b"forget-one-class:3:own:2"),
        (f"page={page}&lesson=forget-one-class&follow=", b"forget-one-class:2"),
        (f"page={page}&lesson=backdoor&follow=", b"forget-one-class"),
        ("page=another&lesson=&follow=1", b""),
        ("", b""),
    ):
        inside, (head, body) = ask(room.NEWS, query=query)
        assert inside.asked == [] and (head["status"], body["body"]) == (200, told)
