"""What the features before the last layer still hold, on the data of the run and on downstream
sets.
"""

from __future__ import annotations

from typing import Any

from mucore.catalog.cards import DatasetCard, MetricCard
from mucore.catalog.data import DATASETS
from mucore.catalog.metrics.sources import FORGETTING
from mucore.catalog.scenarios import CLASS_WISE

CKA = (
    "Are We Truly Forgetting? (Kim, Cha, Kim), section 3.3; Kornblith et al., ICML 2019; unbiased "
    "after Song et al., JMLR 2012, and Nguyen et al., ICLR 2021"
)
# Below so many samples no CKA is told. That of unrelated features has the mean 0 and the standard
# deviation 1.5 / n, so that 95 % of them lie within ±3 / n, ±0.1 here: simulated for n from 4 to
# 512 and d from 16 to 512 with equal, falling and clustered spectra and heavy tails, it depends on
# neither d nor the spectrum. The plain estimator gives 0.94 here where d is 512, and 1 for n = 2.
LEAST = 32
SETS = {"forget": "forget set", "retain": "retain set", "test": "test set"}
_FEATURES = (
    "On at most 4,000 samples, the first ones or, where these lack a class, the first of each "
    "class. Unrelated features give 0 ± 3 / n for n samples; reported for n of at least 32. Not "
    "available for ensembles. Results of 0.2 and earlier hold the plain estimator until they are "
    "measured again: 0.01 higher on 1,000 samples, 0.04 on 200."
)
_IMAGES = "On up to 1,000 training and 500 test images of {sets}. Not available for ensembles."
_DOWNSTREAM = (
    "A mean over the downstream sets of the data set; where the scenario names one, that one "
    f"alone. {_IMAGES.format(sets='each')}"
)
_COSINE = "By cosine; the set's own training and test images instead of an 80/20 cut of one piece."
DOWNSTREAM_SETS = tuple(dict.fromkeys(name for card in DATASETS for name in card.downstream))


def _cka(model: str, where: str, on: str, caveat: str, **more: Any) -> MetricCard:
    """CKA to "retrain" or to "original" on a split or a downstream set, `on` in words."""
    other = "Retrain" if model == "retrain" else "the original"
    return MetricCard(
        id=f"cka_{model}_{where}",
        title=f"CKA to {other}, {on}",
        short=f"CKA {model[0].upper()} {where}",
        meaning="How alike the features before the last layer are, sample by sample, to those of "
        f"{other}: 1 is the same up to rotation and scale.",
        ideal="high" if model == "retrain" else "retrain",
        low=-1.0,
        source=CKA,
        caveat=f"{caveat} Two Retrains with different seeds do not reach 1 either. For likeness to "
        "the original, the goal is Retrain's value, not 0.",
        **more,
    )


def _cards_of(downstream: DatasetCard) -> tuple[MetricCard, ...]:
    """What the means over downstream sets are made of, on one of them (Tables 3 and 13 to 15)."""
    name, caveat = downstream.id, _IMAGES.format(sets="it")
    return (
        MetricCard(
            id=f"knn_{name}",
            title=f"k-NN accuracy on {downstream.title}",
            short=f"k-NN {name}",
            group="downstream",
            meaning=f"Accuracy on images of {downstream.title}, each classified by its 5 nearest "
            "training images there in feature space.",
            source=FORGETTING,
            caveat=f"{caveat} {_COSINE}",
            downstream=name,
        ),
        *(
            _cka(model, name, downstream.title, caveat, group="downstream", downstream=name)
            for model in ("retrain", "original")
        ),
    )


CARDS: tuple[MetricCard, ...] = (
    *(
        _cka(model, split, name, _FEATURES, group="representation", least=(split, LEAST))
        for model in ("retrain", "original")
        for split, name in SETS.items()
    ),
    MetricCard(
        id="linear_probe",
        title="Linear probe on forgotten classes",
        short="Probe",
        group="representation",
        meaning="Accuracy on test samples of the forgotten classes when a new last layer is "
        "learned on the frozen features of all classes.",
        source="Knowledge retention in the encoder; logistic regression on standardised features, "
        "this project",
        caveat="Chance is 1 / classes. High means that the encoder still tells the classes apart, "
        "but Retrain's often does so too. The layer learns from up to 200 training samples of each "
        "class, forgotten ones included, among the 4,000 of a set whose features are kept. None "
        "for an ensemble.",
        scenarios=CLASS_WISE,
    ),
    MetricCard(
        id="knn_accuracy",
        title="k-NN accuracy on downstream sets",
        short="k-NN",
        group="downstream",
        meaning="Accuracy on images of another data set, each classified by its 5 nearest "
        "training images there in feature space.",
        source=FORGETTING,
        caveat=f"{_DOWNSTREAM} {_COSINE}",
    ),
    MetricCard(
        id="agr",
        title="Agreement of representations",
        short="AGR",
        group="downstream",
        meaning="1 − distance of the k-NN accuracy to Retrain's, times CKA to Retrain, both on "
        "downstream sets; 1 is Retrain.",
        ideal="high",
        source=FORGETTING,
        caveat=_DOWNSTREAM,
        low=-1.0,
    ),
    MetricCard(
        id="h_lr",
        title="H-LR",
        short="H-LR",
        group="downstream",
        meaning="Harmonic mean of the agreement of logits (AGL) and of representations (AGR); 1 "
        "is Retrain, 0 where either is 0.",
        ideal="high",
        source=FORGETTING,
        caveat=_DOWNSTREAM,
        scenarios=CLASS_WISE,
    ),
    *(
        card
        for name in DOWNSTREAM_SETS
        for card in _cards_of(next(each for each in DATASETS if each.id == name))
    ),
)
