"""How much memory there is for a run. Imports no torch.

On a CPU that is what the system, or the container, could still give. What a GPU has, only PyTorch
knows: a worker writes it down when it starts (`remember`), and plans read it.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import psutil

from mucore.files import whole_file
from mucore.store import Store

FILE = "devices.json"
_CGROUP = Path("/sys/fs/cgroup")


def remember(home: Path, device: str, size: int) -> None:
    """Write down the bytes of a device, by the name that workers give it ("cuda")."""
    with contextlib.suppress(OSError), whole_file(home / FILE) as temporary:
        Path(temporary).write_text(json.dumps({**_known(home), device: size}), encoding="utf-8")


def available(store: Store, device: str = "auto") -> tuple[str, float | None]:
    """The device that runs will have, and its bytes; None where nobody has looked yet.

    `auto` is the device of the living workers, else a GPU if there was one when a worker last
    started, else the CPU. Of several devices it is the smallest.
    """
    known = _known(store.home)
    names = [device]
    if device == "auto":
        names = [worker.device for worker in store.workers()] or [
            next((name for name in known if name != "cpu"), "cpu")
        ]
    sizes = {name: free_memory() if name == "cpu" else known.get(name) for name in names}
    return min(sizes.items(), key=lambda each: each[1] if each[1] is not None else float("inf"))


def free_memory() -> float:
    """Bytes that programs on this machine, or in this container, could still get."""
    free = float(psutil.virtual_memory().available)
    with contextlib.suppress(OSError, ValueError):  # no container, or one without a limit
        limit = int((_CGROUP / "memory.max").read_text())
        used = int((_CGROUP / "memory.current").read_text())
        given_back = dict(
            line.split() for line in (_CGROUP / "memory.stat").read_text().splitlines()
        )
        free = min(free, limit - used + int(given_back.get("inactive_file", 0)))
    return max(free, 0.0)


def _known(home: Path) -> dict[str, int]:
    try:
        content = json.loads((home / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
