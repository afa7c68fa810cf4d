"""Which tuned setting a run takes: that of its task, else the nearest one's, which is said."""

import json
from dataclasses import replace
from typing import Any

import make_tuned
import pytest
from facts import tells

from mucore import catalog, cli
from mucore.catalog import tuning
from mucore.catalog.tuning import Tuned
from mucore.errors import BadFile
from mucore.runs import complete, make_recipe, make_spec
from mucore.tuning.study import Study, Trial, is_of, settings_of, studies_in

USUAL = {"dataset": "fashion-mnist-10k", "model": "resnet9-small"}


def task_of(scenario="one_class", *, data_hash="", recipe=None, **changes: Any):
    """What a run with these fields asks a setting for."""
    where: dict[str, Any] = {name: changes.pop(name, usual) for name, usual in USUAL.items()}
    card = catalog.scenario(scenario)
    return make_spec(
        **where,
        method="retrain",
        data_hash=data_hash,
        recipe=make_recipe("standard", recipe),
        scenario=scenario,
        scenario_parameters={each.name: each.default for each in card.parameters} | changes,
    ).tuning_task


def setting(lr, scenario, dataset="fashion-mnist-10k", model="resnet9-small", **task: Any):
    data_hash = task.pop("data_hash", "")
    whole = task_of(scenario, **task)
    return Tuned(
        method="finetune",
        values={"lr": lr},
        dataset=dataset,
        data_hash=data_hash,
        model=model,
        preset="standard",
        scenario=scenario,
        recipe=whole.recipe,
        scenario_parameters=whole.scenario_parameters,
        trials=24,
    )


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path))
    monkeypatch.setattr(tuning, "SHIPPED", tmp_path / "shipped.json")

    def put(*own, shipped=()):
        for name, settings in ((tuning.FILE, own), ("shipped.json", shipped)):
            (tmp_path / name).write_text(json.dumps(tuning.content(settings)))

    return put


def taken(**task: Any):
    found = tuning.nearest("finetune", task_of(**task))
    return None if found is None else found.values["lr"]


def test_the_nearest_task_goes_by_scenario_then_data_then_model(home):
    home(
        setting(0.1, "one_class"),
        setting(0.2, "class_wise"),
        setting(0.3, "all_classes", dataset="digits", model="mlp"),
    )
    assert taken(scenario="one_class") == 0.1
    assert taken(scenario="class_wise") == 0.2
    # elsewhere, but this scenario, before another one on these data
    assert taken(scenario="all_classes") == 0.3
    assert taken(scenario="one_class", dataset="digits", model="mlp") == 0.1
    # no task of this scenario: whole classes go by whole classes, samples by samples
    assert taken(scenario="random_classes") == 0.2
    assert taken(scenario="worst_case") == 0.1
    assert taken(scenario="worst_case", dataset="digits", model="mlp") == 0.3


def test_own_data_are_told_by_their_content_and_own_searches_come_first(home):
    home(
        setting(0.1, "one_class", dataset="npz", data_hash="a"),
        setting(0.2, "one_class"),
        shipped=[setting(0.3, "one_class")],
    )
    own = {"dataset": "npz:/somewhere/mine.npz", "scenario": "one_class"}
    assert taken(**own, data_hash="a") == 0.1
    assert taken(scenario="one_class") == 0.2
    home(shipped=[setting(0.3, "one_class")])
    assert taken(scenario="one_class") == 0.3


def test_a_run_takes_it_with_the_authors_values_beside_it(home):
    home(setting(0.1, "one_class"), setting(0.2, "class_wise"))
    recipe = make_recipe("standard")
    for scenario, rate in (("one_class", 0.1), ("class_wise", 0.2)):
        common: dict[str, Any] = {
            **USUAL,
            "recipe": recipe,
            "scenario": scenario,
            "method": "finetune",
        }
        tuned = make_spec(**common, method_preset="tuned")
        authors = make_spec(**common)
        assert tuned.parameters == {**authors.parameters, "lr": rate}
        # what is given goes first, and the preset's name is no part of the key
        given = make_spec(**common, parameters={"lr": rate})
        assert given.key == tuned.key != authors.key


def test_another_amount_or_recipe_is_another_task(home, capsys):
    home(
        setting(0.5, "one_class", budget=0.5),
        setting(0.3, "one_class", recipe={"epochs": 3}),
        shipped=[setting(0.2, "one_class")],
    )
    # of the very task before one of the reader's own
    assert taken() == 0.2 and taken(budget=0.5) == 0.5 and taken(recipe={"epochs": 3}) == 0.3
    # nearest by the recipe, then by how many parameters differ
    assert taken(budget=0.5, recipe={"epochs": 3}) == 0.3
    assert taken(budget=0.5, seed=7) == 0.5 and taken(class_id=3) == 0.2
    common: dict[str, Any] = {**USUAL, "scenario": "one_class", "method": "finetune"}
    for chosen, epochs, label in (
        ({}, 15, "tuned"),
        ({"budget": 0.5}, 15, "tuned"),
        ({"budget": 0.4}, 15, "tuned_elsewhere"),
        ({"seed": 7}, 15, "tuned_elsewhere"),
        ({}, 3, "tuned"),
        ({}, 4, "tuned_elsewhere"),
    ):
        made = make_spec(
            **common,
            scenario_parameters=chosen,
            recipe=make_recipe("standard", {"epochs": epochs}),
            method_preset="tuned",
        )
        assert made.method_preset == label, (chosen, epochs)
        assert made.tuning_task == task_of(recipe={"epochs": epochs}, **chosen)
    # a revision moves last digits, and is no other recipe to a setting
    assert taken(recipe={"epochs": 3, "revision": 1}) == 0.3
    (found,) = tuning.borrowed(["finetune"], [task_of(budget=0.4), task_of(budget=0.3)])
    assert found.parts == ("scenario_parameters",)
    flags = ["--methods", "finetune", "--method-preset", "tuned", "--budget", "0.4"]
    where = ["--dataset", USUAL["dataset"], "--model", USUAL["model"], "--scenario", "one_class"]
    assert cli.main(["plan", *where, *flags]) == 0
    assert tells(capsys.readouterr().err, "finetune", "scenario.budget=0.5")


def test_a_later_request_is_another_task_and_so_is_an_uploaded_original(home):
    home(setting(0.1, "one_class"))
    common: dict[str, Any] = USUAL | {"scenario": "one_class", "recipe": make_recipe("standard")}
    first = make_spec(**common, method="finetune", method_preset="tuned")
    later = make_spec(**common, method="finetune", method_preset="tuned", after=first)
    given = make_spec(**common, method="finetune", method_preset="tuned", original_hash="a" * 64)
    assert [each.method_preset for each in (first, later, given)] == [
        "tuned",
        "tuned_elsewhere",
        "tuned_elsewhere",
    ]
    assert first.parameters == later.parameters == given.parameters


def test_a_broken_file_is_named(home, tmp_path):
    home()
    for text in ("{", "[]", '{"tasks": [{"methods": 3}]}'):
        (tmp_path / tuning.FILE).write_text(text)
        with pytest.raises(BadFile, match=r"tuned\.json"):
            tuning.settings("finetune")


def test_what_ships_is_a_setting_that_its_study_judged():
    """Chosen by the score of an earlier version until the searches have come to their end again."""
    studies = studies_in(make_tuned.STUDIES)
    for each in tuning.shipped():
        (study,) = (one for one in studies if is_of(each, one))
        assert any(one.judged and one.values == each.values for one in study.settings), each


def test_a_setting_ships_until_a_study_has_come_to_its_end(home):
    task = {"scenario": "one_class", "dataset": "fashion-mnist-10k", "data_hash": ""}
    task |= {"model": "resnet9-small", "preset": "standard"}

    def study(*scores):
        """Trials of the rates 1, 2, ...: scores of each, one a seed."""
        trials = tuple(
            Trial(seed=seed, values={"lr": lr}, score=score, work=0.1, seconds=1.0)
            for lr, row in enumerate(scores, 1)
            for seed, score in enumerate(row, 100)
        )
        return Study(task, "finetune", "1", 100, 1 / 3, False, trials)

    before, other = setting(0.2, "one_class"), setting(0.3, "class_wise")
    home(shipped=[before, other])
    judged, growing = study((2.0, 2.0, 2.0)), study((2.0, 2.0, 2.0), (1.0,))
    for going_on in (growing, study((2.0, 2.0))):
        assert going_on.pending() and make_tuned.kept([going_on]) == [before]
    assert len(settings_of([judged])) == 1 and not make_tuned.kept([judged])
    stopped = replace(judged, asked=60)  # its best is no more than the best so far
    assert not settings_of([stopped]) and make_tuned.kept([stopped]) == [before]
    none = replace(judged, trials=(replace(judged.trials[0], over=True),))
    assert none.choice() is None and not make_tuned.kept([none])
    elsewhere = replace(growing, task={**task, "dataset": "digits"})
    assert not make_tuned.kept([elsewhere])


def test_shipped_settings_are_legal_where_they_were_found():
    for each in tuning.shipped():
        card = catalog.method(each.method)
        assert catalog.serves(card, each.scenario)
        spec = make_spec(
            dataset=each.dataset,
            model=each.model,
            recipe=make_recipe(each.preset, each.recipe),
            scenario=each.scenario,
            method=each.method,
            parameters=each.values,
        )
        values = json.loads(json.dumps(each.values))
        assert values.items() <= complete(card, spec.parameters).items(), each.method
