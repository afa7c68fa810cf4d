"""Membership: five attacks that look for the forgotten samples, and what one of them sees in one
run, sample by sample.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import pandas as pd
import streamlit as st

from dashboard import data, frames, state, widgets
from dashboard.charts import attack_dots, roc, score_histogram
from dashboard.frames import budget as budget_frames
from dashboard.frames import membership as membership_frames
from dashboard.frames.membership import Scored
from dashboard.papers import tables
from dashboard.sections.membership import samples
from dashboard.text import labels as describe
from dashboard.text import units, verdicts
from dashboard.widgets import run_drawer, run_filters
from dashboard.widgets.pictures import THUMBNAIL, class_name, thumbnails
from mucore import catalog
from mucore.errors import MucoreError
from mucore.metrics.membership import ATTACKS, LOW_RATES
from mucore.metrics.sanity import blind_attacks
from mucore.store import Store
from mucore.verdicts import Judged

QUESTION = "Can an attacker still tell which samples were forgotten?"
WALL = 18  # images on one wall


def page() -> None:
    source = data.source()
    top = st.container()
    runs = data.unlearning_runs()
    if runs.empty:
        widgets.no_results(
            QUESTION,
            "Five attacks guess from a model's predictions whether it was trained on a sample.",
        )
        return
    runs = run_filters.pick_runs(runs, first=run_filters.OPENS_ON)
    if runs.empty:
        with top:
            widgets.none_finished(QUESTION, source)
        return
    scenario, dataset = str(runs.iloc[0]["scenario"]), str(runs.iloc[0]["dataset"])
    values = data.metric_values(dataset=dataset, scenario=scenario)
    judged = data.judged(runs)
    table = frames.results_table(
        runs, values[values["key"].isin(runs["key"])], view="value", judged=judged
    )
    blind, kept = about_runs(source.store, source.name, source.change, tuple(runs["key"]))
    guesses = membership_frames.mistrusted(table, blind)
    everyone = pick_view()
    alone = widgets.none_chosen(runs, **budget_frames.launch_query(runs, ()))
    with top:
        widgets.header(QUESTION, caption(runs), source)
        if not alone:
            widgets.statement(
                membership_frames.sentence(table, guesses, everyone=everyone),
                membership_frames.beside(table),
            )
        widgets.answers(membership_frames.answers(table, guesses, everyone=everyone))
    paper = printed_attacks(runs.iloc[0])
    figure = None if alone else show_attacks(table, guesses, paper, everyone)
    show_run(runs[runs["key"].isin(kept)], runs, source, judged)
    run_drawer.run_drawer(runs)
    widgets.numbers(numbers(table, guesses, paper), f"membership-{scenario}", figure)
    widgets.provenance(runs)


def pick_view() -> bool:
    """Whether every method competes."""
    with st.container(horizontal=True, gap="medium"):
        everyone = state.toggle(
            "Let every line compete",
            "compete",
            help="Otherwise only methods that forgot are compared and in colour: one that did "
            "nothing or broke the model is not private.",
        )
        state.toggle("The paper's numbers", "paper")
    return everyone


def caption(runs: pd.DataFrame) -> str:
    first = runs.iloc[0]
    chosen = describe.set_text(str(first["scenario_parameters"]), str(first["dataset"]))
    forgotten = units.count(int(runs["forget_count"].median()), "sample")
    seeds = units.count(runs["training_seed"].nunique(), "training seed")
    said = (
        f"{describe.setup_text(first)}. {forgotten} to forget ({chosen}), {seeds}. Good is "
        f"Retrain's value, not 100{describe.THIN}%."
    )
    return widgets.escape(said)


@st.cache_data(show_spinner=False, max_entries=32)
def about_runs(
    _store: Store, name: str, change: int, keys: tuple[str, ...]
) -> tuple[dict[str, frozenset[str]], frozenset[str]]:
    """By run, the attacks that its notes call a guess; and the runs whose predictions are still
    there.

    `name` and `change` say which store, and when it was read.
    """
    results = _store.results(metrics=False, keys=keys)
    blind = {result.key: found for result in results if (found := blind_attacks(result.notes))}
    kept = frozenset(
        result.key
        for result in results
        if result.outputs is not None and _store.artifacts.exists(result.outputs)
    )
    return blind, kept


# --- five attacks side by side
# --------------------------------------------------------------------------------------------------


def printed_attacks(first: pd.Series) -> tables.Published | None:
    """The paper's numbers beside the runs that `first` is one of; None unless switched on, or where
    no paper prints attacks for them.
    """
    if state.choice("paper", ["0", "1"]) != "1":
        return None
    found = tables.with_attacks(
        str(first["scenario"]),
        dataset=str(first["dataset"]),
        model=str(first["model"]),
        parameters=json.loads(first["scenario_parameters"]),
    )
    return found[1] if found else None


def show_attacks(
    table: frames.ResultsTable,
    guesses: dict[tuple[str, str], int],
    paper: tables.Published | None,
    everyone: bool,
):
    """The dot plot; a click on a dot chooses a run of that method, and the attack, for the part
    below.
    """
    competing = {row.id for row in membership_frames.competitors(table, everyone=everyone)}
    info = attack_dots.attack_dots_info(table, guesses, paper, competing=competing)
    st.subheader(
        "Five attacks, one question", anchor=False, help=widgets.metric_help("mia_confidence")
    )
    if not info.titles:
        st.markdown(
            "None of these runs has a membership number yet. The page Results says why, cell by "
            "cell."
        )
        widgets.link("results", "Open the table", icon=":material/table_chart:")
        return None
    st.caption(
        "The share of the forget set, in percent, that each attack calls unseen (MUBox, Tables 1 "
        "and 3 to 6; Confidence: Are We Truly Forgetting?, Table 5); nearest to Retrain first. "
        "Look for methods at the dashed line in one panel and far from it in another: there a "
        "single attack would mislead. Grey methods are not known to have forgotten; point at one "
        "for its verdict."
    )
    if warning := guess_words(table, guesses):
        st.warning(warning, icon=":material/help:")
    figure = attack_dots.draw(info, dark=state.dark(), selected=selected_row(table))
    event = widgets.chart(
        figure,
        "attacks",
        alt=attack_dots.alt_text(info),
        on_select="rerun",
        selection_mode="points",
    )
    left_out = (
        f" Not drawn, for want of a number: {', '.join(info.missing)}." if info.missing else ""
    )
    printed = (
        f" {paper.caption}"
        if paper
        else " No paper prints attacks for this scenario."
        if state.param("paper") == "1"
        else ""
    )
    st.caption(
        widgets.escape(
            f"{table.interval} Click a dot to look at that method and attack "
            f"below.{left_out}{printed}"
        )
    )
    marks = [mark[:2] for mark in run_drawer.clicked(event)]
    row = table.row(marks[0][0]) if run_drawer.is_new(marks, "attacks") else None
    if row is not None:
        state.set_param("run", row.keys[0])
        state.set_param("attack", None if marks[0][1] == ATTACKS[1] else marks[0][1])
        st.rerun()
    return figure


def selected_row(table: frames.ResultsTable) -> str:
    key = state.param("run")
    return next((row.id for row in table.rows if key in row.keys), "")


def guess_words(table: frames.ResultsTable, guesses: dict[tuple[str, str], int]) -> str:
    """Which attacks guess, and on how many runs; "" where none does."""
    total = sum(len(row.keys) for row in table.rows)
    counts = {
        attack: sum(count for (_, other), count in guesses.items() if other == attack)
        for attack in ATTACKS
    }
    parts = [
        f"{membership_frames.attack_name(attack)} in {count}"
        for attack, count in counts.items()
        if count
    ]
    if not parts:
        return ""
    return (
        f"Some of these numbers are no evidence: on some of the {units.count(total, 'run')} an "
        "attack cannot even tell retained from test samples (its accuracy is within the "
        f"95{describe.THIN}% interval of a guess). The attacks that only guess: "
        f"{', '.join(parts)} of these runs. A mark is hollow where half of its runs or more are "
        "such guesses."
    )


def numbers(
    table: frames.ResultsTable, guesses: dict[tuple[str, str], int], paper: tables.Published | None
) -> pd.DataFrame:
    columns = {column.id: column for column in table.columns}
    made = []
    for row in table.rows:
        line: dict[str, object] = {
            "Method": row.title,
            "Verdict": frames.verdict_text(row),
            "Runs": len(row.keys),
        }
        line["Distance (points)"] = describe.number(
            row.distance.mean if row.distance else None, "percent"
        )
        for attack in ATTACKS:
            cell = row.cells[f"mia_{attack}"]
            head = membership_frames.attack_name(attack)
            line[f"{head} (%)"] = describe.number(
                cell.value.mean if cell.value else None, "percent"
            )
            line[f"{head} gap"] = describe.number(
                cell.gap.mean if cell.gap else None, "percent", signed=True
            )
            line[f"{head} guesses"] = guesses.get((row.id, attack), 0)
            if paper is not None and any(column == f"mia_{attack}" for _, column in paper.values):
                line[f"{head}, {paper.source} (%)"] = paper.text(
                    row.method, columns[f"mia_{attack}"], "value", reference=row.reference
                )
        made.append(line)
    return pd.DataFrame(made)


# --- one run, one attack
# --------------------------------------------------------------------------------------------------


def show_run(
    kept: pd.DataFrame, runs: pd.DataFrame, source: data.Source, judged: Mapping[str, Judged]
) -> None:
    """ROC, histograms, threshold, walls and exposed samples of one run under one attack.
    Parameters: run, attack, threshold, scale.

    `kept` are those of `runs` whose predictions are there.
    """
    st.subheader("One run, one attack, sample by sample", anchor=False)
    lines = kept.set_index("key")
    first, why = first_run(lines, judged)
    if not first:
        again = "This run's" if len(runs) == 1 else "These runs'"
        widgets.empty(
            f"{again} predictions were not kept, so single samples cannot be shown. Run the "
            "comparison again on this machine: predictions stay until you remove them.",
            "Launch a comparison",
            "launch",
        )
        return
    run, scale = st.columns([6, 2], vertical_alignment="bottom", gap="small")
    with run:
        label = {name: run_label(lines.loc[name]) for name in lines.index}
        chosen = state.select(
            "Run",
            "run",
            ["", *lines.index],
            format_func=lambda name: label[name] if name else f"{why}: {label[first]}",
        )
    with scale:
        log = (
            state.segmented("FPR axis", "scale", ["log", "linear"], format_func=str.capitalize)
            == "log"
        )
    name = state.segmented(
        "Attack",
        "attack",
        list(ATTACKS),
        default=ATTACKS[1],
        format_func=lambda one: catalog.metric(f"mia_{one}").title.removesuffix(" MIA efficacy"),
    )
    if (
        state.param("run")
        and state.param("run") not in lines.index
        and state.param("run") in set(runs["key"])
    ):
        st.caption(
            "The predictions of the run you clicked were not kept; another is shown instead."
        )
    key = chosen or first
    if key in judged and (verdict := judged[key].verdict) is not None:
        st.markdown(f"{verdicts.label(verdict)}: {widgets.escape(verdict.sentence)}")
    try:
        scored = {
            role: score(source, one, name)
            for role, one in {"run": key, **reference_keys(lines, key)}.items()
        }
    except MucoreError as failure:
        widgets.error(widgets.escape(str(failure)), "Choose another run or attack.")
        return
    show_scores(key, lines.loc[key], name, scored, log)


def first_run(lines: pd.DataFrame, judged: Mapping[str, Judged]) -> tuple[str, str]:
    """The key of the run to open on, and why it: of the methods that forgot the nearest to Retrain,
    by seed; where none did the first approximate method, in the catalogue's order; an exact one or
    a reference where there is none of these. "" for no run at all.
    """
    if lines.empty:
        return "", ""
    forgot = [
        (line.distance, int(lines.loc[key, "training_seed"]), str(key))
        for key, line in judged.items()
        if key in lines.index and line.qualified and line.distance is not None
    ]
    if forgot:
        return min(forgot)[2], "Nearest to Retrain of those that forgot"
    last = {"exact": 1, "reference": 2}
    order = [card.id for card in catalog.methods()]
    places = {
        key: (
            last.get(describe.method_names(method)[1], 0),
            order.index(method) if method in order else len(order),
            seed,
        )
        for key, method, seed in zip(
            lines.index, lines["method"], lines["training_seed"], strict=True
        )
    }
    return str(
        min(places, key=lambda key: places[key])
    ), "None is known to have forgotten; the first"


def run_label(line: pd.Series) -> str:
    preset = "" if line["method_preset"] == "authors" else f" ({line['method_preset']})"
    return f"{describe.method_names(str(line['method']))[0]}{preset}, {run_drawer.seeds(line)}"


def reference_keys(lines: pd.DataFrame, key: str) -> dict[str, str]:
    """Retrain and Original of the run's training seed, of those whose predictions are there."""
    same = lines[lines["training_seed"] == lines.loc[key, "training_seed"]]
    found = {name: same.index[same["method"] == name.lower()] for name in ("Retrain", "Original")}
    return {name: str(keys[0]) for name, keys in found.items() if len(keys)}


def score(source: data.Source, key: str, attack: str) -> Scored:
    return _score(source.name, source.change, key, attack)


@st.cache_resource(show_spinner="Scoring the samples of this run", max_entries=64)
def _score(name: str, change: int, key: str, attack: str) -> Scored:
    """The arrays are shared by all readers: never write to them."""
    outputs, result = data.outputs(key), data.result(key)
    if outputs is None or result is None:
        raise MucoreError("The predictions of this run were removed a moment ago.")
    return membership_frames.score_run(attack, outputs, result)


def show_scores(
    key: str, line: pd.Series, attack: str, scored: dict[str, Scored], log: bool
) -> None:
    run, (title, family) = scored["run"], describe.method_names(str(line["method"]))
    references = {name: each for name, each in scored.items() if name != "run"}
    result = data.result(key)
    if result is not None and attack in blind_attacks(result.notes):
        accuracy = result.metrics[f"mia_{attack}_attack_accuracy"].value
        st.warning(
            f"On this model the attack is right about {describe.number(accuracy, 'percent')} % of "
            "the retained and test samples it did not learn from: a guess. What it says about "
            "the forget set is no evidence.",
            icon=":material/help:",
        )
    places = membership_frames.stops(run)
    names = {f"{attack}:{place:.2f}": place for place in places}
    start = min(names, key=lambda name: abs(names[name] - run.cut))
    chosen = state.slider(
        "Threshold: samples on or above it count as seen",
        "threshold",
        list(names),
        default=start,
        format_func=lambda name: membership_frames.natural(attack, names[name]),
        help="At first the cut that parts retained from test samples best. Each attack keeps a "
        "threshold of its own in the address.",
    )
    threshold = names[chosen]
    show_counts(run, references, threshold, result, attack)
    left, right = st.columns(2, gap="medium")
    with left:
        info = score_histogram.histogram_info(
            run, threshold=threshold, span=(places[0], places[-1])
        )
        st.caption(
            "Forgotten samples should lie where test samples lie. What lies with the retained "
            "ones still gives itself away."
        )
        figure = score_histogram.draw(info, dark=state.dark())
        widgets.chart(figure, "scores", alt=score_histogram.alt_text(info))
        widgets.numbers(score_histogram.frame(info), f"scores-{attack}-{key}", figure, of="scores")
    with right:
        curves = roc.roc_info(run, title=title, threshold=threshold, references=references)
        st.caption(
            f"Near Retrain's dashed line is good. Diamonds: {widgets.escape(title)} at "
            f"{' and '.join(roc.LOW_RATES.values())} FPR."
        )
        figure = roc.draw(curves, family=family, dark=state.dark(), log=log)
        widgets.chart(figure, "roc", alt=roc.alt_text(curves))
        widgets.numbers(roc.frame(curves), f"roc-{attack}-{key}", figure, of="ROC curves")
    if log:
        st.caption(resolution_words(curves.negatives))
    show_walls(run, threshold, result)
    samples.show_exposed(run, references, title, family, result)
    if "Retrain" in references and run is not references["Retrain"]:
        exposed = membership_frames.vulnerable(
            run, retrain=references["Retrain"], original=references.get("Original")
        )
        heads = {
            "id": "Sample",
            "run": "Here",
            "retrain": "Retrain",
            "original": "Original",
            "lead": "Here above Retrain",
        }
        widgets.numbers(
            exposed.rename(columns=heads),
            f"exposure-{attack}-{key}",
            of="exposure of each sample, as it stands on the axes",
        )


def resolution_words(negatives: int) -> str:
    few = (
        (
            f" {units.count(negatives, 'sample')} cannot resolve 0.1 %, so there not one of them "
            "may pass."
        )
        if negatives < 1 / min(LOW_RATES)
        else ""
    )
    return (
        f"ROC: forget set against {units.count(negatives, 'test sample')}; at the left edge no "
        f"test sample passes.{few}"
    )


def show_counts(
    run: Scored, references: dict[str, Scored], threshold: float, result, attack: str
) -> None:
    """The four counts, and Retrain's shares at the same threshold, without which they mean
    little.
    """
    counts = membership_frames.count(run, threshold)
    shares: tuple[float | None, ...] = (None,) * 4
    if "Retrain" in references:
        retrain = membership_frames.count(references["Retrain"], threshold)
        shares = (retrain.tpr, 1 - retrain.tpr, retrain.fpr, 1 - retrain.fpr)
    forget, test = len(run.forget), len(run.negatives)
    tiles = (
        ("Forgotten, called seen", counts.forget_seen, forget),
        ("Forgotten, called unseen", counts.forget_unseen, forget),
        ("Test, called seen", counts.test_seen, test),
        ("Test, called unseen", counts.test_unseen, test),
    )
    for column, (label, number, total), other in zip(
        st.columns(4, gap="small"), tiles, shares, strict=True
    ):
        with column, st.container(gap=None):
            st.caption(label)
            st.markdown(f"#### {describe.number(number, 'count')}")
            beside = "" if other is None else f"; Retrain {describe.number(other, 'percent')} %"
            st.caption(
                f"{describe.number(number / total, 'percent')} % of "
                f"{describe.number(total, 'count')}{beside}"
            )
    stored = result.metrics.get(f"mia_{attack}") if result is not None else None
    parts = []
    if stored is not None and stored.value is not None:
        parts.append(
            f"The efficacy above is {describe.number(stored.value, 'percent')} % for this run: "
            "its attack draws a learned boundary, which a single threshold need not equal."
        )
    if run.reversed:
        parts.append(
            "Here test samples score higher than retained ones, so a threshold points the wrong "
            "way."
        )
    if attack == "prob" and references:
        parts.append(
            "This score comes from a machine fitted to each model anew, so compare its values "
            "between models with care."
        )
    if parts:
        st.caption(" ".join(parts))


# --- samples
# --------------------------------------------------------------------------------------------------


def show_walls(run: Scored, threshold: float, result) -> None:
    walls = membership_frames.walls(run, threshold, WALL)
    counts = membership_frames.count(run, threshold)
    pictures = thumbnails(result, [*walls[0], *walls[1]])
    labels = dict(zip(run.ids["forget"].tolist(), run.labels, strict=True))
    heads = (
        (f"Still called seen: {counts.forget_seen}", "No forgotten sample reaches this threshold."),
        (
            f"Called unseen: {counts.forget_unseen}",
            "Every forgotten sample reaches this threshold.",
        ),
    )
    totals = (counts.forget_seen, counts.forget_unseen)
    for column, (head, nothing), ids, total in zip(
        st.columns(2, gap="medium"), heads, walls, totals, strict=True
    ):
        with column:
            st.markdown(f"**{head}**")
            if not ids:
                st.caption(nothing)
                continue
            st.caption(
                f"The surest {len(ids)} of {total}, with their label."
                if total > len(ids)
                else "All of them, with their label."
            )
            if pictures:
                captions = [class_name(result, labels[each]) for each in ids]
                st.image([pictures[each] for each in ids], caption=captions, width=THUMBNAIL)
            else:
                st.caption(f"Sample ids: {', '.join(map(str, ids))}")


page()
