"""A question of a lesson that is held before a room: readers vote, the presenter watches and
reveals, and then all see the answer, the votes and their own.
"""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import access, room, state
from dashboard.charts import vote_bars
from dashboard.lessons.ballots import Ballot, of_check, tally
from dashboard.lessons.records import Guess, Lesson
from dashboard.lessons.results import LessonResults
from dashboard.lessons.values import choices
from dashboard.sections.lessons import quiz
from dashboard.text import units
from dashboard.widgets import course, figures, guests, messages, presenting
from dashboard.widgets.markdown import escape
from mucore.errors import BadValue
from mucore.store import Talk


def show_guess(
    lesson: Lesson, number: int, guess: Guess, held: Talk, results: LessonResults | None
) -> bool:
    """A step's prediction as a vote; whether its outcome is shown. Without `results` there is
    nothing to reveal yet.
    """
    ballot, name = Ballot(str(number), guess.options), f"lesson:{lesson.id}:{number}"
    revealed = ballot.name in held.revealed and results is not None
    with st.container(border=True):
        st.markdown(f":material/how_to_vote: **What do you think?** {guess.ask}")
        if revealed and results is not None:
            given = show_votes(lesson, ballot, choices(guess, results))
            shown = given if given is None or guess.options else float(given)
            quiz.show_verdict(guess, shown, results)
            state.set_ticket(f"{name}:open", True)  # also when the talk has ended
            if shown is not None:
                state.set_ticket(f"{name}:guess", shown)
        else:
            ask(lesson, ballot, ready=results is not None)
    return revealed


def show_check(lesson: Lesson, number: int, held: Talk) -> None:
    """A question of "Check yourself" as a vote."""
    question, ballot = lesson.check[number - 1], of_check(lesson, number)
    st.markdown(f"**{number}. {question.text}**")
    if ballot.name not in held.revealed:
        ask(lesson, ballot, ready=True)
        return
    right = str(question.right + 1)
    given = show_votes(lesson, ballot, {right})
    if given is not None:
        state.set_ticket(f"lesson:{lesson.id}:check:{number}", int(given) - 1)
    st.markdown(f"**{escape(ballot.title(right))}.** {question.why}")


def ask(lesson: Lesson, ballot: Ballot, *, ready: bool) -> None:
    """The question while its answer is not shown: to who presents the votes, to others a form."""
    if not access.presents():
        answer(lesson, ballot)
        return
    watch(lesson, ballot)
    line = st.container(horizontal=True, vertical_alignment="center")
    line.button(
        "Reveal",
        type="primary",
        icon=":material/visibility:",
        key=f"reveal:{lesson.id}:{ballot.name}",
        on_click=reveal,
        args=(ballot.name,),
        disabled=not ready,
        help="Ends the vote and shows everyone the answer."
        if ready
        else "The answer comes from this story's runs. Run them first.",
    )
    line.button(
        "Vote again",
        icon=":material/replay:",
        key=f"again:{lesson.id}:{ballot.name}",
        on_click=again,
        args=(ballot.name,),
        help="After a discussion: these votes are kept and shown beside the next ones.",
    )
    with line.popover("Raised hands", icon=":material/front_hand:", type="tertiary"):
        hands(ballot, f"hands:{lesson.id}:{ballot.name}")


def hands(ballot: Ballot, name: str) -> None:
    """Counts in the place of votes, for a room whose phones do not come through; nothing typed
    empties the question.
    """
    with st.form(name, border=False):
        counts = {
            choice: st.number_input(title, 0, 500, key=f"{name}:{choice}")
            for choice, title in ballot.options.items()
        }
        label = "Count these instead of the votes" if counts else "Empty the question"
        if st.form_submit_button(label, icon=":material/restart_alt:"):
            with messages.kept("talk_problem"):
                room.empty(ballot.name, counts)


def again(question: str) -> None:
    with messages.kept("talk_problem"):
        room.vote_again(question)


def reveal(question: str) -> None:
    with messages.kept("talk_problem"):
        room.reveal(question)


@guests.live(1.0)
def watch(lesson: Lesson, ballot: Ballot) -> None:
    """The votes as they come in."""
    with messages.guarded():
        votes = room.votes(ballot.name)
        count, readers = sum(votes.values()), room.readers()
        votes_here, room_here = units.count(count, "vote"), units.count(readers, "reader")
        if presenting.on():  # the sentence that stands above a figure of a talk
            course.above(f"{votes_here}, {room_here} here.")
        else:
            st.markdown(f"**{votes_here}**, {room_here} here.")
        # before anybody has voted a clicker asks for a second press (assets/presenting.js)
        with st.container(key=None if count else f"no_votes:{ballot.name}"):
            draw(lesson, ballot, votes)


@st.fragment
def answer(lesson: Lesson, ballot: Ballot) -> None:
    """A reader's vote. A form sends choice and press at once, however slow the server is."""
    name = f"vote:{lesson.id}:{ballot.name}"
    with messages.sentences():
        said = st.container()
        with st.form(name, border=False):
            chosen = quiz.choose(ballot.options, name)
            sent = st.form_submit_button("Send my answer", type="primary", key=f"{name}:send")
        problem = sent and _send(lesson, ballot, chosen)
        given = room.mine(lesson, ballot.name)
        with said:
            if problem:
                messages.problem(problem)
            if given is not None and ballot.takes(given):
                st.markdown(
                    f":material/check: You said **{escape(ballot.title(given))}**. You can change "
                    "it until the answer is shown. Nobody sees who said what."
                )


def _send(lesson: Lesson, ballot: Ballot, chosen: str | int | None) -> str:
    """What kept the vote from being counted, "" where nothing did."""
    if chosen is None:
        return "Choose an answer first."
    try:
        room.cast(lesson, ballot.name, str(chosen))
    except BadValue as failure:
        return str(failure)
    return ""


def show_votes(lesson: Lesson, ballot: Ballot, right: Collection[str]) -> str | None:
    """The votes beside the answer; what this reader said."""
    given = None if access.presents() else room.mine(lesson, ballot.name)
    given = given if given is not None and ballot.takes(given) else None
    figure = draw(lesson, ballot, room.votes(ballot.name), right=right, mine=given)
    if access.presents():
        asked = tally(ballot, room.votes(ballot.name), first=room.votes(ballot.name, first=True))
        rows = [{"Choice": one.title, "Before": one.before, "Votes": one.count} for one in asked]
        table = pd.DataFrame(rows).dropna(axis="columns")
        figures.numbers(table, f"votes-{lesson.id}-{ballot.name}", figure, of="choices")
    return given


def draw(
    lesson: Lesson,
    ballot: Ballot,
    votes: dict[str, int],
    right: Collection[str] | None = None,
    mine: str | None = None,
) -> go.Figure:
    first = room.votes(ballot.name, first=True)
    bins = tally(ballot, votes, first=first, answers=right, mine=mine)
    figure = vote_bars.draw(bins, dark=state.dark())
    figures.chart(figure, f"votes:{lesson.id}:{ballot.name}", alt=vote_bars.alt_text(bins))
    return figure
