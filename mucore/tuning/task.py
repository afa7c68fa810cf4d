"""A task: one scenario on one data set, model and recipe. Settings are searched for a task and hold
for that one alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mucore import catalog
from mucore.errors import Refused
from mucore.runner.grid import Grid, expand
from mucore.runs import RunSpec, make_recipe, make_spec, refuse_task
from mucore.userfiles import datasets

# what all runs of a task have in common, as `make_spec` takes it
SAME: Final = (
    *("dataset", "data_hash", "model", "original_hash", "pretrained_hash", "recipe"),
    *("scenario", "scenario_parameters", "evaluation_seed", "mia_samples"),
)


@dataclass(frozen=True)
class Task:
    """`base` is Retrain of the task, of any seed; `preset` is the recipe that it was made from."""

    base: RunSpec
    preset: str

    def spec(
        self, method: str, values: Mapping[str, Any] | None = None, *, seed: int = 0
    ) -> RunSpec:
        """The run of a method with the authors' settings and `values` on top. The forget set and
        what attacks draw belong to the task; `seed` is of training and unlearning.

        Raises `Refused`, `BadValue`, `UnknownName`.
        """
        same: dict[str, Any] = {name: getattr(self.base, name) for name in SAME}
        own = {"method": method, "parameters": values or {}, "paper": self.preset}
        return make_spec(**same, **own, training_seed=seed, unlearning_seed=seed)

    @property
    def scenario(self) -> str:
        assert self.base.scenario is not None
        return self.base.scenario

    def content(self) -> dict[str, Any]:
        """What the task is, as JSON has it; a user's data by their content, not by their place."""
        base = self.base
        return {
            "dataset": base.dataset.partition(":")[0],
            "data_hash": base.data_hash if catalog.dataset(base.dataset).takes_path else "",
            "model": base.model,
            "preset": self.preset,
            "recipe": base.recipe.model_dump(mode="json"),
            "scenario": self.scenario,
            "scenario_parameters": json.loads(json.dumps(base.scenario_parameters)),
            "original_hash": base.original_hash,
            "pretrained_hash": base.pretrained_hash,
        }

    @property
    def name(self) -> str:
        """The name of its folder: data set, model, recipe, scenario, and a hash where any of them
        is not as its card has it.
        """
        content = self.content()
        words = [content[part] for part in ("dataset", "model", "preset", "scenario")]
        usual = {
            "data_hash": "",
            "recipe": make_recipe(self.preset).model_dump(mode="json"),
            "scenario_parameters": self._usual(),
            "original_hash": "",
            "pretrained_hash": "",
        }
        if content != content | usual:
            text = json.dumps(content, sort_keys=True, separators=(",", ":"))
            words.append(hashlib.sha256(text.encode()).hexdigest()[:8])
        return "-".join(words)

    @property
    def changed(self) -> dict[str, Any]:
        """The scenario's parameters that are not as its card has them, as JSON has them."""
        usual, values = self._usual(), self.content()["scenario_parameters"]
        return {name: value for name, value in values.items() if usual.get(name, ...) != value}

    def _usual(self) -> dict[str, Any]:
        """The scenario's parameters as its card has them."""
        defaults = {p.name: p.default for p in catalog.scenario(self.scenario).parameters}
        return json.loads(json.dumps(defaults))

    @property
    def title(self) -> str:
        content = self.content()
        where = [content[part] for part in ("dataset", "model", "preset")]
        return f"{self.scenario} on {', '.join(where)}"


def tasks_of(grid: Grid) -> list[Task]:
    """The tasks of a grid, one for each scenario and its parameters: two budgets are two tasks.
    Raises as `expand`.

    How the attacks of a comparison are drawn does not count: trials of one task must compare,
    whoever adds some.
    """
    usual = {name: Grid.model_fields[name].default for name in ("evaluation_seeds", "mia_samples")}
    specs, _ = expand(grid.model_copy(update={"methods": [], "sequence": False, **usual}))
    found = {
        (spec.scenario, json.dumps(spec.scenario_parameters, sort_keys=True)): spec
        for spec in specs
        if spec.method == "retrain" and spec.scenario is not None
    }
    return [Task(spec, grid.preset) for spec in found.values()]


def methods_of(grid: Grid, task: Task) -> tuple[list[str], dict[str, str]]:
    """The methods of a grid that can be searched under a task, and of the others why not."""
    chosen, left_out = [], {}
    for name in dict.fromkeys(choice.id for choice in grid.methods):
        card = catalog.method(name)
        if card.family in ("reference", "exact"):
            left_out[card.id] = (
                f"{card.id} is exact, so there is nothing for a search to bring nearer to Retrain."
            )
        elif not card.search:
            left_out[card.id] = f"The card of {card.id} names no parameter to search."
        else:
            try:
                refuse_task(card, datasets.task_of(task.base.dataset))
                task.spec(card.id)
                chosen.append(card.id)
            except Refused as error:
                left_out[card.id] = str(error)
    return chosen, left_out
