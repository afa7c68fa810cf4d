"""Noise on gradients, methods confined to the classifier, and sweeps: keys, values by hand, and
what the tables say of them.
"""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from launching import digits as spec
from launching import small_grid
from torch import nn

from mucore import catalog, cli
from mucore.cli.flags import GridOptions, build_grid
from mucore.engine.data import Samples, TensorImages
from mucore.engine.loop import Optimizer, Phase, fit
from mucore.engine.run import Run
from mucore.errors import BadValue, Refused, UnknownName
from mucore.runner.execute import execute, unlearn
from mucore.runner.grid import Grid, expand
from mucore.runner.plan import make_plan
from mucore.runs import RunSpec, check
from mucore.store import open_store
from tests import toy
from tests.builders import value

# -- keys


def test_keys_from_before_stay():
    """The fields came late, so at their defaults they are no part of what is hashed."""
    plain = spec()
    assert not {"noise", "scope"} & plain.canonical().keys()
    assert spec(noise=0.0, scope="all").key == plain.key
    stored = {
        name: value
        for name, value in plain.model_dump(mode="json").items()
        if name not in ("noise", "scope")
    }
    assert RunSpec.model_validate(stored).key == plain.key


def test_noise_and_scope_are_other_runs_of_the_same_references():
    plain, noisy, narrow = spec(), spec(noise=0.01), spec(scope="classifier")
    assert len({each.key for each in (plain, noisy, narrow, spec(noise=0.1))}) == 4
    assert len({each.model_key for each in (plain, noisy, narrow)}) == 3
    for each in (noisy, narrow):
        assert (each.original(), each.untouched(), each.retrained()) == (
            plain.original(),
            plain.untouched(),
            plain.retrained(),
        )
    assert spec("retrain", noise=0.01, scope="classifier") == spec("retrain")
    assert "noise 0.01" in noisy.label and "classifier alone" in narrow.label


# -- noise


def one_step(noise: float, **options: Any) -> tuple[torch.Tensor, Run]:
    """A step of rate 1 from weights (1, 2, 3) along the gradient (1, 1, 1) and its noise."""
    model = nn.Module()
    model.weight = nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))
    images = TensorImages(torch.zeros(4, 1, 1, 1, dtype=torch.uint8), [0.5], [0.5], "cpu")
    samples = Samples(
        images, torch.arange(4), torch.zeros(4, dtype=torch.int64), torch.arange(4), "retain"
    )
    run = Run(seed=5)
    run.noise = noise
    phase = Phase(data=samples, batch_size=4, loss=lambda model, batch: model.weight.sum())
    fit(model, [phase], run, epochs=1, optimizer=Optimizer(lr=1.0), **options)
    return model.get_parameter("weight").detach(), run


def test_a_step_with_noise_by_hand():
    drawn = torch.randn(3, generator=Run(seed=5).rng("gradient_noise"))
    moved, run = one_step(0.25)
    assert torch.allclose(moved, torch.tensor([0.0, 1.0, 2.0]) - 0.25 * drawn)
    assert run.diagnostics["noisy_steps"] == 1


def test_without_noise_nothing_is_drawn():
    moved, run = one_step(0.0)
    assert torch.equal(moved, torch.tensor([0.0, 1.0, 2.0]))
    assert "gradient_noise" not in run.rng_states() and "noisy_steps" not in run.diagnostics


def test_what_a_method_does_with_gradients_holds_for_the_noise():
    def only_first(model: nn.Module) -> None:
        gradient = model.get_parameter("weight").grad
        assert gradient is not None
        gradient[1:] = 0

    moved, _ = one_step(10.0, edit_grads=only_first)
    assert moved[1:].tolist() == [2.0, 3.0] and moved[0] != 0


def test_a_replayed_training_has_no_noise():
    run = Run(seed=0)
    run.noise = 0.5
    with run.seeded(1):
        assert run.noise == 0.0
    assert run.noise == 0.5


def test_noise_in_a_run_reaches_the_weights_and_the_tables(session):
    plain, quiet, loud = (execute(spec(noise=noise), session) for noise in (0.0, 1e-9, 0.5))
    assert value(loud.metrics, "ra") < value(plain.metrics, "ra") == value(quiet.metrics, "ra")
    assert (
        loud.diagnostics["noisy_steps"] == loud.cost["steps"] > 0
        and "noisy_steps" not in plain.diagnostics
    )
    table = session.store.summaries(method="finetune").set_index("key")["parameters"]
    assert json.loads(table[loud.key]) == {**json.loads(table[plain.key]), "gradient_noise": 0.5}
    again = execute(spec(noise=0.5), session)
    assert again.finished == loud.finished


# -- scope


@pytest.mark.parametrize(
    "method",
    ["finetune", "gradient_ascent", "scrub", "salun", "pseudo_labels", "duck", "l1_sparse", "rum"],
)
def test_a_confined_method_moves_the_classifier_alone(method):
    run, before = Run(seed=0), toy.original("mlp")
    asked: Any = SimpleNamespace(
        method=method,
        method_hash="",
        parameters=toy.parameters(method),
        scope="classifier",
        noise=0.0,
    )
    after = unlearn(asked, before, toy.request("mlp"), run)
    moved = {
        name
        for name, tensor in after.state_dict().items()
        if not torch.equal(tensor, before.state_dict()[name])
    }
    head = [name for name, module in before.named_modules() if isinstance(module, nn.Linear)][-1]
    assert moved == {f"{head}.weight", f"{head}.bias"}
    assert all(p.requires_grad for p in after.parameters())
    inside = sum(p.numel() for p in before.get_submodule(head).parameters())
    assert run.diagnostics["trained_share"] == pytest.approx(
        inside / sum(p.numel() for p in before.parameters())
    )


CARDS = [card for card in catalog.METHODS if card.family != "reference"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "card",
    [card for card in CARDS if not card.not_confinable or card.confinable_when],
    ids=lambda card: card.id,
)
def test_a_method_can_be_confined_where_its_card_does_not_say_otherwise(card):
    chosen = toy.parameters(
        card.id, **{name: free[0] for name, free in card.confinable_when.items()}
    )
    asked: Any = SimpleNamespace(
        method=card.id, method_hash="", parameters=chosen, scope="classifier", noise=0.0
    )
    before = toy.original("conv")
    after = unlearn(asked, before, toy.request("conv"), Run(seed=0))
    head = [name for name, module in before.named_modules() if isinstance(module, nn.Linear)][-1]
    moved = {
        name
        for name, tensor in after.state_dict().items()
        if not torch.equal(tensor, before.state_dict()[name])
    }
    assert moved <= {f"{head}.weight", f"{head}.bias"}
    own = {name: chosen[name] for name in card.confinable_when}
    assert of(card.id, parameters=own, scope="classifier").scope == "classifier"


def of(method: str, **changes: Any) -> RunSpec:
    served = catalog.serves(catalog.method(method), "class_wise")
    return spec(method, "class_wise" if served else "one_class", **changes)


@pytest.mark.parametrize(
    "card",
    [card for card in CARDS if card.not_confinable and not card.needs_file],
    ids=lambda card: card.id,
)
def test_a_method_that_cannot_be_confined_is_refused_before_it_runs(card):
    for name, free in card.confinable_when.items():
        parameter = next(each for each in card.parameters if each.name == name)
        assert {check(parameter, value, owner=card.id) for value in free} == set(free)
    values = {
        name: OTHER[card.id, name] for name in card.confinable_when if (card.id, name) in OTHER
    }
    with pytest.raises(
        Refused,
        match=f"^{card.id} cannot be confined to the classifier: it.* out "
        "where the scope is classifier.$",
    ):
        of(card.id, parameters=values, scope="classifier")
    assert of(card.id, parameters=values).scope == "all"


OTHER = {  # values under which a method cannot be confined where its usual ones let it
    ("scrub", "break_symmetry"): "tiny_noise",
    ("scrub_rewind", "break_symmetry"): "tiny_noise",
    ("pseudo_labels", "projection"): "null_space",
    ("l1_sparse", "prune"): 0.5,
}


@pytest.mark.parametrize(
    ("method", "changes"),
    [
        ("scrub", {"break_symmetry": "tiny_noise"}),
        ("pseudo_labels", {"projection": "null_space"}),
        ("l1_sparse", {"prune": 0.5}),
        *((name, {}) for name in ("ssd", "fisher", "munba", "cf_k", "first_order", "sisa")),
    ],
)
def test_what_a_card_refuses_of_the_classifier_would_move_other_layers(method, changes):
    asked: Any = SimpleNamespace(
        method=method,
        method_hash="",
        parameters=toy.parameters(method, **changes),
        scope="classifier",
        noise=0.0,
    )
    with pytest.raises(Refused, match="so it cannot be confined"):
        unlearn(asked, toy.original("conv"), toy.request("conv"), Run(seed=0))


def test_the_command_line_says_what_cannot_be_confined_and_runs_the_rest(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path))
    asked = (
        "plan --dataset digits --model mlp --preset quick --scenario one_class class_wise "
        "--methods ssd,duck"
    ).split()
    assert cli.main([*asked, "--scope", "all,classifier", "--json"]) == 0
    said = capsys.readouterr()
    assert said.err.count("Left out: ssd cannot be confined to the classifier") == 1
    planned = {
        (run["spec"]["method"], run["spec"]["scope"]) for run in json.loads(said.out)["runs"]
    }
    assert planned == {
        ("original", "all"),
        ("retrain", "all"),
        ("ssd", "all"),
        ("duck", "all"),
        ("duck", "classifier"),
    }
    assert cli.main([*asked, "--scope", "classifier"]) != 0
    assert "ssd runs in none of the chosen scenarios and scopes" in capsys.readouterr().err


# -- grids and flags


def options(**changes: Any) -> GridOptions:
    content: dict[str, Any] = {
        "methods": ["finetune", "scrub"],
        "dataset": "digits",
        "model": "mlp",
        "scenario": ["one_class"],
    }
    return GridOptions(**{**content, **changes})


def test_a_grid_runs_every_noise_and_scope_of_methods_and_references_once(tmp_path):
    both = ["all", "classifier"]
    grid = small_grid(methods=["finetune", "retrain"], noise=[0.0, 0.01], scopes=both)
    specs, refused = expand(grid)
    assert not refused
    assert [(each.method, each.noise, each.scope) for each in specs] == [
        ("original", 0.0, "all"),
        ("retrain", 0.0, "all"),
        ("original", 0.0, "all"),
        ("finetune", 0.0, "all"),
        ("finetune", 0.0, "classifier"),
        ("finetune", 0.01, "all"),
        ("finetune", 0.01, "classifier"),
    ]
    with open_store(tmp_path) as store:
        assert make_plan(Grid.model_validate_json(grid.model_dump_json()), store).specs == tuple(
            specs
        )


def test_a_sweep_is_a_method_with_several_sets_of_parameters():
    grid = build_grid(
        options(
            changes=["scrub.lr=0.001,0.01", "scrub.msteps=1,2", "scrub.epochs=3"],
            noise="0,0.5",
            scopes="classifier",
        )
    )
    assert [(choice.id, choice.parameters) for choice in grid.methods] == [
        ("finetune", {}),
        *(
            ("scrub", {"epochs": "3", "lr": lr, "msteps": msteps})
            for lr, msteps in (("0.001", "1"), ("0.001", "2"), ("0.01", "1"), ("0.01", "2"))
        ),
    ]
    assert grid.noise == [0.0, 0.5] and grid.scopes == ["classifier"]
    swept = {
        (each.parameters["lr"], each.parameters["msteps"], each.noise)
        for each in expand(grid)[0]
        if each.method == "scrub"
    }
    assert swept == {
        (lr, msteps, noise) for lr in (0.001, 0.01) for msteps in (1, 2) for noise in (0.0, 0.5)
    }


@pytest.mark.parametrize(
    ("changes", "kind", "sentence"),
    [
        ({"changes": ["scrub.lr"]}, BadValue, "must look like"),
        ({"changes": ["salun.lr=1,2"]}, UnknownName, "of this comparison named 'salun'"),
        ({"changes": ["scrap.lr=1,2"]}, UnknownName, "Did you mean scrub"),
        ({"noise": "much"}, BadValue, "noise.0 must be a number"),
        ({"scopes": "head"}, BadValue, "The comparison's scopes.0"),
    ],
)
def test_flags_that_make_no_sense_are_refused(changes, kind, sentence):
    with pytest.raises(kind, match=sentence):
        build_grid(options(**changes))
