"""The Python interface, for scripts and notebooks.

    import mucore.api as mu
    frame = mu.compare(dataset="fashion-mnist-10k", scenario="one_class", methods=["finetune", "scrub"])

Runs go through the same job table and store as those of the command line and the dashboard: what is stored is not computed again.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from mucore import catalog
from mucore.errors import MucoreError
from mucore.report import comparison_frame
from mucore.runner.plan import Grid, MethodChoice, ScenarioChoice, given_files, launch, make_plan
from mucore.store import ACTIVE, open_store

__all__ = ["compare"]


def compare(
    *,
    dataset: str = "fashion-mnist-10k",
    model: str = "resnet9-small",
    preset: str = "standard",
    recipe: Mapping[str, Any] | None = None,
    scenario: str | Sequence[str] = "one_class",
    scenario_parameters: Mapping[str, Any] | None = None,
    methods: str | Sequence[str] = "all",
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    seeds: Sequence[int] = (0,),
    unlearning_seeds: Sequence[int] = (0,),
    original: str | Path = "",
    name: str = "",
    device: str = "auto",
    home: str | Path | None = None,
) -> pd.DataFrame:
    """Run methods under scenarios and return one row a run: what was run, each metric, and its gap to Retrain.

    `parameters` maps a method to changes of its authors' settings; `original` is a file with weights of the original, which is then not
    trained. "all" leaves out the method `uploaded`, which needs a file: `parameters={"uploaded": {"file": PATH}}`. Blocks until all is
    computed; runs that failed are left out and warned of. An interrupt cancels what is left and keeps what is finished. Raises
    `MucoreError` with a sentence for input that no run can survive.
    """
    from mucore.runner.reference import check_given
    from mucore.runner.worker import work

    every = [card.id for card in catalog.methods() if not card.needs_file]
    chosen = every if methods == "all" else [methods] if isinstance(methods, str) else list(methods)
    scenarios = [scenario] if isinstance(scenario, str) else list(scenario)
    grid = Grid(
        dataset=dataset,
        model=model,
        preset=preset,
        recipe=dict(recipe or {}),
        scenarios=[ScenarioChoice(id=each, parameters=dict(scenario_parameters or {})) for each in scenarios],
        methods=[MethodChoice(id=each, parameters=dict((parameters or {}).get(each, {}))) for each in chosen],
        training_seeds=list(seeds),
        unlearning_seeds=list(unlearning_seeds),
        original=str(original),
    )
    store = open_store(home)
    try:
        plan = make_plan(grid, store)
        check_given(plan.to_run, given_files(grid), store)
        comparison = launch(plan, store, name=name or f"{', '.join(scenarios)} on {dataset}", note="from Python")
        try:
            work(store, device=device, only=set(plan.keys), until_done=True)
        except KeyboardInterrupt:
            # What waits goes before what it waits for, or it would count as failed.
            for job in reversed(store.jobs(states=ACTIVE, comparison=comparison.id)):
                store.cancel(job.id)
            raise
        failed = [job for job in store.jobs(comparison=comparison.id, keys=set(plan.keys)) if job.state in ("failed", "lost")]
        frame = comparison_frame(store, keys=[spec.key for spec in plan.specs if spec.scenario is not None])
    finally:
        store.close()
    if failed and frame.empty:
        raise MucoreError(f"No run came to a result. The first error: {failed[0].error}")
    for job in failed:
        warnings.warn(f"{job.label} failed: {job.error}", stacklevel=2)
    return frame
