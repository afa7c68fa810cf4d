"""Every method on images with several yes-or-no labels: it runs, or its card says why it does
not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
import toy
from torch import Tensor, nn

from mucore import catalog
from mucore.blocks.labels import kinds
from mucore.engine.data import Samples
from mucore.engine.ensemble import Ensemble
from mucore.engine.loop import is_finite
from mucore.engine.run import Run
from mucore.errors import Refused
from mucore.runs import refuse_task

REFERENCES = {"retrain", "uploaded"}
SERVING = [
    card.id
    for card in catalog.methods()
    if "attributes" in card.tasks and card.id not in REFERENCES
]
REFUSING = {
    "boundary_shrink",
    "boundary_expanding",
    "delete",
    "gkt",
    "duck",
    "contrastive",
    "scar",
    "head_distillation",
    "l2ul",
}

# Settings under which the loss of the forget set must rise clearly above the original's; every
# method that works on the forget set is here.
FORGETS: dict[str, dict[str, Any]] = {
    "gradient_ascent": {"lr": 0.05, "epochs": 5, "stop_loss": None},
    "neggrad_plus": {"lr": 0.05, "retain_weight": 0.7, "epochs": 3},
    "advanced_neggrad": {"lr": 0.02},
    "random_labels": {"lr": 0.1},
    "pseudo_labels": {"lr": 0.05, "epochs": 5},
    "salun": {"lr": 0.1},
    "scrub": {"lr": 0.02, "epochs": 4, "msteps": 4},
    "bad_teacher": {"lr": 0.01, "epochs": 3},
    "first_order": {"tau": 0.05},
    "second_order": {},
    "ssd": {},
    "ntk": {},
    "fcs": {"forget_lr": 0.1},
    "munba": {"lr": 0.1},
    "sfron": {"lr": 0.05},
    "amun": {"lr": 0.05, "epochs": 3, "sets": "no_forget"},
    "pgu": {"lr": 0.5, "retained_var": 0.5, "epochs": 20},
    "amnesiac": {},
    "sisa": {},
    "rum": {"high_lr": 0.1, "medium_lr": 0.1},
}


def correct(model: nn.Module, samples: Samples) -> float:
    """Accuracy, by its votes for an ensemble."""
    if not isinstance(model, Ensemble):
        return toy.accuracy(model, samples)
    found = [model.vote(batch.x)[1] for batch in samples.batches(Run(seed=0), 512)]
    return (torch.cat(found) == samples.labels).float().mean().item()


def run(method: str, **changes: Any) -> tuple[nn.Module, Run]:
    model = toy.original("attributes").train().requires_grad_(True)
    return toy.unlearn(method, toy.request("attributes", "random"), model, **changes)


@pytest.mark.slow
@pytest.mark.parametrize("method", SERVING)
def test_a_method_keeps_what_is_retained(method: str):
    data, original = toy.request("attributes", "random"), toy.original("attributes")
    result, done = run(method)
    assert done.status == "ok" and is_finite(result) and not any(True for _ in toy.hooks(result))
    assert not any(module.training for module in result.modules())
    assert all(p.requires_grad for p in result.parameters())
    # sensible: the retain set stays far above guessing, the forget set does not become easier
    before, after = correct(original, data.forget), correct(result, data.forget)
    assert correct(result, data.retain) > 0.72 and after <= before + 0.02


@pytest.mark.parametrize("method", FORGETS)
def test_a_method_raises_the_loss_of_the_forget_set_and_spares_the_rest(method: str):
    data, original = toy.request("attributes", "random"), toy.original("attributes")
    result, done = run(method, **FORGETS[method])
    assert done.status == "ok", done.stop_reason
    rise = {
        name: toy.loss(result, getattr(data, name)) - toy.loss(original, getattr(data, name))
        for name in ("forget", "retain")
    }
    assert rise["forget"] > 0.005 and rise["forget"] > rise["retain"] - 0.01, rise


def test_the_roster_is_divided_into_those_that_serve_attributes_and_those_that_say_why_not():
    cards = {card.id: card for card in catalog.methods()}
    assert {name for name, card in cards.items() if "attributes" not in card.tasks} == REFUSING
    for name in REFUSING:
        with pytest.raises(Refused, match=f"^{name} does not run on attributes: .{{20,}}\\.$"):
            refuse_task(cards[name], "attributes")
        refuse_task(cards[name], "classes")
    for card in (catalog.ORIGINAL, cards["retrain"]):
        refuse_task(card, "attributes")


# -- what single methods do


def test_fine_tuning_takes_the_step_of_binary_cross_entropy():
    data = toy.in_float64(toy.request("attributes", "random"))
    model = toy.original("attributes").double().train()
    weights = {name: p.detach().clone() for name, p in model.named_parameters()}
    (batch,) = data.retain.batches(Run(seed=0), len(data.retain))
    reference = toy.original("attributes").double().train()
    loss = nn.functional.binary_cross_entropy_with_logits(reference(batch.x), batch.y.double())
    gradients = dict(
        zip(weights, torch.autograd.grad(loss, list(reference.parameters())), strict=True)
    )
    toy.unlearn(
        "finetune",
        data,
        model,
        lr=0.1,
        momentum=0.0,
        weight_decay=0.0,
        epochs=1,
        batch_size=len(data.retain),
    )
    for name, p in model.named_parameters():
        torch.testing.assert_close(p.detach(), weights[name] - 0.1 * gradients[name])


def test_scrub_rewind_weighs_combinations_of_attributes_as_the_forget_set_has_them():
    """With one combination asked for, the error to reach is that of the validation samples with the
    same one.
    """
    toy_problem = toy.problem("attributes")
    (numbers,), _ = kinds(toy.request("attributes", "random"), toy_problem.labels)
    chosen = torch.arange(len(toy_problem.labels))[numbers == 3][:20]
    data = toy.request("attributes", chosen)
    result, done = toy.unlearn("scrub_rewind", data, "attributes", lr=0.0, epochs=1, msteps=0)
    alike = (data.validation.labels == data.forget.labels[0]).all(1)
    unseen = data.validation[alike.nonzero().flatten()]
    # the state reached after an epoch with rate 0 differs from the original in its batch statistics
    # alone, so both are near
    assert done.diagnostics["target_error"] == pytest.approx(
        1 - toy.accuracy(result, unseen), abs=0.03
    )
    assert 0 < len(unseen) < len(data.validation)


def test_with_one_attribute_methods_walk_as_with_two_classes():
    base = toy.in_float64(toy.request("attributes", "random"))

    class WithZero(nn.Module):
        def __init__(self, single: nn.Module):
            super().__init__()
            self.single = single

        def forward(self, x: Tensor) -> Tensor:
            return nn.functional.pad(self.single(x), (1, 0))

    def network() -> nn.Sequential:
        model, head = toy.original("attributes"), nn.Linear(64, 1)
        with torch.no_grad():
            head.weight.fill_(0.1)
            head.bias.fill_(0.0)
        model[-1] = head
        return model.double().train()

    def first(samples: Samples, *, flat: bool) -> Samples:
        return samples.with_labels(samples.labels[:, 0] if flat else samples.labels[:, :1])

    def data(*, flat: bool) -> Any:
        sets = {
            name: first(getattr(base, name), flat=flat)
            for name in ("forget", "retain", "validation")
        }
        return replace(
            base, **sets, classes=2 if flat else 1, task="classes" if flat else "attributes"
        )

    settings: dict[str, dict[str, Any]] = {
        "finetune": {},
        "pseudo_labels": {"epochs": 2},
        "gradient_ascent": {"epochs": 2},
        "neggrad_plus": {},
        "random_labels": {"mode": "mixed_fixed"},
        "scrub": {},
        "unrolling": {"variant": "posthoc", "sd_weight": 0.1},
    }
    for method, changes in settings.items():
        one, two = network(), WithZero(network())
        toy.unlearn(method, data(flat=False), one, **changes)
        toy.unlearn(method, data(flat=True), two, **changes)
        for name, p in one.state_dict().items():
            torch.testing.assert_close(
                p, two.state_dict()[f"single.{name}"], msg=f"{method}: {name}"
            )
