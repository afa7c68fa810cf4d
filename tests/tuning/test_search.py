"""Searches on digits: alike however they are interrupted and shared out, blind to test data."""

import json
import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from typing import Any

import numpy as np
import own_methods
import pytest
import torch
from launching import small_grid

from mucore import catalog, datasets
from mucore.catalog import plugins, tuning
from mucore.errors import BadValue, Cancelled, MucoreError
from mucore.runner.grid import ScenarioChoice
from mucore.runner.session import Session
from mucore.runs import RunSpec, complete, make_spec
from mucore.store import open_store
from mucore.tuning import judge as judging
from mucore.tuning import objective
from mucore.tuning import search as searching
from mucore.tuning import together as sharing
from mucore.tuning.judge import Judge
from mucore.tuning.objective import Limit
from mucore.tuning.plan import Wish, missing_references, plan, studies_of, wish_of
from mucore.tuning.search import SLACK, Search, StudiesFailed, claimed
from mucore.tuning.study import Folder, Trial, studies_in
from mucore.tuning.together import search

RECIPE = {"epochs": 3, "lr": 0.1}


def grid_of(*methods, scenario="class_wise", dataset="digits", **values):
    chosen = [ScenarioChoice(id=scenario, parameters=values)]
    return small_grid(dataset=dataset, recipe=RECIPE, scenarios=chosen, methods=methods)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home with the references of the task, and nothing searched yet."""
    path = tmp_path_factory.mktemp("tuning") / "home"
    wish, _ = wish_of(grid_of("finetune"))
    with open_store(path) as store:
        for task, _ in wish.tasks:
            Search(wish, store, path / "studies", device="cpu").references(task)
    return path


def fresh(home, path):
    """A copy of a home in which nothing was searched yet."""
    shutil.copytree(home, path)
    for file in (path / "studies").glob("*/*.json"):
        if file.name != "task.json":
            file.unlink()
    return path


@pytest.fixture
def copied(home, tmp_path):
    """The same, whatever was searched in `home` since."""
    return fresh(home, tmp_path / "home")


def searched(home, grid, *, trials, **options):
    wish, _ = wish_of(grid, trials=trials)
    with open_store(home) as store:
        search(grid, wish, store, home / "studies", device="cpu", **options)
        return [study for _, study in studies_of(wish, home / "studies")]


def rows(study):
    return [replace(trial, seconds=0.0) for trial in study.trials]


@pytest.mark.slow
def test_a_search_that_was_stopped_goes_on_as_if_it_had_not(home, copied):
    grid = grid_of("finetune")
    (once,) = searched(home, grid, trials=10)
    steps, stopped = [], threading.Event()

    def count(event):
        steps.append(event)
        if event.study is not None and len(event.study.trials) == 9:
            stopped.set()

    with pytest.raises(Cancelled):
        searched(copied, grid, trials=10, cancelled=stopped.is_set, on_event=count)
    (half,) = studies_in(copied / "studies")
    assert len(half.trials) == 9
    (twice,) = searched(copied, grid, trials=10)
    assert rows(twice) == rows(once) and twice.finished(10)


@pytest.mark.slow
def test_processes_share_a_search_and_come_to_the_same(home, copied, tmp_path):
    grid = grid_of("finetune", "ssd")
    home = fresh(home, tmp_path / "alone")
    alone = searched(home, grid, trials=3)
    together = searched(copied, grid, trials=3, jobs=2)
    assert [rows(study) for study in together] == [rows(study) for study in alone]
    assert (copied / tuning.FILE).read_text() == (home / tuning.FILE).read_text()


@pytest.mark.slow
def test_references_are_made_on_one_thread_whatever_the_process_has(tmp_path, monkeypatch):
    wish, _ = wish_of(grid_of("finetune"))
    ((task, _),) = wish.tasks
    kept = []
    monkeypatch.setattr(searching, "keep_freed", lambda: kept.append(True))
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with open_store(tmp_path / "home") as store:
            wanted = missing_references(wish, task, store)
            Search(wish, store, tmp_path / "studies", device="cpu").references(task)
            made = [store.get_model(spec.model_key) for spec in wanted]
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert len(made) == 6
    assert {model.cost["threads"] for model in made if model is not None} == {1}
    assert kept == [True]  # what a step frees, for the next one, as in a worker


@pytest.mark.slow
def test_what_a_process_that_died_leaves_is_done_by_the_first(copied, monkeypatch):
    def died(*_):
        return subprocess.Popen([sys.executable, "-c", "raise SystemExit(1)"])

    monkeypatch.setattr(sharing, "_start", died)
    (study,) = searched(copied, grid_of("ssd"), trials=2, jobs=2)
    assert study.finished(2)


def unmakeable(*_):
    raise MucoreError("its training was replayed and ended in other weights")


def defective(*_):
    raise RuntimeError("out of memory")


@pytest.mark.slow
@pytest.mark.parametrize(
    "at, raising",
    [("training_records", unmakeable), ("unlearn", defective)],
    ids=["record", "defect"],
)
def test_a_study_that_cannot_go_on_keeps_no_other_from_it(
    home, copied, monkeypatch, caplog, at, raising
):
    grid = grid_of("finetune", "ssd")
    *_, undisturbed = searched(home, grid, trials=2)
    real = getattr(judging, at)

    def one_fails(*arguments):
        (spec,) = (each for each in arguments if isinstance(each, RunSpec))
        wrong = spec.method == "finetune" and len(events) == 1  # its second trial
        return (raising if wrong else real)(*arguments)

    monkeypatch.setattr(judging, at, one_fails)
    events: list[Any] = []

    def count(event):
        if event.trial is not None:
            events.append(event)

    with pytest.raises(StudiesFailed, match="finetune under class_wise"):
        searched(copied, grid, trials=2, on_event=count)
    found = {study.method: study for study in studies_in(copied / "studies")}
    # no trial says that the setting was at fault, and what comes after is as it always was
    assert len(found["finetune"].trials) == 1 and not found["finetune"].trials[0].ended
    assert rows(found["ssd"]) == rows(undisturbed)
    assert any(each.method == "ssd" for each in tuning.at(copied)) == (
        undisturbed.choice() is not None
    )
    assert any(record.levelname == "ERROR" for record in caplog.records)


def test_the_authors_setting_comes_first_and_scores_follow_from_gaps(home):
    (study,) = searched(home, grid_of("scrub"), trials=3)
    (task, _), *_ = wish_of(grid_of("scrub"))[0].tasks
    facts = Folder(home / "studies", task).facts()
    assert facts is not None
    usual = task.spec("scrub").parameters
    assert study.trials[0].values == {name: usual[name] for name in catalog.method("scrub").search}
    limits = facts.limits(100)
    assert {*limits} == {*objective.terms("class_wise")}
    for trial in study.trials:
        at = facts.seeds[str(trial.seed)]
        for name, gap in trial.gaps.items():
            assert gap == pytest.approx(trial.numbers[name] - at["retrain"][name], abs=1e-6)
        assert trial.score == pytest.approx(objective.score(trial.gaps, limits), rel=1e-4)


@pytest.mark.slow
def test_no_test_data_are_looked_at(copied, monkeypatch):
    real = Session.samples

    def samples(self, spec, name):
        assert name in ("train", "validation")
        return real(self, spec, name)

    monkeypatch.setattr(Session, "samples", samples)
    (study,) = searched(copied, grid_of("scrub"), trials=2)
    assert len(study.settings) == 2


@pytest.mark.slow
def test_what_is_chosen_is_the_tuned_preset_of_its_task_and_of_no_other(
    home, tmp_path, monkeypatch
):
    (study,) = searched(home, grid_of("ssd"), trials=8)
    choice = study.choice()
    assert choice is not None
    monkeypatch.setenv("MUCORE_HOME", str(home))
    common: dict[str, Any] = {
        "dataset": "digits",
        "model": "mlp",
        "method": "ssd",
        "method_preset": "tuned",
    }
    recipe = wish_of(grid_of("ssd"))[0].tasks[0][0].base.recipe
    spec = make_spec(**common, recipe=recipe, scenario="class_wise")
    assert spec.method_preset == "tuned"
    assert choice.values.items() <= complete(catalog.method("ssd"), spec.parameters).items()
    # another scenario takes what was tuned for that scenario, elsewhere, before another's here
    other = make_spec(**common, recipe=recipe, scenario="one_class")
    found = tuning.nearest("ssd", other.tuning_task)
    assert found is not None and found.scenario == "one_class"
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "empty"))
    other = make_spec(**common, recipe=recipe, scenario="class_wise")
    assert not choice.values.items() <= complete(catalog.method("ssd"), other.parameters).items()


@pytest.fixture
def judge(home):
    (task, _), *_ = wish_of(grid_of("finetune"))[0].tasks
    with open_store(home) as store:
        yield Judge(task, 100, Session(store, "cpu"))


def test_weights_that_stay_as_they_were_score_as_the_original_does(judge):
    limits = dict.fromkeys(objective.terms("class_wise"), Limit(0.01, 0.0))
    kept = judge.attempt("finetune", {"lr": 1e-6, "epochs": 0}, limits, most=1.0, cap=1.0)
    gaps = {name: value - judge.retrain[name] for name, value in judge.original.items()}
    assert kept.score == objective.score(gaps, limits) and kept.work == 0
    moved = judge.attempt("finetune", {"lr": 0.01, "epochs": 1}, limits, most=1.0, cap=1.0)
    assert moved.numbers != kept.numbers and moved.work == pytest.approx(1 / RECIPE["epochs"])


def test_what_takes_too_much_ends_there_and_counts(judge):
    limits = dict.fromkeys(objective.terms("class_wise"), Limit(0.01, 0.0))
    trial = judge.attempt("finetune", {"lr": 0.01, "epochs": 3}, limits, most=0.5, cap=0.5)
    assert trial.over and trial.ended and trial.score == objective.WORST
    assert 0.5 < trial.work < 0.7
    free = judge.attempt("finetune", {"lr": 0.01, "epochs": 2}, limits, most=1.0, cap=0.5)
    assert free.over and not free.ended and free.score < objective.WORST


def test_what_diverges_or_collapses_is_as_bad_as_can_be(judge):
    limits = dict.fromkeys(objective.terms("class_wise"), Limit(0.01, 0.0))
    # up the loss of the forget set alone, for as long as three Retrains
    wild = {"lr": 1.0, "epochs": 60, "stop_loss": None, "grad_clip": None, "bn": "train"}
    trial = judge.attempt("gradient_ascent", wild, limits, most=10.0, cap=10.0)
    assert trial.ended and trial.score == objective.WORST


@pytest.mark.slow
def test_a_method_that_can_do_nothing_as_cheap_is_open(copied):
    grid = grid_of("finetune")
    wish, _ = wish_of(grid, trials=2, cap=0.01)
    with open_store(copied) as store:
        search(grid, wish, store, copied / "studies", device="cpu")
        ((_, study),) = studies_of(wish, copied / "studies")
        assert study.open and study.cap == 1.0 and len(study.settings) == 2
        # its cap is no wish of anybody's, so that no other one is in conflict with it
        assert plan(wish_of(grid, trials=3)[0], store, copied / "studies").done >= 2


@pytest.mark.slow
def test_a_study_grows_when_more_trials_are_asked_for(copied):
    grid = grid_of("finetune")
    (few,) = searched(copied, grid, trials=2)
    (more,) = searched(copied, grid, trials=4)
    assert rows(more)[: len(few.trials)] == rows(few) and len(more.settings) == 4
    with open_store(copied) as store:
        wish, _ = wish_of(grid, trials=4)
        found = plan(wish, store, copied / "studies")
        assert (found.trials, found.references) == (0, 0) and found.done == len(more.trials)
        wish, _ = wish_of(grid, trials=24)
        assert plan(wish, store, copied / "studies").trials == 60


@pytest.mark.slow
def test_data_and_method_of_a_users_own_are_searched_alike(tmp_path, monkeypatch):
    path = tmp_path / "mine.npz"
    known = datasets.load("digits")
    arrays = {
        f"{axis}_{name}": tensor.numpy()
        for name in ("train", "test")
        for axis, tensor in (
            ("x", getattr(known, name).pixels[:, 0]),
            ("y", getattr(known, name).labels),
        )
    }
    np.savez(path, allow_pickle=False, **arrays)
    folder = tmp_path / "methods"
    folder.mkdir()
    name = own_methods.copy_of(folder, "finetune")
    monkeypatch.setenv(plugins.FOLDERS, str(folder))
    grid = grid_of(name, dataset=f"npz:{path}")
    home = tmp_path / "home"
    (study,) = searched(home, grid, trials=1)
    own = plugins.find(name)
    assert own is not None and study.revision == own.source_hash
    assert not any(trial.ended for trial in study.trials)
    assert study.task["dataset"] == "npz" and str(tmp_path) not in json.dumps(study.task)
    monkeypatch.setenv("MUCORE_HOME", str(home))
    if (choice := study.choice()) is not None:
        ((task, _),) = wish_of(grid)[0].tasks
        found = tuning.nearest(name, task.base.tuning_task)
        assert (
            found is not None and found.values == choice.values and found.of(task.base.tuning_task)
        )


def test_poison_is_judged_by_the_attackers_and_the_true_labels(tmp_path):
    grid = grid_of("finetune", scenario="backdoor")
    (task, _), *_ = wish_of(grid)[0].tasks
    with open_store(tmp_path / "home") as store:
        judge = Judge(task, 100, Session(store, "cpu"))
    assert {*objective.terms("backdoor")} <= judge.retrain.keys()
    assert judge.retrain["fa_true"] > judge.original["fa_true"]
    assert judge.retrain["fa"] < judge.original["fa"]


def test_wishes_that_make_no_sense_are_refused():
    wrong: list[dict[str, Any]] = [{"trials": 0}, {"cap": 0.0}, {"cap": 1.5}, {"seed": -1}]
    for options in wrong:
        with pytest.raises(BadValue):
            Wish([], **options)
    with pytest.raises(BadValue, match="exact"):
        wish_of(grid_of("sisa"))
    _, reasons = wish_of(grid_of("finetune", "scrub_rewind"))
    assert len(reasons) == 1 and "scrub_rewind" in reasons[0]


def test_one_process_at_a_time_works_on_a_study(tmp_path):
    with claimed(tmp_path, "a") as mine:
        assert mine
        with claimed(tmp_path, "a") as other:
            assert not other
        with pytest.raises(Cancelled), claimed(tmp_path, "a", wait=lambda: True):
            raise AssertionError
        with claimed(tmp_path, "b") as free:
            assert free
    with claimed(tmp_path, "a") as again:
        assert again


@pytest.mark.slow
def test_two_homes_do_not_work_on_one_study(home, copied, tmp_path):
    """Each would write its own trials over those of the other."""
    grid, root = grid_of("finetune", "ssd"), copied / "studies"
    wish, _ = wish_of(grid, trials=2)
    ((task, _),) = wish.tasks
    other = fresh(home, tmp_path / "other")
    inside: list[Any] = []

    def meanwhile(event):
        if event.method == "finetune" and not inside:
            with open_store(other) as store:
                inside.append(Search(wish, store, root, device="cpu").run())

    with open_store(copied) as store:
        search(grid, wish, store, root, device="cpu", on_event=meanwhile)
    assert inside == [[(task, "finetune")]]
    found = {study.method: study for study in studies_in(root)}
    assert all(study.finished(2) for study in found.values()) and len(found) == 2


def test_what_fitted_on_the_first_seed_may_cost_a_bit_more_on_another(copied, monkeypatch):
    grid = grid_of("finetune")
    wish, _ = wish_of(grid, trials=2)
    asked = []

    def trial(self, task, facts, study, values, seed, *, most, cap):
        drawn = len(study.settings) - (seed > 100)  # the authors' first, then the other
        asked.append((drawn, seed, most, cap))
        work = wish.cap * (1.04 if drawn else 0.5)  # the second takes most
        return Trial(seed=seed, values=values, score=2.0 - drawn, work=work, seconds=0.0)

    monkeypatch.setattr(Search, "_trial", trial)
    with open_store(copied) as store:
        Search(wish, store, copied / "studies", device="cpu").run()
    cap, more = SLACK * wish.cap, SLACK * 1.04 * wish.cap
    # the authors' may run on to see what it takes, on the first seed
    assert asked == [
        (number, seed, pytest.approx(most), pytest.approx(cap))
        for number, seed, most, cap in [
            (0, 100, SLACK, cap),
            (0, 101, cap, cap),
            (0, 102, cap, cap),
            (1, 100, cap, cap),
            (1, 101, more, more),
            (1, 102, more, more),
        ]
    ]
