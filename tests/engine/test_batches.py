"""Batches, mixtures, augmentation and the run around them."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
import torch
import toy
from torch import nn

from mucore.engine.collect import collect
from mucore.engine.data import Mixture, crop_and_flip
from mucore.engine.features import classifier_layer
from mucore.engine.run import Run
from mucore.metrics.representation import linear_cka
from mucore.outputs import Outputs, SplitOutputs, first_shown, with_common_scale


def test_batches_carry_normalised_images_labels_and_ids():
    data, toy_problem = toy.request("conv", "random").retain, toy.problem("conv")
    for batch in data.batches(Run(seed=0), 50, shuffle=True):
        assert torch.equal(batch.y, toy_problem.labels[batch.ids])
        assert torch.allclose(batch.x, (toy_problem.pixels[batch.ids].float() / 255 - 0.5) / 0.2)
        assert batch.part.eq(0).all()


def test_every_sample_comes_once_and_the_order_belongs_to_the_role():
    data, run = toy.request("mlp"), Run(seed=0)
    first = torch.cat([batch.ids for batch in data.retain.batches(run, 64, shuffle=True)])
    second = torch.cat([batch.ids for batch in data.retain.batches(run, 64, shuffle=True)])
    assert torch.equal(first.sort().values, data.retain.ids)
    assert torch.equal(second.sort().values, data.retain.ids)
    assert not torch.equal(first, second)
    other = Run(seed=0)
    list(data.forget.batches(other, 64, shuffle=True))
    assert torch.equal(
        torch.cat([batch.ids for batch in data.retain.batches(other, 64, shuffle=True)]), first
    )


@pytest.mark.parametrize(
    ("count", "batch_size", "kept"), [(65, 64, 64), (1, 64, 1), (3, 1, 3), (64, 64, 64)]
)
def test_skip_single_leaves_out_a_last_batch_of_one_only(count: int, batch_size: int, kept: int):
    data = toy.request("mlp").retain[torch.arange(count)]
    for samples in (
        data,
        Mixture((data[torch.arange(count // 2)], data[torch.arange(count // 2, count)])),
    ):
        run = Run(seed=0)
        assert (
            sum(
                len(batch)
                for batch in samples.batches(run, batch_size, shuffle=True, skip_single=True)
            )
            == kept
        )
        assert run.cost.reads == {"retain/forward": kept}


def test_mixture_says_where_samples_come_from():
    data, run = toy.request("mlp"), Run(seed=0)
    mixture = Mixture((data.forget, data.retain))
    ids, parts = [], []
    for batch in mixture.batches(run, 64, shuffle=True, backward=True):
        assert torch.equal(batch.y, toy.problem("mlp").labels[batch.ids])
        ids.append(batch.ids)
        parts.append(batch.part)
    every = torch.cat(ids)
    assert torch.equal(every.sort().values, torch.arange(1800))
    assert torch.equal(torch.cat(parts) == 0, torch.isin(every, data.forget.ids))
    assert run.cost.reads == {"forget/backward": 300, "retain/backward": 1500}
    assert len(mixture) == 1800 and mixture.steps(64) == 29


def test_crop_and_flip_are_shifts_and_mirrors_of_each_image():
    generator = torch.Generator().manual_seed(0)
    pixels = torch.randint(1, 256, (64, 2, 5, 6), generator=generator).to(torch.uint8)
    result = crop_and_flip(pixels, torch.Generator().manual_seed(1), padding=2)
    padded = nn.functional.pad(pixels, (2, 2, 2, 2))
    found = []
    for image, source in zip(result, padded, strict=True):
        places = [
            (down, right, mirrored)
            for down in range(5)
            for right in range(5)
            for mirrored in (False, True)
            if torch.equal(
                image.flip(2) if mirrored else image, source[:, down : down + 5, right : right + 6]
            )
        ]
        assert len(places) == 1
        found += places
    assert {place[0] for place in found} == set(range(5)) == {place[1] for place in found}
    assert 16 < sum(mirrored for _, _, mirrored in found) < 48
    assert result.dtype == torch.uint8


def test_augmentation_only_where_the_data_allow_it():
    plain, natural = toy.request("conv").retain, toy.request("conv", natural=True).retain
    for data, changes in ((plain, False), (natural, True)):
        (seen,) = data.batches(Run(seed=0), 4000, augment=True)
        (bare,) = data.batches(Run(seed=0), 4000)
        assert torch.equal(seen.x, bare.x) != changes


def test_other_labels_are_neither_the_own_nor_forgotten_ones():
    data = toy.request("mlp")
    allowed = data.other_labels(torch.tensor([0, 3]))
    assert allowed.tolist() == [
        [False, True, True, True, True, True],
        [False, True, True, False, True, True],
    ]


def test_collect_agrees_with_a_plain_pass():
    data, model = toy.request("mlp", "random"), toy.original("mlp")
    found = collect(model, data.forget, 6, Run(seed=0))
    logits = toy.logits(model, data.forget)
    assert torch.equal(torch.tensor(found.logits), logits)
    assert found.confusion.trace() / found.total == pytest.approx(toy.accuracy(model, data.forget))
    assert found.features is not None
    rebuilt = classifier_layer(model)(torch.tensor(found.features).float())
    assert torch.allclose(rebuilt, logits, atol=0.05)  # features are kept in half precision
    part = collect(model, data.forget, 6, Run(seed=0), keep=20, features=5)
    assert len(part) == 20
    assert part.total == len(data.forget)
    assert part.features is not None
    assert len(part.features) == 5
    rows = {int(number): row for row, number in enumerate(found.ids)}
    assert all(
        (part.logits[row] == found.logits[rows[int(number)]]).all()
        for row, number in enumerate(part.ids)
    )
    assert all(
        (part.features[row] == found.features[rows[int(number)]]).all()
        for row, number in enumerate(part.ids[:5])
    )


def test_features_are_of_every_class_where_samples_lie_in_class_order():
    data, model = toy.request("mlp").retain, toy.original("mlp")
    by_class = data[torch.argsort(data.labels, stable=True)]
    whole = collect(model, by_class, 6, Run(seed=0))
    found = collect(model, by_class, 6, Run(seed=0), keep=50, features=12)
    assert len(found) == len(set(found.ids.tolist())) == 50
    assert len(_features(found)) == 12
    assert set(found.labels[:12]) == set(found.labels)
    # all arrays are of the same samples
    at = [whole.ids.tolist().index(each) for each in found.ids.tolist()]
    assert (found.labels == whole.labels[at]).all() and (found.logits == whole.logits[at]).all()
    assert (_features(found) == _features(whole)[at[:12]]).all()
    # the shares of classes are those among the kept: one in four, rounded
    counts = np.bincount(found.labels, minlength=6)
    assert (np.abs(np.bincount(found.labels[:12], minlength=6) - counts * 12 / 50) < 1).all()
    # where the first ones have every class, they it is, and all stay in order
    mixed = collect(model, data, 6, Run(seed=0), keep=None, features=30)
    assert set(mixed.labels[:30]) == set(mixed.labels)
    assert (mixed.ids == data.ids.numpy()).all()
    # more classes than the share has samples: one of each class at least
    assert first_shown(np.repeat([0, 1, 2], [97, 2, 1]), 3).tolist() == [0, 97, 99]
    assert first_shown(np.zeros((5, 3)), 2).tolist() == [0, 1]


def test_features_beyond_half_precision_share_one_power_of_two():
    """Of a retain set that exceeds 65,504 and a forget set that does not."""
    data, model = toy.request("mlp"), toy.original("mlp")
    plain = {"retain": collect(model, data.retain, 6, Run(seed=0))}
    largest = float(np.abs(_features(plain["retain"])).max())
    scale = 2.0 ** np.ceil(np.log2(200_000 / largest))
    classifier_layer(model).register_forward_pre_hook(lambda _, x: (x[0] * scale,))
    wide = collect(model, data.retain, 6, Run(seed=0))
    assert _features(wide).dtype == np.float32 and np.isfinite(_features(wide)).all()
    small = replace(wide, features=(_features(wide) / 1024).astype(np.float16))
    found = with_common_scale(Outputs({"retain": wide, "forget": small, "test": wide}))
    kept = {name: _features(split) for name, split in found.items()}
    assert all(each.dtype == np.float16 for each in kept.values())
    assert 32_752 < np.abs(kept["retain"]).max() <= 65_504
    ratio = np.abs(kept["retain"]).max() / np.abs(kept["forget"]).max()
    assert ratio == pytest.approx(1024, rel=1e-3)
    assert linear_cka(kept["retain"], _features(plain["retain"])) == pytest.approx(1, abs=1e-6)
    # nothing is touched where all fit
    assert with_common_scale(same := Outputs(plain)) is same


def _features(split: SplitOutputs) -> np.ndarray:
    assert split.features is not None
    return split.features


def test_the_clock_leaves_out_pauses():
    run = Run(seed=0)
    with run.clock():
        time.sleep(0.02)
        with run.paused():
            time.sleep(0.2)
        time.sleep(0.02)
    assert 0.04 <= run.cost.seconds < 0.2
    # who sleeps does not work
    assert 0 < run.cost.processor_seconds < run.cost.seconds
    assert run.cost.peak_memory_bytes is not None and run.cost.peak_memory_bytes >= 0


def test_streams_are_named_and_survive_a_restore():
    run = Run(seed=1)
    first = torch.rand(3, generator=run.rng("labels"))
    states = run.rng_states()
    second = torch.rand(3, generator=run.rng("labels"))
    again = Run(seed=1)
    again.restore_rng(states)
    assert torch.equal(torch.rand(3, generator=again.rng("labels")), second)
    assert not torch.equal(torch.rand(3, generator=Run(seed=1).rng("noise")), first)
    assert torch.equal(torch.rand(3, generator=Run(seed=1).rng("labels")), first)


def test_scratch_keeps_the_peak_and_persistent_adds_up():
    run = Run(seed=0)
    for size in (5, 9, 2):
        held = torch.zeros(size, dtype=torch.uint8)
        run.holds(held)
        run.persistent({"record": held})
    run.note("once")
    run.note("once")
    assert (run.cost.scratch_bytes, run.cost.persistent_bytes, run.notes) == (9, 16, ["once"])
