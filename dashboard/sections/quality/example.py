"""What a page of many models says where there is no experiment on them: the smallest one."""

from __future__ import annotations

import streamlit as st

from dashboard.widgets import messages

SMALL: dict[str, str | list[str]] = {  # the example, as the Launch page has it
    "experiment": "1",
    "models": "64",
    "dataset": "digits",
    "model": "mlp",
    "preset": "quick",
    "scenarios": ["one_class"],
    "methods": ["finetune", "ssd"],
}
EXAMPLE = (
    "python -m mucore quality --dataset digits --model mlp --preset quick --scenario "
    "one_class --methods finetune,ssd --models 64"
)


def show() -> None:
    """What the experiment is, and the command that makes one."""
    messages.empty(
        "No method has been run with many seeds beside as many Retrains; 16 small models of each "
        "take minutes.",
        "Start one on small digits",
        "launch",
        **SMALL,
    )
    st.code(EXAMPLE, language="bash", wrap_lines=True)
