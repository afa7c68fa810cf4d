"""The pool of maxima is PyTorch's, with and without a gradient."""

from __future__ import annotations

import pytest
import torch
from torch.autograd import forward_ad
from torch.nn import functional

from mucore.models.pooling import HalvingPool

LAYOUTS = (torch.contiguous_format, torch.channels_last)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("size", [(4, 4), (7, 7), (1, 1), (1, 5), (3, 2), (2, 1)])
def test_the_numbers_are_torchs(size, layout):
    x = torch.randn(3, 5, *size, generator=torch.Generator().manual_seed(0))
    x[0, 0, 0, 0] = torch.nan
    x[1, 0, -1, -1] = -torch.inf
    x = x.contiguous(memory_format=layout)
    expected = functional.max_pool2d(x, 2, ceil_mode=True)
    with torch.no_grad():
        found = HalvingPool()(x)
    torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)
    torch.testing.assert_close(HalvingPool()(x), expected, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_without_a_gradient_the_layout_stays(layout):
    x = torch.randn(2, 8, 7, 6).contiguous(memory_format=layout)
    with torch.no_grad():
        assert HalvingPool()(x).is_contiguous(memory_format=layout)


# PyTorch loads its forward rules with the first dual number, and warns of one of its own functions
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_of_equal_places_one_gets_the_derivative():
    x = torch.ones(1, 1, 2, 2, requires_grad=True)
    (slope,) = torch.autograd.grad(HalvingPool()(x).sum(), x)
    assert sorted(slope.flatten().tolist()) == [0, 0, 0, 1]
    change = torch.tensor([[[[1.0, 2.0], [4.0, 8.0]]]])
    with torch.no_grad(), forward_ad.dual_level():
        dual = forward_ad.make_dual(x.detach(), change)
        tangent = forward_ad.unpack_dual(HalvingPool()(dual)).tangent
    assert tangent is not None and tangent.item() == (slope * change).sum().item()
