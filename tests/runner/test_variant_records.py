"""Records behind variants: sparse originals and learning events, made once by the runner, kept, and
outside the clock.
"""

import pytest
from launching import digits

from mucore import catalog, training
from mucore.runner.execute import execute
from mucore.runs import complete
from mucore.training import records


def spec(method, scenario="one_class", **parameters):
    return digits(method, scenario, parameters=parameters)


@pytest.mark.slow
@pytest.mark.parametrize("pruning", ["omp", "synflow"])
def test_a_sparse_original_is_made_once_for_all_scenarios_and_told_of(
    session, monkeypatch, pruning
):
    options = {"pruning": pruning, "prune": 0.5}
    first = execute(spec("l1_sparse", **options), session)
    (name,) = records.needed(*needs(spec("l1_sparse", **options)))
    kept = session.store.get_model(records.key(first_original(), name, ""))
    assert kept.notes == (f"training record {name}",) and kept.cost["seconds"] > 0
    # 3 epochs, or 1 up to where the weights go back to and 2 from there on
    assert kept.cost["steps"] == 3 * session.samples(spec("l1_sparse"), "train").steps(
        64, skip_single=True
    )
    assert any("this sparse network, its own original" in note for note in first.notes)
    assert 0 < first.diagnostics["own_original_ta"] <= 1 and first.cost["persistent_bytes"] > 0
    assert set(first.cost["reads"]) == {"retain/backward"}

    def refused(*args, **options):
        raise AssertionError("made twice")

    monkeypatch.setattr(records.pruning.SparseTraining, "train", refused)
    execute(spec("l1_sparse", "all_classes", **options), session)


def needs(wanted):
    card = catalog.method(wanted.method)
    return card, complete(card, wanted.parameters)


def first_original():
    return spec("l1_sparse").original().model_key


def test_learning_events_come_from_a_replay_with_one_number_a_sample(session, monkeypatch):
    seen, train = [], training.train_original

    def watched(given, run, splits, **options):
        seen.append(type(options.get("recorder")).__name__)
        return train(given, run, splits, **options)

    monkeypatch.setattr(training, "train_original", watched)
    execute(spec("rum"), session)
    assert seen == []  # the default proxy needs none
    result = execute(spec("rum", proxy="learning_events"), session)
    assert seen == ["LearningEvents"]
    count = len(session.samples(spec("rum"), "train"))
    assert result.cost["persistent_bytes"] >= 4 * count
    kept = session.store.get_model(records.key(first_original(), "learning_events", ""))
    confidence = session.store.artifacts.get_arrays(kept.weights)["confidence"]
    assert confidence.shape == (count,) and ((confidence > 0) & (confidence <= 1)).all()
