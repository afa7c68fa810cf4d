"""Files that a reader brings from their own computer: kept by their content, whatever they are called, and used by the runs."""

from __future__ import annotations

import hashlib
import io
from typing import Any

import numpy as np
from pages import button, open_page, words_on
from streamlit.testing.v1 import AppTest

from dashboard import data
from dashboard.launching import uploads
from mucore.store import open_store

SMALL = {"dataset": "digits", "model": "mlp", "preset": "quick", "methods": ["finetune"]}


def bring(at: AppTest, name: str, file: str, content: bytes) -> AppTest:
    """Choose a file in the uploader of that parameter."""
    (place,) = [one for one in at.file_uploader if one.key == f"upload:{name}"]
    return place.set_value((file, content, "application/octet-stream")).run()


def arrays() -> bytes:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 256, (40, 8, 8), dtype=np.uint8), np.arange(40) % 2
    stream = io.BytesIO()
    np.savez(stream, x_train=x, y_train=y, x_test=x, y_test=y)
    return stream.getvalue()


def test_weights_of_the_original_are_kept_and_named_by_their_content(home):
    at = bring(open_page("launch", **SMALL), "original", "../../etc/mine.pt", b"weights")
    assert not at.exception
    sha256 = hashlib.sha256(b"weights").hexdigest()
    assert at.query_params["original"] in (sha256, [sha256])
    button(at, "Start").click().run()
    with open_store(home) as store:
        assert store.artifacts.file(sha256).read_bytes() == b"weights"
        assert {job.spec["original_hash"] for job in store.jobs()} == {sha256}
    assert not [path for path in home.parent.rglob("mine.pt")], "a name that came with a file is no path"


def test_weights_of_the_method_that_takes_a_file(home):
    at = bring(open_page("launch", **SMALL | {"methods": ["uploaded"]}), "uploaded.file", "mine.safetensors", b"theirs")
    button(at, "Start").click().run()
    with open_store(home) as store:
        (job,) = [job for job in store.jobs() if job.spec["method"] == "uploaded"]
        assert job.spec["parameters"]["file"] == hashlib.sha256(b"theirs").hexdigest()


def test_arrays_become_a_data_set(home):
    at = open_page("launch", **SMALL | {"dataset": "npz"})
    assert "needs the path of your data" in words_on(at)
    at = bring(at, "path", "mine.npz", arrays())
    assert not at.exception and "needs the path of your data" not in words_on(at)
    button(at, "Start").click().run()
    with open_store(home) as store:
        (dataset,) = {job.spec["dataset"] for job in store.jobs()}
    assert dataset == f"npz:{next((home / uploads.FOLDER).glob('*.npz')).resolve()}"


def test_the_same_arrays_are_kept_once(home):
    data.own_store()
    first, again = uploads.keep_arrays(b"the same"), uploads.keep_arrays(b"the same")
    assert first == again != uploads.keep_arrays(b"another")
    assert len(list((home / uploads.FOLDER).iterdir())) == 2


def test_a_disk_that_is_full_says_so_and_nothing_is_planned_with_the_file(home, monkeypatch):
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    at = open_page("launch", **SMALL | {"dataset": "npz"})
    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    at = bring(at, "path", "mine.npz", arrays())
    assert "No space left on device" in words_on(at) and "path" not in at.query_params and not at.exception


def test_a_list_of_ids_that_is_none_is_refused_with_its_reason(home):
    at = open_page("launch", **SMALL, scenarios=["ids"])
    at = bring(at, "ids.ids", "mine.csv", b"number\n3\n")
    assert "column" in words_on(at) and not at.exception
    at = bring(at, "ids.ids", "mine.csv", b"id\n3\n17\n")
    assert at.query_params["ids.ids"] in ("3,17", ["3,17"])
