"""Any method on a user's own network, in memory: no store, no job (`mucore.api.unlearn`).

What a stored run does between its original and its metrics, on the user's module and samples.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, Final

import torch
from rich.console import Console
from rich.progress import Progress
from torch import Tensor, nn

from mucore import brought, catalog
from mucore.blocks.shards import Sharded
from mucore.catalog.cards import MethodCard
from mucore.engine.data import Samples, UnlearningData
from mucore.engine.device import resolve_device, resolve_precision
from mucore.engine.features import last_linear
from mucore.engine.run import Run
from mucore.errors import BadValue, need, said
from mucore.judged import whole_classes
from mucore.runner.method import called, finite
from mucore.runner.training_records import moments
from mucore.runs import (
    Recipe,
    method_parameters,
    records_of,
    refuse_original,
    refuse_scenario,
    refuse_values,
)
from mucore.training.records import needed

# records for which a trained network, or one from `fresh`, and the data are enough
MOMENTS: Final = "layer_moments"
SHARDS: Final = "shards"
RECORDS: Final = "mucore/training/records.py"
OF_IMAGES: Final = frozenset({"amun", "boundary_shrink", "gkt", "l2ul", "scar", "unsir"})


class Lacking:
    """Stands for what the call does not have: who asks for it gets the sentence."""

    def __init__(self, sentence: str):
        self.sentence = sentence

    def __call__(self, *asked: Any) -> Any:
        raise BadValue(self.sentence)

    def __getattr__(self, name: str) -> Any:
        raise BadValue(self.sentence)


def unlearn(
    model: nn.Module,
    method: str,
    train: Any,
    forget: Any,
    validation: Any,
    seed: int,
    device: str,
    fresh: Callable[[], nn.Module] | None,
    records: Mapping[str, Any] | None,
    recipe: Recipe,
    given: Mapping[str, Any],
) -> tuple[nn.Module, Run]:
    """See `mucore.api.unlearn`; `given` are parameters of the method's card."""
    brought.need_module("model", model)
    card = catalog.method(method)
    what = f"{card.id} makes nothing of a network that is there. Choose a method that unlearns."
    need(card.family != "reference" and not card.needs_file, what)
    place = resolve_device(device)
    screen = Console(stderr=True)
    bar = Progress(console=screen, transient=True, disable=not screen.is_terminal)
    task = bar.add_task(card.title, total=1.0)
    run = Run(
        seed=seed,
        device=place,
        precision=resolve_precision(recipe.precision, place),
        on_progress=lambda now: bar.update(task, completed=now.fraction, description=now.step),
    )
    known = brought.samples("train", train, run)
    gone = brought.forgotten(forget, len(known))
    classes = whole_classes(known.labels[gone].numpy(), known.labels[~gone].numpy())
    scenario = "class_wise" if classes else "ids"
    where = f"where forget= names {'whole classes' if classes else 'a part of a class'}"
    refuse_scenario(card, scenario, where)
    values = method_parameters(card, recipe, given, scenario=scenario)
    refuse_values(card, values, scenario, where)
    records = records or {}
    lacking = {"initial", *records_of(card, values)} - {MOMENTS, SHARDS} - records.keys()
    way = f"give records= with {' and '.join(sorted(lacking & {*card.records}))} ({RECORDS}), or "
    refuse_original(card, values, frozenset(lacking), way)
    full = {each.partition("/")[0]: each for each in needed(card, values)}
    kept: dict[str, Any] = {full.get(name, name): each for name, each in records.items()}
    kept.setdefault("initial", Lacking(f"Give records= with initial ({RECORDS})."))
    unseen: Any = Lacking(f"{card.id} reads validation data. Give validation=, as train is given.")
    if validation is not None:
        unseen = brought.samples("validation", validation, run)
        same = unseen.images.shape == known.images.shape
        need(same, "The samples of train and validation must have one shape. Prepare both alike.")
        unseen = replace(unseen, ids=unseen.ids + len(known))  # no training sample's
    elif "validation" in card.reads:
        unseen()
    few = known.images.take(torch.arange(min(len(known), brought.LOOKED_AT)))
    need(few.is_floating_point(), f"x must be floats, as methods move them, but is {few.dtype}.")
    shape = [*known.images.shape]
    what = f"{card.id} works on images, each (c, h, w), but a sample is {shape}. Choose another."
    need(len(shape) == 3 or card.id not in OF_IMAGES, what)
    start = copy.deepcopy(model).to(place)
    data = UnlearningData(
        forget=replace(known[gone], role="forget"),
        retain=replace(known[~gone], role="retain"),
        validation=unseen,
        classes=_outputs(start, few, known, unseen if validation is not None else known),
        forgotten_classes=classes,
        recipe=recipe,
        fresh_model=_made(fresh, model, card.id, place),
        training_seed=0,
        record=kept,
    )
    drawn = torch.random.fork_rng([place] if place.type == "cuda" else [])
    with bar, drawn, torch.enable_grad():
        torch.manual_seed(seed)  # for layers that draw, such as dropout
        before = Run(seed=seed, device=place)
        if MOMENTS in card.records:
            found = moments(start.eval(), data.everything(), before)
            kept[MOMENTS] = {name: each.cpu() for name, each in found.items()}
        elif SHARDS in card.records and SHARDS not in records:
            sharded = Sharded.of(values, known.ids, recipe, data.fresh_model, 0)
            with before.clock():
                kept[needed(card, values)[0]] = sharded.train_all(known, before)
        run.cost.prepared_seconds = before.cost.seconds
        try:
            made = called(card.id, start.train().requires_grad_(True), data, run, values)
        except (KeyError, RuntimeError, AttributeError, TypeError) as error:
            if not records:
                raise
            what = f"{card.id} cannot use what records= holds: {said(str(error), 200)}"
            raise BadValue(f"{what}. {RECORDS} says what it must.") from error
    for note in _epochs(card, values, given, recipe):
        run.note(note)
    return _like(model, finite(made, model, run), place), run


def _epochs(
    card: MethodCard, values: Mapping[str, Any], given: Mapping[str, Any], recipe: Recipe
) -> Iterator[str]:
    """How many epochs over what a method had, and which of these the recipe made shorter."""
    for each in card.parameters:
        value = values[each.name]
        if each.unit == "epochs":
            yield f"{each.name} {value}: {each.help}"
        if each.scales_with_epochs and each.name not in given and value != each.default:
            yield (
                f"The authors' {each.name} {each.default}, for a training of {card.paper_epochs} "
                f"epochs, became {value} for the recipe's {recipe.epochs}: give recipe= or "
                f"{each.name}= for another number."
            )


def _outputs(start: nn.Module, few: Tensor, known: Samples, unseen: Samples) -> int:
    """How many classes the network tells apart. Raises `BadValue` where it does not, or where its
    last linear layer, which methods go by, is not what gives the logits.
    """
    head, labels = last_linear(start), torch.cat([known.labels, unseen.labels])
    with brought.left_as_found(start, few.device), brought.answering("model", few):
        classes, gives = brought.asked(start, head, few, labels)
    rule = "The linear layer that is defined last must give the logits, as methods go by it."
    need(gives or head is None, f"{rule} That of model does not. Define its classifier last.")
    return classes


def _made(
    fresh: Callable[[], nn.Module] | None, like: nn.Module, method: str, place: torch.device
) -> Callable[[int], nn.Module]:
    """A network from `fresh` by its seed, which leaves torch's generators as they were."""
    if not callable(fresh):
        return Lacking(f"{method} starts from an untrained network. Give fresh=lambda: Net().")

    def make(seed: int) -> nn.Module:
        with torch.random.fork_rng([]):
            torch.random.default_generator.manual_seed(seed)
            found = fresh()
        same = type(found) is type(like) and form(found) == form(like)
        need(same, "fresh must make a network of model's class, with tensors of the same shapes.")
        return found.to(place)

    def form(network: nn.Module) -> dict[str, torch.Size]:
        return {name: each.shape for name, each in network.state_dict().items()}

    return make


def _like(model: nn.Module, found: nn.Module, place: torch.device) -> nn.Module:
    """`found` where `model` is, with its modes, and with its weights that may move."""
    modes = {name: module.training for name, module in model.named_modules()}
    moving = {name: p.requires_grad for name, p in model.named_parameters()}
    for name, module in found.named_modules():
        module.training = modes.get(name, module.training)
    for name, p in found.named_parameters():
        p.requires_grad_(moving.get(name, True)).grad = None
    return found.to(next((t.device for t in chain(model.parameters(), model.buffers())), place))
