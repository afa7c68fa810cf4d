"""docs/generated/tuning.md: what studies say, by numbers that can be followed."""

from dataclasses import replace

import tuning_page

from mucore import catalog
from mucore.catalog.cards import Between
from mucore.runner.grid import parse_grid
from mucore.tuning import report
from mucore.tuning.study import Facts, Folder, Study, Trial
from mucore.tuning.task import tasks_of

SETTING = {"dataset": "fashion-mnist-10k", "model": "resnet9-small", "preset": "standard"}
ORIGINAL = {"ra": 1.0, "fa": 1.0, "va": 0.9, "mia": 0.1}
RETRAIN = {"ra": 1.0, "fa": 0.9, "va": 0.9, "mia": 0.3}
SIZES = {"train": 9000, "forget": 180, "recipe_epochs": 15, "leaving": 0, "classes": 10}


def studied(root, method, scores, *, over=()):
    """A study whose n-th setting has the rate n/100 and the n-th score on each seed; those `over`
    took too much on the first.
    """
    grid = {**SETTING, "scenarios": [{"id": "one_class"}], "methods": []}
    (task,) = tasks_of(parse_grid(grid))
    folder = Folder(root, task)
    seeds = {str(seed): {"original": ORIGINAL, "retrain": RETRAIN} for seed in (100, 101, 102)}
    folder.write_facts(Facts(task.content(), SIZES, seeds))
    trials = tuple(
        Trial(
            seed=seed,
            values={"lr": number / 100, "epochs": 2, "batch_size": 128},
            score=score,
            work=0.1,
            seconds=1.0,
            over=number in over,
        )
        for number, score in enumerate(scores, 1)
        for seed in ((100,) if number in over else (100, 101, 102))
    )
    folder.write(Study(task.content(), method, "1", 100, 1 / 3, False, trials))


def test_a_study_shows_what_came_of_it(tmp_path, monkeypatch):
    scores = [9.0] * 24
    scores[4], scores[11], scores[19] = 4.0, 3.0, 0.1
    studied(tmp_path / "studies", "finetune", scores, over=(20,))
    studied(tmp_path / "studies", "cf_k", [9.0] * 24, over=range(1, 25))

    monkeypatch.setattr(tuning_page, "STUDIES", tmp_path / "studies")
    page = tuning_page.tuning_page()
    rows = {
        line.split("`")[1]: [cell.strip() for cell in line.strip("|").split("|")]
        for line in page.splitlines()
        if line.startswith("| `")
    }
    assert rows["finetune"] == [
        "`finetune`",
        "24",
        "9.00",
        "3.00",
        "0.10",
        "–",
        "lr 0.12, epochs 2, batch_size 128 *not in use yet*",
    ]
    assert rows["cf_k"][1:4] == ["24", "out", "none"] and len(rows) == 2
    assert "Doing nothing: 5.00." in page  # 10 points of forget accuracy, of which 2 are allowed


def test_a_parameter_that_is_searched_no_more_has_no_edge():
    high = catalog.method("finetune").search["lr"]
    assert isinstance(high, Between)
    values = {"lr": high.high, "gone": 1.0}
    one = Trial(seed=100, values=values, score=1.0, work=0.1, seconds=1.0)
    trials = tuple(replace(one, seed=seed) for seed in (100, 101, 102))
    made = Study({}, "finetune", "1", 100, 1 / 3, False, trials)
    known = Facts({}, {"train": 9000.0}, {})
    assert report.edges(made, known) == ("lr, upper end",)
