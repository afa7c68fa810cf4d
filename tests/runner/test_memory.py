"""How much memory a plan says that runs take, and what is said where there is less."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from mucore import catalog, cli, fitting
from mucore.catalog.networks import network
from mucore.runner.estimate import available, fit_of, machine, remember
from mucore.runner.estimate.memory import PROCESS, WORKING, memory_of
from mucore.runs import RunSpec, make_recipe, make_spec
from mucore.store import open_store

GB = 1e9


def spec(method: str = "finetune", **changes: Any) -> RunSpec:
    content: dict[str, Any] = {
        "dataset": "cifar100",
        "model": "resnet18",
        "recipe": make_recipe("standard"),
        "scenario": "class_wise",
        "method": method,
    }
    return make_spec(**content | changes)


def known(method: str = "finetune", **changes: Any) -> float:
    found = memory_of(spec(method, **changes))
    assert found is not None
    return found


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def cramped(monkeypatch):
    """A machine of which others have left 300 MB."""
    free = psutil.virtual_memory()._replace(available=300_000_000)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: free)
    monkeypatch.setattr(fitting, "CGROUP", Path("/nowhere"))


def test_a_sum_by_hand():
    net = network("resnet18", (3, 32, 32))
    weights = 4 * (net.parameters + 100 * 513)
    networks = 3 * (weights + net.buffers)  # original, unlearned, and its snapshot
    rest = PROCESS + 60_000 * 3 * 32 * 32 + WORKING * 100 * net.graph
    found = known(parameters={"batch_size": 100, "momentum": 0.9})
    assert found == rest + networks + 2 * weights  # gradient, momentum
    assert known(parameters={"batch_size": 100, "momentum": 0.0}) == found - weights


def test_a_users_own_images_are_counted_by_the_header_of_their_file(tmp_path):
    images, labels = np.ones((300, 32, 32, 3), np.uint8), np.arange(300) % 10
    images[0] = 0
    np.savez(
        tmp_path / "mine.npz",
        x_train=images,
        y_train=labels,
        x_test=images[:40],
        y_test=labels[:40],
    )
    found = known(dataset=f"npz:{tmp_path / 'mine.npz'}", scenario="one_class")
    other = known(dataset="cifar10", scenario="one_class")
    assert other - found == (60_000 - 340) * 3 * 32 * 32
    (tmp_path / "other.npz").write_bytes(b"whatever is in it")
    assert memory_of(spec(dataset=f"npz:{tmp_path / 'other.npz'}")) is None


def test_the_largest_run_is_told():
    specs = [spec(training_seed=seed) for seed in range(3)] + [spec("scar"), spec("gkt")]
    fit = fit_of(specs, "cuda", 1.0)
    assert fit is not None and fit.run.method == "scar"
    content = fit.content()
    assert content["needed_bytes"] == round(known("scar")) and content["available_bytes"] == 1
    assert not content["fits"] and f"{known('scar') / GB:.1f} GB" in fit.warning()
    assert not replace(fit, available=1e15).warning()


def test_every_data_set_of_the_catalogue_has_a_figure():
    cards = [card for card in catalog.datasets() if not card.takes_path]
    found = {
        card.id: memory_of(spec("retrain", dataset=card.id, scenario="all_classes"))
        for card in cards
    }
    assert not [name for name, needed in found.items() if needed is None]


# -- what there is


def test_what_there_is_on_a_cpu_in_a_container_and_on_a_gpu(tmp_path, monkeypatch, cramped):
    with open_store(tmp_path) as store:
        assert available(store) == ("cpu", 300_000_000)
        monkeypatch.setattr(fitting, "CGROUP", tmp_path)
        (tmp_path / "memory.max").write_text("max")
        assert available(store)[1] == 300_000_000
        (tmp_path / "memory.max").write_text("1000")
        (tmp_path / "memory.current").write_text("900")
        (tmp_path / "memory.stat").write_text("anon 1\ninactive_file 150\n")
        assert available(store)[1] == 250
        remember(store.home, "cuda", 8_000)
        assert available(store) == ("cuda", 8_000)
        store.register_worker("cpu", 1)
        assert available(store) == ("cpu", 250)
        store.register_worker("cuda:1", 1)  # of which nobody has written anything
        assert available(store) == ("cuda:1", None)
        (store.home / machine.FILE).write_text("no JSON")


# -- where it is said


def test_a_plan_says_what_is_too_large_as_data_and_in_words(home, capsys, cramped):
    flags = ["--dataset", "digits", "--model", "mlp", "--preset", "quick", "--methods", "finetune"]
    assert cli.main(["plan", *flags, "--scenario", "class_wise"]) in (0, None)
    assert "0.3 GB" in capsys.readouterr().err
    cli.main(["plan", *flags, "--scenario", "class_wise", "--json"])
    found = json.loads(capsys.readouterr().out)["estimate"]["memory"]
    assert not found["fits"] and found["needed_bytes"] > found["available_bytes"] == 300_000_000
    assert found["device"] == "cpu"


# -- large models


@pytest.mark.parametrize(
    ("dataset", "model"),
    [("cifar100", "resnet18"), ("tiny-imagenet", "resnet50"), ("imagenet", "vit-b-16")],
)
def test_every_method_has_figures_on_large_models(dataset: str, model: str):
    for card in (each for each in catalog.METHODS if not each.needs_file):
        scenario = "class_wise" if catalog.serves(card, "class_wise") else "one_class"
        asked = make_spec(
            dataset=dataset,
            model=model,
            recipe=make_recipe("standard"),
            scenario=scenario,
            method=card.id,
        )
        memory = memory_of(asked)
        assert memory is not None and 1 * GB < memory < 1e3 * GB, card.id


STEPS = """
import torch
from mucore import models
from mucore.engine.data import Samples, TensorImages
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.run import Run
network = models.channels_last(
    models.build("resnet18", in_channels=3, classes=100, image_size=32, seed=0)
)
index = torch.arange(32)
pixels = torch.randint(256, (32, 3, 32, 32), dtype=torch.uint8)
images = TensorImages(pixels, [0.5] * 3, [0.2] * 3, "cpu")
data = Samples(images, index, index % 100, index, "train")
run = Run(seed=0)
with run.clock():  # which samples memory in use
    fit(network, [Phase(data=data, batch_size=16)], run, epochs=1,
        optimizer=Optimizer(lr=0.01, momentum=0.9))
print(run.cost.peak_memory_bytes)
"""


@pytest.mark.slow
def test_two_steps_in_a_process_of_their_own_take_what_a_plan_says():
    command = [sys.executable, "-c", STEPS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    net = network("resnet18", (3, 32, 32))
    weights = 4 * (net.parameters + 100 * (net.features + 1))
    assert 0.5 < (3 * weights + WORKING * 16 * net.graph) / float(done.stdout) < 2
