"""The scores of one run: threshold, counts, histograms, ROC curves and the most exposed samples."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.charts import roc, score_histogram
from dashboard.frames import membership as membership_frames
from dashboard.frames.membership import Scored
from dashboard.text.labels import MISSING, method_names, number
from dashboard.widgets import columns, figures
from dashboard.widgets.pictures import class_name, picture_url, thumbnails
from mucore.metrics.sanity import blind_attacks
from mucore.store.rows import Result

EXPOSED = 8  # lines with an image


def show(key: str, line: pd.Series, attack: str, scored: dict[str, Scored], log: bool) -> None:
    run, (title, family) = scored["run"], method_names(str(line["method"]))
    references = {name: each for name, each in scored.items() if name != "run"}
    result = data.result(key)
    if result is not None and attack in blind_attacks(result.notes):
        st.warning("On this model the attack only guesses: no evidence.", icon=":material/help:")
    if run.reversed:
        st.caption(
            "Test samples score higher than retained ones: the threshold points the wrong way."
        )
    places = membership_frames.stops(run)
    names = {f"{attack}:{place:.2f}": place for place in places}
    chosen = state.slider(
        "Threshold: samples on or above it count as seen",
        "threshold",
        list(names),
        default=min(names, key=lambda name: abs(names[name] - run.cut)),
        format_func=lambda name: membership_frames.natural(attack, names[name]),
        help="It starts at the cut that best separates retained from test samples.",
    )
    threshold = names[chosen]
    left, right = st.columns(2, gap="medium")
    with left:
        info = score_histogram.score_histogram_info(
            run, threshold=threshold, span=(places[0], places[-1])
        )
        histogram = score_histogram.draw(info, dark=state.dark())
        figures.chart(histogram, "scores", alt=score_histogram.alt_text(info))
    with right:
        curves = roc.roc_info(run, title=title, threshold=threshold, references=references)
        curve = roc.draw(curves, family=family, dark=state.dark(), log=log)
        figures.chart(curve, "roc", alt=roc.alt_text(curves))
    counts = counts_frame(title, scored, threshold)
    st.dataframe(counts, hide_index=True, column_config=columns.aligned(counts))
    exposed = exposed_samples(run, references, result)
    figures.numbers(score_histogram.table(info), f"scores-{attack}-{key}", histogram, of="scores")
    figures.numbers(roc.table(curves), f"roc-{attack}-{key}", curve, of="ROC curves")
    if exposed is not None:
        figures.numbers(
            exposed, f"exposure-{attack}-{key}", of="exposure of each sample, as on the axis"
        )


def counts_frame(title: str, scored: dict[str, Scored], threshold: float) -> pd.DataFrame:
    """What the threshold calls seen in this run and in its references, counts and percent."""
    counts = {
        title if name == "run" else name: membership_frames.count(each, threshold)
        for name, each in scored.items()
    }
    return pd.DataFrame(
        [
            {
                "Model": name,
                "Forgotten, called seen": f"{each.forget_seen} of {len(scored['run'].forget)}",
                "TPR, %": number(each.tpr, "percent"),
                "Test, called seen": f"{each.test_seen} of {each.test_seen + each.test_unseen}",
                "FPR, %": number(each.fpr, "percent"),
            }
            for name, each in counts.items()
        ]
    )


def exposed_samples(
    run: Scored, references: dict[str, Scored], result: Result | None
) -> pd.DataFrame | None:
    """The most exposed samples with their images: those that look more like training samples here
    than to Retrain. Gives all of them; None without a Retrain to compare with.
    """
    if "Retrain" not in references or run is references["Retrain"]:
        return None
    frame = membership_frames.vulnerable(
        run, retrain=references["Retrain"], original=references.get("Original")
    )
    top = frame.head(EXPOSED)
    pictures = thumbnails(result, [int(each) for each in top["id"]])
    names = dict(zip(run.ids["forget"].tolist(), run.labels, strict=True))
    heads = {"run": "Here", "retrain": "Retrain", "original": "Original"}
    shown = pd.DataFrame(
        {
            "Image": [picture_url(pictures.get(int(each))) for each in top["id"]],
            "Sample": top["id"] if result is None else data.numbered(result.spec, top["id"]),
            "Label": [
                MISSING if result is None else class_name(result, names[int(each)])
                for each in top["id"]
            ],
            **{
                head: [
                    MISSING if np.isnan(each) else membership_frames.natural(run.attack, each)
                    for each in top[column]
                ]
                for column, head in heads.items()
            },
        }
    )
    if not pictures:
        shown = shown.drop(columns="Image")
    st.markdown("**Most exposed against Retrain**")
    st.dataframe(
        shown,
        hide_index=True,
        row_height=44,
        height=44 * len(shown) + 37,  # its rows and its head
        column_config={"Image": st.column_config.ImageColumn("Image", width="small")},
    )
    ids = frame["id"] if result is None else data.numbered(result.spec, frame["id"])
    return frame.assign(id=ids).rename(
        columns={"id": "Sample", **heads, "lead": "Here above Retrain"}
    )
