"""What follows from the trials of a study, and its file."""

import json
from dataclasses import replace

import facts
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mucore.catalog import METHODS
from mucore.errors import BadFile
from mucore.runner.plan import parse_grid
from mucore.tuning import report
from mucore.tuning.study import BEST, Facts, Folder, Study, Trial, facts_in, load, studies_in
from mucore.tuning.task import tasks_of

SEEDS = (100, 101, 102)


def trial(lr, score, seed=100, **changes):
    return replace(
        Trial(seed=seed, values={"lr": lr}, score=score, work=0.1, seconds=1.0), **changes
    )


def study(*trials):
    return Study({}, "finetune", "1", 100, 0.3, False, tuple(trials))


def finished_by(scores, first):
    """A study that goes on until it is over, with scores (setting -> one a seed)."""
    made = study(*(trial(lr, scores[lr][0]) for lr in first))
    while (wanted := made.next_check()) is not None:
        values, seed = wanted
        score = scores[values["lr"]][SEEDS.index(seed)]
        made = replace(made, trials=(*made.trials, trial(values["lr"], score, seed)))
    return made


@given(st.lists(st.tuples(*[st.integers(0, 30)] * 3), min_size=1, max_size=9))
def test_ending_what_cannot_win_changes_no_choice(rows):
    scores = {float(number): row for number, row in enumerate(rows)}
    made = finished_by(scores, list(scores))
    choice = made.choice()
    assert choice is not None and made.finished(len(rows))
    best = sorted(scores.items(), key=lambda each: (each[1][0], each[0]))[:BEST]
    assert choice.score == pytest.approx(min(sum(row) for _, row in best) / 3)
    assert len(made.trials) <= len(rows) + 2 * BEST


def test_what_cannot_win_runs_no_further():
    made = finished_by({1.0: (1, 1, 1), 2.0: (2, 9, 0), 3.0: (4, 0, 0)}, [1.0, 2.0, 3.0])
    assert [(t.values["lr"], t.seed) for t in made.trials[3:]] == [
        (1.0, 101),
        (1.0, 102),
        (2.0, 101),
    ]


def test_only_what_moved_within_its_means_on_every_seed_may_be_chosen():
    made = study(
        trial(1.0, 0.1, still=True),
        trial(2.0, 0.2, over=True),
        trial(3.0, 200.0, ended="it diverged"),
        trial(4.0, 3.0),
        trial(4.0, 3.0),  # drawn twice
        trial(5.0, 4.0),
    )
    assert [each.values["lr"] for each in made.best()] == [4.0, 5.0]
    assert made.falling() == [None, None, None, 3.0, 3.0, 3.0]
    later = replace(made, trials=(*made.trials, trial(4.0, 1.0, 101, still=True)))
    assert later.next_check() == ({"lr": 5.0}, 101)
    whole = replace(later, trials=(*later.trials, trial(5.0, 4.0, 101), trial(5.0, 1.0, 102)))
    choice = whole.choice()
    assert choice is not None and (choice.values, choice.scores) == ({"lr": 5.0}, (4.0, 4.0, 1.0))
    nothing = study(trial(1.0, 0.1, still=True))
    assert nothing.choice() is None and nothing.finished(1)


@pytest.fixture
def folder(tmp_path):
    grid = {"dataset": "digits", "model": "mlp", "scenarios": [{"id": "one_class"}], "methods": []}
    (task,) = tasks_of(parse_grid(grid))
    return Folder(tmp_path / "studies", task)


def test_the_trials_of_a_task_are_measured_alike_however_its_comparison_is():
    grid = {"dataset": "digits", "model": "mlp", "scenarios": [{"id": "one_class"}], "methods": []}
    (task,) = tasks_of(parse_grid(grid))
    (other,) = tasks_of(parse_grid(grid | {"mia_samples": 10, "evaluation_seeds": [7, 8]}))
    assert other.name == task.name and other.spec("finetune", seed=3) == task.spec(
        "finetune", seed=3
    )


def test_a_study_comes_back_from_its_file_as_it_was(folder):
    made = replace(
        study(trial(0.1 + 0.2, 1 / 3, numbers={"fa": 0.5}, gaps={"fa": -0.1}), trial(1.0, 2.0)),
        task=folder.task.content(),
    )
    folder.write(made)
    assert folder.study("finetune", revision="1") == made
    assert studies_in(folder.path.parent) == [made]
    # a trial a line, so that a change of one is a change of one line
    lines = folder.study_file("finetune").read_text().splitlines()
    assert sum('"seed": 100, "values"' in line for line in lines) == 2


def test_the_space_that_was_searched_is_written_down(folder):
    for card in METHODS:
        if not card.search:
            continue
        made = replace(study(trial(1.0, 2.0)), method=card.id, task=folder.task.content())
        folder.write(made)
        text = folder.study_file(card.id).read_text()
        assert '"space"' not in text  # as earlier versions wrote it, so that their files stay
        folder.write(replace(made, space=card.search))
        found = load(folder.study_file(card.id))
        assert found is not None and found.space == dict(card.search), card.id
        assert replace(found, space=None) == made


def of_code(folder, revision, trials):
    made = study(*(trial(float(number), 2.0) for number in range(trials)))
    return replace(made, task=folder.task.content(), revision=revision)


def test_who_only_reads_moves_no_study_of_other_code(folder):
    folder.write(of_code(folder, "a", 24))
    assert folder.study("finetune", revision="b") is None
    assert folder.aside("finetune", revision="b") is None
    assert folder.study("finetune", revision="a") == of_code(folder, "a", 24)
    assert [path.name for path in folder.path.iterdir()] == ["finetune.json"]


def test_a_study_of_other_code_is_put_aside_and_goes_on_when_that_code_is_back(folder, caplog):
    folder.write(of_code(folder, "a", 24))
    assert folder.take_up("finetune", revision="b") is None
    assert load(folder.path / "earlier" / "finetune-a.json") == of_code(folder, "a", 24)
    assert studies_in(folder.path.parent) == []
    folder.write(of_code(folder, "b", 2))
    assert folder.aside("finetune", revision="a") == of_code(folder, "a", 24)
    assert folder.take_up("finetune", revision="a") == of_code(folder, "a", 24)
    assert studies_in(folder.path.parent) == [of_code(folder, "a", 24)]
    folder.write(of_code(folder, "a", 25))
    assert folder.take_up("finetune", revision="b") == of_code(folder, "b", 2)
    assert load(folder.path / "earlier" / "finetune-a.json") == of_code(folder, "a", 25)
    told = [facts.numbers(record.getMessage().partition(")")[0]) for record in caplog.records]
    assert told == [["24"], ["2"], ["24"], ["25"], ["2"]]


@pytest.mark.parametrize("original, told", [(2.0, 0), (0.5, 1), (None, 0)])
def test_a_choice_that_is_further_from_retrain_than_doing_nothing_says_so(folder, original, told):
    made = finished_by({1.0: (1.0, 0.5, 1.5)}, [1.0])
    numbers = {"original": {"fa": 1.0}, "retrain": {"fa": 0.5}, "score": original}
    shared = Facts(folder.task.content(), {}, {"fa": 0.01}, {}, {str(s): numbers for s in SEEDS})
    assert report.doing_nothing(made, shared) == original
    choice = made.choice()
    assert choice is not None and choice.score == 1.0
    made = replace(made, method="ssd", space={})  # nothing lies at an edge of it
    said = report.cautions(folder.task, made, 1, shared)
    assert sum("0.5" in facts.numbers(each) for each in said) == told


def test_facts_of_another_task_or_rule_are_refused(folder):
    assert folder.facts() is None
    made = Facts(folder.task.content(), {"train": 5}, {"fa": 0.1}, {"0": {"fa": 0.5}}, {})
    folder.write_facts(made)
    assert folder.facts() == made and facts_in(folder.path.parent) == [made]
    path = folder.path / "task.json"
    content = json.loads(path.read_text())
    for change in ({"rule": 0}, {"task": content["task"] | {"scenario": "class_wise"}}):
        path.write_text(json.dumps(content | change))
        with pytest.raises(BadFile, match="--studies"):
            folder.facts()
    # what was found before the attacker's labels counted
    poisoned = {"rule": 1, "task": content["task"] | {"scenario": "backdoor"}}
    path.write_text(json.dumps(content | poisoned))
    with pytest.raises(BadFile, match="rule 1.*rule 2"):
        folder.facts()
    path.write_text("{")
    with pytest.raises(BadFile, match=r"task\.json"):
        folder.facts()


def test_each_set_of_parameters_of_a_scenario_is_a_task():
    asked = [{"class_id": 0}, {"class_id": 3}, {"class_id": 3, "budget": 0.5}, {"class_id": 0}]
    grid = {
        "dataset": "digits",
        "model": "mlp",
        "scenarios": [{"id": "one_class", "parameters": each} for each in asked],
        "methods": [],
        "training_seeds": [0, 1],
    }
    tasks = tasks_of(parse_grid(grid))
    assert [task.changed for task in tasks] == [{}, *asked[1:3]]
    assert len({task.name for task in tasks}) == 3


def test_a_tasks_name_says_what_is_not_as_usual():
    def name(**changes):
        grid = {
            "dataset": "digits",
            "model": "mlp",
            "scenarios": [{"id": "one_class", "parameters": changes.pop("parameters", {})}],
            "methods": [],
        }
        (task,) = tasks_of(parse_grid(grid | changes))
        return task.name

    assert name() == "digits-mlp-standard-one_class"
    others = {
        name(parameters={"class_id": 3}),
        name(parameters={"budget": 0.5}),
        name(recipe={"epochs": 7}),
    }
    assert len(others) == 3
    assert all(each.startswith("digits-mlp-standard-one_class-") for each in others)
