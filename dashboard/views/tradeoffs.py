"""Trade-offs: the methods that forgot and that no other beats, average ranks over scenarios, and
where metrics disagree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import data, state, widgets
from dashboard.charts import agreement, critical_difference, pareto
from dashboard.frames import Answer
from dashboard.frames import budget as budget_frames
from dashboard.frames import tradeoffs as tradeoffs_frames
from dashboard.frames.table import DISTANCE_MEANING
from dashboard.frames.tradeoffs import ANY, Contest, Scored
from dashboard.papers import tables as published
from dashboard.text import labels, units, verdicts
from dashboard.widgets import columns, run_drawer, run_filters
from mucore import catalog
from mucore.statistics import Statistics, statistics, usual_metrics
from mucore.statistics.significance import LEVEL

VIEWS = {"front": "Front", "ranks": "Ranks", "agreement": "Agreement of metrics", "tests": "Tests"}
QUESTIONS = {
    "front": "Which methods offer the best trade-offs?",
    "ranks": "Does one method rank first across all scenarios?",
    "agreement": "Do the metrics agree on which method is better?",
    "tests": "Which differences between methods are more than chance?",
}
CAPTIONS = {
    "front": (
        "One method beats another if it is as good in every goal and better in one. What no other "
        "beats is a choice, not a winner."
    ),
    "ranks": (
        "Rank 1 is the best in a scenario. Methods under one bar cannot be told apart. Not in the "
        "papers; after Demšar (2006)."
    ),
    "agreement": (
        "τ = 1: two metrics rank the methods alike; 0: no relation; −1: in reverse order. Not in "
        "the papers."
    ),
    "tests": (
        "Two methods on the same scenarios and training seeds: Wilcoxon's signed-rank test, "
        "corrected by Holm for all pairs."
    ),
}
GOAL_NAMES = {
    "utility": "Utility",
    "forgetting": "Forgetting",
    "privacy": "Privacy",
    "cost": "Cost",
}
NONE = "none"
RIVALS = "compete"


def page() -> None:
    source = data.source()
    top = st.container()
    runs = data.unlearning_runs()
    if runs.empty:
        widgets.no_results(
            QUESTIONS["front"],
            CAPTIONS["front"],
            "A comparison of three methods or more fills this page.",
        )
        return
    view, answers = widgets.pick_view(VIEWS, QUESTIONS, CAPTIONS, source, top)
    if view == "front":
        runs = show_front(source, runs, answers)
    else:
        runs = show_statistics(source, runs, view, answers)
    widgets.provenance(runs)


# --- the front
# --------------------------------------------------------------------------------------------------


def show_front(
    source: data.Source, runs: pd.DataFrame, answers: st.delta_generator.DeltaGenerator
) -> pd.DataFrame:
    runs = run_filters.pick_runs(runs, first=run_filters.OPENS_ON)
    pick_rivals()
    if runs.empty:
        widgets.none_finished()
        return runs
    if widgets.none_chosen(runs, **budget_frames.launch_query(runs, ())):
        return runs
    rows, metrics = scores(runs, source.name, source.change, data.chosen(runs))
    goals, limits, least = pick_goals(metrics)
    if len(goals) < 2:
        sentence = (
            "A trade-off needs two goals at least. Choose them above, or launch a "
            "comparison that measures them."
        )
        widgets.empty(sentence, "Launch", "launch", **budget_frames.launch_query(runs, ()))
        return runs
    found = tradeoffs_frames.contest(
        rows, goals, limits, least, everyone=state.choice(RIVALS, ["0", "1"]) == "1"
    )
    if not found.entrants:
        show_left_out(found)
        sentence = (
            "No method is left to compare: loosen the limits above, or launch Retrain and "
            "methods with it."
        )
        widgets.empty(sentence, "Launch", "launch", **budget_frames.launch_query(runs, ()))
        return runs
    with answers:
        widgets.statement(
            tradeoffs_frames.front_sentence(found), verdicts.count_sentence(found.lines)
        )
        widgets.answers(front_answers(found))
    left, right = st.columns(2, gap="medium")
    with left:
        figure = show_scatter(found, runs, metrics)
    with right:
        some = (
            f", the lowest {pareto.NAMED} of {len(found.front)}"
            if len(found.front) > pareto.NAMED
            else ""
        )
        colour = f" In colour: no other beats it{some}." if found.front else ""
        st.caption(
            f"Every goal at once: lower is better.{colour} Point at a grey line for its name."
        )
        info = pareto.lines_info(found)
        lines = pareto.draw_lines(info, dark=state.dark(), selected=state.param("run"))
        run_drawer.chart(lines, "goals", alt=pareto.lines_alt_text(info))
    frame = show_table(found)
    show_left_out(found)
    run_drawer.run_drawer(runs)
    widgets.numbers(frame, "trade-offs", figure, of="the scatter")
    widgets.numbers(
        tradeoffs_frames.lines_frame(found), "trade-offs-all-goals", lines, of="every goal at once"
    )
    return runs


@st.cache_data(show_spinner=False, max_entries=16)
def scores(
    _runs: pd.DataFrame, name: str, change: int, chosen: str
) -> tuple[tuple[Scored, ...], list[str]]:
    """Scores of every row in every metric that has better and worse values; `name`, `change` and
    `chosen` say which runs.
    """
    first = _runs.iloc[0]
    values = data.metric_values(dataset=str(first["dataset"]), scenario=str(first["scenario"]))
    values = values[values["key"].isin(_runs["key"])]
    methods = _runs.loc[~_runs["method"].isin(["original", "retrain"]), "key"]
    metrics = tradeoffs_frames.scored_metrics(values[values["key"].isin(methods)])
    return tradeoffs_frames.scored(_runs, values, metrics, data.judged(_runs)), metrics


def pick_rivals() -> None:
    state.toggle(
        "Let every line compete",
        RIVALS,
        help="Otherwise only methods that forgot do: to do nothing keeps all accuracy and costs "
        "nothing, so nothing would beat it.",
    )


def pick_goals(metrics: Sequence[str]) -> tuple[list[str], dict[str, float], dict[str, float]]:
    """One metric a goal, or none, and how much of it at most and at least.

    Parameters utility, forgetting, privacy, cost, and each of them with max_ and with min_."""
    goals: list[str] = []
    limits: dict[str, float] = {}
    least: dict[str, float] = {}
    for column, (goal, candidates) in zip(
        st.columns(len(GOAL_NAMES), gap="medium"), tradeoffs_frames.GOALS.items(), strict=True
    ):
        with column:
            options = [*(name for name in candidates if name in metrics), NONE]
            chosen = state.select(
                GOAL_NAMES[goal], goal, options, format_func=goal_title, help=goal_help(goal)
            )
            if chosen == NONE:
                continue
            how = tradeoffs_frames.measure(chosen)
            unit = f", {how.unit_name}" if how.unit_name else ""
            low, high = state.span(
                f"Range{unit}",
                f"min_{goal}",
                f"max_{goal}",
                tradeoffs_frames.LIMITS[how.unit],
                help="Only methods in this range are drawn and listed. Who beats whom stays the "
                "same.",
            )
            goals.append(chosen)
            if high != ANY:
                limits[chosen] = float(high)
            if low != "0":
                least[chosen] = math.inf if low == ANY else float(low)
    return goals, limits, least


def goal_title(name: str) -> str:
    if name == NONE:
        return "Leave out"
    how = tradeoffs_frames.measure(name)
    return f"{how.short} gap" if how.gap else how.short


def goal_help(goal: str) -> str:
    names = [catalog.metric(name) for name in tradeoffs_frames.GOALS[goal]]
    return "\n\n".join(f"**{card.short}**: {card.meaning}" for card in names)


def front_answers(found: Contest) -> list[Answer]:
    """Which of the front is nearest to Retrain, which is cheapest, and how far to trust it."""
    made = []
    near = [(row.line.distance.mean, row) for row in found.front if row.line.distance is not None]
    if near:
        distance, row = min(near, key=lambda pair: pair[0])
        detail = (
            f"{labels.number(distance, 'percent')} points away on average, in the numbers "
            "that decide its verdict"
        )
        made.append(
            Answer(
                "Nearest to Retrain",
                row.title,
                detail if row.qualified else f"{detail}; {row.said}",
            )
        )
    for goal in found.goals:
        if goal.log and found.front:
            row = min(found.front, key=lambda row: row.scores[goal.id] or 0.0)
            cost = f"{goal.short} {goal.text(row.scores[goal.id])} {goal.unit_name}".strip()
            made.append(
                Answer("Cheapest", row.title, cost if row.qualified else f"{cost}; {row.said}")
            )
    seeds = {row.seeds for row in found.entrants}
    if seeds == {1}:
        made.append(
            Answer(
                "How sure",
                "One seed",
                "verdicts and small differences may be chance; run more training seeds",
            )
        )
    else:
        least, most = min(seeds), max(seeds)
        made.append(
            Answer(
                "How sure",
                f"{least if least == most else f'{least} to {most}'} seeds",
                "scores are means over training seeds",
            )
        )
    return made


def show_scatter(found: Contest, runs: pd.DataFrame, metrics: list[str]) -> go.Figure | None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        across = state.select("Across", "x", metrics, default="fa", format_func=goal_title)
        up = state.select("Up", "y", metrics, default="ta", format_func=goal_title)
        paper = paper_table(runs)
        ghosts = paper is not None and state.toggle("MUBox's points", "paper", help=paper.caption)
    x, y = tradeoffs_frames.measure(across), tradeoffs_frames.measure(up)
    cost = next((goal for goal in found.goals if goal.log), None)
    size = f" Larger marks: more {cost.short}." if cost else ""
    grey = " Grey: does not compete; point at it for its verdict." if found.aside else ""
    marks = (
        "Look for full marks near Retrain's dashed lines. Open: beaten."
        if found.competing
        else "Dashed: Retrain. Dotted: Original."
    )
    st.caption(f"{marks}{grey}{size} A range above opens a crowded corner.")
    places = tradeoffs_frames.paper_places(paper, x, y) if paper is not None and ghosts else []
    info = pareto.pareto_info(found, x, y, cost.id if cost else "", places)
    if not info.points:
        st.markdown("No method has both of these numbers. Choose others.")
        return None
    figure = pareto.draw(info, dark=state.dark(), selected=state.param("run"))
    run_drawer.chart(figure, "front", alt=pareto.alt_text(info))
    notes = [f"Not drawn, for want of a number: {', '.join(info.missing)}."] if info.missing else []
    if info.outside:
        notes.append(f"Lines outside this window: {', '.join(info.outside)}.")
    if paper is not None and ghosts:
        notes.append(paper.caption if places else "MUBox prints no numbers for these two axes.")
    if notes:
        st.caption(widgets.escape(" ".join(notes)))
    return figure


def paper_table(runs: pd.DataFrame) -> published.Published | None:
    first = runs.iloc[0]
    return published.of_mubox(str(first["scenario"]), dataset=str(first["dataset"]))


def show_table(found: Contest) -> pd.DataFrame:
    frame = tradeoffs_frames.contest_frame(found)
    st.caption(
        "Nearest to Retrain first: those that no other beats, the beaten, and those that do not "
        "compete. Distance and gaps in points. Click a line for its run."
    )
    # The columns of text take what they need, so that none is cut; heads of numbers are short for
    # it.
    help_of = {
        tradeoffs_frames.goal_head(goal): widgets.metric_help(goal.id) for goal in found.goals
    }
    help_of[tradeoffs_frames.DISTANCE_HEAD] = DISTANCE_MEANING
    settings = {
        name: st.column_config.Column(name.removesuffix(" (points)"), help=text)
        for name, text in help_of.items()
    }
    # what holds words is as wide as its longest, or the table would cut them
    settings["Method"] = st.column_config.Column(width=140)
    settings["Verdict"] = st.column_config.Column(
        width=125,
        help="What happened to the method, in one word; ? where more seeds may change it.",
    )
    settings["Beaten by"] = st.column_config.Column(width=190)
    event = st.dataframe(
        tradeoffs_frames.contest_frame(found, most=1),
        hide_index=True,
        column_config=columns.aligned(frame, settings),
        key="front_table",
        on_select="rerun",
        selection_mode="single-row",
    )
    keys = {row.title: row.key for row in found.entrants}
    run_drawer.open_new(
        [
            keys[str(frame.iloc[place]["Method"])]
            for place in event["selection"]["rows"]
            if place < len(frame)
        ],
        "front_table",
    )
    return frame


def show_left_out(found: Contest) -> None:
    left_out = {
        "Outside a range": found.over,
        "Without a number in some goal": found.incomplete,
        "Not counted": found.unsound,
    }
    said = [f"{reason}: {', '.join(names)}." for reason, names in left_out.items() if names]
    if said:
        st.caption(widgets.escape(" ".join(said)))


# --- ranks, agreement, tests
# --------------------------------------------------------------------------------------------------


def show_statistics(
    source: data.Source, runs: pd.DataFrame, view: str, answers: st.delta_generator.DeltaGenerator
) -> pd.DataFrame:
    places = st.columns([1.6, 1.5, 2.4, 3], vertical_alignment="bottom", gap="small")
    with places[0]:
        runs = run_filters.pick_data(runs)
    with places[1]:
        runs = run_filters.pick_methods(runs)
    if runs.empty:
        widgets.none_finished()
        return runs
    if widgets.none_chosen(runs, **budget_frames.launch_query(runs, ())):
        return runs
    chosen_runs = data.chosen(runs)
    metrics, usual = measured(runs, source.name, source.change, chosen_runs)
    if not metrics:
        widgets.empty(
            "No method of this selection has a number yet.",
            "Launch a comparison",
            "launch",
            **budget_frames.launch_query(runs, ()),
        )
        return runs
    metric, chosen = "fa" if "fa" in metrics else metrics[0], usual
    with places[2]:
        if view == "agreement":
            with st.popover("Metrics", icon=":material/checklist:", width="stretch"):
                chosen = state.multiselect(
                    "Metrics",
                    "metrics",
                    metrics,
                    default=usual,
                    format_func=tradeoffs_frames.short_name,
                )
        else:
            metric = state.select(
                "Metric",
                "metric",
                metrics,
                default=metric,
                format_func=lambda name: catalog.metric(name).title,
            )
    compared = tuple(chosen or usual) if view == "agreement" else (metric,)
    found = computed(runs, source.name, source.change, chosen_runs, metric, compared)
    {"ranks": show_ranks, "agreement": show_agreement, "tests": show_tests}[view](
        found, runs, answers
    )
    show_notes(
        [
            note
            for note in found.notes
            if view == "agreement" or not note.startswith("No rank agreement")
        ]
    )
    run_drawer.run_drawer(runs)
    return runs


@st.cache_data(show_spinner=False, max_entries=16)
def measured(
    _runs: pd.DataFrame, name: str, change: int, chosen: str
) -> tuple[list[str], list[str]]:
    """The metrics that can rank methods, and those whose rankings are usually compared."""
    values = values_of(_runs[~_runs["method"].isin(["original", "retrain"])])
    metrics = tradeoffs_frames.scored_metrics(values)
    everywhere = [
        name
        for name in usual_metrics(values)
        if name in metrics and catalog.metric(name).scenarios is None
    ]
    return metrics, everywhere if len(everywhere) > 1 else metrics


@st.cache_data(show_spinner="Comparing all runs", max_entries=32)
def computed(
    _runs: pd.DataFrame, name: str, change: int, chosen: str, metric: str, metrics: tuple[str, ...]
) -> Statistics:
    """`mucore.statistics.statistics`; `name`, `change` and `chosen` say which runs, so that the
    frames need no hashing.
    """
    return statistics(_runs, values_of(_runs), metric=metric, agreement=metrics, watch=False)


@st.cache_data(show_spinner=False, max_entries=16)
def line_keys(_runs: pd.DataFrame, chosen: str) -> dict[str, str]:
    """`tradeoff_frames.line_keys`; `chosen` says which runs."""
    return tradeoffs_frames.line_keys(_runs)


@st.cache_data(show_spinner=False, max_entries=16)
def line_verdicts(
    _runs: pd.DataFrame, name: str, change: int, chosen: str
) -> dict[tuple[str, str], bool]:
    """`tradeoff_frames.line_verdicts`; `name`, `change` and `chosen` say which runs."""
    return tradeoffs_frames.line_verdicts(_runs, data.judged(_runs))


def forgot_in(found: Statistics, runs: pd.DataFrame) -> dict[str, int]:
    source = data.source()
    return tradeoffs_frames.forgot_in(
        found, line_verdicts(runs, source.name, source.change, data.chosen(runs))
    )


def values_of(runs: pd.DataFrame) -> pd.DataFrame:
    if runs.empty:
        return pd.DataFrame(columns=["key", "metric", "value", "gap", "error"])
    values = data.metric_values(dataset=str(runs.iloc[0]["dataset"]))
    return values[values["key"].isin(runs["key"])]


def show_ranks(
    found: Statistics, runs: pd.DataFrame, answers: st.delta_generator.DeltaGenerator
) -> None:
    if found.ranking is None:
        missing(found, runs, "No average ranks", "Launch more scenarios")
        return
    names = {
        name: (tradeoffs_frames.line_title(name), tradeoffs_frames.line_family(name))
        for name in found.ranking.ranks
    }
    forgot = forgot_in(found, runs)
    info = critical_difference.critical_difference_info(
        found.ranking, names, line_keys(runs, data.chosen(runs)), forgot
    )
    alike = [tradeoffs_frames.line_title(name) for name in found.ranking.alike]
    others = len(info.methods) - 1
    sure = info.p < 1 - LEVEL
    with answers:
        widgets.statement(tradeoffs_frames.ranks_sentence(found.metric, found.ranking, forgot))
        widgets.answers(
            [
                Answer(
                    "Not told apart from first place",
                    f"{len(alike)} of {units.count(others, 'other method')}",
                    tradeoffs_frames.names_text(alike, most=5) or "first place stands alone",
                ),
                Answer(
                    "Ranks must differ by",
                    labels.number(info.difference, "ratio"),
                    "Nemenyi's critical difference over "
                    f"{units.count(info.blocks, 'forget set')}: more of them make it smaller",
                ),
                Answer(
                    "Do ranks differ at all?",
                    "Yes" if sure else "Not shown",
                    f"Friedman's test over all methods: {p_text(info.p)}",
                ),
            ],
        )
    hollow = (
        " Hollow: forgot in none of these scenarios."
        if any(method.forgot == 0 for method in info.methods)
        else ""
    )
    st.caption(
        f"What is ranked: {found.score}. Only methods that share no bar differ by more than "
        f"chance.{hollow} Click a mark or a name for the method's first run."
    )
    figure = critical_difference.draw(info, dark=state.dark(), selected=state.param("run"))
    run_drawer.chart(figure, "critical_difference", alt=critical_difference.alt_text(info))
    widgets.numbers(
        tradeoffs_frames.ranks_frame(found.ranking, forgot), f"ranks-{found.metric}", figure
    )


def show_agreement(
    found: Statistics, runs: pd.DataFrame, answers: st.delta_generator.DeltaGenerator
) -> None:
    pairs = tradeoffs_frames.extremes(found.tau)
    if pairs is None:
        missing(found, runs, "No rank agreement", "Launch more methods")
        return
    least, most = (
        f"{tradeoffs_frames.short_name(a)} and {tradeoffs_frames.short_name(b)}"
        for a, b, _ in pairs
    )
    low, high = (labels.number(tau, "ratio") for _, _, tau in pairs)
    settings = found.agreement["setting"].nunique()
    with answers:
        widgets.statement(tradeoffs_frames.disagreement_text(found.tau, found.agreement))
        widgets.answers(
            [
                Answer("Agree least", least, f"τ = {low}"),
                Answer("Agree most", most, f"τ = {high}"),
                Answer(
                    "Rests on",
                    units.count(settings, "scenario"),
                    "τ is the mean over them, seeds averaged first",
                ),
            ],
        )
    st.caption(
        "Look for orange: there, the choice of metric decides which method wins. Empty cells: too "
        "few methods, or all alike."
    )
    heads = [tradeoffs_frames.short_name(name) for name in found.tau.columns]
    info = agreement.agreement_info(
        heads, found.tau.to_numpy(dtype=float), what="Kendall's τ", signed=True
    )
    figure = agreement.draw(info, dark=state.dark())
    widgets.chart(figure, "metric_agreement", alt=agreement.alt_text(info))
    widgets.numbers(tradeoffs_frames.tau_frame(found.tau), "agreement-of-metrics", figure)


def show_tests(
    found: Statistics, runs: pd.DataFrame, answers: st.delta_generator.DeltaGenerator
) -> None:
    frame = tradeoffs_frames.pairs_frame(found, forgot_in(found, runs))
    if frame.empty:
        missing(found, runs, "No paired test", "Launch more seeds")
        return
    differ = frame[frame["Differ"] == "yes"]
    settings, seeds = (
        len({setting for setting, _ in found.blocks}),
        len({seed for _, seed in found.blocks}),
    )
    basis = f"{units.count(settings, 'forget set')}, {units.count(seeds, 'training seed')}"
    hopeless = next((note for note in found.notes if note.startswith("No paired test can")), "")
    with answers:
        widgets.statement(tradeoffs_frames.tests_sentence(found.metric, len(differ), len(frame)))
        widgets.answers(
            [
                Answer(
                    "Pairs that differ",
                    f"{len(differ)} of {len(frame)}",
                    f"corrected p below {1 - LEVEL:.2g}",
                ),
                Answer(
                    "Methods compared", str(len(found.methods)), "those with a value in every block"
                ),
                Answer("Blocks", str(len(found.blocks)), basis),
            ],
        )
    st.caption(
        f"What is compared: {found.score}. The better method of each pair in this one metric "
        "stands on the left; whether it forgot is another column."
    )
    if hopeless:
        st.caption(widgets.escape(hopeless))
    settings = {
        frame.columns[3]: st.column_config.NumberColumn(format="%.2f"),
        "p": st.column_config.NumberColumn(format="%.2g", help="Of this pair alone."),
        "p (Holm)": st.column_config.NumberColumn(
            format="%.2g", help="Corrected for all pairs: the one to go by."
        ),
    }
    st.dataframe(
        frame,
        hide_index=True,
        column_config=columns.aligned(frame, settings),
        height=min(560, 38 + 35 * len(frame)),
    )
    widgets.numbers(frame, f"tests-{found.metric}")


def missing(found: Statistics, runs: pd.DataFrame, start: str, button: str) -> None:
    """The sentence of `notes` that says why a part is not there, and the way to Launch with what
    `runs` have.
    """
    notes = [note for note in found.notes if note.startswith((start, "No value", "No method"))]
    widgets.empty(
        widgets.escape(" ".join(notes) or "Nothing can be compared yet."),
        button,
        "launch",
        **budget_frames.launch_query(runs, ()),
    )


def show_notes(notes: Sequence[str]) -> None:
    if notes:
        with st.expander(
            f"What to know about these numbers: {units.count(len(notes), 'note')}",
            icon=":material/info:",
        ):
            st.markdown("\n".join(f"- {widgets.escape(note)}" for note in notes[:100]))


def p_text(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


page()
