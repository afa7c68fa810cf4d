"""What the table of searches says beside its numbers."""

from facts import numbers, tells

from dashboard.frames import searches
from mucore.tuning import report
from mucore.tuning.study import BEST, Study, Trial


def test_of_a_search_that_found_none_only_the_best_were_tried_on_other_seeds():
    trials = [
        Trial(seed=100, values={"lr": float(number)}, score=1.0, work=0.1, seconds=1.0)
        for number in range(24)
    ] + [
        Trial(seed=101, values={"lr": float(n)}, score=1.0, work=0.1, seconds=1.0, still=True)
        for n in range(BEST)
    ]
    study = Study({}, "finetune", "1", 100, 1 / 3, False, tuple(trials))
    assert study.finished(24) and study.choice() is None
    record = {
        "method": "finetune",
        "scenario": "one_class",
        "changed": {},
        "dataset": "digits",
        "finished": True,
        "first": 24,
        "score": None,
        "why_none": report.why_none(study),
    }
    (said,) = searches.cautions([record])
    # 24 settings: none moved nothing, took too much or failed on the first seed
    assert numbers(said) == ["24", str(BEST), str(24 - BEST), str(BEST)]


def test_tasks_of_one_scenario_are_told_apart():
    common = {"method": "finetune", "scenario": "one_class", "dataset": "digits"}
    numbers = dict.fromkeys(("trials", "authors", "best", "score", "work", "values"))
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
