"""Homes of stores that pages read."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pages import send_key
from playing import QuickRoom, Stage

from dashboard import access, data, playroom, queue_data
from dashboard.widgets import stage
from mucore.store import Store


@pytest.fixture
def demo_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a store that nobody has made yet, so that pages show the demo results. No
    process of the playground starts.
    """
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(playroom, "room", QuickRoom)
    yield tmp_path / "home"
    # Everything else that pages keep is named by its home, of which every test has its own.
    data._open.clear()
    data._open_for_guests.clear()
    data._ballot_box.clear()


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Homes for which a page asked for workers; none starts."""
    homes: list[Path] = []

    def pretend(store: Store, **options: object) -> list[subprocess.Popen]:
        homes.append(store.home)
        return []

    monkeypatch.setattr(queue_data, "ensure_workers", pretend)
    return homes


@pytest.fixture
def home(
    demo_home: Path, started: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The folder of a store that nobody has made yet, without the demo; no worker starts."""
    monkeypatch.setattr(data, "DEMO", tmp_path / "no-demo")
    return demo_home


@pytest.fixture
def become(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Serve an audience, and be its "presenter" or a "guest" from now on."""
    key = "k" * 43
    monkeypatch.setattr(access, "_server", access._Server("audience", key, behind_door=True))

    def become(who: str) -> None:
        shown = {"presenter": key, "guest": ""}[who]
        send_key(monkeypatch, shown)

    return become


@pytest.fixture
def playground(monkeypatch: pytest.MonkeyPatch) -> tuple[QuickRoom, Stage]:
    """A room that answers at once, and what stands in the place of the stage in a browser."""
    room, drawn = QuickRoom(), Stage()
    monkeypatch.setattr(playroom, "room", lambda: room)
    monkeypatch.setattr(stage, "_mount", drawn.mount)
    return room, drawn


def pytest_itemcollected(item: pytest.Item) -> None:
    """What pages and their parts show is for CI; the fast tier has what is marked `smoke`."""
    if item.path.parent.name in ("views", "widgets") and not item.get_closest_marker("smoke"):
        item.add_marker("slow")
