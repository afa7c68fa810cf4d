"""`python -m mucore check FILE`: the example passes, and each broken rule is found and said in
words.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mucore import cli
from mucore.catalog import plugins
from mucore.runner import child
from mucore.testing import contract

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "gaussian_noise.py"

FILE = """
import random

import numpy as np
import torch
from torch import nn
from mucore.catalog import MethodCard

CARD = MethodCard(
    id="tried", title="Tried", family="own", source="This test", summary="Does one thing wrong.",
    reads=frozenset({"forget"})
)


def tried(model, data, run):
    for batch in data.forget.batches(run, 64):
        run.check()
    BODY
"""

RULES = {
    "runs": "it runs on small problems and gives a network of the original's form",
    "finite": "the weights are finite",
    "seed": "the same seed gives the same weights, whatever else draws random numbers",
    "reads": "sets that the card does not name stay unread",
    "stops": "it stops when it is cancelled",
    "one": "a forget set of one sample works",
}
# What the function does at its end -> the one rule that it breaks, and words of the advice
FAULTS = {
    "nothing comes back": ("model.eval()", "runs", "NoneType"),
    "an error": ("raise ValueError('no luck')", "runs", "ValueError: no luck (line 18)"),
    "another head": (
        "model[-1] = nn.Linear(512, 3); return model",
        "runs",
        "no network of the original's form",
    ),
    "half precision": ("return model.half()", "runs", "no network of the original's form"),
    "a hook": ("model.register_forward_hook(lambda *a: a[2] * 0); return model", "runs", "hook"),
    "a mask": (
        "from torch.nn.utils import prune; prune.random_unstructured(model[-1], 'weight', 0.5); "
        "return model",
        "runs",
        "no network of the original's form",
    ),
    "not a number": (
        "next(model.parameters()).data.fill_(torch.nan); return model",
        "finite",
        "not a number",
    ),
    "global draws": (
        "next(model.parameters()).data += torch.randn(()); return model",
        "seed",
        "run.rng(",
    ),
    "an unnamed set": (
        "next(data.retain.batches(run, 64)); return model",
        "reads",
        "was read (line 18)",
    ),
    "one sample": (
        "assert len(data.forget) > 1, 'too few'; return model",
        "one",
        "AssertionError: too few (line 18)",
    ),
}


def write(folder: Path, body: str, *changes: tuple[str, str]) -> Path:
    text = FILE.replace("BODY", body)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "tried.py"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the originals, once they are trained."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def failed(home: Path) -> Callable[[Path], dict[str, str]]:
    def broken(path: Path) -> dict[str, str]:
        return {
            each.rule: each.message for each in contract.check_file(path, home) if not each.passed
        }

    return broken


@pytest.mark.slow
def test_the_example_keeps_every_rule(capsys):
    assert cli.main(["check", str(EXAMPLE)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4 + len(RULES) and all(line.startswith("pass  ") for line in lines)
    assert [line.removeprefix("pass  ") for line in lines[4:]] == list(RULES.values())


@pytest.mark.parametrize("body, rule, words", FAULTS.values(), ids=FAULTS)
def test_each_fault_is_found_and_nothing_else(tmp_path, home, failed, body, rule, words):
    found = failed(write(tmp_path, body))
    assert list(found) == [RULES[rule]]
    assert words in found[RULES[rule]]


def test_a_method_that_never_asks_does_not_stop(tmp_path, home, failed):
    found = failed(write(tmp_path, "return model.eval()", ("run.check()", "pass")))
    assert list(found) == [RULES["stops"]] and "run.check()" in found[RULES["stops"]]


def test_a_method_that_swallows_the_cancel_does_not_stop(tmp_path, home, failed):
    change = (
        "        run.check()\n",
        "        try:\n            run.check()\n        except Exception:\n            pass\n",
    )
    assert list(failed(write(tmp_path, "return model.eval()", change))) == [RULES["stops"]]


def test_a_class_wise_method_is_tried_on_classes_alone(tmp_path, home, failed):
    change = (
        'frozenset({"forget"})',
        (
            'frozenset({"forget"}), scenarios=frozenset({"class_wise"}), scenarios_reason="Needs '
            'classes."'
        ),
    )
    path = write(tmp_path, "assert data.forgotten_classes == (0,); return model.eval()", change)
    checks = list(contract.check_file(path, home))
    assert all(check.passed for check in checks)


def test_a_method_that_refuses_classes_is_tried_without(tmp_path, home, failed):
    change = (
        'frozenset({"forget"})',
        'frozenset({"forget"}), scenarios=frozenset({"ids"}), scenarios_reason="Needs samples."',
    )
    assert not failed(
        write(tmp_path, "assert data.forgotten_classes == (); return model.eval()", change)
    )


def test_later_rules_wait_for_earlier_ones(tmp_path, home, failed):
    path = write(tmp_path, "return model.eval()", ('family="own"', 'family="teacher"'))
    (only,) = contract.check_file(path, home)
    assert not only.passed and "'own'" in only.message
    *_, last = contract.check_file(
        write(tmp_path, "return model.eval()", ("import random", "import random_typo")), home
    )
    assert last.rule == "the file can be imported" and "random_typo" in last.message
    *_, last = contract.check_file(
        write(tmp_path, "return model.eval()", ("(model, data, run)", "(model, data, run, rate)")),
        home,
    )
    assert not last.passed
    assert last.message.endswith("Write def tried(model, data, run).")


def test_a_taken_name_is_said(tmp_path, home, failed):
    path = tmp_path / "scrub.py"
    path.write_text(
        write(tmp_path, "return model.eval()").read_text().replace("tried", "scrub"),
        encoding="utf-8",
    )
    assert "belongs to a method of mucore" in failed(path)["the name is free"]


def test_a_file_in_a_named_folder_does_not_clash_with_itself(tmp_path, home, failed, monkeypatch):
    path = write(tmp_path, "return model.eval()")
    monkeypatch.setenv(plugins.FOLDERS, str(tmp_path))
    assert not failed(path)


@pytest.mark.slow
def test_json_and_exit_codes(tmp_path, capsys):
    assert cli.main(["check", str(write(tmp_path, "return 1")), "--json"]) == 1
    checks = json.loads(capsys.readouterr().out)
    assert {check["rule"]: check["passed"] for check in checks}[RULES["runs"]] is False
    assert all(check["passed"] == (check["message"] == "") for check in checks)
    assert cli.main(["check", str(tmp_path / "nowhere.py")]) == 2
    assert "There is no file" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    "body, words",
    [
        ("import sys; sys.exit(0)", "SystemExit: 0 (tried.py, line 18)"),
        ("while True: pass", child.SECONDS),
    ],
    ids=["leaves", "never ends"],
)
def test_one_that_ends_its_process_breaks_a_rule(tmp_path, monkeypatch, capsys, body, words):
    monkeypatch.setenv(child.SECONDS, "5" if words == child.SECONDS else "60")
    assert cli.main(["check", str(write(tmp_path, body)), "--json"]) == 1
    *kept, last = json.loads(capsys.readouterr().out)
    assert len(kept) == 4 and all(check["passed"] for check in kept)
    assert not last["passed"] and words in last["message"]
