"""How much memory there is for a run. Imports no torch.

On a CPU that is what the system, or the container, could still give. What a GPU has, only PyTorch
knows: a worker writes it down when it starts (`remember`), and plans read it.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import psutil

from mucore import fitting
from mucore.files import whole_file
from mucore.store import Store

FILE = "devices.json"


def remember(home: Path, device: str, size: int) -> None:
    """Write down the bytes of a device, by the name that workers give it ("cuda")."""
    with contextlib.suppress(OSError), whole_file(home / FILE) as temporary:
        Path(temporary).write_text(json.dumps({**_known(home), device: size}), encoding="utf-8")


def available(store: Store) -> tuple[str, float | None]:
    """The device that runs will have, and its bytes; None where nobody has looked yet.

    It is that of the living workers, else a GPU if there was one when a worker last started, else
    the CPU. Of several devices it is the smallest.
    """
    known = _known(store.home)
    usual = next((name for name in known if name != "cpu"), "cpu")
    names = [worker.device for worker in store.workers()] or [usual]
    sizes = {name: fitting.free_memory() if name == "cpu" else known.get(name) for name in names}
    return min(sizes.items(), key=lambda each: each[1] if each[1] is not None else float("inf"))


def whole_memory(home: Path, device: str) -> float | None:
    """Bytes that a device has, used or not: of a CPU with what the system may put on the disk, or
    what a container may have; None where nobody has looked yet.
    """
    if device != "cpu":
        return _known(home).get(device)
    whole = float(psutil.virtual_memory().total)
    with contextlib.suppress(OSError, ValueError):  # no container, or one without a limit
        whole = min(whole, float((fitting.CGROUP / "memory.max").read_text()))
    with contextlib.suppress(OSError, RuntimeError):  # a system without any
        whole += psutil.swap_memory().total
    return whole


def _known(home: Path) -> dict[str, int]:
    try:
        content = json.loads((home / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
