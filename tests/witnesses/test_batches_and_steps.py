"""Witnesses: how many batches GKT makes up, how many retain batches a forget batch of DUCK meets,
how often PGU looks whether to stop.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
import toy

from mucore import catalog
from mucore.blocks import stopping
from mucore.methods import pgu
from mucore.runs import make_recipe, make_spec, method_parameters

PRESETS = [preset.id for preset in catalog.presets()]


# -- GKT. The official notebook: n_generator_iter = 1, n_student_iter = 10, batch_size = 256,
# total_n_pseudo_batches = 4000.


@pytest.mark.parametrize("preset", PRESETS)
def test_gkt_takes_the_authors_batches_whatever_the_recipe(preset: str):
    """They run over no data, so the rule for epochs over the retain set is not theirs: 15 epochs of
    200 do not make them 300.
    """
    given = method_parameters(catalog.method("gkt"), make_recipe(preset), {})
    assert [
        given[name] for name in ("batches", "generator_steps", "student_steps", "batch_size")
    ] == [4000, 1, 10, 256]


def test_gkt_makes_up_exactly_as_many_batches(monkeypatch: pytest.MonkeyPatch):
    """7 batches in looks of 3 are epochs of 3, 3 and 1, and each batch serves 1 step of the
    generator and 10 of the student: 77 steps.
    """
    calls = toy.watch_fit(monkeypatch, "gkt")
    toy.unlearn("gkt", "conv", batches=7, check_every=3, student_steps=10)
    (call,) = calls
    (phase,) = call["phases"]
    assert call["epochs"] == 3
    assert [phase.at(epoch).steps(64) for epoch in range(3)] == [33, 33, 11]


# -- DUCK. opts.py: batch_fgt_ret_ratio = 40.


def test_duck_meets_as_many_retain_batches_as_the_ratio_says():
    """A forget batch, the retain set in 1,500 / 30 = 50 batches: 40 steps.

    The official loop, `for n, batch in enumerate(retain): ...; if n > ratio: break; step`, steps
    for n = 0..40, which is 41.
    """
    data = toy.request("mlp")
    few = replace(data, forget=data.forget[torch.arange(30)])
    ratio = next(p.default for p in catalog.method("duck").parameters if p.name == "retain_batches")
    assert (len(data.retain), ratio) == (1500, 40)
    _, run = toy.unlearn("duck", few, "mlp", epochs=1, class_batch_size=30, retain_batches=ratio)
    assert run.cost.steps == 40


# -- PGU. unlearn_class.py: batches of 100, at most 100 epochs, ends when the accuracy on the retain
# set has fallen by more than 5 points.


def test_pgu_looks_every_fifth_epoch():
    """20 epochs, looks before the first and after 5, 10, 15 and 20: 5 looks at 200 of 240 samples
    in validation and at 128 of 300 to forget, of which more than 1 % are right.

    No rule speaks, so all 20 epochs of 300 samples are taken. The first 3 · 300 reads are for the
    moments of the forget set: layers of 64, 64 and 16 inputs, one after the other.
    """
    data = toy.request("mlp")
    _, run = toy.unlearn("pgu", data, "mlp", epochs=20, lr=1e-6, lr_end=1e-6, class_stop="target")
    assert run.stop_reason is None
    assert run.cost.reads == {
        "forget/forward": 3 * 300 + 5 * 128,
        "forget/backward": 20 * 300,
        "validation/forward": 5 * 200,
    }


def test_pgu_looks_at_a_part_of_large_sets(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stopping, "LOOK_AT", 70)
    _, run = toy.unlearn("pgu", "mlp", epochs=5, lr=1e-6, lr_end=1e-6, class_stop="target")
    assert run.cost.reads == {
        "forget/forward": 3 * 300 + 2 * 70,
        "forget/backward": 5 * 300,
        "validation/forward": 2 * 70,
    }


def test_pgu_takes_the_official_batches_for_classes():
    common: dict[str, Any] = {
        "dataset": "fashion-mnist-10k",
        "model": "resnet9-small",
        "recipe": make_recipe("standard"),
        "method": "pgu",
    }
    classes, samples = (
        make_spec(**common, scenario=scenario).parameters
        for scenario in ("class_wise", "one_class")
    )
    assert [classes[name] for name in ("batch_size", "epochs", "class_stop")] == [
        100,
        100,
        "target",
    ]
    assert [samples[name] for name in ("batch_size", "epochs", "class_stop")] == [
        128,
        100,
        "validation",
    ]
    assert (pgu.DROP, stopping.GONE, stopping.LOOK_EVERY, stopping.LOOK_AT) == (0.05, 0.01, 5, 500)
