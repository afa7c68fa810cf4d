"""t-SNE map: Original, Retrain and two methods on the same samples; a scatter of all methods by CKA
picks the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import data, frames, state, theme
from dashboard.charts import embedding_map, two_metrics
from dashboard.frames import representation as computed
from dashboard.sections.representation.scatter import cka
from dashboard.text import units, verdicts
from dashboard.widgets import clicks, figures, header, legend, maps, messages
from mucore.runs import REFERENCES

SPLIT = "forget"
NEAREST = 2  # classes beside the forgotten one that have a colour
STILL = 0.9  # from this CKA to Original on, features have hardly moved
# what stands beside a method that forgot, the most telling first
BESIDE = ("outputs only", "did nothing", "too little", "damaged", "too much", "cannot tell")


def show(
    rows: tuple[frames.Row, ...], runs: pd.DataFrame, place: st.delta_generator.DeltaGenerator
) -> None:
    """`place` is where the answer goes, above the figure."""
    predicted = data.predicted()
    seed = next(
        (int(one) for one in sorted(runs.loc[runs["key"].isin(predicted), "training_seed"])), None
    )
    keys = {} if seed is None else {row.id: computed.key_of(row, runs, seed) for row in rows}
    able = {
        row.id: row
        for row in rows
        if not row.reference and keys.get(row.id) in predicted and _has_features(row)
    }
    usual = telling(list(able.values()))
    shown = state.choices("maps", list(able), usual)[:2]
    if len(state.params("maps")) > 2:  # an address of an earlier version
        state.set_param("maps", shown)
    panels = [row for row in rows if row.method in REFERENCES]
    panels = [row for row in panels if keys.get(row.id) in predicted]
    panels += [able[name] for name in shown]
    left, right = st.columns([62, 38], gap="medium")
    figure = info = None
    with left:
        if not panels:
            messages.empty(
                "The predictions of these runs were not kept, and the features are among them. "
                "Choose other runs, or run them again.",
                "Launch a comparison",
                "launch",
            )
        else:
            by_key = {str(keys[row.id]): row for row in panels}
            value = maps.mapped(list(by_key), runs)
            if value is not None:
                info = _info(value, by_key, runs)
                figure = embedding_map.draw(info, dark=state.dark())
                figures.chart(figure, "embedding_map", alt=embedding_map.alt_text(info))
                legend.show(_legend(info))
    with right, st.container(key="beside"):
        _picker(rows, list(able), shown)
        state.multiselect(
            "Methods to map",
            "maps",
            list(able),
            default=usual,
            format_func=lambda name: able[name].title,
            max_selections=2,
        )
    if info is not None:
        if sentence := answer([able[name] for name in shown], info.forgotten_names):
            with place:
                header.answer(sentence)
        figures.numbers(maps.map_frame(info), "map", figure)


def _has_features(row: frames.Row) -> bool:
    return row.mean(f"cka_original_{SPLIT}") is not None


def _fate(row: frames.Row) -> str:
    return "cannot tell" if row.verdict is None else verdicts.fate(row.verdict)


def telling(methods: Sequence[frames.Row]) -> list[str]:
    """The nearest to Retrain of those that forgot, and one that forgot on its outputs alone or did
    not: the one whose features are most like Original's.
    """
    near = [*verdicts.nearest(methods), *methods]
    forgot = [row for row in near if _fate(row) == "forgot"]
    same = sorted(methods, key=lambda row: -(row.mean(f"cka_original_{SPLIT}") or 0.0))
    beside = [row for fate in BESIDE for row in same if _fate(row) == fate]
    chosen = [*forgot[:1], *beside[:1], *near]
    return list(dict.fromkeys(row.id for row in chosen))[:2]


def answer(methods: Sequence[frames.Row], forgotten: Sequence[str]) -> str:
    """What the maps show, "" where that is not simple."""
    for row in methods:
        moved = row.mean(f"cka_original_{SPLIT}")
        if _fate(row) == "outputs only" and moved is not None and moved >= STILL:
            what = forgotten[0] if len(forgotten) == 1 else "the forgotten classes"
            return f"{row.title} no longer predicts {what}, but its features hardly changed."
    return ""


def _info(
    value: Mapping[str, np.ndarray], by_key: Mapping[str, frames.Row], runs: pd.DataFrame
) -> embedding_map.EmbeddingMapInfo:
    labels, forgotten = np.asarray(value["labels"]), np.asarray(value["forgotten"], bool)
    drawn = embedding_map.balanced(labels, forgotten)
    ids = np.asarray(value["ids"])[drawn]
    result = data.result(next(iter(by_key)))
    retrain = next((key for key, row in by_key.items() if row.method == "retrain"), "")
    return embedding_map.embedding_map_info(
        {row.title: np.asarray(value[key])[drawn] for key, row in by_key.items()},
        ids=ids if result is None else data.numbered(result.spec, ids),
        labels=labels[drawn],
        forgotten=forgotten[drawn],
        names=maps.class_names(runs),
        near=nearest(retrain, labels, forgotten),
        fates={row.title: _fate(row) for row in by_key.values() if not row.reference},
    )


def nearest(retrain: str, labels: np.ndarray, forgotten: np.ndarray) -> tuple[int, ...]:
    """The classes that Retrain takes forgotten samples for most often, of those on the map; none
    where no class is gone whole.
    """
    result = data.result(retrain) if retrain else None
    counts = None if result is None else result.confusion.get(SPLIT)
    stays = np.unique(labels[~forgotten])
    gone = np.setdiff1d(labels[forgotten], stays)
    if counts is None or np.ndim(counts) != 2 or not len(gone):
        return ()
    taken = np.asarray(counts)[gone].sum(axis=0)
    order = sorted((int(label) for label in stays), key=lambda label: -taken[label])
    return tuple(label for label in order[:NEAREST] if taken[label] > 0)


def _legend(info: embedding_map.EmbeddingMapInfo) -> list[tuple[str, str]]:
    dark, near = state.dark(), info.near or ()
    names = info.forgotten_names
    gone = f"{names[0]}, forgotten" if len(names) == 1 else "forgotten"
    grey = sum(int(label) not in near for label in np.unique(info.labels[~info.forgotten]))
    made = [(theme.family_style("gradient_ascent").color(dark), gone)] * bool(len(names))
    made += [(info.color(label, dark), info.name(label)) for label in near]
    return [*made, (info.color(-1, dark), units.count(grey, "other class", "other classes"))]


def _picker(rows: Sequence[frames.Row], able: Sequence[str], shown: Sequence[str]) -> None:
    """All methods; a click shows the map of a method beside the one that was picked before."""
    measures = cka(SPLIT)
    places = two_metrics.places(rows, measures)
    if not places:
        return
    st.markdown("**Pick a method to see its map**")
    ids = {row.keys[0]: row.id for row in rows}
    figure = two_metrics.draw(
        rows,
        places,
        measures,
        dark=state.dark(),
        selected=[key for key, name in ids.items() if name in shown],
        most=5,
        height=440,
        size=(330, 360),
    )
    event = figures.chart(
        figure,
        "pick_map",
        alt=two_metrics.alt_text(rows, places, measures),
        on_select="rerun",
        selection_mode="points",
    )
    picked = [ids.get(str(each[0]), "") for each in clicks.clicked(event)][:1]
    if clicks.is_new(picked, "pick_map") and picked[0] in able and picked[0] not in shown:
        state.set_param("maps", [*shown[-1:], *picked])
        st.rerun()
