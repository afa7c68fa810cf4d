"""How far a line may be off on another processor, by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from boards import QUICK, fill

from mucore.store import open_store
from mucore.suite import description, repeat
from mucore.suite.lines import asked
from mucore.suite.pack import Pack, opened, pack_of, write
from mucore.verdicts import Spread, sample_counts


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bands")
    fill(folder / "home")
    suite = description.load(QUICK)
    runs = asked(suite, "authors", ["scrub", "finetune"])
    with open_store(folder / "home") as store:
        path = write(pack_of(suite, "authors", runs, store), folder / "pack")
    with opened(path) as content:
        yield content


def with_fa(pack: Pack, method: str, values: list[float]) -> Pack:
    """The pack with other forget accuracies of a method under one_class, by seed."""
    results = dict(pack.results)
    for key, result in pack.results.items():
        spec = result.spec
        if (spec["method"], spec["scenario"]) == (method, "one_class"):
            value = values[spec["training_seed"]]
            measured = replace(result.metrics["fa"], value=value)
            results[key] = replace(result, metrics=dict(result.metrics) | {"fa": measured})
    return replace(pack, results=results)


def line(pack: Pack, method: str, seed: int):
    return next(
        result
        for result in pack.results.values()
        if (result.spec["method"], result.spec["scenario"], result.spec["training_seed"])
        == (method, "one_class", seed)
    )


def test_a_method_without_a_spread_has_that_of_retrain(pack):
    retrains = [line(pack, "retrain", seed).metrics["fa"].value for seed in range(5)]
    (half,) = {
        repeat._bands(with_fa(pack, "scrub", [0.5] * 5), line(pack, "scrub", seed))["fa"]
        for seed in range(5)
    }
    assert half == pytest.approx(Spread.of(retrains, samples=1).band)


def test_a_method_that_swings_has_the_band_of_its_other_seeds(pack):
    swings = with_fa(pack, "scrub", [0.9, 0.4, 0.5, 0.6, 0.5])
    # the others of seed 0: s of 0.4, 0.5, 0.6, 0.5 is the root of 0.02/3; t(0.975, 3) = 3.182
    half = 3.182 * math.sqrt(2) * math.sqrt(0.02 / 3)
    assert repeat._bands(swings, line(swings, "scrub", 0))["fa"] == pytest.approx(half, rel=1e-3)
    assert repeat._bands(swings, line(swings, "finetune", 0))["fa"] < half / 10
    # one line that is wrong widens the bands of the others, not its own
    lie = with_fa(pack, "scrub", [0.9, 0.5, 0.5, 0.5, 0.5])
    own, other = (repeat._bands(lie, line(lie, "scrub", seed))["fa"] for seed in (0, 1))
    assert own < 0.05 < other


def test_two_other_seeds_say_nothing(pack):
    swings = with_fa(pack, "scrub", [0.9, 0.1, 0.9, 0.1, 0.9])
    kept = {
        key: result
        for key, result in swings.results.items()
        if result.spec["method"] != "scrub" or result.spec["training_seed"] < 3
    }
    few = replace(swings, results=kept)
    assert repeat._bands(few, line(few, "scrub", 0))["fa"] < 0.05
    assert repeat._bands(swings, line(swings, "scrub", 0))["fa"] > 1


def test_a_retrain_has_no_part_in_its_own_band(pack):
    true = line(pack, "retrain", 2)
    lie = with_fa(pack, "retrain", [0.5, 0.51, 0.0, 0.49, 0.5])
    others = [0.5, 0.51, 0.49, 0.5]
    half = repeat._bands(lie, line(lie, "retrain", 2))["fa"]
    assert half == pytest.approx(Spread.of(others, samples=1).band) and half < 0.05
    (found,) = repeat._differences(lie, line(lie, "retrain", 2), true, {"fa": half})
    assert found.metric == "fa" and found.beyond


def test_of_few_retrains_each_metric_has_its_own_number_of_samples(pack):
    one = {
        key: result
        for key, result in pack.results.items()
        if result.spec["method"] != "retrain" or result.spec["training_seed"] == 0
    }
    few = replace(pack, results=one)
    retrain = line(few, "retrain", 0)
    counts = sample_counts(retrain)
    assert counts["ra"] == retrain.retain_count != counts["fa"] == retrain.forget_count
    for of in (retrain, line(few, "finetune", 1)):  # whose seeds are alike
        bands = repeat._bands(few, of)
        for name in ("ra", "fa"):
            value = retrain.metrics[name].value
            band = Spread.of([value], samples=counts[name])
            assert bands[name] == pytest.approx(band.band)
