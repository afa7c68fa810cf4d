"""The Board page: what it says of a suite that has not been run, in part, and whole."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from boards import QUICK, fill, tune
from facts import tells
from pages import figures, open_page

from dashboard.frames.board import NO_RANK
from mucore import catalog
from mucore.store import open_store
from mucore.suite import description

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


def numbers_of(at):
    (found,) = (one.value for one in at.dataframe if NO_RANK in one.value)
    return found


@pytest.mark.slow
def test_without_runs_the_page_names_the_command(home):
    at = opened()
    assert not at.exception
    command = f"python -m mucore suite run {QUICK} --division authors --jobs 2"
    assert command in [one.value for one in at.code]
    assert at.selectbox(key="url:suite").options and len(
        at.selectbox(key="url:suite").options
    ) == len(description.names())


@pytest.mark.slow
def test_the_page_opens_on_the_suite_that_has_results(home):
    first, *_ = description.names()
    board = partial(open_page, "results", tab="board")
    assert first != QUICK and board().selectbox(key="url:suite").value == first
    fill(home)
    assert board().selectbox(key="url:suite").value == QUICK
    assert board(suite=first).selectbox(key="url:suite").value == first


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


@pytest.mark.slow
def test_a_tuned_line_says_that_its_search_had_other_means(home, monkeypatch):
    tune(monkeypatch, scrub={"trials": 100}, finetune={}, ssd={"cap": 1.0, "open": True})
    fill(home, division="tuned", works={"ssd": 0.6})
    at = opened(task="one_class", division="tuned")
    assert not at.exception
    happened = table(at).set_index("Method")["What happened"]
    assert tells(happened["SCRUB"], "100 trials", "24")
    assert tells(happened["SSD"], "0.6", "0.33", "open")
    assert not any(word in happened["Fine-tune"] for word in ("trials", "search", "0.33"))


@pytest.mark.slow
def test_a_line_opens_its_run(ranked):
    with open_store(ranked) as store:
        key = next(
            r.key
            for r in store.results()
            if (r.spec["method"], r.spec["scenario"]) == ("scrub", "backdoor")
        )
    at = opened(task="backdoor", run=key)
    assert not at.exception and [one.value for one in at.subheader][0] == "SCRUB, training seed 0"


def test_what_is_hidden_leaves_the_board_and_what_is_pinned_leads(ranked):
    at = opened(hide="scrub", pin="ssd")
    assert not at.exception
    assert table(at)["Method"].tolist() == ["SSD", "Fine-tune"]
    assert set(table(at)["Shown in"]) == {"0 of 2"}
    at.multiselect(key="url:hide").set_value([]).run()
    assert table(at)["Method"].tolist() == ["SSD", "SCRUB", "Fine-tune"]
    at.selectbox(key="url:task").select("one_class").run()
    assert table(at)["Method"].tolist()[-3:] == ["SSD", "SCRUB", "Fine-tune"]
    at.multiselect(key="url:hide").set_value(["ssd", "scrub"]).run()
    assert table(at)["Method"].tolist()[3:] == ["Fine-tune"]


@pytest.mark.slow
def test_the_bars_of_ranks_are_by_either_test(ranked):
    (nemenyi,) = figures(opened())
    written = [each.get("text", "") for each in nemenyi["layout"]["annotations"]]
    assert any(text.startswith("critical difference") for text in written)
    (pairs,) = figures(opened(bars="wilcoxon"))
    written = [each.get("text", "") for each in pairs["layout"]["annotations"]]
    assert not any(text.startswith("critical difference") for text in written)


@pytest.mark.slow
def test_what_is_missing_is_said_with_its_reason(home):
    fill(home, methods=("scrub", "finetune", "ssd", "salun"), lacking=[("backdoor", "salun")])
    at = opened()
    assert NO_RANK not in table(at)
    # all columns are below, with the file
    ranks = numbers_of(at).set_index("Method")[["Average rank", NO_RANK]]
    backdoor = catalog.scenario("backdoor").title
    assert ranks["Average rank"].isna()["SalUn"] and backdoor in ranks.loc["SalUn"].iloc[1]
    assert ranks.loc["SSD"].iloc[1] == "" and ranks["Average rank"].notna()["SSD"]
    assert all(one.proto.placeholder == "–" for one in at.dataframe[:1])
    gaps = at.dataframe[1].value
    assert ["SalUn", backdoor, "It was not run."] in gaps.values.tolist()
    captions = " ".join(one.value for one in at.caption)
    assert "--division tuned" in captions  # of which nothing is there


@pytest.mark.slow
def test_a_task_without_retrain_is_named(home):
    fill(home, lacking=[("backdoor", "retrain")])
    at = opened()
    assert not at.exception
    assert any(
        tells(one.value, catalog.scenario("backdoor").title, "Retrain", "It was not run.")
        for one in at.caption
    )
    assert len(numbers_of(at)) == len(table(at)) and table(at)["Average rank"].isna().all()
