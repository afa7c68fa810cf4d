"""What a reader wants of a method: one metric a goal, the range of each, and who competes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import streamlit as st

from dashboard import state
from dashboard.frames import tradeoffs as tradeoffs_frames
from dashboard.frames.tradeoffs import ANY
from mucore import catalog

NONE = "none"
RIVALS = "compete"
GOAL_NAMES = {
    "utility": "Utility",
    "forgetting": "Forgetting",
    "privacy": "Privacy",
    "cost": "Cost",
}


def pick_rivals() -> None:
    state.toggle(
        "Include methods that failed",
        RIVALS,
        help=(
            "Otherwise only methods that forgot do: doing nothing keeps all accuracy and costs "
            "nothing, so no method would beat it."
        ),
    )


def pick(metrics: Sequence[str]) -> tuple[list[str], dict[str, float], dict[str, float]]:
    """One metric a goal, or none, and how much of it at most and at least.

    Parameters utility, forgetting, privacy, cost, and each of them with max_ and with min_."""
    goals: list[str] = []
    limits: dict[str, float] = {}
    least: dict[str, float] = {}
    sides = st.columns(2, gap="medium") * 2
    for side, (goal, candidates) in zip(sides, tradeoffs_frames.GOALS.items(), strict=True):
        with side:
            options = [*(name for name in candidates if name in metrics), NONE]
            chosen = state.select(
                GOAL_NAMES[goal], goal, options, format_func=title, help=help_of(goal)
            )
            if chosen == NONE:
                continue
            how = tradeoffs_frames.measure(chosen)
            unit = f", {how.unit_name}" if how.unit_name else ""
            low, high = state.span(
                f"Range{unit}",
                f"min_{goal}",
                f"max_{goal}",
                tradeoffs_frames.LIMITS[how.unit],
                help="Only methods in this range are drawn and listed. Who beats whom stays the "
                "same.",
            )
            goals.append(chosen)
            if high != ANY:
                limits[chosen] = float(high)
            if low != "0":
                least[chosen] = math.inf if low == ANY else float(low)
    return goals, limits, least


def title(name: str) -> str:
    if name == NONE:
        return "Leave out"
    how = tradeoffs_frames.measure(name)
    return f"{how.short} gap" if how.gap else how.short


def help_of(goal: str) -> str:
    names = [catalog.metric(name) for name in tradeoffs_frames.GOALS[goal]]
    return "\n\n".join(f"**{card.short}**: {card.meaning}" for card in names)
