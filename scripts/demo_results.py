"""The demo's runs of one setting, for the pages in docs/ that are made from them."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from mucore import catalog
from mucore.spec import make_recipe
from mucore.store import open_pack
from mucore.store.rows import Result

DEMO = Path(__file__).resolve().parents[1] / "data" / "demo"


def runs(*, dataset: str, model: str, preset: str, scenarios: tuple[str, ...]) -> list[Result]:
    """Those of a data set, model and recipe under scenarios with their usual parameters: other
    budgets are other comparisons.
    """
    recipe = make_recipe(preset).model_dump(mode="json")
    return [
        result
        for result in _every(DEMO)
        if (result.spec["dataset"], result.spec["model"]) == (dataset, model)
        and {name: result.spec["recipe"].get(name, default) for name, default in recipe.items()}
        == recipe
        and result.spec["scenario"] in scenarios
        and _usual(result)
    ]


@lru_cache(maxsize=1)
def _every(folder: Path) -> list[Result]:
    with open_pack(folder) as pack:
        return pack.results()


def _usual(result: Result) -> bool:
    chosen = result.spec["scenario_parameters"]
    defaults = {p.name: p.default for p in catalog.scenario(result.spec["scenario"]).parameters}
    return all(
        chosen.get(name) == (list(value) if isinstance(value, tuple) else value)
        for name, value in defaults.items()
    )
