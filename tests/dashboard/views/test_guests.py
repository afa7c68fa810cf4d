"""Every page as somebody sees it who only reads: the same figures, and nothing that changes a thing
here, whatever is pressed, named or sent.
"""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path
from typing import Any

import pytest
from builders import make_result, make_spec_row
from pages import fill, open_page, words_on, writing
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Element

from dashboard.report import render
from mucore.store import open_store
from mucore.tuning.plan import FOLDER

OWN = "npz:/srv/ada/secret project/faces.npz"


@pytest.fixture
def busy(home: Path) -> Path:
    """A whole comparison, a run on own data, and jobs that wait, run and failed."""
    fill(home, "full")
    with open_store(home) as store:
        spec = make_spec_row(method="scrub").model_copy(
            update={"dataset": OWN, "data_hash": "a" * 64}
        )
        store.put_result(
            dataclasses.replace(
                make_result(method="scrub"), key=spec.key, spec=spec.model_dump(mode="json")
            )
        )
        store.enqueue([make_spec_row(training_seed=seed).original() for seed in (7, 8, 9)])
        worker = store.register_worker("cpu", 1)
        failed, running = store.claim(worker.id), store.claim(worker.id)
        assert failed is not None and running is not None
        why = f"No file at {home}/x/y.npz."
        store.finish_job(failed.id, "failed", error=why, worker_id=worker.id)
        store.enqueue_other("analysis", "replay:k", {"kind": "replay", "key": spec.key}, "A replay")
    return home


def files(home: Path) -> dict[str, str]:
    """What lies in a home, but for the database, whose reading moves its bookkeeping."""
    return {
        str(path.relative_to(home)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(home.rglob("*"))
        if path.is_file() and not path.name.startswith("store.sqlite")
    }


def counter(home: Path) -> int:
    with open_store(home) as store:
        return store.change_counter()


def everything(at: AppTest) -> str:
    """All that a browser gets to draw the page, tables and figures too."""
    parts = [one.proto for one in at._tree if isinstance(one, Element)]
    assert len(parts) > 5
    return b"".join(part.SerializeToString() for part in parts).decode("latin-1")


def keys(at: AppTest) -> set[str]:
    return {str(one.key) for one in at.button if not one.disabled}


@pytest.mark.slow
@pytest.mark.parametrize("page", ["start", "results", "launch", "queue", "method"])
def test_a_guest_presses_what_is_there(page, busy, started, become, monkeypatch):
    """Each page opens for a guest in test_sweep.py."""
    monkeypatch.setattr(render, "browser", lambda: None)  # no figures are drawn for reports
    become("guest")
    before = counter(busy), files(busy)
    at = open_page(page)
    assert not at.exception and not at.error
    assert not writing(at) and not at.get("file_uploader")
    told = everything(at)
    assert [
        secret for secret in (str(busy), "/srv/", "/ada/", "secret project") if secret in told
    ] == []
    for key in sorted(keys(at)):
        pressed = next((one for one in at.button if one.key == key), None)
        if pressed is not None:
            pressed.click()
            assert not at.run().exception
    assert (counter(busy), files(busy)) == before and started == []


def test_the_presenter_has_the_controls_that_guests_lack(busy, become):
    become("presenter")
    found = {page: writing(open_page(page)) for page in ("launch", "queue")}
    assert "start" in found["launch"] and {"cancel_all"} < found["queue"]
    assert {key.partition(":")[0] for key in found["queue"]} >= {
        "cancel",
        "retry",
        "cancel_analysis",
    }
    assert open_page("launch").get("file_uploader")


ADDRESSES: dict[str, dict[str, Any]] = {
    "launch": {"dataset": OWN, "original": "/etc/passwd", "methods": "uploaded"},
    "forget_sets": {"dataset": OWN, "kept": "a" * 32, "ids": "1-5"},
    "compare": {"dataset": OWN, "of": "/etc/passwd"},
    "queue": {"comparison": "1 OR 1=1", "view": "/etc/passwd"},
}


@pytest.mark.parametrize("page", ADDRESSES)
def test_no_address_opens_a_file_for_a_guest(page, busy, started, become, monkeypatch):
    """An address may name anything; nothing that it names is looked at."""
    opened: list[str] = []
    looked = Path.stat

    def stat(path: Path, **options: Any) -> Any:
        opened.append(str(path))
        return looked(path, **options)

    become("guest")
    monkeypatch.setattr(Path, "stat", stat)
    before = counter(busy), files(busy)
    at = open_page(page, **ADDRESSES[page])
    assert not at.exception
    assert not [path for path in opened if path.startswith(("/etc", "/srv"))]
    assert (counter(busy), files(busy)) == before and started == []
    if page == "launch":  # what guests are kept from
        become("presenter")
        open_page(page, **ADDRESSES[page])
        assert [path for path in opened if path.startswith(("/etc", "/srv"))]


def test_a_damaged_file_is_named_to_a_guest_without_its_folder(home, become):
    damaged = home / FOLDER / "task" / "ssd.json"
    damaged.parent.mkdir(parents=True)
    damaged.write_text("{", encoding="utf-8")
    for who, told in (("presenter", True), ("guest", False)):
        become(who)
        at = open_page("method", method="ssd")
        assert not at.exception and damaged.name in words_on(at)
        assert (str(home) in words_on(at)) is told
