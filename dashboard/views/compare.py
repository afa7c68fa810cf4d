"""Compare: any number of runs beside each other, class by class, prediction by prediction, image by image, map by map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import compare_frames, data, describe, drawer, picker, state, widgets, words
from dashboard.charts import agreement, class_gaps, confusion, embedding_map, instance
from dashboard.compare_frames import SPLIT_NAMES, Common
from dashboard.frames import Answer
from dashboard.representation import maps
from dashboard.representation.parts import PARTS, chosen_part, pick_part
from mucore import catalog
from mucore.analysis.tsne import FEWEST
from mucore.errors import MucoreError
from mucore.outputs import Outputs
from mucore.store.records import Result

VIEWS = {"classes": "Classes", "predictions": "Predictions", "confusion": "Confusion", "images": "Images", "map": "Map"}
QUESTIONS = {
    "classes": "In which classes do these models differ from Retrain?",
    "predictions": "How often do these models say the same?",
    "confusion": "What do these models take for what?",
    "images": "On which images do these models disagree?",
    "map": "Where do these models put the same samples?",
}
CAPTIONS = {
    "classes": "Accuracy of each class less that of the Retrain of the same training seed. No colour: as Retrain.",
    "predictions": "The share of samples on which two models predict the same: a closer look than equal accuracy.",
    "confusion": "Rows are true classes, columns predicted ones. Each row is shares of its class.",
    "images": "The samples on which the chosen models differ most, and what each says about them.",
    "map": "A t-SNE map of each model's features, the same samples in all. Click a point: it is ringed in every map.",
}
IMAGES = 12
MOST_PANELS = 6
ACROSS = 6
SIDE = 96  # pixels: small images are enlarged to this by whole pixels, so that a browser does not blur them


@dataclass(frozen=True, eq=False)
class Chosen:
    """The runs that the reader compares, in order, with their names and those whose predictions were kept."""

    runs: pd.DataFrame
    results: tuple[Result, ...]
    titles: dict[str, str]  # short, by key
    retrains: dict[str, Result | None]  # by key

    @property
    def class_names(self) -> tuple[str, ...]:
        return catalog.dataset(self.results[0].spec["dataset"]).class_names


def page() -> None:
    source = data.source()
    top = st.container()
    every = data.unlearning_runs()
    if every.empty:
        widgets.no_results(QUESTIONS["classes"], CAPTIONS["classes"], "Two runs are enough to compare.")
        return
    view, answers = widgets.pick_view(VIEWS, QUESTIONS, CAPTIONS, source, top)
    runs = picker.pick_runs(every, methods=False)
    if runs.empty:
        widgets.none_finished()
        return
    keys = pick_keys(runs, every, source)
    if not keys:
        st.markdown("Choose one run at least, above.")
        return
    chosen = gathered(keys, every)
    if chosen is None:
        st.markdown("These runs were deleted a moment ago. Choose others above.")
        return
    shows = {
        "classes": show_classes,
        "predictions": show_predictions,
        "confusion": show_confusion,
        "images": show_images,
        "map": show_map,
    }
    shows[view](chosen, answers)
    if state.param("sample"):
        show_instance(chosen)
    show_runs(chosen)
    drawer.run_drawer(every)
    widgets.provenance(chosen.runs)


def pick_keys(runs: pd.DataFrame, every: pd.DataFrame, source: data.Source) -> list[str]:
    """The keys of the runs to compare: those of the picked setting may be added to any of the same data set that the address names."""
    same = every[every["dataset"] == runs.iloc[0]["dataset"]]
    named = same[same["key"].isin(state.params("key"))]
    options = compare_frames.in_order(pd.concat([runs, named[~named["key"].isin(runs["key"])]]))
    titles = compare_frames.labels(options, full=True)
    usual = nearest(runs, source.name, source.change, tuple(runs["key"]))
    return state.multiselect(
        "Runs: method, scenario, seed. Choose another scenario above to add runs of it.",
        "key",
        list(options["key"]),
        default=usual,
        format_func=lambda key: titles[key],
    )


@st.cache_data(show_spinner=False, max_entries=32)
def nearest(_runs: pd.DataFrame, name: str, change: int, keys: tuple[str, ...]) -> list[str]:
    """`compare_frames.usual_keys`; `name`, `change` and `keys` say which runs."""
    first = _runs.iloc[0]
    return compare_frames.usual_keys(_runs, data.metric_values(dataset=str(first["dataset"]), scenario=str(first["scenario"])))


def gathered(keys: Sequence[str], every: pd.DataFrame) -> Chosen | None:
    """What the page needs of the chosen runs; None where none is left."""
    results = [result for key in keys if (result := data.result(key)) is not None]
    if not results:
        return None
    runs = every.set_index("key").loc[[result.key for result in results]].reset_index()
    retrains = {key: data.result(other) if (other := compare_frames.retrain_of(every, key)) else None for key in runs["key"]}
    return Chosen(runs, tuple(results), compare_frames.labels(runs, full=False), retrains)


def pick_split(available: Sequence[str]) -> str:
    options = [name for name in compare_frames.SPLITS if name in available]
    return state.segmented("Samples", "split", options, format_func=lambda name: SPLIT_NAMES[name])


# --- classes -------------------------------------------------------------------------------------------------------------------------


def show_classes(chosen: Chosen, answers: st.delta_generator.DeltaGenerator) -> None:
    splits = {name for result in chosen.results for name in result.confusion}
    if not splits & set(compare_frames.SPLITS):
        widgets.empty("Accuracies of classes were not stored with these runs. Runs of today keep them.", "Launch a comparison", "launch")
        return
    split = pick_split(sorted(splits))
    info = gaps(chosen, split)
    if not info.rows:
        widgets.empty(
            "Nothing to compare with: choose a method above, and launch Retrain of the same training seed.", "Launch a comparison", "launch"
        )
        return
    cells = [
        (value, title, name) for title, values in info.rows for name, value in zip(info.classes, values, strict=True) if value is not None
    ]
    low, high = min(cells), max(cells)
    original = {chosen.titles[result.key] for result in chosen.results if result.spec["method"] == "original"}
    methods = [row for row in info.rows if row[0] not in original] or info.rows
    mean = {title: np.mean([abs(v) for v in values if v is not None]) for title, values in methods}
    near = min(mean, key=lambda title: mean[title])
    with answers:
        widgets.answers(
            [
                Answer("Nearest to Retrain", near, f"{mean[near]:.1f} points away in a class, on average"),
                Answer("Lowest below Retrain", f"{points(low[0])} points", f"{low[1]}, class {low[2]}"),
                Answer("Highest above Retrain", f"{points(high[0])} points", f"{high[1]}, class {high[2]}"),
            ],
        )
    st.caption(
        "Look for a column in full colour: a class that pays for forgetting, or one that was not forgotten. Click a cell for its run."
    )
    figure = class_gaps.draw(info, dark=state.dark())
    shown = {title: key for key, title in chosen.titles.items()}
    drawer.heatmap(figure, "class_gaps", lambda _, row, __: shown[info.rows[row][0]], alt=class_gaps.alt_text(info))
    if info.missing:
        st.caption(widgets.escape(f"Left out, for want of a Retrain of the same training seed or of counts: {', '.join(info.missing)}."))
    frame = pd.DataFrame([[title, *values] for title, values in info.rows], columns=["Run", *info.classes])
    widgets.numbers(frame.round(2), f"class-gaps-{split}", figure)


def gaps(chosen: Chosen, split: str) -> class_gaps.ClassGapsInfo:
    """Each run against its own Retrain; classes without a sample in this split are left out."""
    infos = []
    for result in chosen.results:
        if result.spec["method"] != "retrain":
            base = chosen.retrains[result.key]
            title = chosen.titles[result.key]
            infos.append(class_gaps.class_gaps_info([(title, [result])], [base] if base else [], chosen.class_names, split=split))
    compared = [info for info in infos if info.rows]
    classes = max((info.classes for info in compared), key=len, default=())
    rows = [row for info in compared for row in info.rows if info.classes == classes]
    kept = [place for place in range(len(classes)) if any(values[place] is not None for _, values in rows)]
    return class_gaps.ClassGapsInfo(
        classes=tuple(classes[place] for place in kept),
        rows=tuple((title, tuple(values[place] for place in kept)) for title, values in rows),
        missing=tuple(title for info in infos for title in info.missing),
        limit=max((info.limit for info in compared), default=class_gaps.SMALLEST_LIMIT),
        of=compared[0].of if compared else "Class",
        split=split,
    )


def points(value: float) -> str:
    return describe.number(value / 100, "percent", signed=True)


# --- predictions ---------------------------------------------------------------------------------------------------------------------


def kept(chosen: Chosen) -> tuple[Chosen, list[Outputs]]:
    """The runs whose predictions were kept, and these; a sentence on the page names the others."""
    found: list[tuple[Result, Outputs]] = []
    left: list[str] = []
    for result in chosen.results:
        outputs = data.outputs(result.key)
        if outputs is None:
            left.append(chosen.titles[result.key])
        else:
            found.append((result, outputs))
    if left and found:
        st.caption(widgets.escape(f"Left out, for their predictions were not kept: {', '.join(left)}."))
    return among(chosen, [result for result, _ in found]), [outputs for _, outputs in found]


def among(chosen: Chosen, results: Sequence[Result]) -> Chosen:
    """Those of the chosen runs that are among `results`."""
    runs = chosen.runs[chosen.runs["key"].isin([result.key for result in results])]
    return replace(chosen, results=tuple(results), runs=runs)


def pick_common(chosen: Chosen) -> tuple[Chosen, Common | None, str]:
    """The predictions on one split that the runs share; None, with a sentence on the page, where there is nothing to compare."""
    chosen, outputs = kept(chosen)
    if len(outputs) < 2:
        needs_predictions("two runs")
        return chosen, None, ""
    split = pick_split([name for name in compare_frames.SPLITS if all(name in each for each in outputs)])
    found = compare_frames.common(outputs, split)
    if found is None:
        st.markdown("These runs share no sample here: they were asked to forget different ones. Choose the test set, or other runs.")
    elif len(found.ids) < found.total:
        shared, total = words.count(len(found.ids), "sample"), words.count(found.total, "sample")
        st.caption(f"On {shared} that all runs kept, of {total}: shares are estimates.")
    return chosen, found, split


def needs_predictions(how_many: str) -> None:
    widgets.empty(
        f"This needs {how_many} whose predictions were kept. The demo and older runs may come without; runs that you launch keep them.",
        "Launch a comparison",
        "launch",
    )


def titles_of(chosen: Chosen) -> list[str]:
    return [chosen.titles[result.key] for result in chosen.results]


def show_predictions(chosen: Chosen, answers: st.delta_generator.DeltaGenerator) -> None:
    chosen, found, split = pick_common(chosen)
    if found is None:
        return
    titles = titles_of(chosen)
    shares = compare_frames.shared_predictions(found)
    info = agreement.agreement_info(titles, shares, what="same predictions, %", signed=False)
    made = []
    if info.least is not None:
        one, other, share = info.least
        made.append(Answer("Agree least", f"{100 * share:.1f} %", f"{one} and {other}"))
    retrain = next((place for place, result in enumerate(chosen.results) if result.spec["method"] == "retrain"), None)
    if retrain is not None:
        share, near = max((shares[retrain, place], title) for place, title in enumerate(titles) if place != retrain)
        made.append(
            Answer("Most like Retrain", near, f"the same prediction on {100 * share:.1f} % of {words.count(len(found.ids), 'sample')}")
        )
    best, title = max(zip(compare_frames.accuracies(found), titles, strict=True))
    made.append(Answer("Most often right", title, f"{100 * best:.1f} % of {SPLIT_NAMES[split].lower()}"))
    with answers:
        widgets.answers(made)
    st.caption(
        "Look for a pale row: a model that goes its own way. Two models of equal accuracy may be right on different samples. "
        "Click a cell for the run of its row."
    )
    figure = agreement.draw(info, dark=state.dark())
    drawer.heatmap(figure, "predictions", lambda _, row, __: chosen.results[row].key, alt=agreement.alt_text(info))
    frame = pd.DataFrame((100 * shares).round(2), columns=titles)
    frame.insert(0, "Run", titles)
    widgets.numbers(frame, f"same-predictions-{split}", figure)


# --- confusion -----------------------------------------------------------------------------------------------------------------------


def show_confusion(chosen: Chosen, answers: st.delta_generator.DeltaGenerator) -> None:
    counted = {result.key: result for result in chosen.results if result.confusion}
    if not counted:
        widgets.empty("Confusion counts were not stored with these runs. Runs of today keep them.", "Launch a comparison", "launch")
        return
    if np.ndim(next(iter(next(iter(counted.values())).confusion.values()))) == 3:
        st.markdown("These data have yes-or-no labels and so no confusion of classes. The view Classes shows each answer.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        difference = state.toggle(
            "Difference to Retrain", "difference", help="Each cell less that of the Retrain of the same training seed."
        )
        keys = [key for key, result in counted.items() if not difference or result.spec["method"] != "retrain"]
        if not keys:
            st.markdown("Choose a run other than Retrain, above.")
            return
        ordered = sorted(keys, key=lambda key: {"retrain": 0, "original": 2}.get(counted[key].spec["method"], 1))
        first = state.select("Left", "left", keys, default=ordered[0], format_func=lambda key: chosen.titles[key])
        second = state.select("Right", "right", keys, default=ordered[min(1, len(keys) - 1)], format_func=lambda key: chosen.titles[key])
        split = pick_split(sorted(set(counted[first].confusion) & set(counted[second].confusion)))
    pair = list(dict.fromkeys([first, second]))
    bases = [chosen.retrains[key] for key in pair]
    usable = [base.confusion[split] for base in bases if base is not None and split in base.confusion]
    compared = difference and len(usable) == len(pair)
    if difference and not compared:
        st.caption("Shown without the difference: the Retrain of this training seed is missing.")
    panels = [(chosen.titles[key], counted[key].confusion[split]) for key in pair]
    info = confusion.confusion_info(panels, chosen.class_names, usable if compared else None)
    made = []
    for title, true, predicted, value in info.worst:
        head = f"{title}: {'farthest from Retrain' if compared else 'most confused'}"
        size = f"{points(value)} points against Retrain" if compared else f"{value:.1f} % of class {true}"
        made.append(Answer(head, f"{true} taken for {predicted}", size))
    with answers:
        widgets.answers(made)
    if not info.worst:
        st.markdown("No sample is in the wrong column here." if not compared else "These runs confuse classes exactly as Retrain does.")
    st.caption(
        "Look for colour beside the diagonal: where a forgotten class goes. "
        + ("Blue is more often than Retrain, orange less. " if compared else "")
        + "Click a cell for its run."
    )
    figure = confusion.draw(info, dark=state.dark())
    drawer.heatmap(figure, "confusion", lambda panel, _, __: pair[panel], alt=confusion.alt_text(info))
    frames = []
    for panel in info.panels:
        frame = pd.DataFrame(panel.cells, columns=list(info.names)).round(2)
        frame.insert(0, "True", list(info.true))
        frame.insert(0, "Run", panel.title)
        frames.append(frame)
    widgets.numbers(pd.concat(frames), f"confusion-{split}", figure)


# --- images --------------------------------------------------------------------------------------------------------------------------


def show_images(chosen: Chosen, answers: st.delta_generator.DeltaGenerator) -> None:
    chosen, found, split = pick_common(chosen)
    if found is None:
        return
    titles = titles_of(chosen)
    everywhere = compare_frames.most_disputed(found, len(found.ids))
    first = int(found.ids[everywhere[0]]) if len(everywhere) else None
    with answers:
        widgets.answers(
            [
                Answer("Samples in dispute", f"{len(everywhere)} of {len(found.ids)}", "not all of the chosen runs predict the same"),
                Answer("Most disputed", "none" if first is None else f"Sample {first}", f"in the {SPLIT_NAMES[split].lower()}"),
            ],
        )
    if first is None:
        st.markdown("All of these runs predict the same on every sample here. Choose more runs, or another set above.")
        return
    st.caption("Most disputed first. Below each: what every run predicts and how sure it is; orange is not the true label.")
    shown = everywhere[:IMAGES]
    pictures = load_images(chosen.results[0], [int(found.ids[place]) for place in shown])
    frame = compare_frames.disputed_frame(found, shown, titles, chosen.class_names)
    for start in range(0, len(shown), ACROSS):
        for column, place in zip(st.columns(ACROSS, gap="small"), range(start, min(start + ACROSS, len(shown))), strict=False):
            with column, st.container(border=True, gap="small"):
                show_card(frame.iloc[place], titles, None if pictures is None else pictures[place])
    everything = compare_frames.disputed_frame(found, everywhere[:1000], titles, chosen.class_names)
    widgets.numbers(everything, f"disputed-{split}")


def show_card(line: pd.Series, titles: Sequence[str], picture: np.ndarray | None) -> None:
    if picture is not None:
        st.image(enlarged(picture), width="stretch")
    true = str(line["True label"])
    said = [f"**{widgets.escape(true)}** is true"]
    for title in titles:
        text = widgets.escape(str(line[title]))
        right = str(line[title]).rpartition(", ")[0] == true or str(line[title]) == true
        said.append(f"{widgets.escape(title)}: {text}" if right else f"{widgets.escape(title)}: :orange[**{text}**]")
    st.caption("  \n".join(said))
    sample = str(line["Sample"])
    if st.button(f"Sample {sample}", key=f"sample:{sample}", width="stretch"):
        state.set_param("sample", sample)
        st.rerun()


def load_images(result: Result, ids: Sequence[int]) -> np.ndarray | None:
    """Images (n, h, w, c) uint8 of a run's data; None, with a sentence on the page, where the data set is not on this machine."""
    try:
        return data.images(result.spec, ids)
    except MucoreError as failure:
        st.caption(widgets.escape(f"No images: {failure}"))
        return None


def enlarged(picture: np.ndarray) -> np.ndarray:
    """(h, w, c) uint8 with whole pixels repeated until it is `SIDE` high; grey without its channel axis."""
    factor = max(1, -(-SIDE // picture.shape[0]))
    large = picture.repeat(factor, axis=0).repeat(factor, axis=1)
    return large[..., 0] if large.shape[-1] == 1 else large


def show_instance(chosen: Chosen) -> None:
    """The card of the sample that parameter `sample` names: its image, true label, and probabilities under each run."""
    with st.container(border=True, key="instance"):
        head, close = st.columns([7, 1], vertical_alignment="bottom")
        with head:
            typed = state.text("Sample id", "sample", width=220)
        if close.button("Close", icon=":material/close:", key="close_instance"):
            state.set_param("sample", None)
            st.rerun()
        chosen, outputs = kept(chosen)
        found = compare_frames.instance(outputs, int(typed)) if typed.isdecimal() and len(typed) < 19 else None
        if found is None:
            st.markdown("None of these runs kept a prediction for this sample. Choose one in the view Images or Map, or type another id.")
            return
        titles = [titles_of(chosen)[place] for place in found.places]
        left, right = st.columns([1, 4], gap="medium")
        with left:
            pictures = load_images(chosen.results[found.places[0]], [int(typed)])
            if pictures is not None:
                st.image(enlarged(pictures[0]), width=160)
            st.markdown(f"True label: **{widgets.escape(compare_frames.label_text(found.label, chosen.class_names))}**")
            places = " and ".join(sorted({SPLIT_NAMES.get(name, name).lower() for name in found.splits}))
            st.caption(f"In the {places} of these runs.")
        with right:
            st.caption("The true label's bars are blue. Look for runs whose longest bar is another.")
            info = instance.instance_info(titles, found.probabilities, found.label, chosen.class_names)
            widgets.chart(instance.draw(info, dark=state.dark()), "instance_chart", alt=instance.alt_text(info))
            if info.left_out:
                st.caption(f"{words.count(info.left_out, 'class', 'classes')} with less probability under every run not shown.")


# --- map -----------------------------------------------------------------------------------------------------------------------------


def show_map(chosen: Chosen, answers: st.delta_generator.DeltaGenerator) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        pick_part()
        often = maps.pick_often()
    found = pick_mapped(chosen)
    if found is None:
        return
    sample = state.param("sample")
    titles = {found.titles[result.key]: result.key for result in found.results}
    drawn = maps.mapped(titles, found.runs, often, marked=int(sample) if sample.isdecimal() and len(sample) < 19 else None)
    if drawn is None:
        return
    info, note = drawn
    shares = {titles[panel.title]: compare_frames.forgotten_together(panel.points, info.forgotten) for panel in info.panels}
    known = {key: share for key, share in shares.items() if share is not None}
    with answers:
        widgets.answers(map_answers(found, known))
    st.caption("Look for forgotten samples that stay together where Retrain scatters them. Click a point for its image and probabilities.")
    figure = embedding_map.draw(info, dark=state.dark())
    drawer.chart(figure, "compare_map", alt=embedding_map.alt_text(info), parameter="sample")
    if sample and info.marked is None:
        st.caption(widgets.escape(f"Sample {sample} is not among those drawn, so nothing is ringed."))
    st.caption(widgets.escape(maps.reading(info, note)))
    if known:
        chance = (int(info.forgotten.sum()) - 1) / (len(info.ids) - 1)
        listed = ", ".join(f"{found.titles[key]} {percent(share)}" for key, share in known.items())
        near = f"Forgotten samples among the {compare_frames.NEIGHBOURS} nearest of a forgotten one in the map"
        st.caption(widgets.escape(f"{near}: {listed}; {percent(chance)} by chance. One map a run: small differences may be chance."))
    elif info.forgotten.any():
        least = compare_frames.NEIGHBOURS + 1
        st.caption(f"Fewer than {least} forgotten samples are drawn, so it is not told whether they stay together.")
    widgets.numbers(maps.map_frame(info), f"map-{chosen_part()}", figure)


def pick_mapped(chosen: Chosen) -> Chosen | None:
    """The runs that can share a map, at most `MOST_PANELS`; None, with a sentence on the page, where there are none."""
    part = chosen_part()
    chosen, outputs = kept(chosen)
    if not outputs:
        needs_predictions("a run")
        return None
    pairs, without = [], []
    for result, each in zip(chosen.results, outputs, strict=True):
        if compare_frames.featured(each, part):
            pairs.append((result, each))
        else:
            without.append(chosen.titles[result.key])
    if not pairs:
        st.markdown(f"None of these runs kept features of the {PARTS[part].lower()}, and a map is made of them. Choose other runs above.")
        return None
    if without:
        st.caption(widgets.escape(f"Left out, for no features of the {PARTS[part].lower()} were kept: {', '.join(without)}."))
    if len(pairs) > MOST_PANELS:
        others = ", ".join(chosen.titles[result.key] for result, _ in pairs[MOST_PANELS:])
        st.caption(widgets.escape(f"The first {MOST_PANELS} of the chosen runs are drawn, so not {others}."))
    pairs = pairs[:MOST_PANELS]
    ids, alike = compare_frames.shared_features([each for _, each in pairs], part)
    if not alike:
        st.markdown("These runs were asked to forget different samples, so one map cannot mark them. Choose runs of one forget set.")
        return None
    if len(ids) < FEWEST:
        shared = words.count(len(ids), "sample")
        st.markdown(f"These runs share {shared} here, and a map needs {FEWEST}. Choose another set, or other runs.")
        return None
    return among(chosen, [result for result, _ in pairs])


def map_answers(chosen: Chosen, shares: Mapping[str, float]) -> list[Answer]:
    """Who keeps forgotten samples together as Retrain does, by `compare_frames.forgotten_together` of each key."""
    methods = {result.key for result in chosen.results if result.spec["method"] not in ("original", "retrain")}
    bases = {key: base.key for key in methods if (base := chosen.retrains[key]) is not None and base.key in shares}
    made = [
        Answer(f"{chosen.titles[key]}: forgotten together", percent(shares[key]), f"of the {compare_frames.NEIGHBOURS} nearest in the map")
        for key in shares
        if key in bases.values()
    ][:1]
    gaps = {key: round(abs(shares[key] - shares[bases[key]]), 3) for key in shares if key in bases}
    ends = {"Nearest to Retrain in the map": min, "Farthest from Retrain in the map": max}
    for head, end in list(ends.items())[: len(set(gaps.values()))]:  # of methods that are all as far, one answer
        first, *others = [key for key, gap in gaps.items() if gap == end(gaps.values())]
        name = chosen.titles[first] + (f" and {len(others)} more" if others else "")
        made.append(Answer(head, name, f"{100 * gaps[first]:.0f} points from its share of neighbours"))
    return made


def percent(share: float) -> str:
    return f"{100 * share:.0f}{describe.THIN}%"


# --- the runs themselves -------------------------------------------------------------------------------------------------------------


def show_runs(chosen: Chosen) -> None:
    """The compared runs; a click on a line opens its run."""
    first = chosen.results[0].spec
    frame = compare_frames.runs_frame(chosen.runs, data.metric_values(dataset=first["dataset"]), chosen.titles)
    st.caption("The compared runs. Click a line for all about it.")
    help_of = {f"{name.upper()} (%)": widgets.metric_help(name) for name in ("ta", "ra", "fa")} | {"RTE": widgets.metric_help("rte")}
    settings = {name: st.column_config.Column(help=text, alignment="right") for name, text in help_of.items()}
    event = st.dataframe(frame, hide_index=True, column_config=settings, key="runs_table", on_select="rerun", selection_mode="single-row")
    keys = [str(chosen.runs.iloc[place]["key"]) for place in event["selection"]["rows"] if place < len(chosen.runs)]
    drawer.open_new(keys, "runs_table")


page()
