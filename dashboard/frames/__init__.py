"""From the store's frames to what a page shows: pandas in, small frozen records out. No Streamlit, no plotly.

Input frames are those of `mucore.store`: `summaries` (one row a result) and `values` (long: key, metric, value, gap, error). Values are
fractions in 0..1, seconds and bytes; percent and points exist only in the text that `number` and `cell_text` make.
"""

from dashboard.frames.answer import Answer, answers, average_gap, suspicious
from dashboard.frames.rows import Cell, Estimate, Row, half_width, metric_rows, row_id
from dashboard.frames.settings import Setting, method_settings, settings_frame, setups
from dashboard.frames.table import MIA, Column, ResultsTable, View, cell_text, columns, plain_head, results_table

__all__ = [
    "MIA",
    "Answer",
    "Cell",
    "Column",
    "Estimate",
    "ResultsTable",
    "Row",
    "Setting",
    "View",
    "answers",
    "average_gap",
    "cell_text",
    "columns",
    "half_width",
    "method_settings",
    "metric_rows",
    "plain_head",
    "results_table",
    "row_id",
    "settings_frame",
    "setups",
    "suspicious",
]
