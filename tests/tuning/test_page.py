"""docs/tuning.md: what studies and the demo say, by numbers that can be followed."""

from dataclasses import replace

import facts
import pytest
import tuning_page

from mucore import catalog
from mucore.catalog.cards import Between
from mucore.runner.plan import parse_grid
from mucore.tuning import report
from mucore.tuning.study import BEST, Facts, Folder, Study, Trial, studies_in
from mucore.tuning.task import tasks_of

SETTING = {
    "dataset": "fashion-mnist-10k",
    "model": "resnet9-small",
    "preset": "standard",
}
UNITS = {"ra": 0.01, "fa": 0.02, "va": 0.01, "mia": 0.05}
ORIGINAL = {"ra": 1.0, "fa": 1.0, "fa_true": 0.0, "va": 0.9, "mia": 0.1}
RETRAIN = {"ra": 1.0, "fa": 0.8, "fa_true": 0.8, "va": 0.9, "mia": 0.3}


def studied(root, method, scores, *, still=(), later=(), scenario="one_class", units=UNITS):
    """A finished study whose n-th trial has the rate n/100 and the n-th score;
    `later` trials with a score above 50 moved nothing.
    """
    grid = {**SETTING, "scenarios": [{"id": scenario}], "methods": []}
    (task,) = tasks_of(parse_grid(grid))
    folder = Folder(root, task)
    seeds = {
        str(seed): {"original": ORIGINAL, "retrain": RETRAIN, "score": 6.0}
        for seed in (100, 101, 102)
    }
    retrains = {str(seed): RETRAIN for seed in range(5)}
    sizes = {"train": 9000, "forget": 180, "recipe_epochs": 15, "leaving": 0}
    folder.write_facts(Facts(task.content(), sizes, units, retrains, seeds))

    def trial(number, score, seed):
        values = {"lr": number / 100, "epochs": 2, "batch_size": 128}
        return Trial(seed=seed, values=values, score=score, work=0.1, seconds=1.0)

    first = [
        replace(trial(number, score, 100), still=number in still)
        for number, score in enumerate(scores, 1)
    ]
    rest = [replace(trial(number, score, seed), still=score > 50) for number, score, seed in later]
    folder.write(Study(task.content(), method, "1", 100, 1 / 3, False, (*first, *rest)))


def test_a_study_shows_what_came_of_it(tmp_path, monkeypatch):
    scores = [9.0] * 24
    scores[4], scores[11], scores[19] = 4.0, 3.0, 2.0  # trials 5, 12 and 20
    # what has come to more than 8 before its last seed goes no further
    later = [(20, 2.5, 101), (20, 3.5, 102), (12, 6.0, 101), (5, 5.0, 101)]
    studied(tmp_path / "studies", "finetune", scores, still=(1, 2), later=later)
    scores = [9.0] * 24
    studied(tmp_path / "studies", "cf_k", scores, still=range(1, 25))

    monkeypatch.setattr(tuning_page, "STUDIES", tmp_path / "studies")
    page = tuning_page.tuning_page()
    rows = {
        line.split("`")[1]: [cell.strip() for cell in line.strip("|").split("|")]
        for line in page.splitlines()
        if line.startswith("| `")
    }
    assert rows["finetune"] == [
        "`finetune`",
        "24 + 4",
        "9.00",
        "2.00, 2.50, 3.50",
        "0.10",
        "–",
        "lr 0.2, epochs 2, batch_size 128",
    ]
    assert rows["cf_k"][1:4] == ["24 + 0", "9.00", "none"] and len(rows) == 2
    assert "Doing nothing: 6." in page


def test_settings_that_hold_on_some_seeds_alone_are_told_in_words(tmp_path):
    """As SSD's once: right on two seeds, and on the third it selected nothing."""
    scores = [60.0] * 24
    scores[4], scores[11] = 0.13, 0.25
    later = [(5, 0.59, 101), (5, 52.0, 102), (12, 0.32, 101), (12, 51.0, 102)]
    studied(tmp_path / "studies", "finetune", scores, later=later)
    made = next(iter(studies_in(tmp_path / "studies")))
    held, second = report.fallen(made)
    assert (held.scores, second.scores) == ((0.13, 0.59, 52.0), (0.25, 0.32, 51.0))
    assert facts.numbers(held.said(100)) == ["0.13", "100", "0.59", "101", "102", "52"]
    assert made.choice() is None and made.next_check() is not None  # others wait for their turn

    others = [(number, 40.0, seed) for number in (1, 2, 3) for seed in (101, 102)]
    studied(tmp_path / "studies", "finetune", scores, later=[*later, *others])
    made = next(iter(studies_in(tmp_path / "studies")))
    chosen = made.choice()
    assert chosen is not None and chosen.scores == (60.0, 40.0, 40.0) and report.off(made)


def test_a_parameter_that_is_searched_no_more_has_no_edge():
    high = catalog.method("finetune").search["lr"]
    assert isinstance(high, Between)
    values = {"lr": high.high, "gone": 1.0}
    one = Trial(seed=100, values=values, score=1.0, work=0.1, seconds=1.0)
    trials = tuple(replace(one, seed=seed) for seed in (100, 101, 102))
    made = Study({}, "finetune", "1", 100, 1 / 3, False, trials)
    known = Facts({}, {"train": 9000.0}, UNITS, {}, {})
    assert report.edges(made, known) == ("lr, upper end",)
    recorded = replace(made, space={"gone": Between(0.0, 1.0), "lr": replace(high, high=9.0)})
    assert report.edges(recorded, known) == ()


def test_each_setting_that_may_not_be_chosen_is_counted_once():
    one = Trial(seed=100, values={}, score=60.0, work=0.4, seconds=1.0)
    ends = [
        *[replace(one, still=True)] * 5,
        *[replace(one, still=True, over=True)] * 3,
        *[replace(one, over=True)] * 2,
        *[replace(one, over=True, ended="it took more")] * 4,
        *[replace(one, ended="it diverged")] * 6,
        *[one] * 7,
    ]
    ends = [replace(end, values={"alpha": float(n)}) for n, end in enumerate(ends)]
    made = Study({}, "ssd", "1", 100, 1 / 3, False, tuple(ends))
    # the last number says how many are tried on further seeds, on which none has fallen
    assert facts.numbers(report.why_none(made)) == ["8", "6", "6", "7", str(BEST)]
    assert sum((8, 6, 6, 7)) == len(ends)


@pytest.mark.parametrize("best", [1, BEST])
def test_those_of_the_best_that_fell_are_counted(best):
    one = Trial(seed=100, values={}, score=60.0, work=0.4, seconds=1.0)
    trials = [replace(one, values={"lr": float(n)}) for n in range(best)]
    trials += [replace(one, values={"lr": 0.0}, seed=101, still=True)]
    trials += [replace(one, values={"lr": float(n)}, seed=100, over=True) for n in range(9, 12)]
    made = Study({}, "ssd", "1", 100, 1 / 3, False, tuple(trials))
    # three took too much; one fell; the others were on their way
    told = ["3", "1"] if best == 1 else ["3", "1", str(best - 1), str(best)]
    assert facts.numbers(report.why_none(made)) == told
    beginning = facts.numbers(report.of_the_best(1, best, 100))
    assert beginning == (["100"] if best == 1 else [str(best), "100", "1"])


def test_a_search_that_found_none_is_told_with_what_became_of_each_setting(tmp_path):
    scores = [60.0] * 24
    later = [(5, 52.0, 101)]
    studied(tmp_path / "studies", "ssd", scores, still=range(6, 25), later=later)
    made = next(iter(studies_in(tmp_path / "studies")))
    rest = [(number, 55.0, 101) for number in range(1, 6)]
    studied(tmp_path / "studies", "ssd", scores, still=range(6, 25), later=rest)
    made = next(iter(studies_in(tmp_path / "studies")))
    assert made.finished(24) and made.choice() is None and len(report.fallen(made)) == 5
    assert facts.numbers(report.why_none(made))[0] == "19"
    assert facts.numbers(report.of_the_best(5, BEST, 100))[:3] == ["5", "100", "5"]
