"""The description of one run, and its key.

A `RunSpec` says all that decides a result: data set, model, recipe, scenario, method, their
effective parameters and three seeds. Parameters are checked here, at the edge, against the cards;
nothing inside the core checks them again.
"""

from mucore.spec.making import make_spec
from mucore.spec.parameters import complete, method_parameters, scaled_epochs, stated
from mucore.spec.recipe import REVISION, Recipe, make_recipe
from mucore.spec.refusals import (
    records_of,
    refuse_original,
    refuse_scenario,
    refuse_task,
    refuse_values,
)
from mucore.spec.run import FILE_VERSION, RunSpec, Scope, Seed, settings
from mucore.spec.setting import FIRST, Setting, fill
from mucore.spec.values import check, resolve

__all__ = [
    "FILE_VERSION",
    "FIRST",
    "REVISION",
    "Recipe",
    "RunSpec",
    "Scope",
    "Seed",
    "Setting",
    "check",
    "complete",
    "fill",
    "make_recipe",
    "make_spec",
    "method_parameters",
    "records_of",
    "refuse_original",
    "refuse_scenario",
    "refuse_task",
    "refuse_values",
    "resolve",
    "scaled_epochs",
    "stated",
    "settings",
]
