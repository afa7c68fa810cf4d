"""`mucore.api.compare`, as a script or notebook calls it."""

import subprocess
import sys
from typing import Any

import pytest

import mucore.api as mu
from mucore.errors import BadValue, MucoreError, UnknownName
from mucore.runner.plan import Plan
from mucore.store import open_store


def compare(home, **changes):
    content: dict[str, Any] = {
        "dataset": "digits",
        "model": "mlp",
        "preset": "quick",
        "recipe": {"epochs": 2},
        "home": home,
        "device": "cpu",
    }
    return mu.compare(**{**content, **changes})


def test_a_comparison_comes_back_as_a_frame_and_is_cached(tmp_path):
    frame = compare(tmp_path, scenario="class_wise", methods=["finetune", "ssd"], seeds=[0, 1])
    assert sorted(frame["method"].value_counts().to_dict().items()) == [
        ("finetune", 2),
        ("original", 2),
        ("retrain", 2),
        ("ssd", 2),
    ]
    retrain = frame[frame["method"] == "retrain"]
    assert (retrain["fa"] == 0).all()  # it never saw the class
    again = compare(tmp_path, scenario="class_wise", methods=["finetune", "ssd"], seeds=[0, 1])
    assert list(again["finished"]) == list(frame["finished"])
    alone = compare(
        tmp_path,
        scenario="class_wise",
        methods="ssd",
        seeds=1,
        unlearning_seeds=0,
        noise=0.0,
        scopes="all",
    )
    assert set(alone["key"]) <= set(frame["key"]) and set(alone["training_seed"]) == {1}


def test_what_is_stored_comes_back_as_a_frame_and_as_a_table(tmp_path):
    frame = compare(tmp_path, scenario="class_wise", methods=["ssd"])
    stored = mu.results(home=tmp_path, scenario="class_wise", method="ssd", metrics=["fa", "ta"])
    assert [*stored["key"]] == [*frame.loc[frame["method"] == "ssd", "key"]]
    assert [*stored.columns[-4:]] == ["fa", "fa_gap", "ta", "ta_gap"]
    text = mu.export("latex", home=tmp_path, metrics="ta", caption="Ours")
    assert "Ours" in text and text.count("SSD") == 1 and "\\begin" in text
    assert len(mu.export(home=tmp_path).splitlines()) == 1 + len(mu.results(home=tmp_path))
    wrong: list[dict[str, Any]] = [{"format": "html"}, {"method": "nobody"}, {"colour": "red"}]
    for each in wrong:
        with pytest.raises(MucoreError):
            mu.export(home=tmp_path, **each)


# what the process has loaded, asked for after the import and after each call
LOADED = """
import sys
import mucore.api as mu
def heavy(*names):
    return ",".join(name for name in names if name in sys.modules) or "none"
print(heavy("torch", "pandas", "numpy", "scipy", "sklearn", "sqlalchemy", "pydantic"))
setting = dict(dataset="digits", model="mlp", preset="quick", recipe={{"epochs": 2}}, home={home!r})
print(len(mu.compare(**setting, scenario="class_wise", methods=["ssd"])))
print(heavy("torch", "sklearn"))
print(mu.statistics(metric="ta", home={home!r}).metric)
print(heavy("torch", "sklearn"))
"""


@pytest.mark.slow
def test_what_is_stored_is_read_without_torch(tmp_path):
    compare(tmp_path, scenario="class_wise", methods=["ssd"])
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(home=str(tmp_path))],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["none", "3", "none", "ta", "none"]


def test_nothing_computed_is_a_sentence(tmp_path):
    with pytest.raises(BadValue, match="leave something to retain"):
        compare(
            tmp_path, scenario="all_classes", scenario_parameters={"budget": 100_000}, methods="ssd"
        )
    with pytest.raises(MucoreError, match="0 to 1796"):
        compare(tmp_path, scenario="ids", scenario_parameters={"ids": [10**9]}, methods="ssd")


def test_an_interrupt_keeps_what_is_finished_and_leaves_nothing_running(tmp_path, monkeypatch):
    from mucore import training

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "retrain", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compare(tmp_path, methods=["finetune"])
    store = open_store(tmp_path)
    assert {job.state for job in store.jobs()} == {"done", "cancelled"}
    assert len(store.summaries()) == 1  # the original's training
    store.close()


def test_parameters_of_a_method_that_does_not_run_are_refused(tmp_path):
    with pytest.raises(UnknownName, match="of this comparison named 'scrub'"):
        compare(tmp_path, methods=["finetune"], parameters={"scrub": {"lr": 0.1}})
    with pytest.raises(UnknownName, match="finetune"):
        compare(tmp_path, methods=["finetune"], parameters={"fintune": {"lr": 0.1}})


def test_a_method_that_no_scenario_takes_is_refused_and_one_of_some_is_warned_of(
    tmp_path, monkeypatch
):
    with pytest.raises(BadValue, match="gkt runs in none of the chosen scenarios"):
        compare(tmp_path, scenario="one_class", methods=["gkt"])
    monkeypatch.setattr("mucore.runner.local.compute", lambda *_, **__: [])
    with pytest.warns(UserWarning, match="Left out: gkt does not run under scenario one_class"):
        compare(tmp_path, scenario=["one_class", "class_wise"], methods=["gkt"])


def test_of_all_methods_those_that_a_card_refuses_are_left_out_without_a_word(
    tmp_path, monkeypatch
):
    planned: list[Plan] = []
    monkeypatch.setattr(
        "mucore.runner.local.compute", lambda plan, *_, **__: planned.append(plan) or []
    )
    compare(tmp_path, scenario="one_class", methods="all")  # a warning is an error in tests
    (plan,) = planned
    assert "gkt" in {refusal.method for refusal in plan.refused}


def test_a_run_that_somebody_cancelled_is_warned_of(tmp_path, monkeypatch):
    from mucore.runner import worker

    def cancelled(store, **_):
        for job in reversed(store.jobs()):
            store.cancel(job.id)

    monkeypatch.setattr(worker, "work", cancelled)
    with pytest.raises(MucoreError, match="cancelled"):
        compare(tmp_path, methods=["finetune"])


def test_a_filter_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(UnknownName, match="Did you mean dataset"):
        mu.statistics(home=tmp_path, datasets="digits")


@pytest.mark.parametrize("name", ["keys", "method"])
def test_a_filter_of_the_store_alone_is_refused(tmp_path, name):
    asked: dict[str, Any] = {name: 5}
    with pytest.raises(UnknownName) as problem:
        mu.statistics(home=tmp_path, **asked)
    assert problem.value.name == name
