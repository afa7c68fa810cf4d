"""The guided lessons: content as data (one file a lesson), and the plain functions that compute
their sentences. No Streamlit, no store.
"""

from __future__ import annotations

from typing import Final

from dashboard.lessons.backdoor import BACKDOOR
from dashboard.lessons.encoder import ENCODER
from dashboard.lessons.forget_one_class import FORGET_ONE_CLASS
from dashboard.lessons.one_metric import ONE_METRIC
from dashboard.lessons.typical_and_outlier import TYPICAL_AND_OUTLIER
from dashboard.lessons.worst_and_best import WORST_AND_BEST

LESSONS: Final = {
    lesson.id: lesson
    for lesson in (
        TYPICAL_AND_OUTLIER,
        FORGET_ONE_CLASS,
        ONE_METRIC,
        BACKDOOR,
        ENCODER,
        WORST_AND_BEST,
    )
}
