"""Training records of real runs: made once by a replay, kept, outside every method's clock, and
refused where the replay went astray.
"""

import math

import pytest
import torch
from launching import digits

from mucore import training
from mucore.engine.run import Callbacks, Progress
from mucore.errors import BadValue, Cancelled, MucoreError, StoreError
from mucore.runner.execute import execute
from mucore.spec import make_recipe
from mucore.store.places import Unreachable
from mucore.store.trouble import FILES, awaited
from mucore.training import records


def spec(method="amnesiac", scenario="one_class", **changes):
    return digits(method, scenario, **changes)


@pytest.fixture
def trainings(monkeypatch):
    """The recorders of all originals trained, in order; None where there was none."""
    seen, train = [], training.train_original

    def watched(spec, run, splits, **options):
        seen.append(options.get("recorder"))
        return train(spec, run, splits, **options)

    monkeypatch.setattr(training, "train_original", watched)
    return seen


def weights(session, key):
    return session.store.artifacts.get_arrays(session.store.get_model(key).weights)


@pytest.mark.slow
def test_a_record_is_made_once_and_kept(session, trainings):
    first = execute(spec(), session)
    assert [type(recorder).__name__ for recorder in trainings] == ["RunningSum"]
    key = records.key(spec().original().model_key, "running_sum", first.forget_hash or "")
    kept = session.store.get_model(key)
    assert kept.notes == ("training record running_sum",) and kept.cost["steps"] > 0
    execute(spec(unlearning_seed=1), session)
    execute(spec(parameters={"lr": 0.02}), session)
    assert len(trainings) == 1
    execute(spec(scenario="all_classes"), session)  # another forget set, another sum
    assert len(trainings) == 2


@pytest.mark.slow
def test_what_does_not_depend_on_the_forget_set_serves_every_scenario(session, trainings):
    for method in ("l_codec", "pgu"):
        for scenario in ("one_class", "class_wise"):
            execute(
                spec(
                    method,
                    scenario,
                    parameters={"perturbations": 20, "cap": 3}
                    if method == "l_codec"
                    else {"epochs": 2},
                ),
                session,
            )
    assert len(trainings) == 1
    first, again = (result for result in session.store.results(method="l_codec"))
    assert first.cost["prepared_seconds"] == again.cost["prepared_seconds"] > 0, (
        "what it took is known to those that find it made"
    )
    assert first.cost["prepared_for_request_seconds"] == 0
    moments = weights(session, records.key(spec().original().model_key, "layer_moments", ""))
    widths = {name: array.shape for name, array in moments.items()}
    assert set(widths.values()) == {(64, 64), (512, 512), (256, 256), (128, 128)}
    assert {str(array.dtype) for array in moments.values()} == {"float32"}


def test_the_record_is_in_no_clock_and_its_bytes_are_counted(session):
    result = execute(spec(), session)
    samples, epochs = result.retain_count, result.spec["parameters"]["repair_epochs"]
    assert result.cost["steps"] == epochs * math.ceil(
        samples / result.spec["parameters"]["batch_size"]
    )
    assert result.cost["reads"] == {"retain/backward": epochs * samples}
    network = training.fresh_model(spec(), session.splits(spec()), 0)
    size = sum(4 * p.numel() for p in network.parameters()) + 16
    assert result.cost["persistent_bytes"] == result.metrics["persistent_bytes"].value == size
    assert (
        result.metrics["prepared_for_request_seconds"].value
        == result.cost["prepared_for_request_seconds"]
        > 0
    )
    assert result.metrics["prepared_seconds"].value == 0
    (note,) = [note for note in result.notes if note.startswith("Training record")]
    assert note.startswith(f"Training record running_sum: {size / 1e6:.3g} MB, made in ")
    assert note.endswith(" s outside this run's clock and kept.")


def test_the_sum_leads_back_to_where_training_began(session):
    result = execute(spec(scenario="class_wise", parameters={"repair_epochs": 0}), session)
    base = spec().original()
    assert result.diagnostics["affected_steps"] == 1
    start = training.fresh_model(base, session.splits(base), training.init_seed(base))
    found = weights(session, result.model_key)
    for name, p in start.named_parameters():
        assert (torch.from_numpy(found[name]) - p).norm() <= 1e-5 * p.norm() + 1e-6


@pytest.mark.slow
def test_a_lost_record_is_made_again(session, trainings):
    execute(spec(), session)
    key = records.key(
        spec().original().model_key,
        "running_sum",
        session.store.get_result(spec().key).forget_hash or "",
    )
    before = weights(session, key)
    session.store.artifacts.place.local(session.store.get_model(key).weights).unlink()
    execute(spec(unlearning_seed=1), session)
    assert len(trainings) == 2
    assert all((before[name] == array).all() for name, array in weights(session, key).items())


@pytest.mark.slow
def test_a_record_out_of_reach_is_waited_for(session, trainings, monkeypatch):
    execute(spec(), session)
    key = records.key(
        spec().original().model_key,
        "running_sum",
        session.store.get_result(spec().key).forget_hash or "",
    )
    files = session.store.artifacts
    name, get = session.store.get_model(key).weights, files.get_arrays

    def away(asked):
        if asked == name:
            raise StoreError("The files cannot be reached.") from Unreachable("no route")
        return get(asked)

    monkeypatch.setattr(files, "get_arrays", away)
    with pytest.raises(StoreError) as problem:
        execute(spec(unlearning_seed=1), session)
    assert awaited(problem.value) == FILES and len(trainings) == 1


def test_a_replay_shows_progress_and_can_be_cancelled(session):
    execute(spec("finetune"), session)
    told: list[Progress] = []
    with pytest.raises(Cancelled):
        execute(
            spec(),
            session,
            Callbacks(told.append, lambda: any("replaying" in p.step for p in told)),
        )
    assert any(p.step.startswith("replaying the training of the original") for p in told)
    assert session.store.get_result(spec().key) is None
    assert execute(spec(), session).status == "ok"


def test_a_replay_that_ends_elsewhere_makes_no_record(session, monkeypatch):
    execute(spec("finetune"), session)
    found = session.load_model

    def altered(wanted):
        answer = found(wanted)
        if answer is not None and wanted.method == "original":
            with torch.no_grad():
                next(answer[0].parameters()).view(-1)[0] += 1e-5
        return answer

    monkeypatch.setattr(session, "load_model", altered)
    with pytest.raises(MucoreError, match="replayed to record it, but ended in other weights"):
        execute(spec(), session)


@pytest.mark.slow
def test_a_replay_takes_the_threads_of_the_training(session, monkeypatch):
    execute(spec("finetune"), session)
    model = session.store.get_model(spec().original().model_key)
    before, used = torch.get_num_threads(), []
    train = training.train_original

    def watched(*arguments, **options):
        used.append(torch.get_num_threads())
        return train(*arguments, **options)

    monkeypatch.setattr(training, "train_original", watched)
    torch.set_num_threads(before + 1)
    try:
        execute(spec(), session)
        assert used == [model.cost["threads"]] == [before]
        assert torch.get_num_threads() == before + 1
    finally:
        torch.set_num_threads(before)


@pytest.mark.slow
def test_what_cannot_be_recorded_is_said_before_training(session, trainings):
    with pytest.raises(BadValue, match="takes .* GB, more than the 0.001 GB allowed"):
        execute(spec(parameters={"store": "per_step", "disk_cap": 0.001}), session)
    short = make_recipe("quick", {"epochs": 1, "batch_size": 64})
    with pytest.raises(
        BadValue, match="The last two epochs of training are needed, but the recipe has 1"
    ):
        execute(spec("l_codec", recipe=short), session)


@pytest.mark.slow
def test_every_store_of_amnesiac_ends_in_the_same_weights(session):
    found = [
        weights(
            session,
            execute(spec(parameters={"store": store, "repair_epochs": 1}), session).model_key,
        )
        for store in ("running_sum", "replay", "per_step")
    ]
    assert all((found[0][name] == array).all() for name, array in found[1].items())
    assert all(abs(found[0][name] - array).max() < 1e-3 for name, array in found[2].items())
