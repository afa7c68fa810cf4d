"""Small comparisons that are launched as the page launches them, and what must be equal of their
results wherever they were computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mucore.runner.grid import Grid, MethodChoice, ScenarioChoice
from mucore.runner.plan import Plan, launch, make_plan
from mucore.runs import RunSpec, make_recipe, make_spec
from mucore.store import Store
from mucore.store.records import Result

RECIPE = make_recipe("quick", {"epochs": 3, "batch_size": 64})


def launched(store: Store, **choices: Any) -> Plan:
    """A comparison with the choices of `small_grid`, in the queue."""
    made = make_plan(small_grid(**choices), store)
    launch(made, store, name="a comparison")
    return made


def small_grid(
    *,
    epochs: int = 2,
    methods: Sequence[str] = ("finetune",),
    seeds: int = 1,
    scenarios: Sequence[Any] = ("one_class",),
    **changes: Any,
) -> Grid:
    """Of an MLP on `digits`."""
    chosen = [ScenarioChoice(id=each) if isinstance(each, str) else each for each in scenarios]
    usual: dict[str, Any] = {"dataset": "digits", "model": "mlp", "preset": "quick"}
    usual |= {"recipe": {"epochs": epochs}, "training_seeds": list(range(seeds))}
    usual |= {"methods": [MethodChoice(id=method) for method in methods], "scenarios": chosen}
    return Grid(**usual | changes)


def digits(method: str = "finetune", scenario: str | None = "one_class", **changes: Any) -> RunSpec:
    """A run of an MLP on `digits`."""
    usual: dict[str, Any] = {"dataset": "digits", "model": "mlp", "recipe": RECIPE}
    usual |= {"method": method, "scenario": scenario}
    return make_spec(**usual | changes)


def essence(result: Result | None) -> dict[str, Any]:
    """All of a result but what it cost: numbers, and the names of its files, which are hashes of
    their contents.
    """
    assert result is not None
    clocks = ("rte", "speedup", "memory", "seconds")
    return {
        "metrics": {
            name: (measured.value, measured.gap, measured.error)
            for name, measured in result.metrics.items()
            if not any(word in name for word in clocks)
        },
        "losses": result.losses,
        "confusion": result.confusion,
        "forget": (result.forget_hash, result.forget_count),
        "outputs": result.outputs,
        "weights": result.weights,
    }
