"""Rehearse a class: lessons from beginning to end, before readers who follow and vote.

    python scripts/bench_class.py              one lesson; a table on the screen
    python scripts/bench_class.py --write      and into docs/benchmarks.md, under its own heading
    python scripts/bench_class.py --readers 60
    python scripts/bench_class.py --class      45 minutes: playground and three lessons, before
                                               readers who come late, leave, reload, change their
                                               vote, put their phone away or read on alone
    python scripts/bench_class.py --class --minutes 15      in less time: less is said on each step

The real application serves the demo to an audience. Presenter and readers are programs that speak
the protocol of Streamlit's web page (page_program.py). What a browser takes to draw is not in it.
It ends with an error where a vote was lost or counted twice, where a page shows an error, and where
the server's log has one. The machine should do nothing else.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import re
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import psutil
import sqlalchemy as sa
from bench_guests import row, start
from docs_text import table
from page_program import Page, Shown, cookie_of

from dashboard.frames import playground as scenes
from dashboard.lessons import LESSONS
from dashboard.lessons.ballots import Ballot, ballots
from dashboard.lessons.records import Lesson, Played
from dashboard.widgets import stage
from dashboard.widgets.markdown import escape
from mucore.bench.page import PAGE, machine, put_section, say
from mucore.playground.scene import PRESETS
from mucore.store import Store, open_store, schema

LESSON = LESSONS["forget-one-class"]
CLASS = (LESSON, LESSONS["one-metric"], LESSONS["typical-and-outlier"])
GOAL = 3.0  # seconds that a click of the presenter may take
THINKS = (1.0, 8.0)  # seconds that a reader thinks before voting, at least and at most
ARRIVE = 0.5  # seconds from one reader's arrival to the next one's
READS = 4.0  # seconds that the presenter speaks on a step, of a class that is one lesson
WAITS = 20.0  # seconds after that in which the presenter of a class waits for the last votes
AGAIN = 30.0  # seconds without an answer after which a reader presses once more
BESIDES = 12.0  # seconds of a class's step that go to clicks and votes
SESSION = 130.0  # seconds after which the server has forgotten who left
NEVER = 2.0
REFUSED = ":material/error:"  # stands before a sentence that says why a vote was not taken
HEADS = ["what", "times", "min, s", "median, s", "max, s"]
SEED = 0


@dataclass(frozen=True)
class Habits:
    """Shares of the readers, of a step's readers, or of votes, and what they do."""

    late: float = 0.0  # come while the class is on, in its first half
    leave: float = 0.0  # close the page before the end, in its second half
    reload: float = 0.0  # at a step
    sleep: float = 0.0  # at a step, put the phone away for `NAP` seconds
    alone: float = 0.0  # at a step, go back and read on alone for as long, then scan the code again
    silent: float = 0.0  # do not vote on a question
    change: float = 0.0  # change their vote once


STEADY = Habits()
LIVELY = Habits(late=0.2, leave=0.1, reload=0.05, sleep=0.08, alone=0.04, silent=0.05, change=0.15)
NAP = (15.0, 60.0)


@dataclass
class Class:
    """What is held, what readers said, and how long each waited: seconds, from a press to the last
    message of what came of it.
    """

    store: Store
    habits: Habits = STEADY
    minutes: float = 0.0
    clicks: list[float] = field(default_factory=list)
    votes: list[float] = field(default_factory=list)
    follows: list[float] = field(default_factory=list)
    scenes: list[float] = field(default_factory=list)
    moved: dict[tuple[str, int], float] = field(default_factory=dict)  # when the presenter pressed
    # by form and reader: what the page said it counted, and what was sent and not answered yet
    counted: dict[str, dict[int, str]] = field(default_factory=lambda: defaultdict(dict))
    sent: dict[str, dict[int, str]] = field(default_factory=lambda: defaultdict(dict))
    unsure: int = 0  # votes that were sent while the answer was shown
    thinking: int = 0  # readers who are about to vote
    did: Counter[str] = field(default_factory=Counter)
    began: float = field(default_factory=time.monotonic)

    @property
    def gone(self) -> float:
        """The share of the class that is over."""
        return (time.monotonic() - self.began) / (60 * self.minutes) if self.minutes else 0.0


class Reader:
    """Somebody with a phone."""

    def __init__(self, url: str, number: int, room: Class):
        self.url, self.number, self.room = url, number, room
        self.random = random.Random(f"{SEED} reader {number}")
        self.seen: set[tuple[str, int]] = set()
        self.answered: set[str] = set()
        self.since = 0.0  # when this reader began to look

    def happens(self, share: float) -> bool:
        return self.random.random() < share

    async def come(self) -> None:
        """Read along, until cancelled or until it is time to leave."""
        room, habits = self.room, self.room.habits
        await asyncio.sleep(ARRIVE * self.number)
        if self.happens(habits.late):
            room.did["came late"] += 1
            await asyncio.sleep(self.random.uniform(0.05, 0.5) * 60 * room.minutes)
        leaves = self.random.uniform(0.5, 0.95) if self.happens(habits.leave) else NEVER
        cookie = await asyncio.to_thread(cookie_of, f"{self.url}/lessons")
        while room.gone < leaves:
            self.since = time.perf_counter()
            async with Page(self.url, cookie, "lessons", "follow=1") as page:
                while room.gone < leaves and await self.go_along(page):
                    pass
        room.did["left early"] += 1

    async def go_along(self, page: Page) -> bool:
        """Until something is new, and what this reader does then; False to load the page again."""
        room, habits = self.room, self.room.habits
        await page.until(lambda: self.news(page))
        if problem := page.error():
            raise SystemExit(f"A reader's page says: {problem}")
        if page.find("button", "Try again"):  # too many readers' pages were drawn at once
            room.did["had to try again"] += 1
            await asyncio.sleep(2.0)
            await page.press("Try again")
            return True
        here = self.place(page)
        if here is not None and here not in self.seen:
            self.seen.add(here)
            moved = room.moved.get(here, 0.0)
            if moved > self.since:
                await page.until(lambda: page.finished > moved)  # the whole of it, not its heading
                room.follows.append(page.finished - moved)
            nap = self.random.uniform(*NAP)
            if self.happens(habits.reload):
                room.did["loaded the page again"] += 1
                return False
            if self.happens(habits.sleep):
                room.did["put the phone away"] += 1
                await page.sleep(nap)
                self.since = time.perf_counter()
            elif here[1] > 1 and self.happens(habits.alone):
                room.did["read on alone"] += 1
                await page.press("Back")
                await asyncio.sleep(nap)
                return False
        for form in sorted(page.forms() - self.answered):
            self.answered.add(form)
            if self.happens(habits.silent):
                continue
            await self.answer(page, form)
            if self.happens(habits.change):
                room.did["changed a vote"] += 1
                await self.answer(page, form)
        return True

    def news(self, page: Page) -> bool:
        return bool(
            self.place(page) not in (None, *self.seen)
            or page.forms() - self.answered
            or page.find("button", "Try again")
            or page.error()
        )

    def place(self, page: Page) -> tuple[str, int] | None:
        """Lesson and step that the page shows, None on another page."""
        heads = [one.element.body.partition(" · ")[0] for one in page.of_kind("heading")]
        number = next((int(head) for head in heads if head.isdigit()), None)
        found = re.search(r"(?:^|&)lesson=([a-z-]+)", page.query)
        return (found[1], number) if found and number is not None else None

    async def answer(self, page: Page, form: str) -> None:
        """Think and vote; press again where nothing comes of it, until it is counted or over."""
        room = self.room
        room.thinking += 1
        try:
            await asyncio.sleep(self.random.uniform(*THINKS))
            ballot = ballot_of(form)
            choice = self.random.choice(list(ballot.options) or [str(each) for each in range(101)])
            began = time.perf_counter()
            while form in page.forms():
                room.sent[form][self.number] = choice
                if await self.send(page, form, choice):
                    room.counted[form][self.number] = choice
                    room.sent[form].pop(self.number)
                    room.votes.append(time.perf_counter() - began)
                    await asyncio.sleep(1.0)  # a voter has one vote a second
                    return
                await asyncio.sleep(1.0)
                if form in page.forms():
                    room.did["pressed once more"] += 1
            room.did["was too late to vote"] += 1
        finally:
            room.thinking -= 1

    async def send(self, page: Page, form: str, choice: str) -> bool:
        """Whether the page says that the choice was counted. False after a refusal, and when the
        question is over.
        """
        ballot, part, states = ballot_of(form), "", list[dict[str, Any]]()
        for one in page.shown.values():
            if getattr(one.element, "form_id", "") != form:
                continue
            part, kept = one.part, {"id": one.element.id}
            if one.kind == "button":
                states.append(kept | {"trigger_value": True})
            elif one.kind == "slider":
                states.append(kept | {"double_array_value": [float(choice)]})
            else:
                states.append(kept | {"string_value": ballot.options[choice]})
        words = f"You said **{escape(ballot.title(choice))}**"
        drawn = page.part_runs[part]
        await page.run(*states, part=part)

        def answered() -> bool:
            refused = page.part_runs[part] > drawn and page.says(REFUSED, part)
            return refused or form not in page.forms() or page.says(words, part)

        with contextlib.suppress(TimeoutError):
            await page.until(answered, AGAIN)
        return page.says(words, part)


class Presenter:
    """Who holds the class. `patience` is how many seconds they wait for the last votes, None for as
    long as it takes.
    """

    def __init__(
        self, page: Page, room: Class, readers: int, speaks: float, patience: float | None
    ):
        self.page, self.room, self.readers = page, room, readers
        self.speaks, self.patience, self.query = speaks, patience, page.query

    async def click(self, label: str) -> None:
        self.room.clicks.append(await self.page.press(label))
        if problem := self.page.error():
            raise SystemExit(f"The presenter's page says: {problem}")

    async def hold(self, lesson: Lesson) -> None:
        """A lesson from its first step to its last question. Raises `SystemExit` where votes do not
        come out even.
        """
        page, room = self.page, self.room
        await page.go("lessons", f"{self.query}&lesson={lesson.id}&step=1")
        for step in range(1, lesson.length + 1):
            room.moved[lesson.id, step] = time.perf_counter()
            await self.click("Next" if step > 1 else "Hold this lesson")
            if self.patience is None:
                await page.until(lambda: page.says(f"**{self.readers} reader"))
            await asyncio.sleep(self.speaks)
            last = step == lesson.length
            for name in ballots(lesson):
                if name == str(step) or (last and name.startswith("check")):
                    await self.wait_for_votes(lesson, name)
                    await self.play(lesson, step)
                    await self.click("Reveal")
            if str(step) not in ballots(lesson):
                await self.play(lesson, step)
            counts = {question: found.total() for question, found in votes(room.store).items()}
            say(f"{lesson.id}, step {step}: {counts}, slowest click {max(room.clicks):.2f} s")
        check_votes(room, lesson)

    async def wait_for_votes(self, lesson: Lesson, question: str) -> None:
        room = self.room
        if self.patience is None:
            await self.page.until(
                lambda: votes(room.store).get(question, Counter()).total() == self.readers
            )
            return
        end = time.monotonic() + self.patience
        while room.thinking and time.monotonic() < end:
            await asyncio.sleep(0.5)

    async def play(self, lesson: Lesson, step: int) -> None:
        """The scenes of a step, before all."""
        figures = lesson.steps[step - 1].figures if step < lesson.length else ()
        for figure in figures:
            if isinstance(figure, Played):
                self.room.scenes.append(await play(self.page, figure.preset))


async def play(page: Page, preset: str = "") -> float:
    """Seconds from Forget to the last event of a scene, which the stage asks for as its script
    does. Without a preset it is that of page Playground.
    """
    name = f"-{stage.PAGE}:{preset}" if preset else f"-{stage.PAGE}"

    def there() -> Shown | None:
        found = page.of_kind("bidi_component")
        return next((one for one in found if one.element.id.endswith(name)), None)

    began, have = time.perf_counter(), 0
    scene = scenes.preset_draft(preset or PRESETS[0].id)
    asked: dict[str, Any] = {"what": "forget", "scene": scene, "revision": 1}
    while True:
        mine = await page.until(there)
        runs = page.part_runs[mine.part]
        await page.tell(mine, "ask", asked | {"at": time.time()})
        with contextlib.suppress(TimeoutError):  # a page that was drawn anew did not hear it
            await page.until(lambda part=mine.part, runs=runs: page.part_runs[part] > runs, AGAIN)
        told = json.loads((await page.until(there)).element.json)
        if told["problem"]:
            raise SystemExit(f"A scene was not played: {told['problem']}")
        if told["run"] is None:  # the press came before the stage was ready for it
            await asyncio.sleep(1.0)
            continue
        if told["run"]["after"] == have:
            have += len(told["run"]["events"])
        if any(event["kind"] == "end" for event in told["run"]["events"]):
            break
        asked = {"what": "events", "ticket": told["run"]["ticket"], "after": have}
        await asyncio.sleep(told["pause"] / 1000)
    seconds = time.perf_counter() - began
    if preset:  # what stands around the stage tells what came of it
        whole = page.full_runs
        await page.tell(mine, "ask", {"what": "ended", "at": time.time()})
        await page.until(lambda: page.full_runs > whole)
    return seconds


@dataclass
class Server:
    """The process that serves the pages, and its log."""

    home: Path
    process: psutil.Process
    seen: list[tuple[str, float, int]] = field(default_factory=list)  # when, MB, threads

    @classmethod
    def of(cls, app: int, home: Path) -> Server:
        children = psutil.Process(app).children(recursive=True)
        (process,) = [one for one in children if "streamlit" in one.cmdline()]
        return cls(home, process)

    def look(self, when: str) -> None:
        size, threads = self.process.memory_info().rss / 1e6, self.process.num_threads()
        self.seen.append((when, size, threads))
        say(f"{when}: {size:.0f} MB, {threads} threads")

    def check_log(self) -> None:
        """Raises `SystemExit` where the log has an error."""
        log = (self.home / "logs" / "server.log").read_text(encoding="utf-8")
        if found := re.search(r"^.*(?:Traceback|Error|Exception|Couldn't).*$", log, re.MULTILINE):
            raise SystemExit(f"The server's log has: {found[0]}\n{log[-4000:]}")


async def one_lesson(url: str, cookie: str, store: Store, readers: int) -> Class:
    """One lesson before readers who stay."""
    room = Class(store)
    async with Page(url, cookie, "lessons", "lesson=") as page, asyncio.TaskGroup() as group:
        tasks = [group.create_task(Reader(url, n, room).come()) for n in range(readers)]
        presenter = Presenter(page, room, readers, READS, None)
        await presenter.hold(LESSON)
        counts = {question: found.total() for question, found in votes(store).items()}
        if counts != (dict.fromkeys(ballots(LESSON), readers) if readers else {}):
            raise SystemExit(f"Votes were lost or counted twice: {counts}.")
        await presenter.click("End it")
        for task in tasks:
            task.cancel()
    check_nothing_left(store)
    return room


async def whole_class(
    url: str, cookie: str, store: Store, readers: int, minutes: float, server: Server
) -> Class:
    """The playground, then all lessons of a class, before readers of all habits."""
    room = Class(store, LIVELY, minutes)
    steps = sum(lesson.length for lesson in CLASS)
    speaks = max(READS, 60 * minutes / steps - BESIDES)
    async with Page(url, cookie, "playground", "present=1") as page, asyncio.TaskGroup() as group:
        room.scenes.append(await play(page))
        await page.go("lessons", "present=1&join=1")
        server.look("before anybody came")
        tasks = [group.create_task(Reader(url, n, room).come()) for n in range(readers)]
        await asyncio.sleep(speaks)
        page.query = "present=1"
        presenter = Presenter(page, room, readers, speaks, WAITS)
        for lesson in CLASS:
            await presenter.hold(lesson)
            server.look(f"at the end of “{lesson.title}”")
        await presenter.click("End it")
        for task in tasks:
            task.cancel()
    check_nothing_left(store)
    await asyncio.sleep(SESSION)
    server.look("when all had left")
    return room


def ballot_of(form: str) -> Ballot:
    _, lesson, question = form.split(":")
    return ballots(LESSONS[lesson])[question]


def votes(store: Store) -> dict[str, Counter[str]]:
    """How many chose what, by question."""
    table = schema.vote.c
    query = sa.select(table.question, table.choice, sa.func.count())
    found: dict[str, Counter[str]] = {}
    with store.read() as connection:
        grouped = query.group_by(table.question, table.choice)
        for question, choice, count in connection.execute(grouped):
            found.setdefault(question, Counter())[choice] = int(count)
    return found


def check_votes(room: Class, lesson: Lesson) -> None:
    """Raises `SystemExit` where the store has other votes than those that pages called counted. A
    vote that was on its way while the answer was shown may be there or not.
    """
    there = votes(room.store)
    for question in ballots(lesson):
        form = f"vote:{lesson.id}:{question}"
        found, open_ = there.get(question, Counter()), room.sent[form]
        sure = Counter(
            choice for reader, choice in room.counted[form].items() if reader not in open_
        )
        if sure - found or (found - sure).total() > len(open_):
            raise SystemExit(f"Votes on {form}: {sure} were counted, the store has {found}.")
        room.unsure += len(open_)


def check_nothing_left(store: Store) -> None:
    if left := votes(store):
        raise SystemExit(f"Votes outlived the lesson: {left}.")


def figures(room: Class, readers: int) -> list[list[str]]:
    return [
        row(f"a click of the presenter, beside {readers} readers", room.clicks),
        row("a reader's vote, until it is said to be counted", room.votes),
        row("the presenter's next step, until it stands on a reader's page", room.follows),
    ]


def rehearse_lesson(url: str, cookie: str, store: Store, readers: int) -> str:
    alone = asyncio.run(one_lesson(url, cookie, store, 0))
    beside = asyncio.run(one_lesson(url, cookie, store, readers))
    rows = [row("a click of the presenter, alone", alone.clicks), *figures(beside, readers)]
    return (
        f"## A class that votes\n\nWritten by `python scripts/bench_class.py --write`: the lesson "
        f"“{LESSON.title}” from beginning to end on the demo's results. {readers} readers follow, "
        f"and each votes on all {len(ballots(LESSON))} questions after {THINKS[0]:g} to "
        f"{THINKS[1]:g} s; the presenter waits for all of them. All votes were counted, each once. "
        f"{promise(beside)}\n\n{table(HEADS, rows)}\n\n{facts()}\n"
    )


def rehearse_class(
    url: str, cookie: str, store: Store, readers: int, minutes: float, server: Server
) -> str:
    room = asyncio.run(whole_class(url, cookie, store, readers, minutes, server))
    taken = (time.monotonic() - room.began - SESSION) / 60
    counted = sum(len(each) for each in room.counted.values())
    rows = [
        *figures(room, readers),
        row("a scene of the presenter's, until its last frame", room.scenes),
    ]
    states = [[when, f"{size:.0f}", str(threads)] for when, size, threads in server.seen]
    did = "; ".join(f"{what} {count}" for what, count in sorted(room.did.items()))
    titles = ", ".join(f"“{lesson.title}”" for lesson in CLASS)
    return (
        f"## A whole class\n\nWritten by `python scripts/bench_class.py --class --minutes "
        f"{minutes:g} --write`: a class of {taken:.0f} minutes on the demo's results. The "
        f"presenter plays a scene in the playground, shows the code, and holds {titles} in "
        "presenting mode, with every scene and every question. They wait for the last votes for at "
        f"most {WAITS:g} s. {readers} programs read along as phones do that came by the code; how "
        f"often they did what else: {did}. {counted} answers stood when they were shown, each "
        f"counted once ({room.unsure} more were sent at that very moment). No page showed an "
        f"error, and the server's log has none. {promise(room)}\n\n{table(HEADS, rows)}\n\n"
        f"{table(['the server', 'memory, MB', 'threads'], states)}\n\n{facts()}\n"
    )


def promise(room: Class) -> str:
    kept = "kept" if max(room.clicks) <= GOAL else "**not kept**"
    return f"Goal: a click of the presenter takes at most {GOAL:g} s ({kept})."


def facts() -> str:
    return ", ".join(f"{name} {value}" for name, value in machine("cpu").items()) + "."


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--readers", type=int, default=30)
    parser.add_argument("--class", dest="whole", action="store_true", help="not one lesson alone")
    parser.add_argument("--minutes", type=float, default=45.0, help="that a --class takes")
    parser.add_argument("--write", action="store_true", help="into docs/benchmarks.md")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mucore-class-") as folder:
        home = Path(folder) / "home"
        app, url, cookie = start(home)
        try:
            server = Server.of(app.pid, home)
            with open_store(home) as store:
                text = (
                    rehearse_class(url, cookie, store, given.readers, given.minutes, server)
                    if given.whole
                    else rehearse_lesson(url, cookie, store, given.readers)
                )
            server.check_log()
        finally:
            app.send_signal(signal.SIGINT)
            app.wait()
    print(text)
    if given.write:
        put_section(text)
        print(f"Written to {PAGE}.")


if __name__ == "__main__":
    main()
