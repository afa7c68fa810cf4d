"""What methods and a stored run give on a device that is not there (pretend.py), beside the CPU: a
process of its own, in which the device is known before the first gradient. Prints one line of JSON
a case: its name, how far the numbers lie apart, and the waits of the host inside steps.
"""

from __future__ import annotations

import copy
import json
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pretend
import torch
import toy
from roster import ROSTER
from torch import Tensor

from mucore import catalog
from mucore.engine import data as engine_data
from mucore.engine import loop
from mucore.engine.data import Samples, UnlearningData
from mucore.engine.run import Run
from mucore.runner.execute import execute
from mucore.runner.session import Session
from mucore.runs import make_recipe, make_spec
from mucore.store import open_store

# each operation takes Python's time here
FORGET, OTHERS = 16, 70  # samples
BRIEF = {"epochs": 2, "retain_samples": 20, "perturbations": 10, "iterations": 2, "attack_steps": 2}


def few(data: UnlearningData) -> UnlearningData:
    parts = {"forget": FORGET, "retain": OTHERS, "validation": FORGET}
    return replace(data, **{n: getattr(data, n)[torch.arange(count)] for n, count in parts.items()})


def there(data: UnlearningData, device: torch.device) -> UnlearningData:
    def put(samples: Samples) -> Samples:
        images: Any = copy.copy(samples.images)
        for name in ("pixels", "mean", "std"):
            setattr(images, name, getattr(images, name).to(device))
        return replace(samples, images=images)

    sets = {name: put(getattr(data, name)) for name in ("forget", "retain", "validation")}
    return replace(data, fresh_model=lambda seed: data.fresh_model(seed).to(device), **sets)


@contextmanager
def counted(waits: Counter[str]) -> Generator[list[int]]:
    """While open, counts the waits of the losses and backward passes of `fit` in the list's only
    item.
    """
    inside, backward = [0], loop._backward

    def watched(*arguments: Any) -> Tensor:
        before = waits.total()
        loss = backward(*arguments)
        inside[0] += waits.total() - before
        return loss

    loop._backward = watched  # ty: ignore[invalid-assignment]
    try:
        yield inside
    finally:
        loop._backward = backward


def of_method(method: str) -> dict[str, Any]:
    """A method on the small convolutional problem, on both devices."""
    data = few(toy.request("conv"))
    brief: dict[str, Any] = {name: BRIEF[name] for name in BRIEF if name in ROSTER[method].short}
    wanted, _ = toy.unlearn(method, data, "conv", **brief)
    with pretend.pretending() as waits, counted(waits) as inside:
        device = pretend.device()
        run = Run(seed=0, device=device)
        start = toy.original("conv").to(device)
        found, _ = toy.unlearn(method, there(data, device), start, run=run, **brief)
        state = {name: value.cpu() for name, value in found.state_dict().items()}
    gaps = [(state[name] - value).abs().max().item() for name, value in wanted.state_dict().items()]
    return {"gap": max(gaps), "waits": inside[0], "steps": run.cost.steps}


def of_run(method: str) -> dict[str, Any]:
    """A run of the digits as it is stored, from training to the last metric, on both devices."""
    recipe = make_recipe("quick", {"epochs": 2, "batch_size": 256})
    spec = make_spec(
        dataset="digits", model="mlp", recipe=recipe, scenario="one_class", method=method
    )
    found = []
    for device in ("cpu", "pretend"):
        with tempfile.TemporaryDirectory() as home, open_store(Path(home)) as store:
            session = Session(store, "cpu")
            if device == "cpu":
                found.append(execute(spec, session).metrics)
                continue
            with pretend.pretending():
                session.device = pretend.device()
                found.append(execute(spec, session).metrics)
    pairs = {name: (one.value, found[1][name]) for name, one in found[0].items()}
    timed = {name for name in pairs if catalog.metric(name).group == "cost"}
    other = {n: m.error for n, (v, m) in pairs.items() if n not in timed and v != m.value}
    return {"metrics": len(pairs), "other": other}


MIXED: dict[str, Callable[[Tensor], Tensor]] = {
    "added": lambda t: t + torch.ones(3),
    "written": lambda t: torch.zeros(()).add_(t.sum()),
    "looked up": lambda t: torch.ones(3)[t.long()],
    "drawn": lambda t: torch.randn(3, generator=torch.Generator(), device=t.device),
    "a number and indices": lambda t: t[torch.arange(2)] * torch.tensor(2.0),
}


def of_device() -> dict[str, Any]:
    """Which of the mixed operations are refused."""
    refused = []
    with pretend.pretending():
        for name, mixed in MIXED.items():
            try:
                mixed(torch.ones(3).to(pretend.device()))
            except RuntimeError:
                refused.append(name)
    return {"refused": refused}


def _sent(values: Tensor, device: torch.device) -> Tensor:
    return values.to(device, non_blocking=True)  # as to a GPU


def main() -> None:
    engine_data.sent = _sent  # ty: ignore[invalid-assignment]
    torch.set_num_threads(1)
    pretend.device()
    for name in sys.argv[1:]:
        try:
            if name in ROSTER:
                said = of_method(name)
            else:
                said = of_run("finetune") if name == "run" else of_device()
        except Exception:
            said = {"error": traceback.format_exc()}
        print(json.dumps({"name": name, **said}), flush=True)


if __name__ == "__main__":
    main()
