"""Formulas on cards: arithmetic, and nothing else."""

from __future__ import annotations

import pytest

from mucore import catalog
from mucore.catalog.formulas import NAMES, evaluate
from mucore.errors import BadValue

VALUES = {"a": 3, "b": 0.5, "none": None, "kind": "off"}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2", 2),
        ("a * (1 + b) - 4 / 2", 2.5),
        ("a ** 2 - -1", 10),
        ("min(a, 7) + max(1, b) + ceil(a / 2)", 6),
        ("5 if kind == 'off' else 6", 5),
        ("5 if kind in ('on', 'over') else 6", 6),
        ("(none or a) * 2", 6),
        ("1 if a > 2 and not none else 0", 1),
        ("twice + twice if (twice := a * 2) <= 6 else 0", 12),
    ],
)
def test_values_by_hand(text: str, wanted: float):
    assert evaluate(text, VALUES) == wanted


@pytest.mark.parametrize(
    "text",
    [
        *("", "a +", "c", "a.real", "__import__('os')", "[1]", "open('x')", "a / 0", "a + kind"),
        *("a[0]", "'3' ** 2", "none + 1", "min(*[1, 2])", "(lambda: 1)()"),
    ],
)
def test_anything_else_is_refused(text: str):
    with pytest.raises(BadValue):
        evaluate(text, VALUES)


def test_no_parameter_of_a_method_hides_a_name():
    assert not [
        (card.id, p.name) for card in catalog.METHODS for p in card.parameters if p.name in NAMES
    ]
