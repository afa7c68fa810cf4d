"""Rules that end a method by what it predicts: hand one to `fit` as `stop`, or ask it before the first epoch with epoch -1.

They evaluate as a part of the method, in its time, and their reads are counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from torch import nn

from mucore.engine.data import Samples
from mucore.engine.predict import accuracy
from mucore.engine.run import Run


@dataclass
class CrossedOver:
    """Ends when the forget set is predicted worse than the validation set, in the state of now or before, whichever has the smaller gap."""

    forget: Samples
    validation: Samples
    run: Run
    before: tuple[float, dict[str, Any]] = field(default=(math.inf, {}), init=False)

    def __call__(self, model: nn.Module, epoch: int) -> str | None:
        gap = accuracy(model, self.validation, self.run) - accuracy(model, self.forget, self.run)
        if not gap > 0:
            self.before = abs(gap), {name: t.detach().clone() for name, t in model.state_dict().items()}
            return None
        back = self.before[0] < gap
        if back:
            model.load_state_dict(self.before[1])
        return f"the forget set fell below the validation set after epoch {epoch + 1}" + ("; the epoch before was nearer" if back else "")


@dataclass
class Dropped:
    """Ends when the accuracy on a set has fallen by more than `drop`, in 0..1, since the first call."""

    kept: Samples
    run: Run
    drop: float
    start: float | None = field(default=None, init=False)

    def __call__(self, model: nn.Module, epoch: int) -> str | None:
        now = accuracy(model, self.kept, self.run)
        self.start = now if self.start is None else self.start
        fallen = self.start - now
        return f"accuracy on what is kept had fallen by {fallen:.3g} after epoch {epoch + 1}" if fallen > self.drop else None
