"""A request of two persons, from their names to the report and to what is left of them."""

import json
from typing import Any

import numpy as np
import pytest
from archives import IMAGES_EACH, people
from facts import tells

import mucore.api as mu
from mucore import cli, purge
from mucore.errors import UnknownName
from mucore.export import request
from mucore.forget_sets import persons
from mucore.outputs import Outputs, SplitOutputs
from mucore.store import open_store


def test_two_persons_are_forgotten_reported_and_purged_by_name(tmp_path, monkeypatch, capsys):
    people(tmp_path / "crm")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "home"))
    recipe = {"epochs": 1, "validation_from": "test"}
    setting: dict[str, Any] = {"dataset": "folder:crm", "model": "mlp", "recipe": recipe}
    asked: dict[str, Any] = {"scenario": "identities", "methods": ["finetune"], "device": "cpu"}
    two = {"persons": ["p4", "p30"]}
    frame = mu.compare(**setting, **asked, preset="quick", scenario_parameters=two)
    # in the order of texts: p11, p17, p2, p30, p4, p9
    (rule,) = {*frame["scenario_parameters"]}
    assert json.loads(rule)["persons"] == [4, 3]
    assert {*frame["forget_count"]} == {2 * IMAGES_EACH}
    with pytest.raises(UnknownName):
        mu.compare(**setting, **asked, scenario_parameters={"persons": ["anna"]})
    written = mu.report(dataset="folder:crm")
    assert tells(written, "16 of 32", "hash", frame["forget_hash"][0])
    assert tells(written, "identities", "p4, p30")
    who = {line.split("|")[1].strip() for line in written.splitlines() if "| Fine-tune |" in line}
    assert {"p4", "p30"} <= who
    file = tmp_path / "report.md"
    assert cli.main(["report", "--scenario", "identities", "--output", str(file)]) == 0
    assert file.read_text().splitlines()[4:] == written.splitlines()[4:]
    # a relative path means the same data, and a change leaves no row that is known
    rows = persons.rows("p4,p30", "folder:crm")
    assert len(rows) == 2 * IMAGES_EACH
    with open_store() as store:
        found = purge.left(store, "folder:crm", rows)
        assert len(found.outputs) == len(frame) + 1
        (tmp_path / "crm" / "train" / "p4-0.png").unlink()
        table = tmp_path / "crm" / "labels.csv"
        table.write_text(table.read_text().replace("train/p4-0.png,a,p4\n", ""))
        changed = purge.left(store, "folder:crm", persons.rows("p30", "folder:crm"))
        assert {*found.outputs} == {*changed.outputs}
    command = ["purge", "--dataset", "folder:crm", "--persons"]
    capsys.readouterr()
    assert cli.main([*command, "p4,p30"]) == 0 and "--yes" in capsys.readouterr().out
    assert cli.main([*command, "p4,p31"]) == 2 and "p31" in capsys.readouterr().err
    assert cli.main([*command, "p4", "--ids", "3"]) == 2


def outputs(correct: dict[str, list[float]]) -> Outputs:
    """Two classes, label 0, with the confidence in it."""
    parts = {}
    for name, values in correct.items():
        p = np.array(values)
        logits = np.stack([np.log(p), np.log(1 - p)], 1).astype(np.float32)
        zeros, ids = np.zeros(len(p), np.int64), np.arange(len(p))[::-1]
        parts[name] = SplitOutputs(
            logits=logits, labels=zeros, ids=ids, confusion=np.zeros((2, 2), np.int64)
        )
    return Outputs(parts)


def test_an_attack_that_tells_sides_apart_says_whom_it_has_seen_by_rising_id():
    spec = {"mia_samples": 2000, "evaluation_seed": 0}
    sides = {"retain": [0.99] * 100, "test": [0.6] * 100, "forget": [0.99, 0.6, 0.6, 0.6]}
    seen, accuracy, blind = request.called_seen(outputs(sides), spec)
    assert seen.tolist() == [False, False, False, True] and accuracy == 1.0 and not blind
    sides["test"] = sides["retain"]
    assert request.called_seen(outputs(sides), spec)[2]
    # Wilson by hand: (k + z²/2 ± z √(k(n-k)/n + z²/4)) / (n + z²), z = 1.96
    assert request._interval(np.array([True] * 3 + [False] * 9)) == "9 to 53 %"
