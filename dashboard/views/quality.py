"""Forgetting quality: can many unlearned models be told from as many retrained ones? (NeurIPS 2023
competition, Figure 1)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import data, frames, state
from dashboard.charts import class_histograms, epsilon_histogram, score_bars, two_distributions
from dashboard.frames import quality as quality_frames
from dashboard.frames.quality import Found, Samples
from dashboard.text import labels, units
from dashboard.widgets import figures, header, messages, run_drawer, run_filters
from dashboard.widgets.markdown import escape, metric_help
from dashboard.widgets.provenance import provenance
from mucore import catalog
from mucore.errors import MucoreError
from mucore.metrics.forgetting_quality import BIN, FEW_MODELS, TIME_LIMIT
from mucore.runner.quality import Finding, Lineup, Row, find, forget_confidences
from mucore.spec import RunSpec
from mucore.store import Store
from mucore.verdicts import Judged

QUESTION = "Can anyone tell the unlearned models from retrained ones?"
SMALL: dict[str, str | list[str]] = {  # the example, as the Launch page has it
    "experiment": "1",
    "models": "64",
    "dataset": "digits",
    "model": "mlp",
    "preset": "quick",
    "scenarios": ["one_class"],
    "methods": ["finetune", "ssd"],
}
EXAMPLE = (
    "python -m mucore quality --dataset digits --model mlp --preset quick --scenario "
    "one_class --methods finetune,ssd --models 64"
)


def page() -> None:
    source = data.source()
    top = st.container()
    every = data.unlearning_runs()
    runs = every[every["key"].isin(belonging(every, source.name, source.change))]
    if runs.empty:
        with top:
            header.header(
                QUESTION,
                "An experiment on many models of each method, after the NeurIPS 2023 competition.",
                source,
            )
        show_empty(every.empty)
        return
    runs = run_filters.pick_runs(runs)
    found = pick_experiment(runs, source)
    if found is None:
        with top:
            header.header(
                QUESTION, "The methods that are ticked have no experiment together.", source
            )
        messages.empty(
            "Tick one method at least under Methods, or take another comparison.",
            "See the results",
            "results",
        )
        return
    used = runs[runs["key"].isin(found.keys)]
    with top:
        header.header(QUESTION, caption(used, found), source)
    findings, judged = get_findings(source, found), data.judged(used)
    with top:
        header.answers(
            quality_frames.answers(findings, found.models, judged),
            first=quality_frames.headline(findings, judged),
        )
    warn_of_few(found.models)
    if len(findings) < len(found.methods):
        offer_to_compute(
            source,
            found,
            [
                method
                for method in found.methods
                if method.keys not in {one.keys for one in findings}
            ],
        )
    drawn = show_findings(found, quality_frames.ordered(findings), judged) if findings else []
    show_classes(used, found)
    run_drawer.run_drawer(used)
    name = f"quality-{used.iloc[0]['scenario']}-{found.models}"
    figures.numbers(
        quality_frames.table(quality_frames.ordered(findings), judged), name, of="methods"
    )
    for part in drawn:
        figures.numbers(part.frame, f"{name}-{part.name}", part.figure, of=part.of)
    provenance(used)


@dataclass(frozen=True, eq=False)
class Drawn:
    """A figure with the numbers behind it; `name` is for files, `of` for the reader."""

    name: str
    of: str
    frame: pd.DataFrame
    figure: go.Figure


def show_empty(nothing: bool) -> None:
    """What the experiment is, and the command that makes one."""
    has = (
        "There are no results yet."
        if nothing
        else "No method has been run with many unlearning seeds beside as many Retrains."
    )
    messages.empty(
        f"{has} The experiment trains N models from scratch without the forgotten samples and "
        "unlearns N others with different seeds. Then it asks of each forgotten sample: do the "
        "two kinds of models differ in what they say of it? 16 small models take minutes, the "
        f"competition took 512. Below {FEW_MODELS}, F is a rough estimate.",
        "Start one on small digits",
        "launch",
        **SMALL,
    )
    st.caption("The same on the command line:")
    st.code(EXAMPLE, language="bash", wrap_lines=True)


@st.cache_data(show_spinner=False, max_entries=8)
def belonging(_runs: pd.DataFrame, name: str, change: int) -> frozenset[str]:
    """Keys of all runs that belong to an experiment."""
    return frozenset(quality_frames.in_experiments(_runs)["key"])


def pick_experiment(runs: pd.DataFrame, source: data.Source) -> Found | None:
    """The experiment that the address names, at first the largest whose numbers are known; no
    choice is drawn where there is but one.
    """
    options = {one.id: one for one in quality_frames.experiments(runs)}
    if len(options) < 2:
        return next(iter(options.values()), None)
    known = next((name for name, one in options.items() if get_findings(source, one)), None)
    named = {name: experiment_name(one) for name, one in options.items()}
    return options[
        state.segmented(
            "Models of each kind",
            "models",
            list(options),
            default=known,
            format_func=named.__getitem__,
        )
    ]


def experiment_name(found: Found) -> str:
    methods = units.count(len(found.methods), "method")
    own = ", an original each" if found.originals == "each" else ""
    return f"{found.models} models, {methods}{own}" + (
        f", from seed {found.seed}" if found.seed else ""
    )


def caption(runs: pd.DataFrame, found: Found) -> str:
    first = runs.iloc[0]
    from_what = "one original" if found.originals == "one" else "an original each"
    return escape(
        f"{labels.setup_text(first)}. {found.models} models of each kind, unlearned from "
        f"{from_what}; {units.count(int(first['forget_count']), 'sample')} to forget. F is 1 if "
        "no sample gives them away."
    )


# --- numbers: stored ones at once, others on request
# --------------------------------------------------------------------------------


def lineup(store: Store, found: Found) -> Lineup:
    """The experiment as the runner knows it."""
    first = {
        result.key: result
        for result in store.results(keys=[method.keys[0] for method in found.methods])
    }
    rows = tuple(
        Row(RunSpec.model_validate(first[method.keys[0]].spec), method.keys)
        for method in found.methods
    )
    return Lineup(
        models=found.models, originals=found.originals, retrained=found.retrained, rows=rows
    )


def get_findings(source: data.Source, found: Found) -> list[Finding]:
    """What is known of the experiment's methods without computing anything, in their order."""
    known = computed(source.name)
    if any((found.retrained, method.keys) not in known for method in found.methods):
        try:
            for one in stored(source.store, found, source.name, source.change, found.keys):
                known.setdefault((found.retrained, one.keys), one)
        except MucoreError as failure:
            messages.error(escape(str(failure)))
    return [
        known[key] for method in found.methods if (key := (found.retrained, method.keys)) in known
    ]


@st.cache_resource(show_spinner=False, max_entries=16)
def stored(
    _store: Store, _found: Found, name: str, change: int, keys: tuple[str, ...]
) -> list[Finding]:
    """The numbers that lie in the store; `name`, `change` and `keys` say which."""
    return find(lineup(_store, _found), _store, stored_only=True)


@st.cache_resource(show_spinner=False, max_entries=4)
def computed(name: str) -> dict[tuple[tuple[str, ...], tuple[str, ...]], Finding]:
    """(Retrain's keys, a method's keys) -> its finding, kept for all readers of a store; read-only
    stores keep them nowhere else.
    """
    return {}


@st.cache_resource(show_spinner=False, max_entries=4)
def read_samples(name: str) -> dict[tuple[tuple[str, ...], tuple[str, ...]], Samples]:
    """As `computed`, for what the models say of each sample."""
    return {}


def offer_to_compute(
    source: data.Source, found: Found, methods: list[quality_frames.Method]
) -> None:
    names = ", ".join(dict.fromkeys(labels.method_names(method.method)[0] for method in methods))
    if (
        lost := {*found.retrained, *(key for method in methods for key in method.keys)}
        - data.predicted()
    ):
        messages.empty(
            f"The numbers of {escape(names)} are not here. They are computed from "
            f"predictions, but those of {units.count(len(lost), 'model')} were removed to save "
            "space. A new experiment has both.",
            "Start one on small digits",
            "launch",
            **SMALL,
        )
        return
    with st.container(border=True):
        st.markdown(
            escape(
                f"The numbers of {names} have not been computed yet. The models are there; "
                "reading their predictions takes a moment."
            )
        )
        if not st.button(
            "Compute the numbers", icon=":material/calculate:", type="primary", key="compute"
        ):
            return
        try:
            read(source, found, [found.retrained, *(method.keys for method in methods)])
            with st.spinner("Looking for the best rule of each sample"):
                known = computed(source.name)
                known |= {
                    (found.retrained, one.keys): one
                    for one in find(lineup(source.store, found), source.store)
                }
        except MucoreError as failure:
            messages.error(escape(str(failure)))
            return
    st.rerun()


def read(
    source: data.Source, found: Found, kinds: list[tuple[str, ...]]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Ids and confidences of models of each kind, with a progress bar."""
    bar, total = st.progress(0.0, "Reading predictions"), len(kinds) * found.models
    made = []
    for place, keys in enumerate(kinds):

        def step(done: int, before: int = place * found.models) -> None:
            bar.progress(
                min((before + done) / total, 1.0),
                f"Reading the predictions of model {before + done} of {total}",
            )

        content = forget_confidences(keys, source.store, progress=step)
        assert content is not None
        made.append(content)
    bar.empty()
    return made


# --- what they say
# --------------------------------------------------------------------------------------------------


def warn_of_few(models: int) -> None:
    if models < FEW_MODELS:
        st.warning(
            f"Only {models} models of each kind. Chance alone tells so few apart, and no finite ε "
            f"above ln(N − 1) = {quality_frames.bound(models):.1f} can show. Compare F with that "
            f"of Retrain's halves; {FEW_MODELS} are a fair number.",
            icon=":material/groups:",
        )


def show_findings(
    found: Found, findings: list[Finding], judged: Mapping[str, Judged]
) -> list[Drawn]:
    """Bars, table and a closer look at one method."""
    drawn: list[Drawn | None] = []
    left, right = st.columns(2, gap="medium")
    with left:
        st.caption(
            "Forgetting quality (F) with half the models. The dashed line is one half of the "
            "retrained models against the other: a method that reaches it is as hard to tell from "
            "Retrain as Retrain itself.",
            help=metric_help("forgetting_quality"),
        )
        drawn.append(show_quality_bars(findings))
    with right:
        st.caption(
            "Mean unlearning time as a share of Retrain's. The competition rejects methods beyond "
            "the dashed line.",
            help=metric_help("competition_score"),
        )
        drawn.append(show_time_bars(findings))
    table = quality_frames.table(findings, judged)
    zero = [head for head in ("Without ε", "Degenerate", "Reverted") if not table[head].any()]
    # they stand in the numbers below
    shown = table.drop(columns=["AUC, %", "TPR at 1 %, %", *zero])
    help = {head: metric_help(metric) for head, metric in quality_frames.HEADS.items()} | {
        "Distance": frames.DISTANCE_MEANING
    }
    config = {
        head: st.column_config.Column(alignment="right", help=help.get(head))
        for head in shown.columns[2:]
    }
    st.dataframe(shown, hide_index=True, column_config=config, key="quality_table")
    for sentence in quality_frames.sentences(findings):
        st.caption(escape(sentence))
    keys = {method.keys: method.row for method in found.methods}
    rows = {keys[one.keys]: one for one in findings}
    choose, _ = st.columns([2, 3])
    with choose:
        row = state.select(
            "Look at the samples of",
            "method",
            list(rows),
            format_func=lambda name: quality_frames.title(rows[name], findings),
        )
    drawn += show_method(found, rows[row], quality_frames.title(rows[row], findings))
    return [part for part in drawn if part is not None]


def show_classes(runs: pd.DataFrame, found: Found) -> None:
    """How often each class is in every split (competition, Figure 2), from the counts that a
    retrained model's run keeps.
    """
    st.subheader("How often each class is in the data", anchor=False)
    result = data.result(found.retrained[0])
    names = catalog.dataset(str(runs.iloc[0]["dataset"])).class_names
    info = class_histograms.class_histograms_info(result.confusion if result else {}, names)
    if info is None:
        st.markdown("The counts of these runs were not kept. Every new run keeps them.")
        return
    st.caption(
        "As in the competition's Figure 2. Where the forget set has other classes than the retain "
        "set, forgetting affects some classes more than others."
    )
    figure = class_histograms.draw(info, dark=state.dark())
    figures.chart(figure, "class_histograms", alt=class_histograms.alt_text(info))
    figures.numbers(
        class_histograms.table(info), f"classes-{runs.iloc[0]['scenario']}", figure, of="classes"
    )


def show_quality_bars(findings: list[Finding]) -> Drawn | None:
    bars, missing = [], []
    for one in findings:
        name, value = quality_frames.title(one, findings), one.assessment.half_quality
        if value is None:
            missing.append(name)
        else:
            bars.append(
                score_bars.Bar(name, labels.method_names(one.spec.method)[1], value, one.keys[0])
            )
    reference = findings[0].assessment.retrain_quality
    half = findings[0].assessment.half_models
    lines = [] if reference is None else [score_bars.Line("Retrain", reference, "dash")]
    info = score_bars.score_bars_info(
        bars,
        lines=lines,
        axis=f"F with {half} models of each kind: high is good",
        digits=3,
        missing=missing,
    )
    return show_bars(info, "quality_bars", "bars of forgetting quality")


def show_time_bars(findings: list[Finding]) -> Drawn | None:
    bars, missing = [], []
    for one in findings:
        name, value = quality_frames.title(one, findings), one.assessment.time_share
        if value is None:
            missing.append(name)
        else:
            note = "rejected" if quality_frames.too_slow(one.assessment) else ""
            bars.append(
                score_bars.Bar(
                    name,
                    labels.method_names(one.spec.method)[1],
                    100 * value,
                    one.keys[0],
                    note=note,
                )
            )
    lines = [score_bars.Line("limit", 100 * TIME_LIMIT, "dash")]
    axis = "Time, % of Retrain's: low is good"
    info = score_bars.score_bars_info(
        bars, lines=lines, axis=axis, digits=1, best="low", missing=missing
    )
    return show_bars(info, "time_bars", "bars of time")


def show_bars(info: score_bars.ScoreBarsInfo, key: str, of: str) -> Drawn | None:
    """The bars; a click on one opens its first run."""
    if not info.bars:
        st.markdown("No method has this number; the sentences below the table say why.")
        return None
    figure = score_bars.draw(info, dark=state.dark(), selected=state.param("run"))
    run_drawer.chart(figure, key, alt=score_bars.alt_text(info))
    if info.missing:
        st.caption(escape(f"Without this number: {', '.join(info.missing)}."))
    return Drawn(key, of, score_bars.table(info), figure)


def show_method(found: Found, finding: Finding, name: str) -> list[Drawn | None]:
    """Its ε over all samples, and one sample from near."""
    a, family = finding.assessment, labels.method_names(finding.spec.method)[1]
    left, right = st.columns([46, 54], gap="medium")
    with left:
        without = (
            f" {units.count(a.missing, 'sample has', 'samples have')} no ε." if a.missing else ""
        )
        st.caption(
            f"{escape(name)}: forgotten samples by ε. At the far left nothing gives a "
            "sample away, and it counts 1. Each bin counts half as much as the one before it; "
            f"the hatched one, where a rule is never wrong, counts 0. F is the mean.{without}"
        )
        info = epsilon_histogram.epsilon_histogram_info(
            name, family, a.histogram, missing=a.missing, models=a.models
        )
        figure = epsilon_histogram.draw(info, dark=state.dark())
        figures.chart(figure, "epsilon_histogram", alt=epsilon_histogram.alt_text(info))
    with right:
        sample = show_sample(found, finding, family)
    bins = pd.DataFrame(
        {
            "From ε": [BIN * place for place in range(len(info.counts))],
            "Samples": info.counts,
            "Weight": info.weights,
        }
    )
    return [Drawn("epsilon", f"samples of {name} by ε", bins, figure), sample]


def show_sample(found: Found, finding: Finding, family: str) -> Drawn | None:
    st.caption(
        "One sample, as in the competition's Figure 1: the further apart the curves, the easier "
        "it is to tell the models apart."
    )
    content = get_samples(data.source(), found, finding)
    if content is None:
        return None
    order = [str(sample) for sample in content.by_epsilon]
    chosen = state.select(
        "Sample, easiest to tell first",
        "sample",
        order,
        format_func=lambda name: sample_name(content, int(name)),
    )
    place = content.at(int(chosen))
    info = two_distributions.two_distributions_info(
        int(chosen), family, content.unlearned[:, place], content.retrained[:, place]
    )
    figure = two_distributions.draw(info, dark=state.dark())
    figures.chart(figure, "two_distributions", alt=two_distributions.alt_text(info))
    st.caption(
        f"{two_distributions.rule_text(info.rule)} The rates count models (the ticks below); the "
        "curves are smoothed."
    )
    frame = pd.DataFrame({"Unlearned, nats": info.unlearned, "Retrained, nats": info.retrained})
    return Drawn(f"sample-{chosen}", f"confidences in sample {chosen}", frame, figure)


def sample_name(content: Samples, sample: int) -> str:
    return (
        f"Sample {sample}, ε "
        f"{quality_frames.epsilon_text(float(content.epsilons[content.at(sample)]))}"
    )


def get_samples(source: data.Source, found: Found, finding: Finding) -> Samples | None:
    """What the models say of each sample; read on request where it is not kept yet."""
    kinds = [finding.keys, found.retrained]
    kept, name = read_samples(source.name), (found.retrained, finding.keys)
    if name in kept:
        return kept[name]
    try:
        unlearned, retrained = (
            forget_confidences(keys, source.store, stored_only=True) for keys in kinds
        )
        if unlearned is None or retrained is None:
            st.markdown(f"What {2 * found.models} models say of each sample has not been read yet.")
            if not st.button("Read their predictions", icon=":material/download:", key="read"):
                return None
            unlearned, retrained = read(source, found, kinds)
            kept[name] = quality_frames.samples(unlearned, retrained)
            st.rerun()
        with st.spinner("Looking for the best rule of each sample"):
            kept[name] = quality_frames.samples(unlearned, retrained)
    except MucoreError as failure:
        st.markdown(escape(str(failure)))
        return None
    return kept[name]


page()
