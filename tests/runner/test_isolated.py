"""A user's own method runs in a process of its own: same results, and nothing else of it gets out.

What a process may do wrong at all is in test_children.py.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import own_methods
import pytest
import torch
from launching import digits, small_grid

from mucore import catalog
from mucore.catalog import plugins
from mucore.engine.run import Callbacks, Progress
from mucore.errors import BadFile, Cancelled, MethodFailed, Refused
from mucore.runner import children, isolated
from mucore.runner.execute import execute
from mucore.runner.plan import launch, make_plan
from mucore.runner.session import Session
from mucore.runner.worker import work
from mucore.spec import RunSpec, make_recipe
from mucore.store import open_store
from mucore.store.rows import Result

RECIPE = make_recipe("quick", {"epochs": 2, "batch_size": 64})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    own = tmp_path / "own"
    own.mkdir()
    monkeypatch.setenv(plugins.FOLDERS, str(own))
    return own


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Generator[Session]:
    """With the references that runs on digits need; files of tests differ, and so do their keys."""
    store = open_store(tmp_path_factory.mktemp("home"))
    session = Session(store, "cpu")
    execute(spec("original"), session)
    yield session
    store.close()


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a child would do is done in this process: for what is about the answer alone."""

    def run(target: str, folder: Path, limits: children.Limits, **_: Any) -> None:
        isolated.inside(folder, lambda message: None)

    monkeypatch.setattr(children, "run", run)


def spec(method: str, **changes: Any) -> RunSpec:
    usual: dict[str, Any] = {"scenario": "class_wise", "mia_samples": 20, "recipe": RECIPE}
    return digits(method, **usual | changes)


def weights(session: Session, wanted: RunSpec) -> dict[str, np.ndarray]:
    model = session.store.get_model(wanted.model_key)
    assert model is not None and model.weights is not None
    return session.store.artifacts.get_arrays(model.weights)


def same(session: Session, one: RunSpec, other: RunSpec) -> bool:
    a, b = weights(session, one), weights(session, other)
    return a.keys() == b.keys() and all(np.array_equal(a[k], b[k], equal_nan=True) for k in a)


# -- the same results

# They need a record for the request, and fresh networks for an ensemble.
COPIED = ["amnesiac"]


def alike(ours: Result, own: Result) -> None:
    """All but times, memory and names."""
    counts = ("steps", "reads", "persistent_bytes", "scratch_bytes", "threads", "precision")
    assert {name: own.cost[name] for name in counts} == {n: ours.cost[n] for n in counts}
    assert (own.status, own.stop_reason) == (ours.status, ours.stop_reason)
    assert own.losses == ours.losses and own.diagnostics == ours.diagnostics
    timed = "Training record"
    assert [n for n in own.notes if timed not in n] == [n for n in ours.notes if timed not in n]
    measured = {name: (m.value, m.gap) for name, m in own.metrics.items()}
    for name, m in ours.metrics.items():
        if catalog.metric(name).group != "cost":
            assert measured[name] == (m.value, m.gap), name


@pytest.mark.slow
@pytest.mark.parametrize("method", COPIED)
def test_a_copy_of_a_method_gives_the_same_result(folder, session, method):
    ours, own = spec(method), spec(own_methods.copy_of(folder, method))
    first, second = execute(ours, session), execute(own, session)
    assert own.method_hash and own.key != ours.key
    assert same(session, ours, own)
    alike(first, second)
    assert 0 < second.cost["seconds"] and 0 < second.cost["processor_seconds"]


@pytest.mark.slow
def test_progress_and_losses_come_through(folder, session):
    heard: list[Progress] = []
    wanted = spec(own_methods.copy_of(folder, "finetune"), unlearning_seed=5)
    result = execute(wanted, session, Callbacks(heard.append))
    steps = [each.step for each in heard]
    mine = [each for each in heard if each.step.startswith("unlearning")]
    assert steps.index(f"starting {wanted.method}") < steps.index(mine[0].step)
    assert [each.loss for each in mine if each.loss is not None] == list(result.losses)
    assert mine[-1].fraction == 1.0


def test_tensors_of_any_layout_travel(tmp_path):
    sent = {
        "inner": torch.rand(3, 2, 5, 5).to(memory_format=torch.channels_last),
        "other": [torch.arange(12).view(3, 4)[:, ::2], {"one": torch.tensor(3)}],
        "none": torch.zeros(0, 3),
        "text": ["a", None, 0.1, float("inf")],
    }
    isolated._write(tmp_path / "box", sent)
    found = isolated._read(tmp_path / "box")
    assert torch.equal(found["inner"], sent["inner"]) and found["none"].shape == (0, 3)
    assert found["other"][0].tolist() == [[0, 2], [4, 6], [8, 10]]
    assert found["other"][1]["one"].shape == () and found["text"] == sent["text"]


# -- nothing else gets out

SPOILS = (
    "data.forget.images.pixels.zero_(); data.retain.labels.zero_(); data.retain.ids.fill_(3); "
    "data.retain.images.mean.fill_(9.0); torch.set_default_dtype(torch.float64); "
    "torch.set_grad_enabled(False); torch.set_num_threads(2); torch.manual_seed(3); "
    "torch.use_deterministic_algorithms(True); nn.functional.cross_entropy = None; "
    "os.environ['MUCORE_SPOILT'] = '1'; os.chdir('/'); "
    "sys.modules['mucore.engine.loop'].fit = None; return model.eval()"
)


@pytest.mark.slow
def test_what_it_spoils_it_spoils_for_itself(folder, tmp_path, session):
    """A run after it is the run without it, in this process and with the same data at hand."""
    own_methods.write(folder, "mine", SPOILS)
    after = spec("finetune", unlearning_seed=7)
    with open_store(tmp_path / "home") as store:
        undisturbed = execute(after, clean := Session(store, "cpu"))
        before = torch.get_default_dtype(), torch.get_num_threads(), os.getcwd()
        assert execute(spec("mine"), session).status == "ok"
        assert (torch.get_default_dtype(), torch.get_num_threads(), os.getcwd()) == before
        assert torch.is_grad_enabled() and "MUCORE_SPOILT" not in os.environ
        disturbed = execute(after, session)
        mine, theirs = weights(session, after), weights(clean, after)
    assert all(np.array_equal(mine[name], theirs[name]) for name in theirs)
    alike(undisturbed, disturbed)


# What comes back -> the exception, and words of its sentence
OTHER = "model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10)); return model.eval()"
REFUSES = "from mucore.errors import Refused; raise Refused('Not this one. Take another.')"
ANSWERS = [
    ("pass", TypeError, "it returned NoneType, not a network"),
    (OTHER, MethodFailed, "mine returned a network of another form"),
    ("return model.double().eval()", MethodFailed, "float32 and is"),
    ("pass\n\n\nimport a_package_that_is_not_there", BadFile, "a_package_that_is_not_there"),
    (REFUSES, Refused, "Not this one. Take another."),
    ("run.cost.steps = -1; return model.eval()", MethodFailed, "mine"),
]


@pytest.mark.parametrize("body, kind, words", ANSWERS)
def test_what_comes_back_is_checked(folder, session, here, body, kind, words):
    own_methods.write(folder, "mine", body)
    wanted = spec("mine")
    with pytest.raises(kind) as raised:
        execute(wanted, session)
    assert words in str(raised.value) and "\n" not in str(raised.value)
    assert session.store.get_result(wanted.key) is None


def test_weights_that_are_not_finite_are_the_originals_and_diverged(folder, session, here):
    body = "next(model.parameters()).data.fill_(torch.nan); run.note('Ouch.'); return model.eval()"
    own_methods.write(folder, "mine", body)
    result = execute(spec("mine"), session)
    assert result.status == "diverged" and "Ouch." in result.notes
    assert same(session, spec("mine"), spec("mine").original())


@pytest.mark.slow
def test_cancelling_does_not_wait_for_it(folder, session):
    own_methods.write(folder, "mine", "run.progress('here', 0.5, force=True); time.sleep(600)")
    execute(spec("mine").retrained(), session)
    heard: list[Progress] = []
    with pytest.raises(Cancelled):
        execute(
            spec("mine"),
            session,
            Callbacks(heard.append, lambda: any(each.step == "here" for each in heard)),
        )


@pytest.mark.slow
def test_limits_are_settings_that_follow_retrain(folder, session, monkeypatch):
    own_methods.write(folder, "mine", "time.sleep(600)")
    asked = []
    limits = children.limits
    monkeypatch.setattr(children, "limits", lambda seconds: asked.append(seconds) or limits())
    monkeypatch.setenv(children.SECONDS, "0.5")
    with pytest.raises(MethodFailed, match=children.SECONDS):
        execute(spec("mine"), session)
    retrained = session.store.get_model(spec("mine").retrained().model_key)
    assert retrained is not None and asked == [retrained.cost["seconds"]]


@pytest.mark.slow
def test_a_queue_goes_on_behind_methods_that_end_their_process(folder, tmp_path, monkeypatch):
    own_methods.write(folder, "one", "os._exit(0)")
    own_methods.write(folder, "four", "print('seen'); return model.eval()")
    with open_store(tmp_path / "home") as store:
        grid = small_grid(epochs=1, methods=("one", "four"))
        plan = make_plan(grid, store)
        launch(plan, store, name="own")
        work(store, device="cpu", only=set(plan.keys), until_done=True)
        jobs = {job.label.split(" ")[0]: job for job in store.jobs()}
        assert jobs["four"].state == "done" and jobs["retrain"].state == "done"
        assert jobs["one"].state == "failed"
        assert jobs["one"].error and jobs["one"].error.startswith("one ")
        log = next((store.home / "logs").glob(f"*{jobs['four'].id}*")).read_text(encoding="utf-8")
        assert "seen" in log
