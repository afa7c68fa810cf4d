"""Tasks with several yes-or-no labels an image: by hand, and against the two classes that a single
attribute is.
"""

from __future__ import annotations

import math
from functools import partial

import pytest
import torch
import toy
from torch import Tensor, nn

from mucore.blocks import curvature, labels
from mucore.blocks.prediction_fisher import fisher_of_predictions
from mucore.engine import losses, predict
from mucore.engine.batch import Batch
from mucore.engine.collect import collect
from mucore.engine.data import Samples
from mucore.engine.features import classifier_layer
from mucore.engine.loop import cross_entropy
from mucore.engine.run import Run

LN2 = math.log(2)
Y = torch.tensor([[1, 0, 1], [0, 0, 1]])
# logits whose sigmoid is 3/4, 1/4, 1/2 and 1/4, 3/4, 9/10
LN3, LN9 = math.log(3), math.log(9)
Z = torch.tensor([[LN3, -LN3, 0.0], [-LN3, LN3, LN9]])


class WithZero(nn.Module):
    """A network of one output z as a classifier of two classes with the logits (0, z)."""

    def __init__(self, single: nn.Module):
        super().__init__()
        self.single = single

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.pad(self.single(x), (1, 0))


def single() -> nn.Sequential:
    """The attributes' network with its first output alone, in double precision."""
    network = toy.original("attributes")
    head, old = nn.Linear(64, 1), classifier_layer(network)
    with torch.no_grad():
        head.weight.copy_(old.weight[:1])
        head.bias.copy_(old.bias[:1])
    network[-1] = head
    return network.double().eval()


def first_bit(samples: Samples, *, flat: bool) -> Samples:
    bits = samples.labels[:, :1]
    return samples.with_labels(bits.flatten() if flat else bits)


def both(count: int = 60) -> tuple[Samples, Samples]:
    """The same samples with their first attribute as an attribute, and as one of two classes."""
    retain = toy.in_float64(toy.request("attributes", "random")).retain[torch.arange(count)]
    return first_bit(retain, flat=False), first_bit(retain, flat=True)


def batch_of(samples: Samples) -> Batch:
    (batch,) = samples.batches(Run(seed=0), len(samples))
    return batch


# -- by hand


def test_the_loss_is_the_mean_over_attributes_of_the_binary_cross_entropies():
    # −ln 3/4, −ln 3/4, −ln 1/2; −ln 3/4, −ln 1/4, −ln 9/10
    each = [(2 * math.log(4 / 3) + LN2) / 3, (math.log(4 / 3) + math.log(4) + math.log(10 / 9)) / 3]
    assert losses.cross_entropy(Z, Y, reduction="none").tolist() == pytest.approx(each)
    assert losses.cross_entropy(Z, Y).item() == pytest.approx(sum(each) / 2)
    assert losses.cross_entropy(Z, Y, reduction="sum").item() == pytest.approx(sum(each))


def test_the_gradient_of_the_loss_is_probability_minus_label_over_samples_and_attributes():
    z = Z.double().requires_grad_(True)
    losses.cross_entropy(z, Y).backward()
    assert z.grad is not None
    wanted = (
        torch.tensor([[-1 / 4, 1 / 4, -1 / 2], [1 / 4, 3 / 4, -1 / 10]], dtype=torch.float64) / 6
    )
    torch.testing.assert_close(z.grad, wanted, atol=1e-7, rtol=0)


def test_the_loss_stays_finite_for_logits_of_any_size_and_is_float32_for_short_ones():
    z = torch.tensor([[200.0, -200.0]])
    assert losses.cross_entropy(z, torch.tensor([[0, 1]])).item() == pytest.approx(200)
    assert losses.cross_entropy(z, torch.tensor([[1, 0]])).item() == 0
    assert losses.cross_entropy(z.bfloat16(), torch.tensor([[0, 1]])).dtype == torch.float32


def test_choices_are_two_class_logits_sample_by_sample():
    rows = losses.choices(Z, "attributes")
    assert rows.tolist() == [[0.0, z] for z in Z.flatten().tolist()]
    assert nn.functional.cross_entropy(rows, Y.flatten()).item() == pytest.approx(
        losses.cross_entropy(Z, Y).item()
    )
    assert losses.choices(Z, "classes") is Z


def test_predictions_are_bits_and_accuracy_is_the_share_of_right_ones():
    data = toy.request("attributes", "random")
    model = toy.original("attributes")
    found = predict.predictions(model, data.forget, Run(seed=0))
    assert found.shape == data.forget.labels.shape and set(found.unique().tolist()) == {0, 1}
    assert torch.equal(found, (toy.logits(model, data.forget) > 0).long())
    right = (found == data.forget.labels).sum().item()
    assert predict.accuracy(model, data.forget, Run(seed=0)) == right / (3 * len(data.forget))
    assert math.isnan(predict.accuracy(model, data.forget[torch.arange(0)], Run(seed=0)))


def test_collected_counts_are_one_table_of_two_by_two_an_attribute():
    data = toy.request("attributes", "random")
    found = collect(toy.original("attributes"), data.forget, 3, Run(seed=0), keep=10)
    predicted = (toy.logits(toy.original("attributes"), data.forget) > 0).long()
    assert (
        found.confusion.shape == (3, 2, 2) and found.total == len(data.forget) and len(found) == 10
    )
    for attribute in range(3):
        for true in (0, 1):
            for said in (0, 1):
                count = (
                    (data.forget.labels[:, attribute] == true) & (predicted[:, attribute] == said)
                ).sum()
                assert found.confusion[attribute, true, said] == count
    nothing = collect(toy.original("attributes"), data.forget[torch.arange(0)], 3, Run(seed=0))
    assert nothing.total == 0
    assert nothing.confusion.shape == (3, 2, 2)
    assert nothing.labels.shape == (0, 3)


def test_the_cap_of_a_rising_loss_is_a_multiple_of_ln_2():
    wrong = Batch(
        torch.full((4, 3), 50.0),
        torch.zeros(4, 3, dtype=torch.int64),
        torch.arange(4),
        torch.zeros(4, dtype=torch.int64),
    )
    ascent = losses.descent_and_ascent(nn.Identity(), wrong, wrong, together=False, cap=2.0)[1]
    assert ascent.item() == pytest.approx(2 * LN2)


def test_other_labels_turn_every_bit_and_random_ones_are_fair_coins():
    data = toy.request("attributes", "random")
    bits = data.retain.labels
    assert torch.equal(labels.draw_labels(data, bits, Run(seed=0), "others"), 1 - bits)
    drawn = labels.draw_labels(data, bits, Run(seed=0), "all")
    assert torch.equal(drawn, labels.draw_labels(data, bits, Run(seed=0), "all"))
    # 1080 coins each: 0.5 within five standard errors, and independent of the true bits
    assert drawn.shape == bits.shape
    assert (drawn.double().mean(0) - 0.5).abs().max() < 5 * 0.5 / math.sqrt(1080)
    assert ((drawn == bits).double().mean(0) - 0.5).abs().max() < 5 * 0.5 / math.sqrt(1080)


def test_the_likeliest_other_combination_is_the_prediction_or_one_bit_away_from_it():
    z = torch.tensor([[2.0, -0.5, 3.0], [2.0, -0.5, 3.0]])
    y = torch.tensor([[1, 0, 1], [0, 0, 1]])
    # the first is right, so its least certain bit turns; the second is wrong already
    assert labels.likeliest_other(z, y).tolist() == [[1, 1, 1], [1, 0, 1]]
    # by listing all eight combinations
    generator = torch.Generator().manual_seed(0)
    z, y = torch.randn(50, 3, generator=generator), torch.randint(2, (50, 3), generator=generator)
    every = torch.cartesian_prod(*[torch.arange(2)] * 3)
    scores = torch.stack(
        [-losses.cross_entropy(z, bits.expand(50, 3), reduction="none") for bits in every], 1
    )
    scores[(every.unsqueeze(0) == y.unsqueeze(1)).all(2)] = -torch.inf
    assert torch.equal(labels.likeliest_other(z, y), every[scores.argmax(1)])


def test_kinds_number_combinations_alike_in_all_sets_and_leave_classes_alone():
    data = toy.request("attributes", "random")
    (first, second), count = labels.kinds(data, data.forget.labels, data.validation.labels)
    assert count == 8 and len(first) == len(data.forget) and len(second) == len(data.validation)
    joined = torch.cat([data.forget.labels, data.validation.labels])
    numbers = torch.cat([first, second])
    same_label = (joined.unsqueeze(0) == joined.unsqueeze(1)).all(2)
    assert torch.equal(same_label, numbers.unsqueeze(0) == numbers.unsqueeze(1))
    classes = toy.request("mlp")
    (kept,), count = labels.kinds(classes, classes.forget.labels)
    assert kept is classes.forget.labels and count == 6


# -- one attribute is two classes


def test_one_attribute_gives_the_losses_and_divergences_of_two_classes():
    attribute, classes = (batch_of(samples) for samples in both())
    one, two = single(), WithZero(single())
    torch.testing.assert_close(cross_entropy(one, attribute), cross_entropy(two, classes))
    z, other = one(attribute.x), one(attribute.x + 0.1)
    torch.testing.assert_close(
        losses.distillation(
            losses.choices(z, "attributes"), losses.choices(other, "attributes"), 2.0
        ),
        losses.distillation(two(classes.x), two(classes.x + 0.1), 2.0),
    )
    unlikely = partial(losses.improbability, offset=0.01, entropy_weight=0.3, sharp=False)
    torch.testing.assert_close(
        unlikely(losses.choices(z, "attributes"), attribute.y.flatten()),
        unlikely(two(classes.x), classes.y),
    )


# -- curvature of several


def test_the_gauss_newton_product_is_the_jacobian_squared_with_p_times_one_minus_p():
    data = toy.in_float64(toy.request("attributes", "random"))
    batch = batch_of(data.retain[torch.arange(8)])
    model = toy.original("attributes").double().eval()
    weights = dict(model.named_parameters())
    q = torch.randn(
        sum(p.numel() for p in weights.values()),
        dtype=torch.float64,
        generator=torch.Generator().manual_seed(0),
    )
    z = model(batch.x)
    rows = [
        curvature.to_vector(torch.autograd.grad(each, list(weights.values()), retain_graph=True))
        for each in z.flatten()
    ]
    jacobian, p = torch.stack(rows), torch.sigmoid(z).flatten().detach()
    torch.testing.assert_close(
        curvature.gauss_newton_product(model, weights, batch, q),
        jacobian.T @ (p * (1 - p) / 3 * (jacobian @ q)),
    )
    plain = curvature.gauss_newton_product(model, weights, batch, q, toy.no_curvature)
    torch.testing.assert_close(plain, jacobian.T @ (jacobian @ q) / 3)
    # the Fisher information of the predictions is the diagonal of the same with a sum over
    # attributes
    fisher = fisher_of_predictions(model, data.retain[torch.arange(8)], Run(seed=0), batch_size=3)
    torch.testing.assert_close(
        curvature.to_vector(fisher.values()), (p * (1 - p)) @ jacobian.square() / 8
    )
