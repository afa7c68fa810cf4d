"""Predictions of several yes-or-no labels an image, in their file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from builders import make_outputs

from mucore.outputs import Outputs, SplitOutputs, confusion
from mucore.store import Artifacts


def made(samples: int, attributes: int, *, features: bool) -> Outputs:
    generator = np.random.default_rng(samples + attributes)
    splits = {}
    for number, name in enumerate(("forget", "test")):
        logits = generator.normal(size=(samples, attributes)).astype(np.float32)
        labels = generator.integers(0, 2, (samples, attributes))
        splits[name] = SplitOutputs(
            logits=logits,
            labels=labels,
            ids=np.arange(samples) + number * samples,
            confusion=confusion(labels, (logits > 0).astype(np.int64), attributes),
            features=generator.normal(size=(samples // 2, 5)).astype(np.float16)
            if features
            else None,
        )
    return Outputs(splits)


@pytest.mark.parametrize(("samples", "attributes", "features"), [(12, 3, True), (7, 1, False)])
def test_predictions_come_back_as_they_went_in(
    tmp_path: Path, samples: int, attributes: int, features: bool
):
    artifacts, given = Artifacts(tmp_path), made(samples, attributes, features=features)
    found = artifacts.get_outputs(artifacts.put_outputs(given))
    assert list(found) == list(given)
    for name, split in given.items():
        assert found[name].task == "attributes" and found[name].total == samples
        for field in ("logits", "labels", "ids", "confusion"):
            np.testing.assert_array_equal(getattr(found[name], field), getattr(split, field))
            assert getattr(found[name], field).dtype == getattr(split, field).dtype
        assert (found[name].features is None) == (split.features is None)


def test_a_single_attribute_is_not_taken_for_classes_nor_classes_for_attributes(tmp_path: Path):
    artifacts = Artifacts(tmp_path)
    assert artifacts.get_outputs(artifacts.put_outputs(made(5, 1, features=False)))[
        "test"
    ].labels.shape == (5, 1)
    assert artifacts.get_outputs(artifacts.put_outputs(make_outputs(0)))["test"].task == "classes"
