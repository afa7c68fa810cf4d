"""Rehearse a class: a lesson from beginning to end, before readers who follow and vote.

    python scripts/bench_class.py              a table on the screen
    python scripts/bench_class.py --write      and into docs/benchmarks.md, under its own heading
    python scripts/bench_class.py --readers 60

The real application serves the demo to an audience. Presenter and readers are programs that speak
the protocol of Streamlit's web page: they press the page's own buttons by their labels, keep its
address, and draw parts of it anew when the page asks for that. What a browser takes to draw is not
in it. It ends with an error where a vote was lost or counted twice. The machine should do nothing
else.
"""

from __future__ import annotations

import argparse
import asyncio
import http.cookiejar
import random
import signal
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import sqlalchemy as sa
import websockets
from bench_guests import row, start
from docs_text import table
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from dashboard.lessons import LESSONS
from dashboard.lessons.ballots import ballots
from mucore.bench.page import PAGE, machine, put_section, say
from mucore.store import Store, open_store, schema

HEAD = "## A class that votes"
LESSON = LESSONS["forget-one-class"]
GOAL = 3.0  # seconds that a click of the presenter may take
PATIENCE = 600.0  # seconds for anything at all
THINKS = (1.0, 8.0)  # seconds that a reader thinks before voting, at least and at most
ARRIVE = 0.5  # seconds from one reader's arrival to the next one's
READS = 4.0  # seconds that the presenter speaks on a step
SEED = 0


@dataclass
class Waits:
    """Seconds, each from a press to the last message of what came of it."""

    clicks: list[float] = field(default_factory=list)
    votes: list[float] = field(default_factory=list)
    follows: list[float] = field(default_factory=list)


class Page:
    """A page as a browser keeps it: its address, its elements, and what it draws anew by itself."""

    def __init__(self, url: str, cookie: str, name: str, query: str):
        self._headers = {"Origin": url, "Cookie": cookie}
        self._url = url.replace("http", "ws", 1) + "/_stcore/stream"
        self.name, self.query = name, query
        self.elements: dict[tuple[int, ...], tuple[str, Any]] = {}  # fragment, element
        self._timers: dict[str, asyncio.Task[None]] = {}
        self.drawn = asyncio.Condition()
        self.full_runs = 0
        self.part_runs: Counter[str] = Counter()  # by fragment
        self.finished = 0.0  # the last whole run

    async def __aenter__(self) -> Page:
        self._socket = await websockets.connect(
            self._url,
            subprotocols=[websockets.Subprotocol("streamlit")],
            additional_headers=self._headers,
            max_size=None,
            open_timeout=PATIENCE,
            ping_timeout=None,
        )
        self._listener = asyncio.create_task(self._listen())
        await self.run()
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in (self._listener, *self._timers.values()):
            task.cancel()
        await self._socket.close()

    async def run(
        self, *states: Mapping[str, Any], fragment: str = "", by_itself: bool = False
    ) -> None:
        wish = BackMsg()
        wish.rerun_script.page_name = self.name
        wish.rerun_script.query_string = self.query
        wish.rerun_script.fragment_id = fragment
        wish.rerun_script.is_auto_rerun = by_itself
        for state in states:
            widget = wish.rerun_script.widget_states.widgets.add()
            for name, value in state.items():
                if name == "double_array_value":
                    widget.double_array_value.data.extend(value)
                else:
                    setattr(widget, name, value)
        await self._socket.send(wish.SerializeToString())

    async def until(self, condition: Callable[[], Any]) -> Any:
        """What `condition` gives as soon as that is something. Raises what ended the connection."""
        async with self.drawn:
            waiting = self.drawn.wait_for(lambda: self._listener.done() or condition())
            await asyncio.wait_for(waiting, PATIENCE)
        if self._listener.done():
            self._listener.result()
        return condition()

    def find(self, kind: str, label: str = "") -> tuple[str, Any] | None:
        """The fragment and the element of that kind whose label begins so."""
        for fragment, element in self.elements.values():
            if element.WhichOneof("type") == kind:
                found = getattr(element, kind)
                if found.label.startswith(label):
                    return fragment, found
        return None

    def step(self) -> int | None:
        """The step of the lesson that the page shows, None on another page."""
        heads = [
            element.heading.body.partition(" · ")[0]
            for _, element in self.elements.values()
            if element.WhichOneof("type") == "heading"
        ]
        return next((int(head) for head in heads if head.isdigit()), None)

    def forms(self) -> set[str]:
        """The ids of the votes that can be sent on this page."""
        return {
            element.button.form_id
            for _, element in self.elements.values()
            if element.WhichOneof("type") == "button" and element.button.is_form_submitter
        }

    def says(self, text: str, part: str | None = None) -> bool:
        """Whether the page, or a part of it that is drawn anew by itself, has these words."""
        return any(
            text in element.markdown.body
            for fragment, element in self.elements.values()
            if part in (None, fragment)
        )

    async def press(self, label: str) -> float:
        """Seconds until the whole page was drawn that came of pressing a button."""
        _, button = await self.until(lambda: self.find("button", label))
        before, began = self.full_runs, time.perf_counter()
        await self.run({"id": button.id, "trigger_value": True})
        await self.until(lambda: self.full_runs > before)
        return time.perf_counter() - began

    async def _listen(self) -> None:
        while True:
            message = ForwardMsg()
            content = await self._socket.recv()
            assert isinstance(content, bytes)
            message.ParseFromString(content)
            kind = message.WhichOneof("type")
            if kind == "new_session" and not message.metadata.run.fragment_ids:
                self.elements.clear()
                for timer in self._timers.values():
                    timer.cancel()
                self._timers.clear()
            elif kind == "delta":
                element = message.delta.new_element
                if element.HasField("exception"):
                    raise RuntimeError(element.exception.message)
                path = tuple(message.metadata.delta_path)
                self.elements[path] = message.delta.fragment_id, element
            elif kind == "page_info_changed":
                self.query = message.page_info_changed.query_string
            elif kind == "auto_rerun":
                which = message.auto_rerun.fragment_id
                if (old := self._timers.pop(which, None)) is not None:
                    old.cancel()
                again = self._again(which, message.auto_rerun.interval)
                self._timers[which] = asyncio.create_task(again)
            elif kind == "script_finished":
                async with self.drawn:
                    self.part_runs.update(message.metadata.run.fragment_ids)
                    if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                        self.full_runs += 1
                        self.finished = time.perf_counter()
                    self.drawn.notify_all()

    async def _again(self, fragment: str, interval: float) -> None:
        while True:
            await asyncio.sleep(interval)
            await self.run(fragment=fragment, by_itself=True)


@dataclass
class Class:
    """What was measured, and since when the presenter is where."""

    waits: Waits = field(default_factory=Waits)
    moved: dict[int, float] = field(default_factory=dict)  # step: when the presenter pressed


async def read(url: str, number: int, lesson: Class) -> None:
    """A reader who came by the code, until cancelled."""
    generator = random.Random(f"{SEED} reader {number}")
    await asyncio.sleep(ARRIVE * number)
    cookie = await asyncio.to_thread(cookie_of, f"{url}/lessons")
    seen: set[int] = set()
    answered: set[str] = set()
    async with Page(url, cookie, "lessons", "follow=1") as page:
        while True:
            await page.until(lambda: page.step() not in (None, *seen) or page.forms() - answered)
            step = page.step()
            if step is not None and step not in seen:
                seen.add(step)
                if step in lesson.moved:
                    lesson.waits.follows.append(page.finished - lesson.moved[step])
            for form in sorted(page.forms() - answered):
                await asyncio.sleep(generator.uniform(*THINKS))
                lesson.waits.votes.append(await vote(page, form, generator))
                answered.add(form)


async def vote(page: Page, form: str, generator: random.Random) -> float:
    """Seconds from the press to the word that the vote was counted."""
    ballot = ballots(LESSON)[form.rpartition(":")[2]]
    choice = generator.choice(list(ballot.options) or [str(number) for number in range(101)])
    states: list[Mapping[str, Any]] = []
    where = ""
    for fragment, element in page.elements.values():
        kind = element.WhichOneof("type")
        if kind in ("button", "slider", "radio") and getattr(element, kind).form_id == form:
            where = fragment
            name, value = {
                "button": ("trigger_value", True),
                "slider": ("double_array_value", [float(choice) if not ballot.options else 0.0]),
                "radio": ("string_value", ballot.options.get(choice, "")),
            }[kind]
            states.append({"id": getattr(element, kind).id, name: value})
    began = time.perf_counter()
    await page.run(*states, fragment=where)
    await page.until(lambda: page.says("You said", where))
    return time.perf_counter() - began


async def present(url: str, cookie: str, store: Store, readers: int) -> Class:
    """The whole lesson. Raises `SystemExit` where votes do not come out even."""
    lesson = Class()
    async with Page(url, cookie, "lessons", f"lesson={LESSON.id}&step=1") as page:
        await page.until(lambda: page.step() == 1)
        await page.press("Hold this lesson")
        tasks = [asyncio.create_task(read(url, number, lesson)) for number in range(readers)]
        await page.until(lambda: page.says(f"{readers} readers here"))
        for step in range(1, LESSON.length + 1):
            if step > 1:
                lesson.moved[step] = time.perf_counter()
                lesson.waits.clicks.append(await page.press("Next"))
            await asyncio.sleep(READS)
            names = [str(step)] if step < LESSON.length else ["check 1", "check 2"]
            for name in names:
                if name in ballots(LESSON):
                    await page.until(partial(_all_voted, store, name, readers))
                    lesson.waits.clicks.append(await page.press("Reveal"))
            say(f"step {step}: {votes(store)}, {len(lesson.waits.clicks)} clicks")
            ended = [task for task in tasks if task.done()]
            for task in ended:
                task.result()  # raises what ended it
        if votes(store) != (dict.fromkeys(ballots(LESSON), readers) if readers else {}):
            raise SystemExit(f"Votes were lost or counted twice: {votes(store)}.")
        lesson.waits.clicks.append(await page.press("End it"))
        for task in tasks:
            task.cancel()
    if votes(store):
        raise SystemExit(f"Votes outlived the lesson: {votes(store)}.")
    return lesson


def _all_voted(store: Store, question: str, readers: int) -> bool:
    return votes(store).get(question, 0) == readers


def votes(store: Store) -> dict[str, int]:
    """How many voted, by question."""
    query = sa.select(schema.vote.c.question, sa.func.count()).group_by(schema.vote.c.question)
    with store.read() as connection:
        return {question: int(count) for question, count in connection.execute(query)}


def cookie_of(address: str) -> str:
    """What a browser keeps that opens a page."""
    jar = http.cookiejar.CookieJar()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    opener.open(address, timeout=PATIENCE).close()
    return "; ".join(f"{one.name}={one.value}" for one in jar)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--readers", type=int, default=30)
    parser.add_argument("--write", action="store_true", help="into docs/benchmarks.md")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mucore-class-") as folder:
        home = Path(folder) / "home"
        app, url, cookie = start(home)
        try:
            with open_store(home) as store:
                alone = asyncio.run(present(url, cookie, store, 0))
                beside = asyncio.run(present(url, cookie, store, given.readers))
        finally:
            app.send_signal(signal.SIGINT)
            app.wait()
    clicks = beside.waits.clicks
    rows = [
        row("a click of the presenter, alone", alone.waits.clicks),
        row(f"a click of the presenter, beside {given.readers} readers", clicks),
        row("a reader's vote, until it is said to be counted", beside.waits.votes),
        row("the presenter's next step, until it stands on a reader's page", beside.waits.follows),
    ]
    figures = table(["what", "times", "min, s", "median, s", "max, s"], rows)
    facts = ", ".join(f"{name} {value}" for name, value in machine("cpu").items())
    kept = "kept" if max(clicks) <= GOAL else "**not kept**"
    text = (
        f"{HEAD}\n\nWritten by `python scripts/bench_class.py --write`: the lesson "
        f"“{LESSON.title}” from beginning to end on the demo's results. {given.readers} readers "
        f"follow, and each votes on all {len(ballots(LESSON))} questions after {THINKS[0]:g} to "
        f"{THINKS[1]:g} s. Goal: a click of the presenter takes at most {GOAL:g} s ({kept})."
        f"\n\n{figures}\n\n{facts}.\n"
    )
    print(text)
    if given.write:
        put_section(text)
        print(f"Written to {PAGE}.")


if __name__ == "__main__":
    main()
