"""The metrics: what each number means, what a good value is, where it comes from.

The functions behind the cards are in mucore/metrics/. Display order is the order here.
"""

from __future__ import annotations

from mucore.catalog.cards import MetricCard
from mucore.catalog.experiments import EXPERIMENT_METRICS
from mucore.catalog.scenarios import CLASS_WISE, POISONED

MUBOX = "MUBox (Li, Thuraisingham, Wei; SACMAT 2025), section 3.4"
DEPOISONING = "MUBox (Li, Thuraisingham, Wei; SACMAT 2025), section 5.3"
MUFAC = "Towards Machine Unlearning Benchmarks (Choi & Na, 2023; MUFAC and MUCAC), section 4"
PERSONS = frozenset({"identities", "competition"})  # the scenarios in which persons go
FORGETTING = "Are We Truly Forgetting? (Kim, Cha, Kim), section 4.1"
SONG = "Song & Mittal, USENIX Security 2021"
CKA = "Are We Truly Forgetting? (Kim, Cha, Kim), section 3.3; Kornblith et al., ICML 2019"

# id of the attack -> its name in a sentence, its column head, what it looks at, and where that comes from
ATTACKS = {
    "correctness": ("Correctness", "Corr", "whether the prediction is right", MUBOX),
    "confidence": ("Confidence", "Conf", "the probability of the true class", f"{MUBOX}; the confidence attack of {FORGETTING}"),
    "entropy": ("Entropy", "Entr", "how spread out the predicted probabilities are", MUBOX),
    "m_entropy": (
        "Modified entropy",
        "M-entr",
        "the entropy, turned so that a confident wrong answer counts as uncertain",
        f"{MUBOX}; {SONG}, equation 6",
    ),
    "prob": ("Probabilities", "Prob", "the whole vector of predicted probabilities", MUBOX),
}

_EVIDENCE = (
    "Not evidence where the attack's own accuracy lies within the 95 % interval of guessing (50 %): "
    "then the attack cannot tell members from non-members at all."
)
_OWN_CAVEAT = {
    "correctness": "Equals 1 − FA as long as the attack takes right answers for members. Of attributes it sees the share that is right.",
    "confidence": "Of attributes it sees the geometric mean of the true answers' probabilities, which is exp(−loss).",
    "entropy": "Of attributes it sees the mean of their entropies.",
    "m_entropy": (
        "The public code of earlier papers computes this feature wrongly; published columns may differ for that reason. "
        "Of attributes it sees the mean."
    ),
    "prob": "Of attributes it sees the probability of each.",
}


def _attack_cards(attack: str) -> tuple[MetricCard, ...]:
    name, short, looks_at, source = ATTACKS[attack]
    group = "membership inference"
    return (
        MetricCard(
            id=f"mia_{attack}",
            title=f"{name} MIA efficacy",
            short=f"MIA {short}",
            group=group,
            meaning=f"Share of the forget set that an attacker who sees {looks_at} takes for samples the model never trained on.",
            ideal="retrain",
            source=source,
            caveat=f"{_EVIDENCE} {_OWN_CAVEAT.get(attack, '')}".strip(),
        ),
        MetricCard(
            id=f"mia_{attack}_attack_accuracy",
            title=f"{name} MIA, accuracy of the attack",
            short=f"{short} acc",
            group=group,
            meaning="How well the attack tells retained from test samples it did not learn from; both sides weigh alike, 50 % is a guess.",
            ideal="retrain",
            source="This project",
            caveat="Describes the attack on this model, not the forgetting.",
        ),
        MetricCard(
            id=f"mia_{attack}_auc",
            title=f"{name} MIA, AUC",
            short=f"{short} AUC",
            group=group,
            meaning="Probability that a forgotten sample looks more like a training sample than a test sample does; 50 %: they look alike.",
            ideal="retrain",
            source="Area under the ROC curve of the forget set against the test set",
            caveat="Retrain is at 50 % only where forget set and test set are equally hard; compare with Retrain."
            + (" The score is the attack's decision value; test samples it learned from are left out." if attack == "prob" else ""),
        ),
        MetricCard(
            id=f"mia_{attack}_tpr_01",
            title=f"{name} MIA, TPR at 0.1 % FPR",
            short=f"{short} TPR 0.1 %",
            group=group,
            meaning="Share of the forget set that is exposed by a threshold that at most 0.1 % of the test samples pass.",
            ideal="retrain",
            source="Carlini et al., Membership Inference Attacks From First Principles, S&P 2022",
            caveat="With fewer than 1,000 test samples none of them may pass. Equal scores pass together: a coarse score often gives 0.",
        ),
        MetricCard(
            id=f"mia_{attack}_tpr_1",
            title=f"{name} MIA, TPR at 1 % FPR",
            short=f"{short} TPR 1 %",
            group=group,
            meaning="Share of the forget set that is exposed by a threshold that at most 1 % of the test samples pass.",
            ideal="retrain",
            source="Carlini et al., Membership Inference Attacks From First Principles, S&P 2022",
            caveat="Equal scores pass together, so a coarse score often gives 0.",
        ),
        MetricCard(
            id=f"mia_{attack}_forgotten_classes",
            title=f"{name} MIA efficacy against forgotten classes",
            short=f"MIA {short} f.c.",
            group=group,
            meaning=f"As {name} MIA efficacy, but the attack learned what unseen samples look like from the forgotten classes alone.",
            ideal="retrain",
            source=f"This project, after {MUBOX}",
            caveat="Members come from the remaining classes, so the attack may tell classes apart rather than seen from unseen.",
            scenarios=CLASS_WISE,
        ),
    )


_DOWNSTREAM = (
    "A mean over the downstream sets of the data set; where the scenario names one, that one alone. On up to 1,000 training and 500 test "
    "images of each. None for an ensemble."
)
SETS = {"forget": "forget set", "retain": "retain set", "test": "test set"}
_FEATURES = "On the first 4,000 samples that are kept. Biased upwards where they are not many more than the features. None for an ensemble."


def _cka_cards() -> tuple[MetricCard, ...]:
    to_retrain = tuple(
        MetricCard(
            id=f"cka_retrain_{split}",
            title=f"CKA to Retrain, {name}",
            short=f"CKA R {split}",
            group="representation",
            meaning=f"How alike the features before the last layer are to Retrain's on the {name}: 1 is the same up to rotation and scale.",
            ideal="high",
            source=CKA,
            caveat=_FEATURES + " Two Retrains of different seeds are not at 1 either.",
        )
        for split, name in SETS.items()
    )
    to_original = tuple(
        MetricCard(
            id=f"cka_original_{split}",
            title=f"CKA to the original, {name}",
            short=f"CKA O {split}",
            group="representation",
            meaning=f"How alike the features before the last layer still are to the original's on the {name}: 1 is unchanged.",
            ideal="retrain",
            source=CKA,
            caveat=_FEATURES + " Good is the likeness that Retrain has to the original, not 0.",
        )
        for split, name in SETS.items()
    )
    return to_retrain + to_original


METRICS: tuple[MetricCard, ...] = (
    MetricCard(
        id="ta",
        title="Test accuracy",
        short="TA",
        group="accuracy",
        meaning="Share of the test samples that the model gets right.",
        ideal="retrain",
        source=MUBOX,
        caveat=(
            "Forgotten classes stay in the test set, so Retrain cannot reach the original's value there; TRA leaves them out. "
            "Where images have attributes, this and the other accuracies are means over them."
        ),
    ),
    MetricCard(
        id="ra",
        title="Retain accuracy",
        short="RA",
        group="accuracy",
        meaning="Share of the retained training samples that the model gets right.",
        ideal="retrain",
        source=MUBOX,
        caveat="For the original's own training job this is the accuracy on all training samples.",
    ),
    MetricCard(
        id="fa",
        title="Forget accuracy",
        short="FA",
        group="accuracy",
        meaning="Share of the forgotten samples that the model still gets right.",
        ideal="retrain",
        source=MUBOX,
        caveat=(
            "Good is Retrain's value, not 0: a model can get a sample right that it never saw. MUBox prints the difference to Retrain. Of "
            "poisoned samples the labels are the attacker's, so this is the success of the attack."
        ),
    ),
    MetricCard(
        id="tfa",
        title="Test accuracy on forgotten classes",
        short="TFA",
        group="accuracy",
        meaning="Share of the test samples of the forgotten classes that the model gets right.",
        ideal="retrain",
        source=FORGETTING,
        caveat="Retrain is at 0 where it never saw the classes; a method that only hides the class in its last layer is there too.",
        scenarios=CLASS_WISE,
    ),
    MetricCard(
        id="tra",
        title="Test accuracy on remaining classes",
        short="TRA",
        group="accuracy",
        meaning="Share of the test samples of the classes that stay that the model gets right.",
        ideal="retrain",
        source=FORGETTING,
        caveat="Above the original's is no sign of better training: with fewer classes to mix up, Retrain is often above it too.",
        scenarios=CLASS_WISE,
    ),
    MetricCard(
        id="va",
        title="Validation accuracy",
        short="VA",
        group="accuracy",
        meaning="Share of the validation samples that the model gets right.",
        ideal="retrain",
        source="This project",
        caveat="Some methods stop or tune on these samples, so they flatter; no conclusion should rest on them.",
    ),
    MetricCard(
        id="asr",
        title="Attack success rate",
        short="ASR",
        group="depoisoning",
        meaning="Share of all test images, with the trigger stamped on them, that the model takes for the target class.",
        ideal="retrain",
        source=DEPOISONING,
        caveat="Images of the target class are counted too, so Retrain is near 1 / classes rather than 0.",
        scenarios=frozenset({"backdoor"}),
    ),
    MetricCard(
        id="asr_others",
        title="Attack success rate without the target class",
        short="ASR others",
        group="depoisoning",
        meaning="Share of the triggered test images of the other classes that the model takes for the target class.",
        ideal="retrain",
        source=f"This project, after {DEPOISONING}",
        caveat="Retrain is above 0 by what it takes for the target class anyway.",
        scenarios=frozenset({"backdoor"}),
    ),
    MetricCard(
        id="fa_true",
        title="Forget accuracy on true labels",
        short="FA true",
        group="depoisoning",
        meaning="Share of the poisoned samples that the model puts into the class they belong to, not into the attacker's.",
        ideal="retrain",
        source=f"This project, after {DEPOISONING}",
        caveat="FA counts the same predictions against the attacker's labels: there it is the success of the attack.",
        scenarios=POISONED,
    ),
    MetricCard(
        id="ta_flipped",
        title="Test accuracy on flipped classes",
        short="TA flipped",
        group="depoisoning",
        meaning="Share of the test samples of the classes whose labels were flipped that the model gets right.",
        ideal="retrain",
        source=DEPOISONING,
        caveat="With the default pairs of an even number of classes every class is flipped, and this is TA.",
        scenarios=frozenset({"label_flip"}),
    ),
    MetricCard(
        id="top2",
        title="Top-2 test accuracy",
        short="Top-2",
        group="persons",
        meaning="Share of test samples whose true class is among the two most probable.",
        ideal="high",
        source=MUFAC,
        caveat="On the test samples whose predictions are kept one by one. None for yes-or-no labels. Neighbouring age groups look alike.",
        scenarios=PERSONS,
    ),
    MetricCard(
        id="nomus",
        title="NoMUS",
        short="NoMUS",
        group="persons",
        meaning="Half test accuracy, half how little the losses of forgotten persons differ from those of persons nobody has seen.",
        ideal="high",
        source=MUFAC,
        caveat="Adds usefulness to forgetting: an original that memorises little can score above a method. Look at both parts.",
        scenarios=PERSONS,
    ),
    MetricCard(
        id="forgetting_score",
        title="Forgetting score",
        short="Forget score",
        group="persons",
        meaning="Distance from guessing (50 %) of an attack that tells forgotten from unseen persons by their loss; 0 is best.",
        ideal="low",
        high=0.5,
        source=MUFAC,
        caveat="An attack worse than guessing counts as much as a good one. With few samples a side it is above 0 by chance.",
        scenarios=PERSONS,
    ),
    *(card for attack in ATTACKS for card in _attack_cards(attack)),
    MetricCard(
        id="l2",
        title="Distance to Retrain",
        short="ℓ2",
        group="distance",
        meaning="Euclidean distance between this model's weights and Retrain's.",
        ideal="none",
        high=None,
        unit="distance",
        source=MUBOX,
        caveat="By MUBox's own finding it says little: models at one distance can behave quite differently.",
    ),
    MetricCard(
        id="l2_normalised",
        title="Relative distance to Retrain",
        short="ℓ2 rel",
        group="distance",
        meaning="Euclidean distance between this model's weights and Retrain's, divided by the norm of Retrain's weights.",
        ideal="none",
        high=None,
        unit="ratio",
        source=MUBOX,
        caveat="MUBox normalises and does not say how; this is our reading, so values need not match its tables.",
    ),
    *_cka_cards(),
    MetricCard(
        id="linear_probe",
        title="Linear probe on forgotten classes",
        short="Probe",
        group="representation",
        meaning="Accuracy on test samples of the forgotten classes when a new last layer is learned on the frozen features of all classes.",
        ideal="retrain",
        source="Knowledge retention in the encoder; logistic regression on standardised features, this project",
        caveat=(
            "High means that the encoder still tells the classes apart, but Retrain's often does so too. The layer learns from up to 200 "
            "training samples of each class, forgotten ones included. None for an ensemble."
        ),
        scenarios=CLASS_WISE,
    ),
    MetricCard(
        id="knn_accuracy",
        title="k-NN accuracy on downstream sets",
        short="k-NN",
        group="downstream",
        meaning="Accuracy on images of another data set, each classified by its 5 nearest training images there in feature space.",
        ideal="retrain",
        source=FORGETTING,
        caveat=f"{_DOWNSTREAM} By cosine; the set's own training and test images instead of an 80/20 cut of one piece.",
    ),
    MetricCard(
        id="agr",
        title="Agreement of representations",
        short="AGR",
        group="downstream",
        meaning="1 − distance of the k-NN accuracy to Retrain's, times CKA to Retrain, both on downstream sets; 1 is Retrain.",
        ideal="high",
        source=FORGETTING,
        caveat=_DOWNSTREAM,
    ),
    MetricCard(
        id="h_lr",
        title="H-LR",
        short="H-LR",
        group="downstream",
        meaning="Harmonic mean of the agreement of logits (AGL) and of representations (AGR); 1 is Retrain, 0 where either is 0.",
        ideal="high",
        source=FORGETTING,
        caveat=_DOWNSTREAM,
        scenarios=CLASS_WISE,
    ),
    MetricCard(
        id="js_divergence",
        title="Output divergence to Retrain",
        short="JS",
        group="agreement",
        meaning="Mean Jensen-Shannon divergence, in bits, between this model's predictions and Retrain's on the forget set; 0 is Retrain.",
        ideal="low",
        source="Lin, Divergence Measures Based on the Shannon Entropy, 1991",
        caveat="Two Retrains of different seeds are not at 0 either. Of attributes it is the mean over them.",
    ),
    MetricCard(
        id="zrf",
        title="Zero retrain forgetting",
        short="ZRF",
        group="ignorance",
        meaning="1 − mean Jensen-Shannon divergence, in bits, to the predictions of a network with random weights on the forget set.",
        ideal="retrain",
        source="Chundawat et al., Can Bad Teaching Induce Forgetting?, AAAI 2023",
        caveat="Needs no Retrain, but 1 is ignorance, not forgetting: Retrain itself need not be near 1. On at most 500 forgotten samples.",
    ),
    MetricCard(
        id="efficacy",
        title="Efficacy, as a power of ten",
        short="Efficacy",
        group="ignorance",
        meaning="log10 of 1 / information that the weights hold about the forget set: the mean squared gradient of ln p of a true label.",
        ideal="retrain",
        low=None,
        high=None,
        unit="log10",
        source="Becker & Liebig, Evaluating Machine Unlearning via Epistemic Uncertainty, 2022",
        caveat="Low is less exposed; a well fitted model has a high one. On at most 500 forgotten samples. None for an ensemble.",
    ),
    MetricCard(
        id="efficacy_bound",
        title="Bound of efficacy, as a power of ten",
        short="Eff. bound",
        group="ignorance",
        meaning="log10 of 1 / squared gradient of the mean loss on the forget set: never below the efficacy, and much cheaper.",
        ideal="retrain",
        low=None,
        high=None,
        unit="log10",
        source="Becker & Liebig, Evaluating Machine Unlearning via Epistemic Uncertainty, 2022",
        caveat="Gradients of single samples cancel in the mean, so it can lie far above. On the same samples as the efficacy.",
    ),
    MetricCard(
        id="efficacy_untrained",
        title="Efficacy before training, as a power of ten",
        short="Eff. untrained",
        group="ignorance",
        meaning="The efficacy, on the same forget set, of the network that the original was trained from, whose weights have seen nothing.",
        ideal="none",
        low=None,
        high=None,
        unit="log10",
        source="Becker & Liebig, Evaluating Machine Unlearning via Epistemic Uncertainty, 2022, Figure 2",
        caveat="With the original alone, as it is the same for every method. On the same samples as the efficacy.",
    ),
    MetricCard(
        id="average_gap",
        title="Average gap",
        short="Avg gap",
        group="agreement",
        meaning="Mean distance to Retrain over four numbers: FA, RA, TA and confidence MIA efficacy; 0 is Retrain.",
        ideal="low",
        source="SalUn (Fan et al., ICLR 2024), Table 1",
        caveat="A mean hides which of the four is far off.",
    ),
    MetricCard(
        id="average_gap_classes",
        title="Average gap of class accuracies",
        short="Avg gap classes",
        group="agreement",
        meaning="Mean distance to Retrain over the four accuracies FA, RA, TFA and TRA; 0 is Retrain.",
        ideal="low",
        source=FORGETTING,
        caveat="A mean hides which of the four is far off, and four accuracies do not see what the features still hold.",
        scenarios=CLASS_WISE,
    ),
    MetricCard(
        id="agl",
        title="Agreement of logits",
        short="AGL",
        group="agreement",
        meaning="Product of 1 − distance to Retrain over the accuracies FA, RA, TFA and TRA; 1 is Retrain.",
        ideal="high",
        source=FORGETTING,
        caveat="Accuracies alone: a model that changed its last layer only can reach 1.",
        scenarios=CLASS_WISE,
    ),
    MetricCard(
        id="rte",
        title="Run time relative to Retrain",
        short="RTE",
        group="cost",
        meaning="Seconds of this method divided by the seconds of Retrain; below 1 it saves time.",
        ideal="low",
        high=None,
        unit="ratio",
        source="MUBox (Li, Thuraisingham, Wei; SACMAT 2025), Table 2",
        caveat="Missing where Retrain ran on another device, precision or number of threads. Evaluation is not counted.",
    ),
    MetricCard(
        id="unlearning_seconds",
        title="Run time",
        short="Seconds",
        group="cost",
        meaning="Seconds the method took, without evaluation; for Retrain and the original the seconds of training.",
        ideal="low",
        high=None,
        unit="seconds",
        source="This project",
        caveat="Depends on the machine and on what else ran on it.",
    ),
    MetricCard(
        id="samples_read",
        title="Samples read",
        short="Reads",
        group="cost",
        meaning="How many samples passed through the model, each counted every time.",
        ideal="low",
        high=None,
        unit="count",
        source="This project",
        caveat="Does not depend on the machine. A pass with a gradient costs about three times one without and counts the same.",
    ),
    MetricCard(
        id="optimizer_steps",
        title="Optimiser steps",
        short="Steps",
        group="cost",
        meaning="How many times the optimiser changed the weights.",
        ideal="low",
        high=None,
        unit="count",
        source="This project",
        caveat="Methods that edit weights directly take none.",
    ),
    MetricCard(
        id="persistent_bytes",
        title="Storage kept since training",
        short="Kept",
        group="cost",
        meaning="Bytes that this implementation must keep between training and the request, beyond the model and the data.",
        ideal="low",
        high=None,
        unit="bytes",
        source="MUBox (Li, Thuraisingham, Wei; SACMAT 2025), Table 2",
        caveat="What the published method needs can be far more; see the method's page.",
    ),
    MetricCard(
        id="scratch_bytes",
        title="Working storage",
        short="Scratch",
        group="cost",
        meaning="Most bytes the method held for itself at one time, such as copies of the model or importance maps.",
        ideal="low",
        high=None,
        unit="bytes",
        source="This project",
        caveat="Counts what this implementation says it holds; activations and gradients of training are in the peak memory instead.",
    ),
    MetricCard(
        id="peak_memory_bytes",
        title="Peak memory",
        short="Memory",
        group="cost",
        meaning="Most device memory in use during the run; on a CPU, growth of the process's memory.",
        ideal="low",
        high=None,
        unit="bytes",
        source="This project",
        caveat="On a CPU it is sampled and depends on what the process held before; compare runs on one device only.",
    ),
    *EXPERIMENT_METRICS,
)
