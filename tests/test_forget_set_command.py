"""`python -m mucore forget-set`: ids out to a file, back in, and told apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from facts import tells

from mucore import cli

ONE = (
    "forget-set --dataset digits --scenario one_class --set scenario.class_id=3 --budget 0.05"
).split()
TWO = (
    "forget-set --dataset digits --scenario top_classes --set scenario.downstream=digits "
    "--set scenario.n=2"
).split()


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "home"))
    return tmp_path


def described(capsys, *arguments: str) -> dict:
    assert cli.main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_ids_go_to_stdout_as_the_file_that_comes_back(home, capsys):
    assert cli.main(ONE) == 0
    printed = capsys.readouterr()
    file = home / "ids.csv"
    assert cli.main([*ONE, "--output", str(file)]) == 0
    assert file.read_text() == printed.out and capsys.readouterr().out == ""
    found = described(capsys, *ONE)
    assert found["count"] == len(found["ids"]) == 6 and found["classes"] == []
    assert found["hash"] in printed.err
    ids = f"forget-set --dataset digits --scenario ids --set scenario.ids=@{file}"
    again = described(capsys, *ids.split())
    assert again == found


def test_a_file_is_verified_against_a_hash(home, capsys):
    file = home / "ids.csv"
    cli.main([*ONE, "--output", str(file)])
    found = described(capsys, *"forget-set --dataset digits --verify".split(), str(file))
    verify = ["forget-set", "--dataset", "digits", "--verify", str(file), "--hash"]
    assert cli.main([*verify, found["hash"]]) == 0
    assert cli.main([*verify, "0" * 16]) == 1
    assert f"have the hash {found['hash']}, and not 0000" in capsys.readouterr().err
    assert cli.main([*ONE, *verify[3:5]]) == 2, "either a scenario or a list"


def test_scenarios_that_look_at_the_original_train_it_once(capsys):
    trained = [*TWO, "--model", "mlp", "--set", "recipe.epochs=1"]
    first = described(capsys, *trained)
    assert len(first["classes"]) == 2
    assert described(capsys, *trained) == first
    assert cli.main(TWO) == 2
    assert tells(capsys.readouterr().err, "top_classes", "original", "--model")


def test_a_file_that_repeats_an_id_is_no_set(home, capsys):
    (home / "twice.csv").write_text("id\n4\n7\n4\n")
    assert cli.main(["forget-set", "--dataset", "digits", "--verify", str(home / "twice.csv")]) == 2
    assert "repeated are: 4" in capsys.readouterr().err


def test_a_method_that_goes_with_none_of_the_scenarios_is_refused(capsys):
    asked = ["plan", "--dataset", "digits", "--model", "mlp", "--methods", "gkt"]
    assert cli.main([*asked, "--scenario", "class_fraction"]) == 2
    assert tells(capsys.readouterr().err, "gkt", "none of the chosen scenarios")
    assert cli.main([*asked, "--scenario", "random_classes"]) == 0


def test_a_set_is_saved_by_name_listed_and_used_in_the_place_of_ids(home, capsys):
    asked = [*ONE, "--save", "my threes"]
    assert cli.main(asked) == 0
    printed = capsys.readouterr()
    assert printed.out == "" and "Saved as my threes." in printed.err
    assert cli.main(asked) == 2
    assert tells(capsys.readouterr().err, "'my threes'", "already")
    assert cli.main([*asked, "--replace"]) == 0
    capsys.readouterr()
    (saved,) = described(capsys, "forget-set", "--list")
    assert (saved["name"], saved["dataset"], saved["count"]) == ("my threes", "digits", 6)
    assert "one_class" in saved["made"][0] and "class_id=3" in saved["made"][0]
    used = ["forget-set", "--scenario", "ids", "--set"]
    found = described(capsys, *used, "scenario.ids=set:my threes", "--dataset", "digits")
    assert found["ids"] == described(capsys, *ONE)["ids"]
    file = home / "home" / "forget_sets" / "my threes.json"
    assert described(capsys, *used, f"scenario.ids=@{file}", "--dataset", "digits") == found
    verify = ["forget-set", "--dataset", "digits", "--verify", str(file), "--hash", found["hash"]]
    assert cli.main(verify) == 0
    capsys.readouterr()
    for way in ("set:my threes", f"@{file}"):
        assert cli.main([*used, f"scenario.ids={way}", "--dataset", "fashion-mnist-10k"]) == 2
        assert tells(capsys.readouterr().err, "digits", "fashion-mnist-10k")
    plan = ["plan", "--dataset", "digits", "--model", "mlp", "--methods", "finetune", "--scenario"]
    assert cli.main([*plan, "ids", "--set", "ids.ids=set:my threes"]) == 0
    assert cli.main([*plan, "one_class", "--then", "ids ids=set:other"]) == 2
    assert "no forget set named 'other'" in capsys.readouterr().err
