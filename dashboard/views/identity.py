"""Identity: are persons forgotten, and is the model still of use? (MUFAC and MUCAC: NoMUS
tables)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import data, frames, state, widgets
from dashboard.charts import loss_histograms, nomus_scatter, score_bars
from dashboard.frames import Row
from dashboard.frames import identity as identity_frames
from dashboard.frames.identity import Orders, Paper
from dashboard.text import labels, units
from dashboard.widgets import columns, run_drawer, run_filters
from mucore import catalog
from mucore.errors import MucoreError
from mucore.outputs import Outputs
from mucore.store.rows import Result
from mucore.verdicts import Judged

QUESTION = "Are these persons forgotten, and is the model still of use?"
SCENARIOS = tuple(
    card.id for card in catalog.scenarios() if card.id in (catalog.metric("nomus").scenarios or ())
)
EXAMPLE = (
    "python -m mucore run --dataset faces --model mlp --preset quick --scenario identities --set "
    "scenario.count=60 --methods finetune,cf_k,gradient_ascent,advanced_neggrad,scrub"
)
FACES = 8
# lines up to which the bars are about as high as the figure beside them; with more they stand below
# it
BESIDE = 20
PIXELS = 96


def page() -> None:
    source = data.source()
    top = st.container()
    every = data.summaries()
    runs = every[every["scenario"].isin(SCENARIOS)]
    if runs.empty:
        with top:
            widgets.header(QUESTION, "Persons, not classes: the tables of MUFAC and MUCAC.", source)
        show_empty(every.empty)
        return
    runs = run_filters.pick_runs(runs, scenarios=SCENARIOS)
    if runs.empty:
        with top:
            widgets.none_finished(QUESTION, source)
        return
    rows = person_rows(runs, source.name, source.change, tuple(runs["key"]))
    found = orders(every, runs.iloc[0], rows)
    with top:
        widgets.header(QUESTION, caption(runs), source)
        images = int(runs["forget_count"].median())
        widgets.answers(
            identity_frames.answers(rows, found, images),
            first=identity_frames.headline(rows, images),
        )
    paper = show_table(rows, str(runs.iloc[0]["dataset"]))
    st.caption(widgets.escape(orders_sentence(found)))
    figure = show_figures(rows, paper)
    st.caption(chance(runs))
    show_run(rows, runs)
    run_drawer.run_drawer(runs)
    widgets.numbers(
        identity_frames.table(rows, paper), f"identity-{runs.iloc[0]['scenario']}", figure
    )
    widgets.provenance(runs)


def show_empty(nothing: bool) -> None:
    widgets.empty(
        ("There are no results yet. " if nothing else "No run has forgotten persons yet. ")
        + "The drawn faces come with the program and need no licence; a first comparison takes "
        "a few minutes on a laptop.",
        "Launch a comparison",
        "launch",
    )
    st.code(EXAMPLE, language="bash", wrap_lines=True)


def pick_table(dataset: str) -> str:
    """The paper's table; where the reader chose none, that of the data set's kind."""
    return state.select(
        "Table of the paper",
        "table",
        list(identity_frames.TABLES),
        default=identity_frames.table_for(dataset),
        format_func=lambda name: identity_frames.TABLES[name].setting,
        help="The table of Choi and Na that stands beside yours.",
    )


def paper_shown() -> bool:
    return state.choice("paper", ["0", "1"]) == "1"


@st.cache_data(show_spinner=False, max_entries=32)
def rows_of(
    _runs: pd.DataFrame,
    _values: pd.DataFrame,
    _judged: Mapping[str, Judged],
    name: str,
    change: int,
    keys: tuple[str, ...],
) -> tuple[Row, ...]:
    """`frames.metric_rows`, nearest to Retrain first; `name`, `change` and `keys` say which runs,
    so that the frames need no hashing.
    """
    return identity_frames.ordered(
        frames.metric_rows(
            _runs, _values[_values["key"].isin(keys)], identity_frames.METRICS, judged=_judged
        )
    )


def person_rows(
    runs: pd.DataFrame, name: str, change: int, keys: tuple[str, ...]
) -> tuple[Row, ...]:
    first = runs.iloc[0]
    values = data.metric_values(dataset=str(first["dataset"]), scenario=str(first["scenario"]))
    return rows_of(runs, values, data.judged(runs), name, change, keys)


def orders(every: pd.DataFrame, first: pd.Series, rows: Sequence[Row]) -> Orders | None:
    """The order of methods here and under class_wise with the same data set, model and recipe, of
    the commonest forget set.
    """
    same = every[every["scenario"] == "class_wise"]
    for column in ("dataset", "model", "recipe"):
        same = run_filters.keep(same, column, first[column])
    sets = frames.setups(same, "scenario_parameters")
    if not sets:
        return None
    same = run_filters.keep(same, "scenario_parameters", sets[0])
    source = data.source()
    classes = person_rows(same, source.name, source.change, tuple(same["key"]))
    return identity_frames.orders(rows, classes)


def orders_sentence(found: Orders | None) -> str:
    if found is not None:
        return identity_frames.orders_text(found)
    return (
        "Whether methods that are good at forgetting classes are good at forgetting persons, "
        "too, cannot be checked yet. It takes three methods that were also run under "
        f"{labels.scenario_title('class_wise')}, with the same data, model and recipe."
    )


def caption(runs: pd.DataFrame) -> str:
    first = runs.iloc[0]
    seeds = units.count(runs["training_seed"].nunique(), "training seed")
    images = units.count(int(runs["forget_count"].median()), "image")
    return widgets.escape(
        f"{labels.setup_text(first)}. {images} of the forgotten persons, {seeds}."
    )


def chance(runs: pd.DataFrame) -> str:
    """How large a difference of forgetting scores has to be to mean anything."""
    images = int(runs["forget_count"].median())
    seeds = " There is one training seed." if runs["training_seed"].nunique() == 1 else ""
    return (
        f"With {units.count(images, 'forgotten image')}, mere guessing scores up to "
        f"{identity_frames.by_chance(images):.3f} in 19 of 20 cases: smaller differences between "
        f"methods say nothing.{seeds}"
    )


def show_table(rows: Sequence[Row], dataset: str) -> Paper | None:
    """The table of methods, and the published one whose numbers stand in it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(
            "Nearest to Retrain first. A good method keeps test accuracy and brings the "
            "forgetting score to Retrain's.",
            width="stretch",
        )
        state.toggle("The paper's printed numbers beside yours", "paper")
    paper = None
    if paper_shown():
        choose, _ = st.columns([2, 3])
        with choose:
            paper = identity_frames.paper_table(pick_table(dataset))
    config = {
        head: st.column_config.Column(help=widgets.metric_help(metric))
        for head, metric in identity_frames.HEADS.items()
    }
    config["Distance"] = st.column_config.Column(help=frames.DISTANCE_MEANING)
    frame = identity_frames.table(rows, paper)
    st.dataframe(
        frame,
        hide_index=True,
        column_config=columns.aligned(frame, config),
        height="content",
        key="nomus_table",
    )
    for sentence in identity_frames.reasons(rows):
        st.caption(widgets.escape(f"Missing for {sentence}"))
    if paper is not None:
        st.caption(
            widgets.escape(
                f"{paper.title} with ResNet-18, as printed by Choi and Na; another data set and "
                "model than yours unless you ran it: compare the pattern, not the digits. Its "
                "CF-3 stands beside CF-k, NegGrad beside gradient ascent, the second stage of "
                "UNSIR beside UNSIR. Lines without seeds are the paper's alone: the first stage "
                "of UNSIR, which is no method of its own here, and methods without a run of "
                "yours."
            )
        )
    return paper


def show_figures(rows: Sequence[Row], paper: Paper | None) -> go.Figure | None:
    left, right = (
        st.columns([56, 44], gap="medium")
        if len(rows) <= BESIDE
        else (st.container(), st.container())
    )
    with left:
        st.caption(
            "NoMUS grows to the upper left and stays the same along a line. The star is Retrain, "
            "the ring the untouched original.",
            help=widgets.metric_help("nomus"),
        )
        figure = show_scatter(rows, paper)
    with right:
        st.caption(
            "How well an attack tells forgotten persons from unseen ones: the nearer to Retrain's "
            "dashed line, the better.",
            help=widgets.metric_help("forgetting_score"),
        )
        show_bars(rows)
    return figure


def show_scatter(rows: Sequence[Row], paper: Paper | None) -> go.Figure | None:
    ghosts = []
    if paper is not None:
        for method in paper.methods:
            x, y = paper.value(method, "forgetting_score"), paper.value(method, "ta")
            if x is not None and y is not None:
                ghosts.append((method, x, y))
    info = nomus_scatter.nomus_scatter_info(rows, ghosts)
    if not info.marks:
        st.markdown(
            "No run has a forgetting score yet. It needs ten images of forgotten persons and of "
            "persons that nobody has seen."
        )
        return None
    figure = nomus_scatter.draw(info, dark=state.dark(), selected=state.param("run"))
    run_drawer.chart(figure, "nomus_scatter", alt=nomus_scatter.alt_text(info))
    if info.missing:
        st.caption(widgets.escape(f"Not drawn, for want of a number: {', '.join(info.missing)}."))
    return figure


def show_bars(rows: Sequence[Row]) -> None:
    bars, lines, missing = [], [], []
    for row in rows:
        found = row.cells["forgetting_score"].value
        if found is None:
            missing.append(row.title)
        elif row.reference:
            lines.append(
                score_bars.Line(row.title, found.mean, "dash" if row.method == "retrain" else "dot")
            )
        else:
            bars.append(
                score_bars.Bar(
                    row.title,
                    row.family,
                    found.mean,
                    row.keys[0],
                    found.half,
                    note=frames.verdict_text(row),
                )
            )
    axis = "Forgetting score: 0 is a guess"
    info = score_bars.score_bars_info(
        bars, lines=lines, axis=axis, digits=3, best="first", missing=missing
    )
    if not info.bars:
        st.markdown("No method has a forgetting score yet.")
        return
    figure = score_bars.draw(info, dark=state.dark(), selected=state.param("run"))
    run_drawer.chart(figure, "score_bars", alt=score_bars.alt_text(info))
    table = pd.DataFrame(
        [(bar.title, bar.value, bar.half, bar.key) for bar in info.bars]
        + [(line.name, line.value, None, "") for line in info.lines],
        columns=["Method", "Forgetting score", "95 % half width", "Run"],
    )
    widgets.numbers(table, "identity-forgetting-scores", figure, of="forgetting scores")


# --- a closer look at one run
# --------------------------------------------------------------------------------------------------


def show_run(rows: Sequence[Row], runs: pd.DataFrame) -> None:
    """Losses of forgotten and unseen persons, and faces, of the run in the address; where it names
    none, of the method nearest to Retrain among the runs whose predictions were kept.
    """
    st.subheader("A closer look at one run", anchor=False)
    lines = runs.set_index("key")
    keys = {
        key: row.title for row in sorted(rows, key=lambda row: row.reference) for key in row.keys
    }
    first = next((key for key in keys if key in data.predicted()), next(iter(keys)))
    key = state.param("run") if state.param("run") in keys else first
    chosen = f"{keys[key]}, {run_drawer.seeds(lines.loc[key])}"
    st.caption(widgets.escape(f"{chosen}. Click a mark or a bar above for another run."))
    twin = {method: twin_of(lines, key, method) for method in ("original", "retrain")}
    models = []
    for name, one in (
        (keys[key], key),
        ("Retrain", twin["retrain"]),
        ("Original", twin["original"]),
    ):
        if (
            one
            and name not in [known for known, _ in models]
            and (content := outputs_of(one)) is not None
        ):
            models.append((name, content))
    if not models or models[0][0] != keys[key]:
        widgets.empty(
            "The predictions of this run were not kept, so its losses and faces cannot be shown; "
            "its numbers above stay. Run it again in another home (--home) to see them.",
            "See the results",
            "results",
        )
        return
    show_losses(models)
    result = data.result(key)
    if result is not None:
        show_faces(models, result)


def twin_of(lines: pd.DataFrame, key: str, method: str) -> str:
    """The reference of the run's training seed, "" where there is none."""
    found = lines[
        (lines["method"] == method) & (lines["training_seed"] == lines.loc[key, "training_seed"])
    ]
    return str(found.index[0]) if len(found) else ""


def outputs_of(key: str) -> Outputs | None:
    try:
        return data.outputs(key)
    except MucoreError:
        return None


def show_losses(models: Sequence[tuple[str, Outputs]]) -> None:
    panels = [
        (name, found)
        for name, outputs in models
        if (found := identity_frames.losses(outputs)) is not None
    ]
    if not panels:
        st.markdown(
            "This data set has no images of persons that nobody has seen, or their predictions "
            "were not kept."
        )
        return
    st.caption(
        "Where the filled bars follow the line, an attack on the loss cannot tell a forgotten "
        "person from one never seen."
    )
    info = loss_histograms.loss_histograms_info(panels)
    figure = loss_histograms.draw(info, dark=state.dark())
    widgets.chart(figure, "loss_histograms", alt=loss_histograms.alt_text(info))
    widgets.numbers(loss_histograms.frame(info), "identity-losses", figure, of="losses")


def show_faces(models: Sequence[tuple[str, Outputs]], result: Result) -> None:
    if not state.toggle("Faces of forgotten persons, with what each model says", "faces"):
        return
    names = catalog.dataset(result.spec["dataset"]).class_names
    found = identity_frames.faces(models, names, FACES)
    try:
        with st.spinner("Reading the images"):
            pictures = data.images(result.spec, [face.sample for face in found])
    except MucoreError as failure:
        st.caption(widgets.escape(f"The images cannot be shown. {failure}"))
        return
    factor = max(1, round(PIXELS / pictures.shape[1]))
    large = pictures.repeat(factor, axis=1).repeat(factor, axis=2)
    st.caption("Faces on which the models differ most come first. Bold: right.")
    for column, face, image in zip(st.columns(FACES, gap="small"), found, large, strict=False):
        with column, st.container(gap=None):
            st.image(image[..., 0] if image.shape[-1] == 1 else image, width=PIXELS)
            st.caption(f"**{widgets.escape(face.label)}**, sample {face.sample}")
            for name, said, right in face.said:
                text = widgets.escape(said)
                st.caption(f"{widgets.escape(name)}: {f'**{text}**' if right else text}")


page()
