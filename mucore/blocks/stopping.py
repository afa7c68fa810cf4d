"""Rules that end a method by what it predicts.

Hand one to `fit` as `stop`, or ask it before the first epoch with epoch -1. They evaluate as a part
of the method, in its time, and their reads are counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from torch import Tensor, nn

from mucore.engine.data import Samples
from mucore.engine.predict import accuracy, accuracy_between
from mucore.engine.run import Run
from mucore.engine.state import copy_state

Rule = Callable[[nn.Module, int], str | None]
# Of `until_gone`: the accuracy, in 0..1, that ends it; epochs between looks; samples of a look.
GONE, LOOK_EVERY, LOOK_AT = 0.01, 5, 500


def moment(epoch: int) -> str:
    """When a rule spoke, in words; epochs count from 0, and -1 is before the first."""
    return f"after epoch {epoch + 1}" if epoch >= 0 else "before the first epoch"


def below_target(reached: float | None, target: float, epoch: int) -> str | None:
    """The reason of a rule that ends when forget accuracy is below `target`, in 0..1; None: it is
    not.
    """
    if reached is not None and reached < target:
        return f"forget accuracy {reached:.3f} is below {target:.3f} {moment(epoch)}"
    return None


@dataclass
class CrossedOver:
    """Ends when the forget set is predicted worse than the validation set.

    The state of now or before is kept, whichever has the smaller gap. What the validation set says
    matters at the end alone, and of the epoch before it; until then a look at it ends when it
    cannot be above the forget set any more.
    """

    forget: Samples
    validation: Samples
    run: Run
    # forget accuracy and state after the epoch before
    before: tuple[float, dict[str, Tensor]] | None = field(default=None, init=False)

    def __call__(self, model: nn.Module, epoch: int) -> str | None:
        forgotten = accuracy(model, self.forget, self.run)
        unseen = accuracy_between(model, self.validation, self.run, above=forgotten)
        if unseen is None:
            self.before = forgotten, copy_state(model)
            return None
        back = self.before is not None and self._nearer(model, *self.before, unseen - forgotten)
        return f"the forget set was below the validation set {moment(epoch)}" + (
            "; the epoch before was nearer" if back else ""
        )

    def _nearer(
        self, model: nn.Module, forgotten: float, state: dict[str, Tensor], gap: float
    ) -> bool:
        """Whether the state before has a smaller gap than `gap`; the model then is in it."""
        now = copy_state(model)
        model.load_state_dict(state)
        nearer = abs(accuracy(model, self.validation, self.run) - forgotten) < gap
        if not nearer:
            model.load_state_dict(now)
        return nearer


@dataclass
class Dropped:
    """Ends when accuracy on a set has fallen by more than `drop`, in 0..1, since the first call."""

    kept: Samples
    run: Run
    drop: float
    start: float | None = field(default=None, init=False)

    def __call__(self, model: nn.Module, epoch: int) -> str | None:
        now = accuracy(model, self.kept, self.run)
        self.start = now if self.start is None else self.start
        fallen = self.start - now
        return (
            f"accuracy on what is kept had fallen by {fallen:.3g} {moment(epoch)}"
            if fallen > self.drop
            else None
        )


def until_gone(kept: Samples, forget: Samples, run: Run, drop: float) -> Rule:
    """Ends when `forget` is predicted with an accuracy of GONE at most, or `kept` worse by `drop`;
    looks before the first epoch and every `LOOK_EVERY` epochs, at a part of both.

    Projection prevents just that fall, so without a target the last epoch would be PGU's only end.
    """
    kept, forget = (
        samples.draw(LOOK_AT, run.rng(f"look/{samples.role}")) for samples in (kept, forget)
    )
    dropped = Dropped(kept, run, drop)

    def rule(model: nn.Module, epoch: int) -> str | None:
        if (epoch + 1) % LOOK_EVERY:
            return None
        if (reason := dropped(model, epoch)) is not None:
            return reason
        # seldom more than the first samples are read, as above the target a look ends early
        reached = accuracy_between(model, forget, run, below=math.nextafter(GONE, math.inf))
        return (
            None
            if reached is None
            else f"forget accuracy was down to {reached:.3g} {moment(epoch)}"
        )

    return rule
