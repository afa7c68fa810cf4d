"""Cards of metrics that belong to many models of a method at once, not to one run
(mucore/metrics/quality_experiment.py).
"""

from __future__ import annotations

from functools import partial

from mucore.catalog.cards import MetricCard

EXPERIMENT = "experiment"  # the group of these cards: no run has them in its table

COMPETITION = (
    "Triantafillou et al., Are We Making Progress in Unlearning? Findings from the First NeurIPS "
    "Unlearning Competition, 2024"
)
ULIRA = (
    "Hayes et al., Inexact Unlearning Needs More Careful Evaluations to Avoid a False Sense of "
    "Privacy, 2024"
)

_SHADOWS = (
    "50 % is a guess. Below 64 models of a kind all samples share one variance, and the figure is "
    "rough."
)

_card = partial(MetricCard, group=EXPERIMENT)

CARDS: tuple[MetricCard, ...] = (
    _card(
        id="forgetting_quality",
        title="Forgetting quality",
        short="F",
        meaning="How hard N unlearned models are to tell from N retrained ones by what they say "
        "of one forgotten sample; 1: impossible.",
        ideal="high",
        source=COMPETITION,
        caveat="Chance tells few models apart: even Retrain against Retrain is below 1. Read it "
        "beside that figure and compare equal N. Thresholds are searched exactly, by sorting, not "
        "on the organisers' grid; `all` fixes for each sample which kind of model a rule calls "
        "positive, so that ε is the supremum of that class of rules; `organisers` limits the "
        "intervals, too.",
    ),
    _card(
        id="competition_score",
        title="Competition score",
        short="Score",
        meaning="Forgetting quality times retain and test accuracy, both relative to Retrain's; 1 "
        "is Retrain.",
        ideal="high",
        high=None,
        unit="ratio",
        source=COMPETITION,
        caveat="Missing where unlearning takes more than 20 % of the time of retraining on "
        "average: the competition rejects such a method.",
    ),
    *(
        _card(
            id=f"utility_{short.lower()}",
            title=f"Relative {split} accuracy",
            short=f"{short} ratio",
            meaning=f"Mean {split} accuracy of N unlearned models divided by that of N retrained "
            "ones.",
            high=None,
            unit="ratio",
            source=COMPETITION,
            caveat="1 is Retrain; above it means a better model, not better forgetting, and the "
            "score rewards it all the same.",
        )
        for short, split in (("RA", "retain"), ("TA", "test"))
    ),
    _card(
        id="ulira_accuracy",
        title="U-LiRA accuracy",
        short="U-LiRA",
        meaning="How often an attacker with a likelihood ratio for every forgotten sample tells "
        "an unlearned model from a retrained one.",
        source=ULIRA,
        caveat=_SHADOWS,
    ),
    _card(
        id="ulira_auc",
        title="U-LiRA AUC",
        short="U-LiRA AUC",
        meaning="Probability that the likelihood ratio of an unlearned model is above that of a "
        "retrained one, over all forgotten samples.",
        source=ULIRA,
        caveat=_SHADOWS,
    ),
    *(
        _card(
            id=f"ulira_tpr_{digits}",
            title=f"U-LiRA, TPR at {rate} FPR",
            short=f"U-LiRA TPR {rate}",
            meaning="Share of pairs of unlearned model and sample that are recognised when at most "
            f"{rate} of the retrained ones pass for such.",
            source=ULIRA,
            caveat=f"{rate} is a guess.{needs}",
        )
        for digits, rate, needs in (
            ("01", "0.1 %", " Needs 1,000 pairs of a retrained model and a sample."),
            ("1", "1 %", ""),
        )
    ),
)
