"""Lessons: five stories that run live, one step a screen: read, predict, look, compare."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, Literal

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import data, progress, state, widgets, words
from dashboard.charts import lesson_bars, lesson_pairs, lesson_pictures, lesson_scatter
from dashboard.lessons import LESSONS
from dashboard.lessons.evidence import Evidence, gather
from dashboard.lessons.parts import (
    Bars,
    Estimate,
    Figure,
    Guess,
    Lesson,
    Neighbours,
    Pairs,
    Pictures,
    Scatter,
    Step,
    compare,
    metrics_of,
    numbers_of,
    of_features,
    shows,
)
from mucore import catalog
from mucore.errors import MucoreError
from mucore.runner.plan import Plan, launch, parse_grid
from mucore.store.records import Job

WAKING = 12  # seconds until a new worker has loaded PyTorch
IMAGES = 8
STATES: Final[dict[str, tuple[str, str, Literal["green", "blue", "red", "gray"]]]] = {
    "ready": ("Ready", ":material/check_circle:", "green"),
    "running": ("Running", ":material/hourglass_top:", "blue"),
    "stopped": ("Stopped", ":material/error:", "red"),
    "not run": ("Not run", ":material/radio_button_unchecked:", "gray"),
}
# Type for a class room; the colours stay those of the theme.
LARGE = """<style>
[data-testid="stMain"] [data-testid="stMarkdownContainer"] { font-size: 1.5rem; line-height: 1.5; }
[data-testid="stMain"] [data-testid="stMarkdownContainer"] p, [data-testid="stMain"] [data-testid="stMarkdownContainer"] li
  { font-size: inherit; line-height: inherit; }
[data-testid="stMain"] [data-testid="stCaptionContainer"] { font-size: 1.1rem; line-height: 1.4; color: inherit; }
[data-testid="stMain"] h1 { font-size: 2.4rem; }
[data-testid="stMain"] h3 { font-size: 1.9rem; }
</style>"""


def page() -> None:
    lesson = LESSONS.get(state.param("lesson"))
    teacher = state.param("teacher") == "1"
    if teacher:
        st.html(LARGE)
    if lesson is None:
        overview()
    else:
        show_lesson(lesson, teacher)


# --- the runs of a lesson ------------------------------------------------------------------------------------------------------------


def plan_of(lesson: Lesson) -> Plan:
    return data.plan(parse_grid(lesson.grid))


def stopped(plan: Plan) -> list[Job]:
    """The newest jobs of missing runs that ended without a result."""
    jobs = progress.newest(data.jobs(keys=plan.keys, limit=10 * len(plan.keys)))
    return [job for job in progress.in_state(jobs, "failed", "lost", "cancelled") if job.key not in plan.cached]


def status(plan: Plan) -> str:
    """A key of `STATES`."""
    if not plan.to_run:
        return "ready"
    if data.jobs(keys=[spec.key for spec in plan.to_run], states=["queued", "running"]):
        return "running"
    return "stopped" if stopped(plan) else "not run"


def evidence_of(lesson: Lesson, plan: Plan) -> Evidence:
    """The lesson's own runs, or the demo's of the same scenario while the demo is shown."""
    source = data.source()
    outputs = data.outputs if any(of_features(step) for step in lesson.steps) else None
    if source.demo:
        scenarios = list(dict.fromkeys(spec.scenario for spec in plan.specs if spec.scenario))
        methods = list(dict.fromkeys(spec.method for spec in plan.specs))
        return gather(source.store.results(scenario=scenarios, method=methods), plan.specs, demo=True, outputs=outputs)
    return gather(source.store.results(keys=plan.keys), plan.specs, outputs=outputs)


def estimate(lesson: Lesson, plan: Plan) -> float:
    """Wall seconds: from past runs where there are any, else as measured when the lesson was written."""
    seconds = plan.seconds if plan.seconds is not None else float(lesson.seconds)
    return seconds + (0 if data.workers() or plan.seconds is None else WAKING)


def begin(lesson: Lesson) -> None:
    """Queue what is missing. Callbacks run before the page is drawn, so the page shows the outcome."""
    try:
        plan = plan_of(lesson)
        launch(plan, data.own_store(), name=f"Lesson: {lesson.title}", note=lesson.question)
        data.start_workers()
    except Exception as failure:
        state.set_ticket("lesson_problem", str(failure))


def again(lesson: Lesson) -> None:
    """Retry what stopped."""
    try:
        store = data.own_store()
        for job in stopped(plan_of(lesson)):
            store.retry(job.id)
        data.start_workers()
    except Exception as failure:
        state.set_ticket("lesson_problem", str(failure))


def run_panel(lesson: Lesson, plan: Plan) -> None:
    """What stands where the runs are not complete: the button, the progress, or what went wrong."""
    now = status(plan)
    if problem := state.ticket("lesson_problem"):
        widgets.error(widgets.escape(str(problem)))
        state.set_ticket("lesson_problem", None)
    if now == "running":
        watch(lesson)
    elif now == "stopped":
        show_stopped(lesson, plan)
    elif now == "not run":
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            named = f"{catalog.dataset(str(lesson.grid['dataset'])).title} with {catalog.model(str(lesson.grid['model'])).title}"
            st.markdown(
                f"This story runs live: {words.count(len(plan.to_run), 'run')} of {named}, on this machine. Read on while they run.",
                width="stretch",
            )
            label = f"Run it live (about {words.duration(estimate(lesson, plan))})"
            st.button(label, type="primary", icon=":material/play_arrow:", key="begin", on_click=begin, args=(lesson,), help=plan.basis)


def show_stopped(lesson: Lesson, plan: Plan) -> None:
    causes, followers = progress.by_cause(stopped(plan))
    with st.container(border=True):
        for job in causes[:3]:
            lines = (job.error or "").strip().splitlines()
            silent = {"cancelled": "It was cancelled.", "lost": "Its worker was lost."}.get(job.state, "It gave no reason.")
            said = lines[-1] if lines else silent
            st.markdown(f":red[:material/error: **{widgets.escape(job.label)}** stopped: {widgets.escape(said)}]")
        waiting = sum(len(jobs) for jobs in followers.values())
        if waiting:
            st.caption(f"{words.count(waiting, 'run')} that {'needs' if waiting == 1 else 'need'} it did not run.")
        with st.container(horizontal=True):
            st.button("Try again", type="primary", icon=":material/replay:", key="again", on_click=again, args=(lesson,))
            widgets.link("queue", "Open the queue", icon=":material/list_alt:")


@st.fragment(run_every=1.0)
def watch(lesson: Lesson) -> None:
    with widgets.guarded():
        data.reap()
        plan = plan_of(lesson)
        if status(plan) != "running":
            st.rerun()
        now, alive = datetime.now(UTC), data.workers()
        jobs = progress.newest(data.jobs(keys=plan.keys, limit=10 * len(plan.keys)))
        view = progress.overview(jobs, known=plan.cached, keys=plan.keys, workers=len(alive), now=now)
        left = f" · about {words.duration(view.seconds)} left" if view.seconds is not None else ""
        with st.container(border=True):
            st.progress(view.share, text=f"**{view.done} of {words.count(view.total, 'run')} done**{left}")
            for job in progress.in_state(jobs, "running")[:2]:
                st.caption(widgets.escape(f"{job.label}: {job.step or 'starting'}"))
            if alive:
                return
            if data.workers_starting():
                st.caption(":material/hourglass_top: A worker is starting; it loads PyTorch first, which takes some seconds.")
            else:
                reason = data.worker_failure()
                st.markdown(f":material/warning: No worker lives, so nothing moves. {widgets.escape(reason)}")
                st.button("Start a worker", icon=":material/play_arrow:", key="start_worker", on_click=again, args=(lesson,))


# --- overview ------------------------------------------------------------------------------------------------------------------------


def overview() -> None:
    widgets.header(
        "How can a model forget, and how would you know?",
        "Five stories, each with a real experiment on this machine. Predict first, then look. Begin with the first.",
        data.source(),
    )
    teacher_switch()
    lessons = list(LESSONS.values())
    for start in range(0, len(lessons), 3):
        for column, (number, lesson) in zip(st.columns(3), list(enumerate(lessons, start=1))[start : start + 3], strict=False):
            with column, st.container(border=True, height="stretch"):
                card(number, lesson)


def card(number: int, lesson: Lesson) -> None:
    plan = plan_of(lesson)
    label, icon, color = STATES[status(plan)]
    st.markdown(f"**{number} · {lesson.title}**  \n{lesson.question}")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(label, icon=icon, color=color)
        st.caption(f"{lesson.minutes} minutes, {words.count(lesson.length, 'step')}")
    if plan.to_run and data.source().demo and readable(lesson, plan):
        st.caption("Can be read with the demo's results at once.")
    widgets.link("lessons", f"Open “{lesson.title}”", icon=":material/arrow_forward:", **address(lesson.id))


def readable(lesson: Lesson, plan: Plan) -> bool:
    evidence = evidence_of(lesson, plan)
    return all(shows(step, evidence) for step in lesson.steps)


def address(lesson: str, step: int = 1) -> dict[str, str | list[str]]:
    values: dict[str, str | list[str]] = {"lesson": lesson, "step": str(step)}
    return values | ({"teacher": "1"} if state.param("teacher") == "1" else {})


def teacher_switch() -> None:
    before = state.param("teacher") == "1"
    help_text = "Large type and figures for a projector; outcomes stay hidden until you press Reveal."
    if state.toggle("Teacher view", "teacher", help=help_text) != before:
        st.rerun()  # what stands above was drawn for the other view


# --- one lesson ----------------------------------------------------------------------------------------------------------------------


def step_number(lesson: Lesson) -> int:
    """The step that the address names, from 1; the first for anything else."""
    text = state.param("step", "1")
    return int(text) if text.isascii() and text.isdigit() and 1 <= int(text) <= lesson.length else 1


def show_lesson(lesson: Lesson, teacher: bool) -> None:
    plan = plan_of(lesson)
    number = step_number(lesson)
    evidence = evidence_of(lesson, plan)
    source = data.source() if evidence.entries else None
    widgets.header(lesson.question, f"Lesson “{lesson.title}”, step {number} of {lesson.length}.", source)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(number / lesson.length, width="stretch")
        teacher_switch()
        widgets.link("lessons", "All lessons", icon=":material/apps:", **({"teacher": "1"} if teacher else {}))
    if plan.to_run and (number == 1 or not evidence.demo or status(plan) != "not run"):
        run_panel(lesson, plan)
    if number == lesson.length:
        show_check(lesson, evidence)
    else:
        show_step(lesson, number, plan, evidence, teacher)
    walk(lesson, number)
    if number == lesson.length:
        show_deeper(lesson)
    if evidence.entries and number > 1:
        provenance(evidence)


def walk(lesson: Lesson, number: int) -> None:
    with st.container(horizontal=True):
        st.button("Back", icon=":material/arrow_back:", key="back", disabled=number == 1, on_click=go_to, args=(number - 1,))
        last = number == lesson.length
        st.button("Next", icon=":material/arrow_forward:", key="next", type="primary", disabled=last, on_click=go_to, args=(number + 1,))


def go_to(number: int) -> None:
    state.set_param("step", str(number))


def show_step(lesson: Lesson, number: int, plan: Plan, evidence: Evidence, teacher: bool) -> None:
    step = lesson.steps[number - 1]
    st.subheader(f"{number} · {step.title}", anchor=False)
    widths = [1] if teacher else [11, 9]
    columns = st.columns(widths, gap="large")
    with columns[0]:
        st.markdown(step.text)
    with columns[-1]:
        show_terms(step)
    if not step.figures:
        return
    name = f"lesson:{lesson.id}:{number}"
    available = shows(step, evidence)
    if step.guess is not None:
        show_guess(step.guess, name, evidence if available else None, teacher)
    if not available:
        show_missing(step, plan, evidence)
    elif step.guess is None or state.ticket(f"{name}:open"):
        show_outcome(step, name, evidence, teacher)


def show_terms(step: Step) -> None:
    """What the words mean that are used here for the first time, as their cards say."""
    if not step.terms:
        return
    with st.container(border=True):
        for kind, name in step.terms:
            if kind == "metric":
                metric = catalog.metric(name)
                short = f" ({metric.short})" if metric.short != metric.title else ""
                st.markdown(f"**{metric.title}{short}.** {widgets.escape(metric.meaning)}", help=widgets.metric_help(name))
            elif kind == "scenario":
                scenario = catalog.scenario(name)
                st.markdown(f"**{scenario.title}.** {widgets.escape(scenario.meaning)}", help=f"Source: {scenario.source}")
            else:
                method = catalog.method(name)
                st.markdown(f"**{method.title}.** {widgets.escape(method.summary)}", help=f"Source: {method.source}")


# --- predictions ---------------------------------------------------------------------------------------------------------------------


def show_guess(guess: Guess, name: str, evidence: Evidence | None, teacher: bool) -> None:
    """The question; after the answer, the comparison with the runs. The prediction is kept for the session."""
    given, opened = state.ticket(f"{name}:guess"), bool(state.ticket(f"{name}:open"))
    with st.container(border=True):
        heads = "What do you think?" if teacher else "Your prediction first." if given is None and not opened else "The question."
        st.markdown(f":material/psychology: **{heads}** {guess.question}")
        if opened and evidence is not None:
            show_verdict(guess, given, evidence)
            return
        if teacher:
            if not isinstance(guess, Estimate):
                st.markdown("\n".join(f"- {title}" for title in guess.options.values()))
            key, icon = f"{name}:reveal", ":material/visibility:"
            st.button("Reveal", type="primary", icon=icon, key=key, on_click=reveal, args=(name,), disabled=evidence is None)
        elif given is not None:
            said = f"{given:.0f} %" if isinstance(guess, Estimate) else guess.options.get(str(given), "")
            st.markdown(f"You said **{said}**. The figure follows as soon as the runs are done.")
        else:
            answer(guess, name)


def answer(guess: Guess, name: str) -> None:
    if isinstance(guess, Estimate):
        value = st.slider("Your estimate, %", 0, 100, 50, step=1, key=f"{name}:slider")
    else:
        value = st.radio("Your choice", list(guess.options), index=None, format_func=guess.options.__getitem__, key=f"{name}:radio")
    with st.container(horizontal=True):
        st.button("That is my prediction", type="primary", key=f"{name}:say", on_click=say, args=(name, value), disabled=value is None)
        st.button("Skip", key=f"{name}:skip", type="tertiary", on_click=reveal, args=(name,))


def say(name: str, value: float | str) -> None:
    state.set_ticket(f"{name}:guess", value)
    reveal(name)


def reveal(name: str) -> None:
    state.set_ticket(f"{name}:open", True)


def show_verdict(guess: Guess, given: float | str | None, evidence: Evidence) -> None:
    if given is None:
        return
    verdict = compare(guess, given, evidence)
    icon = {True: ":material/check_circle:", False: ":material/change_circle:", None: ":material/help:"}[verdict.right]
    st.markdown(f"{icon} {verdict.text}")


def show_missing(step: Step, plan: Plan, evidence: Evidence) -> None:
    """Why the step has no figure yet."""
    if evidence.demo:
        named = ", ".join([*(catalog.metric(metric).short for metric in metrics_of(step)), *(["features"] if of_features(step) else [])])
        reason = f"The demo has no runs of this story with the numbers of this step ({named})."
        st.info(f"{reason} Run it live: the button is on step 1.", icon=":material/info:")
    elif plan.to_run:
        st.info("The figure comes as soon as this story's runs are done.", icon=":material/info:")
    else:
        failed = sorted({why for one in evidence.entries for metric in numbers_of(step) if (why := one.reasons.get(metric))})
        why = " ".join(failed) or "They were made by an earlier version; python -m mucore remeasure adds what is missing."
        st.warning(f"The runs lack a number of this step. {widgets.escape(why)}", icon=":material/warning:")


# --- outcomes ------------------------------------------------------------------------------------------------------------------------


def show_outcome(step: Step, name: str, evidence: Evidence, teacher: bool) -> None:
    if evidence.demo:
        first = evidence.entries[0].spec
        whose = f"These are the demo's results: {first['dataset']} with {first['model']}."
        st.caption(f":material/science: {whose} Yours take their place once they have run.")
    if step.look:
        st.markdown(f":material/visibility: *{step.look}*")
    for number, figure in enumerate(step.figures):
        show_figure(figure, f"{name}:{number}", evidence, teacher)
    sentences = step.findings(evidence) if step.findings else []
    if sentences:
        with st.container(border=True):
            st.markdown("  \n".join(widgets.escape(sentence) for sentence in sentences))
    if step.after:
        st.markdown(step.after)
    scenarios = {scenario for figure in step.figures for scenario in scenarios_of(figure, evidence)}
    counts = {one.forget_count for one in evidence.entries if one.scenario in scenarios}
    forgotten = " or ".join(f"{count}" for count in sorted(counts))
    st.caption(f"One seed, {forgotten} images to forget: on so few, differences of a point or two can be chance.")


def scenarios_of(figure: Figure, evidence: Evidence) -> tuple[str, ...]:
    if isinstance(figure, Pairs):
        return figure.scenarios
    return (figure.scenario or evidence.scenario,) if isinstance(figure, Bars | Pictures) else (evidence.scenario,)


def show_figure(figure: Figure, name: str, evidence: Evidence, teacher: bool) -> None:
    dark = state.dark()
    if isinstance(figure, Bars | Neighbours):
        if isinstance(figure, Bars):
            bars = lesson_bars.lesson_bars_info(evidence, figure.metrics, figure.methods, figure.scenario)
        else:
            bars = lesson_bars.lesson_bars_info(evidence, figure.numbers)
        place(lesson_bars.draw(bars, dark=dark, large=teacher), name, lesson_bars.alt_text(bars), bars_frame(bars))
    elif isinstance(figure, Pairs):
        pairs = lesson_pairs.lesson_pairs_info(evidence, figure.metric, figure.scenarios, figure.methods)
        place(lesson_pairs.draw(pairs, dark=dark, large=teacher), name, lesson_pairs.alt_text(pairs), pairs_frame(pairs))
    elif isinstance(figure, Scatter):
        marks = lesson_scatter.lesson_scatter_info(evidence, figure.split)
        place(lesson_scatter.draw(marks, dark=dark, large=teacher), name, lesson_scatter.alt_text(marks), scatter_frame(marks))
        if marks.missing:
            st.caption(f"Not drawn, for want of a number: {', '.join(marks.missing)}.")
    else:
        show_pictures(figure, name, evidence, teacher)


def place(figure: go.Figure, name: str, alt: str, frame: pd.DataFrame) -> None:
    widgets.chart(figure, name, alt=alt)
    widgets.numbers(frame, name.replace(":", "-"), figure)


def bars_frame(info: lesson_bars.LessonBarsInfo) -> pd.DataFrame:
    return pd.DataFrame([[bar.title, *bar.values] for bar in info.bars], columns=["model", *(f"{head}, %" for head in info.heads)])


def pairs_frame(info: lesson_pairs.LessonPairsInfo) -> pd.DataFrame:
    rows = [
        {"forget set": pair.title, "Original, %": pair.original, "Retrain, %": pair.retrain}
        | {f"{title}, %": value for title, _, value in pair.methods}
        for pair in info.pairs
    ]
    return pd.DataFrame(rows)


def scatter_frame(info: lesson_scatter.LessonScatterInfo) -> pd.DataFrame:
    return pd.DataFrame([[mark.title, mark.x, mark.y] for mark in info.marks], columns=["model", "CKA to the original", "CKA to Retrain"])


def show_pictures(figure: Pictures, name: str, evidence: Evidence, teacher: bool) -> None:
    """A few of the images and what the models say of them; a sentence where predictions or images are not there."""
    entries = [entry for method in figure.methods if (entry := evidence.entry(method, figure.scenario)) is not None]
    kept = [(entry, found[figure.split]) for entry in entries if (found := data.outputs(entry.key)) is not None and figure.split in found]
    if not kept:
        st.caption("The images are not shown: the predictions of these runs were not kept.")
        return
    first = kept[0][1]
    # Of the triggered images those of the target class tell nothing: the model is right to name it.
    spec = kept[0][0].spec
    target = spec["scenario_parameters"].get("target") if figure.split == "triggered" else None
    rows = [row for row in range(len(first)) if int(first.labels[row]) != target][:IMAGES]
    ids = [int(first.ids[row]) for row in rows]
    try:
        images = data.images(spec, ids, triggered=figure.split == "triggered")
    except MucoreError as failure:
        st.caption(f"The images are not shown. {widgets.escape(str(failure))}")
        return
    predicted = []
    for entry, split in kept:
        at = {int(sample): row for row, sample in enumerate(split.ids)}
        if all(sample in at for sample in ids):
            predicted.append((entry.title, [int(split.logits[at[sample]].argmax()) for sample in ids]))
    names = catalog.dataset(str(spec["dataset"])).class_names
    info = lesson_pictures.lesson_pictures_info(images, [int(first.labels[row]) for row in rows], predicted, names)
    widgets.chart(lesson_pictures.draw(info, dark=state.dark(), large=teacher), name, alt=lesson_pictures.alt_text(info))


def provenance(evidence: Evidence) -> None:
    runs = data.summaries()
    widgets.provenance(runs[runs["key"].isin([entry.key for entry in evidence.entries])])


# --- the end of a lesson -------------------------------------------------------------------------------------------------------------


def show_check(lesson: Lesson, evidence: Evidence) -> None:
    st.subheader(f"{lesson.length} · Check yourself", anchor=False)
    for number, question in enumerate(lesson.check, start=1):
        name = f"lesson:{lesson.id}:check:{number}"
        with st.container(border=True):
            st.markdown(f"**{number}. {question.text}**")
            kept = state.ticket(name)
            chosen = st.radio(
                "Your answer",
                list(range(len(question.options))),
                index=kept if isinstance(kept, int) else None,
                format_func=question.options.__getitem__,
                key=f"{name}:radio",
                label_visibility="collapsed",
            )
            state.set_ticket(name, chosen)
            if chosen is not None:
                right = chosen == question.right
                st.markdown(f"{':material/check_circle: Right.' if right else ':material/change_circle: Not quite.'} {question.why}")
    if told := predictions(lesson, evidence):
        st.markdown(told)
    st.markdown(f":material/lightbulb: **{lesson.takeaway}**")


def predictions(lesson: Lesson, evidence: Evidence) -> str:
    """How many of the reader's predictions came true, "" where none was made or can be compared."""
    verdicts = [
        compare(step.guess, given, evidence).right
        for number, step in enumerate(lesson.steps, start=1)
        if step.guess is not None and shows(step, evidence) and (given := state.ticket(f"lesson:{lesson.id}:{number}:guess")) is not None
    ]
    judged = [right for right in verdicts if right is not None]
    return f"Of your {words.count(len(judged), 'prediction')}, {sum(judged)} came true in these runs." if judged else ""


def show_deeper(lesson: Lesson) -> None:
    st.markdown("**Go deeper**")
    for target, label, query in lesson.deeper:
        widgets.link(target, label, icon=":material/arrow_forward:", **query)
    order = list(LESSONS)
    if lesson.id != order[-1]:
        following = LESSONS[order[order.index(lesson.id) + 1]]
        widgets.link("lessons", f"Next lesson: {following.title}", icon=":material/cast_for_education:", **address(following.id))


page()
