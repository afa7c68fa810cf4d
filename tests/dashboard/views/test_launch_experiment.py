"""A forgetting-quality experiment from the Launch page: what it comes to, and the runs that it
queues.
"""

from __future__ import annotations

from collections import Counter

from pages import button, open_page

from mucore.quality import plan_experiment
from mucore.runner.grid import Grid, MethodChoice, ScenarioChoice
from mucore.store import open_store

SMALL = {
    "dataset": "digits",
    "model": "mlp",
    "preset": "quick",
    "scenarios": ["one_class"],
    "methods": ["finetune", "ssd"],
}


def test_an_experiment_queues_the_runs_that_the_command_line_would(home):
    at = open_page("launch", **SMALL, experiment="1", models="8")
    assert not at.exception
    figures = {metric.label: metric.value for metric in at.metric}
    button(at, "Start").click().run()
    grid = Grid(
        dataset="digits",
        model="mlp",
        preset="quick",
        scenarios=[ScenarioChoice(id="one_class")],
        methods=[MethodChoice(id="finetune"), MethodChoice(id="ssd")],
    )
    with open_store(home) as store:
        jobs = store.jobs()
        wanted = plan_experiment(grid, store, models=8)
        (comparison,) = store.comparisons()
    assert {job.key for job in jobs} == set(wanted.plan.keys) and figures["Runs"] == str(len(jobs))
    counts = Counter(job.spec["method"] for job in jobs)
    assert counts["retrain"] == counts["finetune"] == counts["ssd"] == 8
    assert comparison.name.endswith("forgetting quality, 8 models")
