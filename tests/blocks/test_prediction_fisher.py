"""The Fisher information of predictions against torch.func, and its columns against their sum."""

from __future__ import annotations

import pytest
import torch
import toy
from torch import Tensor
from torch.func import functional_call, jacrev, vmap

from mucore.blocks import prediction_fisher
from mucore.blocks.prediction_fisher import column_sizes, columns, fisher_of_predictions
from mucore.engine.data import Samples
from mucore.engine.features import classifier_layer
from mucore.engine.run import Run


def logits(n: int = 40, classes: int = 7) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    z = 4 * torch.randn(n, classes, generator=generator, dtype=torch.float64)
    z[1] *= 30
    z[2] = 0
    z[3] = torch.tensor([0.0, 0.0, -800.0, -900.0, -1000.0, 0.0, -800.0])
    return z


def test_columns_are_a_factor_of_the_predictions_covariance():
    z = logits()
    p = torch.softmax(z, 1)
    every = torch.arange(6).expand(len(z), -1)
    found = columns(z, "classes", every)
    covariance = torch.diag_embed(p) - p.unsqueeze(2) * p.unsqueeze(1)
    torch.testing.assert_close(found.transpose(1, 2) @ found, covariance, rtol=1e-9, atol=1e-15)
    torch.testing.assert_close(found.square().sum(2), column_sizes(z, "classes"))
    # in the order of a Cholesky factor: the likeliest class is in the first column alone
    assert (found[:, 1:].gather(2, p.argmax(1)[:, None, None].expand(-1, 5, 1)) == 0).all()


def test_columns_of_attributes_are_one_each():
    z = logits()
    p = torch.sigmoid(z)
    found = columns(z, "attributes", torch.tensor([[2, 0]]).expand(len(z), -1))
    assert (found.count_nonzero(2) <= 1).all()
    torch.testing.assert_close(found[:, 0, 2].square(), (p * (1 - p))[:, 2])
    torch.testing.assert_close(found[:, 1, 0].square(), (p * (1 - p))[:, 0])


@pytest.mark.parametrize("name", ["mlp", "conv"])
def test_it_is_the_information_that_torch_func_finds(name: toy.Name):
    data = toy.in_float64(toy.request(name))
    model = toy.original(name).double().eval()
    samples = data.retain[torch.arange(30)]
    (batch,) = samples.batches(Run(seed=0), 30)
    parameters = {key: p.detach() for key, p in model.named_parameters()}
    others = dict(model.named_buffers())

    def said(parameters: dict[str, Tensor], image: Tensor) -> Tensor:
        return functional_call(model, {**parameters, **others}, (image[None],))[0]

    jacobian = vmap(jacrev(lambda w, x: said(w, x).log_softmax(0)), in_dims=(None, 0))(
        parameters, batch.x
    )
    p = torch.softmax(model(batch.x), 1).detach()
    found = fisher_of_predictions(model, samples, Run(seed=0), batch_size=8)
    for key, slopes in jacobian.items():
        wanted = torch.einsum("nc,nc...->...", p, slopes.square()) / 30
        torch.testing.assert_close(found[key], wanted, rtol=1e-9, atol=1e-20)


def counted(samples: Samples, coverage: float) -> tuple[Tensor, Tensor, Run]:
    """Counts, and the sizes of all columns."""
    model, run = toy.original("mlp").eval(), Run(seed=0)
    counts = prediction_fisher._counts(model, samples, run, 32, coverage)
    assert counts is not None
    ((_, z),) = prediction_fisher._passes(model, samples, Run(seed=0), len(samples))
    return counts, column_sizes(z.detach(), "classes"), run


@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.999])
def test_the_largest_columns_that_hold_the_share_are_counted(coverage: float):
    samples = toy.request("mlp").retain
    counts, sizes, run = counted(samples, coverage)
    ordered = sizes.flatten().sort(descending=True).values
    fewest = int((ordered.cumsum(0) < coverage * ordered.sum()).sum()) + 1
    # bins are 1.1 % wide
    assert fewest <= int(counts.sum()) <= int((sizes >= ordered[fewest - 1] / 1.02).sum())
    largest = sizes.sort(1, descending=True).values
    held = largest[torch.arange(sizes.shape[1]) < counts[:, None]].sum()
    assert held >= coverage * sizes.sum() * (1 - 1e-6)
    assert run.cost.reads == {"retain/forward": len(samples) + int((counts > 0).sum())}


@pytest.mark.parametrize(("coverage", "sure"), [(0.0, 1.0), (0.9, 1e6), (1.0, 1e6)])
def test_where_no_column_counts_the_information_is_zero(coverage: float, sure: float):
    """A share of nothing, or predictions without a doubt; all columns are zero then."""
    samples, model = toy.request("mlp").retain, toy.original("mlp").eval()
    with torch.no_grad():
        for p in classifier_layer(model).parameters():
            p.mul_(sure)
    found = fisher_of_predictions(model, samples, Run(seed=0), batch_size=32, coverage=coverage)
    assert found.keys() == dict(model.named_parameters()).keys()
    assert not any(values.any() for values in found.values())


def test_predictions_that_are_not_finite_give_no_information():
    model = toy.original("mlp")
    next(iter(model.parameters())).data[0, 0] = torch.nan
    for coverage in (0.99, 1.0):
        found = fisher_of_predictions(
            model, toy.request("mlp").retain, Run(seed=0), batch_size=64, coverage=coverage
        )
        assert all(values.isnan().any() for values in found.values())
