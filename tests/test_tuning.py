"""The search for tuned settings: spaces that fit the cards, and a search that stops and goes on
without a trace.
"""

import json

import demo_results
import optuna
import pytest
import tune
import tuning_page
from builders import make_result, make_spec_row

from mucore import catalog
from mucore.catalog.cards import Among, Between
from mucore.catalog.tuning import found
from mucore.spec import check, make_recipe, method_parameters
from mucore.store import open_store, write_pack

SPACES = tune.SPACES


@pytest.mark.parametrize("method", list(SPACES))
def test_every_value_of_a_space_is_legal(method):
    cards = {p.name: p for p in catalog.method(method).parameters}
    for name, space in SPACES[method].items():
        values = space.values if isinstance(space, Among) else (space.low, space.high)
        assert [check(cards[name], value, owner=method) for value in values] == list(values)
        assert isinstance(space, Among) or space.low < space.high
        assert not (isinstance(space, Between) and space.log and space.low <= 0)


def test_every_method_that_can_be_nearer_to_retrain_is_searched():
    assert set(SPACES) == {
        card.id for card in catalog.METHODS if card.family not in ("reference", "exact", "own")
    }


def test_what_was_found_lies_in_the_space_and_is_the_tuned_preset():
    recipe = make_recipe("standard")
    for method, values in found().items():
        assert set(values) == set(SPACES[method])
        assert {
            name: method_parameters(catalog.method(method), recipe, {}, preset="tuned")[name]
            for name in values
        } == dict(values)


def test_exact_methods_have_one_preset():
    recipe = make_recipe("standard")
    for method in ("retrain", "sisa"):
        card = catalog.method(method)
        assert method_parameters(card, recipe, {}, preset="tuned") == method_parameters(
            card, recipe, {}
        )


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(tune, "DATASET", "digits")
    monkeypatch.setattr(tune, "MODEL", "mlp")
    monkeypatch.setattr(tune, "PRESET", "quick")
    monkeypatch.setattr(tune, "TIME_CAP", 100.0)


def tried(home, method="finetune"):
    return [
        (t.state.name, t.user_attrs.get("values"), t.value)
        for t in tune.open_study(method, home).get_trials()
    ]


def test_a_search_that_was_stopped_goes_on_as_if_it_had_not(small, tmp_path):
    tune.search("finetune", tmp_path / "once", 6, 1)
    tune.search("finetune", tmp_path / "twice", 2, 1)
    line = tune.search("finetune", tmp_path / "twice", 6, 1)
    assert tried(tmp_path / "twice") == tried(tmp_path / "once")
    assert "of 6 trials" in line


def test_the_first_trial_has_the_authors_values_and_scores_are_the_mean_gap(small, tmp_path):
    tune.search("finetune", tmp_path, 1, 1)
    (trial,) = tune.open_study("finetune", tmp_path).get_trials()
    authors = method_parameters(catalog.method("finetune"), make_recipe("quick"), {})
    assert trial.user_attrs["values"] == {name: authors[name] for name in SPACES["finetune"]}
    scores = []
    for scenario in tune.SCENARIOS:
        gaps = trial.user_attrs[scenario]["gaps"]
        assert set(gaps) == {"ra", "fa", "va", "mia"}
        scores.append(sum(abs(gap) for gap in gaps.values()) / 4)
    assert trial.value == pytest.approx(sum(scores) / 2)


def test_a_trial_past_the_cap_counts_and_the_best_is_another(small, tmp_path, monkeypatch):
    monkeypatch.setattr(tune, "TIME_CAP", 1e-9)
    line = tune.search("gradient_ascent", tmp_path, 2, 1)
    assert line == "gradient_ascent: none of 2 trials ended well"
    assert {state for state, _, _ in tried(tmp_path, "gradient_ascent")} == {"FAIL"}


def test_a_trial_far_behind_after_one_scenario_ends_there(tmp_path):
    study = tune.open_study("ssd", tmp_path)
    for score in (0.1, 0.2, 0.3, 0.4, 0.5):
        trial = study.ask()
        trial.set_user_attr("one_class", {"score": score})
        study.tell(trial, score)
    assert [tune.behind(study, "one_class", score) for score in (0.29, 0.31)] == [False, True]
    assert not tune.behind(study, "class_wise", 1.0)  # nobody has been there yet


def test_what_is_written_is_the_best_trial_rounded_and_added_to_the_rest(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(tune, "FOUND", tmp_path / "tuned.json")
    monkeypatch.setattr(tune, "SPACES", {name: SPACES[name] for name in ("ssd", "finetune")})
    study = tune.open_study("ssd", tmp_path)
    for value, alpha in ((0.3, 10.0), (0.1, 12.3456), (None, 5.0)):
        trial = study.ask()
        trial.set_user_attr("values", {"alpha": alpha, "order": "shuffled"})
        study.tell(trial, value, state=optuna.trial.TrialState.FAIL if value is None else None)
    tune.write(tmp_path, 3)
    content = json.loads((tmp_path / "tuned.json").read_text())
    assert content["methods"] == {"ssd": {"alpha": 12.3, "order": "shuffled"}}
    assert content["evidence"]["ssd"] == {
        "score": 0.1,
        "authors_score": 0.3,
        "trial": 1,
        "trials": 3,
        "completed": 2,
        "behind": 0,
        "failed": 1,
    }
    assert capsys.readouterr().out.endswith("Not searched to the end: finetune.\n")
    with monkeypatch.context() as changed, pytest.raises(SystemExit, match="other conditions"):
        changed.setattr(tune, "SEED", 7)
        tune.write(tmp_path, 3)
    other = tmp_path / "another home"
    study = tune.open_study("finetune", other)
    for value in (0.2, 0.3, 0.4):
        trial = study.ask()
        trial.set_user_attr("values", {"lr": 0.5})
        study.tell(trial, value)
    tune.write(other, 3)
    assert list(json.loads((tmp_path / "tuned.json").read_text())["methods"]) == ["ssd", "finetune"]
    shorter = tune.open_study("ssd", tmp_path / "a shorter search")
    trial = shorter.ask()
    trial.set_user_attr("values", {"alpha": 1.0, "order": "shuffled"})
    shorter.tell(trial, 0.01)
    tune.write(tmp_path / "a shorter search", 1)
    assert json.loads((tmp_path / "tuned.json").read_text())["methods"]["ssd"]["alpha"] == 12.3, (
        "fewer trials replace nothing"
    )


def measured(store, method, preset, seed, gaps, scenario="one_class", **of_scenario):
    """A result with gaps of retain, forget and test accuracy and the attack, on the conditions of
    tuned.json.
    """
    spec = make_spec_row(
        dataset=tune.DATASET,
        model=tune.MODEL,
        scenario=scenario,
        method=method,
        training_seed=seed,
        scenario_parameters=of_scenario,
    )
    rate = {"authors": 0.1, "tuned": 0.2}[preset]
    spec = spec.model_copy(
        update={
            "recipe": make_recipe("standard"),
            "method_preset": preset,
            "parameters": {**spec.parameters, "lr": rate},
        }
    )
    names = ("ra", "fa", "ta", "mia_confidence")
    values = {"rte": 0.1} | dict.fromkeys(names, 0.5)
    store.put_result(make_result(spec, metrics=values, gaps=dict(zip(names, gaps, strict=True))))


def test_the_page_compares_both_presets_over_the_seeds_that_have_tuned_runs(tmp_path, monkeypatch):
    with open_store(tmp_path / "home") as store:
        measured(store, "scrub", "authors", 0, (0.1, 0.3, -0.2, -0.2))  # 20 points
        # another forget set
        measured(store, "scrub", "authors", 0, (0.9, 0.9, 0.9, 0.9), budget=0.05)
        measured(store, "scrub", "authors", 1, (0.0, 0.4, 0.0, 0.0))  # 10 points
        measured(store, "scrub", "authors", 2, (0.9, 0.9, 0.9, 0.9))  # no tuned run of this seed
        measured(store, "scrub", "tuned", 0, (0.0, -0.1, 0.1, 0.0))  # 5 points
        measured(store, "scrub", "tuned", 1, (0.0, 0.1, -0.1, 0.0))
        measured(store, "salun", "authors", 0, (0.0, 0.0, 0.0, 0.0))
        # 3 points, and one seed of two
        measured(store, "salun", "tuned", 0, (0.04, 0.04, 0.04, 0.0))
        # the search found nothing better
        measured(store, "amnesiac", "authors", 0, (0.0, 0.0, 0.02, 0.02))
        measured(store, "pgu", "authors", 0, (0.04, 0.0, 0.0, 0.0))  # 1 point
        measured(store, "pgu", "tuned", 0, (0.08, 0.0, 0.0, 0.0))  # 2 points
        # a seed that the authors' settings did not run on
        measured(store, "pgu", "tuned", 1, (0.0, 0.0, 0.0, 0.0))
        write_pack(store, tmp_path / "pack")
    monkeypatch.setattr(demo_results, "DEMO", tmp_path / "pack")
    page = tuning_page.tuning_page()
    assert "| `scrub` | 15.0 (+35.0), RTE 0.1 | 5.0 (+0.0), RTE 0.1 | – | – |" in page
    assert (
        "| `salun` | 0.0 (+0.0), RTE 0.1, 1 of 2 seeds | 3.0 (+4.0), RTE 0.1, 1 of 2 seeds | – | "
        "– |"
    ) in page
    assert "| `amnesiac` | 1.0 (+0.0), RTE 0.1, 1 of 2 seeds | the same | – | the same |" in page
    assert (
        "`one_class`: 1 of 4 methods came nearer to Retrain. Further away: `pgu` (1.0 to 2.0) "
        "and `salun` (0.0 to 3.0)."
    ) in page
    assert (
        "Nearest with tuned settings: `amnesiac` (1.0), `pgu` (2.0), `salun` (3.0) and `scrub` "
        "(5.0)."
    ) in page
    assert (
        "training seeds 0 and 1, which the search never saw" in page
        and "| `gkt` | refused | refused | – | – |" in page
    )
