"""The command line: the catalogue answers without torch, flags become the right grid, mistakes get
a sentence, and a run is stored once.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from builders import make_result, make_spec_row

from mucore import catalog, cli, signals
from mucore.errors import BadValue, UnknownName
from mucore.runner.grid import parse_grid
from mucore.runner.plan import launch, make_plan
from mucore.store import open_store
from mucore.store.transient_errors import LOCK

ROOT = Path(__file__).resolve().parents[1]
TINY = (
    "--dataset digits --model mlp --scenario one_class --budget 0.2 --set recipe.epochs=1 "
    "--mia-samples 100"
).split()


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def options(**changes: Any) -> cli.GridOptions:
    asked: dict[str, Any] = {
        "dataset": "digits",
        "model": "mlp",
        "scenario": ["one_class"],
        "methods": ["finetune"],
    }
    return cli.GridOptions(**(asked | changes))


def objects(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


# -- the catalogue


@pytest.mark.parametrize(
    "kind", ["methods", "metrics", "scenarios", "datasets", "models", "presets"]
)
def test_catalogue_commands_print_the_cards(kind, capsys):
    assert cli.main([kind, "--json"]) == 0
    cards = json.loads(capsys.readouterr().out)
    assert [card["id"] for card in cards] == [card.id for card in getattr(catalog, kind)()]
    for card in cards:
        # A preset or model names its source too; nothing in the catalogue goes without one.
        assert all(isinstance(card[name], str) and card[name] for name in ("id", "title", "source"))
    assert cli.main([kind]) == 0
    table = capsys.readouterr().out
    assert all(card["title"] in table for card in cards)


def test_the_catalogue_is_listed_without_what_runs_and_stores():
    code = (
        "import sys; from mucore.cli import main; main(['methods', '--json']); "
        "sys.exit(bool({'torch', 'pandas', 'numpy', 'sqlalchemy'} & set(sys.modules)))"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.DEVNULL).returncode
        == 0
    )


# -- flags


@pytest.mark.parametrize(
    ("text", "seeds"),
    [
        ("0", [0]),
        ("0,1,2", [0, 1, 2]),
        ("3, 1,3", [3, 1]),
        ("0-3", [0, 1, 2, 3]),
        ("5,0-1", [5, 0, 1]),
    ],
)
def test_seeds(text, seeds):
    assert cli.build_grid(options(seeds=text)).training_seeds == seeds


@pytest.mark.parametrize("text", ["", "-1", "0-", "1.5", "3-1"])
def test_bad_seeds_say_what_a_seed_is(text):
    with pytest.raises(BadValue, match="Seeds must"):
        cli.build_grid(options(seeds=text))


def test_seeds_that_no_store_or_machine_can_hold_are_refused_before_anything_runs(home, capsys):
    with pytest.raises(BadValue, match="10,000 numbers at most, but got '0-100000000'"):
        cli.build_grid(options(seeds="0-100000000"))
    for flag in ("--seeds", "--unlearning-seeds", "--evaluation-seeds"):
        assert cli.main(["plan", *TINY, "--methods", "finetune", flag, str(2**63)]) == 2
        assert str(2**63) in capsys.readouterr().err


def test_set_reaches_recipe_scenarios_and_methods():
    grid = cli.build_grid(
        options(
            scenario=["one_class,class_wise", "one_class"],
            methods=["finetune", "RL,random_labels", "scrub"],
            changes=[
                "recipe.epochs=3",
                "scenario.class_id=4",
                "finetune.lr=0.5",
                "scrub.alpha = 0.1",
                "RL.mode=mixed_fixed",
                "one_class.budget=10%",
            ],
            seeds="0-1",
        )
    )
    assert [choice.id for choice in grid.scenarios] == ["one_class", "class_wise"]
    assert grid.scenarios[0].parameters == {"class_id": "4", "budget": "10%"}
    assert grid.scenarios[1].parameters == {}
    assert grid.recipe == {"epochs": "3"}
    assert {choice.id: choice.parameters for choice in grid.methods} == {
        "finetune": {"lr": "0.5"},
        "random_labels": {"mode": "mixed_fixed"},
        "scrub": {"alpha": "0.1"},
    }
    assert grid.training_seeds == [0, 1]


def test_budget_goes_to_the_scenarios_that_have_one():
    grid = cli.build_grid(options(scenario=["one_class,class_wise"], budget="20"))
    assert [choice.parameters for choice in grid.scenarios] == [{"budget": "20"}, {}]


def test_several_budgets_and_values_are_one_after_another():
    grid = cli.build_grid(options(budget="0.02, 10%", changes=["finetune.lr=0.1,0.2"]))
    assert [choice.parameters for choice in grid.scenarios] == [
        {"budget": "0.02"},
        {"budget": "10%"},
    ]
    assert [choice.parameters for choice in grid.methods] == [{"lr": "0.1"}, {"lr": "0.2"}]
    # as from Python, where 1 is one sample and 1.0 all
    content = {
        "dataset": "digits",
        "model": "mlp",
        "methods": [],
        "scenarios": [
            {"id": "one_class", "parameters": {"budget": [1, 0.5], "class_id": 3}},
            {"id": "class_wise", "parameters": {"class_ids": [1, 2]}},
        ],
    }
    assert [choice.parameters for choice in parse_grid(content).scenarios] == [
        {"budget": 1, "class_id": 3},
        {"budget": 0.5, "class_id": 3},
        {"class_ids": [1, 2]},
    ]


def test_all_methods_are_all_cards():
    grid = cli.build_grid(options(methods=["all"]))
    assert [choice.id for choice in grid.methods] == [card.id for card in catalog.all_methods()]
    # what needs a file of the user, and the baseline that cheats, have to be named
    assert {card.id for card in catalog.METHODS} - {choice.id for choice in grid.methods} == {
        "uploaded",
        "head_distillation",
    }


def test_ids_come_from_a_file(tmp_path):
    (tmp_path / "forget.csv").write_text("id\n3\n7\n")
    grid = cli.build_grid(
        options(scenario=["ids"], changes=[f"scenario.ids=@{tmp_path / 'forget.csv'}"])
    )
    assert grid.scenarios[0].parameters == {"ids": [3, 7]}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"scenario": ["class_wise"], "budget": "5"},
            "no parameter of the chosen scenarios named 'budget'",
        ),
        ({"methods": [","]}, "methods needs a value"),
        ({"changes": ["scenario.budgets=1"]}, "Did you mean budget"),
        ({"changes": ["finetuen.lr=1"]}, "Did you mean finetune"),
        ({"changes": ["scrub.lr=1"]}, "of this comparison named 'scrub'"),
        ({"changes": ["lr=1"]}, "must look like"),
        ({"changes": ["finetune.lr"]}, "must look like"),
    ],
)
def test_mistakes_in_flags_name_the_way_out(changes, says):
    with pytest.raises((BadValue, UnknownName), match=says):
        cli.build_grid(options(**changes))


WRONG = {
    f"plan {' '.join(TINY)} --methods finetune --set recipe.epochs=-1": "epochs",
    "plan --dataset npz:no.npz --model mlp --scenario one_class --methods all": "no.npz",
    "results --method skrub": "Did you mean scrub",
    "results --comparison mine": "no comparison named 'mine'",
    "export --format csv": "nothing to export",
    "export --format cvs": "csv",
    "jobs --state queud": "Did you mean queued",
    "cancel 7": "7",
    "frobnicate": "frobnicate",
    "jobs --limt 3": "Did you mean --limit",
    "jobs --home": "--home needs a folder",
    "--home= jobs": "--home needs a folder",
    "bench --quick --write": "not written down",
}


@pytest.mark.parametrize(("line", "says"), WRONG.items())
def test_a_wrong_request_is_a_sentence_and_exit_code_2(line, says, home, capsys):
    assert cli.main(line.split()) == 2
    captured = capsys.readouterr()
    assert says in captured.err and "Traceback" not in captured.err
    assert captured.out == ""


def test_a_missing_device_leaves_no_queue_behind(home, capsys):
    assert cli.main(["run", *TINY, "--methods", "finetune", "--device", "cuda:99"]) == 2
    assert "cuda:99" in capsys.readouterr().err
    with open_store(home) as store:
        assert store.jobs() == [] and store.comparisons() == []


def test_home_may_stand_anywhere(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "other"))
    for arguments in (
        ["--home", str(tmp_path / "a"), "jobs"],
        ["jobs", f"--home={tmp_path / 'b'}"],
    ):
        assert cli.main(arguments) == 0
    assert (tmp_path / "a" / "store.sqlite").exists() and (tmp_path / "b" / "store.sqlite").exists()
    assert not (tmp_path / "other").exists()
    capsys.readouterr()


# -- a run


def test_a_comparison_from_plan_to_export(home, capsys):
    """Plan, run, run again, read: one flow on digits, a network and one epoch."""
    asked = [*TINY, "--methods", "finetune"]
    assert cli.main(["plan", *asked, "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["cached"], plan["to_run"], plan["refused"]) == (0, 4, [])

    assert cli.main(["run", *asked, "--json", "--device", "cpu"]) == 0
    captured = capsys.readouterr()
    first = objects(captured.out)
    assert {result["key"] for result in first} == {run["key"] for run in plan["runs"]}
    assert not any(result["cached"] for result in first)
    assert captured.err.count("ok: ") == 4
    method = next(result for result in first if result["spec"]["method"] == "finetune")
    retrained = next(result for result in first if result["spec"]["method"] == "retrain")
    assert method["status"] == "ok" and method["seconds"] == method["cost"]["seconds"] > 0
    assert method["spec"]["scenario_parameters"]["budget"] == 0.2
    assert method["metrics"]["ta"]["gap"] == pytest.approx(
        method["metrics"]["ta"]["value"] - retrained["metrics"]["ta"]["value"]
    )

    assert cli.main(["run", *asked, "--json"]) == 0
    again = objects(capsys.readouterr().out)
    assert all(result.pop("cached") for result in again)
    for result in first:
        result.pop("cached")
    assert sorted(again, key=lambda r: r["key"]) == sorted(first, key=lambda r: r["key"])

    assert cli.main(["results", "--method", "finetune", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [method]
    assert cli.main(["results"]) == 0
    assert "finetune" in capsys.readouterr().out
    assert cli.main(["jobs", "--json"]) == 0
    jobs = json.loads(capsys.readouterr().out)
    assert [job["state"] for job in jobs] == ["done"] * 4

    assert cli.main(["export", "--format", "csv", "--output", str(home / "table.csv")]) == 0
    assert len((home / "table.csv").read_text().splitlines()) == 5
    capsys.readouterr()
    assert cli.main(["gc"]) == 0
    kinds = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()[1:] if line}
    assert "nothing is running" in kinds["logs"] and "cannot be removed" in kinds["database"]


def test_a_failed_run_is_told_and_fails_the_command(home, capsys):
    """More samples than class 0 has: known only when the labels are there."""
    arguments = "--dataset digits --model mlp --scenario one_class --budget 500".split()
    arguments += ["--set", "recipe.epochs=0"]
    assert cli.main(["run", *arguments, "--methods", "finetune", "--json"]) == 1
    captured = capsys.readouterr()
    results = objects(captured.out)
    assert {result["status"] for result in results if result["spec"]["scenario"]} == {"failed"}
    assert all("500" in result["error"] for result in results if result["status"] == "failed")
    assert captured.err.count("but got 500") == 1  # one reason, said once
    assert "Traceback" not in captured.err


def test_cancel_takes_along_what_waits(home, capsys):
    spec = make_spec_row(method="retrain")
    with open_store(home) as store:
        original, retrain = store.enqueue([*spec.needs(), spec])
    assert cli.main(["cancel", str(original.id)]) == 0
    assert f"Job {retrain.id} is cancelled" in capsys.readouterr().out
    with open_store(home) as store:
        assert {job.state for job in store.jobs()} == {"cancelled"}


@pytest.mark.slow
def test_ctrl_c_cancels_what_waits_and_keeps_what_is_done(home):
    line = "run --dataset digits --model mlp --scenario one_class --methods finetune --seeds 0,1"
    line += " --json --set finetune.epochs=500 --set recipe.epochs=2"
    process = subprocess.Popen(
        [sys.executable, "-m", "mucore", *line.split()],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with open_store(home) as store:
        deadline = time.monotonic() + 90
        while not any("finetune" in job.label for job in store.jobs(states=["running"])):
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        assert process.returncode == 130
        assert "Interrupted" in err and "Traceback" not in err
        kept = {result["key"] for result in objects(out)}
        assert kept and store.known(kept) == kept
        states = {job.state for job in store.jobs()}
        assert states == {"done", "cancelled"}
        assert store.workers() == []


def test_a_lock_that_is_held_while_run_plans_is_waited_for(home, monkeypatch, capsys):
    monkeypatch.setattr("mucore.store.database.BUSY_SECONDS", 0.1)
    open_store(home).close()
    holder = sqlite3.connect(home / "store.sqlite", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    other = SimpleNamespace(sleep=lambda seconds: holder.close())
    monkeypatch.setattr("mucore.cli.base.time", other)
    assert cli.main(["run", *TINY, "--methods", "finetune", "--seeds", "0", "--json"]) == 0
    told = capsys.readouterr()
    assert len(objects(told.out)) == 4 and LOCK in told.err


def test_an_interrupt_leaves_no_waiting_job_as_failed(home):
    from mucore.runner.watch import Watch

    with open_store(home) as store:
        plan = make_plan(cli.build_grid(options()), store)
        with Watch(
            store, plan, launch(plan, store, name="interrupted"), *[lambda *_: None] * 2
        ) as watch:
            watch.stopped.set()
        assert {job.state for job in store.jobs()} == {"cancelled"}


def test_what_goes_wrong_in_showing_ends_the_work_and_is_raised(home):
    from mucore.runner.watch import Watch

    asked: list[str] = []

    def show(key, result, job):
        asked.append(key)
        raise BrokenPipeError

    handlers = [signal.getsignal(number) for number in signals.ending()]
    with open_store(home) as store:
        plan = make_plan(cli.build_grid(options()), store)
        comparison = launch(plan, store, name="to a pipe")
        store.put_result(make_result(plan.specs[0]))
        with (
            pytest.raises(BrokenPipeError),
            Watch(store, plan, comparison, show, lambda *_: None) as watch,
        ):
            assert watch.stopped.wait(60)
        assert asked == [plan.specs[0].key]
        assert [job.state for job in store.jobs()] == ["done"] + ["cancelled"] * (
            len(plan.specs) - 1
        )
    assert [signal.getsignal(number) for number in signals.ending()] == handlers


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize(
    ("number", "where"), [("SIGTERM", "mucore.cli"), ("SIGHUP", "mucore.cli.commands")]
)
def test_a_signal_while_a_command_still_starts_is_as_ctrl_c(number, where, tmp_path):
    """In the midst of the import of a module; before, SIGTERM ended the process without a word."""
    code = f"""
import importlib.machinery, os, signal, sys

class Signals(importlib.machinery.PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name == {where!r}:
            os.kill(os.getpid(), signal.{number})
        return super().find_spec(name, path, target)

sys.meta_path.insert(0, Signals)
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a shell had it ignored
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # or nohup
from mucore.__main__ import main
sys.exit(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", code, "jobs", "--home", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 130 and "Traceback" not in done.stderr
