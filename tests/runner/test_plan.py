"""From a grid to specs: order, doubles, refusals, estimates; without torch."""

import subprocess
import sys
from typing import Any

import pytest
import sqlalchemy as sa
from builders import make_result
from painted import npz

from mucore.errors import BadFile, BadValue, UnknownName
from mucore.runner.estimate import WAKING
from mucore.runner.grid import Grid, MethodChoice, ScenarioChoice, expand
from mucore.runner.plan import call_off, launch, make_plan
from mucore.store import schema


def grid(**changes):
    content: dict[str, Any] = {
        "dataset": "digits",
        "model": "mlp",
        "preset": "quick",
        "scenarios": [ScenarioChoice(id="one_class"), ScenarioChoice(id="class_wise")],
        "methods": [MethodChoice(id="finetune"), MethodChoice(id="ssd")],
        "training_seeds": [0, 1],
    }
    return Grid(**{**content, **changes})


def test_references_come_before_what_needs_them():
    specs, refused = expand(grid())
    assert not refused
    # two seeds: two originals; per seed and scenario an original row, a Retrain and two methods
    assert len(specs) == 2 + 2 * 2 * (2 + 2)
    position = {spec.key: number for number, spec in enumerate(specs)}
    assert len(position) == len(specs)
    for spec in specs:
        for needed in spec.needs():
            assert position[needed.key] < position[spec.key]


def test_references_asked_for_by_name_are_not_doubled():
    plain, _ = expand(grid())
    asked, _ = expand(
        grid(methods=[MethodChoice(id=m) for m in ("retrain", "original", "finetune", "ssd")])
    )
    assert [spec.key for spec in plain] == [spec.key for spec in asked]


def test_a_tuned_preset_that_is_the_authors_is_one_run_of_theirs():
    """Exact methods are not tuned, so both presets are one run."""
    both = [MethodChoice(id="sisa"), MethodChoice(id="sisa", preset="tuned")]
    specs, _ = expand(grid(methods=both, training_seeds=[0]))
    assert {spec.method_preset for spec in specs if spec.method == "sisa"} == {"authors"}
    assert len([spec for spec in specs if spec.method == "sisa"]) == len(
        {spec.scenario for spec in specs if spec.scenario}
    )


def test_a_relative_path_is_made_absolute_because_workers_run_elsewhere(tmp_path, monkeypatch):
    npz(tmp_path / "mine.npz")
    monkeypatch.chdir(tmp_path)
    specs, _ = expand(grid(dataset="npz:mine.npz"))
    assert {spec.dataset for spec in specs} == {f"npz:{tmp_path.resolve() / 'mine.npz'}"}
    assert len({spec.data_hash for spec in specs} - {""}) == 1


def test_unlearning_seeds_multiply_methods_only():
    specs, _ = expand(grid(unlearning_seeds=[0, 1, 2], training_seeds=[0]))
    count = {}
    for spec in specs:
        count[spec.method] = count.get(spec.method, 0) + 1
    assert count == {"original": 3, "retrain": 2, "finetune": 6, "ssd": 6}


def finetune(**parameters):
    return {"methods": [MethodChoice(id="finetune", parameters=parameters)]}


def scenario(name, **parameters):
    return {"scenarios": [ScenarioChoice(id=name, parameters=parameters)]}


FASHION = {"dataset": "fashion-mnist-10k"}


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"dataset": "digit"}, UnknownName, "digits"),
        ({"model": "mpl"}, UnknownName, "mlp"),
        ({"preset": "quik"}, UnknownName, "quick"),
        (scenario("one_clas"), UnknownName, "one_class"),
        ({"methods": [MethodChoice(id="finetun")]}, UnknownName, "finetune"),
        (finetune(lr=50), BadValue, "lr must be in"),
        (finetune(learning=1), BadValue, "no parameter 'learning'"),
        ({"methods": [MethodChoice(id="uploaded", preset="tuned")]}, BadValue, "no tuned preset"),
        (scenario("one_class", budget=1.5), BadValue, r"share in \(0, 1\]"),
        (scenario("one_class", class_id=10), BadValue, "classes 0 to 9"),
        (scenario("class_wise", class_ids=list(range(10))), BadValue, "10 of the 10 classes"),
        (scenario("all_classes", budget=100_000), BadValue, "leave something to retain"),
        (FASHION | scenario("one_class", budget=1001), BadValue, "its 1000 samples, but got 1001"),
        ({"dataset": "npz:nowhere.npz"}, BadFile, "no file at nowhere.npz"),
        ({"scenarios": []}, BadValue, "at least one scenario"),
        ({"recipe": {"epoch": 3}}, UnknownName, "Did you mean epochs"),
        ({"recipe": {"epochs": -3}}, BadValue, "epochs"),
    ],
)
def test_bad_input_gets_a_sentence(changes, error, words):
    with pytest.raises(error, match=words):
        expand(grid(**changes))


def test_plan_sets_aside_what_is_stored_and_estimates_from_the_past(store):
    before = make_plan(grid(), store, workers=1)
    assert (
        before.cached == frozenset() and before.time > 0 and "nothing alike has run" in before.basis
    )
    done, *rest = before.specs
    result = make_result(dataset="digits", model="mlp")
    from dataclasses import replace

    for number, spec in enumerate(rest):  # of every kind a run with another seed, which took 7 s
        alike = spec.model_copy(update={"training_seed": 50 + number})
        content = alike.model_dump(mode="json")
        cost = {"seconds": 5.0, "evaluation_seconds": 2.0}
        store.put_result(
            replace(result, key=alike.key, model_key=alike.model_key, spec=content, cost=cost)
        )
    store.put_result(
        replace(
            result,
            key=done.key,
            spec=done.model_dump(mode="json"),
            cost={"seconds": 5.0, "evaluation_seconds": 2.0},
        )
    )
    after = make_plan(grid(), store, workers=1)
    assert after.cached == {done.key} and "past runs" in after.basis
    assert len(after.to_run) == len(before.to_run) - 1
    work = [spec for spec in after.to_run if spec.scenario is None or spec.method != "original"]
    assert after.time == pytest.approx(2.0 * len(after.to_run) + 5.0 * len(work) + WAKING)


def test_a_plan_waits_for_what_is_in_the_queue(store):
    alone = make_plan(grid(), store, workers=1).time
    launch(make_plan(grid(training_seeds=[5]), store), store, name="others")
    behind = make_plan(grid(), store, workers=1)
    assert behind.ahead == len(store.jobs()) and behind.time > alone
    assert behind.estimate["jobs_ahead"] == behind.ahead


def test_launching_twice_queues_once(store):
    plan = make_plan(grid(), store)
    first = launch(plan, store, name="first")
    launch(make_plan(grid(), store), store, name="again")
    assert first.keys == plan.keys
    assert len(store.jobs(states=("queued",))) == len(plan.specs)


def test_what_another_comparison_asks_or_waits_for_goes_on(store):
    first, *_ = (
        launch(
            make_plan(grid(methods=[MethodChoice(id=name)], training_seeds=seeds), store),
            store,
            name=name,
        )
        for name, seeds in (("finetune", [0, 1, 2]), ("ssd", [0]), ("finetune", [1]))
    )
    call_off(first, store)
    states = {(job.label.split()[0], job.spec["training_seed"]): job.state for job in store.jobs()}
    assert {states["train", 0], states["ssd", 0], states["finetune", 1]} == {"queued"}
    assert {states["finetune", 0], states["finetune", 2], states["train", 2]} == {"cancelled"}


@pytest.mark.parametrize("change", [{"a_field_of_later": 1}, {"method": "of_later"}])
def test_a_job_of_a_later_version_does_not_stop_a_plan(store, change):
    plan = make_plan(grid(scenarios=[ScenarioChoice(id="one_class")], training_seeds=[0]), store)
    launch(plan, store, name="of later")
    job = schema.job
    with store.write() as connection:
        changed = (
            sa.update(job).where(job.c.id == 1).values(spec=plan.specs[0].model_dump() | change)
        )
        connection.execute(changed)
    again = make_plan(grid(), store)
    assert (again.ahead, len(again.to_run)) == (0, len(again.specs)) and again.time > 0


def test_planning_needs_no_torch(tmp_path):
    code = (
        "import sys\n"
        "from mucore.runner.grid import Grid\n"
        "from mucore.runner.plan import make_plan\n"
        "from mucore.store import open_store\n"
        "grid = Grid(dataset='digits', model='mlp', preset='quick', scenarios=[{'id': "
        "'one_class'}], methods=[{'id': 'ssd'}])\n"
        f"store = open_store({str(tmp_path)!r})\n"
        "print(len(make_plan(grid, store).specs), 'torch' in sys.modules)\n"
        "store.close()"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert output.split() == ["4", "False"]
