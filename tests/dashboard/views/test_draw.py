"""The page where a reader draws: who answers, what they say, and what to do where nobody can."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from builders import execute_all, make_spec_row
from pages import open_page, words_on

from dashboard import data
from dashboard.frames.draw import image
from dashboard.sections.draw import canvas, networks
from mucore.datasets import load
from mucore.store import open_pack, open_store

opened = partial(open_page, "draw")
METHODS = ("original", "retrain", "finetune")
GONE = 3


@pytest.fixture(scope="module")
def computed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the three networks of a comparison that forgot the class 3."""
    home = tmp_path_factory.mktemp("computed") / "home"
    execute_all(
        home,
        [
            make_spec_row(
                scenario="class_wise", scenario_parameters={"class_ids": [GONE]}, method=method
            )
            for method in METHODS
        ],
    )
    return home


@pytest.fixture
def shown(home: Path, computed: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the canvas is given, each time that it is drawn, on a store with networks."""
    shutil.copytree(computed, home, dirs_exist_ok=True)
    given: list[dict[str, Any]] = []

    def component(*_: object, **__: object) -> Callable[..., None]:
        return lambda **mounted: given.append(mounted.get("data") or {})

    monkeypatch.setattr(canvas.st.components.v2, "component", component)
    monkeypatch.setattr(canvas, "_JS", "")
    return given


def send(monkeypatch: pytest.MonkeyPatch, drawn: np.ndarray, **changes: Any) -> None:
    """From now on the browser has sent this drawing, (56, 56) in 0..1."""
    sent = {
        "ink": image.encoded(np.rint(255 * drawn)),
        "fitted": True,
        "sample": -1,
        "number": 1,
        **changes,
    }
    monkeypatch.setattr(canvas.state, "uploaded", lambda key: SimpleNamespace(drawing=sent))


def last_of(shown: list[dict[str, Any]]) -> dict[str, Any]:
    return [one for one in shown if "starts" in one][-1]


def test_three_networks_answer_a_drawing(
    shown: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    ink = np.zeros((image.SIDE, image.SIDE))
    ink[8:50, 24:32] = 1
    send(monkeypatch, ink, number=17)
    at = opened()
    found = last_of(shown)
    assert found["number"] == found["answer"]["number"] == 17
    assert found["titles"][:2] == ["Original", "Retrain"] and found["gone"] == [GONE]
    assert [sum(one["probabilities"]) for one in found["answer"]["models"]] == pytest.approx(
        [1, 1, 1]
    )
    assert {len(one["neighbours"]) for one in found["answer"]["models"]} == {4}
    assert all(near["pixels"] for one in found["answer"]["models"] for near in one["neighbours"])
    # the class that is gone has no training sample left, so Retrain cannot have learned its name
    assert found["answer"]["models"][1]["probabilities"][GONE] < 0.2
    assert "Class" not in words_on(at)


def test_an_image_is_no_neighbour_of_itself(
    shown: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    splits = load("digits")
    place = int((splits.train.labels == GONE).nonzero()[0])
    sample = int(splits.train.ids[place])
    large = np.kron(splits.train.pixels[place, 0].numpy(), np.ones((7, 7))) / 255
    send(monkeypatch, large, fitted=False, sample=sample)
    opened()
    answer = last_of(shown)["answer"]
    near = [one["text"] for one in answer["models"][0]["neighbours"]]
    assert not [text for text in near if f"image {sample}," in text]


def test_networks_agree_with_the_stored_logits(shown: list[dict[str, Any]]) -> None:
    with open_store(data.own_store().home) as store:
        line = store.summaries(method="finetune").iloc[0]
        found = store.get_result(line["key"])
        assert found is not None and found.outputs is not None
        model = store.get_model(found.model_key)
        assert model is not None and model.weights is not None
        weights = store.artifacts.get_arrays(model.weights)
        kept = store.artifacts.get_outputs(found.outputs)["test"]
    splits = load("digits")
    ask = networks.build("mlp", 10, 8, (splits.mean[0], splits.std[0]), weights)
    places = np.searchsorted(splits.test.ids.numpy(), kept.ids)
    pixels = splits.test.pixels[:, 0].numpy()[places]
    np.testing.assert_allclose(ask(pixels)[0], kept.logits, rtol=1e-3, atol=1e-3)


def test_where_no_network_was_kept_the_shipped_ones_are_drawn_for(
    shown: list[dict[str, Any]], home: Path, become: Callable[[str], None]
) -> None:
    """For guests, too: they forgot the class 0, and the pad is told to open on a zero."""
    with open_store(home) as store:
        store.gc("numbers", young_seconds=0)
    become("guest")
    opened()
    given = last_of(shown)
    assert given["gone"] == [0] and given["titles"][:2] == ["Original", "Retrain"]
    assert given["starts"][0]["images"][0]["gone"]
    keys = {path.stem for path in (data.DRAW / "weights").iterdir()}
    assert len(keys) == 6
    with open_pack(data.DRAW) as pack:
        assert {one.key for one in pack.results()} == keys


def test_shipped_networks_answer_as_their_stored_logits_say() -> None:
    """In half precision, so to a hundredth."""
    splits = load("digits")
    pixels = splits.test.pixels[:, 0].numpy()
    with open_pack(data.DRAW) as pack:
        for result in pack.results():
            with np.load(data.DRAW / "weights" / f"{result.key}.npz") as arrays:
                weights = {name: arrays[name].astype(np.float32) for name in arrays.files}
            kept = pack.artifacts.get_outputs(result.outputs or "")["test"]
            places = np.searchsorted(splits.test.ids.numpy(), kept.ids)
            ask = networks.build("mlp", 10, 8, (splits.mean[0], splits.std[0]), weights)
            np.testing.assert_allclose(ask(pixels[places])[0], kept.logits, rtol=0.01, atol=0.05)
