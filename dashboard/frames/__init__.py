"""From the store's frames to what a page shows: pandas in, small frozen records out. No Streamlit,
no plotly.

Input frames are those of `mucore.store`: `summaries` (one row a result) and `values` (long: key,
metric, value, gap, error). Values are fractions in 0..1, seconds and bytes; percent and points
exist only in the text that `number` and `cell_text` make.
"""

from dashboard.frames.answer import nearest_sentence, suspicious
from dashboard.frames.results import (
    DISTANCE,
    DISTANCE_MEANING,
    FAMILY,
    NOISE,
    USUAL,
    VERDICT,
    Column,
    ResultsTable,
    View,
    cell_text,
    columns,
    next_order,
    results_table,
    verdict_text,
    with_paper,
)
from dashboard.frames.rows import (
    Cell,
    Estimate,
    Row,
    apart,
    half_width,
    interval,
    metric_rows,
    nearest_first,
    noise,
    row_id,
)
from dashboard.frames.settings import method_settings, settings_frame, setups

__all__ = [
    "DISTANCE",
    "DISTANCE_MEANING",
    "FAMILY",
    "NOISE",
    "USUAL",
    "VERDICT",
    "Cell",
    "Column",
    "Estimate",
    "ResultsTable",
    "Row",
    "View",
    "apart",
    "cell_text",
    "columns",
    "half_width",
    "interval",
    "method_settings",
    "metric_rows",
    "nearest_first",
    "nearest_sentence",
    "next_order",
    "noise",
    "results_table",
    "row_id",
    "settings_frame",
    "setups",
    "suspicious",
    "verdict_text",
    "with_paper",
]
