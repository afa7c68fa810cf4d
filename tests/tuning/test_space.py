"""Spaces that fit the cards, hold no provable no-ops, and settings drawn alike by whoever asks."""

import builtins

import pytest

from mucore import catalog
from mucore.catalog.cards import Among, Between
from mucore.catalog.networks import network
from mucore.errors import MucoreError
from mucore.runner.estimate.memory import weights_of
from mucore.runs import check, make_recipe, make_spec
from mucore.tuning.plan import CAP
from mucore.tuning.space import STARTUP, Space, draw

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
    facts = {
        "batch_size": 64,
        "weights": weights_of(network(spec.model, (1, 28, 28)), 10),
        "classes": 10,
        "leaving": int(gone),
        "recipe_epochs": spec.recipe.epochs,
    }
    return Space(method, facts | sizes, spec.parameters)


def tasks(method: str) -> list[str]:
    names = ("one_class", "class_wise")
    return [name for name in names if catalog.serves(catalog.method(method), name)]


def test_every_method_that_can_be_nearer_to_retrain_is_searched():
    assert {*SEARCHED} == {
        card.id
        for card in catalog.METHODS
        if card.family not in ("reference", "exact", "baseline", "own")
    }


SPACES = [(method, scenario) for method in SEARCHED for scenario in tasks(method)]


def test_every_value_of_a_space_is_legal():
    for method, scenario in SPACES:
        card = catalog.method(method)
        cards = {p.name: p for p in card.parameters}
        space = space_of(method, scenario)
        for name, found in space.search.items():
            values = found.values if isinstance(found, Among) else space.bounds(name)
            assert [check(cards[name], value, owner=method) for value in values] == list(values)
            assert not isinstance(found, Among) or len({*map(str, values)}) == len(values)
        assert draw(space, [], seed=0, most=1e12) is not None, method


def follows(method: str, scenario: str, trials: int) -> None:
    """The next setting depends on what was tried and the seed alone, and stays within the cap; also
    where most of a space costs too much, as each epoch of NegGrad+ beyond the second.
    """
    space = space_of(method, scenario)
    most = CAP * 15 * space.facts["retain"]  # a Retrain has 15 epochs
    if draw(space, [], seed=100, most=most) is None:  # nothing it can do is so cheap
        return
    tried = [(space.authors(), 50.0)]
    for number in range(trials):
        first, again = (draw(space, tried, seed=100, most=most) for _ in range(2))
        assert first is not None and first == again and space.holds(first), method
        assert space.predicted(first) <= most, method
        assert first not in [values for values, _ in tried], method
        tried.append((first, 50.0 - number))
    other = draw(space, tried, seed=7, most=most)
    assert other is not None and space.holds(other)


def test_the_next_setting_follows_from_what_was_tried():
    for method in ("scrub", "ssd", "neggrad_plus"):
        follows(method, "one_class", STARTUP + 3)


@pytest.mark.slow
def test_every_method_gets_its_trials_within_the_cap():
    for method in SEARCHED:
        follows(method, tasks(method)[-1], STARTUP + 2)


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


def test_without_optuna_a_sentence_says_how_to_get_it(monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **named):
        if name.partition(".")[0] == "optuna":
            raise ImportError(name)
        return real(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MucoreError, match=r"\.\[tune\]"):
        draw(space_of("finetune"), [], seed=0, most=1e12)
