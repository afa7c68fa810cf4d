"""Max-pooling that is cheap where nobody asks for a derivative."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.autograd import forward_ad
from torch.nn import functional


class HalvingPool(nn.Module):
    """2x2 max-pooling, rounding up, of (n, c, h, w).

    Without a derivative, on a CPU, it takes maxima of slices: the same numbers in less time, for no
    places are noted. With one, backward or forward, it is PyTorch's: of several equal places one
    gets the derivative, which maxima would share among all.
    """

    def forward(self, x: Tensor) -> Tensor:
        differentiated = torch.is_grad_enabled() or forward_ad.unpack_dual(x).tangent is not None
        if differentiated or x.device.type != "cpu":
            return functional.max_pool2d(x, 2, ceil_mode=True)
        rows = torch.maximum(x[:, :, :-1:2], x[:, :, 1::2])
        if x.shape[2] % 2:
            rows = torch.cat([rows, x[:, :, -1:]], 2)
        found = torch.maximum(rows[..., :-1:2], rows[..., 1::2])
        return torch.cat([found, rows[..., -1:]], 3) if x.shape[3] % 2 else found
