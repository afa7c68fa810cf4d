"""Where links lead that a page works out from what it shows."""

from __future__ import annotations

import pandas as pd

from dashboard import data
from dashboard.frames import budget as budget_frames


def anew(runs: pd.DataFrame) -> dict[str, str | list[str]]:
    """The parameters of Launch's address that make runs such as `runs` once more, with a training
    seed that no run has yet.
    """
    return budget_frames.launch_query(runs, ()) | {
        "training_seeds": str(1 + int(data.unlearning_runs()["training_seed"].max()))
    }
