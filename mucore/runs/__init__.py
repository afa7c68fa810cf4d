"""The description of one run, and its key.

A `RunSpec` says all that decides a result: data set, model, recipe, scenario, method, their
effective parameters and three seeds. Parameters are checked here, at the edge, against the cards;
nothing inside the core checks them again.
"""

from mucore.runs.making import make_spec
from mucore.runs.parameters import complete, method_parameters, scaled_epochs, stated
from mucore.runs.recipe import REVISION, Recipe, make_recipe
from mucore.runs.refusals import (
    records_of,
    refuse_original,
    refuse_scenario,
    refuse_task,
    refuse_values,
)
from mucore.runs.setting import FIRST, fill
from mucore.runs.spec import FILE_VERSION, REFERENCES, RunSpec, Scope, Seed, settings, stored_spec
from mucore.runs.values import check, resolve
