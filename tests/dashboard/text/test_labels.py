"""What captions say of runs and settings."""

from dataclasses import replace

import pytest
from facts import tells

from dashboard.text import labels
from mucore import catalog
from mucore.catalog.tuning import Borrowed, Tuned
from mucore.spec import make_recipe


@pytest.mark.parametrize(
    ("value", "digits", "said"),
    [
        (5e-8, 1, "5 × 10⁻⁸"),
        (9.7e-9, 1, "10⁻⁸"),
        (3.14e-12, 2, "3.1 × 10⁻¹²"),
    ],
)
def test_small_numbers_are_written_with_a_power_of_ten(value, digits, said):
    assert labels.powered(value, digits) == said


def test_settings_of_another_task_are_told_by_titles():
    found = Tuned("ssd", {}, "digits", "", "mlp", "quick", "one_class")
    said = labels.borrowed_text(Borrowed("class_wise", ("ssd",), found, ("scenario", "data")))
    asked, taken = (catalog.scenario(name).title for name in ("class_wise", "one_class"))
    assert tells(said, asked, catalog.method("ssd").title, taken, catalog.dataset("digits").title)


def test_settings_of_another_amount_are_told_by_it():
    chosen = {"class_id": 0, "budget": 0.5, "seed": 0}
    found = Tuned(
        *("ssd", {}, "digits", "", "mlp", "quick", "one_class"),
        recipe=make_recipe("quick", {"epochs": 3}).model_dump(mode="json"),
        scenario_parameters=chosen,
    )
    assert labels.changes_text(found) == f"budget 50{labels.THIN}%, epochs 3"
    said = labels.borrowed_text(Borrowed("one_class", ("ssd",), found, ("scenario_parameters",)))
    assert tells(said, "forget set", labels.changes_text(found)) and "these data" not in said
    both = Borrowed("one_class", ("ssd",), found, ("recipe", "weights"))
    assert tells(labels.borrowed_text(both), "this recipe", "this original")
    unsaid = Borrowed(
        "one_class", ("ssd",), replace(found, recipe=None), ("recipe", "scenario_parameters")
    )
    assert unsaid.unsaid and tells(labels.borrowed_text(unsaid), "earlier version")
