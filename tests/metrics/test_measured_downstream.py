"""k-NN accuracy, AGR and H-LR of a result, through `measure`, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from builders import literal_unbiased, value

from mucore.metrics import measure
from mucore.outputs import Outputs
from mucore.store.records import Measured


def with_downstream(outputs: Outputs, wrong: dict[str, int], turn: float = 1.0) -> Outputs:
    """Two classes along two axes, ten training and forty test samples of each set; `wrong` of every
    four test samples lie on the other axis.
    """
    splits = dict(outputs)
    for name, errors in wrong.items():
        for part, count in (("train", 10), ("test", 40)):
            labels = np.arange(count) % 2
            axis = np.where(
                np.arange(count) % 4 < (errors if part == "test" else 0), 1 - labels, labels
            )
            features = (turn * np.eye(2)[axis]).astype(np.float16)
            like = outputs["test"]
            splits[f"downstream/{name}/{part}"] = replace(
                like,
                logits=like.logits[:count],
                labels=labels,
                ids=np.arange(count),
                features=features,
                confusion=np.zeros((4, 4), int),
            )
    return Outputs(splits)


def likeness(first: int, second: int) -> float:
    """Unbiased CKA of two models that have so many of every four wrong: a feature of two axes is
    one axis twice, which changes no CKA.
    """
    answers = {0: [0, 1, 0, 1], 1: [1, 1, 0, 1], 2: [1, 0, 0, 1]}
    x, y = (np.tile(answers[each], 10)[:, None].astype(float) for each in (first, second))
    return literal_unbiased(x, y)


def test_by_hand(make_inputs):
    """The model has one of four wrong on set b, Retrain none; sets count alike. One label set has
    CKA 1, the other that of its answers.
    """
    inputs = make_inputs()
    outputs = with_downstream(inputs.outputs, {"a": 0, "b": 1})
    retrained = with_downstream(inputs.retrained, {"a": 0, "b": 0}, turn=3.0)
    own = measure(
        make_inputs(outputs=outputs, retrained=retrained), scenario="class_wise", method="finetune"
    )
    assert own["knn_accuracy"].value == pytest.approx((1 + 0.75) / 2)
    agr = (1 - (0 + 0.25) / 2) * (1 + likeness(1, 0)) / 2
    assert own["agr"].value == pytest.approx(agr)
    reference = {name: Measured(value(own, name) - 0.1) for name in ("fa", "ra", "tfa", "tra")}
    measured = measure(
        make_inputs(outputs=outputs, retrained=retrained, retrain_metrics=reference),
        scenario="class_wise",
        method="ssd",
    )
    agl = 0.9**4
    assert measured["h_lr"].value == pytest.approx(2 / (1 / agl + 1 / agr))
    assert measured["h_lr"].gap is None
    assert "h_lr" not in measure(make_inputs(outputs=outputs), scenario="one_class", method="ssd")


def test_each_downstream_set_by_itself(make_inputs):
    """What the means are made of, for the sets that cards name: of four test samples one is wrong
    on letters by hand, two in serifs.
    """
    inputs = make_inputs()
    wrong = {"glyphs-hand": 1, "glyphs-serif": 2}
    outputs = with_downstream(inputs.outputs, wrong)
    retrained = with_downstream(inputs.retrained, dict.fromkeys(wrong, 0))
    original = with_downstream(inputs.original, dict(zip(wrong, (0, 1), strict=True)))
    of_retrain = {"knn_glyphs-hand": Measured(1.0), "cka_original_glyphs-serif": Measured(0.5)}
    found = measure(
        make_inputs(
            outputs=outputs, retrained=retrained, original=original, retrain_metrics=of_retrain
        ),
        scenario="one_class",
        method="ssd",
    )
    assert {name for name in found if name.endswith(tuple(wrong))} == {
        f"{kind}_{name}" for kind in ("knn", "cka_retrain", "cka_original") for name in wrong
    }
    assert value(found, "knn_glyphs-hand") == 0.75
    assert found["knn_glyphs-hand"].gap == pytest.approx(-0.25)
    assert value(found, "knn_glyphs-serif") == 0.5
    assert value(found, "cka_retrain_glyphs-hand") == pytest.approx(likeness(1, 0))
    assert found["cka_retrain_glyphs-hand"].gap is None
    assert value(found, "cka_retrain_glyphs-serif") == pytest.approx(likeness(2, 0))
    assert value(found, "cka_original_glyphs-hand") == pytest.approx(likeness(1, 0))
    assert value(found, "cka_original_glyphs-serif") == pytest.approx(likeness(2, 1))
    assert found["cka_original_glyphs-serif"].gap == pytest.approx(likeness(2, 1) - 0.5)
    assert value(found, "knn_accuracy") == pytest.approx((0.75 + 0.5) / 2)
