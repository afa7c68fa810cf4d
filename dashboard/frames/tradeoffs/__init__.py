"""From runs to trade-offs: each method's score in several goals at once, who beats whom, and
metrics and tests in words.

Pandas and numpy in, small frozen records out; no Streamlit, no plotly.
"""

from dashboard.frames.tradeoffs.front import (
    DISTANCE_HEAD,
    Front,
    front,
    front_frame,
    front_sentence,
    scores,
)
from dashboard.frames.tradeoffs.lines import forgot_in, line_keys, line_title, line_verdicts
from dashboard.frames.tradeoffs.measures import (
    GOALS,
    Measure,
    goal_head,
    measure,
    scored_metrics,
    short_name,
)
from dashboard.frames.tradeoffs.pairs import pairs_frame
from dashboard.frames.tradeoffs.ranks import ranks_frame
from dashboard.frames.tradeoffs.upkeep import METRICS as COSTS
from dashboard.frames.tradeoffs.upkeep import upkeep, upkeep_frame, upkeep_sentence

__all__ = [
    "COSTS",
    "DISTANCE_HEAD",
    "GOALS",
    "Front",
    "Measure",
    "forgot_in",
    "front",
    "front_frame",
    "front_sentence",
    "goal_head",
    "line_keys",
    "line_title",
    "line_verdicts",
    "measure",
    "pairs_frame",
    "ranks_frame",
    "scored_metrics",
    "scores",
    "short_name",
    "upkeep",
    "upkeep_frame",
    "upkeep_sentence",
]
