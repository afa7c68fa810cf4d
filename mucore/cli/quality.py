"""What `quality` prints: the experiment as one JSON object, or as a table with what a reader must
know beside it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from mucore.cli.printing import print_table, say_time

if TYPE_CHECKING:
    from mucore.runner.plan import Plan
    from mucore.runner.quality import Experiment, Finding


def say_plan(plan: Plan) -> None:
    """How much there is to do, on stderr."""
    print(
        f"{len(plan.specs)} runs, {len(plan.cached)} of them in the store, {len(plan.to_run)} to "
        "run.",
        file=sys.stderr,
    )
    if plan.to_run:
        print(f"{say_time(plan)} {plan.basis}", file=sys.stderr)


def content(
    experiment: Experiment, findings: Sequence[Finding], *, bins: str, intervals: str
) -> dict[str, Any]:
    """The experiment as JSON: what is the same for all methods, and `methods`, one object each."""
    grid, plan = experiment.plan.grid, experiment.plan
    first = plan.specs[0]
    return {
        "dataset": grid.dataset,
        "model": first.model,
        "recipe": first.recipe.model_dump(mode="json"),
        "scenario": experiment.rows[0].spec.scenario if experiment.rows else grid.scenarios[0].id,
        "models": experiment.models,
        "originals": experiment.originals,
        "bins": bins,
        "intervals": intervals,
        "runs": {"total": len(plan.specs), "cached": len(plan.cached)},
        "estimate": plan.estimate,
        "refused": [asdict(refusal) for refusal in plan.refused],
        "methods": [
            {
                "method": finding.spec.method,
                "parameters": finding.spec.parameters,
                **asdict(finding.assessment),
                "reverted": finding.reverted,
                "keys": list(finding.keys),
            }
            for finding in findings
        ],
    }


COLUMNS = (
    "method",
    "F",
    "F half",
    "Retrain half",
    "score",
    "RA ratio",
    "TA ratio",
    "time",
    "U-LiRA",
    "missing",
    "degenerate",
)


def print_findings(findings: Sequence[Finding]) -> None:
    """One row a method on stdout; what the columns mean and what to beware of on stderr."""
    rows = []
    for finding in findings:
        a = finding.assessment
        rows.append(
            [
                finding.spec.method,
                *map(
                    _number,
                    (
                        a.forgetting_quality,
                        a.half_quality,
                        a.retrain_quality,
                        a.competition_score,
                        a.utility_ra,
                        a.utility_ta,
                    ),
                ),
                "" if a.time_share is None else f"{100 * a.time_share:.3g} %",
                _number(a.ulira_accuracy),
                f"{a.missing}/{a.samples}",
                f"{a.degenerate}/{a.samples}",
            ]
        )
    if not rows:
        return
    print_table(COLUMNS, rows)
    half = findings[0].assessment.half_models
    print(
        f"F: forgetting quality, 1 is Retrain. Half: F with {half} models of a kind; Retrain "
        "half: two halves of the retrained models, which is how far chance alone gets. Time: of "
        "Retrain's.",
        file=sys.stderr,
    )
    said: dict[str, list[str]] = {}
    for finding in findings:
        sentences = [
            *finding.assessment.cautions,
            *filter(None, [finding.assessment.score_missing]),
        ]
        if finding.reverted:
            sentences.append(
                f"{finding.reverted} of the {finding.assessment.models} runs failed and gave the "
                "original back."
            )
        for sentence in sentences:
            said.setdefault(sentence, []).append(finding.spec.method)
    for sentence, methods in said.items():
        print(
            f"{', '.join(methods)}: {sentence}" if len(methods) < len(findings) else sentence,
            file=sys.stderr,
        )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
