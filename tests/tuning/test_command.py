"""`tune` on the command line and in Python."""

import json

import pytest

import mucore.api as mu
from mucore import cli
from mucore.cli import tuning as command
from mucore.store import open_store
from mucore.tuning.study import studies_in

TINY = ["--dataset", "digits", "--model", "mlp", "--preset", "quick", "--set", "recipe.epochs=3"]
TASK = [*TINY, "--scenario", "class_wise"]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_a_plan_says_what_is_left_and_searches_nothing(home, capsys):
    asked = [*TASK, "--methods", "finetune,ssd,sisa", "--trials", "4", "--plan"]
    assert cli.main(["tune", *asked]) == 0
    said = capsys.readouterr().err
    # two methods with 4 settings on three seeds; 3 originals and 3 Retrains
    assert "24 trials" in said and "6 trainings" in said and "sisa is exact" in said
    assert not (home / "studies").exists()


@pytest.mark.slow
def test_a_search_ends_with_a_table_and_how_to_use_it(home, capsys):
    asked = ["tune", *TASK, "--methods", "ssd", "--trials", "3"]
    assert cli.main([*asked, "--json"]) in (0, 1)
    (found,) = json.loads(capsys.readouterr().out)
    (study,) = studies_in(home / "studies")
    assert (found["method"], found["settings"], found["trials"]) == ("ssd", 3, len(study.trials))
    assert found["finished"] and found["file"].endswith("ssd.json")
    choice = study.choice()
    assert found["score"] == (None if choice is None else choice.score)
    with open_store(home) as store:
        assert not store.jobs() and not store.results()  # a search is no comparison
    assert cli.main(asked) == (1 if choice is None else 0)
    shown = capsys.readouterr()
    assert "All of it is there already" in shown.err and "ssd" in shown.out
    assert ("--method-preset tuned" in shown.err) == (choice is not None)


@pytest.mark.slow
def test_ctrl_c_keeps_what_has_ended(home, capsys, monkeypatch):
    def impatient(event, wish):
        if event.study is not None and len(event.study.trials) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(command, "_show", impatient)
    assert cli.main(["tune", *TASK, "--methods", "finetune", "--trials", "6"]) == 130
    (study,) = studies_in(home / "studies")
    assert len(study.trials) == 2 and "goes on from there" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--methods", "finetune", "--set", "finetune.lr=0.1"], "finetune.lr"),
        (["--methods", "finetune", "--trials", "0"], "trials"),
        (["--methods", "finetune", "--cap", "2"], "(0, 1]"),
        (["--methods", "finetune", "--jobs", "0"], "one process"),
        (["--methods", "sisa"], "exact"),
        (["--methods", "fintune"], "finetune"),
    ],
)
def test_a_wrong_request_is_a_sentence(flags, says, home, capsys):
    assert cli.main(["tune", *TASK, *flags]) == 2
    assert says in capsys.readouterr().err
    assert not (home / "studies").exists()


@pytest.mark.slow
def test_python_gives_a_row_a_study_that_compare_takes(home):
    frame = mu.tune(
        dataset="digits",
        model="mlp",
        preset="quick",
        recipe={"epochs": 3},
        scenario="class_wise",
        methods=["gradient_ascent", "ssd"],
        trials=4,
        home=home,
        device="cpu",
    )
    assert list(frame["method"]) == ["gradient_ascent", "ssd"]
    studies = {study.method: study for study in studies_in(home / "studies")}
    for row in frame.to_dict("records"):
        choice = studies[row["method"]].choice()
        assert row["values"] == (None if choice is None else dict(choice.values))
