"""A method of mucore that changes what other runs of the process share is found out, and what can
be put back is.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
import torch

from mucore.engine.data import TensorImages, UnlearningData
from mucore.engine.run import Run
from mucore.engine.untouched import Touched, set_settings, settings, untouched
from mucore.errors import Cancelled
from mucore.runner.execute import execute
from mucore.runner.session import Session
from mucore.spec import make_recipe, make_spec
from mucore.store import open_store
from mucore.testing import toy


@pytest.fixture
def shared() -> tuple[torch.nn.Module, UnlearningData]:
    """An original and its data that a test may spoil."""
    data = toy.request("mlp", natural=True)
    original = toy.original("mlp")
    return original, replace(
        data,
        forget=copy.deepcopy(data.forget),
        retain=copy.deepcopy(data.retain),
        record={"moments": {"0.weight": torch.zeros(3)}, "initial": lambda: original},
    )


@pytest.fixture
def settings_kept() -> Generator[None]:
    before = settings()
    yield
    assert settings() == before


Shared = tuple[torch.nn.Module, UnlearningData]
TENSORS: dict[str, tuple[Callable[[Shared], Any], str]] = {
    "images": (lambda s: s[1].forget.images.take, ""),  # nothing
    "pixels": (
        lambda s: cast(TensorImages, s[1].forget.images).pixels.zero_(),
        "the images of the forget set",
    ),
    "labels": (lambda s: s[1].retain.labels.add_(1), "the labels of the retain set"),
    "ids": (lambda s: s[1].retain.ids[0].fill_(7), "the ids of the retain set"),
    "mean": (lambda s: s[1].retain.images.mean.mul_(2), "the mean pixel of the retain set"),
    "a weight": (
        lambda s: torch.nn.init.zeros_(next(s[0].parameters())),
        "the original's 1.weight",
    ),
    "statistics": (lambda s: s[0].train()(torch.randn(4, 16)), "the original's 2."),
    "a record": (
        lambda s: s[1].record["moments"]["0.weight"].fill_(1),
        "0.weight of the training record moments",
    ),
    "another tensor": (
        lambda s: setattr(s[1].forget.images, "mean", torch.zeros(1, 1, 1)),
        "the mean pixel of the forget set",
    ),
}


@pytest.mark.parametrize("spoil, named", TENSORS.values(), ids=TENSORS)
def test_a_changed_tensor_is_named(shared, spoil, named):
    if not named:
        with untouched("finetune", *shared):
            spoil(shared)
        return
    with (
        torch.random.fork_rng(devices=[]),
        pytest.raises(Touched) as raised,
        untouched("finetune", *shared),
    ):
        spoil(shared)
    assert str(raised.value).startswith(f"finetune changed what other runs share: {named}")


GLOBALS: dict[str, tuple[Callable[[], Any], str]] = {
    "type": (lambda: torch.set_default_dtype(torch.float64), "the default type"),
    "device": (lambda: torch.set_default_device("meta"), "the default device"),
    "gradients": (lambda: torch.set_grad_enabled(False), "gradient mode"),
    "threads": (lambda: torch.set_num_threads(3), "the number of threads"),
    "one product": (
        lambda: setattr(torch.backends.cuda.matmul, "fp32_precision", "tf32"),
        "the precision of matrix products with CUDA",
    ),
    "cudnn": (lambda: setattr(torch.backends.cudnn, "benchmark", True), "cudnn.benchmark"),
    "seed": (lambda: torch.manual_seed(torch.initial_seed() + 1), "PyTorch's global generator"),
    "draw": (lambda: torch.rand(3), "PyTorch's global generator"),
    "numpy": (lambda: np.random.rand(), "NumPy's global generator"),
}


@pytest.mark.parametrize("spoil, named", GLOBALS.values(), ids=GLOBALS)
def test_a_changed_setting_is_named_and_put_back(shared, settings_kept, spoil, named):
    before = torch.get_rng_state(), np.random.get_state(legacy=False)
    with pytest.raises(Touched) as raised, untouched("finetune", *shared):
        spoil()
    assert named in str(raised.value)
    assert torch.equal(torch.get_rng_state(), before[0])
    np.testing.assert_equal(np.random.get_state(legacy=False), before[1])


def test_what_a_method_may_do_is_not_taken_for_a_change(shared, settings_kept):
    original, data = shared
    with untouched("finetune", *shared):
        model = copy.deepcopy(original).train()
        for batch in data.retain.batches(Run(seed=0), 64, shuffle=True, augment=True):
            model(batch.x).sum().backward()
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(3)
            next(model.parameters()).zero_()
        data.forget.with_labels(data.forget.labels + 1).labels.zero_()
        random.random()


def test_a_run_that_ends_otherwise_leaves_settings_as_they_were(shared, settings_kept):
    with pytest.raises(Cancelled), untouched("finetune", *shared):
        torch.set_default_dtype(torch.float64)
        raise Cancelled
    with pytest.raises(Touched), untouched("finetune", *shared):
        shared[1].retain.labels.zero_()
        raise Cancelled


def test_settings_can_be_brought_to_another_process(settings_kept):
    before = settings()
    threads = before["the number of threads"] + 1
    wanted = {**before, "the number of threads": threads, "cudnn.benchmark": True}
    assert sorted(set_settings(wanted)) == ["cudnn.benchmark", "the number of threads"]
    assert torch.get_num_threads() == threads and settings() == wanted
    set_settings(before)


def test_a_run_behind_such_a_method_is_the_run_without_it(tmp_path, monkeypatch):
    def spoils(model, data, run, **_):
        data.forget.images.pixels.zero_()
        data.retain.labels.zero_()
        return model.eval()

    def spec(method: str):
        recipe = make_recipe("quick", {"epochs": 2, "batch_size": 64})
        return make_spec(
            dataset="digits",
            model="mlp",
            recipe=recipe,
            scenario="class_wise",
            method=method,
            mia_samples=20,
        )

    with open_store(tmp_path / "one") as one, open_store(tmp_path / "two") as two:
        alone = execute(spec("finetune"), Session(one, "cpu"))
        session = Session(two, "cpu")
        with monkeypatch.context() as patched:
            patched.setattr("mucore.methods.scrub.scrub", spoils)
            with pytest.raises(Touched, match="scrub changed what other runs share"):
                execute(spec("scrub"), session)
        assert two.get_result(spec("scrub").key) is None
        behind = execute(spec("finetune"), session)
        assert alone.weights == behind.weights and alone.losses == behind.losses
