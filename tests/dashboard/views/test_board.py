"""The tab Board of Results: what it says of a suite that has been run in part, and whole."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from boards import QUICK, fill
from pages import open_page

opened = partial(open_page, "results", tab="board", suite=QUICK)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with results of both tasks, which is only read."""
    home = tmp_path_factory.mktemp("board")
    fill(home)
    return home


@pytest.fixture
def ranked(home: Path, made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MUCORE_HOME", str(made))
    return made


def table(at):
    return at.dataframe[0].value


def test_all_tasks_put_first_what_forgot_in_most(ranked):
    at = opened()
    assert not at.exception
    shown = table(at)
    assert shown["Method"].tolist()[0] == "SCRUB" and shown["Shown in"].tolist()[0] == "2 of 2"
    assert set(shown["Shown in"].tolist()[1:]) == {"0 of 2"}
    assert set(shown["Indicated in"]) == {"0"}
    words = shown.set_index("Method")["Part of one class"]
    assert (words["SCRUB"], words["Fine-tune"], words["SSD"]) == (
        "forgot",
        "did nothing",
        "too little",
    )
    assert shown["Work"].tolist() == pytest.approx([0.1] * 3)


def test_a_task_opens_on_the_noise_and_tells_what_is_missing(home):
    fill(home, seeds=3)
    at = opened(task="one_class")
    assert not at.exception
    shown = table(at)
    assert shown["Method"].tolist()[:4] == ["Retrain, 95 % band", "Retrain", "Original", "SCRUB"]
    noise, retrain, original, scrub = shown["Distance, spreads"].tolist()[:4]
    assert original > 10 * noise > 0 == retrain and scrub == pytest.approx(0, abs=1e-9)
    assert len(shown) == 6
    # two Retrains lie 0.8 points apart once, 0.6 twice, 0.4 three times and 0.2 four times: of all
    # twenty differences, either way, the 97.5th percentile stands between 0.6 and 0.8
    assert shown["FA %"].tolist()[0] == "±0.7"
    assert shown["Work"].tolist()[:3] == [1.0, 1.0, 0.0]
    happened = shown.set_index("Method")["What happened"]
    assert happened["SCRUB"].endswith("Seeds 3, 4: It was not run.") and not happened["Retrain"]
    missing = at.dataframe[1].value
    assert len(missing) > 30 and "Fisher forgetting" in set(missing["Method"])
    assert (missing["Why"] != "").all()
