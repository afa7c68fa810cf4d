"""More runs than anybody reads, and runs larger than any machine, are refused before they are
listed: at every door, with the numbers and a way out.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from facts import numbers

from mucore import api, cli
from mucore.errors import BadValue
from mucore.runner.estimate import check_fit, fit_of, machine
from mucore.runner.estimate.memory import SURE
from mucore.runner.grid import MOST_RUNS
from mucore.runs import make_recipe, make_spec

TINY = ["--dataset", "digits", "--model", "mlp", "--scenario", "one_class"]
# Twelve sweeps of ten values each; eighty ranges that are each within the limit of a flag.
SWEEPS = [
    part
    for name in ("lr", "epochs", "batch_size", "momentum", "weight_decay")
    for part in ("--sweep", f"finetune.{name}={','.join(str(n + 1) for n in range(40))}")
]


def numbers_in(text: str) -> list[float]:
    return [float(each.replace(",", "")) for each in numbers(text)]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.mark.parametrize("command", ["plan", "run"])
@pytest.mark.parametrize(
    ("flags", "number"),
    [
        (["--seeds", "0-99999999"], 10_000),
        (["--seeds", "0-9999", "--unlearning-seeds", "0-9999"], 3 * 10**8),
        (SWEEPS, 40**5),
        (["--noise", ",".join(map(str, range(300))), "--unlearning-seeds", "0-99"], 30_002),
    ],
)
def test_commands_refuse_what_nobody_could_run(command, flags, number, capsys, home):
    assert cli.main([command, *TINY, "--methods", "finetune", *flags]) == 2
    said = capsys.readouterr().err
    assert any(abs(each - number) <= 2 * number / 3 for each in numbers_in(said)), said
    assert not home.exists() or not list(home.glob("logs/*"))


def test_quality_refuses_a_hundred_million_models(capsys):
    flags = ["--methods", "finetune", "--models", str(10**8), "--plan"]
    assert cli.main(["quality", *TINY, *flags]) == 2
    assert {3 * 10**8, MOST_RUNS} <= set(numbers_in(capsys.readouterr().err))


# -- memory


def large():
    return make_spec(
        dataset="imagenet",
        model="vit-b-16",
        recipe=make_recipe("standard"),
        scenario="class_wise",
        method="scar",
    )


def test_a_run_that_cannot_fit_is_refused_with_numbers_and_a_way_to_insist():
    fit = fit_of([large()], "cpu", 8e9, 16e9)
    assert fit is not None and fit.hopeless and not fit.fits
    with pytest.raises(BadValue) as problem:
        check_fit(fit, anyway=False, insist="say please")
    said = str(problem.value)
    assert 16.0 in numbers_in(said) and "say please" in said
    assert check_fit(fit, anyway=True, insist="") == fit.warning() != ""


def test_a_run_that_may_fit_is_warned_of_and_not_refused():
    fit = fit_of([large()], "cpu", 8e9, 16e9)
    assert fit is not None
    roomy = replace(fit, whole=fit.needed / SURE)
    assert not roomy.hopeless and check_fit(roomy, anyway=False, insist="") == roomy.warning()
    assert not replace(fit, whole=None).hopeless
    assert check_fit(None, anyway=False, insist="") == ""


def test_run_and_python_refuse_it_and_can_be_told_to_try(monkeypatch, capsys):
    monkeypatch.setattr(machine, "whole_memory", lambda *_: 1.0)
    monkeypatch.setattr("mucore.runner.estimate.whole_memory", lambda *_: 1.0)
    flags = [*TINY, "--preset", "quick", "--methods", "finetune", "--set", "recipe.epochs=0"]
    assert cli.main(["run", *flags]) == 2
    assert "--anyway" in capsys.readouterr().err
    with pytest.raises(BadValue, match="anyway=True"):
        api.compare(
            dataset="digits",
            model="mlp",
            scenario="one_class",
            methods="finetune",
            preset="quick",
            recipe={"epochs": 0},
        )
    assert cli.main(["jobs", "--json"]) == 0
    assert capsys.readouterr().out.strip() == "[]"  # nothing was queued
    monkeypatch.setattr("mucore.runner.worker.work", lambda *_, **__: None)
    assert cli.main(["run", *flags, "--anyway"]) == 1  # nobody worked
    assert cli.main(["jobs", "--json"]) == 0
    assert "finetune" in capsys.readouterr().out
