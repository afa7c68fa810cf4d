"""`mucore.api.compare`, as a script or notebook calls it."""

from typing import Any

import pytest

import mucore.api as mu
from mucore.errors import BadValue, MucoreError
from mucore.store import open_store


def compare(home, **changes):
    content: dict[str, Any] = {
        "dataset": "digits",
        "model": "mlp",
        "preset": "quick",
        "recipe": {"epochs": 2},
        "home": home,
        "device": "cpu",
    }
    return mu.compare(**{**content, **changes})


def test_a_comparison_comes_back_as_a_frame_and_is_cached(tmp_path):
    frame = compare(tmp_path, scenario="class_wise", methods=["finetune", "ssd"], seeds=[0, 1])
    assert sorted(frame["method"].value_counts().to_dict().items()) == [("finetune", 2), ("original", 2), ("retrain", 2), ("ssd", 2)]
    retrain = frame[frame["method"] == "retrain"]
    assert (retrain["fa"] == 0).all()  # it never saw the class
    again = compare(tmp_path, scenario="class_wise", methods=["finetune", "ssd"], seeds=[0, 1])
    assert list(again["finished"]) == list(frame["finished"])


def test_nothing_computed_is_a_sentence(tmp_path):
    with pytest.raises(BadValue, match="leave something to retain"):
        compare(tmp_path, scenario="all_classes", scenario_parameters={"budget": 100_000}, methods="ssd")
    with pytest.raises(MucoreError, match="must be of training samples"):
        compare(tmp_path, scenario="ids", scenario_parameters={"ids": [10**9]}, methods="ssd")


def test_an_interrupt_keeps_what_is_finished_and_leaves_nothing_running(tmp_path, monkeypatch):
    from mucore import training

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "retrain", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compare(tmp_path, methods=["finetune"])
    store = open_store(tmp_path)
    assert {job.state for job in store.jobs()} == {"done", "cancelled"}
    assert len(store.summaries()) == 1  # the original's training
    store.close()
