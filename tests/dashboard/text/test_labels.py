"""What captions say of runs and settings."""

import pytest
from facts import tells

from dashboard.text import labels
from mucore import catalog
from mucore.catalog.tuning import Borrowed, Tuned


@pytest.mark.parametrize(
    ("value", "digits", "said"),
    [(5e-8, 1, "5 × 10⁻⁸"), (9.7e-9, 1, "10⁻⁸"), (3.14e-12, 2, "3.1 × 10⁻¹²")],
)
def test_small_numbers_are_written_with_a_power_of_ten(value, digits, said):
    assert labels.powered(value, digits) == said


def test_settings_of_another_task_are_told_by_titles():
    found = Tuned("ssd", {}, "digits", "", "mlp", "quick", "one_class")
    said = labels.borrowed_text(Borrowed("class_wise", ("ssd",), found, ("scenario", "data")))
    asked, taken = (catalog.scenario(name).title for name in ("class_wise", "one_class"))
    assert tells(said, asked, catalog.method("ssd").title, taken, catalog.dataset("digits").title)
