"""The page Replay as a reader meets it: what is ready, what can be made here, and what cannot."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from builders import full_store, make_model, make_result, make_spec_row, replay_value
from facts import tells
from pages import button, figures, open_page, words_on
from streamlit.testing.v1 import AppTest

from mucore import analysis
from mucore.analysis import Kind, replay
from mucore.runner import analyses
from mucore.store import open_store

opened = partial(open_page, "compare", tab="replay")
ENDS = {"finetune": 60.0, "scrub": 0.0, "salun": 1.0}


def put(
    home: Path,
    *,
    ready: tuple[str, ...],
    methods: tuple[str, ...] = ("finetune", "scrub", "salun"),
    **changes: Any,
) -> dict[str, str]:
    """Runs on digits that forgot class 0, with Retrain; `ready` ones have a replay. Gives their
    keys by method.
    """
    keys = {}
    with open_store(home) as store:
        for method in ("original", "retrain", *methods):
            spec = make_spec_row(scenario="class_wise", method=method, **changes)
            metrics = (
                {"fa": 0.0, "ra": 0.99, "ta": 0.88}
                if method == "retrain"
                else {"fa": 0.5, "ta": 0.9}
            )
            store.put_result(
                make_result(
                    spec, metrics=metrics, confusion={"test": np.eye(10, dtype=int).tolist()}
                )
            )
            keys[method] = spec.key
    for method in ready:
        write(home, keys[method], replay_value([98.0, 50.0, ENDS[method]], classes=10))
    return keys


def write(home: Path, key: str, content: dict[str, Any]) -> None:
    """Keep a replay as the command would."""
    kinds = {
        **analysis.KINDS,
        "replay": Kind(lambda *_: content, replay.Parameters, analysis.KINDS["replay"].revision),
    }
    before, analysis.KINDS = analysis.KINDS, kinds
    try:
        with open_store(home) as store:
            analysis.compute("replay", {"key": key}, store, home)
    finally:
        analysis.KINDS = before


def keep_original(home: Path) -> None:
    """Weights for the original of the runs of `put`."""
    spec = make_spec_row(scenario="class_wise").original()
    with open_store(home) as store:
        weights = store.artifacts.put_arrays({"w": np.zeros(3, np.float32)})
        model = make_model(spec.model_key, spec=spec.model_dump(mode="json"), weights=weights)
        store.put_model(model)


def boxes(at: AppTest) -> dict[str, Any]:
    return {box.label: box for box in at.selectbox}


# -- stores of every fill


def test_nothing_in_the_address_opens_on_two_ready_runs(home):
    """Also where another setting has more runs, and where one that is not ready comes first by
    name.
    """
    full_store(home).close()
    keys = put(
        home, ready=("scrub", "salun"), training_seed=0, scenario_parameters={"class_ids": [1]}
    )
    at = opened()
    assert not at.exception and not at.error
    assert boxes(at)["Run"].value in (keys["scrub"], keys["salun"]) and boxes(at)[
        "Beside it"
    ].value in (keys["scrub"], keys["salun"])
    assert not {"key", "other", "set", "scenario"} & set(at.query_params)
    (figure,) = figures(at)
    assert len(figure["frames"]) == 3 and len(figure["layout"]["sliders"][0]["steps"]) == 3
    assert "Retrain" in [trace.get("name") for trace in figure["data"]]


def test_the_address_names_runs(home):
    keys = put(home, ready=("finetune", "scrub", "salun"))
    at = opened(key=keys["salun"], other=keys["finetune"])
    assert (boxes(at)["Run"].value, boxes(at)["Beside it"].value) == (
        keys["salun"],
        keys["finetune"],
    )
    (figure,) = figures(at)
    assert len(figure["frames"]) == 3
    boxes(at)["Beside it"].select(keys["scrub"]).run()
    assert at.query_params["other"] in (keys["scrub"], [keys["scrub"]])


# -- runs without a replay


def test_a_run_with_weights_gets_a_button_that_starts_its_replay(home, monkeypatch):
    keys = put(home, ready=("scrub",))
    keep_original(home)
    started = []
    monkeypatch.setattr(
        analyses,
        "start",
        lambda store, kind, parameters, *, pack=None: started.append((kind, parameters)),
    )
    at = opened(key=keys["scrub"], other=keys["finetune"])
    assert len(figures(at)) == 1
    assert tells(words_on(at).replace("**", ""), "Fine-tune", "no replay yet")
    button(at, "Replay Fine-tune (about 44 s)").click().run()
    assert started == [("replay", {"key": keys["finetune"]})]
