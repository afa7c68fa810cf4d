"""Columns of numbers stand on the right."""

from __future__ import annotations

import pandas as pd
import pytest
import streamlit as st

from dashboard.widgets import columns


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.5, None], True),
        (["93.4", "–"], True),
        (["−0.2 ± 0.1", "+1,000"], True),
        (["100 % less 0.08 %", "99.8 %"], True),
        (["–", "–"], False),
        (["nothing", "93.4"], False),
        (["2026-11-22 13:00"], False),
        ([True, False], False),
        ([], False),
    ],
)
def test_a_column_is_numeric_if_all_of_it_is(values, expected):
    assert columns.numeric(pd.Series(values, dtype=None if values else object)) is expected


def test_settings_keep_what_they_had():
    frame = pd.DataFrame({"Method": ["SCRUB"], "Test, %": ["93.4"], "Seeds": [3]})
    made = columns.aligned(
        frame,
        {
            "Test, %": st.column_config.Column(help="Accuracy."),
            "Method": st.column_config.Column(width="small"),
        },
    )
    assert {name: each.get("alignment") for name, each in made.items()} == {
        "Method": None,
        "Test, %": "right",
        "Seeds": "right",
    }
    assert made["Test, %"]["help"] == "Accuracy." and made["Method"]["width"] == "small"
    assert columns.aligned(frame.drop(columns=["Test, %", "Seeds"])) == {}
