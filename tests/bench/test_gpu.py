"""The parts of the GPU's benchmark, as far as they run on a CPU."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from tempfile import TemporaryFile

import numpy as np
import pytest
import torch
from torch import nn

from mucore import cli, datasets, training
from mucore.bench import gpu
from mucore.bench.gpu import QUICK, Budget, Found
from mucore.bench.page import Line
from mucore.errors import MucoreError
from mucore.runner.session import Session
from mucore.store import open_store


@pytest.fixture
def session(tmp_path) -> Generator[Session]:
    with open_store(tmp_path / "home") as store:
        yield Session(store, "cpu")


@pytest.fixture
def dataset(tmp_path) -> str:
    return f"npz:{gpu.drawn(tmp_path / 'drawn.npz', 40, 8)}"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_part_runs_at_a_small_size(capsys, monkeypatch):
    methods = gpu.METHODS[:2]
    monkeypatch.setattr(gpu, "QUICK", replace(QUICK, workers=(2,), methods=methods))
    assert gpu.benchmark_gpu(quick=True, device="cpu", seconds=3000)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        "Bare loop, fp32, usual layout",
        "Bare loop, fp32, channels_last",
        "Bare loop, bf16, usual layout",
        "Bare loop, bf16, channels_last",
        "An epoch, fp32, channels_last",
        "An epoch with crops and flips, fp32, channels_last",
        "An epoch, bf16, channels_last",
        "An epoch with crops and flips, bf16, channels_last",
        "Running out of memory",
        lines[9].partition(":")[0],  # names the fastest precision and layout
        "Retrain without one class of ten, 1 epochs",
        "2 runs at once",
        *(f"{name} against Retrain" for name in methods),
    ]
    assert lines[9].startswith("Original, 1 epochs on 200 images, ")
    # a CPU's memory is not made smaller; all else has figures
    assert [line for line in lines if "skipped" in line or "failed" in line] == [lines[8]]


def test_without_a_gpu_it_says_so(capsys, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert cli.main(["bench", "--gpu"]) == 2
    captured = capsys.readouterr()
    assert "--quick --device cpu" in captured.err and captured.out == ""


def test_parts_that_do_not_fit_are_skipped_and_one_that_fails_costs_no_other():
    budget = Budget(100.0)

    def fails() -> list[Line]:
        raise RuntimeError("no kernel\nfor this device")

    budget.part("first", 50, lambda: [Line("one", "1"), Line("two", "2")])
    budget.part("second", 50, fails)
    budget.part("third", 500, fails)
    budget.part("fourth", 50, lambda: [Line("three", "3")])
    assert [line.what for line in budget.lines] == ["one", "two", "second", "third", "three"]
    assert budget.lines[2].value == "failed: no kernel for this device"
    assert budget.lines[2].met is False
    assert budget.lines[3].value.startswith("skipped: it takes 500 s")


def test_the_images_are_a_users_data_set_and_the_same_each_time(tmp_path):
    first, second = (gpu.drawn(tmp_path / f"{name}.npz", 40, 8) for name in "ab")
    splits = [datasets.load(f"npz:{path}") for path in (first, second)]
    assert splits[0].shape == (3, 8, 8) and splits[0].classes == 10
    assert len(splits[0].train.ids) == 40 and len(splits[0].test.ids) == 4
    assert torch.equal(splits[0].train.pixels, splits[1].train.pixels)
    counts = np.bincount(splits[0].train.labels.numpy())
    assert counts.tolist() == [4] * 10


def test_variants_differ_in_precision_and_layout(session, dataset):
    weights = {}
    for variant in gpu.VARIANTS:
        spec = QUICK.setting(dataset, variant).spec("retrain")
        assert session.run(spec, 0).precision == variant[0]
        net = training.fresh_model(spec, session.splits(spec), 0)
        weights[variant] = next(p for p in net.parameters() if p.dim() == 4)
    for (precision, revision), weight in weights.items():
        inner = weight.is_contiguous(memory_format=torch.channels_last)
        assert inner == (revision == 2) and torch.equal(weight, weights[precision, 1])


def test_a_share_is_of_the_bare_loop_of_the_same_variant(session, dataset, monkeypatch):
    found = Found({("fp32", 2): 1e-3, ("bf16", 2): 1e12})
    lines = gpu.epochs(QUICK, dataset, session, found)
    assert [line.met for line in lines] == [True, True, False, False]
    assert found.fastest == ("bf16", 2)
    assert set(found.trained) == {("fp32", 2), ("bf16", 2)}  # what an epoch really reached


def test_a_method_is_compared_with_the_measured_retrain(session, dataset, monkeypatch):
    where = QUICK.setting(dataset, ("fp32", 2))
    assert gpu.against("finetune", where, session, None, 100.0).value.startswith("skipped")
    assert gpu.against("finetune", where, session, 1.0, -1.0).value.startswith("skipped")
    real = gpu.measure
    monkeypatch.setattr(gpu, "measure", lambda *a, **k: real(*a, **k) | {"seconds": 3.0})
    assert gpu.against("finetune", where, session, 12.0, 100.0).value.startswith("0.250 (3.00 s")


class Hungry(nn.Module):
    """A network that takes a GiB a sample, of which there are `there`."""

    there = 0.0

    def __init__(self, inner: nn.Module):
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if len(x) > Hungry.there:
            raise torch.OutOfMemoryError(f"Tried to allocate {len(x)} GiB.")
        return self.inner(x)


@pytest.fixture
def limited(monkeypatch):
    """A device whose memory can be made too small: GiB are samples of a batch."""
    fresh = training.fresh_model
    monkeypatch.setattr(training, "fresh_model", lambda *given: Hungry(fresh(*given)))
    monkeypatch.setattr(Hungry, "there", float("inf"))
    monkeypatch.setattr(gpu, "limitable", lambda device: True)

    def reserved(device, call) -> int:
        sizes: list[int] = []
        watched = Hungry.forward

        def forward(self, x):
            sizes.append(len(x))
            return watched(self, x)

        monkeypatch.setattr(Hungry, "forward", forward)
        call()
        monkeypatch.setattr(Hungry, "forward", watched)
        return max(sizes) * 2**30

    @contextmanager
    def only(size: float, device) -> Generator[None]:
        monkeypatch.setattr(Hungry, "there", size / 2**30)
        yield
        monkeypatch.setattr(Hungry, "there", float("inf"))

    monkeypatch.setattr(gpu, "reserved", reserved)
    monkeypatch.setattr(gpu, "only", only)


def test_a_batch_too_large_is_halved_and_then_refused_with_figures(session, dataset, limited):
    spec = QUICK.setting(dataset, ("fp32", 2)).spec("retrain")
    halved, refused = gpu.out_of_memory(spec, session, 40)
    assert halved.met and "which takes 40.00 GiB, in 30.00 GiB" in halved.what
    assert refused.met and "10.00 GiB" in refused.what and "20 GiB" in refused.value


def test_a_run_that_fails_beside_others_says_why(session, dataset):
    spec = QUICK.setting(dataset, ("fp32", 2)).spec("retrain").original()
    job = session.store.enqueue([spec])[0]
    worker = session.store.register_worker("cpu", 1).id
    claimed = session.store.claim(worker)
    assert claimed is not None and claimed.id == job.id
    session.store.finish_job(job.id, "failed", error="the disk is full", worker_id=worker)
    with pytest.raises(MucoreError, match="the disk is full"):
        gpu._until(lambda: False, float("inf"), [], io.BytesIO(), session.store)
    assert not gpu._until(lambda: False, 0.0, [], io.BytesIO(), None)


def test_a_worker_that_ends_early_says_its_last_words():
    with TemporaryFile() as words:
        code = "raise SystemExit('some lines\\nno driver')"
        worker = subprocess.Popen([sys.executable, "-c", code], stderr=words)
        with pytest.raises(MucoreError, match="no driver$"):
            gpu._until(lambda: False, float("inf"), [worker], words, None)
