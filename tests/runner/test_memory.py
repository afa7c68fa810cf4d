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

from mucore import api, catalog, cli, fitting
from mucore.catalog.networks import network
from mucore.runner.estimate import (
    Memory,
    Work,
    available,
    fit_of,
    machine,
    memory_of,
    remember,
    work_of,
)
from mucore.runner.estimate.memory import WAY_OUT, WHAT, WORKING
from mucore.runner.plan import Grid, MethodChoice, ScenarioChoice, make_plan
from mucore.spec import RunSpec, make_recipe, make_spec
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


def known(method: str = "finetune", **changes: Any) -> Memory:
    found = memory_of(spec(method, **changes))
    assert found is not None
    return found


def passed(method: str, **changes: Any) -> Work:
    found = work_of(spec(method, **changes))
    assert found is not None
    return found


GRID = Grid(
    dataset="digits",
    model="mlp",
    preset="quick",
    scenarios=[ScenarioChoice(id="class_wise")],
    methods=[MethodChoice(id="finetune"), MethodChoice(id="salun")],
)


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


def test_parts_by_hand():
    found, net = (
        known(parameters={"batch_size": 100, "momentum": 0.9}),
        network("resnet18", (3, 32, 32)),
    )
    weights = 4 * (net.parameters + 100 * 513)
    assert found.data == 60_000 * 3 * 32 * 32
    assert found.networks == 2 * (weights + net.buffers)
    assert found.training == weights + net.buffers + 2 * weights  # snapshot, gradient, momentum
    assert found.graph == WORKING * 100 * net.graph
    assert found.method == found.record == 0
    assert known(parameters={"momentum": 0.0}).training == found.training - weights


def test_clusters_of_few_samples_are_smaller_than_their_matrices():
    """450 images a class and 2,048 features: rows for the images, where a matrix of each of the 200
    classes would take 3.4 GB.
    """
    matrices = 200 * 2048**2 * 4
    assert matrices / GB == pytest.approx(3.36, abs=0.01)
    assert (
        450 / 2048
        < known("scar", dataset="tiny-imagenet", model="resnet50").method / matrices
        < 0.3
    )


def test_images_that_are_streamed_take_no_memory():
    assert known(dataset="imagenet", model="vit-b-16").data == 0


def test_adam_keeps_two_copies_and_a_larger_batch_takes_more():
    recipe = make_recipe("standard", {"optimizer": "adam"})
    assert known("retrain", recipe=recipe).training > known("retrain").training
    small, large = (
        known("retrain", recipe=make_recipe("standard", {"batch_size": size})).graph
        for size in (128, 256)
    )
    assert large == 2 * small


def test_nothing_is_said_of_data_that_nobody_has_seen(tmp_path):
    (tmp_path / "mine.npz").write_bytes(b"whatever is in it")
    assert memory_of(spec(dataset=f"npz:{tmp_path / 'mine.npz'}")) is None
    assert fit_of([spec(dataset=f"npz:{tmp_path / 'mine.npz'}")], "cpu", 1.0) is None


def test_a_users_own_images_are_counted_by_the_header_of_their_file(tmp_path):
    images, labels = np.zeros((300, 32, 32, 3), np.uint8), np.arange(300) % 10
    np.savez(
        tmp_path / "mine.npz",
        x_train=images,
        y_train=labels,
        x_test=images[:40],
        y_test=labels[:40],
    )
    mine = f"npz:{tmp_path / 'mine.npz'}"
    found = known(dataset=mine, scenario="one_class")
    assert found.data == 340 * 3 * 32 * 32
    assert found.graph == known(scenario="one_class").graph  # as of any images of that size
    work = passed("finetune", dataset=mine, scenario="class_wise")  # a class of ten goes
    assert work.backward == spec().parameters["epochs"] * 270 * 0.9


def test_every_catalogued_data_set_gets_an_estimate():
    for card in catalog.datasets():
        if not card.takes_path:
            found = memory_of(spec("retrain", dataset=card.id, scenario="all_classes"))
            assert found is not None and (found.data > 0) != card.streamed, card.id


def test_work_in_retrains():
    assert passed("retrain").retrains == 1
    epochs = spec().parameters["epochs"]
    assert passed("finetune").retrains == pytest.approx(epochs / 15)
    assert passed("delete").backward == spec("delete").parameters["epochs"] * 450


@pytest.mark.parametrize("scenario", [card.id for card in catalog.scenarios() if card.id != "ids"])
def test_every_scenario_has_a_size(scenario: str):
    for dataset in ("cifar100", "digits"):
        served = "downstream" not in catalog.scenario(scenario).needs
        if served:
            found = work_of(spec("retrain", scenario=scenario, dataset=dataset))
            assert found is not None and found.backward > 0


def test_every_method_fits_or_says_what_is_too_much():
    for card in catalog.METHODS:
        if card.needs_file:
            continue
        scenario = "class_wise" if catalog.serves(card, "class_wise") else "one_class"
        fit = fit_of([spec(card.id, scenario=scenario)], "cpu", 0.5 * GB)
        assert fit is not None and not fit.fits and fit.too_large == 1
        part = max(WHAT, key=lambda name: getattr(fit.memory, name))
        said = fit.warning()
        assert WHAT[part] in said and WAY_OUT[part] in said and card.id in said
        assert f"{fit.memory.total / GB:.1f} GB" in said and "0.5 GB" in said
        assert replace(fit, available=None).warning() == ""
        assert replace(fit, available=1e15).warning() == ""


def test_the_largest_run_is_told_and_seeds_count_once():
    specs = [spec(training_seed=seed) for seed in range(3)] + [spec("scar"), spec("delete")]
    fit = fit_of(specs, "cuda", 1.0)
    assert fit is not None and fit.run.method == "scar" and fit.too_large == 3
    content = fit.content()
    assert content["needed_bytes"] == round(fit.memory.total) and content["available_bytes"] == 1
    assert sum(content["parts"].values()) < content["needed_bytes"] and not content["fits"]


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
        assert available(store) == ("cuda", 8_000) and available(store, "cpu")[1] == 250
        store.register_worker("cpu", 1)
        assert available(store) == ("cpu", 250)
        store.register_worker("cuda:1", 1)  # of which nobody has written anything
        assert available(store) == ("cuda:1", None)
        (store.home / machine.FILE).write_text("no JSON")
        assert available(store, "cuda")[1] is None


# -- where it is said


def test_a_plan_says_what_is_too_large_as_data_and_in_words(home, capsys, cramped):
    flags = ["--dataset", "digits", "--model", "mlp", "--preset", "quick", "--methods", "finetune"]
    assert cli.main(["plan", *flags, "--scenario", "class_wise"]) in (0, None)
    assert "0.3 GB" in capsys.readouterr().err
    cli.main(["plan", *flags, "--scenario", "class_wise", "--json"])
    found = json.loads(capsys.readouterr().out)["estimate"]["memory"]
    assert not found["fits"] and found["needed_bytes"] > found["available_bytes"] == 300_000_000
    assert found["device"] == "cpu" and found["too_large"] >= 1


def test_a_plan_that_fits_says_nothing(home, capsys):
    flags = ["--dataset", "digits", "--model", "mlp", "--preset", "quick", "--methods", "finetune"]
    cli.main(["plan", *flags, "--scenario", "class_wise", "--json"])
    captured = capsys.readouterr()
    assert json.loads(captured.out)["estimate"]["memory"]["fits"] and captured.err == ""


def test_python_warns(home, cramped):
    with pytest.warns(UserWarning, match="0.3 GB"):
        api.compare(
            dataset="digits",
            model="mlp",
            preset="quick",
            recipe={"epochs": 0},
            methods=["boundary_expanding"],
            parameters={"boundary_expanding": {"epochs": 0}},
            home=home,
        )


def test_a_plan_without_torch(tmp_path):
    code = (
        "import sys\n"
        "from mucore.runner.plan import Grid, make_plan\n"
        "from mucore.store import open_store\n"
        "grid = Grid(dataset='imagenet', model='vit-b-16', scenarios=[{'id': 'class_wise'}], "
        "methods=[{'id': 'scar'}])\n"
        f"with open_store({str(tmp_path)!r}) as store:\n"
        "    print(make_plan(grid, store).fit.memory.total > 4e11, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]


def test_a_thousand_runs_are_looked_at_in_no_time(tmp_path):
    with open_store(tmp_path) as store:
        plan = make_plan(GRID.model_copy(update={"training_seeds": list(range(100))}), store)
        assert plan.fit is not None and plan.fit.too_large == 0


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
        memory, work = memory_of(asked), work_of(asked)
        assert memory is not None and work is not None
        assert 1 * GB < memory.total < 1e3 * GB, card.id
        assert card.id != "retrain" or work.retrains == 1


STEPS = """
import torch
from mucore import models
from mucore.engine.data import Samples, TensorImages
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.run import Run
network = models.channels_last(
    models.build("resnet18", in_channels=3, classes=100, image_size=32, seed=0)
)
index = torch.arange(128)
pixels = torch.randint(256, (128, 3, 32, 32), dtype=torch.uint8)
images = TensorImages(pixels, [0.5] * 3, [0.2] * 3, "cpu")
data = Samples(images, index, index % 100, index, "train")
run = Run(seed=0)
with run.clock():  # which samples memory in use
    fit(network, [Phase(data=data, batch_size=64)], run, epochs=1,
        optimizer=Optimizer(lr=0.01, momentum=0.9))
print(run.cost.peak_memory_bytes)
"""


@pytest.mark.slow
def test_two_steps_in_a_process_of_their_own_take_what_a_plan_says():
    command = [sys.executable, "-c", STEPS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    net = network("resnet18", (3, 32, 32))
    weights = 4 * (net.parameters + 100 * (net.features + 1))
    assert 0.5 < (3 * weights + WORKING * 64 * net.graph) / float(done.stdout) < 2
