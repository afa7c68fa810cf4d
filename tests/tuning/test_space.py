"""Spaces that fit the cards, hold no provable no-ops, and settings drawn alike by whoever asks."""

import builtins
from dataclasses import replace

import pytest

from mucore import catalog
from mucore.catalog.cards import Among, Between
from mucore.catalog.networks import network
from mucore.errors import MucoreError
from mucore.runner.estimate.memory import values_of
from mucore.spec import check, make_recipe, make_spec
from mucore.tuning.space import STARTUP, Space, draw
from mucore.tuning.wish import CAP

SEARCHED = [card.id for card in catalog.METHODS if card.search]


def space_of(method: str, scenario: str = "one_class") -> Space:
    spec = make_spec(
        dataset="fashion-mnist-10k",
        model="resnet9-small",
        recipe=make_recipe("standard"),
        scenario=scenario,
        method=method,
    )
    gone = catalog.scenario(scenario).class_wise
    forget = 800 if gone else 160
    sizes = {"train": 8000, "forget": forget, "retain": 8000 - forget, "validation": 1000}
    facts = values_of(
        network(spec.model, (1, 28, 28)),
        shape=(1, 28, 28),
        classes=10,
        sizes=sizes,
        leaving=int(gone),
        recipe_epochs=spec.recipe.epochs,
        recipe_batch=spec.recipe.batch_size,
    )
    return Space(method, {"batch_size": 64} | facts, spec.parameters)


def tasks(method: str) -> list[str]:
    names = ("one_class", "class_wise")
    return [name for name in names if catalog.serves(catalog.method(method), name)]


def test_every_method_that_can_be_nearer_to_retrain_is_searched():
    assert {*SEARCHED} == {
        card.id
        for card in catalog.METHODS
        if card.family not in ("reference", "exact", "baseline", "own")
    }


@pytest.mark.parametrize("method", SEARCHED)
def test_every_value_of_a_space_is_legal(method):
    cards = {p.name: p for p in catalog.method(method).parameters}
    for scenario in tasks(method):
        space = space_of(method, scenario)
        for name, found in space.search.items():
            values = found.values if isinstance(found, Among) else space.bounds(name)
            assert [check(cards[name], value, owner=method) for value in values] == list(values)
            assert not isinstance(found, Among) or len({*map(str, values)}) == len(values)


@pytest.mark.parametrize("method", SEARCHED)
def test_the_next_setting_depends_on_what_was_tried_and_the_seed_alone(method):
    for scenario in tasks(method):
        space, tried = space_of(method, scenario), []
        for number in range(STARTUP + 2):
            most = 1e12
            first, again = (draw(space, tried, seed=100, most=most) for _ in range(2))
            assert first is not None and first == again and space.holds(first)
            tried.append((first, float(number)))
        other = draw(space, tried, seed=7, most=1e12)
        assert other is not None and space.holds(other)


@pytest.mark.parametrize("method", SEARCHED)
def test_every_method_gets_its_trials_within_the_cap(method):
    """Also where most of its space costs too much, as each epoch of NegGrad+ beyond the second."""
    for scenario in tasks(method):
        space = space_of(method, scenario)
        most = CAP * 15 * space.facts["retain"]  # a Retrain has 15 epochs
        if draw(space, [], seed=100, most=most) is None:  # nothing it can do is so cheap
            continue
        tried = [(space.authors(), 50.0)]
        for number in range(STARTUP + 8):
            found = draw(space, tried, seed=100, most=most)
            assert found is not None and space.fits(found, most)
            assert found not in [values for values, _ in tried]
            tried.append((found, 50.0 - number))


def test_ssd_is_searched_where_it_selects_something():
    """The ratio of the importances is |D| / |Df| at most, for all data have the forget set among
    them; squares of single samples know no order of batches.
    """
    for scenario, ratio in (("one_class", 50), ("class_wise", 10)):
        assert space_of("ssd", scenario).bounds("alpha") == (1.0, ratio)
    space = space_of("ssd")
    drawn = [draw(space, [], seed=seed, most=1e12) for seed in range(20)]
    assert {each["fisher"] for each in drawn if each} == {"batch", "sample"}
    assert all(("order" in each) == (each["fisher"] == "batch") for each in drawn if each)


@pytest.mark.parametrize(
    ("method", "samples", "classes"),
    [
        ("unsir", {"instance_lr", "instance_epochs"}, {"class_noise_steps", "impair_lr"}),
        ("duck", {"lr"}, {"class_lr"}),
        ("scar", {"surrogate_batches"}, {"class_surrogate_batches"}),
    ],
)
def test_what_a_scenario_does_not_use_is_not_searched_there(method, samples, classes):
    for scenario, used, unused in (
        ("one_class", samples, classes),
        ("class_wise", classes, samples),
    ):
        found = draw(space_of(method, scenario), [], seed=1, most=1e12)
        assert found is not None and used <= found.keys() and not unused & found.keys()


def test_nothing_is_drawn_that_is_known_to_cost_too_much():
    space = space_of("scrub")
    whole = 15 * 7840  # of a Retrain
    found = [draw(space, [], seed=seed, most=whole / 5) for seed in range(10)]
    assert all(each is not None and space.predicted(each) <= whole / 5 for each in found)
    assert max(space.predicted(each) for each in found if each) > whole / 15
    # one epoch of the cheapest kind takes a fifteenth of it
    assert draw(space, [], seed=0, most=whole / 100) is None


def test_what_no_rule_saves_is_no_trial_within_less():
    """NTK's sketch takes half of a Retrain where a whole class goes, whatever its setting."""
    classes, part = space_of("ntk", "class_wise"), space_of("ntk", "one_class")
    whole = 15 * 7200
    assert draw(classes, [], seed=100, most=CAP * whole) is None
    dear = {"mu": 0.1, "scale": "trapezium", "retain_samples": 200, "iterations": 10}
    takes = (53 * (800 + 200) + 2 * 200) * (1 + 1 / 3)
    assert classes.fits(dear, takes + 1) and not classes.fits(dear, takes - 1)
    assert part.fits(dear, (53 * (160 + 200) + 2 * 200) * (1 + 1 / 3) + 1)


@pytest.mark.parametrize("method", SEARCHED)
def test_what_a_method_takes_at_least_is_not_above_its_bound(method):
    footprint = catalog.method(method).footprint
    assert footprint.stops or footprint.least == "0"
    for scenario in tasks(method):
        space = space_of(method, scenario)
        for seed in range(5):
            drawn = draw(space, [], seed=seed, most=1e12)
            assert drawn is not None
            (least,) = space._evaluated(drawn, footprint.least)
            assert 0 <= least <= space.predicted(drawn)


def test_a_bound_is_no_reason_to_leave_out_what_a_rule_may_stop():
    space = space_of("duck", "class_wise")
    dear = {"class_lr": 1e-3, "epochs": 10, "lambda_1": 1.0, "lambda_2": 1.0, "retain_batches": 20}
    assert space.holds(dear) and space.predicted(dear) > 15 * 7200 and space.fits(dear, 1.0)


def test_settings_of_another_space_are_not_taken_for_its_own():
    space = space_of("ssd")
    inside = {
        "selection": "alpha",
        "alpha": 5.0,
        "lam": 0.5,
        "fisher": "batch",
        "order": "mixed",
    }
    assert space.holds(inside) and space.holds(space.authors())
    for change in (
        {"alpha": 500.0},
        {"selection": "percentile"},
        {"order": "sorted"},
        {"fisher": "sample"},
        {"beta": 1.0},
    ):
        assert not space.holds(inside | change)
    assert not space.holds({name: inside[name] for name in inside if name != "order"})
    wide = [(inside | {"alpha": 500.0}, 0.1), (inside, 1.0)]
    assert draw(space, wide, seed=3, most=1e12) is not None


def test_no_setting_is_drawn_twice_while_there_is_another(monkeypatch):
    values = (0.1, 0.5, 1.0, 2.0)
    monkeypatch.setattr(Space, "search", {"lam": Among(values)})
    space, tried = space_of("ssd"), []
    for number in range(STARTUP + 4):
        found = draw(space, tried, seed=100, most=1e12)
        assert found is not None
        tried.append((found, found["lam"]))
        drawn = {each["lam"] for each, _ in tried}
        assert len(drawn) == min(number + 1, len(values)) and drawn <= {*values}


def test_edges_are_the_ends_behind_which_there_is_more():
    space = space_of("finetune")
    assert isinstance(space.search["lr"], Between)
    low, high = space.bounds("lr")
    middle = {"lr": 0.01, "epochs": 3, "batch_size": 128}
    assert space.edges(middle) == ()
    assert space.edges(middle | {"lr": high}) == ("lr, upper end",)
    assert space.edges(middle | {"lr": low * 1.1}) == ("lr, lower end",)
    assert space.edges(middle | {"batch_size": 256}) == ("batch_size, upper end",)
    # the upper end of the epochs is where the cap of work is, no choice of the card's
    assert space.edges(middle | {"epochs": 5}) == ()
    # SSD's α ends where the data do, gradient ascent's rate where its card does
    ssd = {"alpha": 50.0, "lam": 0.5, "fisher": "sample"}
    assert space_of("ssd").edges(ssd) == ()
    lowest = {"lr": 1e-6, "epochs": 5, "stop_loss": 2.0, "bn": "train"}
    assert space_of("gradient_ascent").edges(lowest) == ()


def test_an_edge_is_told_of_authors_values_that_no_space_holds_too():
    l_codec = {"l2_reg": None, "epsilon": 0.1, "cap": 50, "perturbations": 100}
    assert space_of("l_codec").edges(l_codec) == ()
    space = space_of("finetune")
    assert space.edges({"lr": 0.0, "epochs": 3, "batch_size": 128}) == ("lr, lower end",)
    assert space.edges({"lr": 0.9, "epochs": 3, "batch_size": 128}) == ("lr, upper end",)


def test_edges_are_those_of_the_space_that_was_recorded():
    space = space_of("finetune")
    high = space.bounds("lr")[1]
    values = {"lr": high, "epochs": 3, "batch_size": 128}
    wider = dict(space.search) | {"lr": Between(1e-5, 10 * high, log=True)}
    assert space.edges(values) == ("lr, upper end",)
    assert replace(space, recorded=wider).edges(values) == ()
    # what no card or no record knows any more has no end
    without = {name: each for name, each in space.search.items() if name != "lr"}
    assert replace(space, recorded=without).edges(values) == ()
    gone = dict(space.search) | {"gone": Between(0.0, 1.0)}
    assert replace(space, recorded=gone).edges(values | {"gone": 1.0}) == ("lr, upper end",)


def test_without_optuna_a_sentence_says_how_to_get_it(monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **named):
        if name.partition(".")[0] == "optuna":
            raise ImportError(name)
        return real(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MucoreError, match=r"\.\[tune\]"):
        draw(space_of("finetune"), [], seed=0, most=1e12)
