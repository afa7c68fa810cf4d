"""What `quality` prints: the experiment as one JSON object, or as a table with what a reader must
know beside it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mucore.cli.printing import print_table

if TYPE_CHECKING:
    from mucore.quality import Experiment, Finding


def content(experiment: Experiment, findings: Sequence[Finding]) -> dict[str, Any]:
    """The experiment as JSON: what is the same for all methods, and `methods`, one object each."""
    grid, plan = experiment.plan.grid, experiment.plan
    return {
        "dataset": grid.dataset,
        "model": plan.specs[0].model,
        "recipe": plan.specs[0].recipe.model_dump(mode="json"),
        "scenario": grid.scenarios[0].id,
        "models": experiment.models,
        "originals": experiment.originals,
        "runs": {"total": len(plan.specs), "cached": len(plan.cached)},
        "estimate": plan.estimate,
        "refused": plan.refused,
        "methods": [{**finding.row, "keys": finding.keys} for finding in findings],
    }


# columns of the table, by field of an `Assessment`
NUMBERS = {
    "F": "forgetting_quality",
    "F half": "half_quality",
    "Retrain half": "retrain_quality",
    "score": "competition_score",
    "RA ratio": "utility_ra",
    "TA ratio": "utility_ta",
    "time": "time_share",
    "U-LiRA": "ulira_accuracy",
}


def print_findings(findings: Sequence[Finding]) -> None:
    """One row a method on stdout; what the columns mean and what to beware of on stderr."""
    if not findings:
        return
    rows = []
    for row in (finding.row for finding in findings):
        numbers = (row[name] for name in NUMBERS.values())
        texts = ["" if value is None else f"{value:.3f}" for value in numbers]
        counts = [f"{row[name]}/{row['samples']}" for name in ("missing", "degenerate")]
        rows.append([row["method"], *texts, *counts])
    print_table(("method", *NUMBERS, "missing", "degenerate"), rows)
    half = findings[0].assessment.half_models
    print(
        f"F: forgetting quality, 1 is Retrain. Half: F with {half} models of a kind; Retrain "
        "half: two halves of the retrained models, which is how far chance alone gets. Time: as a "
        "share of Retrain's.",
        file=sys.stderr,
    )
    said: dict[str, list[str]] = {}
    for finding in findings:
        assessment = finding.assessment
        sentences = [*assessment.cautions, assessment.score_missing or ""]
        if finding.reverted:
            sentences.append(f"{finding.reverted} of the runs failed and gave the original back.")
        for sentence in filter(None, sentences):
            said.setdefault(sentence, []).append(finding.spec.method)
    for sentence, methods in said.items():
        print(f"{', '.join(methods)}: {sentence}", file=sys.stderr)
