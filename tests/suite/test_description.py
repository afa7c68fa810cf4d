"""Suites are frozen: their hashes, and what makes this mucore another than the one they need."""

import json
from dataclasses import replace

import make_suites
import pytest
from boards import tuned_for
from torchvision.datasets import CIFAR10

from mucore import cli
from mucore.errors import BadFile, BadValue
from mucore.runner.session import Session
from mucore.store import open_store
from mucore.suite import description, lines

# A suite never changes: what would change one of these needs a new name in make_suites.py.
FROZEN = {
    "mucore-bench-1": "babde8dab549459f5284dbf6",
    "mucore-bench-1-quick": "bce16da161ba5f8867d7ca4b",
    "mucore-bench-1-cifar10": "18abfa32feb59a337b7852d6",
}


def test_suites_are_what_they_were():
    assert {name: description.load(name).hash for name in description.names()} == FROZEN
    assert all(description.changed(description.load(name)) == [] for name in FROZEN)


def test_the_script_freezes_the_same(tmp_path):
    name = "mucore-bench-1-quick"
    with open_store(tmp_path) as store:
        assert make_suites.suite_of(name, Session(store, "cpu")).hash == FROZEN[name]


def test_cifar10_is_frozen_by_what_was_published(tmp_path):
    """Its runs are held to their Retrain, and it says that nobody has run it."""
    name = "mucore-bench-1-cifar10"
    with open_store(tmp_path) as store:
        assert make_suites.suite_of(name, Session(store, "cpu")).hash == FROZEN[name]
    suite = description.load(name)
    assert CIFAR10.tgz_md5 in {task.data_hash[4:] for task in suite.tasks}
    assert [task.forget_count for task in suite.tasks] == [4500, 4500]
    assert suite.caveat and not description.load("mucore-bench-1").caveat
    runs = lines.runs_of(suite, "authors", lines.methods_of(["all"], suite.methods))
    # of each seed the training, original and Retrain, and twelve methods
    assert [len(each.specs) for each in runs] == [5 * 15, 5 * 15]
    for task in suite.tasks:
        lines.check_result(suite, task, data_hash="any", forget_hash="any")


def test_what_this_mucore_has_otherwise_is_named_and_refused():
    suite = description.load("mucore-bench-1-quick")
    task = suite.tasks[0]
    for update, named in (
        ({"metrics": {**suite.metrics, "ta": 7}}, ["metric ta", "7"]),
        ({"metrics": {**suite.metrics, "gone": 1}}, ["metric gone", "none"]),
        ({"objective_revision": 9}, ["score", "9"]),
        (
            {"tasks": (task.model_copy(update={"revisions": {**task.revisions, "engine": 0}}),)},
            ["engine", task.title],
        ),
        (
            {"tasks": (task.model_copy(update={"recipe": {**task.recipe, "epochs": 3}}),)},
            ["recipe standard"],
        ),
    ):
        other = suite.model_copy(update=update)
        other.__dict__.pop("hash", None)
        assert other.hash != suite.hash
        (change,) = description.changed(other)
        assert all(word in change for word in named)
        with pytest.raises(BadValue, match="new version"):
            description.check(other)


def test_a_pack_of_another_suite_does_not_mix():
    suite = description.load("mucore-bench-1-quick")
    assert description.same_suite({"id": suite.id, "hash": suite.hash}) == suite
    for content, says in (
        ({"id": suite.id, "hash": "0" * 24}, suite.hash),
        ({"id": "mucore-bench-9", "hash": suite.hash}, "mucore-bench-9"),
        ({}, "which one"),
        (None, "which one"),
    ):
        with pytest.raises(BadFile, match=says):
            description.same_suite(content)


def test_the_list_says_hashes(capsys):
    assert cli.main(["suite", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {each["id"]: each["hash"] for each in listed} == FROZEN
    assert cli.main(["suite", "list"]) == 0
    shown = capsys.readouterr()
    assert all(digest in shown.out for digest in FROZEN.values())


def test_lines_of_a_division():
    suite = description.load("mucore-bench-1-quick")
    runs = lines.runs_of(suite, "authors", lines.methods_of(["finetune", "scrub_rewind"]))
    seeds = len(suite.training_seeds)
    by_task = {each.task.scenario: each for each in runs}
    # of each seed the original's training, it under the scenario, Retrain and the methods
    assert [len(by_task[name].specs) for name in ("backdoor", "one_class")] == [
        4 * seeds,
        5 * seeds,
    ]
    (refused,) = by_task["backdoor"].missing
    assert (refused.method, refused.kind, refused.seed) == ("scrub_rewind", "refused", None)
    assert {spec.recipe.precision for each in runs for spec in each.specs} == {"fp32"}


def test_a_line_without_a_tuned_setting_is_missing_and_not_borrowed(monkeypatch):
    suite = description.load("mucore-bench-1-quick")
    task = suite.task("digits", "one_class")
    assert task is not None
    found = tuned_for(task, values={"lr": 0.02}, trials=24)
    # those of other amounts and another recipe are of other tasks
    more = replace(found, scenario_parameters=task.scenario_parameters | {"budget": 0.5})
    longer = replace(found, recipe=task.recipe | {"epochs": 30})
    monkeypatch.setattr(lines.tuning, "shipped", lambda: (more, longer))
    assert all(lines.tuned("finetune", each) is None for each in suite.tasks)
    monkeypatch.setattr(lines.tuning, "shipped", lambda: (more, longer, found))
    runs = lines.runs_of(suite, "tuned", lines.methods_of(["finetune", "sisa"]))
    kinds = {(m.scenario, m.method): m.kind for each in runs for m in each.missing}
    assert kinds == dict.fromkeys(
        [("backdoor", "finetune"), ("backdoor", "sisa"), ("one_class", "sisa")], "untuned"
    )
    tuned = [s for each in runs for s in each.specs if s.method == "finetune"]
    assert len(tuned) == len(suite.training_seeds)
    assert {(s.scenario, s.parameters["lr"]) for s in tuned} == {("one_class", 0.02)}
    runs = lines.runs_of(suite, "tuned", ["ssd"])
    reasons = {m.scenario: m.reason for each in runs for m in each.missing}
    assert reasons == dict.fromkeys(("one_class", "backdoor"), lines.UNTUNED)
