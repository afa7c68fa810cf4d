"""The Board page: what it says of a suite that has not been run, in part, and whole."""

from __future__ import annotations

from functools import partial

import pytest
from boards import QUICK, fill
from pages import open_page, words_on

from mucore.store import open_store
from mucore.suite import description

opened = partial(open_page, "board", suite=QUICK)


def table(at):
    return at.dataframe[0].value


def test_without_runs_the_page_names_the_command(home):
    at = opened()
    assert not at.exception
    assert at.code[0].value == (f"python -m mucore suite run {QUICK} --division authors --jobs 2")
    assert [one.label for one in at.selectbox] == ["Suite"]
    assert len(at.selectbox[0].options) == len(description.names())


def test_the_page_opens_on_the_suite_that_has_results(home):
    first, *_ = description.names()
    assert first != QUICK and open_page("board").selectbox[0].value == first
    fill(home)
    assert open_page("board").selectbox[0].value == QUICK
    assert open_page("board", suite=first).selectbox[0].value == first


def test_all_tasks_put_first_what_forgot_in_most(home):
    fill(home)
    at = opened()
    assert not at.exception
    shown = table(at)
    assert shown["Method"].tolist()[0] == "SCRUB" and shown["Forgot in"].tolist()[0] == "2 of 2"
    assert set(shown["Forgot in"].tolist()[1:]) == {"0 of 2"}
    words = shown.set_index("Method")["Part of one class"]
    assert (words["SCRUB"], words["Fine-tune"], words["SSD"]) == (
        "forgot",
        "did nothing",
        "too little",
    )
    assert shown["Work"].tolist() == pytest.approx([0.1] * 3)
    assert len(at.info) == 1  # most methods were not run


def test_a_task_opens_on_the_noise_and_tells_what_is_missing(home):
    fill(home, seeds=3)
    at = opened(task="one_class")
    assert not at.exception
    shown = table(at)
    assert shown["Method"].tolist()[:3] == ["Retrain, other seeds", "Original", "SCRUB"]
    noise, original, scrub = (shown["Distance"].tolist()[place] for place in range(3))
    assert original > 10 * noise > 0 and scrub == pytest.approx(0, abs=1e-9)
    assert len(shown) == 5
    missing = at.dataframe[1].value
    assert len(missing) > 30 and "Fisher forgetting" in set(missing["Method"])
    assert (missing["Why"] != "").all()


def test_a_line_opens_its_run(home):
    fill(home)
    with open_store(home) as store:
        key = next(
            r.key
            for r in store.results()
            if (r.spec["method"], r.spec["scenario"]) == ("scrub", "backdoor")
        )
    at = opened(task="backdoor", run=key)
    assert not at.exception and [one.value for one in at.subheader][0] == "SCRUB, training seed 0"


@pytest.mark.parametrize(
    "query", [{"suite": "nonsense"}, {"division": "x"}, {"task": "%00"}, {"run": "0" * 24}]
)
def test_an_address_that_means_nothing_shows_the_page(home, query):
    fill(home)
    at = open_page("board", **{"suite": QUICK, **query})
    assert not at.exception and not at.error and words_on(at)
