"""Depoisoning: how much of an attack on the training data is left after unlearning (MUBox, Figures
5, 6 and 7).
"""

from __future__ import annotations

import typing
from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import data, state
from dashboard.charts import image_row, poison_bars
from dashboard.frames import budget as budget_frames
from dashboard.frames import depoisoning as depoisoning_frames
from dashboard.text import labels, units
from dashboard.widgets import figures, header, messages, run_drawer, run_filters
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape, metric_help
from dashboard.widgets.provenance import provenance
from mucore import catalog
from mucore.errors import MucoreError
from mucore.outputs import Outputs
from mucore.store.rows import Result
from mucore.verdicts import Judged

QUESTION = "Which method heals a model that was trained on poisoned data?"
SCENARIOS = ("label_flip", "backdoor")
FIGURES = {"label_flip": "MUBox, Figures 5 and 6", "backdoor": "MUBox, Figure 7"}
READING = {
    "label_flip": (
        "A healed model stands at Retrain's dashed line in every panel: its accuracy is back, and "
        "it no longer gives the flipped labels. In MUBox, Unrolling, SCRUB, SalUn, FCS and NIU "
        "come near; PGU, l1-sparsity, First- and Second-order recover TA but keep FA."
    ),
    "backdoor": (
        "A healed model stands at Retrain's dashed line in every panel: the patch on an image no "
        "longer decides. In MUBox, all methods remove the backdoor except L-CODEC, FCS, MSG, CT "
        "and NIU."
    ),
}
ALL = "all"
NOT_KEPT = (
    "The predictions of {what} are not here: they were removed to save space, or the demo leaves "
    "them out. A new run, such as one with another training seed, keeps them."
)


def page() -> None:
    source = data.source()
    top = st.container()
    runs = data.summaries()
    runs = runs[runs["scenario"].isin(SCENARIOS)]
    if runs.empty:
        with top:
            header.header(
                QUESTION,
                "Accuracy and attack success of every method, after the poisoned samples were "
                "unlearned.",
                source,
            )
        messages.empty(
            "No run has poisoned training data. The scenarios for flipped labels and for a "
            "backdoor poison the data, train an original on them, and ask the methods to forget "
            "what was poisoned.",
            "Launch both attacks",
            "launch",
            scenarios=list(SCENARIOS),
        )
        return
    runs = run_filters.pick_runs(runs, scenarios=SCENARIOS, varying=budget_frames.AMOUNTS)
    if runs.empty:
        with top:
            messages.none_finished(QUESTION, source)
        return
    scenario = str(runs.iloc[0]["scenario"])
    values = data.metric_values(dataset=str(runs.iloc[0]["dataset"]), scenario=scenario)
    judged = data.judged(runs)
    found = curves(
        runs,
        values,
        judged,
        source.name,
        source.change,
        tuple(runs["key"]),
        depoisoning_frames.METRICS[scenario],
    )
    # the choice of a size takes room beside the words only where there is one
    left, right = (
        st.columns([76, 24], gap="medium", vertical_alignment="bottom")
        if len(found.sizes) > 1
        else (st.container(),) * 2
    )
    with left:
        meaning = "  \n\n".join(metric_help(name) for name in depoisoning_frames.PANELS[scenario])
        st.caption(READING[scenario], help=meaning)
    with right:
        sizes = pick_size(found)
    with top:
        header.header(catalog.scenario(scenario).question, caption(runs, found, scenario), source)
        said = depoisoning_frames.headline(depoisoning_frames.rows(found, sizes[0]))
        header.answers(depoisoning_frames.answers(found, scenario, sizes[0]), first=said)
    below: list[str] = []
    drawn = {
        count: show_bars(found, runs, scenario, count, alone=len(sizes) == 1, said=below)
        for count in sizes
    }
    st.subheader("What the models say", anchor=False)
    pictures = st.container()
    run_drawer.run_drawer(budget_frames.beside(runs, state.param("run")))
    for count, figure in drawn.items():
        of = units.count(count, "poisoned sample") if len(drawn) > 1 else ""
        table = budget_frames.numbers(depoisoning_frames.ordered(found, count))
        figures.numbers(
            table[table["Samples"] == count], f"depoisoning-{scenario}-{count}", figure, of=of
        )
    provenance(runs)
    # last, since the first images of a server take a second or two
    with pictures, messages.guarded():
        show_examples(found, runs, scenario, sizes[0])


def pick_size(found: budget_frames.Curves) -> list[int]:
    """The poison sizes to draw, largest first."""
    sizes = sorted(found.sizes, reverse=True)
    names = {ALL: "All", **{str(count): units.count(count, "sample") for count in sizes}}
    chosen = (
        state.select("Poisoned", "size", list(names), format_func=names.__getitem__)
        if len(sizes) > 1
        else ALL
    )
    return sizes if chosen == ALL else [int(chosen)]


@st.cache_data(show_spinner=False, max_entries=32)
def curves(
    _runs: pd.DataFrame,
    _values: pd.DataFrame,
    _judged: Mapping[str, Judged],
    name: str,
    change: int,
    keys: tuple[str, ...],
    metrics: tuple[str, ...],
) -> budget_frames.Curves:
    """`budget_frames.curves`; `name`, `change` and `keys` say which runs, so that the frames need
    no hashing.
    """
    return budget_frames.curves(_runs, _values, metrics, judged=_judged)


def caption(runs: pd.DataFrame, found: budget_frames.Curves, scenario: str) -> str:
    first = runs.iloc[0]
    sizes = " and ".join(f"{count:,}" for count in sorted(found.sizes))
    counts = [group["training_seed"].nunique() for _, group in runs.groupby("forget_count")]
    few, many = min(counts), max(counts)
    seeds = units.count(many, "training seed") if few == many else f"{few} to {many} training seeds"
    return escape(
        f"{labels.setup_text(first)}. {sizes} poisoned samples, {seeds}. {FIGURES[scenario]}."
    )


def show_bars(
    found: budget_frames.Curves,
    runs: pd.DataFrame,
    scenario: str,
    count: int,
    *,
    alone: bool,
    said: list[str],
) -> go.Figure | None:
    """The bars of one poison size; a click on a bar opens its first run. `said` grows by what
    stands below: nothing is said twice.
    """
    metrics = depoisoning_frames.panels(found, scenario)
    info = poison_bars.poison_bars_info(
        depoisoning_frames.ordered(found, count), scenario=scenario, count=count, metrics=metrics
    )
    if not alone:
        st.markdown(
            f"**{units.count(count, 'poisoned sample')}**"
            + (f", {info.share}" if info.share else "")
        )
    if not info.panels or not info.panels[0].bars:
        st.markdown(
            "No method has a number here: none is chosen under Methods, or only the original and "
            "Retrain have run."
        )
        link(
            "launch",
            "Launch methods",
            icon=":material/arrow_forward:",
            **budget_frames.launch_query(runs, ()),
        )
        return None
    if depoisoning_frames.too_weak(found, scenario, count):
        st.info(
            "This attack hardly worked: the original is fooled little more than Retrain, so a "
            "method that does nothing looks healed. Train for longer, or poison more samples.",
            icon=":material/info:",
        )
    selected = next(
        (line.id for line in found.lines for step in line.steps if state.param("run") in step.keys),
        "",
    )
    figure = poison_bars.draw(info, dark=state.dark(), selected=selected, legend=not said)
    run_drawer.chart(figure, f"poison_bars_{count}", alt=poison_bars.alt_text(info))
    if new := [sentence for sentence in notes(info, scenario, metrics) if sentence not in said]:
        st.caption(escape(" ".join(new)))
    said += new
    return figure


def notes(info: poison_bars.PoisonInfo, scenario: str, metrics: tuple[str, ...]) -> list[str]:
    """What a reader must know about this very figure."""
    made = [
        (
            "Nearest to Retrain first. Beside each name stands its verdict; ? says that more seeds "
            "may change it. Click a bar for its run."
        )
    ]
    seeds = {bar.seeds for panel in info.panels for bar in panel.bars}
    if max(seeds) == 1:
        made.append("One training seed, so no interval.")
    else:
        span = str(max(seeds)) if len(seeds) == 1 else f"{min(seeds)} to {max(seeds)}"
        made.append(
            f"Thin bars are 95 % t-intervals over {span} training seeds, cut at 0 and 100 %."
        )
    if scenario == "label_flip" and "ta_flipped" not in metrics:
        made.append("Every class is flipped, so TA of the flipped classes is TA and has no panel.")
    absent = [panel.title for panel in info.panels if panel.retrain is None]
    if absent:
        made.append(f"No Retrain yet, so no dashed line: {', '.join(absent)}.")
    made.append("MUBox draws its figures without printed numbers to set beside yours.")
    return made


# --- examples
# --------------------------------------------------------------------------------------------------


def show_examples(
    found: budget_frames.Curves, runs: pd.DataFrame, scenario: str, count: int
) -> None:
    """Attacked images with the answers of original, Retrain and one method, all of one training
    seed.
    """
    steps = {line.id: step for line in found.methods if (step := line.step(count)) is not None}
    lines = [line for line in depoisoning_frames.ordered(found, count).methods if line.id in steps]
    if not lines:
        st.caption("There is no method to look at.")
        return
    # the first of which there is something to see
    nearest = min(lines, key=lambda line: steps[line.id].keys[0] not in data.predicted())
    titles = {line.id: line.title for line in lines}
    left, right = st.columns([35, 65], vertical_alignment="bottom")
    with left:
        chosen = state.select(
            "Method", "method", list(titles), default=nearest.id, format_func=titles.__getitem__
        )
    with right:
        names = {
            "any": "Any attacked image",
            "healed": "Healed by the method",
            "fooled": "Still fooled",
        }
        state.segmented("Images", "images", list(names), format_func=names.__getitem__)
    show = typing.cast(depoisoning_frames.Shown, state.choice("images", list(names)))
    key = steps[chosen].keys[0]
    at_size = runs[runs["forget_count"] == count].set_index("key")
    seed = int(at_size.loc[key, "training_seed"])
    keys = {
        "Original": twin(at_size, "original", seed),
        "Retrain": twin(at_size, "retrain", seed),
        titles[chosen]: key,
    }
    missing = [name for name, key in keys.items() if not key]
    if missing:
        st.markdown(
            f"These images need the {' and the '.join(missing)} of training seed {seed}, which "
            "has not run yet."
        )
        link("queue", "Watch the queue", icon=":material/list_alt:")
        return
    split = depoisoning_frames.SPLIT[scenario]
    outputs: dict[str, Outputs | None] = {name: data.outputs(key) for name, key in keys.items()}
    splits = {
        name: each[split]
        for name, each in outputs.items()
        if each is not None and split in each and len(each[split])
    }
    if len(splits) < len(keys):
        st.markdown(NOT_KEPT.format(what=" and ".join(name for name in keys if name not in splits)))
        query = budget_frames.launch_query(at_size, ()) | {
            "training_seeds": str(1 + int(at_size["training_seed"].max()))
        }
        link("launch", "Launch a comparison", icon=":material/arrow_forward:", **query)
        return
    original = data.result(keys["Original"])
    if original is not None:
        show_images(
            original,
            depoisoning_frames.examples(splits, original.spec["poison"], show=show),
            scenario,
            seed,
        )


def twin(at_size: pd.DataFrame, method: str, seed: int) -> str:
    """The key of a reference's run with that training seed, "" where there is none."""
    mine = at_size[(at_size["method"] == method) & (at_size["training_seed"] == seed)]
    return str(mine.index[0]) if len(mine) else ""


def show_images(
    original: Result, chosen: depoisoning_frames.Examples, scenario: str, seed: int
) -> None:
    where = (
        "training images with a flipped label"
        if scenario == "label_flip"
        else "test images under the patch, not of the target class"
    )
    if not len(chosen.ids):
        st.markdown(
            f"None of {units.count(chosen.total, 'image')} is of this kind. Choose other images, "
            "or another method."
        )
        return
    try:
        with st.spinner("Loading the images"):
            pixels = data.images(
                original.spec, chosen.ids.tolist(), triggered=scenario == "backdoor"
            )
    except MucoreError as failure:
        st.markdown(f"The images cannot be shown: {escape(str(failure))}")
        return
    info = image_row.image_row_info(
        pixels,
        chosen.ids.tolist(),
        true=chosen.true.tolist(),
        taught=chosen.taught.tolist(),
        predicted=[(name, answers.tolist()) for name, answers in chosen.predicted.items()],
        names=catalog.dataset(original.spec["dataset"]).class_names,
    )
    figures.chart(
        image_row.draw(info, dark=state.dark()), "poisoned_images", alt=image_row.alt_text(info)
    )
    shown, matching = len(chosen.ids), chosen.matching
    st.caption(
        (
            f"All {shown} such images"
            if shown == matching
            else f"{shown} of {matching} such images, spread evenly"
        )
        + f"; {chosen.total} {where} in all. Bold and coloured: the "
        f"attacker's label. Italic: wrong, but not what the attacker wants. Training seed {seed}."
    )


page()
