"""Packs: what is in one, that its numbers come out again, that a lie is named, and that nothing
unsafe is read.
"""

import gzip
import hashlib
import json
import os
import pickle
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mucore.api as mu
from mucore import cli
from mucore.errors import BadFile, BadValue
from mucore.outputs import Outputs
from mucore.runs import RunSpec
from mucore.store import open_store
from mucore.store.artifacts import Artifacts
from mucore.suite import description
from mucore.suite import pack as packs
from mucore.suite import repeat as repeats
from mucore.suite.board import board
from mucore.suite.verify import verify

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]


def test_what_a_pack_holds(ran):
    with packs.opened(ran[1]) as pack:
        assert (pack.suite.id, pack.division) == ("mucore-bench-1-quick", "authors")
        # 5 seeds: two originals, two references a task, finetune in both, scrub_rewind in one
        assert len(pack.results) == 5 * (2 + 4 + 2 + 1)
        assert [(m.method, m.scenario, m.kind) for m in pack.missing] == [
            ("scrub_rewind", "backdoor", "refused")
        ]
        assert all(result.outputs and not result.weights for result in pack.results.values())
        assert pack.about["suite"]["licences"] == {"digits": "CC BY 4.0"}
        assert not pack.store.comparisons()  # names of a person's own comparisons stay at home
        one = next(iter(pack.results.values()))
        assert all(split.features is None for split in pack.outputs(one).values())


def test_a_second_process_verifies_it_without_torch(ran):
    code = (
        "import sys; from mucore import cli; code = cli.main(sys.argv[1:])\n"
        "print('torch' in sys.modules, file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "suite", "verify", str(ran[1]), "--json"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["problems"] == [] and found["numbers"] > 35 * len(found["runs"])
    assert done.stderr.splitlines()[-1] == "False"
    kept = set(found["not_computed"])
    assert "ta" not in kept and {"l2", "rte", "rte_work", "work", "optimizer_steps"} <= kept


def test_features_can_travel_and_are_verified_then(ran, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MUCORE_HOME", str(ran[0]))
    out = tmp_path / "whole"
    asked = "mucore-bench-1-quick --division authors --methods finetune --pack-only".split()
    assert cli.main(["suite", "run", *asked, "--features", "--out", str(out)]) == 0
    capsys.readouterr()
    with packs.opened(out) as pack:
        found = verify(pack)
    assert found.problems == [] and not {"linear_probe", "cka_retrain_test"} & found.kept
    made = pack.about["suite"]["commands"]["made"].split()
    assert made[3:] == ["suite", "run", *asked[:-1], "--features"]


def test_one_line_of_the_quick_twin_repeats(ran, capsys):
    with packs.opened(ran[1]) as pack:
        key = next(
            key
            for key, spec in pack.specs.items()
            if (spec.method, spec.scenario, spec.training_seed) == ("finetune", "one_class", 3)
        )
        cost = pack.results[key].cost
    assert cli.main(["suite", "repeat", str(ran[1]), "--key", key[:12], "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["key"], found["same"], found["differences"]) == (key, True, [])
    assert cost["threads"] == 1  # or another number of cores would add up in another order


def test_a_line_that_was_made_elsewhere_repeats_here(capsys):
    """The pack is of an earlier version of mucore on another machine: SCRUB under backdoor, seed 0.
    What its verdict rests on comes out again, within the band of Retrain against Retrain where the
    processor is another.
    """
    path = Path(__file__).with_name("packs") / "quick-line.zip"
    with packs.opened(path) as pack:
        (key,) = (key for key, spec in pack.specs.items() if spec.method == "scrub")
    assert cli.main(["suite", "verify", str(path)]) == 0
    capsys.readouterr()
    assert cli.main(["suite", "repeat", str(path), "--key", key, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["key"] == key
    assert not any(each["beyond"] for each in found["differences"])


def test_a_repetition_tells_another_result(tampered):
    row = tampered.row("finetune")
    row["metrics"]["tra"]["value"] -= 0.3
    tampered.save()
    found = mu.repeat_run(tampered.path, row["key"])
    assert found.same and not found.agrees
    (difference,) = found.differences
    assert difference.metric == "tra" and difference.beyond
    within = repeats.Difference("tra", 0.9, 0.901, 0.01)
    assert not within.beyond and not repeats.Difference("l2", 0.0, 9.0, None).beyond
    assert repeats.Difference("tra", None, 0.9, 0.01).beyond


def test_a_run_that_the_suite_does_not_ask_for_is_not_repeated(tampered, monkeypatch):
    monkeypatch.setattr(repeats, "execute", None)
    row = tampered.row("finetune")
    row["spec"]["recipe"]["epochs"] += 1
    row["key"] = RunSpec.model_validate(row["spec"]).key
    training = tampered.row("original", scenario=None)["key"]
    tampered.save()
    assert cli.main(["suite", "repeat", str(tampered.path), "--key", row["key"]]) == 1
    with pytest.raises(BadFile):
        mu.repeat_run(tampered.path, row["key"])
    with pytest.raises(BadValue):
        mu.repeat_run(tampered.path, training)


# -- lies, each with all hashes made anew


def only(problems, *words):
    assert problems, "nothing was noticed"
    assert any(all(word in each.sentence for word in words) for each in problems), problems


def changed_outputs(tampered, row, change):
    files = Artifacts(tampered.path / "artifacts")
    outputs = dict(files.get_outputs(row["outputs"]))
    change(outputs)
    row["outputs"] = files.put_outputs(Outputs(outputs))


def told(tampered, count=3):
    """What is said of each of finetune's rows, and of no other."""
    keys = [tampered.row("finetune", seed)["key"] for seed in range(count)]
    problems = tampered.problems()
    assert {each.key for each in problems} == {*keys}, problems
    return [[each for each in problems if each.key == key] for key in keys]


def test_changed_numbers(tampered, tiny_pack):
    assert mu.verify_pack(tiny_pack).empty and tampered.problems() == []
    number, gap, cost = (tampered.row("finetune", seed) for seed in range(3))
    number["metrics"]["ta"]["value"] += 0.0025  # one test sample
    gap["metrics"]["fa"]["gap"] = 0.0123
    del gap["metrics"]["tra"]
    cost["cost"]["steps"] += 1
    first, second, third = told(tampered)
    assert [each.line for each in first] == ["finetune under class_wise, seed 0"]
    only(first, "ta ")
    assert len(second) == 2
    only(second, "gap of fa", "0.0123")
    only(second, "tra is None")
    only(third, "optimizer")
    rows = mu.verify_pack(tampered.path)
    assert {*rows["key"]} == {number["key"], gap["key"], cost["key"]}


def test_changed_predictions(tampered):
    def better(outputs):
        logits = outputs["test"].logits.copy()
        logits[np.arange(len(logits)), outputs["test"].labels] += 50
        outputs["test"] = replace(outputs["test"], logits=logits)

    def relabelled(outputs):
        split = outputs["test"]
        counts = np.zeros_like(split.confusion)
        predicted = split.logits.argmax(axis=1)
        np.add.at(counts, (predicted, predicted), 1)
        outputs["test"] = replace(split, labels=predicted, confusion=counts)
        agreeing["confusion"]["test"] = counts.tolist()
        agreeing["metrics"]["ta"]["value"] = 1.0

    row, agreeing, damaged = (tampered.row("finetune", seed) for seed in range(3))
    changed_outputs(tampered, row, better)
    changed_outputs(tampered, agreeing, relabelled)
    file = tampered.path / "artifacts" / damaged["outputs"][:2] / damaged["outputs"]
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(bytes(content))
    first, second, third = told(tampered)
    only(first, "do not follow from its predictions on test")
    only(first, "mia_confidence")
    only(second, "test set has other samples or labels than Retrain's")
    only(third, "damaged")
    file.unlink()
    assert told(tampered)[2]


def test_a_tuned_pack_says_what_search_its_settings_had(tuned_pack, tampered_tuned):
    with packs.opened(tuned_pack) as pack:
        (found,) = pack.settings["class_wise"].values()
        assert (found.values, found.trials, found.cap, found.open) == (
            {"lr": 0.02},
            100,
            1 / 3,
            False,
        )
        assert verify(pack).problems == []
        (division,) = board([("tuned", pack)]).divisions
        (mark,) = division.tables[0].lines[0].marks
        assert "100" in mark
    copy = tampered_tuned
    said = copy.about["suite"]["settings"]["class_wise"]["finetune"]
    for wrong in ({"trials": "24"}, {"trials": -1}, {"cap": 7}, {"values": [1]}):
        copy.about["suite"]["settings"]["class_wise"]["finetune"] = said | wrong
        with pytest.raises(BadFile):
            copy.problems()


def test_another_forget_set(tampered):
    def fewer(outputs):
        split = outputs["forget"]
        half = slice(None, len(split) // 2)
        outputs["forget"] = replace(
            split, logits=split.logits[half], labels=split.labels[half], ids=split.ids[half]
        )

    changed_outputs(tampered, tampered.row("retrain"), fewer)
    only(tampered.problems(), "forgets other samples")


def test_words_that_a_verdict_goes_by(tampered):
    row = tampered.row("finetune")
    row["flags"] = [*row["flags"], "The model collapsed: 99 % of its test predictions are class 1."]
    row["notes"] = [note for note in row["notes"] if not note.startswith("These membership")] + [
        "These membership attacks cannot tell members from non-members here, so their efficacy is "
        "not evidence: confidence."
    ]
    only(tampered.problems(), "collapsed")


def test_a_line_that_is_left_out(tampered):
    tampered.rows.remove(tampered.row("finetune", 2))
    (problem,) = tampered.problems()
    assert problem.line == "finetune under class_wise, seed 2" and problem.key == ""
    tampered.about["suite"]["missing"] = []
    assert {each.line for each in tampered.problems()} == {
        "finetune under class_wise, seed 2",
        *(f"scrub_rewind under class_wise, seed {seed}" for seed in range(3)),
    }
    tampered.rows.remove(tampered.row("retrain", 0))
    only(tampered.problems(), "no Retrain")


def test_settings_of_nobodys_division(tampered):
    row = tampered.row("finetune")
    row["spec"]["parameters"]["lr"] *= 2
    row["key"] = RunSpec.model_validate(row["spec"]).key
    problems = tampered.problems()
    assert {each.key for each in problems} == {row["key"]}
    only(problems, "division authors")


def renamed(row, method, method_hash, **parameters):
    """The row as one of another method, with a key that is right."""
    row["spec"] |= {"method": method, "method_hash": method_hash, "parameters": parameters}
    spec = RunSpec.model_validate(row["spec"])
    row["key"] = spec.key
    return row


def test_a_file_of_ones_own_that_calls_itself_a_method_of_mucores(tampered):
    row = renamed(tampered.row("finetune"), "scrub", "a" * 16, lr=123.0)
    assert row["key"] in {each.key for each in tampered.problems()}


def own(tampered, *settings):
    """The pack with a method `mine` instead of finetune, run with these settings by seed."""
    for seed, parameters in enumerate(settings):
        renamed(tampered.row("finetune", seed), "mine", "a" * 16, **parameters)
    about = tampered.about["suite"]
    about["methods"] = ["mine" if name == "finetune" else name for name in about["methods"]]
    return tampered


def test_a_method_of_ones_own_has_one_setting_and_one_file(tampered):
    assert own(tampered, *[{"lr": 0.1}] * 3).problems() == []
    other = renamed(tampered.row("mine"), "mine", "a" * 16, lr=0.2)
    (problem,) = tampered.problems()
    assert (problem.line, problem.key) == ("mine under class_wise", "")
    renamed(other, "mine", "b" * 16, lr=0.1)
    (problem,) = tampered.problems()
    assert (problem.line, problem.key) == ("mine", "")
    # two runs of one seed, of which any might count
    more = json.loads(json.dumps(other))
    renamed(other, "mine", "a" * 16, lr=0.1)
    tampered.rows.append(renamed(more, "mine", "a" * 16, lr=0.3))
    assert [each.line for each in tampered.problems()] == ["mine under class_wise"]


def test_a_tuned_method_of_ones_own_ran_with_what_the_pack_says(tampered_tuned):
    copy = own(tampered_tuned, *[{"lr": 0.1, "epochs": 1}] * 3)
    settings = copy.about["suite"]["settings"]["class_wise"]
    settings["mine"] = settings.pop("finetune") | {"values": {"lr": 0.1}}
    assert copy.problems() == []
    for values in ({"lr": 9.0}, {"lr": 0.1, "depth": 3}):
        settings["mine"]["values"] = values
        assert {each.key for each in copy.problems()} == {
            row["key"] for row in copy.rows if row["spec"]["method"] == "mine"
        }
    del settings["mine"]
    assert len(copy.problems()) == 3


@pytest.mark.parametrize(
    ("change", "says"),
    [({"training_seed": 77}, "key"), ({"noise": 0.1, "key": True}, "not a run that")],
)
def test_a_run_that_the_suite_does_not_ask_for(tampered, change, says):
    row = tampered.row("finetune")
    for name, value in change.items():
        place = row["spec"]
        *above, last = name.split(".")
        for part in above:
            place = place[part]
        if name != "key":
            place[last] = value
    if "key" in change and "method" not in change:
        row["key"] = RunSpec.model_validate(row["spec"]).key
    problems = [each for each in tampered.problems() if each.key == row["key"]]
    only(problems, says)


# -- what is no pack, or is not safe to read


def refused(path, words=None):
    with pytest.raises(BadFile, match=words), packs.opened(path):
        pass


PARTS = [
    {"division": "open"},
    {"methods": 3},
    {"missing": [{"nonsense": 1}]},
    {"missing": [{"scenario": "x", "method": "a", "kind": "lost", "reason": ""}]},
    {"settings": [1]},
    {"licences": None},
    {"sha256": ["results/a.jsonl.gz"]},
    {"format": float("inf")},
    *({name: None} for name in ("mucore", "results")),
]


def test_a_broken_description(tampered):
    tampered.save()
    whole = json.dumps(tampered.about)
    for part in PARTS:
        about = json.loads(whole)
        (about if about.keys() & part.keys() else about["suite"]).update(part)
        (tampered.path / "pack.json").write_text(json.dumps(about))
        refused(tampered.path)
    assert cli.main(["suite", "verify", str(tampered.path)]) == 1


def test_rows_of_nonsense(tampered):
    tampered.save()
    tampered.rows_file.write_bytes(tampered.rows_file.read_bytes()[:-9])
    refused(tampered.path, "damaged")  # without their hash
    name = tampered.rows_file.relative_to(tampered.path).as_posix()
    for text in (b"{not json\n", b"\xff\xfe\n", b"[" * 200_000 + b"\n"):
        content = gzip.compress(text)
        tampered.rows_file.write_bytes(content)
        tampered.about["sha256"][name] = hashlib.sha256(content).hexdigest()
        (tampered.path / "pack.json").write_text(json.dumps(tampered.about))
        refused(tampered.path)
    assert cli.main(["suite", "verify", str(tampered.path)]) == 1


def test_another_suite(tampered, capsys):
    tampered.about["suite"]["hash"] = "0" * 24
    tampered.save()
    assert cli.main(["suite", "verify", str(tampered.path)]) == 1
    assert "0" * 24 in capsys.readouterr().err
    assert cli.main(["suite", "repeat", str(tampered.path), "--key", "a"]) == 1


class Bad:
    def __reduce__(self):
        return os.system, ("touch ran",)


def test_a_zip_with_anything_else_is_not_unpacked(tampered, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tampered.save()
    file = tmp_path / "p.zip"
    with zipfile.ZipFile(file, "w") as archive:
        for each in tampered.path.rglob("*"):
            if each.is_file():
                archive.write(each, each.relative_to(tampered.path).as_posix())
    with packs.opened(file) as pack:
        assert len(pack.results) == 12
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("../out.jsonl", pickle.dumps(Bad()))
    with pytest.raises(BadFile, match="no part of a pack"), packs.opened(file):
        pass
    assert not (tmp_path / "ran").exists() and not (tmp_path / "out.jsonl").exists()


def zipped(folder, file, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(file, "w", compression) as archive:
        for each in sorted(folder.rglob("*")):
            archive.write(each, each.relative_to(folder).as_posix())
    return file


def test_links_lead_nowhere_and_sizes_are_looked_at_first(tampered, tmp_path, monkeypatch):
    tampered.save()
    with monkeypatch.context() as patch:
        patch.setattr(packs, "MOST_BYTES", 5)
        refused(tampered.path, "larger")
    (tampered.path / "results" / "more.jsonl.gz").symlink_to(tmp_path)
    refused(tampered.path, "no part of a pack")


def test_what_was_not_run_is_said(ran, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MUCORE_HOME", str(ran[0]))
    asked = ["mucore-bench-1-quick", "--methods", "finetune,ssd"]  # of the authors' division
    out = tmp_path / "p.zip"
    assert cli.main(["suite", "run", *asked, "--pack-only", "--out", str(out)]) == 1
    with packs.opened(out) as pack:
        assert pack.about["suite"]["division"] == "authors" and len(pack.missing) == 10
        assert {(m.method, m.kind) for m in pack.missing} == {("ssd", "not run")}
        assert verify(pack).problems == []


# -- running


def test_a_file_of_a_method_of_ones_own(tiny_folder, ran, tmp_path, monkeypatch):
    monkeypatch.setattr(description, "FOLDER", tiny_folder)
    monkeypatch.setenv("MUCORE_HOME", str(ran[0]))
    monkeypatch.setenv("MUCORE_PLUGINS", "")
    example = ROOT / "docs" / "examples" / "gaussian_noise.py"
    out = tmp_path / "mine"
    asked = ["tiny", "--division", "authors", "--methods", str(example), "--out", str(out)]
    assert cli.main(["suite", "run", *asked]) == 0
    monkeypatch.setenv("MUCORE_PLUGINS", "")  # who verifies it has not got the method
    with packs.opened(out) as pack:
        assert {spec.method for spec in pack.specs.values()} == {
            "original",
            "retrain",
            "gaussian_noise",
        }
        assert verify(pack).problems == []


def test_data_that_changed_are_refused_before_anything_runs(tiny_folder, tmp_path, monkeypatch):
    quick = description.load("mucore-bench-1-quick")
    task = quick.tasks[0].model_copy(update={"data_hash": "0" * 64})
    other = quick.model_copy(update={"id": "other", "tasks": (task,)})
    (tmp_path / "other.json").write_text(other.model_dump_json())
    monkeypatch.setattr(description, "FOLDER", tmp_path)
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "home"))
    asked = ["other", "--division", "authors", "--methods", "finetune"]
    assert cli.main(["suite", "run", *asked]) == 2
    with open_store(tmp_path / "home") as store:
        assert not store.jobs() and not store.results()


def test_a_board_of_the_quick_twin(ran, tmp_path, capsys):
    out = tmp_path / "site"
    assert cli.main(["suite", "board", str(ran[1]), "--out", str(out)]) == 0
    index = (out / "index.html").read_text(encoding="utf-8")
    with packs.opened(ran[1]) as pack:
        made = board([(ran[1].name, pack)])
        (division,) = made.divisions
        assert [each.task.scenario for each in division.tables] == ["one_class", "backdoor"]
        first = division.tables[0]
        assert {each.method for each in first.lines} == {"finetune", "scrub_rewind"}
        assert all(len(each.scores) == 5 for each in first.lines)
        assert all(score == 0 for score in first.retrain.scores.values())
        low, high = first.band["ta"]
        assert low == pytest.approx(-high)  # of ordered pairs
        missing = [each for each in division.tables[1].lines if each.group == "missing"]
        assert [each.method for each in missing] == ["scrub_rewind"]
        assert "does not run" in missing[0].reason
        keys = [key for key, spec in pack.specs.items() if spec.scenario is not None]
    assert made.suite.hash in index and all(index.count(key) == 1 for key in keys)
    assert not re.search(r"<script|<img|<link|https?://|@import|url\(", index)
    assert "default-src 'none'" in index and "prefers-color-scheme: dark" in index
    # again in its place, but never over anything else
    assert cli.main(["suite", "board", str(ran[1]), "--out", str(out)]) == 0
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    assert cli.main(["suite", "board", str(ran[1]), "--out", str(tmp_path / "mine")]) == 2
    assert "--out" in capsys.readouterr().err


def test_what_is_no_board(ran, tampered, tmp_path, capsys):
    tampered.row("finetune")["metrics"]["ta"]["value"] += 0.01
    tampered.save()
    out = str(tmp_path / "site")
    assert cli.main(["suite", "board", str(tampered.path), "--out", out]) == 1
    assert "finetune under class_wise, seed 1" in capsys.readouterr().err
    assert not (tmp_path / "site").exists()
    with packs.opened(ran[1]) as one, packs.opened(tampered.path) as other:
        with pytest.raises(BadFile, match="one suite"):
            board([("a", one), ("b", other)])
