"""Witness: SSD's importances depend on which samples share a batch, and by default batches are cut
as in the official scripts.

One weight a class, one input that is 1 for every sample, and all weights equal: logits are equal,
every class has probability 1/3, and the gradient of one sample's cross-entropy for the weight of
class c is 1/3 - [c = y]. With u = 1/3, d = 1/3 - 1 = -2/3, three classes:

    a batch of one class alone      g² = (4, 1, 1) / 9, the 4 in its own place a batch of two
    classes, halves  g = (1/3, -1/6, -1/6), the 1/3 for the absent class: g² = (4, 1, 1) / 36, the 4
    in the absent place

Class 0 goes: two samples, importance I_f = (4, 1, 1) / 9. Four samples stay, in the data set's
order of classes 1, 2, 1, 2. Batches of two.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from mucore import catalog, methods
from mucore.engine.data import Samples, TensorImages, UnlearningData
from mucore.engine.run import Run
from mucore.runs import complete, make_recipe, make_spec, method_parameters


def request(retained: list[int], forgotten: list[int]) -> UnlearningData:
    """A request for the classes of `forgotten`; every image is one white pixel."""
    labels = torch.tensor([*retained, *forgotten])
    images = TensorImages(
        torch.full((len(labels), 1, 1, 1), 255, dtype=torch.uint8), [0.0], [1.0], "cpu"
    )
    ids = torch.arange(len(labels))

    def part(index: Tensor, role: str) -> Samples:
        return Samples(images, ids[index], labels[index], ids[index], role)

    kept, gone = ids[: len(retained)], ids[len(retained) :]
    return UnlearningData(
        forget=part(gone, "forget"),
        retain=part(kept, "retain"),
        validation=part(kept, "validation"),
        classes=3,
        forgotten_classes=(0,),
        recipe=make_recipe("quick"),
        fresh_model=lambda seed: network(),
        training_seed=0,
        record={},
    )


def network() -> nn.Module:
    layer = nn.Linear(1, 3, bias=False)
    nn.init.ones_(layer.weight)
    return nn.Sequential(nn.Flatten(), layer)


def dampened(data: UnlearningData, *, seed: int = 0, **changes: Any) -> list[float]:
    """The three weights after SSD, which were 1."""
    card = catalog.method("ssd")
    given = complete(
        card,
        method_parameters(card, data.recipe, {"batch_size": 2, **changes}, scenario="class_wise"),
    )
    return (
        methods.load("ssd")(network(), data, Run(seed=seed), **given)
        .state_dict()["1.weight"]
        .flatten()
        .tolist()
    )


def test_class_by_class_only_the_forgotten_class_stands_out():
    """Batches (1, 1), (2, 2), (0, 0): I_D = ((1, 4, 1) + (1, 1, 4) + (4, 1, 1)) / 27 = (2, 2, 2) /
    9, so I_f / I_D = (2, 1/2, 1/2).
    """
    data = request([1, 2, 1, 2], [0, 0])
    # above α = 1.5 lies the first weight alone, and it is multiplied by λ I_D / I_f = 1/2
    assert dampened(data, alpha=1.5) == pytest.approx([0.5, 1, 1])
    assert dampened(data, alpha=2.1) == [1, 1, 1]
    # by half of α every weight but those of the other classes; min(1, ·) keeps their factor of 2 at
    # 1
    assert dampened(data, alpha=0.4) == pytest.approx([0.5, 1, 1])


def test_in_the_order_of_the_data_set_all_weights_stand_out():
    """Batches (1, 2), (1, 2), (0, 0): I_D = (2 · (4, 1, 1) / 36 + (4, 1, 1) / 9) / 3 = (4, 1, 1) /
    18, so I_f / I_D = (2, 2, 2).
    """
    data = request([1, 2, 1, 2], [0, 0])
    assert dampened(data, alpha=1.5, order="retain_then_forget") == pytest.approx([0.5, 0.5, 0.5])


def test_shuffling_both_sets_together_breaks_the_cap():
    """Batches (0, 1), (0, 2), (1, 2): I_D = ((1, 1, 4) + (1, 4, 1) + (4, 1, 1)) / 108 = (1, 1, 1) /
    18, so I_f / I_D = (8, 2, 2).

    Behind one another the sets hold the ratio at |D| / |D_f| = 3: the forget set's own batch is one
    of three, so I_D >= I_f / 3. On ten balanced classes the cap is 10 when one of them goes, which
    is the authors' α.
    """
    data = request([1, 2, 1, 2], [0, 0])
    found = {seed: dampened(data, seed=seed, alpha=3.0, order="shuffled") for seed in range(20)}
    assert any(weights == pytest.approx([1 / 8, 1, 1]) for weights in found.values())
    for order in ("by_class", "mixed", "retain_then_forget"):
        assert all(
            dampened(data, seed=seed, alpha=3.0, order=order) == [1, 1, 1] for seed in range(20)
        )


def test_one_batch_lies_across_the_border():
    """As two data sets in one loader. In batches of three: (1, 1, 2) and (2, 0, 0).

    (1, 1, 2): g = (1/3, 1/3 - 2/3, 1/3 - 1/3) = (1, -1, 0) / 3;  (2, 0, 0): g = (1/3 - 2/3, 1/3,
    1/3 - 1/3) = (-1, 1, 0) / 3. I_D = (1, 1, 0) / 9 and I_f = (4, 1, 1) / 9: ratios (4, 1, ∞). The
    third weight has I_D = 0, so its factor is 0.
    """
    data = request([1, 2, 1, 2], [0, 0])
    assert dampened(data, alpha=2.0, batch_size=3) == pytest.approx([1 / 4, 1, 0], abs=1e-6)


def test_mixed_keeps_the_two_sets_apart_and_draws_their_order():
    """Retained batches are (1, 1), (2, 2) or twice (1, 2): I_D is (2, 2, 2) / 9 or (4, 1, 1) / 18,
    and both occur.
    """
    data = request([1, 2, 1, 2], [0, 0])
    found = [dampened(data, seed=seed, alpha=1.5, order="mixed") for seed in range(20)]
    pure, halves = [0.5, 1, 1], [0.5, 0.5, 0.5]
    assert all(weights in (pytest.approx(pure), pytest.approx(halves)) for weights in found)
    assert pytest.approx(pure) in found and pytest.approx(halves) in found


def test_the_default_is_the_official_order_of_each_scenario():
    """forget_full_class_main.py: class by class, -b 64. forget_random_main.py: the halves of a
    random split, -b 128.
    """
    common: dict[str, Any] = {
        "dataset": "fashion-mnist-10k",
        "model": "resnet9-small",
        "recipe": make_recipe("standard"),
        "method": "ssd",
    }
    for card in catalog.scenarios():
        if not card.needs & {"downstream", "identities"}:
            parameters = make_spec(**common, scenario=card.id).parameters
            wanted = ("by_class", 64) if card.class_wise else ("mixed", 128)
            assert (parameters["order"], parameters["batch_size"], parameters["alpha"]) == (
                *wanted,
                10.0,
            ), card.id
