"""A forgetting-quality experiment from the Launch page: what it comes to, and the runs that it
queues.
"""

from __future__ import annotations

from collections import Counter

from pages import button, open_page, words_on

from mucore.runner.plan import Grid, MethodChoice, ScenarioChoice
from mucore.runner.quality import plan_experiment
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


def test_the_address_holds_the_experiment(home):
    at = open_page("launch", **SMALL)
    (toggle,) = [one for one in at.toggle if one.label.startswith("Many models")]
    toggle.set_value(True).run()
    (number,) = [one for one in at.number_input if one.label == "Models of each kind"]
    number.set_value(16).run()
    next(one for one in at.segmented_control if one.label == "Unlearning starts from").set_value(
        "each"
    ).run()
    assert not at.exception
    asked = {name: at.query_params[name] for name in ("experiment", "models", "originals")}
    assert {
        name: value if isinstance(value, str) else value[0] for name, value in asked.items()
    } == {"experiment": "1", "models": "16", "originals": "each"}


def test_what_an_experiment_cannot_be_is_said_before_it_starts(home):
    for query, sentence in (
        ({"scenarios": ["one_class", "class_wise"]}, "Choose one at a time"),
        ({"scenarios": ["worst_case"]}, "chooses them by the original"),
        ({"training_seeds": "0-2"}, "Leave it at one"),
        ({"methods": ["uploaded"]}, "Leave it out"),
        (
            {"models": "4096", "methods": ["finetune", "ssd", "scrub", "duck"]},
            "24,576 runs (4,096 models times 4 methods",
        ),
    ):
        at = open_page("launch", **SMALL | {"experiment": "1"} | query)
        assert sentence in words_on(at) and button(at, "Start").disabled and not at.exception, query
