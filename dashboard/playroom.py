"""The playground's one process for all readers of a server: scenes in, events out.

`room()` starts `python -m mucore.playground` once and keeps it warm. Equal scenes are played once,
whoever asks, and the latest stay; what nobody asks for any more is ended; a process that died or
hangs is replaced. Needs no Streamlit and no torch.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dashboard import assets
from mucore.errors import BadValue
from mucore.playground import Scene

Event = dict[str, Any]
KEPT = 50  # scenes whose events stay
MOST_WAITING = 8
FORGOTTEN = 30.0  # seconds after which a scene that nobody looked at counts as left
SILENCE = 120.0  # seconds without an event after which a process counts as hung
COMMAND = (sys.executable, "-m", "mucore.playground")
_TICK, _GOODBYE = 0.25, 3.0
_ENDED = {"kind": "end"}


@dataclass(eq=False)
class _Playing:
    scene: Scene
    events: list[Event] = field(default_factory=list)
    looked: float = field(default_factory=time.monotonic)
    failed: bool = False  # asked for again, it is played again

    @property
    def over(self) -> bool:
        return bool(self.events) and self.events[-1]["kind"] == "end"


class Room:
    """See the module. Every call returns at once; threads may share a room."""

    def __init__(
        self,
        *,
        command: Sequence[str] = COMMAND,
        kept: int = KEPT,
        most_waiting: int = MOST_WAITING,
        forgotten: float = FORGOTTEN,
        silence: float = SILENCE,
    ):
        self._command, self._kept, self._most_waiting = command, kept, most_waiting
        self._forgotten, self._silence = forgotten, silence
        self._lock = threading.Condition()
        self._playing: OrderedDict[str, _Playing] = OrderedDict()  # by ticket, the oldest first
        self._waiting: list[str] = []
        # the latest ticket of each reader whose scene is not over
        self._wishes: dict[str, str] = {}
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._closed = False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def submit(self, scene: Scene, who: str) -> str:
        """The ticket of a scene, which is played now or was before. What the reader `who` asked for
        earlier ends unless others want it.

        Raises `BadValue` where too many scenes wait; those with nothing to forget, which show
        Original alone, are counted apart.
        """
        ticket = _ticket(scene)
        with self._lock:
            before = self._wishes.get(who)
            known = self._playing.get(ticket)
            if known is not None and known.failed:
                known = None
            if known is None and ticket in _shipped():
                self._playing[ticket] = known = _Playing(scene, _shipped()[ticket])
            ahead = [each for each in self._waiting if self._alike(each, scene)]
            most = self._most_waiting + (before in ahead)
            if known is None and len(ahead) >= most:
                raise BadValue(
                    f"{self._most_waiting} scenes are already waiting, which is the most allowed. "
                    "Try again in a few seconds."
                )
            self._wishes[who] = ticket
            if before is not None and before != ticket and before not in self._wishes.values():
                self._drop(before, unless=scene)
            if known is None:
                self._playing[ticket] = known = _Playing(scene)
                # who has pressed Forget goes before those who only look at Original
                first = len(ahead) if scene.forget else len(self._waiting)
                self._waiting.insert(first, ticket)
                self._lock.notify_all()
            known.looked = time.monotonic()
            self._playing.move_to_end(ticket)
            self._tidy()
            return ticket

    def events(self, ticket: str, after: int = 0) -> list[Event]:
        """The events of a scene from number `after` on, as far as they have come. The last is of
        kind "end"; of a scene that is gone, an error and that, whatever `after` is.
        """
        with self._lock:
            known = self._playing.get(ticket)
            if known is None:
                sentence = (
                    "This scene was stopped because nobody was watching it. Press Forget again."
                )
                return [{"kind": "error", "who": "", "sentence": sentence}, _ENDED]
            known.looked = time.monotonic()
            return known.events[after:]

    def knows(self, ticket: str) -> bool:
        """Whether a scene is there: it waits, is played, or is over and among the latest."""
        with self._lock:
            return ticket in self._playing

    def ahead(self, ticket: str) -> int:
        """How many scenes are played before this one."""
        with self._lock:
            return self._waiting.index(ticket) + 1 if ticket in self._waiting else 0

    def close(self) -> None:
        """End the process and the thread."""
        with self._lock:
            self._closed = True
            self._lock.notify_all()
        self._thread.join()

    # -- below, the lock is held

    def _alike(self, ticket: str, scene: Scene) -> bool:
        """Whether both scenes forget something, or neither does."""
        return bool(self._playing[ticket].scene.forget) == bool(scene.forget)

    def _drop(self, ticket: str, unless: Scene | None = None) -> None:
        """End a scene that nobody wants; what is over stays, and so does Original while it is
        trained on the points of the scene `unless`, which needs it next.
        """
        known, waits = self._playing.get(ticket), ticket in self._waiting
        if known is None or known.over:
            return
        if unless is not None and not waits and known.scene == unless.bare:
            return
        del self._playing[ticket]
        if waits:
            self._waiting.remove(ticket)

    def _tidy(self) -> None:
        over = [ticket for ticket, each in self._playing.items() if each.over]
        for ticket in over[: max(0, len(self._playing) - self._kept)]:
            del self._playing[ticket]
        now = time.monotonic()
        for ticket, each in list(self._playing.items()):
            if now - each.looked > self._forgotten:
                self._drop(ticket)
        # nothing is done with the name of a reader whose scene is over, and there may be many
        under_way = {ticket for ticket, each in self._playing.items() if not each.over}
        self._wishes = {who: ticket for who, ticket in self._wishes.items() if ticket in under_way}

    # -- the thread

    def _work(self) -> None:
        try:
            with contextlib.suppress(OSError):  # the first scene asks for it again
                self._started()
            while (ticket := self._next()) is not None:
                self._play(ticket)
        finally:
            self._end_process()

    def _next(self) -> str | None:
        with self._lock:
            while not self._closed:
                self._tidy()
                if self._waiting:
                    return self._waiting.pop(0)
                self._lock.wait(timeout=None if not self._playing else 1.0)
            return None

    def _play(self, ticket: str) -> None:
        """Play one scene to its end, or until nobody wants it."""
        with self._lock:
            known = self._playing.get(ticket)
        if known is None:
            return
        for _ in range(2):  # a process that had died before it said anything is asked once more
            ended = self._asked(ticket, known)
            if ended or known.events:
                break
        if not ended:
            sentence = (
                "The process that plays scenes ended before this scene did, or could not be "
                "started. Press Forget again."
            )
            with self._lock:
                known.failed = True
                known.events += [{"kind": "error", "who": "", "sentence": sentence}, _ENDED]

    def _asked(self, ticket: str, known: _Playing) -> bool:
        """Whether the process played the scene to its end, or nobody wants it any more."""
        try:
            process = self._started()
        except OSError:  # no memory or no file left, which may be otherwise for the next scene
            return False
        asked = {"id": ticket, "scene": known.scene.model_dump(mode="json")}
        if not _say(process, asked):
            self._end_process()
            return False
        heard = time.monotonic()
        while True:
            with self._lock:
                self._tidy()
                wanted = self._playing.get(ticket) is known and not self._closed
            if not wanted:
                _say(process, {"id": ticket, "scene": None})
                return True
            try:
                line = self._lines.get(timeout=_TICK)
            except queue.Empty:
                if time.monotonic() - heard < self._silence:
                    continue
                line = None
            if line is None:
                self._end_process()
                return False
            heard, message = time.monotonic(), _message(line)
            if message is None or message["id"] != ticket:  # of a scene that was left
                continue
            with self._lock:
                known.events.append(message["event"])
                if known.over:
                    return True

    def _started(self) -> subprocess.Popen[str]:
        """The process, a new one where it is gone."""
        if self._process is None or self._process.poll() is not None:
            self._end_process()
            root = str(Path(__file__).resolve().parents[1])
            path = os.pathsep.join(each for each in (root, os.environ.get("PYTHONPATH")) if each)
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                env={**os.environ, "PYTHONPATH": path},
            )
            self._lines = queue.Queue()
            threading.Thread(target=_listen, args=(self._process, self._lines), daemon=True).start()
        return self._process

    def _end_process(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None and process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()  # by which it ends, and clears up
        try:
            process.wait(timeout=_GOODBYE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def _say(process: subprocess.Popen[str], message: dict[str, Any]) -> bool:
    assert process.stdin is not None
    try:
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
    except OSError:
        return False
    return True


def _message(line: str) -> dict[str, Any] | None:
    """What the process says; None for what a library in it printed past Python."""
    try:
        message = json.loads(line)
    except ValueError:
        return None
    return message if isinstance(message, dict) and {"id", "event"} <= message.keys() else None


def _listen(process: subprocess.Popen[str], lines: queue.Queue[str | None]) -> None:
    """Hand on what a process prints, and None at its end."""
    assert process.stdout is not None
    try:
        for line in process.stdout:
            lines.put(line)
    except ValueError:  # closed meanwhile
        pass
    lines.put(None)


def _ticket(scene: Scene) -> str:
    return hashlib.sha256(scene.model_dump_json().encode()).hexdigest()[:24]


@functools.cache
def _shipped() -> dict[str, list[Event]]:
    """The events of the scenes that come played."""
    return {
        _ticket(Scene.model_validate(each["scene"])): each["events"] for each in assets.played()
    }


@functools.cache
def room() -> Room:
    """The one room of this server."""
    return Room()
