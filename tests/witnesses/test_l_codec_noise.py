"""Witness: L-CODEC's noise is the authors' on a training set of any size.

Official code (scrub/scrub_tools.py, `NoisyReturn`), with M = 1/4, L = 1 and m = 1:

    γ = 2 M L² m² / (n² λ³),   σ = γ / ε · √(2 ln(1.25 / δ))

and scrub_scripts/cifar_scrub.sh sets n = 50,000, λ = 0.01, ε = 0.1, δ = 0.01:

    n² λ³ = 2.5e9 · 1e-6 = 2500,   γ = 0.5 / 2500 = 2e-4,   √(2 ln 125) = √9.65663 = 3.10751,   σ =
    2e-3 · 3.10751 = 6.21502e-3.

n and λ occur in n² λ³ alone. To keep 2500 at another n, λ = (2500 / n²)^⅓ = 0.01 · (50,000 / n)^⅔:

    n = 10,000: λ³ = 2500 / 1e8 = 2.5e-5, λ = 0.0292402;   n = 400: λ³ = 2500 / 1.6e5 = 1/64, λ =
    1/4.

With 0.01 left as it is, n² λ³ = 100 at n = 10,000, and the noise is 25 times the authors': σ =
0.155375.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
import toy

from mucore import catalog
from mucore.blocks.subset_newton import noise_deviation, official_damping
from mucore.runs import make_recipe, make_spec

SIGMA = 6.21502e-3


def test_the_damping_by_hand():
    assert official_damping(50_000) == 0.01
    assert official_damping(10_000) == pytest.approx(0.0292402, rel=1e-5)
    assert official_damping(400) == pytest.approx(0.25)


def test_the_noise_stays_that_of_fifty_thousand_samples():
    for n in (50_000, 10_000, 400):
        assert noise_deviation(n, official_damping(n), 0.1, 0.01) == pytest.approx(SIGMA, rel=1e-5)
    assert noise_deviation(10_000, 0.01, 0.1, 0.01) == pytest.approx(25 * SIGMA, rel=1e-5)


def test_the_default_adds_this_noise_and_no_other():
    """The same run with and without noise, on a training set of 1,800: the weights that moved
    differ by a normal draw of deviation σ.
    """
    data = toy.request("mlp")
    n = len(data.forget) + len(data.retain)
    common = toy.settings(
        l2_reg=catalog_default("l2_reg"), group=len(data.forget), val_gap=1.0, cap=10
    )
    noisy, run = toy.unlearn("l_codec", data, "mlp", **common)
    plain, still = toy.unlearn("l_codec", data, "mlp", epsilon=None, **common)
    assert (
        run.diagnostics["damping"]
        == still.diagnostics["damping"]
        == pytest.approx(0.01 * (50_000 / n) ** (2 / 3))
    )
    assert run.diagnostics["noise_deviation"] == pytest.approx(SIGMA, rel=1e-5)
    assert still.diagnostics["noise_deviation"] == 0
    added = torch.cat(
        [
            (a - b).detach().flatten()
            for a, b in zip(noisy.parameters(), plain.parameters(), strict=True)
        ]
    )
    added = added[added != 0]
    assert len(added) > 100  # the weights of ten channels
    error = SIGMA / (2 * len(added)) ** 0.5  # of a deviation estimated from so many draws
    assert abs(added.std() - SIGMA) < 4 * error
    assert abs(added.mean()) < 4 * SIGMA / len(added) ** 0.5


def test_a_damping_of_ones_own_is_taken_as_it_is():
    _, run = toy.unlearn("l_codec", toy.request("mlp", 20), "mlp", l2_reg=0.2)
    assert run.diagnostics["damping"] == 0.2


def test_the_authors_settings_leave_the_damping_to_the_size_of_the_training_set():
    common = toy.settings(
        dataset="fashion-mnist-10k", model="resnet9-small", recipe=make_recipe("standard")
    )
    specs = [
        make_spec(**common, scenario="one_class", method="l_codec", parameters=p)
        for p in ({}, {"l2_reg": 0.01})
    ]
    assert specs[0].parameters["l2_reg"] is None
    assert specs[0].key != specs[1].key  # of results that were made with 25 times the noise


def catalog_default(name: str) -> Any:
    return next(p.default for p in catalog.method("l_codec").parameters if p.name == name)
