"""What the store writes as JSON text it reads again, whatever a number looks like."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mucore.errors import StoreError
from mucore.store.schema import from_json, to_json

NUMBERS = st.floats(allow_nan=False) | st.integers()
PLAIN = st.recursive(
    NUMBERS | st.none() | st.booleans() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=20,
)


@settings(max_examples=40)
@given(PLAIN)
def test_plain_data_come_back(value):
    for canonical in (False, True):
        text = to_json(value, canonical=canonical)
        assert from_json(text) == json.loads(text) == value == from_json(json.dumps(value))


def test_a_number_that_is_none_stays_one():
    assert math.isnan(from_json(to_json([math.nan]))[0])
    assert from_json(to_json([math.inf, -math.inf])) == [math.inf, -math.inf]


def test_what_plain_data_stand_for():
    when = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
    found = from_json(
        to_json(
            {
                "numbers": (np.float32(0.5), np.int64(3), np.arange(2)),
                "mapping": MappingProxyType({"a": 1}),
                "when": when,
            }
        )
    )
    assert found["numbers"] == [0.5, 3, [0, 1]] and found["mapping"] == {"a": 1}
    assert datetime.fromisoformat(found["when"]) == when


@pytest.mark.parametrize("text", ["", "[1,]", "{", "nul", "[" * 100_000])
def test_a_damaged_text_is_a_sentence(text):
    with pytest.raises(StoreError, match="damaged"):
        from_json(text)


def test_what_is_no_plain_data_is_refused():
    with pytest.raises(ValueError, match="does not fit"):
        to_json({"x": object()})
