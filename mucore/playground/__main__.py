"""A warm process: `python -m mucore.playground` plays the scenes that it reads.

A line of stdin is {"id": ID, "scene": SCENE}; a line of stdout {"id": ID, "event": EVENT}. A new
line ends the scene that is being played, at its next step; a line without a scene ends it and
starts none. The process ends with its stdin.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import sys
import threading
from collections import deque
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TextIO

log = logging.getLogger("mucore")


def main() -> None:
    events, sys.stdout = sys.stdout, sys.stderr  # what else prints does not end up among the events
    wanted: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()  # None: no more come
    threading.Thread(target=_read, args=(sys.stdin, wanted), daemon=True).start()

    import torch

    from mucore.errors import Cancelled, MucoreError
    from mucore.playground.scene import PRESETS, Scene
    from mucore.playground.stage import Stage

    def newer() -> bool:
        return not wanted.empty()

    torch.set_num_threads(1)  # of networks as small as these a second thread slows every step
    with TemporaryDirectory(prefix="mucore-playground-") as home:
        stage = Stage(Path(home))
        # what loads at its first use loads now, unless somebody waits already
        with suppress(Cancelled):
            deque(stage.play(PRESETS[0].scene, cancelled=newer), 0)
        while (asked := wanted.get()) is not None:
            if newer() or asked.get("scene") is None:
                continue
            try:
                for event in stage.play(Scene.read(asked["scene"]), cancelled=newer):
                    _tell(events, asked["id"], event)
                continue
            except Cancelled:
                pass
            except Exception as error:  # the next scene finds this process, whatever befell this
                if not isinstance(error, MucoreError):
                    log.exception("a scene")
                _tell(events, asked["id"], {"kind": "error", "who": "", "sentence": str(error)})
            _tell(events, asked["id"], {"kind": "end"})


def _read(stream: TextIO, wanted: queue.SimpleQueue) -> None:
    for line in stream:
        wanted.put(json.loads(line))
    wanted.put(None)


def _tell(events: TextIO, scene: str, event: dict[str, Any]) -> None:
    try:
        print(json.dumps({"id": scene, "event": event}), file=events, flush=True)
    except BrokenPipeError:  # nobody reads any more
        os._exit(0)


if __name__ == "__main__":
    main()
