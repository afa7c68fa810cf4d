"""A warm process: `python -m mucore.playground` plays the scenes that it reads.

A line of stdin is {"id": ID, "scene": SCENE}; a line of stdout {"id": ID, "event": EVENT}. A new
line ends the scene that is being played, at its next step; a line without a scene ends it and
starts none. The process ends with its stdin.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from collections import deque
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TextIO

log = logging.getLogger("mucore")


class Wanted:
    """The latest line of a stream, as a thread of its own reads it."""

    def __init__(self, stream: TextIO):
        self._latest: dict[str, Any] | None = None
        self._number = 0
        self._ended = False
        self._changed = threading.Condition()
        threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream: TextIO) -> None:
        for line in stream:
            with self._changed:
                self._latest, self._number = json.loads(line), self._number + 1
                self._changed.notify()
        with self._changed:
            self._ended = True
            self._changed.notify()

    @property
    def number(self) -> int:
        """How many lines came, -1 after the end: whoever plays an earlier one stops."""
        return -1 if self._ended else self._number

    def after(self, number: int) -> tuple[int, dict[str, Any]] | None:
        """The latest line once there are more than `number`; None at the stream's end."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or self._number > number)
            if self._number > number and self._latest is not None:
                return self._number, self._latest
            return None


def main() -> None:
    events, sys.stdout = sys.stdout, sys.stderr  # what else prints does not end up among the events
    wanted = Wanted(sys.stdin)

    import torch

    from mucore.errors import Cancelled, MucoreError
    from mucore.playground.scene import PRESETS, Scene
    from mucore.playground.stage import Stage

    torch.set_num_threads(1)  # of networks as small as these a second thread slows every step
    with TemporaryDirectory(prefix="mucore-playground-") as home:
        stage, number = Stage(Path(home)), 0
        # what loads at its first use loads now, unless somebody waits already
        with suppress(Cancelled):
            deque(stage.play(PRESETS[0].scene, cancelled=lambda: wanted.number != 0), 0)
        while (line := wanted.after(number)) is not None:
            number, asked = line
            if asked.get("scene") is None:
                continue
            try:
                for event in stage.play(
                    Scene.read(asked["scene"]), cancelled=lambda mine=number: wanted.number != mine
                ):
                    _tell(events, asked["id"], event)
                continue
            except Cancelled:
                pass
            except Exception as error:  # the next scene finds this process, whatever befell this
                if not isinstance(error, MucoreError):
                    log.exception("a scene")
                _tell(events, asked["id"], {"kind": "error", "who": "", "sentence": str(error)})
            _tell(events, asked["id"], {"kind": "end"})


def _tell(events: TextIO, scene: str, event: dict[str, Any]) -> None:
    try:
        print(json.dumps({"id": scene, "event": event}), file=events, flush=True)
    except BrokenPipeError:  # nobody reads any more
        os._exit(0)


if __name__ == "__main__":
    main()
