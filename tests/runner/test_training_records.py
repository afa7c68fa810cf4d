"""Training records of real runs: made once by a replay, kept, outside every method's clock, and
refused where the replay went astray.
"""

import math

import pytest
import torch
from launching import digits

from mucore import training
from mucore.errors import BadValue
from mucore.runner.execute import execute
from mucore.runs import make_recipe
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
    session.store.artifacts.storage.local(session.store.get_model(key).weights).unlink()
    execute(spec(unlearning_seed=1), session)
    assert len(trainings) == 2
    assert all((before[name] == array).all() for name, array in weights(session, key).items())


@pytest.mark.slow
def test_what_cannot_be_recorded_is_said_before_training(session, trainings):
    with pytest.raises(BadValue, match="takes .* GB, more than the 0.001 GB allowed"):
        execute(spec(parameters={"store": "per_step", "disk_cap": 0.001}), session)
    short = make_recipe("quick", {"epochs": 1, "batch_size": 64})
    with pytest.raises(
        BadValue, match="The last two epochs of training are needed, but the recipe has 1"
    ):
        execute(spec("l_codec", recipe=short), session)
