"""What a comparison is about where a person leaves it open: the data set, model and scenarios that
a paper's preset names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mucore import catalog


@dataclass(frozen=True)
class Setting:
    """A data set, a model, and the parameters of each scenario by its id; "" and nothing where
    neither a person nor a preset says.
    """

    dataset: str = ""
    model: str = ""
    scenarios: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def choices(self) -> list[dict[str, Any]]:
        """The scenarios as a grid has them."""
        return [{"id": name, "parameters": dict(values)} for name, values in self.scenarios.items()]


# what works at once on any machine
FIRST = Setting("fashion-mnist-10k", "resnet9-small", {"class_wise": {}})


def fill(
    preset: str,
    *,
    dataset: str = "",
    model: str = "",
    scenarios: Iterable[str] = (),
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    otherwise: Setting = Setting(),
) -> Setting:
    """What a person named, and for the rest what the preset does, else what `otherwise` does.

    `parameters` are what a person set, by scenario. Parameters of a scenario that they leave open
    are the preset's for that scenario, also where a person named the scenario. Every door (page,
    address, command line, Python) asks here. Raises `UnknownName`.
    """
    card = catalog.preset(preset)
    names = [catalog.scenario(name).id for name in scenarios] or [
        *(card.scenarios or otherwise.scenarios)
    ]
    given = {catalog.scenario(name).id: values for name, values in (parameters or {}).items()}
    return Setting(
        dataset or card.dataset or otherwise.dataset,
        model or card.model or otherwise.model,
        {name: {**card.scenarios.get(name, {}), **given.get(name, {})} for name in names},
    )
