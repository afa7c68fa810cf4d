"""What a reader wants of a method: one metric a goal."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard import state
from dashboard.frames import tradeoffs as tradeoffs_frames
from mucore import catalog

NONE = "none"


def pick(metrics: Sequence[str]) -> list[str]:
    """One metric a goal, or none. Parameters utility, forgetting, privacy, cost."""
    chosen = []
    sides = st.columns(2, gap="medium") * 2
    for side, (goal, candidates) in zip(sides, tradeoffs_frames.GOALS.items(), strict=True):
        options = [*(name for name in candidates if name in metrics), NONE]
        with side:
            chosen.append(
                state.select(
                    goal.capitalize(), goal, options, format_func=title, help=help_of(goal)
                )
            )
    return [name for name in chosen if name != NONE]


def title(name: str) -> str:
    if name == NONE:
        return "Leave out"
    how = tradeoffs_frames.measure(name)
    return f"{how.short} gap" if how.gap else how.short


def help_of(goal: str) -> str:
    names = [catalog.metric(name) for name in tradeoffs_frames.GOALS[goal]]
    return "\n\n".join(f"**{card.short}**: {card.meaning}" for card in names)
