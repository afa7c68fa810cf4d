"""A batch: what losses and methods see of the data at one step."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, eq=False)
class Batch:
    """`x` (n, c, h, w) normalised float32; `y` (n,) or, for attributes, (n, A); `ids` (n,) on the
    CPU; `part` (n,), which set of a mixture.

    All but `x` are int64. `host` are `y` and `part` on the CPU, from where they came: whoever needs
    them there asks for `labels` and `origins`, for which a GPU need not be waited for.
    """

    x: Tensor
    y: Tensor
    ids: Tensor
    part: Tensor
    host: tuple[Tensor, ...] = ()

    @property
    def labels(self) -> Tensor:
        return self.host[0] if self.host else self.y.cpu()

    @property
    def origins(self) -> Tensor:
        return self.host[1] if self.host else self.part.cpu()

    def __len__(self) -> int:
        return len(self.y)

    def chunks(self, count: int) -> list[Batch]:
        parts = (t.chunk(count) for t in (self.x, self.y, self.ids, self.part))
        return [Batch(*each) for each in zip(*parts, strict=True)]
