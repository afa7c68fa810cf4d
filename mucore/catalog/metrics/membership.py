"""Membership inference: what five attacks take the forgotten samples for, and how good each attack
is.
"""

from __future__ import annotations

from mucore.catalog.cards import MetricCard
from mucore.catalog.metrics.sources import FORGETTING, MUBOX
from mucore.catalog.scenarios import CLASS_WISE

SONG = "Song & Mittal, USENIX Security 2021"

# id of the attack -> its name in a sentence, its column head, what it looks at, and where that
# comes from
ATTACKS = {
    "correctness": ("Correctness", "Corr", "whether the prediction is right", MUBOX),
    "confidence": (
        "Confidence",
        "Conf",
        "the probability of the true class",
        f"{MUBOX}; the confidence attack of {FORGETTING}",
    ),
    "entropy": ("Entropy", "Entr", "how spread out the predicted probabilities are", MUBOX),
    "m_entropy": (
        "Modified entropy",
        "M-entr",
        "the entropy, turned so that a confident wrong answer counts as uncertain",
        f"{MUBOX}; {SONG}, equation 6",
    ),
    "prob": ("Probabilities", "Prob", "the whole vector of predicted probabilities", MUBOX),
}

TIES = 2  # revision: a tie counts as a member

_EVIDENCE = (
    "Not evidence where the attack's own accuracy lies within the 95 % interval of guessing (50 "
    "%): then the attack cannot tell members from non-members at all."
)
_OWN_CAVEAT = {
    "correctness": (
        "Equals 1 − FA as long as the attack takes right answers for members. Where as many "
        "members as non-members are right, the attack is tied; a tie is a member, as in the "
        "official code, so the efficacy is 0. With attributes it sees the share that is right."
    ),
    "confidence": (
        "With attributes it sees the geometric mean of the true answers' probabilities, which is "
        "exp(−loss)."
    ),
    "entropy": "With attributes it sees the mean of their entropies.",
    "m_entropy": (
        "The public code of earlier papers computes this feature wrongly; published columns may "
        "differ for that reason. With attributes it sees the mean."
    ),
    "prob": "With attributes it sees the probability of each.",
}


_COARSE = "Equal scores pass together, so a coarse score often gives 0."
CARLINI = "Carlini et al., Membership Inference Attacks From First Principles, S&P 2022"


def _attack_cards(attack: str) -> tuple[MetricCard, ...]:
    name, short, looks_at, source = ATTACKS[attack]
    group = "membership inference"
    return (
        MetricCard(
            id=f"mia_{attack}",
            title=f"{name} MIA efficacy",
            short=f"MIA {short}",
            group=group,
            meaning=f"Share of the forget set that an attacker, seeing {looks_at}, believes was "
            "never trained on.",
            source=source,
            caveat=f"{_EVIDENCE} {_OWN_CAVEAT.get(attack, '')}".strip(),
            revision=TIES,
        ),
        MetricCard(
            id=f"mia_{attack}_attack_accuracy",
            title=f"{name} MIA, accuracy of the attack",
            short=f"{short} acc",
            group=group,
            meaning="How well the attack tells retained from test samples it did not learn from; "
            "both sides weigh alike, 50 % is a guess.",
            caveat="Describes the attack on this model, not the forgetting.",
            revision=TIES,
        ),
        MetricCard(
            id=f"mia_{attack}_auc",
            title=f"{name} MIA, AUC",
            short=f"{short} AUC",
            group=group,
            meaning="Probability that a forgotten sample looks more like a training sample than a "
            "test sample does; 50 %: they look alike.",
            source="Area under the ROC curve of the forget set against the test set",
            caveat="Retrain is at 50 % only where forget set and test set are equally hard; "
            "compare with Retrain."
            + (
                (
                    " The score is the attack's decision value; test samples it learned from are "
                    "left out."
                )
                if attack == "prob"
                else ""
            ),
        ),
        *(
            MetricCard(
                id=f"mia_{attack}_tpr_{digits}",
                title=f"{name} MIA, TPR at {rate} FPR",
                short=f"{short} TPR {rate}",
                group=group,
                meaning="Share of the forget set that is exposed by a threshold that at most "
                f"{rate} of the test samples pass.",
                source=CARLINI,
                caveat=f"Chance is {rate}. {caveat}",
                least=least,
            )
            for digits, rate, caveat, least in (
                # half of them may fit the score of `prob`
                (
                    "01",
                    "0.1 %",
                    f"Given only where 1,000 test samples or more are judged. {_COARSE}",
                    ("test", 2000 if attack == "prob" else 1000),
                ),
                ("1", "1 %", _COARSE, None),
            )
        ),
        MetricCard(
            id=f"mia_{attack}_forgotten_classes",
            title=f"{name} MIA efficacy against forgotten classes",
            short=f"MIA {short} f.c.",
            group=group,
            meaning=f"As {name} MIA efficacy, but the attack learned what unseen samples look "
            "like from the forgotten classes alone.",
            source=f"This project, after {MUBOX}",
            caveat="Members come from the remaining classes, so the attack may tell classes apart "
            "rather than seen from unseen.",
            scenarios=CLASS_WISE,
            revision=TIES,
        ),
    )


CARDS: tuple[MetricCard, ...] = tuple(card for attack in ATTACKS for card in _attack_cards(attack))
