"""Several networks that predict together, as one module to save and load like any other."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from mucore.catalog.cards import Task
from mucore.engine.losses import choices

Vote = Literal["hard", "soft", "proportional"]
VOTES: tuple[Vote, ...] = ("hard", "soft", "proportional")


class Ensemble(nn.Module):
    """Networks of one architecture over the same classes or attributes.

    `sizes` (m,) says on how many samples each was trained. `forward` gives the logarithm of the
    mean of the members' probabilities, (n, C) float32, so softmax of it is that mean. `vote` also
    gives the predicted classes: by the members' votes (hard), by votes weighted with the members'
    sizes (proportional), or by the mean probability (soft). Ties go to the smallest class
    (Bourtoule et al., IEEE S&P 2021, `aggregation.py`). Attributes are voted on one by one;
    `forward` then gives the logits (n, A) whose sigmoid is the mean.
    """

    sizes: Tensor
    rule: Tensor

    def __init__(
        self, members: Sequence[nn.Module], vote: Vote, sizes: Tensor, task: Task = "classes"
    ):
        super().__init__()
        self.task: Task = task
        self.members = nn.ModuleList(members)
        self.register_buffer("sizes", sizes.to(torch.float32))
        self.register_buffer("rule", torch.tensor([VOTES.index(vote)]))

    def forward(self, x: Tensor) -> Tensor:
        return self.vote(x)[0]

    def vote(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities (n, C) float32 and classes (n,); for attributes logits and answers.

        Answers are int64; both are (n, A).
        """
        logits = torch.stack([member(x).float() for member in self.members])
        if self.task == "attributes":
            answers, chosen = self._vote(
                choices(logits.flatten(0, 1), self.task).unflatten(0, (len(logits), -1))
            )
            return (answers[:, 1] - answers[:, 0]).view(logits.shape[1:]), chosen.view(
                logits.shape[1:]
            )
        return self._vote(logits)

    def _vote(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities (n, C) and classes (n,) from the logits of all members (m, n, C)."""
        mean = logits.log_softmax(2).logsumexp(0) - math.log(len(self.members))
        rule = VOTES[int(self.rule)]
        if rule == "soft":
            return mean, mean.argmax(1)
        votes = nn.functional.one_hot(logits.argmax(2), logits.shape[2]).float()
        weights = self.sizes if rule == "proportional" else torch.ones_like(self.sizes)
        return mean, (weights.view(-1, 1, 1) * votes).sum(0).argmax(1)


def restore(
    state: Mapping[str, Tensor], fresh: Callable[[], nn.Module], task: Task = "classes"
) -> nn.Module:
    """The network, or the ensemble, that a state belongs to; `fresh` gives a network to fill."""
    model = fresh()
    if "sizes" in state and "rule" in state and not {"sizes", "rule"} & model.state_dict().keys():
        model = Ensemble(
            [model, *(fresh() for _ in range(len(state["sizes"]) - 1))],
            "hard",
            state["sizes"],
            task,
        )
    model.load_state_dict(dict(state))
    return model
