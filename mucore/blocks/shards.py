"""Training in shards and slices, so that a request reaches a part of the work only (SISA).

The partition and every seed come from the training seed alone, so whoever trains a slice on the
same samples gets the same bits. A state is a state dict; a record is a flat dictionary
`<shard>/<slice>/<tensor>` on the CPU, both counted from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from mucore.catalog.cards import Task
from mucore.engine.data import Samples
from mucore.engine.ensemble import Ensemble, Vote
from mucore.engine.loop import Optimizer, Phase, fit, recipe_loss
from mucore.engine.run import Run
from mucore.engine.state import copy_state
from mucore.rng import stream_seed
from mucore.runs import Recipe

State = dict[str, Tensor]


def record_name(shards: int, slices: int, epochs: int | None) -> str:
    """The name of the record that holds all checkpoints; `epochs` None: as many as the recipe."""
    return f"shards/{shards}/{slices}/{'recipe' if epochs is None else epochs}"


def slice_epochs(epochs: int, slices: int) -> list[int]:
    """Epochs of each slice: with a = 2E / (R + 1), ⌊(r + 1)a⌋ − ⌊ra⌋.

    Each adds its samples, so all read about E passes over the shard.
    """
    ends = [2 * epochs * number // (slices + 1) for number in range(slices + 1)]
    return [end - start for start, end in zip(ends, ends[1:], strict=False)]


def partition(ids: Tensor, shards: int, slices: int, training_seed: int) -> list[list[Tensor]]:
    """The ids (n,), shuffled and cut into shards of slices, sizes differing by one at most."""
    order = torch.randperm(
        len(ids), generator=torch.Generator().manual_seed(stream_seed(training_seed, "shards"))
    )
    return [
        list(shard.tensor_split(slices)) for shard in ids.sort().values[order].tensor_split(shards)
    ]


@dataclass(frozen=True, kw_only=True)
class Sharded:
    """How shards are trained. `epochs` is the budget of a shard, as many as a plain training
    has.
    """

    parts: Sequence[Sequence[Tensor]]
    epochs: int
    recipe: Recipe
    fresh_model: Callable[[int], nn.Module]
    training_seed: int

    @classmethod
    def of(
        cls,
        values: Mapping[str, Any],
        ids: Tensor,
        recipe: Recipe,
        fresh_model: Callable[[int], nn.Module],
        training_seed: int,
    ) -> Sharded:
        """As a method's parameters `shards`, `slices` and `epochs` say, of samples `ids` (n,)."""
        return cls(
            parts=partition(ids, values["shards"], values["slices"], training_seed),
            epochs=recipe.epochs if values["epochs"] is None else values["epochs"],
            recipe=recipe,
            fresh_model=fresh_model,
            training_seed=training_seed,
        )

    def train(
        self, shard: int, samples: Samples, run: Run, *, first: int = 0, start: State | None = None
    ) -> list[State]:
        """The states of a shard after slices `first` to last, learned from those of `samples` that
        lie in it; `start` comes before.

        Optimiser, schedule and random streams start anew with each slice. A single slice of a
        single shard is a plain training.
        """
        model = self.fresh_model(
            stream_seed(self.training_seed, "init" if shard == 0 else f"init/{shard}")
        )
        if start is not None:
            model.load_state_dict(start)
        slices = self.parts[shard]
        budget = slice_epochs(self.epochs, len(slices))
        states = []
        for number in range(first, len(slices)):
            inside = torch.isin(samples.ids, torch.cat(list(slices[: number + 1])))
            # one role for all, since the random streams are named after it
            rows = replace(samples[inside], role="retain")
            plain = shard == number == 0
            inner = run.branch(
                self.training_seed
                if plain
                else stream_seed(self.training_seed, f"shard {shard}, slice {number}")
            )
            phase = Phase(
                data=rows,
                batch_size=self.recipe.batch_size,
                loss=recipe_loss(rows, self.recipe),
                augment=self.recipe.augment,
            )
            with inner.share(
                (number - first) / (len(slices) - first),
                (number - first + 1) / (len(slices) - first),
            ):
                what = f"shard {shard + 1} of {len(self.parts)}"
                optimizer = Optimizer.of(self.recipe)
                fit(model, [phase], inner, epochs=budget[number], optimizer=optimizer, what=what)
            if inner.status == "diverged":
                run.mark(inner.status, f"{what}: {inner.stop_reason}")
            states.append(copy_state(model))
        return states

    def ensemble(self, record: State, vote: Vote, task: Task = "classes") -> Ensemble:
        """The ensemble of the last checkpoints of a record."""
        members = []
        for shard, slices in enumerate(self.parts):
            members.append(self.fresh_model(0))
            members[-1].load_state_dict(checkpoint(record, shard, len(slices) - 1))
        sizes = torch.tensor([sum(len(ids) for ids in slices) for slices in self.parts])
        return Ensemble(members, vote, sizes, task).eval()

    def train_all(self, samples: Samples, run: Run) -> State:
        """The record of all checkpoints, learned from all of `samples`."""
        record: State = {}
        for shard in range(len(self.parts)):
            with run.share(shard / len(self.parts), (shard + 1) / len(self.parts)):
                for number, state in enumerate(self.train(shard, samples, run)):
                    record |= {f"{shard}/{number}/{name}": t.cpu() for name, t in state.items()}
        return record


def checkpoint(record: State, shard: int, number: int) -> State:
    """The state of a shard after a slice, from a record."""
    start = f"{shard}/{number}/"
    return {name.removeprefix(start): t for name, t in record.items() if name.startswith(start)}
