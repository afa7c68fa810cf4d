"""Map: where the models put the same samples, one t-SNE map a run, linked by a click."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from dashboard import state
from dashboard.charts import embedding_map
from dashboard.frames import Answer
from dashboard.frames import compare as compare_frames
from dashboard.sections.compare.selection import Chosen, kept, needs_predictions, sample_id
from dashboard.text import labels, units
from dashboard.widgets import clicks, figures, header, maps
from dashboard.widgets.markdown import escape
from mucore.analysis.tsne import FEWEST

MOST_PANELS = 6


def show(chosen: Chosen, answers: st.delta_generator.DeltaGenerator) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        maps.pick_part()
        often = maps.pick_often()
    found = pick_mapped(chosen)
    if found is None:
        return
    sample = state.param("sample")
    titles = {found.titles[result.key]: result.key for result in found.results}
    drawn = maps.mapped(titles, found.runs, often, marked=sample_id(sample))
    if drawn is None:
        return
    info, note = drawn
    shares = {
        titles[panel.title]: compare_frames.forgotten_together(panel.points, info.forgotten)
        for panel in info.panels
    }
    known = {key: share for key, share in shares.items() if share is not None}
    with answers:
        header.answers(map_answers(found, known))
    st.caption(
        "Look for forgotten samples that stay together where Retrain scatters them. Click a point "
        "for its image and probabilities."
    )
    figure = embedding_map.draw(info, dark=state.dark())
    clicks.chart(figure, "compare_map", alt=embedding_map.alt_text(info), parameter="sample")
    if sample and info.marked is None:
        st.caption(escape(f"Sample {sample} is not among those drawn, so nothing is ringed."))
    st.caption(escape(maps.reading(info, note)))
    if known:
        chance = (int(info.forgotten.sum()) - 1) / (len(info.ids) - 1)
        listed = ", ".join(f"{found.titles[key]} {percent(share)}" for key, share in known.items())
        near = (
            f"Forgotten samples among the {compare_frames.NEIGHBOURS} nearest of a forgotten "
            "one in the map"
        )
        st.caption(
            escape(
                f"{near}: {listed}; {percent(chance)} by chance. One map a run: small differences "
                "may be chance."
            )
        )
    elif info.forgotten.any():
        least = compare_frames.NEIGHBOURS + 1
        st.caption(
            f"Fewer than {least} forgotten samples are drawn, too few to say whether they stay "
            "together."
        )
    figures.numbers(maps.map_frame(info), f"map-{maps.chosen_part()}", figure)


def pick_mapped(chosen: Chosen) -> Chosen | None:
    """The runs that can share a map, at most `MOST_PANELS`; None, with a sentence on the page,
    where there are none.
    """
    part = maps.chosen_part()
    asked = chosen.runs
    chosen, outputs = kept(chosen)
    if not outputs:
        needs_predictions("a run", asked)
        return None
    pairs, without = [], []
    for result, each in zip(chosen.results, outputs, strict=True):
        if compare_frames.featured(each, part):
            pairs.append((result, each))
        else:
            without.append(chosen.titles[result.key])
    if not pairs:
        of = maps.PARTS[part].lower()
        st.markdown(
            f"None of these runs kept features of the {of}, from which a map is made. Choose other "
            "runs above."
        )
        return None
    if without:
        st.caption(
            escape(
                f"Left out, because no features of the {maps.PARTS[part].lower()} were kept: "
                f"{', '.join(without)}."
            )
        )
    if len(pairs) > MOST_PANELS:
        others = ", ".join(chosen.titles[result.key] for result, _ in pairs[MOST_PANELS:])
        st.caption(
            escape(
                f"Only the first {MOST_PANELS} of the chosen runs are drawn. Left out: {others}."
            )
        )
    pairs = pairs[:MOST_PANELS]
    ids, alike = compare_frames.shared_features([each for _, each in pairs], part)
    if not alike:
        st.markdown(
            "These runs were asked to forget different samples, so one map cannot mark them. "
            "Choose runs of one forget set."
        )
        return None
    if len(ids) < FEWEST:
        shared = units.count(len(ids), "sample")
        st.markdown(
            f"These runs share {shared} here, and a map needs {FEWEST}. Choose another set, or "
            "other runs."
        )
        return None
    return chosen.among([result for result, _ in pairs])


def map_answers(chosen: Chosen, shares: Mapping[str, float]) -> list[Answer]:
    """Who keeps forgotten samples together as Retrain does, by `compare_frames.forgotten_together`
    of each key.
    """
    methods = {
        result.key
        for result in chosen.results
        if result.spec["method"] not in ("original", "retrain")
    }
    bases = {
        key: base.key
        for key in methods
        if (base := chosen.retrains[key]) is not None and base.key in shares
    }
    made = [
        Answer(
            f"{chosen.titles[key]}: forgotten together",
            percent(shares[key]),
            f"of the {compare_frames.NEIGHBOURS} nearest in the map",
        )
        for key in shares
        if key in bases.values()
    ][:1]
    gaps = {key: round(abs(shares[key] - shares[bases[key]]), 3) for key in shares if key in bases}
    ends = {"Nearest to Retrain in the map": min, "Farthest from Retrain in the map": max}
    # of methods that are all as far, one answer
    for head, end in list(ends.items())[: len(set(gaps.values()))]:
        first, *others = [key for key, gap in gaps.items() if gap == end(gaps.values())]
        name = chosen.titles[first] + (f" and {len(others)} more" if others else "")
        made.append(
            Answer(head, name, f"{100 * gaps[first]:.0f} points from its share of neighbours")
        )
    return made


def percent(share: float) -> str:
    return f"{100 * share:.0f}{labels.THIN}%"
