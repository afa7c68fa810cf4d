"""What cards say a method takes, beyond one run each."""

from __future__ import annotations

from dataclasses import fields

import toy
from footprints import LEAST, values
from roster import ROSTER

from mucore import catalog
from mucore.catalog.cards import Footprint
from mucore.catalog.formulas import evaluate


def test_every_method_says_what_it_takes():
    nothing = Footprint()
    silent = {card.id for card in catalog.METHODS if card.footprint == nothing}
    assert silent == {"uploaded", *LEAST} - {"ntk", "l2ul"}


def test_formulas_hold_for_every_choice_of_a_parameter():
    for method in ROSTER:
        card, known = catalog.method(method), values(method, "mlp", toy.request("mlp"))
        for parameter in card.parameters:
            optional = (None,) if parameter.optional else ()
            for value in (*parameter.choices, *optional, parameter.default):
                for field in fields(Footprint):
                    text = getattr(card.footprint, field.name)
                    assert evaluate(text, known | {parameter.name: value}) >= 0, (method, text)
