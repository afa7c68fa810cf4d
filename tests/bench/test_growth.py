"""Exponents are slopes of logarithms, and every size is the size that is meant."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mucore import cli, models
from mucore.bench import growth, page, runs
from mucore.bench.growth import Growth, Point


def test_an_exponent_is_found_with_its_error():
    fitted = growth.exponent([(size, 3e-3 * size**1.5) for size in (10, 20, 40, 80)])
    assert fitted is not None
    assert fitted.slope == pytest.approx(1.5) and fitted.error == pytest.approx(0, abs=1e-7)
    rng = np.random.default_rng(0)
    sizes, noise = np.array([1.0, 2, 5, 10, 20, 50]), rng.normal(0, 0.1, 6)
    fitted = growth.exponent([*zip(sizes, sizes**0.7 * np.exp(noise), strict=True)])
    # numpy's fit with its covariance, scaled by the residuals over n - 2
    slope, covariance = np.polyfit(np.log(sizes), 0.7 * np.log(sizes) + noise, 1, cov=True)
    assert fitted is not None and fitted.slope == pytest.approx(slope[0])
    assert fitted.error == pytest.approx(math.sqrt(covariance[0, 0]))


def test_two_sizes_give_no_exponent():
    assert growth.exponent([(1.0, 1.0), (2.0, 2.0), (2.0, 2.1)]) is None


def test_the_model_is_as_wide_as_asked_and_only_inside():
    def weights() -> int:
        net = models.build("resnet9-small", in_channels=1, classes=10, image_size=8, seed=0)
        return sum(p.numel() for p in net.parameters())

    before = weights()
    with growth.wide(2.0):
        assert 3.9 < weights() / before < 4
    assert weights() == before


def test_a_method_of_whole_classes_is_asked_for_whole_classes():
    shares = [Point("forgotten", 20, share=each) for each in (0.05, 0.1, 0.2, 0.5)]
    specs = [point.spec("gkt", True) for point in shares]
    assert specs[0] is None
    assert [len(spec.scenario_parameters["class_ids"]) for spec in specs if spec] == [1, 2, 5]
    assert {spec.parameters["batches"] for spec in specs if spec} == {4}  # of 4,000
    spec = shares[0].spec("finetune", True)
    assert spec is not None and spec.scenario_parameters["budget"] == 0.05


def test_what_fails_or_lasts_is_left_out_from_there_on():
    one, two = Point("samples", 10), Point("samples", 20)
    found = Growth("scrub")
    found.take(one, {"seconds": 0.5, "samples": 100})
    assert found.wants(one) and found.wants(two)
    found.take(one, {"seconds": 0.6, "samples": 100})
    assert not found.wants(one) and found.wants(two)  # that is enough of this size
    found.take(two, {"stopped": 45.0})
    assert not found.wants(two) and found.wants(Point("copy", 20))
    found.take(Point("copy", 20), {"error": "out of memory"})
    assert set(found.left_out) == {"samples", "copy"}


@pytest.mark.slow
def test_the_command_measures_every_size_of_every_axis(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path))
    command = ["bench", "finetune", "--growth", "--quick", "--device", "cpu"]
    assert cli.main(command) == 0
    out = capsys.readouterr().out
    rows = [line.split(" | ") for line in out.splitlines()[2:]]
    assert [row[0] for row in rows] == ["| retrain", "| finetune"]
    assert all(" ± " in cell for row in rows for cell in row[2:5])
    monkeypatch.setattr(runs, "measure", None)  # everything is in the ledger
    assert cli.main(command) == 0 and capsys.readouterr().out == out


def test_sizes_are_those_of_the_run(tmp_path, monkeypatch):
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path))
    found = [Growth("finetune")]
    sizes = [Point("forgotten", 10, share=0.2), Point("samples", 10), Point("copy", 10, width=0.5)]
    growth.measure_growth(found, sizes, 0, True, "cpu")
    measured = {point: figures[0] for point, figures in found[0].figures.items()}
    assert measured[sizes[0]]["forgotten"] == 20 and measured[sizes[0]]["samples"] == 100
    assert measured[sizes[1]]["forgotten"] == 10
    assert measured[sizes[2]]["copy"] < measured[sizes[1]]["copy"] / 3


def test_the_section_has_a_column_an_axis():
    found = Growth("scrub", "all_classes")
    for count in (1, 2, 4):
        found.take(Point("samples", 10 * count), {"seconds": 0.1 * count**2, "samples": count})
    found.take(Point("forgotten", 100, share=0.1), {"seconds": 0.25, "forgotten": 100})
    failed = Growth("ntk")
    failed.take(Point("copy", 100, width=0.5), {"error": "no memory"})
    text = growth.section([found, failed], page.machine("cpu"))
    assert "| scrub | all_classes |  |  | 2.00 ± 0.00 | 0.25 |" in text
    assert "no memory" in text and "| ntk |  |  |  |  |  |" in text
