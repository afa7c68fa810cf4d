"""Values of the helpers: words, job progress, forms from cards, downloads, messages."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.frames import queue as queue_frames
from dashboard.text import units
from dashboard.widgets.figures import _downloads
from dashboard.widgets.markdown import escape
from mucore import unforeseen
from mucore.runner.estimate import Left
from mucore.store.records import Job, JobState

pytestmark = pytest.mark.smoke
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


# --- words
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "seconds, text",
    [
        (None, "–"),
        (0.2, "under 1 s"),
        (59.6, "1 min"),
        (200, "3 min 20 s"),
        (7500, "2 h 5 min"),
        (86400, "1 d"),
    ],
)
def test_duration(seconds, text):
    assert units.duration(seconds) == text


@pytest.mark.parametrize(
    "count, text", [(None, "–"), (0, "0 B"), (4100, "4.1 kB"), (2.5e12, "2.5 TB")]
)
def test_size(count, text):
    assert units.size(count) == text


@pytest.mark.parametrize(
    "value, text", [(1e-4, "0.0001"), (None, "none"), ((3, 5, 9), "3,5,9"), ([], "")]
)
def test_plain(value, text):
    assert units.plain(value) == text


# --- job progress
# --------------------------------------------------------------------------------------------------


def make_job(number: int, key: str, state: JobState, **changes: Any) -> Job:
    fields: dict[str, Any] = {
        "id": number,
        "key": key,
        "spec": {},
        "label": key,
        "state": state,
        "priority": number,
        "needs": (),
        "comparison": None,
        "progress": 0.0,
        "step": "",
        "losses": (),
        "deaths": 1,
        "cancel_requested": False,
        "worker": None,
        "error": None,
        "log": None,
        "queued": NOW,
        "started": None,
        "finished": None,
        "heartbeat": None,
    }
    return Job(**(fields | changes))


def test_newest_keeps_the_last_try_of_each_key():
    jobs = [
        make_job(3, "b", "queued"),
        make_job(1, "a", "failed"),
        make_job(4, "a", "queued", priority=1),
    ]
    assert [(job.id, job.key) for job in queue_frames.newest(jobs)] == [(4, "a"), (3, "b")]


def test_what_is_done_is_shared_by_the_clock():
    running = make_job(2, "b", "running", started=NOW - timedelta(seconds=10), progress=0.9)
    left = Left(40, {"b": 30, "c": 10})
    share = queue_frames.done_share([running], left, NOW, done=2, of=5)
    assert share == pytest.approx((2 + 0.25) / 5)  # b has run for 10 s of 40
    assert queue_frames.done_share([], Left(None), NOW, done=0, of=0) == 0


def test_a_job_that_only_starts_has_done_nothing_yet():
    job = make_job(1, "a", "running", started=NOW - timedelta(seconds=10), step="starting")
    assert queue_frames.job_share(job, 5, NOW) == 0


def test_by_cause_hangs_every_follower_on_the_job_that_failed():
    training = make_job(1, "t", "failed", started=NOW)
    retrain = make_job(2, "r", "failed", needs=("t",))
    method = make_job(3, "m", "failed", needs=("t", "r"))
    other = make_job(4, "o", "cancelled", needs=("x",))
    causes, followers = queue_frames.by_cause([training, retrain, method, other])
    assert [job.key for job in causes] == ["t", "o"]
    assert {key: [job.key for job in each] for key, each in followers.items()} == {"t": ["r", "m"]}


# --- messages, help, downloads
# --------------------------------------------------------------------------------------------------


def test_escape_keeps_markdown_from_meaning_anything():
    assert escape("a*b_c [x](y) `z` $1$") == r"a\*b\_c \[x\](y) \`z\` \$1\$"


def test_downloads_hold_the_frame():
    frame = pd.DataFrame({"x": [1, 2]})
    made = {label: make().decode() for label, _, make in _downloads(frame, None)}
    assert made["CSV"].split() == ["x", "1", "2"]
    assert set(made) == {"CSV", "LaTeX", "HTML"}
    assert "<td>2</td>" in made["HTML"]
    assert r"\toprule" in made["LaTeX"]


def guarded_page():
    import logging

    import streamlit as st

    from dashboard.widgets import messages
    from mucore.errors import BadValue

    logging.getLogger("dashboard.widgets.messages").disabled = True
    with messages.guarded():
        raise BadValue("lr must be in [0, 1], but got 7.")
    with messages.guarded():
        raise ZeroDivisionError("division by zero")
    st.write("still here")


def test_guard_shows_a_sentence_and_no_traceback():
    at = AppTest.from_function(guarded_page, default_timeout=60).run()
    assert not at.exception
    assert "lr must be in" in at.error[0].value
    assert "ZeroDivisionError" in at.error[1].value and "Reload" in at.error[1].value
    assert at.markdown[-1].value == "still here"


def callback_page():
    import streamlit as st

    from dashboard import state
    from dashboard.widgets import messages
    from mucore.errors import BadValue

    def act(failure):
        with messages.kept("what_failed", "It failed: "):
            raise failure

    for name, failure in (("foreseen", BadValue("Say less.")), ("not", KeyError("x"))):
        st.button(name, on_click=act, args=(failure,))
    st.write(str(state.ticket("what_failed")))


def test_what_a_callback_did_not_foresee_stands_in_the_log_under_a_number(tmp_path, monkeypatch):
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path))
    at = AppTest.from_function(callback_page, default_timeout=60).run()
    at.button[0].click().run()
    assert at.markdown[-1].value == "It failed: Say less."
    at.button[1].click().run()
    number = re.search(r"under (\w{8})\b", at.markdown[-1].value)
    assert number is not None and not at.exception
    assert number[1] in (tmp_path / "logs" / unforeseen.FILE).read_text(encoding="utf-8")


# --- forms
# --------------------------------------------------------------------------------------------------


def form_page():
    import streamlit as st

    from dashboard.widgets import forms
    from mucore import catalog

    form = forms.parameter_form(catalog.method("gradient_ascent").parameters, {"lr": 0.001}, "ga")
    st.session_state["form"] = (form.values, form.changed, form.problems)


def field(at: AppTest, label: str):
    return next(one for one in [*at.text_input, *at.selectbox] if one.label == label)


def test_form_starts_at_the_given_values_and_knows_what_changed():
    at = AppTest.from_function(form_page, default_timeout=60).run()
    values, changed, problems = at.session_state["form"]
    assert not at.exception
    assert values["lr"] == 0.001 and values["epochs"] == 5 and values["bn"] == "frozen"
    assert changed == {} and problems == ()
    field(at, "lr").set_value("3e-4").run()
    field(at, "grad clip").set_value("none").run()
    field(at, "bn").select("train").run()
    values, changed, problems = at.session_state["form"]
    assert changed == {"lr": 3e-4, "grad_clip": None, "bn": "train"}
    assert at.query_params == {"ga.lr": "3e-4", "ga.grad_clip": "none", "ga.bn": "train"}


def test_form_says_what_is_wrong_at_the_field():
    at = AppTest.from_function(form_page, default_timeout=60).run()
    field(at, "momentum").set_value("50").run()
    values, changed, problems = at.session_state["form"]
    assert len(problems) == 1 and "momentum must be in" in problems[0]
    assert "momentum" not in values and "momentum" not in changed
    assert any("momentum must be in" in one.value for one in at.markdown)


def cards_page():
    import streamlit as st

    from dashboard.widgets import forms
    from mucore import catalog

    wrong = st.session_state["wrong"] = []
    for card in [*catalog.methods(), *catalog.scenarios()]:
        form = forms.parameter_form(card.parameters, {}, card.id)
        usual = {
            one.name: list(one.default) if isinstance(one.default, tuple) else one.default
            for one in card.parameters
        }
        if form.problems or form.changed or form.values != usual:
            wrong.append(card.id)
    st.write("the end")


def test_every_card_makes_a_form_that_returns_its_defaults():
    at = AppTest.from_function(cards_page, default_timeout=60).run()
    assert not at.exception and at.session_state["wrong"] == []
    assert at.markdown[-1].value == "the end"
