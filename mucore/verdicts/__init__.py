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
    nearest,
    references_of,
    rules_of,
    run_of,
    sample_counts,
)
from mucore.verdicts.rules import (
    NAMES,
    VERDICT_REVISION,
    VERDICT_SINCE,
    WORDS,
    Check,
    Line,
    Rules,
    Spread,
    Verdict,
    Word,
    leading,
    verdict,
)
