"""Samples that an attack looks at: those called seen and those called unseen, with their images and
labels, and the most exposed of them.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.charts import exposure
from dashboard.frames import membership as membership_frames
from dashboard.frames.membership import Scored
from dashboard.text import units
from dashboard.text.labels import MISSING
from dashboard.widgets import columns, figures
from dashboard.widgets.pictures import THUMBNAIL, class_name, picture_url, thumbnails
from mucore.store.rows import Result

WALL = 18  # images on one wall
EXPOSED = 8  # lines in the table of the most exposed samples


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


def show_exposed(
    run: Scored, references: dict[str, Scored], title: str, family: str, result: Result | None
) -> None:
    """Each forgotten sample here and in Retrain, which never saw it; the most exposed as a table
    with their images.
    """
    st.markdown("**Most exposed samples**")
    if "Retrain" not in references:
        st.caption(
            "This compares with the Retrain of the same training seed, whose predictions were not "
            "kept or which has not run."
        )
        return
    if run is references["Retrain"]:
        st.caption(
            "This run is Retrain itself. Choose a method to see which of its samples stand out "
            "against it."
        )
        return
    frame = membership_frames.vulnerable(
        run, retrain=references["Retrain"], original=references.get("Original")
    )
    info = exposure.exposure_info(frame, attack=run.attack, ringed=EXPOSED)
    st.caption(
        f"{info.above} of {units.count(len(info.ids), 'forgotten sample')} look more like "
        "training samples here than to Retrain, which never saw them: above the diagonal. Ringed "
        "ones are in the table. One Retrain is one draw: another seed moves single samples too."
    )
    left, right = st.columns([46, 54], gap="medium")
    with left:
        figures.chart(
            exposure.draw(info, title=title, family=family, dark=state.dark()),
            "exposure",
            alt=exposure.alt_text(info),
        )
    with right:
        top = frame.head(EXPOSED)
        pictures = thumbnails(result, [int(each) for each in top["id"]])
        labels = dict(zip(run.ids["forget"].tolist(), run.labels, strict=True))
        shown = pd.DataFrame(
            {
                "Image": [picture_url(pictures.get(int(each))) for each in top["id"]],
                "Sample": top["id"] if result is None else data.numbered(result.spec, top["id"]),
                "Label": [
                    class_name(result, labels[int(each)]) if result is not None else "–"
                    for each in top["id"]
                ],
                **{
                    name: [
                        MISSING if np.isnan(each) else membership_frames.natural(run.attack, each)
                        for each in top[column]
                    ]
                    for name, column in (
                        ("Here", "run"),
                        ("Retrain", "retrain"),
                        ("Original", "original"),
                    )
                },
            }
        )
        if not pictures:
            shown = shown.drop(columns="Image")
        st.dataframe(
            shown,
            hide_index=True,
            row_height=44,
            height=44 * len(shown) + 37,  # its rows and its head
            column_config=columns.aligned(
                shown,
                {
                    "Image": st.column_config.ImageColumn(width=56),
                    "Sample": st.column_config.Column(width=70),
                },
            ),
        )
