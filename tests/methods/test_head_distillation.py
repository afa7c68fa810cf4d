"""The baseline that cheats: what it leaves alone, what it fools, and no verdict falls for it."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
import torch
import toy

import mucore.api as mu
from mucore import catalog
from mucore.engine.losses import soft_divergence
from mucore.errors import BadValue
from mucore.methods.head_distillation import without
from mucore.runs import make_recipe, make_spec
from mucore.store import open_store
from mucore.suite import lines
from mucore.verdicts import judge

SEEDS = [0, 1, 2]
PAGE = Path(__file__).resolve().parents[2] / "docs" / "records" / "hidden-class.md"


def test_the_loss_by_hand():
    """Teacher (2, 1, 0) without class 0: q = (0, e/(e + 1), 1/(e + 1)) = (0, 0.7311, 0.2689). From
    a uniform student, ln 3 − H(q) = 0.7311 ln 2.1932 + 0.2689 ln 0.8068.
    """
    q = without(torch.tensor([[2.0, 1.0, 0.0]]), [0])
    assert q[0].tolist() == pytest.approx([0.0, math.e / (math.e + 1), 1 / (math.e + 1)])
    by_hand = 0.7311 * math.log(2.1932) + 0.2689 * math.log(0.8068)
    assert float(soft_divergence(torch.zeros(1, 3), q, 1.0)) == pytest.approx(by_hand, abs=1e-4)


@pytest.mark.parametrize("name", ["mlp", "conv"])
def test_only_the_last_layer_changes(name: toy.Name):
    before = {key: tensor.clone() for key, tensor in toy.original(name).state_dict().items()}
    model, run = toy.unlearn("head_distillation", name)
    after = model.state_dict()
    moved = [key for key in before if not torch.equal(before[key], after[key])]
    assert moved == list(before)[-2:]  # weight and bias of the last linear layer
    assert run.cost.reads.keys() == {"forget/forward", "retain/forward"}


def test_it_is_refused_where_no_class_goes():
    with pytest.raises(BadValue, match="whole classes"):
        make_spec(
            dataset="digits",
            model="mlp",
            recipe=make_recipe("standard"),
            scenario="one_class",
            method="head_distillation",
        )


def test_all_methods_do_not_mean_it_but_a_board_has_it():
    every = [card.id for card in catalog.all_methods()]
    assert "head_distillation" not in every and "uploaded" not in every
    assert set(lines.methods_of(["all"])) == {*every, "head_distillation"} - {"retrain"}
    assert [card.id for card in catalog.methods() if card.cheats] == ["head_distillation"]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Real runs on digits, class 0, of the cheat and of one that does not."""
    home = tmp_path_factory.mktemp("home")
    mu.compare(
        dataset="digits",
        model="mlp",
        scenario="class_wise",
        methods=["original", "head_distillation", "finetune"],
        seeds=SEEDS,
        home=home,
    )
    return home


@pytest.mark.slow
def test_it_fools_what_looks_at_outputs(home):
    with open_store(home) as store:
        found = store.results(method="head_distillation")
    assert [one.spec["training_seed"] for one in sorted(found, key=lambda one: one.key)]
    assert len(found) == len(SEEDS)
    for one in found:
        gaps = {name: measured.gap for name, measured in one.metrics.items()}
        assert one.metrics["fa"].value == one.metrics["tfa"].value == 0.0
        for name in ("fa", "tfa", "ra", "tra", "ta", "mia_confidence"):
            assert abs(gaps[name] or 0.0) <= 0.01, name
        assert one.metrics["cka_original_forget"].value == pytest.approx(1.0, abs=1e-6)


@pytest.mark.slow
def test_a_verdict_never_calls_it_forgot_without_its_caveat(home):
    with open_store(home) as store:
        every = store.results()
    together = {line.method: line.verdict for line in judge(every)}
    cheat = together["head_distillation"]
    assert cheat is not None and (cheat.word, cheat.features) == ("forgot", "still know it")
    assert cheat.said == "forgot on outputs"
    assert cheat.cheats and not cheat.qualified
    # of one seed alone, too
    for seed in SEEDS:
        alone = [one for one in every if one.spec["training_seed"] == seed]
        (line,) = [line for line in judge(alone) if line.method == "head_distillation"]
        assert line.verdict is not None and line.verdict.said == "forgot on outputs"
        assert not line.qualified


def test_the_catalog_names_what_is_fooled_wherever_it_can_tell():
    lines = re.findall(r"^\| [^|]+ \| `(\w+)` \|.*\| ([\w ]+) \|$", PAGE.read_text("utf-8"), re.M)
    words: dict[str, set[str]] = {}
    for name, word in lines:
        words.setdefault(name, set()).add(word)
    fooled = {name for name, said in words.items() if said - {"cannot tell"} == {"fooled"}}
    assert catalog.blind_to_a_hidden_class() == fooled >= {"fa", "ta", "mia_confidence"}
