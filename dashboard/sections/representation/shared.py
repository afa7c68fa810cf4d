"""What the sections share: choices of samples, seeds and runs, the paper's values, and what is said
where something is missing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pandas as pd
import streamlit as st

from dashboard import data, frames, state
from dashboard.frames import representation as computed
from dashboard.text import verdicts
from dashboard.widgets import messages
from dashboard.widgets.markdown import escape
from mucore import catalog

PAPER = "Are We Truly Forgetting?"
REMEASURE = (
    "For runs whose predictions were kept, `python -m mucore remeasure` adds it; others "
    "have to run again."
)


def pick_samples(options: Sequence[str]) -> None:
    """The splits, and the downstream sets of a data set that has any."""
    names = {name: f"{title[0].upper()}{title[1:]}" for name, title in computed.SPLITS.items()}
    state.select(
        "Samples",
        "split",
        options,
        default="test",
        format_func=lambda name: names.get(name) or catalog.dataset(name).title,
    )


def pick_seed(runs: pd.DataFrame) -> int:
    seeds = [
        str(seed)
        for seed in sorted(
            set(runs.loc[~runs["method"].isin(["original", "retrain"]), "training_seed"])
        )
    ]
    chosen = state.select(
        "Training seed", "seed", seeds or [str(int(runs.iloc[0]["training_seed"]))]
    )
    return int(chosen)


def pick_run(
    rows: Sequence[frames.Row], runs: pd.DataFrame, kept: Collection[str] | None = None
) -> tuple[str, str] | None:
    """Title and key of one run of a method, whose verdict stands below: parameters `of` and `seed`.
    Opens on the method of `computed.opening`, of those with a run of the keys `kept`.
    """
    split = state.choice("split", list(computed.SPLITS), "test")
    methods = {row.id: row for row in rows if not row.reference}
    usual = computed.opening(rows, split, kept)
    if usual is None:
        return None
    first, second = st.columns([6, 2], vertical_alignment="bottom", gap="small")
    with first:
        chosen = methods[
            state.select(
                "Method",
                "of",
                list(methods),
                default=usual.id,
                format_func=lambda name: methods[name].title,
            )
        ]
    with second:
        seeds = [str(seed) for seed in chosen.training_seeds]
        seed = int(state.select("Training seed", "seed", seeds))
    if chosen.verdict is not None:
        st.markdown(f"{verdicts.label(chosen.verdict)}: {escape(chosen.verdict.sentence)}")
    key = key_of(chosen, runs, seed)
    return None if key is None else (chosen.title, key)


def key_of(row: frames.Row, runs: pd.DataFrame, seed: int) -> str | None:
    """The first run of a row on a training seed."""
    lines = runs[runs["key"].isin(row.keys) & (runs["training_seed"] == seed)].sort_values(
        ["unlearning_seed", "evaluation_seed"]
    )
    return None if lines.empty else str(lines.iloc[0]["key"])


def class_name(names: Sequence[str], label: int) -> str:
    return names[label] if label < len(names) else str(label)


def has_outputs(key: str) -> bool:
    result = data.result(key)
    return result is not None and result.outputs is not None


def selected_row(rows: Sequence[frames.Row]) -> str:
    """The first key of the row that the open run belongs to, which is what marks carry."""
    key = state.param("run")
    return next((row.keys[0] for row in rows if key in row.keys), "")


def ghosts() -> tuple[computed.Paper, ...]:
    """The paper's values where the reader asked for them."""
    return computed.paper_values() if state.choice("paper", ["0", "1"]) == "1" else ()


def paper_toggle(what: str = "100 classes forgotten") -> bool:
    return state.toggle(
        "The paper's values",
        "paper",
        help=f"{PAPER}, ImageNet-1K, ResNet-50, {what}. Other data than here.",
    )


def interval_words(rows: Sequence[frames.Row]) -> str:
    seeds = max((len(row.training_seeds) for row in rows if not row.reference), default=0)
    return (
        "One training seed, so no interval: a small difference may be chance."
        if seeds < 2
        else f"Thin bars are 95 % t-intervals over up to {seeds} training seeds."
    )


def say(sentences: Sequence[str]) -> None:
    if sentences:
        st.caption(escape(" ".join(sentences).strip()))


def by_reason(missing: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """(reason, titles) of what is missing, each reason once."""
    reasons = dict.fromkeys(reason for _, reason in missing)
    return [
        (reason, ", ".join(title for title, each in missing if each == reason))
        for reason in reasons
    ]


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
