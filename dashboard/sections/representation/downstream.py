"""AGL and AGR after fine-tuning on other data sets, one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from dashboard import frames
from dashboard.frames import representation as computed
from dashboard.sections.representation.shared import PAPER
from dashboard.text import labels
from dashboard.widgets import columns, presenting
from mucore import catalog
from mucore.catalog.metrics.representation import DOWNSTREAM_SETS


def show(rows: Sequence[frames.Row], paper: Sequence[computed.Paper]) -> None:
    """The layout of the paper's Table 3, ours and below it the printed one; nothing where no
    downstream set was measured by itself.
    """
    ours = {row.title: by_set(row) for row in rows}
    if not any(ours.values()):
        return
    st.markdown(
        "**On each downstream set.** k-NN accuracy in percent, CKA to Retrain from 0 to 1. "
        f"({PAPER} Tables 3, 13 and 14)"
    )
    table = downstream_table(ours)
    presenting.dataframe(
        table,
        "downstream",
        alt="On each downstream set: k-NN accuracy in percent, CKA to Retrain from 0 to 1.",
        hide_index=True,
        column_config=columns.aligned(table),
        height="content",
        key="downstream",
    )
    if any(one.sets for one in paper):
        st.markdown("**The same in the paper**")
        printed = downstream_table({one.title: one.sets for one in paper})
        st.dataframe(
            printed,
            hide_index=True,
            column_config=columns.aligned(printed),
            height="content",
            key="downstream_paper",
        )


def by_set(row: frames.Row) -> dict[str, tuple[float | None, float | None]]:
    """(k-NN, CKA to Retrain) of a row by the title of each downstream set that was measured."""
    found = {
        catalog.dataset(name).title: tuple(
            computed.mean(row, metric) if metric in row.cells else None
            for metric in (f"knn_{name}", f"cka_retrain_{name}")
        )
        for name in DOWNSTREAM_SETS
    }
    return {
        title: (knn, cka)
        for title, (knn, cka) in found.items()
        if knn is not None or cka is not None
    }


def downstream_table(
    lines: Mapping[str, Mapping[str, tuple[float | None, float | None]]],
) -> pd.DataFrame:
    """One line a method, as text: k-NN on every set, then CKA on every set; a dash where a method
    has none.
    """
    sets = list(dict.fromkeys(title for line in lines.values() for title in line))
    nothing = (None, None)
    return pd.DataFrame(
        {"Method": method}
        | {f"k-NN, {title}": knn_text(line.get(title, nothing)[0]) for title in sets}
        | {f"CKA, {title}": computed.similarity(line.get(title, nothing)[1]) for title in sets}
        for method, line in lines.items()
    )


def knn_text(value: float | None) -> str:
    return labels.number(value, "percent")
