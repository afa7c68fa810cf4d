"""Representation: does the encoder forget, or only the classifier? Similarities, agreements, maps, layers, neighbours, sensitivity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import data, describe, drawer, frames, picker, state, widgets, words
from dashboard import representation_frames as computed
from dashboard.charts import agl_agr, cka_scatter, embedding_map, gap_and_ratio, last_layer, layer_heatmap, neighbours, sensitivity
from mucore import catalog
from mucore.errors import MucoreError

QUESTION = "Does the encoder forget, or only the classifier?"
PAPER = "Are We Truly Forgetting?"
VIEWS = {
    "similarity": "Similarity",
    "agreement": "AGL and AGR",
    "map": "Map",
    "layers": "Layers",
    "neighbours": "Neighbours",
    "sensitivity": "Sensitivity",
    "last": "Last layer",
}
PARTS = {"train": "Training set", "test": "Test set"}
OFTEN = ("25", "50", "100", "200")  # points a class in a map
MOST_MAPS = 6
MOST_CLASSES = 10  # in one map; with more, colours say nothing
QUERIES = 24
SECONDS_A_POINT = 0.006  # of one map, measured with openTSNE on one core
STILL = 0.9995  # a CKA that reads as 1.000
REMEASURE = "For runs whose predictions were kept, `python -m mucore remeasure` adds it; others have to run again."


def page() -> None:
    source = data.source()
    head = st.container()
    runs = data.summaries()
    runs = runs[runs["scenario"].notna()]
    if runs.empty:
        widgets.header(QUESTION, "A method may change its last layer and leave the features before it as they were.")
        widgets.empty("There are no results yet. A small comparison takes a few minutes on a laptop.", "Launch a comparison", "launch")
        return
    view = state.segmented("Look at", "view", list(VIEWS), format_func=lambda name: VIEWS[name], label_visibility="collapsed")
    everything = runs
    extra = {"map": pick_part, "neighbours": pick_part, "agreement": None, "last": None}.get(view, pick_split)
    runs = picker.pick_runs(runs, sets=view != "sensitivity", extra=extra)
    if runs.empty:
        with head:
            widgets.header(QUESTION, "No run of this comparison has finished yet.", source)
        widgets.link("queue", "Watch the queue", icon=":material/list_alt:")
        return
    with head:
        widgets.header(QUESTION, caption(runs), source)
    values = data.metric_values(dataset=str(runs.iloc[0]["dataset"]), scenario=str(runs.iloc[0]["scenario"]))
    split = state.choice("split", list(computed.SPLITS), "test")
    plain = computed.plain(runs)
    rows = similarity_rows(plain, values, source.name, source.change, tuple(plain["key"]), split)
    if view == "similarity":
        show_similarity(rows, split, len(runs) - len(plain))
    elif view == "agreement":
        show_agreement(rows, plain)
    elif view == "map":
        show_map(rows, plain)
    elif view == "layers":
        show_layers(rows, plain)
    elif view == "neighbours":
        show_neighbours(rows, plain)
    elif view == "sensitivity":
        show_sensitivity(runs, values, everything, split)
    else:
        show_last_layer(rows, runs, values)
    drawer.run_drawer(runs)
    widgets.provenance(runs)


def pick_split() -> None:
    names = {"forget": "Forget", "retain": "Retain", "test": "Test"}
    state.segmented("Samples", "split", list(names), default="test", format_func=lambda name: names[name])


def pick_part() -> None:
    state.segmented("Samples", "part", list(PARTS), format_func=lambda name: PARTS[name])


def chosen_part() -> Literal["train", "test"]:
    return "test" if state.param("part") == "test" else "train"


@st.cache_data(show_spinner=False, max_entries=32)
def similarity_rows(
    _runs: pd.DataFrame, _values: pd.DataFrame, name: str, change: int, keys: tuple[str, ...], split: str
) -> tuple[frames.Row, ...]:
    """`representation_frames.similarity_rows`; `name`, `change` and `keys` say which runs, so that the frames need no hashing."""
    return computed.similarity_rows(_runs, _values, split)


def caption(runs: pd.DataFrame) -> str:
    first = runs.iloc[0]
    methods = runs[~runs["method"].isin(["original", "retrain"])]  # references may have seeds that no method ran on
    seeds = words.count((runs if methods.empty else methods)["training_seed"].nunique(), "training seed")
    return widgets.escape(
        f"{first['dataset']}, {first['model']}, {describe.recipe_text(str(first['recipe']))}, {seeds}. CKA: likeness of the features "
        "before the last layer, 1 is alike."
    )


# --- similarity ----------------------------------------------------------------------------------------------------------------------


def show_similarity(rows: tuple[frames.Row, ...], split: str, aside: int) -> None:
    """`aside`: how many runs had noise on their gradients or could change the classifier alone; they are experiments of other sections."""
    paper = ghosts()
    info = cka_scatter.cka_scatter_info(rows, split, paper)
    bars = gap_and_ratio.gap_and_ratio_info(rows, split, paper)
    if not info.marks:
        missing(rows, f"No method of this selection has its CKA on the {computed.SPLITS[split]} yet.", f"cka_retrain_{split}")
        return
    widgets.answers(computed.answers(rows, split))
    selected = selected_row(rows)
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(f"**Is a method nearer to the original than to Retrain?** Below the diagonal it is. ({PAPER} Figure 4a)")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            names = {"all": "All", "near": "Near the references"}
            zoom = (
                state.segmented("Zoom", "zoom", list(names), format_func=lambda name: names[name], label_visibility="collapsed") == "near"
            )
            paper_toggle()
        figure = cka_scatter.draw(info, dark=state.dark(), zoom=zoom, selected=selected)
        event = widgets.chart(figure, "cka_scatter", alt=cka_scatter.alt_text(info), on_select="rerun", selection_mode="points")
        open_clicked(event, "cka_scatter", info.marks)
        notes = [f"Outside this window: {', '.join(info.outside)}."] if zoom and info.outside else []
        notes += [f"Not drawn: {titles}. {reason}" for reason, titles in by_reason(info.missing)]
        notes += [f"{cka_scatter.GHOST} Mean of its three downstream sets, ImageNet-1K, 100 random classes."] if info.ghosts else []
        say(notes)
    with right:
        st.markdown(f"**Do accuracy and features agree?** Both sides have the order of the left one. ({PAPER} Figure 2)")
        if not bars.bars:
            st.markdown("No method has both an average gap and the two similarities yet.")
        else:
            numbered = gap_and_ratio.draw(bars, dark=state.dark(), selected=selected)
            event = widgets.chart(numbered, "gap_and_ratio", alt=gap_and_ratio.alt_text(bars), on_select="rerun", selection_mode="points")
            open_clicked(event, "gap_and_ratio", bars.bars)
            say(["At 1 a model is as close to the original as to Retrain; Retrain lies above. At the right edge: places by the ratio."])
    more = f"{words.count(aside, 'run')} with noise or on the classifier alone: see Sensitivity and Last layer." if aside else ""
    say([interval_words(rows), more])
    with st.expander("What CKA and the average gap are", icon=":material/help:"):
        shown = (f"cka_retrain_{split}", f"cka_original_{split}", bars.metric)
        st.markdown("\n".join(f"- {widgets.metric_help(name)}" for name in shown))
    widgets.numbers(computed.similarity_frame(rows, split), f"similarity-{split}", figure)


def interval_words(rows: Sequence[frames.Row]) -> str:
    seeds = max((len(row.training_seeds) for row in rows if not row.reference), default=0)
    return (
        "One training seed, so no interval: a small difference may be chance."
        if seeds < 2
        else f"Thin bars are 95 % t-intervals over up to {seeds} training seeds."
    )


# --- AGL and AGR ---------------------------------------------------------------------------------------------------------------------


def show_agreement(rows: tuple[frames.Row, ...], runs: pd.DataFrame) -> None:
    paper: tuple[computed.Paper, ...] = ()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        on = paper_toggle()
        if on:
            named = computed.PAPER_SETS
            chosen = state.select(
                "The paper's forget set",
                "paper_set",
                list(named),
                format_func=lambda name: named[name],
                label_visibility="collapsed",
                width=300,
            )
            paper = computed.paper_values(data.published("truly_forgetting_tables"), classes=chosen)
    info = agl_agr.agl_agr_info(rows, paper)
    scenario = catalog.scenario(str(runs.iloc[0]["scenario"]))
    if info.kind == "none":
        if not scenario.class_wise:
            widgets.empty(
                "AGL multiplies accuracies on whole forgotten classes, which this scenario does not have, and no downstream set was "
                "measured for AGR. Choose a scenario that forgets whole classes, or launch one.",
                "Forget whole classes",
                "launch",
            )
        else:
            missing(rows, "No method of this selection has AGL or AGR yet.", "agl")
        return
    answers = agreement_answers(info)
    widgets.answers(answers)
    if info.kind == "both":
        st.markdown(f"**Who agrees with Retrain in answers and in features?** Up and right is better. ({PAPER} Figure 7, Tables 3 and 15)")
    elif info.kind == "agl":
        st.markdown(
            "**Who agrees with Retrain in answers?** AGL alone: no downstream set was measured here, so there is no AGR and no H-LR. "
            f"Data sets with downstream sets, such as glyphs, have both. ({PAPER} Table 2)"
        )
    else:
        st.markdown(
            f"**Who agrees with Retrain in features?** AGR alone: AGL needs a scenario that forgets whole classes. ({PAPER} Table 3)"
        )
    left, right = st.columns([62, 38], gap="medium")
    with left:
        figure = agl_agr.draw(info, dark=state.dark(), selected=selected_row(rows))
        event = widgets.chart(figure, "agl_agr", alt=agl_agr.alt_text(info), on_select="rerun", selection_mode="points")
        open_clicked(event, "agl_agr", info.marks)
    with right:
        st.dataframe(agreement_text(info, paper), hide_index=True)
    notes = [f"Not drawn: {titles}. {reason}" for reason, titles in by_reason(info.missing)]
    notes += ["The paper's values are of ImageNet-1K and ResNet-50: compare the pattern, not the digits."] if info.ghosts else []
    say([*notes, interval_words(rows)])
    with st.expander("What AGL, AGR and H-LR are", icon=":material/help:"):
        st.markdown("\n".join(f"- {widgets.metric_help(name)}" for name in computed.AGREEMENTS))
    widgets.numbers(agreement_frame(rows), "agreement", figure)


def agreement_answers(info: agl_agr.AglAgrInfo) -> tuple[frames.Answer, ...]:
    if not info.marks:
        return ()
    best = info.marks[0]
    if info.kind == "both":
        made = [frames.Answer("Best of both", best.title, f"H-LR {computed.similarity(best.h_lr)}")]
        turned = [mark for mark in info.marks if mark.agl is not None and mark.agr is not None and mark.agl - mark.agr > 0.2]
        made.append(
            frames.Answer(
                "Only the answers forgot", f"{len(turned)} of {len(info.marks)}", "methods have an AGL more than 0.2 above their AGR"
            )
        )
        return tuple(made)
    logits = info.kind == "agl"
    value = best.agl if logits else best.agr
    near = sum(((mark.agl if logits else mark.agr) or 0.0) >= 0.9 for mark in info.marks)
    name = "AGL" if logits else "AGR"
    return (
        frames.Answer("Nearest to Retrain", best.title, f"{name} {computed.similarity(value)}"),
        frames.Answer("At 0.9 or above", f"{near} of {len(info.marks)}", f"methods by {name}"),
    )


def agreement_text(info: agl_agr.AglAgrInfo, paper: Sequence[computed.Paper]) -> pd.DataFrame:
    """The marks as text, best first, with the paper's values beside them where `paper` has any."""
    heads = {"both": ("AGL", "AGR", "H-LR"), "agl": ("AGL",), "agr": ("AGR",), "none": ()}[info.kind]
    printed = {one.title: {"AGL": one.agl, "AGR": one.agr, "H-LR": one.h_lr} for one in paper}
    return pd.DataFrame(
        {"Method": mark.title}
        | {head: computed.similarity({"AGL": mark.agl, "AGR": mark.agr, "H-LR": mark.h_lr}[head]) for head in heads}
        | {f"{head}, paper": computed.similarity(printed.get(mark.title, {}).get(head)) for head in heads[-1:] if paper}
        for mark in info.marks
    )


def agreement_frame(rows: Sequence[frames.Row]) -> pd.DataFrame:
    return pd.DataFrame(
        {"Method": row.title, "Training seeds": len(row.training_seeds)}
        | {catalog.metric(name).short: computed.mean(row, name) for name in computed.AGREEMENTS}
        for row in rows
    ).dropna(axis="columns", how="all")


# --- map -----------------------------------------------------------------------------------------------------------------------------


def show_map(rows: tuple[frames.Row, ...], runs: pd.DataFrame) -> None:
    st.markdown(
        f"**Do the forgotten samples still form a cluster of their own?** In Retrain's map you see how they lie when nobody taught them. "
        f"({PAPER} Figures 3 and 12)"
    )
    methods = {row.id: row for row in rows if not row.reference}
    first, second, third = st.columns([6, 2, 2], vertical_alignment="bottom", gap="small")
    with second:
        seed = pick_seed(runs)
    with third:
        often = state.select("Samples a class", "samples", list(OFTEN), default="50", help="At most so many; forgotten ones count apart.")
    with first:
        chosen = state.multiselect(
            f"Methods, the first {MOST_MAPS} of them",
            "maps",
            list(methods),
            default=telling(list(methods.values())),
            format_func=lambda name: methods[name].title,
        )
    wanted = [row for row in rows if row.method in ("original", "retrain")] + [methods[name] for name in chosen[:MOST_MAPS]]
    found = {row.title: key for row in wanted if (key := key_of(row, runs, seed)) is not None}
    kept = {title: key for title, key in found.items() if has_outputs(key)}
    lost = [row.title for row in wanted if row.title not in kept]
    if not kept:
        no_predictions()
        return
    part = chosen_part()
    parameters = {"keys": list(kept.values()), "split": part, "samples": int(often), "classes": map_classes(kept, runs), "seed": 0}
    if lost:
        say([f"No map of {', '.join(lost)}: no run with kept predictions on training seed {seed}."])
    value = analysed("tsne", parameters, "Draw the map", map_seconds(runs, int(often), len(kept)))
    if value is None:
        return
    names = class_names(runs)
    maps = {title: np.asarray(value[key]) for title, key in kept.items()}
    info = embedding_map.embedding_map_info(maps, ids=value["ids"], labels=value["labels"], forgotten=value["forgotten"], names=names)
    figure = embedding_map.draw(info, dark=state.dark())
    widgets.chart(figure, "embedding_map", alt=embedding_map.alt_text(info))
    if info.forgotten.any():
        classes = ", ".join(info.forgotten_names[:6]) + (" and others" if len(info.forgotten_names) > 6 else "")
        marked = f"{words.count(int(info.forgotten.sum()), 'sample')} to forget in orange (class {classes})"
    else:
        marked = "no sample of this set was forgotten: the class stays, so look at the training set"
    say([f"{marked[0].upper()}{marked[1:]}; other classes are muted. {value['note']} Distances between far clusters mean nothing."])
    table = pd.DataFrame({"sample": info.ids, "class": [info.name(int(label)) for label in info.labels], "forgotten": info.forgotten})
    for title, points in maps.items():
        table[f"{title} x"], table[f"{title} y"] = points[:, 0], points[:, 1]
    widgets.numbers(table, "map", figure)


def telling(methods: Sequence[frames.Row]) -> list[str]:
    """Up to four methods: the two nearest to Retrain in features and the two farthest, as far as that is known."""
    split = state.choice("split", list(computed.SPLITS), "test")
    known = sorted((row for row in methods if computed.mean(row, f"cka_retrain_{split}") is not None), key=lambda row: nearness(row, split))
    ends = [*known[-2:][::-1], *known[:2]] or list(methods[:4])
    return list(dict.fromkeys(row.id for row in ends))


def nearness(row: frames.Row, split: str) -> float:
    return computed.mean(row, f"cka_retrain_{split}") or 0.0


def map_seconds(runs: pd.DataFrame, often: int, maps: int) -> float:
    points = often * min(MOST_CLASSES, max(len(class_names(runs)), 2))
    return 4 + maps * points * SECONDS_A_POINT


def map_classes(kept: Mapping[str, str], runs: pd.DataFrame) -> list[int] | None:
    """All classes where they are few; the forgotten ones and the first of the others elsewhere."""
    count = len(class_names(runs))
    if count <= MOST_CLASSES:
        return None
    outputs = next((one for key in kept.values() if (one := data.outputs(key)) is not None and "forget" in one), None)
    gone = [] if outputs is None or outputs["forget"].labels.ndim > 1 else np.unique(outputs["forget"].labels)[: MOST_CLASSES // 2].tolist()
    others = [label for label in range(count) if label not in gone]
    return sorted([*gone, *others[: MOST_CLASSES - len(gone)]])


# --- layers --------------------------------------------------------------------------------------------------------------------------


def show_layers(rows: tuple[frames.Row, ...], runs: pd.DataFrame) -> None:
    st.markdown(
        "**How deep did forgetting go?** Blue means alike. A method that only turned its classifier has a blue diagonal on the left, "
        f"down to the last row. (Beyond {PAPER}, which compares the layer before the last alone)"
    )
    chosen = pick_run(rows, runs)
    if chosen is None:
        st.markdown("There is no method in this selection.")
        return
    title, key = chosen
    split = state.choice("split", list(computed.SPLITS), "test")
    value = analysed("layers", {"key": key, "split": split}, "Compare the layers", 15)
    if value is None:
        return
    info = layer_heatmap.layer_heatmap_info(
        title, layers=value["layers"], original=value["original"], retrain=value["retrain"], references=value["original_retrain"]
    )
    deepest = info.most_changed
    moved = computed.similarity(float(info.to_original[deepest]))
    widgets.answers(
        (
            frames.Answer(
                "Moved most", info.layers[deepest] if info.to_original[deepest] < STILL else "No layer", f"CKA {moved} to the original's"
            ),
            frames.Answer(
                "Retrain's would be at",
                computed.similarity(float(info.references[deepest])),
                f"CKA of original and Retrain in {info.layers[deepest]}",
            ),
            frames.Answer(
                "Farthest from Retrain",
                info.layers[int(info.to_retrain.argmin())],
                f"CKA {computed.similarity(float(info.to_retrain.min()))} to Retrain's",
            ),
        )
    )
    figure = layer_heatmap.draw(info, dark=state.dark())
    widgets.chart(figure, "layer_heatmap", alt=layer_heatmap.alt_text(info))
    say([f"{value['note']} One run, so no interval."])
    table = pd.DataFrame(
        {
            "Layer": info.layers,
            "CKA to the original": info.to_original,
            "CKA to Retrain": info.to_retrain,
            "Original and Retrain": info.references,
        }
    )
    widgets.numbers(table, "layers", figure)


# --- neighbours ----------------------------------------------------------------------------------------------------------------------


def show_neighbours(rows: tuple[frames.Row, ...], runs: pd.DataFrame) -> None:
    st.markdown(
        "**Whom does the encoder still take for whom?** A query and the five training images nearest to it. If the method's line looks "
        f"like the original's, the features were kept. ({PAPER} Figure 9)"
    )
    chosen = pick_run(rows, runs)
    if chosen is None:
        st.markdown("There is no method in this selection.")
        return
    title, key = chosen
    seed = int(runs.set_index("key").loc[key, "training_seed"])
    wanted = {row.title: key_of(row, runs, seed) for row in rows if row.method in ("original", "retrain")} | {title: key}
    kept = {name: each for name, each in wanted.items() if each is not None and has_outputs(each)}
    if key not in kept.values() or len(kept) < 2:
        no_predictions()
        return
    part = chosen_part()
    try:
        value = data.neighbours(list(kept.values()), split=part, count=QUERIES)
    except MucoreError as problem:
        st.info(widgets.escape(str(problem)), icon=":material/info:")
        return
    names = class_names(runs)
    same = {each: (value[f"{each}/labels"] == value["labels"][:, None]).sum(axis=1) for each in kept.values()}
    baseline = next((each for name, each in kept.items() if name == "Retrain"), next(iter(kept.values())))
    order = np.argsort(-np.abs(same[key].astype(int) - same[baseline].astype(int)), kind="stable")
    queries = {str(int(value["queries"][number])): int(number) for number in order}
    labels = {name: class_name(names, int(value["labels"][number])) for name, number in queries.items()}
    # what the search draws its queries from
    forgotten = part == "train" or catalog.scenario(str(runs.iloc[0]["scenario"])).class_wise
    query = state.select(
        f"Query, one of {len(queries)} {'forgotten' if forgotten else 'test'} samples; first where the method and Retrain differ most",
        "query",
        list(queries),
        format_func=lambda name: f"sample {name}, class {labels[name]}",
    )
    number = queries[query]
    found = {
        name: (value[each][number], value[f"{each}/labels"][number], value[f"{each}/forgotten"][number], value[f"{each}/cosines"][number])
        for name, each in kept.items()
    }
    label = int(value["labels"][number])
    info = neighbours.neighbours_info(int(query), label, found, forgotten=forgotten, names=names)
    widgets.answers(
        tuple(
            frames.Answer(f"{name}: of the query's class", f"{count} of {len(tiles)}", f"{float(np.mean(same[each])):.1f} on average")
            for (name, tiles), count, each in zip(info.rows, info.same_class, kept.values(), strict=True)
        )
    )
    figure = neighbours.draw(info, pictures(key, info.ids), dark=state.dark())
    widgets.chart(figure, "neighbours", alt=neighbours.alt_text(info))
    say([f"Orange frames: to forget. {value['note']} Nearness is the cosine of the features before the last layer. One run."])
    table = pd.DataFrame(
        {"Model": name, "Place": place, "Sample": tile.id, "Class": tile.name, "To forget": tile.forgotten, "Cosine": tile.cosine}
        for name, tiles in info.rows
        for place, tile in enumerate(tiles, start=1)
    )
    widgets.numbers(table, "neighbours", figure)


def pictures(key: str, ids: Sequence[int]) -> dict[int, np.ndarray]:
    """The images of sample ids; none where the data set is not on this machine, and a sentence says so."""
    result = data.result(key)
    if result is None:
        return {}
    try:
        return dict(zip(ids, data.images(result.spec, ids), strict=True))
    except MucoreError as problem:
        say([f"No pictures: {problem}"])
        return {}


# --- sensitivity ---------------------------------------------------------------------------------------------------------------------


def show_sensitivity(runs: pd.DataFrame, values: pd.DataFrame, everything: pd.DataFrame, split: str) -> None:
    runs = computed.whole_network(runs)
    methods = [card.id for card in catalog.methods() if card.family != "reference" and card.id in set(runs["method"])]
    found = {name: computed.varied(runs[runs["method"] == name]) for name in methods}
    able = sorted((name for name in methods if found[name]), key=lambda name: -max(axis.distinct for axis in found[name]))
    st.markdown(
        f"**What does the result depend on?** One line a measure; everything else that varies is held at its most common value. "
        f"({PAPER} Figures 8, 10 and 11)"
    )
    if not able:
        widgets.empty(
            "No method of this selection was run with two values of anything: the number of forgotten classes, the budget, a parameter or "
            "the noise on gradients. For example `python -m mucore run --scenario class_wise --methods pseudo_labels --noise 0,0.001,0.1`.",
            "Launch such runs",
            "launch",
        )
    else:
        show_lines(runs, values, able, found, split)
    show_counts(everything, runs, split)


def show_lines(
    runs: pd.DataFrame, values: pd.DataFrame, able: Sequence[str], found: Mapping[str, Sequence[computed.Axis]], split: str
) -> None:
    first, second = st.columns(2, gap="small")
    with first:
        method = state.select("Method", "of", able, format_func=lambda name: catalog.method(name).title)
    axes = {axis.name: axis for axis in sorted(found[method], key=lambda axis: -axis.distinct)}
    with second:
        axis = axes[state.select("Setting", "over", list(axes), format_func=lambda name: axes[name].title)]
    own = computed.comparable(runs[runs["method"] == method], axis, found[method])
    metrics = ["h_lr", "agl", "agr", f"cka_retrain_{split}", f"cka_original_{split}"]
    table = computed.along(own, values, axis, metrics)
    lines = {computed.metric_title(name): table[table["metric"] == name] for name in metrics}
    retrains = runs[(runs["method"] == "retrain") & runs["scenario_parameters"].isin(own["scenario_parameters"])]
    places = own.drop_duplicates("scenario_parameters").set_index("scenario_parameters")["key"].map(axis.values)
    base = computed.Axis(
        name=axis.name,
        title=axis.title,
        values=dict(zip(retrains["key"], retrains["scenario_parameters"].map(places), strict=True)),
    )
    reference = "Original and Retrain: CKA"
    if axis.name.startswith("forget set"):
        lines[reference] = computed.along(retrains, values, base, [f"cka_original_{split}"])
    names = {value: computed.axis_value(value, axis) for value in set(axis.values.values())}
    info = sensitivity.sensitivity_info(axis.title, lines, names=names, reference=reference)
    if not info.lines:
        widgets.empty(f"These runs have none of H-LR, AGL, AGR and CKA. {REMEASURE}", "Launch such runs", "launch")
        return
    figure = sensitivity.draw(info, dark=state.dark())
    event = widgets.chart(figure, "sensitivity", alt=sensitivity.alt_text(info), on_select="rerun", selection_mode="points")
    open_keys(event, "sensitivity", {key: key for line in info.lines for key in line.keys})
    absent = [computed.metric_title(name) for name in metrics if not (table["metric"] == name).any()]
    notes = [f"Not measured in these runs: {', '.join(absent)}."] if absent else []
    if (own.groupby(own["key"].map(axis.values))["training_seed"].nunique() < 2).all():
        notes.append("One training seed at each point, so no interval.")
    say(notes)
    widgets.numbers(table.drop(columns="key"), f"sensitivity-{method}", figure)


def show_counts(everything: pd.DataFrame, runs: pd.DataFrame, split: str) -> None:
    """Figure 6: how far Retrain's features move from the original's as more classes go."""
    first = runs.iloc[0]
    alike = everything[
        (everything["dataset"] == first["dataset"])
        & (everything["model"] == first["model"])
        & (everything["recipe"] == first["recipe"])
        & (everything["method"] == "retrain")
        & everything["scenario"].isin(["random_classes", "top_classes"])
    ]
    st.markdown(
        f"**Does Retrain itself move when more classes go?** CKA of original and Retrain on the {computed.SPLITS[split]}; where it is "
        f"high, there was little in the features to forget. ({PAPER} Figure 6)"
    )
    lines, names = {}, {}
    for scenario, group in alike.groupby("scenario"):
        axis = next((each for each in computed.varied(group) if each.name == "forget set.n"), None)
        if axis is not None:
            values = data.metric_values(dataset=str(first["dataset"]), scenario=str(scenario))
            lines[describe.scenario_title(str(scenario))] = computed.along(group, values, axis, [f"cka_original_{split}"])
            names |= {value: computed.axis_value(value, axis) for value in axis.values.values()}
    info = sensitivity.sensitivity_info("classes forgotten", lines, names=names)
    if not info.lines:
        command = (
            f"`python -m mucore run --dataset {first['dataset']} --model {first['model']} --scenario random_classes --set scenario.n=2`"
        )
        widgets.empty(
            f"Needs Retrain for two numbers of classes at random or near a downstream set: {command}, and again with another n.",
            "Launch such runs",
            "launch",
        )
        return
    figure = sensitivity.draw(info, dark=state.dark())
    widgets.chart(figure, "counts", alt=sensitivity.alt_text(info))
    widgets.numbers(pd.concat([frame.assign(scenario=name) for name, frame in lines.items()]).drop(columns="key"), "counts", figure)


# --- last layer ----------------------------------------------------------------------------------------------------------------------


def show_last_layer(rows: tuple[frames.Row, ...], runs: pd.DataFrame, values: pd.DataFrame) -> None:
    st.markdown(
        "**Does a method do more than change the last layer?** Each method ran twice, once on the classifier alone. At the lower right "
        f"both came to the same: the encoder was left as it was. ({PAPER} Figure 4b)"
    )
    twins = computed.twins(runs)
    if not twins:
        first = runs.iloc[0]
        command = f"--dataset {first['dataset']} --model {first['model']} --scenario class_wise --methods duck,salun --scope all,classifier"
        widgets.empty(
            "No method of this selection ran on the classifier alone as well, which is what this figure compares it with: "
            f"`python -m mucore run {command}`.",
            "Launch a comparison",
            "launch",
        )
        return
    agreement = values[values["metric"] == "agl"].dropna(subset="value").set_index("key")["value"].astype(float).to_dict()
    source = data.source()
    ckas = twin_ckas(source.name, source.change, tuple(twins))
    info = last_layer.last_layer_info(rows, twins, ckas, agreement)
    if not info.marks:
        widgets.empty(
            "These pairs have no AGL or no predictions that were kept. AGL needs a scenario that forgets whole classes.",
            "Launch a comparison",
            "launch",
        )
        return
    figure = last_layer.draw(info, dark=state.dark(), selected=state.param("run"))
    event = widgets.chart(figure, "last_layer", alt=last_layer.alt_text(info), on_select="rerun", selection_mode="points")
    open_clicked(event, "last_layer", info.marks)
    say([f"Not drawn, for want of AGL or predictions: {', '.join(info.missing)}."] if info.missing else [])
    table = pd.DataFrame(
        {"Method": mark.title, "CKA of both": mark.cka, "AGL, all layers": mark.agl, "AGL, classifier": mark.agl_last, "Pairs": mark.pairs}
        for mark in info.marks
    )
    widgets.numbers(table, "last-layer", figure)


@st.cache_data(show_spinner=False, max_entries=8)
def twin_ckas(name: str, change: int, twins: tuple[tuple[str, str], ...]) -> dict[tuple[str, str], float]:
    """CKA on the test set of each pair of runs, as far as their predictions were kept; `name` and `change` say which store."""
    made = {}
    for pair in twins:
        full, last = (data.outputs(key) for key in pair)
        if full is not None and last is not None and (cka := computed.cka_on_test(full, last)) is not None:
            made[pair] = cka
    return made


# --- shared small parts --------------------------------------------------------------------------------------------------------------


def ghosts() -> tuple[computed.Paper, ...]:
    """The paper's values where the reader asked for them."""
    return computed.paper_values(data.published("truly_forgetting_tables")) if state.choice("paper", ["0", "1"]) == "1" else ()


def paper_toggle() -> bool:
    return state.toggle(
        "The paper's values", "paper", help=f"{PAPER}, ImageNet-1K, ResNet-50, 100 classes forgotten. Other data than yours."
    )


def say(sentences: Sequence[str]) -> None:
    if sentences:
        st.caption(widgets.escape(" ".join(sentences).strip()))


def by_reason(missing: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """(reason, titles) of what is missing, each reason once."""
    reasons = dict.fromkeys(reason for _, reason in missing)
    return [(reason, ", ".join(title for title, each in missing if each == reason)) for reason in reasons]


def missing(rows: Sequence[frames.Row], sentence: str, metric: str) -> None:
    """An empty state: nothing was measured, why, and what to do."""
    told = {row.cells[metric].reason for row in rows if not row.reference and metric in row.cells} - {"", "Not measured in these runs."}
    why = f" {widgets.escape(sorted(told)[0])}" if told else f" It is measured in every new run. {REMEASURE}"
    widgets.empty(sentence + why, "Launch a comparison", "launch")


def no_predictions() -> None:
    widgets.empty(
        "The predictions of these runs were not kept, and the features are among them. Choose other runs, or run them again.",
        "Launch a comparison",
        "launch",
    )


def has_outputs(key: str) -> bool:
    result = data.result(key)
    return result is not None and result.outputs is not None


def selected_row(rows: Sequence[frames.Row]) -> str:
    """The first key of the row that the open run belongs to, which is what marks carry."""
    key = state.param("run")
    return next((row.keys[0] for row in rows if key in row.keys), "")


def open_clicked(event: Any, name: str, marks: Sequence[Any]) -> None:
    open_keys(event, name, {mark.key: mark.key for mark in marks})


def open_keys(event: Any, name: str, known: Mapping[str, str]) -> None:
    """Open the run of a clicked mark. A selection stays in the widget, so only a new one may move the address."""
    points = [point["customdata"][0] for point in event["selection"]["points"] if point.get("customdata")]
    if points != (state.ticket(name) or []):
        state.set_ticket(name, points)
        if points and points[0] in known:
            state.set_param("run", points[0])
            st.rerun()


def pick_seed(runs: pd.DataFrame) -> int:
    seeds = [str(seed) for seed in sorted(set(runs.loc[~runs["method"].isin(["original", "retrain"]), "training_seed"]))]
    chosen = state.select("Training seed", "seed", seeds or [str(int(runs.iloc[0]["training_seed"]))])
    return int(chosen)


def pick_run(rows: Sequence[frames.Row], runs: pd.DataFrame) -> tuple[str, str] | None:
    """Title and key of one run of a method: parameters `of` and `seed`."""
    split = state.choice("split", list(computed.SPLITS), "test")
    methods = {row.id: row for row in rows if not row.reference}
    # those with features first: an ensemble has none
    methods = dict(sorted(methods.items(), key=lambda each: computed.mean(each[1], f"cka_retrain_{split}") is None))
    if not methods:
        return None
    first, second = st.columns([6, 2], vertical_alignment="bottom", gap="small")
    with first:
        chosen = methods[state.select("Method", "of", list(methods), format_func=lambda name: methods[name].title)]
    with second:
        seeds = [str(seed) for seed in chosen.training_seeds]
        seed = int(state.select("Training seed", "seed", seeds))
    key = key_of(chosen, runs, seed)
    return None if key is None else (chosen.title, key)


def key_of(row: frames.Row, runs: pd.DataFrame, seed: int) -> str | None:
    """The first run of a row on a training seed."""
    lines = runs[runs["key"].isin(row.keys) & (runs["training_seed"] == seed)].sort_values(["unlearning_seed", "evaluation_seed"])
    return None if lines.empty else str(lines.iloc[0]["key"])


def class_names(runs: pd.DataFrame) -> tuple[str, ...]:
    """Names by label; none where a label stands for several attributes."""
    card = catalog.dataset(str(runs.iloc[0]["dataset"]))
    return () if card.task == "attributes" else tuple(card.class_names)


def class_name(names: Sequence[str], label: int) -> str:
    return names[label] if label < len(names) else str(label)


def analysed(kind: str, parameters: dict[str, Any], button: str, seconds: float) -> Mapping[str, Any] | None:
    """The value of a long analysis where it is ready; else a button that starts it, its progress, or why it failed."""
    found = data.analysis(kind, parameters)
    if found.state == "ready":
        return found.value
    if found.state == "running":
        watch(kind, parameters)
        return None
    if found.state == "failed":
        widgets.error(widgets.escape(found.error))
    label = "Try again" if found.state == "failed" else f"{button} (about {words.duration(seconds)})"
    if st.button(label, key=f"start:{kind}", type="primary", icon=":material/play_arrow:"):
        try:
            data.start_analysis(kind, parameters)
        except MucoreError as problem:
            widgets.error(widgets.escape(str(problem)))
        else:
            st.rerun()
    return None


@st.fragment(run_every=1)
def watch(kind: str, parameters: dict[str, Any]) -> None:
    """Progress of an analysis, each second; the page is drawn anew once it ends."""
    with widgets.guarded():
        found = data.analysis(kind, parameters)
        if found.state != "running":
            st.rerun()
        st.progress(found.progress, text="Computing in the background; you can leave this page and come back.")


page()
