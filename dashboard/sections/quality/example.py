"""What an experiment on many models is, and the smallest one."""

from __future__ import annotations

import streamlit as st

from dashboard.widgets import messages
from mucore.metrics.forgetting_quality import FEW_MODELS

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


def show(nothing: bool) -> None:
    """What the experiment is, and the command that makes one."""
    has = (
        "There are no results yet."
        if nothing
        else "No method has been run with many unlearning seeds beside as many Retrains."
    )
    messages.empty(
        f"{has} The experiment trains N models from scratch without the forgotten samples and "
        "unlearns N others with different seeds. Then it asks of each forgotten sample: do the "
        "two kinds of models differ in what they say of it? 16 small models take minutes, the "
        f"competition took 512. Below {FEW_MODELS}, F is a rough estimate.",
        "Start one on small digits",
        "launch",
        **SMALL,
    )
    st.caption("The same on the command line:")
    st.code(EXAMPLE, language="bash", wrap_lines=True)
