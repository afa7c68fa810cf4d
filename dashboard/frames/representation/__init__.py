"""What the page about encoders computes: similarities a method, the paper's values, and what a
measure depends on.

Pandas and numpy in, small frozen records out; no Streamlit, no plotly. CKA, its ratio, AGL, AGR and
H-LR are plain numbers, 1 is Retrain.
"""

from dashboard.frames.representation.across import two_sets, whole_classes
from dashboard.frames.representation.pairs import Gain, gains, twin_ckas, twins
from dashboard.frames.representation.paper import PAPER_SETS, Paper, paper_values
from dashboard.frames.representation.rows import (
    AGREEMENTS,
    GAPS,
    KNN,
    RATIO,
    SPLITS,
    USUAL,
    gap_metric,
    mean,
    measures_frame,
    opening,
    samples_of,
    similarity,
    similarity_frame,
    similarity_rows,
)
from dashboard.frames.representation.settings import (
    Axis,
    along,
    axis_title,
    axis_value,
    comparable,
    kinds,
    metric_title,
    plain,
    retrains_along,
    varied,
    whole_network,
    with_apart,
)

__all__ = [
    "AGREEMENTS",
    "GAPS",
    "KNN",
    "PAPER_SETS",
    "RATIO",
    "SPLITS",
    "USUAL",
    "Axis",
    "Paper",
    "along",
    "axis_title",
    "axis_value",
    "comparable",
    "Gain",
    "gains",
    "gap_metric",
    "kinds",
    "mean",
    "measures_frame",
    "metric_title",
    "opening",
    "paper_values",
    "plain",
    "retrains_along",
    "samples_of",
    "similarity",
    "similarity_frame",
    "similarity_rows",
    "twin_ckas",
    "twins",
    "two_sets",
    "varied",
    "whole_classes",
    "whole_network",
    "with_apart",
]
