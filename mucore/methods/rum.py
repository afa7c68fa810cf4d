"""RUM: split the forget set by memorisation and unlearn each part with a method that suits it."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from torch import nn

from mucore import catalog, methods
from mucore.blocks.memorisation import confidence_score, curvature_score, heldout_score
from mucore.engine.data import UnlearningData
from mucore.engine.run import Run

Proxy = Literal["confidence", "curvature", "learning_events", "heldout_retrain"]
Step = Literal["nothing", "finetune", "neggrad_plus", "salun"]


def rum(
    model: nn.Module,
    data: UnlearningData,
    run: Run,
    *,
    proxy: Proxy,
    order: Literal["low_to_high", "high_to_low"],
    low: Step,
    low_lr: float,
    low_epochs: int,
    medium: Step,
    medium_lr: float,
    medium_epochs: int,
    high: Step,
    high_lr: float,
    high_epochs: int,
    retain_weight: float,
    momentum: float,
    weight_decay: float,
    batch_size: int,
    heldout_lr: float,
    heldout_epochs: int | None,
) -> nn.Module:
    """
    Paper: Zhao, Kurmanji, Barbulescu, E. and P. Triantafillou, What Makes Unlearning Hard and What
        to Do About It, NeurIPS 2024
    Code: kairanzhao/RUM main_rum.py, main_rum_proxy.py, main_forget.py, heldout_retrain.py,
        memorization_proxy/learning_events.py
    Reads: the forget set and the retain set; `learning_events`: a record of training;
        `heldout_retrain`: the validation set
    Differs: the true memorisation score, of many retrained models, is left out; images are
        augmented; held-out data are not the test set

    Settings of a step that have no parameter here are the step's own authors' defaults.
    """
    # (1) score each forgotten sample: a hesitant model, a loss that bends sharply around the image,
    #     hesitation all through training, or answers that change as soon as other data are learned
    #     tell of memorisation
    if proxy == "confidence":
        scores = confidence_score(model, data.forget, run)
    elif proxy == "curvature":
        scores = curvature_score(model, data.forget, run)
    elif proxy == "learning_events":
        confidence = data.record["learning_events"]["confidence"]
        run.persistent(confidence)
        scores = -confidence[data.forget.ids]
    else:
        passes = data.recipe.epochs if heldout_epochs is None else heldout_epochs
        scores = heldout_score(
            model, data.forget, data.validation, run, lr=heldout_lr, epochs=passes
        )
    # (2) three groups of equal size by score
    groups = [data.forgetting(part) for part in scores.argsort(stable=True).tensor_split(3)]
    steps = [
        (low, low_lr, low_epochs),
        (medium, medium_lr, medium_epochs),
        (high, high_lr, high_epochs),
    ]
    turns = list(zip(groups, steps, strict=True))
    if order == "high_to_low":
        turns.reverse()
    # (3) one group after the other; those still to come are retained for as long
    for number, (group, (step, lr, epochs)) in enumerate(turns):
        if step == "nothing" or not len(group.forget):
            continue
        later = [other.forget for other, _ in turns[number + 1 :]]
        group = replace(group, retain=data.retain.joined(*later))
        settings = {p.name: p.default for p in catalog.method(step).parameters} | {
            "lr": lr,
            "epochs": epochs,
            "momentum": momentum,
            "weight_decay": weight_decay,
            "batch_size": batch_size,
        }
        if step == "neggrad_plus":
            settings["retain_weight"] = retain_weight
        with run.share(number / 3, (number + 1) / 3):
            model = methods.load(step)(model, group, run, **settings)
        if run.status == "diverged":
            break
    return model.eval()
