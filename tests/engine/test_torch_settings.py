from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import pytest
import torch

from mucore.engine.torch_settings import set_settings, settings


@pytest.fixture(autouse=True)
def kept() -> Generator[None]:
    before = settings()
    yield
    assert settings() == before


CHANGES: dict[str, Callable[[], Any]] = {
    "the default type": lambda: torch.set_default_dtype(torch.float64),
    "the default device": lambda: torch.set_default_device("meta"),
    "gradient mode": lambda: torch.set_grad_enabled(False),
    "the number of threads": lambda: torch.set_num_threads(3),
    "the precision of matrix products with CUDA": lambda: setattr(
        torch.backends.cuda.matmul, "fp32_precision", "tf32"
    ),
    "cudnn.benchmark": lambda: setattr(torch.backends.cudnn, "benchmark", True),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_setting_is_named_and_put_back(name):
    before = settings()
    CHANGES[name]()
    assert set_settings(before) == [name]


def test_settings_can_be_brought_to_another_process():
    before = settings()
    threads = before["the number of threads"] + 1
    wanted = {**before, "the number of threads": threads, "cudnn.benchmark": True}
    assert sorted(set_settings(wanted)) == ["cudnn.benchmark", "the number of threads"]
    assert torch.get_num_threads() == threads and settings() == wanted
    set_settings(before)
