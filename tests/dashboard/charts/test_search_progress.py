"""Searches of settings, trial by trial: what is drawn, and what is said."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest
from builders import full_store
from facts import tells
from pages import open_page, words_on

from dashboard.charts import search_progress
from dashboard.frames import method as frames
from mucore.tuning.objective import REVISION
from mucore.tuning.study import Study, Trial

TASK = {"scenario": "one_class", "dataset": "digits", "model": "mlp", "preset": "standard"}
SCORES = (5.0, 60.0, 0.0, 200.0, 0.4)
STOPPED, OUT = 1, 3


def trial(number: int, seed: int) -> Trial:
    values, score = {"lr": 0.1 * (number + 1)}, SCORES[number]
    return Trial(seed=seed, values=values, score=score, work=0.1, seconds=1.0, over=number == OUT)


def study(*more: Trial) -> Study:
    """The authors' setting is judged, and two others; one stopped, and one took too much."""
    first = [
        trial(number, seed)
        for number in range(5)
        for seed in ((100,) if number in (STOPPED, OUT) else (100, 101, 102))
    ]
    return Study(TASK, "finetune", "1", 100, 0.33, False, (*first, *more))


def test_a_search_is_drawn_setting_by_setting():
    (one,) = frames.found([study()], [])
    judged, fewer, out = frames.JUDGED, frames.FEWER, frames.OUT
    assert one.tried["outcome"].tolist() == [judged, fewer, judged, out, judged]
    assert one.tried["best"].tolist() == [5.0, 5.0, 0.0, 0.0, 0.0] and one.original is None
    info = search_progress.search_progress_info(one)
    scores = info.tried["score"].tolist()
    assert scores == pytest.approx([5.0, 60.0, search_progress.LEAST, 200.0, 0.4])
    figure = search_progress.draw(info, dark=False)
    assert [trace.name for trace in figure.data] == [
        "best so far",
        *search_progress.MARKS,
        "Margin of the verdict",
    ]  # nobody said what doing nothing scores
    assert [list(trace.x) for trace in figure.data[1:4]] == [[1, 3, 5], [2], [4]]
    lined = search_progress.draw(replace(info, original=50.0), dark=True)
    assert [trace.y[0] for trace in lined.data[-2:]] == [1.0, 50.0]


def test_the_page_shows_the_readers_search_and_names_a_damaged_one(tmp_path, monkeypatch):
    home = tmp_path / "home"
    monkeypatch.setenv("MUCORE_HOME", str(home))
    full_store(home)
    folder = home / "studies" / "a-task"
    folder.mkdir(parents=True)
    content = asdict(study())
    head = {name: content[name] for name in ("method", "revision", "seed", "cap", "open")}
    text = json.dumps({"rule": REVISION, "task": TASK, "study": head, "trials": content["trials"]})
    (folder / "finetune.json").write_text(text)
    app = open_page("method", method="finetune")
    assert tells(words_on(app), "5 settings")
    (folder / "finetune.json").write_text(text[:-9])
    app = open_page("method", method="finetune")
    assert not app.exception and "finetune.json" in words_on(app)
