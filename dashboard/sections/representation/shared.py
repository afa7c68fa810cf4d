"""What the tabs share: choices of samples and runs, and what is said where something is missing."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from dashboard import frames, state
from dashboard.charts.similarity_scatter import Measures
from dashboard.frames import representation as computed
from dashboard.widgets import messages
from dashboard.widgets.markdown import escape
from mucore import catalog

PAPER = "Are We Truly Forgetting?"
REMEASURE = (
    "For runs whose predictions were kept, `python -m mucore remeasure` adds it; others "
    "have to run again."
)


def pick_samples(options: Sequence[str], default: str) -> str:
    """The splits, and the downstream sets of a data set that has any. Parameter: split."""
    names = {name: f"{title[0].upper()}{title[1:]}" for name, title in computed.SPLITS.items()}
    return state.select(
        "Samples",
        "split",
        options,
        default=default,
        format_func=lambda name: names.get(name) or catalog.dataset(name).title,
        label_visibility="collapsed",
        width=170,
    )


def pick_run(rows: Sequence[frames.Row], runs: pd.DataFrame) -> tuple[str, str] | None:
    """Title and key of one run of a method: parameters `of` and `seed`. Opens on the method of
    `computed.opening`.
    """
    split = state.choice("split", list(computed.SPLITS), "test")
    methods = {row.id: row for row in rows if not row.reference}
    usual = computed.opening(rows, split)
    if usual is None:
        return None
    chosen = methods[
        state.select(
            "Method",
            "of",
            list(methods),
            default=usual.id,
            format_func=lambda name: methods[name].title,
            label_visibility="collapsed",
            width=260,
        )
    ]
    seeds = [str(seed) for seed in chosen.training_seeds]
    seed = int(
        state.select(
            "Training seed",
            "seed",
            seeds,
            format_func="Seed {}".format,
            label_visibility="collapsed",
            width=110,
        )
    )
    key = key_of(chosen, runs, seed)
    return None if key is None else (chosen.title, key)


def key_of(row: frames.Row, runs: pd.DataFrame, seed: int) -> str | None:
    """The first run of a row on a training seed."""
    lines = runs[runs["key"].isin(row.keys) & (runs["training_seed"] == seed)].sort_values(
        ["unlearning_seed", "evaluation_seed"]
    )
    return None if lines.empty else str(lines.iloc[0]["key"])


def selected_row(rows: Sequence[frames.Row]) -> str:
    """The first key of the row that the open run belongs to, which is what marks carry."""
    key = state.param("run")
    return next((row.keys[0] for row in rows if key in row.keys), "")


def cka(split: str) -> Measures:
    """Both CKAs on the samples `split`, one of `computed.samples_of` a data set."""
    on = {"forget": "forgotten images", "retain": "retained images", "test": "test images"}
    where = on.get(split) or catalog.dataset(split).title
    return Measures(
        x=f"cka_original_{split}",
        y=f"cka_retrain_{split}",
        across=f"CKA to Original, {where}",
        up=f"CKA to Retrain, {where}",
    )


def missing(rows: Sequence[frames.Row], sentence: str, metric: str) -> None:
    """An empty state: nothing was measured, why, and what to do."""
    told = {
        row.cells[metric].reason for row in rows if not row.reference and metric in row.cells
    } - {"", "Not measured in these runs."}
    why = (
        f" {escape(sorted(told)[0])}" if told else f" It is measured in every new run. {REMEASURE}"
    )
    messages.empty(sentence + why, "Launch a comparison", "launch")


def no_predictions() -> None:
    messages.empty(
        "The predictions of these runs were not kept, and the features are among them. Choose "
        "other runs, or run them again.",
        "Launch a comparison",
        "launch",
    )
