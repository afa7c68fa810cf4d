"""Results of an earlier version get the metrics of this one, from what the store kept."""

from __future__ import annotations

from dataclasses import replace

import pytest
from launching import digits as spec

from mucore.cli import main
from mucore.runner.execute import execute
from mucore.runner.remeasure import remeasure
from mucore.store.records import Measured

NEW = {
    "cka_retrain_forget",
    "cka_original_forget",
    "js_divergence",
    "average_gap",
    "efficacy",
    "zrf",
}


@pytest.fixture
def aged(session):
    """A method's result and its references as an earlier version would have left them, and as they
    are today.
    """
    execute(spec("original"), session)
    execute(spec(), session)
    fresh = {result.key: result for result in session.store.results()}
    for result in fresh.values():
        session.store.put_result(
            replace(result, metrics={k: v for k, v in result.metrics.items() if k not in NEW})
        )
    return fresh


def test_an_old_store_ends_up_as_a_new_one(session, aged):
    seen = []
    results = session.store.results()[::-1]
    assert remeasure(results, session, on_done=lambda done, of: seen.append((done, of))) == []
    assert seen[-1] == (len(results), len(results))
    later = replace(results[0], spec={**results[0].spec, "a_field_of_later": 1})
    assert [said.count("a_field_of_later") for said in remeasure([later], session)] == [1]
    for key, fresh in aged.items():
        again = session.store.get_result(key)
        assert {k: v.value for k, v in again.metrics.items()} == {
            k: v.value for k, v in fresh.metrics.items()
        }
        assert {k: v.gap for k, v in again.metrics.items()} == {
            k: v.gap for k, v in fresh.metrics.items()
        }
        for name in ("cost", "outputs", "weights", "finished", "flags", "notes"):
            assert getattr(again, name) == getattr(fresh, name), name


@pytest.mark.slow
def test_without_weights_the_predictions_are_enough_for_most(session, aged):
    key = spec().key
    store = session.store
    store.put_result(
        replace(
            store.get_result(key),
            metrics={
                **store.get_result(key).metrics,
                "efficacy": Measured(7.0),
                "mia_prob_tpr_01": Measured(0.5),
            },
        )
    )
    store.gc("outputs", young_seconds=-1)
    assert remeasure(store.results(), session) == []
    again = store.get_result(key).metrics
    for name in ("cka_retrain_test", "cka_original_test", "js_divergence", "average_gap"):
        assert again[name].value == pytest.approx(aged[key].metrics[name].value, rel=1e-6), name
    assert again["mia_prob_tpr_01"].value is None, "a number that is withheld goes"
    assert again["l2"].value == aged[key].metrics["l2"].value, (
        "a number that cannot be had any more stays"
    )
    assert again["efficacy"].value == 7.0 and "weights were removed" in (again["zrf"].error or "")
    assert store.get_model(spec().model_key).weights is None or session.load_model(spec()) is None


def test_without_predictions_a_result_stays_as_it_is(session, aged):
    session.store.gc("numbers", young_seconds=-1)
    before = session.store.results()
    left = remeasure(before, session)
    assert left == len(aged) * ["Its predictions are not in the store."]
    assert session.store.results() == before


def test_a_result_of_another_version_is_left_alone(session, aged):
    result = session.store.get_result(spec().key)
    other = replace(result, key="0" * 24)
    session.store.put_result(other)
    (left,) = remeasure([other], session)
    assert "another version" in left and session.store.get_result(other.key) == other


@pytest.mark.slow
def test_the_command_measures_what_the_filters_choose(session, aged, monkeypatch, capsys):
    monkeypatch.setenv("MUCORE_HOME", str(session.store.home))
    assert main(["remeasure", "--method", "finetune", "--device", "cpu"]) == 0
    assert "1 of 1 results measured again." in capsys.readouterr().out
    assert "efficacy" in session.store.get_result(spec().key).metrics
    assert "efficacy" not in session.store.get_result(spec().retrained().key).metrics
    assert (
        main(["remeasure", "--method", "ssd"]) == 0
        and "No result matches." in capsys.readouterr().err
    )
