"""A verdict in one word for every line of a comparison, and its distance to Retrain. See `rule` for
the words, `lines` for the table.
"""

from mucore.verdicts.lines import (
    Judged,
    Run,
    judge,
    judge_runs,
    judge_stored,
    looked_at,
    references_of,
    rules_of,
    runs_of,
    sample_counts,
    words,
)
from mucore.verdicts.rule import (
    NAMES,
    QUALIFIED,
    VERDICT_REVISION,
    WORDS,
    Band,
    Check,
    Line,
    Rules,
    Verdict,
    Word,
    seed_band,
    verdict,
)

__all__ = [
    "NAMES",
    "QUALIFIED",
    "VERDICT_REVISION",
    "WORDS",
    "Band",
    "Check",
    "Judged",
    "Line",
    "Rules",
    "Run",
    "Verdict",
    "Word",
    "judge",
    "judge_runs",
    "judge_stored",
    "looked_at",
    "references_of",
    "rules_of",
    "runs_of",
    "sample_counts",
    "seed_band",
    "verdict",
    "words",
]
