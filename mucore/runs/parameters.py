"""The parameters that a method runs with: those of a preset, scaled to the recipe, with changes on
top.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from mucore import catalog
from mucore.catalog import tuning
from mucore.catalog.cards import MethodCard, Parameter
from mucore.catalog.tuning import TuningTask
from mucore.errors import BadValue
from mucore.runs.recipe import REVISION, Recipe, make_recipe
from mucore.runs.values import resolve

MethodPreset = Literal["authors", "tuned"]
PresetLabel = Literal["authors", "tuned", "tuned_elsewhere"]


def method_parameters(
    card: MethodCard,
    recipe: Recipe,
    given: Mapping[str, Any],
    *,
    preset: MethodPreset = "authors",
    scenario: str | None = None,
    paper: str | None = None,
    task: TuningTask | None = None,
) -> dict[str, Any]:
    """The effective parameters: the preset's values, scaled to the recipe where the card says so,
    then `given` on top.

    The authors' values are those for `scenario` where the card has some of its own for it; under
    the preset of a paper that sets others for the method (`PresetCard.methods`), they are that
    paper's: `paper` is that preset, see `stated`. Tuned values are those of `task`, or of the
    nearest one (`catalog.tuning.nearest`; without a task by the scenario alone), on top of the
    authors'. They and values in `given` are taken as they are; only the authors' epochs are scaled.
    References and exact methods are not tuned: there is nothing that they should come nearer to, so
    both presets are the same.
    """
    if preset not in ("authors", "tuned"):
        raise BadValue(f"A method preset is authors or tuned, but got {preset!r}.")
    base = {p.name: scaled_epochs(p, card, recipe) for p in card.parameters} | dict(
        card.scenario_values.get(scenario or "", {})
    )
    base |= stated(card, recipe, scenario, paper)
    if preset == "tuned" and card.family not in ("reference", "exact"):
        wanted = task or TuningTask(scenario=scenario or "")
        found = tuning.nearest(card.id, wanted)
        if found is None:
            raise BadValue(
                f"{card.id} has no tuned preset yet. Search one with `mucore tune`, use the "
                "authors' preset, or set values yourself."
            )
        base |= found.values
    return resolve(card.parameters, {**base, **given}, owner=f"method {card.id}")


def preset_label(
    card: MethodCard, preset: MethodPreset, task: TuningTask | None, *, changed: bool = False
) -> PresetLabel:
    """Whose settings a run has; tuned ones of another task than `task` are "tuned_elsewhere", and
    so are those of a run that is `changed` by noise or confined to some layers: searches are not.
    """
    if preset == "authors" or task is None or card.family in ("reference", "exact"):
        return preset
    found = tuning.nearest(card.id, task)
    return "tuned" if not changed and (found is None or found.of(task)) else "tuned_elsewhere"


def stated(
    card: MethodCard, recipe: Recipe, scenario: str | None = None, paper: str | None = None
) -> dict[str, Any]:
    """What a paper's preset sets for the method, epochs scaled as the authors' are where the recipe
    is shorter than the paper's.

    `paper` names the preset, whatever a person changed of its recipe; without it, it is the one
    whose recipe this is, if any.
    """
    if paper is None:
        now = recipe.model_copy(update={"revision": REVISION})
        paper = next((name for theirs, name in _papers() if theirs == now), None)
    if paper is None:
        return {}
    preset = catalog.preset(paper)
    values = {**preset.methods.get(card.id, {}), **preset.methods.get(f"{card.id}/{scenario}", {})}
    scaled = [p.name for p in card.parameters if p.scales_with_epochs and p.name in values]
    return values | {
        name: _shrunk(values[name], recipe, preset.recipe["epochs"]) for name in scaled
    }


@cache
def _papers() -> tuple[tuple[Recipe, str], ...]:
    return tuple(
        (make_recipe(preset.id), preset.id) for preset in catalog.presets() if preset.methods
    )


def scaled_epochs(parameter: Parameter, card: MethodCard, recipe: Recipe) -> Any:
    """The authors' default; epochs chosen for a long training shrink with the recipe, to one at
    least.

    On a longer recipe than the authors' they stay: nobody chose more of them.
    """
    if not parameter.scales_with_epochs or card.paper_epochs is None:
        return parameter.default
    return _shrunk(parameter.default, recipe, card.paper_epochs)


def _shrunk(epochs: int, recipe: Recipe, paper_epochs: int) -> int:
    """Epochs chosen for a training of `paper_epochs`, on this recipe; none stay none."""
    return (
        epochs
        if recipe.epochs >= paper_epochs
        else max(min(epochs, 1), round(epochs * recipe.epochs / paper_epochs))
    )


def complete(card: MethodCard, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a stored spec, with the defaults of those that came after it or that it
    leaves out for its key's sake.
    """
    return {p.name: p.default for p in card.parameters if p.omitted_when_default} | dict(parameters)
