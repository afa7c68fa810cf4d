"""Scenes: JSON both ways, what cannot be is named, and presets are what they say."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from mucore import catalog
from mucore.errors import BadValue, MucoreError, Refused, UnknownName
from mucore.playground import METHODS, PRESETS, SETTINGS, Scene, points_of

OWN = [[-0.5, 0.0, 0], [-0.6, 0.1, 0], [0.5, 0.0, 1], [0.6, 0.1, 1], [0.0, 0.9, 2]]


def test_a_scene_goes_through_json_and_comes_back() -> None:
    for preset in PRESETS:
        assert Scene.read(preset.scene.model_dump(mode="json")) == preset.scene
    own = Scene.read({"points": "own", "own": OWN, "forget": [4]})
    assert own.classes == 3 and own.gone == (2,)
    assert np.abs(np.array(points_of(own)) - np.array(OWN)).max() <= 1 / 255 + 1e-3
    assert [len(part.labels) for part in own.drawn] == [5, 60, 240]


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ({"points": "circle"}, BadValue),
        ({"noise": 0.9}, BadValue),
        ({"points": "own", "own": OWN[:3]}, BadValue),
        ({"points": "own", "own": [[0.0, 0.0, 0]] * 401}, BadValue),
        ({"points": "own", "own": [[*each[:2], 0] for each in OWN]}, BadValue),
        ({"forget": [240]}, BadValue),
        ({"forget": list(range(239))}, BadValue),
        ({"methods": [{"id": "fintune"}]}, UnknownName),
        ({"methods": [{"id": "sisa"}]}, Refused),
        ({"methods": [{"id": "scrub"}, {"id": "scrub"}]}, BadValue),
        ({"methods": [{"id": each} for each in METHODS[:4]]}, BadValue),
        ({"methods": [{"id": "finetune", "parameters": {"speed": 1}}]}, BadValue),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(value: Any, error: type[MucoreError]) -> None:
    with pytest.raises(error) as refused:
        Scene.read(value)
    assert str(refused.value).endswith((".", "?"))


def test_methods_offered_are_the_roster_without_references_and_ensembles() -> None:
    left_out = {card.id for card in catalog.METHODS} - set(METHODS)
    assert left_out == {"retrain", "uploaded", "sisa"}
    assert set(SETTINGS) <= set(METHODS)


def test_presets_are_what_they_say() -> None:
    assert [preset.id for preset in PRESETS] == ["outlier", "cluster", "twin", "class"]
    for preset in PRESETS:
        for seed in range(5):
            scene = preset.at(seed)
            train, chosen = scene.train, np.isin(np.arange(240), scene.forget)
            apart = np.linalg.norm(train.xy[:, None] - train.xy, axis=2)
            np.fill_diagonal(apart, np.inf)
            labels = train.labels[chosen]
            match preset.id:
                case "twin":  # 240 points in a square of side 2: a typical distance is 0.13
                    other = int(apart[chosen][0].argmin())
                    assert chosen.sum() == 1 and apart[chosen].min() <= 0.02
                    assert train.labels[other] == labels[0]
                case "outlier":
                    near = apart[chosen][0].argsort()[:10]
                    assert chosen.sum() == 1 and not (train.labels[near] == labels[0]).any()
                case "cluster":
                    inside = (train.xy < 0).all(axis=1) & (train.labels == labels[0])
                    assert np.array_equal(chosen, inside) and chosen.sum() > 40
                    assert (train.labels[~chosen] == labels[0]).any()
                case "class":
                    assert np.array_equal(chosen, train.labels == 0) and scene.gone == (0,)


def test_a_page_reads_scenes_without_torch() -> None:
    code = "import sys, mucore.playground; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
