"""A page of the application in the hands of a program instead of a browser, which tries a reader's
doors.

It speaks the protocol of Streamlit's own page. As a browser does, it keeps the address and the
elements, and says with every message what was set in fields before. It draws nothing, and draws no
part anew by itself.
"""

from __future__ import annotations

import asyncio
import http.cookiejar
import urllib.request
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

PATIENCE = 600.0  # seconds for anything at all
_TRIGGERS = ("trigger_value", "json_trigger_value")  # said once, where others are kept


@dataclass(frozen=True)
class Shown:
    """An element of the page; `part` is the id of what is drawn anew by itself, "" for the page."""

    part: str
    kind: str
    element: Any  # the message of that kind
    run: str


class Page:
    """A page as a browser keeps it."""

    def __init__(self, url: str, cookie: str, name: str, query: str = ""):
        self._headers = {"Origin": url, "Cookie": cookie}
        self._base = url
        self._url = url.replace("http", "ws", 1) + "/_stcore/stream"
        self.name, self.query = name, query
        self.shown: dict[tuple[int, ...], Shown] = {}
        self.drawn = asyncio.Condition()
        self.full_runs = 0
        self.part_runs: Counter[str] = Counter()
        self._set: dict[str, WidgetState] = {}
        self._run, self._hash = "", ""

    async def __aenter__(self) -> Page:
        await self._connect()
        await self.run()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._disconnect()

    async def run(self, *states: Mapping[str, Any], part: str = "") -> None:
        """Ask for the page, or a part of it, after fields were set or buttons pressed: by each of
        `states`, an id and a value under the protocol's name of its kind.
        """
        said = {**self._set}
        for state in states:
            made = WidgetState(id=state["id"])
            for name, value in state.items():
                if name == "double_array_value":
                    made.double_array_value.data.extend(value)
                elif name != "id":
                    setattr(made, name, value)
            said[made.id] = made
            if made.WhichOneof("value") not in _TRIGGERS:
                self._set[made.id] = made
        wish = BackMsg()
        if self._hash:  # as a browser does once it knows: a part that asks for its page has no name
            wish.rerun_script.page_script_hash = self._hash
        else:
            wish.rerun_script.page_name = self.name
        wish.rerun_script.query_string = self.query
        wish.rerun_script.fragment_id = part
        wish.rerun_script.widget_states.widgets.extend(said.values())
        await self._socket.send(wish.SerializeToString())

    async def press(self, label: str) -> None:
        """Press a button, and wait until the whole page was drawn that comes of it."""
        button = await self.until(lambda: self.find("button", label))
        before = self.full_runs
        await self.run({"id": button.element.id, "trigger_value": True})
        await self.until(lambda: self.full_runs > before)

    async def until(self, condition: Callable[[], Any], patience: float = PATIENCE) -> Any:
        """What `condition` gives as soon as that is something. Raises what ended the connection,
        and `TimeoutError`.
        """
        async with self.drawn:
            waiting = self.drawn.wait_for(lambda: self._listener.done() or condition())
            await asyncio.wait_for(waiting, patience)
        if self._listener.done():
            self._listener.result()
        return condition()

    def of_kind(self, kind: str) -> list[Shown]:
        return [one for one in self.shown.values() if one.kind == kind]

    def find(self, kind: str, label: str = "") -> Shown | None:
        """The element of that kind whose label begins so."""
        found = self.of_kind(kind)
        return next((one for one in found if one.element.label.startswith(label)), None)

    def forms(self) -> set[str]:
        """The ids of the forms that can be sent on this page."""
        buttons = [one.element for one in self.of_kind("button")]
        return {button.form_id for button in buttons if button.is_form_submitter}

    async def _connect(self) -> None:
        self._socket = await websockets.connect(
            self._url,
            subprotocols=[websockets.Subprotocol("streamlit")],
            additional_headers=self._headers,
            max_size=None,
            open_timeout=PATIENCE,
            ping_timeout=None,
        )
        self._listener = asyncio.create_task(self._listen())

    async def _disconnect(self) -> None:
        self._listener.cancel()
        await asyncio.gather(self._listener, return_exceptions=True)
        await self._socket.close()

    async def _listen(self) -> None:
        try:
            while True:
                message = ForwardMsg()
                content = await self._socket.recv()
                assert isinstance(content, bytes)
                message.ParseFromString(content)
                await self._take(message)
        finally:  # whoever waits for something hears that nothing more comes
            async with self.drawn:
                self.drawn.notify_all()

    async def _take(self, message: ForwardMsg) -> None:
        kind, parts = message.WhichOneof("type"), set(message.metadata.run.fragment_ids)
        if kind == "new_session":
            self._run = message.metadata.run.script_run_id
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            element = message.delta.new_element
            if element.HasField("exception"):
                raise RuntimeError(element.exception.message)
            what = str(element.WhichOneof("type"))
            self.shown[tuple(message.metadata.delta_path)] = Shown(
                message.delta.fragment_id, what, getattr(element, what), self._run
            )
        elif kind == "navigation":
            self._hash = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "script_finished":
            async with self.drawn:
                self._finish(message, parts)
                self.drawn.notify_all()

    def _finish(self, message: ForwardMsg, parts: set[str]) -> None:
        """What was not drawn again is gone, unless the run was broken off for another one."""
        run = message.metadata.run.script_run_id
        if message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            return
        self.shown = {
            path: one
            for path, one in self.shown.items()
            if one.run == run or (parts and one.part not in parts)
        }
        self.part_runs.update(parts)
        if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
            self.full_runs += 1
            ids = {getattr(one.element, "id", "") for one in self.shown.values()}
            self._set = {name: value for name, value in self._set.items() if name in ids}


def cookie_of(address: str) -> str:
    """What a browser keeps that opens a page."""
    jar = http.cookiejar.CookieJar()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    opener.open(address, timeout=PATIENCE).close()
    return "; ".join(f"{one.name}={one.value}" for one in jar)
