"""What the table of searches says beside its numbers."""

from facts import numbers, tells

from dashboard.frames import searches


def test_tasks_of_one_scenario_are_told_apart():
    common = {"method": "finetune", "scenario": "one_class", "dataset": "digits"}
    numbers = dict.fromkeys(("settings", "authors", "score", "work", "values"))
    frame = searches.table(
        [{**common, **numbers, "changed": each} for each in ({}, {"class_id": 3}, {"budget": 0.5})]
    )
    assert frame["Scenario"].is_unique
    assert [tells(text, 3) for text in frame["Scenario"]] == [False, True, False]


def test_a_setting_that_is_further_from_retrain_than_doing_nothing_is_told():
    common = {"method": "finetune", "scenario": "one_class", "dataset": "digits", "changed": {}}
    record = {**common, "finished": True, "score": 3.0, "edges": []}
    assert not searches.cautions([{**record, "nothing": each} for each in (None, 3.0, 4.0)])
    (said,) = searches.cautions([{**record, "nothing": 2.5}])
    assert numbers(said) == ["3", "2.5"]
