"""What cards say a method takes, beyond one run each; and that nothing grows with the square of the
number of samples.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest
import torch
import toy
from footprints import values
from roster import ROSTER
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from mucore import catalog
from mucore.catalog.cards import Footprint
from mucore.catalog.formulas import evaluate
from mucore.training.records import needed


def test_every_method_says_what_it_takes():
    nothing = Footprint()
    assert [card.id for card in catalog.METHODS if card.footprint == nothing] == ["uploaded"]


def test_formulas_hold_for_every_choice_of_a_parameter():
    for method in ROSTER:
        card, known = catalog.method(method), values(method, "mlp", toy.request("mlp"))
        for parameter in card.parameters:
            optional = (None,) if parameter.optional else ()
            for value in (*parameter.choices, *optional, parameter.default):
                for field in fields(Footprint):
                    text = getattr(card.footprint, field.name)
                    if text and isinstance(text, str):
                        assert evaluate(text, known | {parameter.name: value}) >= 0, (method, text)


# -- growth


class Largest(TorchDispatchMode):
    """Bytes of the largest tensor that anything makes while this is open."""

    found = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for t in tree_leaves(result):
            if isinstance(t, torch.Tensor):
                self.found = max(self.found, t.untyped_storage().nbytes())
        return result


def held(method: str, every: int, **changes: Any) -> tuple[int, int]:
    """What a run counts for itself, and the largest tensor, of every `every`-th sample."""
    data = toy.request("mlp")
    data = replace(
        data,
        **{
            role: getattr(data, role)[torch.arange(0, len(getattr(data, role)), every)]
            for role in ("forget", "retain", "validation")
        },
    )
    for record in needed(catalog.method(method), toy.parameters(method)):
        data.record[record]  # made outside, as in a run
    with Largest() as largest:
        _, run = toy.unlearn(method, data, "mlp", **changes)
    return run.cost.scratch_bytes, largest.found


def assert_at_most_linear(small: tuple[int, int], large: tuple[int, int]) -> None:
    for before, after in zip(small, large, strict=True):
        assert after <= 4.4 * before, (small, large)


# what keeps gradients, features, logits, masks, models or statistics of samples or weights
WITH_STORES = (
    *("finetune", "amnesiac", "sisa", "l_codec", "second_order", "fisher", "ssd", "salun", "scrub"),
    *("contrastive", "duck", "eu_k", "unsir"),
)


@pytest.mark.slow
@pytest.mark.parametrize("method", WITH_STORES)
def test_four_times_the_samples_hold_at_most_four_times_the_memory(method: str):
    assert_at_most_linear(held(method, 8), held(method, 2))
